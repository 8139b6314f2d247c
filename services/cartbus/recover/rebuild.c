/*
 * rebuild.c: `cartbus rebuild`: has a service drop its folded state and fold it from the log anew
 *
 * Promises: the command tells how far the service is, and ends when the state holds everything that the log
 *           held at the request. A service's state is never more than a fold of the log, so nothing is lost.
 *           A service whose spool holds messages is refused.
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/recover/subcommands.h"

#include "bus/base/cleanup.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct timespec LOOK_EVERY = { .tv_nsec = 200 * 1000 * 1000 };
enum { LOOKS_WITHOUT_ONE = 150, TELL_EVERY_LOOKS = 5 }; /* half a minute for a service to come back */

static const json_t *find_session(const json_t *status, const char *service, const char *instance)
{
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		const char *its_service = json_string_value(json_object_get(session, "service"));
		const char *its_name = json_string_value(json_object_get(session, "instance"));

		if (its_service && its_name && strcmp(its_service, service) == 0 && strcmp(its_name, instance) == 0)
			return session;
	}
	return NULL;
}

struct rebuilding {
	const struct command *command;
	struct client *client;
	const char *service, *instance;
	long long epoch, head; /* the ended session; the last message to fold */
};

/* The cursor of the instance's new session. -1: it has none; -2: the broker is gone. */
static long long look(const struct rebuilding *rebuilding)
{
	json_t *status = command_look(rebuilding->command, rebuilding->client, "status", NULL);
	const json_t *session = find_session(status, rebuilding->service, rebuilding->instance);
	long long cursor = -1;

	if (session && json_integer_value(json_object_get(session, "epoch")) != rebuilding->epoch)
		cursor = json_integer_value(json_object_get(session, "cursor"));
	if (!status)
		cursor = -2;
	json_decref(status);
	return cursor;
}

static int follow(const struct rebuilding *rebuilding)
{
	int without = 0;

	for (int looks = 0; without < LOOKS_WITHOUT_ONE; looks++) {
		long long cursor = look(rebuilding);

		if (cursor >= rebuilding->head) {
			if (!rebuilding->command->json)
				printf("%s has folded the log anew, up to message %lld\n", rebuilding->instance,
					cursor);
			return EXIT_FINE;
		}
		if (cursor == -2)
			return EXIT_NO;
		without = cursor < 0 ? without + 1 : 0;
		if (cursor >= 0 && looks % TELL_EVERY_LOOKS == 0 && !rebuilding->command->json)
			fprintf(stderr, "%s: message %lld of %lld\n", rebuilding->instance, cursor, rebuilding->head);
		nanosleep(&LOOK_EVERY, NULL);
	}
	complain(rebuilding->command, "%s dropped its state and has not come back: is it running?",
		rebuilding->instance);
	return EXIT_NO;
}

static int rebuild(const struct command *command, struct client *client, const char *service)
{
	json_t *answer = record_and_ask(command, client, "rebuild", json_pack("{s:s}", "service", service));
	int ended = answer ? EXIT_FINE : EXIT_NO;
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(answer, "ended"), i, one)
	{
		struct rebuilding rebuilding = { .command = command,
			.client = client,
			.service = service,
			.instance = json_string_value(json_object_get(one, "instance")),
			.epoch = json_integer_value(json_object_get(one, "epoch")),
			.head = json_integer_value(json_object_get(answer, "head")) };

		if (follow(&rebuilding))
			ended = EXIT_NO;
	}
	if (answer && command->json)
		json_print(answer);
	json_decref(answer);
	return ended;
}

int command_rebuild(struct command *command, int argc, char **argv)
{
	const char *service;
	struct client *client;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SERVICE",
			.words = &service,
			.words_least = 1,
			.words_most = 1,
			.help = "Has every running instance of a service drop its state and fold it from the log "
				"again, and "
				"waits until it has. Its work waits meanwhile. Refused while it holds accepted "
				"messages in a spool.\vExample:\n  cartbus rebuild waiter" });
	client = command_connect(command);
	ended = rebuild(command, client, service);
	client_free(client);
	return ended;
}
