/*
 * main.c: the process cartbus-mailin: the service, and a folder of mails and a door for them beside it in the loop
 *
 * Without [mailin] folder and lmtp it only fetches what SNS needs.
 */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "services/kit/http.h"
#include "services/kit/settings.h"
#include "services/mailin/folder.h"
#include "services/mailin/lmtp_door.h"
#include "services/mailin/mailin.h"
#include <stdio.h>

static struct folder *folder;
static struct lmtp_door *door;

static int64_t look_at_folder(void *context)
{
	(void)context;
	return folder_look(folder);
}

static int64_t look_at_door(void *context)
{
	(void)context;
	return lmtp_door_look(door);
}

static void open_door(struct loop *loop, struct runtime *runtime, const struct config *config,
	const struct clock *clock, const char *where, struct bytes key)
{
	char aside[400];
	snprintf(aside, sizeof(aside), "%s/%s/aside", config_get(config, "paths", NULL, "state"),
		runtime_instance(runtime));
	door = lmtp_door_new(loop,
		&(struct lmtp_door_settings){
			.where = where, .aside = aside, .key = key, .runtime = runtime, .clock = clock });
	loop_before_wait(loop, look_at_door, NULL);
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	const char *path = config_get(config, "mailin", NULL, "folder");
	const char *where = config_get(config, "mailin", NULL, "lmtp");
	const bool has_folder = path && *path, has_door = where && *where;
	char secret[256];
	if (!has_folder && !has_door)
		return;
	settings_secret_path(config, "link.key", secret);
	int r = file_read_secret(secret, &key);
	if (r < 0)
		die_of_secret(secret, r);
	if (has_folder) {
		folder = folder_new(path, buffer_bytes(&key), runtime, clock);
		loop_before_wait(loop, look_at_folder, NULL);
	}
	if (has_door)
		open_door(loop, runtime, config, clock, where, buffer_bytes(&key));
}

static void stop(void)
{
	folder_free(folder);
	lmtp_door_free(door);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[2];
	struct http_settings settings = http_settings_of(config, clock);
	settings.peer = "sns";
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
