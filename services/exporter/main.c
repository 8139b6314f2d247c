/* main.c: the process cartbus-exporter */
#include "bus/actor/process.h"
#include "services/exporter/exporter.h"
#include "services/kit/file_driver.h"
#include "services/kit/settings.h"
#include <stdio.h>

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];
	const char *folder = config_get(config, "export", NULL, "folder");
	char beside_state[256];
	(void)clock;
	snprintf(beside_state, sizeof(beside_state), "%s/export", config_get(config, "paths", NULL, "state"));
	exporter_set_up(folder && *folder ? folder : beside_state);
	all[0] = file_driver_new();
	return all;
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &exporter,
			.help = "Writes the carts of each day that ended to a CSV file, at 02:00 in the shop's zone.",
			.keys = settings_keys,
			.drivers = drivers });
}
