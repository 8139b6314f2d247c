/*
 * http.c: the console's HTTP server, and the limits for its clients
 *
 * Owns:      the server (services/kit/web/web.h), the people, their sessions, and the acts and feeds under way. main.c holds the one
 *            struct console.
 * Promises:  what a stranger can make it spend is bounded, for one network and for all: connections, bytes, work. Hashing a password is
 *            bounded by people/throttle.h.
 * Fails by:  400, 404, 405, 408, 413, 431, 503 in words; die() when it cannot listen, or the people's file has a fault.
 * Read next: visit.c (a request), act.c, feeds.c
 */
#include "services/console/http.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/console/act.h"
#include "services/console/feeds.h"
#include "services/console/people/folder.h"
#include "services/console/visit.h"
#include "services/kit/settings/listen.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	HEAD_MOST = 16 * 1024,
	BODIES_MOST = 16 * 1024 * 1024, /* of all requests at once, their heads included */
	CONNECTIONS_MOST = 256,
	CONNECTIONS_EACH = 128, /* a proxy in front that names no client is one network */
	WORK_PERCENT_EACH = 25, /* of one CPU, of a network that proves nothing */
	WORK_PERCENT_ALL = 50,
	SOURCES_MOST = 4000,
	KEY_BYTES = 32
};
static const int64_t tend_us = US_PER_S;

/* ---- from the configuration ---- */

static struct console_place place_of(const struct config *config)
{
	const char *url = config_get(config, "console", NULL, "public-url");
	struct console_place place;

	if (console_place_read(url, &place) < 0)
		die("[console] public-url = %s: expected an address as https://cartbus.example, perhaps with a path of plain words behind it",
			url);
	if (!place.is_secure)
		log_event(LOG_WARNING,
			"[console] public-url = %s: passwords go over the network in clear; put a TLS proxy in front (handbook: front)",
			url);
	return place;
}

static void folder_of_people(const struct config *config, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/people", config_get(config, "paths", NULL, "state"));
}

void http_check(const struct config *config)
{
	_cleanup_(people_freep) struct people *people = NULL;
	char folder[PATH_MAX], why[PEOPLE_WHY];

	place_of(config);
	if (pages_fault(registered_pages, why))
		die("%s", why);
	folder_of_people(config, folder);
	if (people_open(folder, &people, why) < 0)
		die("%s", why);
	if (config_number(config, "console", NULL, "port") > 0)
		listen_check(config, "console");
}

/* ---- people ---- */

/* The key makes the forms' tokens, and the file of passwords useless without it. It is made at the first start. */
static void read_key(const char *folder, struct buffer *ret)
{
	uint8_t bytes[KEY_BYTES];
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%.*s/key", (int)(PATH_MAX - 8), folder);
	r = file_read(path, sizeof(bytes), ret);
	if (r == -ENOENT) {
		if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
			die("the kernel gives no random bytes");
		r = file_write_durably(path, BYTES(bytes, sizeof(bytes)), 0600);
		buffer_add(ret, bytes, sizeof(bytes));
	}
	if (r < 0 || ret->len != sizeof(bytes))
		die("%s: %s; it has %d random bytes, and passwords are useless without it", path,
			r < 0 ? strerror(-r) : "it has another length", KEY_BYTES);
}

static void open_people(struct console *console)
{
	char folder[PATH_MAX], path[PATH_MAX], why[PEOPLE_WHY];
	const char *state = config_get(console->config, "paths", NULL, "state"),
		   *instance = runtime_instance(console->runtime);
	int r;

	folder_of_people(console->config, folder);
	r = people_folder_make(folder, NULL);
	if (r < 0)
		die("%s: %s", folder, strerror(-r));
	if (people_open(folder, &console->people, why) < 0)
		die("%s", why);
	read_key(folder, &console->key);
	snprintf(path, sizeof(path), "%.*s/%s/sessions", PATH_MAX - 100, state, instance);
	console->sessions = sessions_open(
		path, console->people, buffer_bytes(&console->key), &console->real, &session_times_usual, why);
	if (*why)
		log_event(LOG_WARNING, "%s; everybody has to sign in again", why);
	snprintf(path, sizeof(path), "%.*s/%s/throttle", PATH_MAX - 100, state, instance);
	console->throttle = throttle_open(path, clock_wall_us(&console->real));
	console->sign_in = (struct sign_in){ .people = console->people,
		.sessions = console->sessions,
		.throttle = console->throttle,
		.key = buffer_bytes(&console->key),
		.clock = &console->real,
		.needs_no_factor = console->place.is_local };
}

