/* main.c: the process cartbus-summarizer */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/carts/report/narrate.h"
#include "services/carts/summarizer/summarizer.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/mail/message.h"
#include "services/kit/settings/settings.h"
#include <stdio.h>

static struct summarizer summarizer_here;

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[4];
	_cleanup_(models_clear) struct models models = models_of(config);
	const char *folder = config_get(config, "export", NULL, "folder");
	char beside_state[256];
	snprintf(beside_state, sizeof(beside_state), "%s/export", config_get(config, "paths", NULL, "state"));
	TEXT_COPY(summarizer_here.folder, folder && *folder ? folder : beside_state);
	summarizer_here.model = model_use_of(&models, NARRATE_MODEL, config);
	all[0] = file_driver_new();
	all[1] = mail_driver_new(config, clock);
	all[2] = model_driver_new(&models, config, clock); /* NULL: there is none */
	return all;
}

static void check(const struct config *config)
{
	char why[512];

	if (settings_export_try(config, why) < 0 || mail_try(config, why) < 0 || model_try(config, why) < 0)
		die("%s", why);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &summarizer,
			.context = summarizer_in(&summarizer_here),
			.help = "Tells each owner on the first Monday of a month how the past one went, and weekly if "
				"wanted.",
			.keys = settings_keys,
			.check = check,
			.drivers = drivers });
}
