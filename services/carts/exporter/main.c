/* main.c: the process cartbus-exporter */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/carts/exporter/exporter.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/google/google.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/settings/settings.h"
#include "services/kit/web/admin_link.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct exporter exporter_here;

static void read_key(const struct config *config, struct buffer *ret)
{
	char path[256];
	secret_path(config, ADMIN_LINK_KEY, path);
	int r = keyring_read_key(path, ret);
	if (r == -ENOENT || r == -ENODATA)
		log_event(LOG_WARNING,
			"%s is not there: the exports hold no links to act by; `cartbus secrets make` makes it", path);
	else if (r < 0)
		die_of_secret(path, r);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[3];
	_cleanup_(buffer_free) struct buffer key = { 0 };
	const char *folder = config_get(config, "export", NULL, "folder");
	char beside_state[256];
	const struct google_settings google = google_settings_of(config, clock);
	read_key(config, &key);
	snprintf(beside_state, sizeof(beside_state), "%s/export", config_get(config, "paths", NULL, "state"));
	if (!folder || !*folder)
		folder = beside_state;
	file_close_own_folder(folder); /* an earlier release left it open; if it cannot be closed, doctor says so */
	exporter_here = exporter_of(folder, config_get(config, "gateway", NULL, "public-url"), buffer_bytes(&key));
	TEXT_COPY(exporter_here.sheets_url, config_get(config, "google", NULL, "sheets-url"));
	all[0] = file_driver_new();
	all[1] = google_driver_new(&google);
	return all;
}

static void check(const struct config *config)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char why[512];

	read_key(config, &key);
	if (settings_export_try(config, why) < 0)
		die("%s", why);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &exporter,
			.context = exporter_in(&exporter_here),
			.help = "Writes the carts of each day that ended to a CSV file, at 02:00 in the shop's zone, "
				"and to a Google spreadsheet if the shop names one.",
			.keys = settings_keys,
			.check = check,
			.drivers = drivers });
}
