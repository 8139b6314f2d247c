/* room.c: how much of a disk has to stay free */
#include "services/cartbus/room.h"

enum { HEADROOM_MIB_MOST = 1 << 20, HEADROOM_PERCENT_MOST = 50 };

uint64_t room_headroom(const struct config *config, uint64_t disk_bytes)
{
	struct config_error error;
	int64_t mib = 0, percent = 0;

	config_get_int(config, "broker", NULL, "headroom", 0, HEADROOM_MIB_MOST, &mib, &error);
	config_get_int(config, "broker", NULL, "headroom-percent", 0, HEADROOM_PERCENT_MOST, &percent, &error);
	uint64_t fixed = (uint64_t)mib << 20, part = disk_bytes / 100 * (uint64_t)percent;
	return fixed > part ? fixed : part;
}
