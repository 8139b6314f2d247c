/*
 * replay.c: `cartbus replay` hands a part of the log to a queue once more; `cartbus queues resume` ends the
 * pause of a queue whose messages all failed
 *
 * Promises: the messages keep their numbers and times; services are idempotent, so nothing is done twice.
 * Read next: dead_letters.c, health.c (`cartbus queues`), bus/broker/queue/breaker.c (pauses a queue, and
 *            ends the pause by itself)
 */
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/recover/dead_letters.h"
#include "services/cartbus/recover/subcommands.h"
#include "services/cartbus/shops/shops.h"
#include <stdio.h>

struct wanted {
	const char *queue, *from, *to, *topic, *shop;
	bool dry;
	struct redrive_options redrive;
};

static int add_end(const struct command *command, json_t *what, const char *name, const char *text)
{
	struct range_end end;
	char moment[16];

	if (!text)
		return EXIT_FINE;
	if (range_end_parse(text, &command->clock, &end)) {
		complain(command,
			"\"%s\" is neither a sequence number nor a time; say 4711, 2h (so long ago) or "
			"2026-11-21T06:00Z",
			text);
		return EXIT_USAGE;
	}
	snprintf(moment, sizeof(moment), "%s_us", name);
	if (end.seq)
		json_object_set_new(what, name, json_integer(end.seq));
	else
		json_object_set_new(what, moment, json_integer(end.time_us));
	return EXIT_FINE;
}

/* The question to the broker. NULL: it complained, and *ret_ended is the exit code. */
static json_t *question(const struct command *command, const struct wanted *wanted, int *ret_ended)
{
	json_t *what =
		json_pack("{s:s,s:s*,s:s*}", "queue", wanted->queue, "topic", wanted->topic, "shop", wanted->shop);

	*ret_ended = add_end(command, what, "from", wanted->from);
	if (!*ret_ended)
		*ret_ended = add_end(command, what, "to", wanted->to);
	if (!*ret_ended)
		*ret_ended = redrive_rate_add(command, &wanted->redrive, what);
	if (!*ret_ended)
		return what;
	json_decref(what);
	return NULL;
}

static int count(const struct command *command, struct client *client, json_t *what)
{
	json_int_t would = 0;
	bool more = true;

	while (more) {
		json_t *page = command_look(command, client, "replay.count", json_deep_copy(what));
		json_t *next = json_object_get(page, "next");

		if (!page)
			break;
		would += json_integer_value(json_object_get(page, "would"));
		more = json_is_integer(next);
		json_object_del(what, "from_us");
		json_object_del(what, "to_us");
		json_object_set(what, "from", next);
		json_object_set(what, "to", json_object_get(page, "to"));
		json_decref(page);
	}
	json_decref(what);
	if (more)
		return EXIT_NO;
	if (command->json)
		printf("{\"would\": %lld}\n", (long long)would);
	else
		printf("would replay: %lld\n", (long long)would);
	return EXIT_FINE;
}

static int check(const struct command *command, const struct wanted *wanted)
{
	if (wanted->queue && (wanted->from || wanted->redrive.cancel || wanted->redrive.resume))
		return EXIT_FINE;
	complain(command, "%s",
		wanted->queue ? "it needs --from: where the part of the log begins"
			      : "it needs --queue; cartbus queues names them");
	return EXIT_USAGE;
}

int command_replay(struct command *command, int argc, char **argv)
{
	struct wanted wanted = { 0 };
	const struct take takes[] = { { "queue", "NAME", "whose (needed)", &wanted.queue, NULL },
		{ "from", "SEQ|TIME", "the first: 4711, 2h (so long ago) or 2026-11-21T06:00Z (needed)", &wanted.from,
			NULL },
		{ "to", "SEQ|TIME", "the last; else the end of the log", &wanted.to, NULL },
		{ "topic", "NAME", "only of this topic", &wanted.topic, NULL },
		{ "shop", "NAME", "only of this shop", &wanted.shop, NULL },
		{ "dry-run", NULL, "count only", NULL, &wanted.dry }, REDRIVE_TAKES(wanted.redrive), { 0 } };
	struct client *client;
	int ended = EXIT_FINE;
	json_t *what;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Hands a part of the log to a service once more, with its numbers and its times, marked "
				"as replayed. What was done is not done again: no mail goes twice, and a purchase or an "
				"opt-out since then counts. What is still pending, or among the dead letters, is left "
				"alone.\n\n" REDRIVE_HELP
				"\vExamples:\n  cartbus replay --queue intake --from 2h --dry-run\n  cartbus replay "
				"--queue waiter --from 4711 --to 4720 --shop demo\n  cartbus replay --queue waiter "
				"--cancel" });
	ended = check(command, &wanted);
	if (ended || wanted.redrive.cancel || wanted.redrive.resume)
		return ended ? ended : redrive_steer(command, wanted.queue, &wanted.redrive);
	what = question(command, &wanted, &ended);
	if (!what)
		return ended;
	client = command_connect(command);
	ended = shops_know_if_named(command, client, wanted.shop);
	if (ended)
		json_decref(what);
	else
		ended = wanted.dry ? count(command, client, what) : redrive_run(command, client, "replay", what);
	client_free(client);
	return ended;
}

/* ---- `cartbus queues resume` ---- */

static int print_resumed(const struct command *command, const char *queue, json_t *answer)
{
	bool resumed = json_is_true(json_object_get(answer, "resumed"));

	if (!answer)
		return EXIT_NO;
	if (!resumed)
		complain(command, "queue %s is not paused", queue);
	else if (command->json)
		json_print(answer);
	else
		printf("resumed: %s\n", queue);
	json_decref(answer);
	return resumed ? EXIT_FINE : EXIT_NO;
}

int command_queues_resume(struct command *command, int argc, char **argv)
{
	const char *queue;
	struct client *client;
	json_t *answer;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "QUEUE",
			.words = &queue,
			.words_least = 1,
			.words_most = 1,
			.help = "Ends the pause of a queue whose messages all failed, without waiting for the next "
				"try. What was tried meanwhile comes again within two minutes, all else at once. If "
				"everything still fails, the queue is paused again.\v"
				"Example:\n  cartbus queues resume sender" });
	client = command_connect(command);
	answer = record_and_ask(command, client, "queue.resume", json_pack("{s:s}", "queue", queue));
	client_free(client);
	return print_resumed(command, queue, answer);
}
