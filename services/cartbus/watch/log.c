/*
 * log.c: `cartbus log`: the messages of the log, and with --follow those that come from now on; `cartbus tap`: what happens, live
 *
 * Promises:  in the order of the log, none left out and none twice, also where it goes on. A tap does not ask the broker.
 * Fails by:  EXIT_AWAY where nobody answers. Ctrl-C is heard meanwhile.
 * Read next: selection.c (what is about a cart), why.c (`cartbus trace`: all about one cart)
 */
#include "bus/actor/tap.h"
#include "bus/actor/topic.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "proto/topics.h"
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/carts/words/describe.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a message of the log as one line on stdout ---- */

static void print_words(
	const struct command *command, const struct entry *entry, const struct topic *topic, const void *message)
{
	const char *zone = zone_of_shop(command, entry->shop);
	_cleanup_(buffer_free) struct buffer words = { 0 };
	char at[40];

	describe(topic, message, zone, &words);
	describe_time(zone, entry->time_us, at);
	printf("%8llu  %s  %-10s %-10s %-18s %s\n", (unsigned long long)entry->seq, at, entry->shop, entry->said_by,
		entry->topic, buffer_text(&words));
}

/* In words and its shop's time, with --json as one object; masked, and flushed. */
static void entry_line(
	const struct command *command, const struct entry *entry, const struct topic *topic, const void *message)
{
	if (command->json) {
		json_t *json = entry_json(entry);

		json_print_line(json);
		json_decref(json);
	} else {
		print_words(command, entry, topic, message);
	}
	fflush(stdout);
}

/* ---- `cartbus log` ---- */

#define LOOK_AGAIN_US (500 * US_PER_MS)
enum { TOPICS_MOST = 64 };

struct logging {
	const struct command *command;
	struct client *client;
	struct reading_filter filter;
	const char *topics[TOPICS_MOST + 1]; /* those that are asked for */
	uint64_t shown;
};

static volatile sig_atomic_t is_asked_to_stop;

static void hear_stop(int signal_number)
{
	(void)signal_number;
	is_asked_to_stop = 1;
}

static bool goes_on(void *context)
{
	(void)context;
	return !is_asked_to_stop;
}

/* A question that is given up because of Ctrl-C is no fault. */
static void hear_complaint(const char *words, void *context)
{
	const struct command *command = context;

	if (!is_asked_to_stop)
		fprintf(stderr, "cartbus %s: %s\n", command->name, words);
}

/* "cart.state", or "cart.*": all that begin so. */
static bool topic_matches(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	if (len && wanted[len - 1] == '*')
		return strncmp(name, wanted, len - 1) == 0;
	return strcmp(name, wanted) == 0;
}

/* Returns how many topics are then chosen. */
static int choose_of(const struct topic *const *topics, const char *wanted, struct nearest *nearest,
	struct logging *logging, int count)
{
	for (; *topics; topics++) {
		nearest_try(nearest, (*topics)->name);
		if (topic_matches((*topics)->name, wanted) && count < TOPICS_MOST)
			logging->topics[count++] = (*topics)->name;
	}
	return count;
}

static int choose_topics(struct logging *logging, const char *wanted)
{
	struct nearest nearest = nearest_begin(wanted);
	int count = 0;

	for (size_t i = 0; registered_topics[i]; i++)
		count = choose_of(registered_topics[i], wanted, &nearest, logging, count);
	logging->filter.topics = logging->topics;
	if (count)
		return EXIT_FINE;
	complain(logging->command, "there is no topic \"%s\"%s%s%s; cart.* stands for all that begin so", wanted,
		nearest.name ? "; did you mean \"" : "", nearest.name ? nearest.name : "", nearest.name ? "\"?" : "");
	return EXIT_USAGE;
}

static bool show(const struct entry *entry, void *context)
{
	struct logging *logging = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (message) {
		entry_line(logging->command, entry, topic, message);
		logging->shown++;
	}
	logging->filter.from = entry->seq + 1;
	return !is_asked_to_stop;
}

/* What is asked for up to the head, of which others need not be looked at again. */
static int show_more(struct logging *logging)
{
	json_t *status = command_look(logging->command, logging->client, "status", NULL);
	uint64_t head = (uint64_t)json_integer_value(json_object_get(status, "head"));
	int failed;

	if (!status)
		return EXIT_NO;
	json_decref(status);
	if (head < logging->filter.from)
		return EXIT_FINE;
	failed = reading_each(logging->command, logging->client, &logging->filter, show, logging);
	if (!is_asked_to_stop && logging->filter.from <= head)
		logging->filter.from = head + 1;
	return failed;
}

static void wait_a_while(const struct logging *logging)
{
	int64_t until_us = clock_boot_us(&logging->command->clock) + LOOK_AGAIN_US;

	while (!is_asked_to_stop && clock_boot_us(&logging->command->clock) < until_us)
		client_work(logging->client, LOOK_AGAIN_US);
}

static int find_beginning(struct logging *logging, const struct range_end *since)
{
	int64_t at_us;

	if (!since->seq)
		return reading_find(logging->command, logging->client, since->time_us, &logging->filter.from, &at_us);
	logging->filter.from = (uint64_t)since->seq;
	return EXIT_FINE;
}

static int show_all(struct logging *logging, const struct range_end *since, bool follows)
{
	int failed = find_beginning(logging, since);

	failed = failed ? failed : show_more(logging);
	while (!failed && follows && !is_asked_to_stop) {
		wait_a_while(logging);
		failed = show_more(logging);
	}
	if (!failed && !logging->shown && !follows)
		complain(logging->command, "nothing was said since then; --since 7d looks further back");
	return failed;
}

