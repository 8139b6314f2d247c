/* main.c: the process cartbus-storefront */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/kit/http/http.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/settings/settings.h"
#include "services/platform/storefront/storefront.h"
#include <string.h>

static struct storefront storefront_here;

static void read_key(const struct config *config, struct buffer *ret)
{
	char path[256];
	secret_path(config, "address.key", path);
	int r = keyring_read_key(path, ret);
	if (r < 0)
		die_of_secret(path, r);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];
	const struct http_settings http = http_settings_of_storefronts(config, clock);
	_cleanup_(buffer_free) struct buffer key = { 0 };
	read_key(config, &key);
	storefront_here = storefront_of(buffer_bytes(&key));
	all[0] = http_driver_new("storefront", &http);
	return all;
}

static void check(const struct config *config)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };

	read_key(config, &key);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &storefront,
			.context = storefront_in(&storefront_here),
			.help = "Fetches from the storefronts' APIs what their webhooks did not say: carts of which "
				"only the id came, and what changed while no webhook could come in.",
			.keys = settings_keys,
			.check = check,
			.drivers = drivers });
}
