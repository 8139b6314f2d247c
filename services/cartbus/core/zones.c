/* zones.c: in which time an admin reads about a shop */
#include "services/cartbus/core/zones.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"

const char *zone_of_shop(const struct command *command, const char *shop)
{
	static struct shop last;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	char path[PATH_ROOM];

	if (last.zone[0] && strcmp(last.name, shop) == 0)
		return last.zone;
	command_shop_path(command, shop, "shop.conf", path);
	if (shop_name_valid(shop) && file_read(path, 1 << 20, &text) == 0 &&
		shop_parse(buffer_text(&text), shop, path, &last, &error) == 0)
		return last.zone;
	last.zone[0] = '\0';
	return "UTC";
}
