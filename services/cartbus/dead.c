/*
 * dead.c: `cartbus dlq list | show | redrive | drop`: what could not be handled
 *
 * Promises: browsing consumes nothing; a letter that is dropped needs a reason, which the log keeps.
 */
#include "services/cartbus/describe.h"
#include "services/cartbus/print.h"
#include "services/cartbus/reading.h"
#include "services/cartbus/zones.h"

#include "bus/base/cleanup.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void print_letters(const struct command *command, const json_t *letters)
{
	const json_t *letter;
	size_t i;

	if (json_array_size(letters) == 0)
		puts("no dead letters");
	json_array_foreach(letters, i, letter)
	{
		char died[40];

		describe_time(zone_of_shop(command, text_of(letter, "shop")), number_of(letter, "died_us"), died);
		printf("%-10s %8lld  %s  %-12s %-16s %s (%lld failures)\n", text_of(letter, "queue"),
			number_of(letter, "seq"), died, text_of(letter, "shop"), text_of(letter, "topic"),
			text_of(letter, "reason"), number_of(letter, "failures"));
	}
}

int command_dlq_list(struct command *command, int argc, char **argv)
{
	const char *queue = NULL, *shop = NULL, *topic = NULL;
	const struct take takes[] = { { "queue", "NAME", "only of this queue", &queue, NULL },
		{ "shop", "NAME", "only of this shop", &shop, NULL },
		{ "topic", "NAME", "only of this topic", &topic, NULL }, { 0 } };
	struct client *client;
	json_t *what, *answer;
	size_t count;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Lists the dead letters: messages that a service could not handle. Looking changes "
				"nothing. It exits "
				"with 1 when there are any.\v"
				"Example:\n  cartbus dlq list --shop demo" });
	client = command_connect(command);
	what = json_pack("{s:s*,s:s*,s:s*}", "queue", queue, "shop", shop, "topic", topic);
	answer = command_ask(command, client, "dead.list", what);
	client_free(client);
	if (!answer)
		return EXIT_NO;
	if (command->json)
		json_print(answer);
	else
		print_letters(command, json_object_get(answer, "dead"));
	count = json_array_size(json_object_get(answer, "dead"));
	json_decref(answer);
	return count ? EXIT_NO : EXIT_FINE;
}

static void print_payload(const json_t *letter, const char *zone)
{
	_cleanup_(buffer_free) struct buffer bytes = { 0 }, words = { 0 };
	const char *base64 = text_of(letter, "payload");
	const struct topic *topic = topic_of(text_of(letter, "topic"));
	_cleanup_free_ void *message = NULL;

	payload_from_base64(base64, &bytes);
	message = topic ? payload_decode(topic, buffer_bytes(&bytes)) : NULL;
	if (message)
		describe(topic, message, zone, &words);
	printf("payload   %s\n", message ? buffer_text(&words) : base64);
}

static void print_letter(const struct command *command, const json_t *letter)
{
	const char *zone = zone_of_shop(command, text_of(letter, "shop"));
	const json_t *event;
	char at[40];
	size_t i;

	describe_time(zone, number_of(letter, "time_us"), at);
	printf("queue     %s\nmessage   %lld, %s of shop %s, key %s, said at %s\nreason    %s\n",
		text_of(letter, "queue"), number_of(letter, "seq"), text_of(letter, "topic"), text_of(letter, "shop"),
		text_of(letter, "key"), at, text_of(letter, "reason"));
	print_payload(letter, zone);
	json_array_foreach(json_object_get(letter, "history"), i, event)
	{
		describe_time(zone, number_of(event, "at_us"), at);
		printf("history   %s  %s (%s)\n", at, text_of(event, "reason"), text_of(event, "by"));
	}
	printf("\nPut it right, then: cartbus dlq redrive %s %lld\n", text_of(letter, "queue"),
		number_of(letter, "seq"));
}

/* A JSON answer becomes one line of words: "redriven: 3". */
static int print_count(const struct command *command, json_t *answer, const char *name)
{
	if (!answer)
		return EXIT_NO;
	if (command->json)
		json_print(answer);
	else
		printf("%s: %lld\n", name, json_is_true(json_object_get(answer, name)) ? 1 : number_of(answer, name));
	json_decref(answer);
	return EXIT_FINE;
}

static json_t *letter_name(const char *const words[2])
{
	return json_pack("{s:s,s:I}", "queue", words[0], "seq", (json_int_t)strtoll(words[1], NULL, 10));
}

int command_dlq_show(struct command *command, int argc, char **argv)
{
	const char *words[2];
	struct client *client;
	json_t *letter;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "QUEUE SEQ",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Shows one dead letter: its reason, its history, its payload.\v"
				"Example:\n  cartbus dlq show intake 4711" });
	client = command_connect(command);
	letter = command_ask(command, client, "dead.show", letter_name(words));
	client_free(client);
	if (!letter)
		return EXIT_NO;
	if (command->json)
		json_print(letter);
	else
		print_letter(command, letter);
	json_decref(letter);
	return EXIT_FINE;
}

int command_dlq_redrive(struct command *command, int argc, char **argv)
{
	const char *words[2] = { NULL, NULL };
	bool all = false;
	const struct take takes[] = { { "all", NULL, "all dead letters of the queue", NULL, &all }, { 0 } };
	struct client *client;
	json_t *answer, *what;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "QUEUE [SEQ]",
			.words = words,
			.words_least = 1,
			.words_most = 2,
			.help = "Hands a dead letter out again, with its number and its age. It is late by then: "
				"whoever bought or opted "
				"out meanwhile gets no mail.\v"
				"Examples:\n  cartbus dlq redrive intake 4711\n  cartbus dlq redrive intake --all" });
	if (!words[1] == !all) {
		complain(command, "name one dead letter by its number, or say --all");
		return EXIT_USAGE;
	}
	client = command_connect(command);
	what = all ? json_pack("{s:s,s:b}", "queue", words[0], "all", 1) : letter_name(words);
	answer = command_ask(command, client, "dead.redrive", what);
	client_free(client);
	return print_count(command, answer, "redriven");
}

int command_dlq_drop(struct command *command, int argc, char **argv)
{
	const char *words[2], *why = NULL;
	const struct take takes[] = { { "reason", "TEXT", "why it is given up (needed)", &why, NULL }, { 0 } };
	struct client *client;
	json_t *answer, *what;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "QUEUE SEQ",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Gives a dead letter up for good.\v"
				"Example:\n  cartbus dlq drop intake 4711 --reason 'a test order'" });
	if (!why) {
		complain(command, "it needs --reason: the log keeps why");
		return EXIT_USAGE;
	}
	client = command_connect(command);
	what = letter_name(words);
	json_object_set_new(what, "why", json_string(why));
	answer = command_ask(command, client, "dead.drop", what);
	client_free(client);
	return print_count(command, answer, "dropped");
}

int command_gateway_strike(struct command *command, int argc, char **argv)
{
	const char *name;
	struct client *client;
	json_t *answer;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Strikes a gateway off that is lost for good. As long as a gateway is known and away, "
				"its spool may hold "
				"an opt-out, and no mail is claimed.\v"
				"Example:\n  cartbus gateway strike gateway-2" });
	client = command_connect(command);
	answer = command_ask(command, client, "gateway.strike", json_pack("{s:s}", "name", name));
	client_free(client);
	if (answer && !json_is_true(json_object_get(answer, "struck"))) {
		complain(command, "the broker knows no gateway \"%s\"; `cartbus status` names those that are away",
			name);
		json_decref(answer);
		return EXIT_NO;
	}
	return print_count(command, answer, "struck");
}
