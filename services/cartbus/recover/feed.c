/*
 * feed.c: begins, watches, cancels and resumes what the broker hands out once more
 *
 * Promises: who had it begun or stopped is on record. Watching changes nothing: the broker goes on when nobody watches, and watching goes on when the broker comes back.
 */
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/recover/letters.h"

#include "bus/base/cleanup.h"
#include "proto/platform_topics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY_US (200 * US_PER_MS)
#define AWAY_MOST_US (60 * US_PER_S) /* so long a broker may take to come back */

static void wait_a_little(struct client *client, const struct clock *clock)
{
	int64_t until_us = clock_boot_us(clock) + LOOK_EVERY_US;

	while (clock_boot_us(clock) < until_us)
		client_work(client, until_us - clock_boot_us(clock));
}

/* NULL: the broker does not answer now. */
static json_t *look(struct client *client, const char *queue)
{
	_cleanup_(buffer_free) struct buffer answer = { 0 };
	json_t *what = json_pack("{s:s}", "queue", queue);
	_cleanup_free_ char *argument = json_dumps(what, JSON_COMPACT);
	char why[256];

	json_decref(what);
	if (client_ask(client, "feed", argument, &answer, why))
		return NULL;
	return json_loadb((const char *)answer.data, answer.len, 0, NULL);
}

static json_t *watch(const struct command *command, struct client *client, json_t *state)
{
	int64_t heard_us = clock_boot_us(&command->clock);

	while (strcmp(member_text(state, "state"), "running") == 0) {
		json_t *now;

		wait_a_little(client, &command->clock);
		now = look(client, member_text(state, "queue"));
		if (!now && clock_boot_us(&command->clock) - heard_us > AWAY_MOST_US) {
			complain(command,
				"the broker has not answered for a minute: this is what it said last; when it is "
				"back, it goes on by itself");
			break;
		}
		if (!now)
			continue;
		heard_us = clock_boot_us(&command->clock);
		json_decref(state);
		state = now;
	}
	return state;
}

static void say_begun(const struct command *command, const json_t *state)
{
	if (strcmp(member_text(state, "state"), "running") != 0)
		return;
	fprintf(stderr, "the broker does it; Ctrl-C ends the watching only. To stop it: cartbus %s%s %s --cancel\n",
		command->name, strcmp(command->name, "replay") == 0 ? " --queue" : "", member_text(state, "queue"));
}

static int tell(const struct command *command, json_t *state)
{
	bool finished = strcmp(member_text(state, "state"), "finished") == 0;

	if (command->json)
		json_print(state);
	else
		printf("%s %s: %lld\n", member_text(state, "what"), member_text(state, "state"),
			(long long)json_integer_value(json_object_get(state, "fed")));
	json_decref(state);
	return finished ? EXIT_FINE : EXIT_NO;
}

int feed_run(const struct command *command, struct client *client, const char *verb, json_t *what)
{
	json_t *state = record_and_ask(command, client, verb, what);

	if (!state)
		return EXIT_NO;
	say_begun(command, state);
	return tell(command, watch(command, client, state));
}

int feed_steer(const struct command *command, const char *queue, const struct feed_options *options)
{
	struct client *client;
	char grounds[160];
	int ended = EXIT_NO;
	json_t *state;

	if (options->cancel && options->resume) {
		complain(command, "--cancel or --resume, not both");
		return EXIT_USAGE;
	}
	client = command_connect(command);
	if (options->resume) {
		ended = feed_run(command, client, "feed.resume", json_pack("{s:s}", "queue", queue));
	} else {
		snprintf(grounds, sizeof(grounds), "queue %s", queue);
		record_change(command, client,
			&(struct record){ .shop = SHOP_OF_ALL,
				.action = "feed.cancel",
				.grounds = grounds,
				.done_all_the_same = true });
		state = command_ask(command, client, "feed.cancel", json_pack("{s:s}", "queue", queue));
		if (state) {
			tell(command, state);
			ended = EXIT_FINE;
		}
	}
	client_free(client);
	return ended;
}

int feed_rate_add(const struct command *command, const struct feed_options *options, json_t *what)
{
	int64_t rate;

	if (!options->rate)
		return EXIT_FINE;
	if (range_rate(options->rate, &rate)) {
		complain(command, "\"%s\" is no rate; say 5/s, at most 100000/s", options->rate);
		return EXIT_USAGE;
	}
	json_object_set_new(what, "rate", json_integer(rate));
	return EXIT_FINE;
}
