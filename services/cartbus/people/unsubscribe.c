/*
 * unsubscribe.c: `cartbus unsubscribe` and `cartbus resubscribe`: the owner puts an address on the list, and takes it off
 *
 * Promises: holds from the moment of the answer; the log learns the address's keyed hash, and nothing of the address.
 * Read next: services/platform/unsub/list.c (what becomes of it), suppressions.c
 */
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/subcommands.h"

#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Kept for ever, so nobody is named in it. */
static int check_reason(const struct command *command, const char *reason)
{
	if (*reason && !text_has_control(reason) && text_is_utf8(bytes_of(reason)) && !strchr(reason, '@'))
		return EXIT_FINE;
	complain(command, "%s",
		*reason ? "leave addresses and line ends out of --reason: it is kept for ever"
			: "--reason is required: why, for the record");
	return EXIT_USAGE;
}

static int say(const struct command *command, const char *shop, const AdminAction *action)
{
	struct client *client = command_connect(command);
	struct client_said said;
	char idem[64], why[256];
	int failed;

	text_random_name(idem); /* each command is an act of its own */
	failed = CLIENT_SAY(
		client, admin_action, action, &said, why, .shop = shop, .key = action->address_hash, .idem = idem);
	client_free(client);
	if (failed) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	if (command->json)
		printf("{\"shop\":\"%s\",\"address_hash\":\"%s\",\"unsubscribed\":%s,\"seq\":%llu}\n", shop,
			action->address_hash, action->verb == ADMIN_UNSUBSCRIBE ? "true" : "false",
			(unsigned long long)said.seq);
	else
		printf("%s (known here as %s, message %llu)\n",
			action->verb == ADMIN_UNSUBSCRIBE ? "unsubscribed" : "off the list", action->address_hash,
			(unsigned long long)said.seq);
	return EXIT_FINE;
}

static int act(struct command *command, int argc, char **argv, AdminVerb verb, const char *help)
{
	const char *words[2], *reason = "";
	const struct take takes[] = { { "reason", "TEXT", "why, for the record; required", &reason, NULL }, { 0 } };
	AdminAction action = { .verb = verb };
	char normalised[ADDRESS_MAX + 1];
	struct shop shop;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP ADDRESS",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = help });
	failed = check_reason(command, reason);
	if (failed)
		return failed;
	failed = command_shop(command, words[0], &shop);
	if (failed)
		return failed;
	failed = name_address(command, words[0], words[1], normalised, action.address_hash);
	if (failed) {
		complain(command,
			failed == -EINVAL ? "that is no mail address" : "the key of addresses cannot be read: %s",
			strerror(-failed));
		return failed == -EINVAL ? EXIT_USAGE : EXIT_NO;
	}
	TEXT_COPY(action.who, who_am_i());
	TEXT_COPY(action.reason, reason);
	action.at_us = clock_wall_us(&command->clock);
	return say(command, words[0], &action);
}

int command_unsubscribe(struct command *command, int argc, char **argv)
{
	return act(command, argc, argv, ADMIN_UNSUBSCRIBE,
		"Puts an address on the list of those who get no reminders of this shop.\v"
		"Example:\n  cartbus unsubscribe demo ada@example.com --reason 'asked on the phone'");
}

int command_resubscribe(struct command *command, int argc, char **argv)
{
	return act(command, argc, argv, ADMIN_LIFT_SUPPRESSION,
		"Takes an address off the list again, also one that bounced or complained. Do this only when the "
		"shopper asked for it.\v"
		"Example:\n  cartbus resubscribe demo ada@example.com --reason 'asked to be reminded again'");
}