/* Who was added, or has another role, by the command. */
static void look_at_people(struct console *console)
{
	char why[PEOPLE_WHY];

	if (people_look(console->people, why) < 0)
		log_event(LOG_ERROR, "%s; the people stay as they were", why);
	sessions_write(console->sessions);
	throttle_write(console->throttle, clock_wall_us(&console->real), false);
}

/* ---- in the loop ---- */

static void on_ready(void *context)
{
	(void)context; /* before_wait does the work */
}

static void note_broker(struct console *console)
{
	bool is_here = runtime_phase(console->runtime) == RUNTIME_READY;

	if (is_here)
		console->away_since_us = 0;
	else if (!console->away_since_us)
		console->away_since_us = clock_wall_us(console->clock);
}

static int64_t before_wait(void *context)
{
	struct console *console = context;
	int64_t now_us = clock_boot_us(console->clock), wait_us;

	note_broker(console);
	if (now_us >= console->tend_at_us) {
		console->tend_at_us = now_us + tend_us;
		look_at_people(console);
	}
	wait_us = sooner_us(web_work(console->web), act_work(console));
	return sooner_us(sooner_us(wait_us, feeds_work(console)), tend_us);
}

/* ---- from beginning to end ---- */

static void serve(struct console *console, struct loop *loop)
{
	const struct web_owner owner = { .begin = visit_begin,
		.judge_head = visit_judge_head,
		.decide = visit_decide,
		.dress = visit_dress,
		.end = visit_end,
		.context = console };
	const struct web_limits limits = { .head_most = HEAD_MOST,
		.body_most = CONSOLE_FORM_MOST,
		.feeds_each = FEEDS_EACH,
		.feeds_all = FEEDS_ALL,
		.feed_bytes = FEED_BYTES,
		.sources = { .connections_each = CONNECTIONS_EACH,
			.connections_all = listen_room(CONNECTIONS_MOST),
			.bytes_each = BODIES_MOST / 4,
			.bytes_all = BODIES_MOST,
			.work_percent_each = WORK_PERCENT_EACH,
			.work_percent_all = WORK_PERCENT_ALL,
			.work_burst_us = US_PER_S,
			.sources_most = SOURCES_MOST } };

	web_proxies_parse(config_get(console->config, "console", NULL, "trusted-proxy"), &console->proxies);
	console->web =
		web_new(listen_socket(console->config, "console"), &limits, &owner, &console->proxies, console->clock);
	if (!console->web || loop_watch(loop, web_descriptor(console->web), false, on_ready, NULL) < 0)
		die("the HTTP server does not start: too many open files?");
	loop_before_wait(loop, before_wait, console);
}

struct console *http_start(
	struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	struct console *console = memory_new(sizeof(*console));
	char why[200];

	if (pages_fault(registered_pages, why))
		die("%s", why);
	console->config = config;
	console->clock = clock;
	console->real = clock_system();
	console->runtime = runtime;
	console->place = place_of(config);
	assets_find_places(&console->assets);
	list_init(&console->feeds);
	list_init(&console->askings);
	if (config_number(config, "console", NULL, "port") == 0)
		return console; /* nobody is to reach it */
	open_people(console);
	serve(console, loop);
	return console;
}

void http_leave(struct console *console)
{
	if (!console->web)
		return;
	feeds_end(console);
	web_leave(console->web);
}

bool http_left(const struct console *console)
{
	return !console->web || web_connections(console->web) == 0;
}

void http_stop(struct console *console)
{
	act_stop(console);
	web_free(console->web);
	if (console->throttle)
		throttle_write(console->throttle, clock_wall_us(&console->real), true);
	if (console->sessions)
		sessions_write(console->sessions);
	throttle_free(console->throttle);
	sessions_free(console->sessions);
	people_free(console->people);
	buffer_free_secret(&console->key);
	free(console);
}
