/*
 * main.c: the process cartbus-mailin: the service, and in its loop a folder of mails and an LMTP server.
 * Called with READER_ARGUMENT it is the process that reads mails.
 *
 * Without [mailin] folder and lmtp it only fetches what SNS needs.
 */
#include "bus/actor/process.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "services/kit/http/http.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/settings/settings.h"
#include "services/kit/web/network.h"
#include "services/platform/mailin/folder.h"
#include "services/platform/mailin/lmtp_server.h"
#include "services/platform/mailin/lmtp_socket.h"
#include "services/platform/mailin/mailin.h"
#include "services/platform/mailin/reader.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { DESCRIPTORS_WANTED = 65536 };

static struct keyring keys;
static struct reader *reader;
static struct lmtp_server *server;
static struct turned_away turned_away;
static struct blob_uses *uses; /* NULL: no route keeps mails */
static struct routing routing;

/* A place where mails are put aside, and the folders that are read there. */
static struct place {
	struct quarantine *quarantine;
	struct folder *incoming, *retried; /* NULL: there is none */
} of_maildir, of_lmtp;

static int64_t look_at_place(struct place *place)
{
	int64_t next_us = -1;
	if (place->incoming)
		next_us = sooner_us(next_us, folder_look(place->incoming));
	if (place->retried)
		next_us = sooner_us(next_us, folder_look(place->retried));
	return place->quarantine ? sooner_us(next_us, quarantine_look(place->quarantine)) : next_us;
}

static int64_t tend_blobs(void)
{
	static int told;
	int r;
	int64_t next_us = blob_uses_look(uses, &r);

	if (r < 0 && r != told)
		log_event(LOG_ERROR, "the blobs of mails cannot be looked through: %s", strerror(-r));
	told = r < 0 ? r : told;
	return next_us;
}

static int64_t look(void *context)
{
	(void)context;
	int64_t next_us = sooner_us(look_at_place(&of_maildir), look_at_place(&of_lmtp));
	next_us = server ? sooner_us(next_us, lmtp_server_look(server)) : next_us;
	next_us = uses ? sooner_us(next_us, tend_blobs()) : next_us;
	return sooner_us(next_us, reader_look(reader)); /* after the parts that give it mails */
}

static void tell_counts(struct metrics_sink *told, void *context)
{
	const struct place *places[] = { &of_maildir, &of_lmtp };
	struct quarantine_tally sum = { 0 };
	bool is_full = false;
	(void)context;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!places[i]->quarantine)
			continue;
		struct quarantine_tally tally = quarantine_tally(places[i]->quarantine);
		sum.mails += tally.mails;
		sum.bytes += tally.bytes;
		sum.day += tally.day;
		is_full = is_full || !quarantine_has_room(places[i]->quarantine);
	}
	metrics_add(told, "aside_mails", sum.mails);
	metrics_add(told, "aside_bytes", sum.bytes);
	metrics_add(told, "aside_day", sum.day);
	metrics_add(told, "aside_full", is_full);
	metrics_add(told, "readers_killed", reader_deaths(reader));
	if (uses)
		blob_uses_tell(uses, told);
	if (server)
		turned_away_tell(&turned_away, lmtp_server_turned_away(server), told);
}

static struct quarantine *open_aside(const char *base, const struct clock *clock)
{
	struct quarantine *quarantine = quarantine_new(base, clock);
	if (!quarantine)
		die("%s: %s: a folder was expected in which this user may make others", base, strerror(errno));
	return quarantine;
}

static void open_maildir(const char *path, struct folder_needs needs)
{
	folder_check(path, "new"); /* before a folder is made in it */
	of_maildir.quarantine = needs.quarantine = open_aside(path, needs.clock);
	of_maildir.incoming = folder_new(path, "new", &needs);
	of_maildir.retried = folder_new(path, QUARANTINE_RETRY, &needs);
}

static void open_server(struct loop *loop, const struct config *config, const char *where, struct folder_needs needs)
{
	char base[400];
	snprintf(base, sizeof(base), "%s/%s", config_get(config, "paths", NULL, "state"),
		runtime_instance(needs.runtime));
	of_lmtp.quarantine = needs.quarantine = open_aside(base, needs.clock);
	of_lmtp.retried = folder_new(base, QUARANTINE_RETRY, &needs);
	server = lmtp_server_new(loop,
		&(struct lmtp_server_settings){ .where = where,
			.group = config_get(config, "mailin", NULL, "lmtp-group"),
			.needs = { .quarantine = needs.quarantine,
				.keys = needs.keys,
				.reader = needs.reader,
				.routing = needs.routing,
				.runtime = needs.runtime,
				.clock = needs.clock } });
}

