/*
 * main.c: the process cartbus-mailin: the service, and a folder of mails beside it in the loop
 *
 * Without [mailin] folder it only fetches what SNS needs.
 */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "services/kit/http.h"
#include "services/kit/settings.h"
#include "services/mailin/folder.h"
#include "services/mailin/mailin.h"

static struct folder *folder;

static int64_t before_wait(void *context)
{
	(void)context;
	return folder_look(folder);
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	const char *path = config_get(config, "mailin", NULL, "folder");
	char secret[256];
	if (!path || !*path)
		return;
	settings_secret_path(config, "link.key", secret);
	int r = file_read_secret(secret, &key);
	if (r < 0)
		die("%s: %s: `cartbus up` makes this key when there is none; every process that signs or reads links "
		    "needs the same one, readable by its user alone (chmod 600)",
			secret, strerror(-r));
	folder = folder_new(path, buffer_bytes(&key), runtime, clock);
	loop_before_wait(loop, before_wait, NULL);
}

static void stop(void)
{
	folder_free(folder);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];
	struct http_settings settings = http_settings_of(config, clock);
	all[0] = http_driver_new("http", &settings);
	return all;
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &mailin,
			.help = "Reads the bounces and complaints that come back as mails, and fetches what SNS signs "
				"with.",
			.keys = settings_keys,
			.start = start,
			.stop = stop,
			.drivers = drivers });
}
