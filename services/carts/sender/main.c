/* main.c: the process cartbus-sender */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/carts/sender/sender.h"
#include "services/kit/http/http.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/mail/message.h"
#include "services/kit/settings/settings.h"
#include <string.h>

static struct sender sender_here;

static void read_keys(const struct config *config, struct keyring *links, struct keyring *bounces)
{
	char path[256];
	const char *folder = secrets_folder(config);
	secret_in(folder, LINK_KEY, path);
	int r = keyring_read(folder, LINK_KEY, links);
	if (r < 0)
		die_of_secret(path, r);
	r = keyring_read_bounce(folder, bounces, path);
	if (r < 0)
		die_of_secret(path, r);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[4];
	_cleanup_(keyring_clear) struct keyring links = { 0 }, bounces = { 0 };
	_cleanup_(models_clear) struct models models = models_of(config);
	read_keys(config, &links, &bounces);
	sender_set_up(&sender_here,
		&(struct sender_setup){ .public_url = config_get(config, "gateway", NULL, "public-url"),
			.link_key = buffer_bytes(&links.current),
			.bounce_key = buffer_bytes(&bounces.current),
			.most_a_minute = (uint32_t)config_number(config, "mail", NULL, "per-minute"),
			.most_a_day = (uint32_t)config_number(config, "mail", NULL, "per-day"),
			.polish = model_use_of(&models, POLISH_MODEL, config),
			.clock_rate = clock->rate });
	const struct http_settings http = http_settings_of_storefronts(config, clock);
	all[0] = mail_driver_new(config, clock);
	all[1] = http_driver_new("storefront", &http);
	all[2] = model_driver_new(&models, config, clock); /* NULL: there is none */
	return all;
}

static void check(const struct config *config)
{
	_cleanup_(keyring_clear) struct keyring links = { 0 }, bounces = { 0 };
	char why[512];

	read_keys(config, &links, &bounces);
	if (mail_try(config, why) < 0 || model_try(config, why) < 0)
		die("%s", why);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &sender,
			.context = sender_in(&sender_here),
			.help = "Mails the reminders that are due, each at most once. Start as many as you like.",
			.keys = settings_keys,
			.check = check,
			.drivers = drivers });
}