/* A store of five open files for each shop of a use: the usual soft limit of 1024 ends at 200 shops. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= DESCRIPTORS_WANTED)
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED ? limit.rlim_max : DESCRIPTORS_WANTED;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		log_event(LOG_WARNING, "the limit of open files stays as it is: %s", strerror(errno));
}

static void add_uses(const struct config *config)
{
	for (const struct mail_route *const *table = registered_mail_routes; *table; table++)
		for (const struct mail_route *route = *table; route->name; route++) {
			int r = route->use ? blob_uses_add(uses, route->use, blob_message_kept_us(config, route->topic))
					   : 0;

			if (r < 0)
				die("the blobs of the mail route %s: %s; the folder must belong to this user",
					route->name, strerror(-r));
		}
}

static bool keeps_mails(void)
{
	for (const struct mail_route *const *table = registered_mail_routes; *table; table++)
		for (const struct mail_route *route = *table; route->name; route++)
			if (route->use)
				return true;
	return false;
}

static void open_routes(const struct config *config, struct runtime *runtime, const struct clock *clock)
{
	char root[PATH_MAX], trouble[200];

	if (mailbox_trouble(registered_mail_routes, trouble))
		die("%s", trouble);
	blob_places_root(config_get(config, "paths", NULL, "state"), root);
	if (keeps_mails()) {
		uses = blob_uses_new(&(struct blob_uses_settings){ .root = root,
			.process = "mailin",
			.shop_bytes = (uint64_t)config_number(config, "blobs", NULL, "shop-mib") << 20,
			.kept_free = (uint64_t)config_number(config, "blobs", NULL, "kept-free-mib") << 20,
			.clock = clock });
		raise_descriptors();
		add_uses(config);
	}
	routing_init(&routing, registered_mail_routes, uses, runtime, clock);
}

static void read_keys(const struct config *config, struct keyring *ret)
{
	char path[256];
	int r = keyring_read_bounce(secrets_folder(config), ret, path);

	if (r < 0)
		die_of_secret(path, r);
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	const char *path = config_get(config, "mailin", NULL, "folder");
	const char *where = config_get(config, "mailin", NULL, "lmtp");
	const bool has_folder = path && *path, has_server = where && *where;
	if (!has_folder && !has_server)
		return;
	read_keys(config, &keys);
	reader = reader_new(clock, NULL);
	loop_watch(loop, reader_fd(reader), false, reader_work, reader);
	open_routes(config, runtime, clock);
	const struct folder_needs needs = {
		.keys = &keys, .reader = reader, .routing = &routing, .runtime = runtime, .clock = clock
	};
	if (has_folder)
		open_maildir(path, needs);
	if (has_server)
		open_server(loop, config, where, needs);
	turned_away.clock = clock;
	loop_before_wait(loop, look, NULL);
	runtime_metrics_beside(runtime, tell_counts, NULL);
}

static void check(const struct config *config)
{
	const char *path = config_get(config, "mailin", NULL, "folder");
	const char *where = config_get(config, "mailin", NULL, "lmtp");
	_cleanup_(keyring_clear) struct keyring tried = { 0 };
	char why[512];

	if ((path && *path) || (where && *where))
		read_keys(config, &tried);
	if (path && *path)
		folder_check(path, "new");
	if (!where || !*where)
		return;
	if (lmtp_socket_try_group(config_get(config, "mailin", NULL, "lmtp-group"), why) < 0 ||
		lmtp_socket_try(where, why) < 0)
		die("%s", why);
}

static void close_place(struct place *place)
{
	folder_free(place->incoming);
	folder_free(place->retried);
	quarantine_free(place->quarantine);
}

static void stop(void)
{
	lmtp_server_free(server);
	close_place(&of_maildir);
	close_place(&of_lmtp);
	reader_free(reader);
	if (routing.tables)
		routing_clear(&routing);
	blob_uses_free(uses);
	keyring_clear(&keys);
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
	if (argc == 2 && strcmp(argv[1], READER_ARGUMENT) == 0)
		reader_serve();
	return process_main(argc, argv,
		&(struct process){ .service = &mailin,
			.help = "Reads the bounces and complaints that come back as mails, and fetches what SNS signs "
				"with.",
			.keys = settings_keys,
			.start = start,
			.stop = stop,
			.check = check,
			.drivers = drivers });
}
