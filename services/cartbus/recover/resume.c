/*
 * resume.c: `cartbus queues resume`: a queue that is paused because everything failed goes on now
 *
 * Read next: status.c (`cartbus queues`), bus/broker/queue/breaker.c (who pauses it, and ends that by itself)
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/recover/subcommands.h"

#include <stdio.h>

static int tell(const struct command *command, const char *queue, json_t *answer)
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
	return tell(command, queue, answer);
}
