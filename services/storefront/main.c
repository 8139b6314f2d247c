/* main.c: the process cartbus-storefront */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "services/kit/http.h"
#include "services/kit/settings.h"
#include "services/storefront/storefront.h"
#include <string.h>

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];
	const struct http_settings http = http_settings_of_storefronts(config, clock);
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char path[256];
	settings_secret_path(config, "address.key", path);
	int r = file_read_secret(path, &key);
	if (r < 0)
		die_of_secret(path, r);
	storefront_set_up(buffer_bytes(&key));
	all[0] = http_driver_new("storefront", &http);
	return all;
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &storefront,
			.help = "Fetches from the storefronts' APIs what their webhooks did not say: carts of which "
				"only the id "
				"came, and what changed while no webhook could come in.",
			.keys = settings_keys,
			.drivers = drivers });
}
