/*
 * dead_letters.c: filters dead letters and reads them page by page, describes one in words, and has the
 * broker hand many out once more
 *
 * Promises: the record names the admin who begins or stops a redrive or a replay. Watching changes nothing:
 *           the broker goes on without a watcher, and watching goes on when the broker comes back.
 * Read next: dead.c and replay.c (the subcommands)
 */
#include "services/cartbus/recover/dead_letters.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/carts/words/describe.h"
#include "services/kit/time/timestamp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGE_MOST_US (INT64_C(3660) * US_PER_DAY)

bool dead_letter_filter_is_given(const struct dead_letter_filter *filter)
{
	return filter->topic || filter->shop || filter->reason || filter->older || filter->younger;
}

static void add_text(json_t *what, const char *name, const char *text)
{
	if (text)
		json_object_set_new(what, name, json_string(text));
}

static int add_age(const struct command *command, json_t *what, const char *name, const char *age)
{
	int64_t ago_us;

	if (!age)
		return EXIT_FINE;
	if (duration_parse(age, AGE_MOST_US, &ago_us)) {
		complain(command, "\"%s\" is no age; say 45s, 30min, 6h or 2d", age);
		return EXIT_USAGE;
	}
	json_object_set_new(what, name, json_integer(clock_wall_us(&command->clock) - ago_us));
	return EXIT_FINE;
}

int dead_letter_filter_add(const struct command *command, const struct dead_letter_filter *filter, json_t *what)
{
	int ended = add_age(command, what, "died_before_us", filter->older);

	if (!ended)
		ended = add_age(command, what, "died_after_us", filter->younger);
	add_text(what, "topic", filter->topic);
	add_text(what, "shop", filter->shop);
	add_text(what, "reason", filter->reason);
	return ended;
}

static int each_of_page(const json_t *page, dead_letter_fn *each, void *context)
{
	const json_t *dead_letter;
	int ended = EXIT_FINE;
	size_t i;

	json_array_foreach(json_object_get(page, "dead"), i, dead_letter)
	{
		ended = each(dead_letter, context);
		if (ended)
			break;
	}
	return ended;
}

int dead_letters_each(
	const struct command *command, struct client *client, json_t *what, dead_letter_fn *each, void *context)
{
	int ended = EXIT_FINE;
	bool more = true;

	while (more && !ended) {
		json_t *page = command_look(command, client, "dead.list", json_deep_copy(what));
		json_t *next = json_object_get(page, "next");

		ended = page ? each_of_page(page, each, context) : EXIT_NO;
		more = json_is_object(next);
		if (more)
			json_object_set(what, "from", next);
		json_decref(page);
	}
	json_decref(what);
	return ended;
}

/* ---- a dead letter in words: what it is, why it died, and what then ---- */

const char *dead_letter_text(const json_t *dead_letter, const char *name, char ret[DEAD_LETTER_WORDS_ROOM])
{
	text_copy(ret, DEAD_LETTER_WORDS_ROOM, member_text(dead_letter, name));
	text_make_plain(ret);
	return ret;
}

static void write_payload(const json_t *dead_letter, const char *zone, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 }, words = { 0 };
	const char *base64 = member_text(dead_letter, "payload");
	const struct topic *topic = topic_of(member_text(dead_letter, "topic"));
	_cleanup_free_ void *message = NULL;

	payload_from_base64(base64, &bytes);
	message = topic ? payload_decode(topic, buffer_bytes(&bytes)) : NULL;
	if (message)
		describe(topic, message, zone, &words);
	buffer_printf(ret, "payload   %s\n", message ? buffer_text(&words) : base64);
}

void dead_letter_words(const struct command *command, const json_t *dead_letter, struct buffer *ret)
{
	const char *zone = zone_of_shop(command, member_text(dead_letter, "shop"));
	const json_t *event;
	char at[40], key[DEAD_LETTER_WORDS_ROOM], reason[DEAD_LETTER_WORDS_ROOM], by[DEAD_LETTER_WORDS_ROOM];
	size_t i;

	describe_time(zone, member_number(dead_letter, "time_us"), at);
	buffer_printf(ret, "queue     %s\nmessage   %lld, %s of shop %s, key %s, said at %s%s\nreason    %s\n",
		member_text(dead_letter, "queue"), member_number(dead_letter, "seq"), member_text(dead_letter, "topic"),
		member_text(dead_letter, "shop"), dead_letter_text(dead_letter, "key", key), at,
		json_is_true(json_object_get(dead_letter, "replayed")) ? ", replayed from the log" : "",
		dead_letter_text(dead_letter, "reason", reason));
	write_payload(dead_letter, zone, ret);
	json_array_foreach(json_object_get(dead_letter, "history"), i, event)
	{
		describe_time(zone, member_number(event, "at_us"), at);
		buffer_printf(ret, "history   %s  %s (%s)\n", at, dead_letter_text(event, "reason", reason),
			dead_letter_text(event, "by", by));
	}
	buffer_printf(ret, "\nPut it right, then: cartbus dlq redrive %s %lld\n", member_text(dead_letter, "queue"),
		member_number(dead_letter, "seq"));
}

/* ---- many of them ---- */

#define LOOK_EVERY_US (200 * US_PER_MS)
#define AWAY_MOST_US (60 * US_PER_S) /* the time for a broker to come back */

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

static int print_state(const struct command *command, json_t *state)
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

int redrive_run(const struct command *command, struct client *client, const char *verb, json_t *what)
{
	json_t *state = record_and_ask(command, client, verb, what);

	if (!state)
		return EXIT_NO;
	say_begun(command, state);
	return print_state(command, watch(command, client, state));
}

int redrive_steer(const struct command *command, const char *queue, const struct redrive_options *options)
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
		ended = redrive_run(command, client, "feed.resume", json_pack("{s:s}", "queue", queue));
	} else {
		snprintf(grounds, sizeof(grounds), "queue %s", queue);
		record_change(command, client,
			&(struct record){ .shop = SHOP_OF_ALL,
				.action = "feed.cancel",
				.grounds = grounds,
				.done_all_the_same = true });
		state = command_ask(command, client, "feed.cancel", json_pack("{s:s}", "queue", queue));
		if (state) {
			print_state(command, state);
			ended = EXIT_FINE;
		}
	}
	client_free(client);
	return ended;
}

int redrive_rate_add(const struct command *command, const struct redrive_options *options, json_t *what)
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
