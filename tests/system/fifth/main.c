/* main.c: the process cartbus-guestbook */
#include "bus/actor/process.h"
#include "guest.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/settings/settings.h"
#include <stdio.h>

static struct guestbook here;
static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];

	(void)clock;
	snprintf(here.folder, sizeof(here.folder), "%s/guests", config_get(config, "paths", NULL, "state"));
	all[0] = file_driver_new();
	return all;
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &guestbook,
			.context = guestbook_in(&here),
			.keys = settings_keys,
			.drivers = drivers });
}
