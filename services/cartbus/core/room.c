/* room.c: how much of a disk has to stay free */
#include "services/cartbus/core/room.h"

uint64_t room_headroom(const struct config *config, uint64_t disk_bytes)
{
	uint64_t fixed = (uint64_t)config_number(config, "broker", NULL, "headroom") << 20;
	uint64_t part = disk_bytes / 100 * (uint64_t)config_number(config, "broker", NULL, "headroom-percent");

	return fixed > part ? fixed : part;
}
