/*
 * erase_ask.c: having the broker erase, and waiting for it
 *
 * Read next: erase.c, bus/broker/admin/answer_erase.c
 */
#include "services/cartbus/people/erase.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	NUMBERS_AT_ONCE = 150, /* of a question: it holds 4,096 bytes */
	LOOKS_MOST = 18000,    /* an hour: files of many gigabytes are rewritten */
	SETTLE_LOOKS = 300     /* a minute */
};
static const struct timespec LOOK_EVERY = { .tv_nsec = 200 * 1000 * 1000 };

typedef bool done_fn(const json_t *answer, const void *context);

/* Asks again and again until done() says so. */
static int wait_for(
	struct erasure *erasure, const char *verb, done_fn *done, const void *context, int looks, const char *what)
{
	for (int i = 0; i < looks; i++) {
		json_t *answer = command_look(erasure->command, erasure->client, verb, NULL);
		bool is_done = answer && done(answer, context);

		json_decref(answer);
		if (is_done)
			return EXIT_FINE;
		if (!answer)
			return EXIT_NO;
		nanosleep(&LOOK_EVERY, NULL);
	}
	complain(erasure->command, "%s; run it again when that is over", what);
	return EXIT_NO;
}

static bool is_idle(const json_t *answer, const void *context)
{
	(void)context;
	return !json_is_true(json_object_get(answer, "running"));
}

static bool nothing_is_spooled(const json_t *status, const void *context)
{
	const json_t *session;
	size_t i;

	(void)context;
	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (json_integer_value(json_object_get(session, "spooled")) > 0)
			return false;
	}
	return true;
}

int erase_wait_idle(struct erasure *erasure)
{
	int ended = wait_for(erasure, "erasure", is_idle, NULL, LOOKS_MOST, "another erasure is running");

	return ended ? ended
		     : wait_for(erasure, "status", nothing_is_spooled, NULL, SETTLE_LOOKS,
			       "a gateway holds what the broker has not got yet");
}

static bool is_settled(const json_t *queues, const void *context)
{
	const int64_t *said_us = context;
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(queues, "queues"), i, queue)
	{
		const char *name = json_string_value(json_object_get(queue, "name"));
		json_int_t oldest_us;

		if (!name || (strcmp(name, "intake") != 0 && strcmp(name, "unsub") != 0))
			continue;
		oldest_us = json_integer_value(json_object_get(queue, "oldest_us"));
		if (json_integer_value(json_object_get(queue, "ready")) +
					json_integer_value(json_object_get(queue, "leased")) >
				0 &&
			oldest_us <= *said_us)
			return false;
	}
	return true;
}

int erase_wait_settled(struct erasure *erasure)
{
	int64_t said_us =
		clock_wall_us(&erasure->command->clock) + US_PER_S; /* of log time: the clocks are the same machine's */

	return wait_for(erasure, "queues", is_settled, &said_us, SETTLE_LOOKS,
		"intake and unsub have not heard that this person is not mailed any more: do they run? Nothing was "
		"erased");
}

/* Up to so many of the numbers from *at on. */
static json_t *some(const json_t *numbers, size_t *at)
{
	json_t *list = json_array();

	for (int i = 0; i < NUMBERS_AT_ONCE && *at < json_array_size(numbers); i++, ++*at)
		json_array_append(list, json_array_get(numbers, *at));
	return list;
}

static int ask_all(struct erasure *erasure)
{
	size_t messages = 0, with_keys = 0;
	bool begins = true, more = true;

	while (more) {
		json_t *first = some(erasure->messages, &messages), *second = some(erasure->with_keys, &with_keys),
		       *answer;

		more = messages < json_array_size(erasure->messages) || with_keys < json_array_size(erasure->with_keys);
		answer = command_ask(erasure->command, erasure->client, "erase",
			json_pack("{s:b,s:o,s:o,s:b}", "begin", (int)begins, "messages", first, "with_keys", second,
				"run", (int)!more));
		json_decref(answer);
		if (!answer)
			return EXIT_NO;
		begins = false;
	}
	return EXIT_FINE;
}

struct folding {
	const json_t *before; /* the sessions that there were */
	json_int_t head;
};

static bool is_same(const json_t *one, const json_t *other)
{
	return json_equal(json_object_get(one, "service"), json_object_get(other, "service")) &&
		json_equal(json_object_get(one, "instance"), json_object_get(other, "instance"));
}

static bool has_folded(const json_t *sessions, const json_t *before, json_int_t head)
{
	const json_t *session;
	size_t i;

	json_array_foreach(sessions, i, session)
	{
		if (is_same(session, before) && json_integer_value(json_object_get(session, "cursor")) >= head)
			return true;
	}
	return false;
}

/* Each service that had a session has one again, and has folded as far as the log went. */
static bool all_have_folded(const json_t *status, const void *context)
{
	const struct folding *folding = context;
	const json_t *before;
	size_t i;

	json_array_foreach(folding->before, i, before)
	{
		const char *service = json_string_value(json_object_get(before, "service"));

		if (service && strcmp(service, "cartbus") != 0 &&
			!has_folded(json_object_get(status, "sessions"), before, folding->head))
			return false;
	}
	return true;
}

static int wait_folded(struct erasure *erasure, const json_t *before)
{
	json_t *status = command_look(erasure->command, erasure->client, "status", NULL);
	struct folding folding = { .before = before, .head = json_integer_value(json_object_get(status, "head")) };

	json_decref(status);
	return status ? wait_for(erasure, "status", all_have_folded, &folding, LOOKS_MOST, "services are folding anew")
		      : EXIT_NO;
}

int erase_ask(struct erasure *erasure)
{
	json_t *status = command_look(erasure->command, erasure->client, "status", NULL);
	int ended = status ? ask_all(erasure) : EXIT_NO;

	if (!ended && !erasure->command->json && !erasure->is_quiet) {
		fprintf(stderr, "the broker erases %zu messages; from here on it goes on by itself\n",
			json_array_size(erasure->messages) + json_array_size(erasure->with_keys));
		fflush(stderr);
	}
	ended = ended ? ended : wait_for(erasure, "erasure", is_idle, NULL, LOOKS_MOST, "the broker is still at work");
	ended = ended ? ended : wait_folded(erasure, json_object_get(status, "sessions"));
	json_decref(status);
	return ended;
}