int command_log(struct command *command, int argc, char **argv)
{
	const char *topic = NULL, *since_text = "1h";
	bool follows = false;
	struct logging logging = { .command = command, .filter.masked = true };
	struct range_end since;
	const struct take takes[] = { { "topic", "NAME", "only this topic; \"cart.*\": all that begin so", &topic,
					      NULL },
		{ "shop", "NAME", "only this shop", &logging.filter.shop, NULL },
		{ "since", "SPAN|SEQ|TIME",
			"from here on: so long ago, a message's number, or 2026-11-21T06:00:00Z (1h)", &since_text,
			NULL },
		{ "follow", NULL, "and what is said from now on, until Ctrl-C", NULL, &follows }, { 0 } };
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Prints what the log holds of the last hour, or from --since on, in its order; times "
				"are the shops'. Addresses and names are masked, and for who has no right to see "
				"payloads all texts. With --json one object a line.\v"
				"Examples:\n  cartbus log --shop demo --since 2d\n  cartbus log --topic 'reminder.*' "
				"--follow\n  cartbus log --since 4711 --json" });
	if (range_end_parse(since_text, &command->clock, &since)) {
		complain(command,
			"--since is a span like 90min or 2d, a message's number, or a moment like "
			"2026-11-21T06:00:00Z; not \"%s\"",
			since_text);
		return EXIT_USAGE;
	}
	failed = topic ? choose_topics(&logging, topic) : EXIT_FINE;
	if (failed)
		return failed;
	logging.client = command_connect(command);
	client_meanwhile(logging.client, goes_on, NULL);
	command->hear = hear_complaint;
	command->hearer = command;
	signal(SIGINT, hear_stop);
	signal(SIGTERM, hear_stop);
	failed = logging.filter.shop ? shops_know(command, logging.client, logging.filter.shop) : EXIT_FINE;
	failed = failed ? failed : show_all(&logging, &since, follows);
	client_free(logging.client);
	return is_asked_to_stop ? EXIT_FINE : failed;
}

/* ---- `cartbus tap` ---- */

#define WAIT_US (200 * US_PER_MS)

struct tapping {
	const struct command *command;
	const char *shop;
	bool is_bare;                /* masked */
	struct selection *selection; /* NULL: every cart */
};

static volatile sig_atomic_t is_listening;

/* Before it listens, tap waits for the broker and holds nothing that has to be closed: it ends at once. */
static void hear_stop_of_tap(int signal_number)
{
	(void)signal_number;
	if (!is_listening)
		_exit(EXIT_FINE);
	is_asked_to_stop = 1;
}

static void hear(const struct tapping *tapping, const struct message_meta *said, struct bytes payload)
{
	struct entry entry = { .seq = said->seq,
		.version = said->version,
		.cause = said->cause,
		.time_us = said->time_us,
		.topic = said->topic,
		.shop = said->shop,
		.key = said->key,
		.said_by = said->said_by,
		.trace = said->trace,
		.tombstone = said->tombstone,
		.payload = payload };
	const struct topic *topic = topic_of(said->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, payload) : NULL;

	if (!message || (tapping->shop && strcmp(tapping->shop, said->shop) != 0))
		return;
	if (!tapping->selection || selection_has(tapping->selection, &entry, topic, message))
		entry_line(tapping->command, &entry, topic, message);
}

static int listen_on(const struct tapping *tapping, const char *topic)
{
	struct tap *tap = NULL;
	int failed = tap_open(tapping->command->config, "cartbus", !tapping->is_bare, topic, &tap);

	if (failed) {
		complain(tapping->command, "cannot listen: %s", strerror(-failed));
		return EXIT_AWAY;
	}
	is_listening = 1;
	while (!is_asked_to_stop) {
		struct bytes payload;
		struct message_meta said;

		if (tap_next(tap, WAIT_US, &said, &payload) == 0)
			hear(tapping, &said, payload);
	}
	tap_close(tap);
	return EXIT_FINE;
}

/* A socket that nobody publishes on is silent for ever: so the broker is spoken to first, whether a cart is asked for or not. */
static int begin(struct tapping *tapping, const char *cart)
{
	struct client *client = command_connect(tapping->command);
	int failed = tapping->shop && !cart ? shops_know(tapping->command, client, tapping->shop) : EXIT_FINE;

	if (cart)
		tapping->selection = selection_find(tapping->command, client, tapping->shop, cart);
	client_free(client);
	return cart && !tapping->selection ? EXIT_NO : failed;
}

int command_tap(struct command *command, int argc, char **argv)
{
	const char *topic = NULL, *cart = NULL;
	struct tapping tapping = { .command = command };
	const struct take takes[] = { { "topic", "NAME", "only this topic; \"cart.*\": all that begin so", &topic,
					      NULL },
		{ "shop", "NAME", "only this shop", &tapping.shop, NULL },
		{ "bare", NULL, "masked: for who has no right to see payloads in clear", NULL, &tapping.is_bare },
		{ "cart", "CART", "only this cart (needs --shop)", &cart, NULL }, { 0 } };
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Prints what the broker commits, as it happens, until Ctrl-C. With --json one object a "
				"line.\v"
				"Examples:\n  cartbus tap --shop demo\n  cartbus tap --topic 'reminder.*' --json" });
	if (cart && !tapping.shop) {
		complain(command, "--cart needs --shop: two shops may share every id");
		return EXIT_USAGE;
	}
	signal(SIGINT, hear_stop_of_tap);
	signal(SIGTERM, hear_stop_of_tap);
	failed = begin(&tapping, cart);
	failed = failed ? failed : listen_on(&tapping, topic);
	selection_free(tapping.selection);
	return failed;
}
