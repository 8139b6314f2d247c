/*
 * process_config.c: a process and its configuration, at the start and when it changes
 *
 * Promises:  one that is not right is not taken: what ran goes on, and says so in its log, its STATUS and to the broker. One that is
 *            right and says nothing new to this process changes nothing; another is taken by beginning anew in its place.
 * Fails by:  at a start, exit 1 with file, line and remedy; later, going on.
 * Read next: bus/base/reload.c, process.c
 */
#include "bus/actor/process_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/log_settings.h"
#include "bus/base/text.h"
#include "bus/wire/zmq_link.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t TURN_LEAST_US = 1 * US_PER_S;

static bool has_key(const struct config_key *keys, int count, const struct config_key *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(keys[i].section, key->section) == 0 && strcmp(keys[i].key, key->key) == 0)
			return true;
	return false;
}

/* Everybody reads the same file: what this process does not know is another's. */
static void gather_keys(struct running *running)
{
	const struct config_key *tables[] = { running->process->keys, process_keys };
	int count = 0;

	for (int t = 0; t < 2; t++)
		for (const struct config_key *key = tables[t]; key && key->section; key++)
			if (count + 1 < KEYS_MOST && !has_key(running->keys, count, key))
				running->keys[count++] = *key;
}

static int64_t origin(const struct running *running, const char *key)
{
	struct config_error error;
	int64_t us = 0;

	if (!config_get(running->config, "clock", NULL, key))
		die("%s: a [clock] with a rate needs %s", running->config_path, key);
	if (config_get_int(running->config, "clock", NULL, key, 0, INT64_MAX, &us, &error) < 0)
		die("%s", error.text);
	return us;
}

static void set_clock(struct running *running)
{
	const char *text = config_get(running->config, "clock", NULL, "rate");
	char *end;
	double rate = strtod(text, &end);

	if (*end || end == text || !(rate > 0 && rate <= 1e6))
		die("%s: rate \"%s\" in [clock] is not a number above 0", running->config_path, text);
	if (rate >= 1 && rate <= 1) {
		running->clock = clock_system();
		return;
	}
	running->clock = clock_scaled(rate, origin(running, "origin-real-us"), origin(running, "origin-wall-us"));
}

void process_read_config(struct running *running)
{
	struct config_error error = { .text = "" };
	int r;

	gather_keys(running);
	r = config_load(running->config_path, running->keys, &running->config, &error);
	if (r < 0)
		die("%s%s", error.text, config_load_remedy(r));
	log_configure(running->config, running->instance);
	set_clock(running);
}

int64_t process_turn_deadline_us(const struct running *running)
{
	struct config_error error;
	int64_t turn_us;

	if (config_get_span(running->config, "turn", NULL, "deadline", &turn_us, &error) < 0)
		die("%s", error.text);
	if (turn_us < TURN_LEAST_US)
		die("%s: deadline in [turn] is less than 1s", running->config_path);
	return turn_us;
}

void process_check_only(struct running *running)
{
	struct reach reach;
	char why[256];

	unsetenv("NOTIFY_SOCKET"); /* of whom has us check */
	process_read_config(running);
	log_write_as(LOG_FORM_TEXT);
	process_turn_deadline_us(running);
	if (reach_read(running->config, running->process->service->name, &reach, why) < 0)
		die("%s: %s", running->config_path, why);
	curve_wipe(&reach.key);
	if (running->process->drivers)
		running->process->drivers(running->config, &running->clock);
	_exit(0);
}

static void end_reloading(const struct running *running)
{
	if (running->ready_said)
		notify("READY=1");
}

void process_begin_to_reload(struct running *running)
{
	int r;

	if (running->drain_until_us > 0 || running->reload.child)
		return; /* it will be read anyhow */
	if (running->ready_said)
		notify("RELOADING=1");
	r = reload_begin(&running->reload,
		(char *const[]){ "cartbus", "--check", "--config", (char *)running->config_path, "--instance",
			(char *)running->instance, NULL },
		clock_boot_us(&running->clock));
	if (r < 0) {
		log_event(LOG_ERROR, "the configuration cannot be judged, and what ran goes on: %s", strerror(-r));
		end_reloading(running);
	}
}

void process_tell_config(const struct running *running, bool is_read)
{
	struct clock real = clock_system();

	runtime_tell_config(running->runtime, is_read ? clock_wall_us(&real) : 0, running->kept_why[0] != '\0');
}

static void keep_config(struct running *running, const char *why)
{
	TEXT_COPY(running->kept_why, why);
	log_event(LOG_ERROR, "the configuration is not taken, and what ran goes on: %s", why);
	process_tell_config(running, false);
	process_show_status(running);
	end_reloading(running);
}

static void take_config(struct running *running)
{
	struct config *now = NULL;
	struct config_error error = { .text = "" };
	char which[300];

	if (config_load(running->config_path, running->keys, &now, &error) < 0) {
		keep_config(running, error.text); /* it changed once more */
		return;
	}
	running->kept_why[0] = '\0';
	running->again = config_differs(running->config, now, which, sizeof(which));
	config_free(now);
	process_tell_config(running, true);
	if (running->again) {
		log_event(LOG_NOTICE, "begins anew with another configuration: %s", which);
		notify_status("begins anew with another configuration");
		process_begin_to_leave(running);
	} else {
		log_event(LOG_INFO, "the configuration was read, and nothing in it is new to this process");
		process_show_status(running);
		end_reloading(running);
	}
}

void process_end_judging(struct running *running)
{
	char why[RELOAD_WHY];

	if (!reload_judged(&running->reload, clock_boot_us(&running->clock), why))
		return;
	if (running->drain_until_us > 0)
		return;
	if (why[0])
		keep_config(running, why);
	else
		take_config(running);
}

int64_t process_judge_late(struct running *running)
{
	int64_t wait_us = running->reload.until_us - clock_boot_us(&running->clock);

	if (!running->reload.child)
		return -1;
	if (wait_us > 0)
		return wait_us;
	process_end_judging(running);
	return -1;
}
