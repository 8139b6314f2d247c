/*
 * cart.c: `cartbus cart override | suppress | write-off`: the owner acts on one cart
 *
 * Promises: the action is said about the cart's own id, also when another of its names was given; it holds from the moment of the answer.
 */
#include "services/cartbus/core/record.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/watch/subcommands.h"

#include "bus/base/text.h"
#include "services/carts/policy/decision.h"
#include "services/kit/time/timestamp.h"
#include <stdio.h>

#define WAIT_MOST_US (400 * US_PER_DAY) /* what is open and what stops it are remembered for longer than any wait */

static int say_action(const struct command *command, struct client *client, const char *shop, AdminAction *action)
{
	struct client_said said;
	char idem[64], why[256];

	text_random_name(idem); /* each command is an act of its own */
	if (CLIENT_SAY(client, admin_action, action, &said, why, .shop = shop, .key = action->cart_id, .idem = idem)) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	if (command->json)
		printf("{\"shop\":\"%s\",\"cart\":\"%s\",\"seq\":%llu}\n", shop, action->cart_id,
			(unsigned long long)said.seq);
	else
		printf("said about cart %s (message %llu); `cartbus why %s %s` tells what comes of it\n",
			action->cart_id, (unsigned long long)said.seq, shop, action->cart_id);
	return EXIT_FINE;
}

static int act(
	const struct command *command, const char *shop, const char *cart, const char *reason, AdminAction *action)
{
	struct client *client = command_connect(command);
	struct selection *selection = selection_find(command, client, shop, cart);
	const CartState *row = selection ? selection_cart(selection) : NULL;
	int ended = EXIT_NO;

	if (row) {
		TEXT_COPY(action->cart_id, row->ids.cart_id);
		TEXT_COPY(action->address_hash, row->ids.email_hash);
		TEXT_COPY(action->who, operator_name());
		TEXT_COPY(action->reason, reason);
		action->at_us = clock_wall_us(&command->clock);
		ended = say_action(command, client, shop, action);
	} else if (selection) {
		complain(command, "intake has not made a cart of \"%s\" yet; try again in a moment", cart);
	}
	selection_free(selection);
	client_free(client);
	return ended;
}

static int act_simply(struct command *command, int argc, char **argv, AdminVerb verb, const char *help)
{
	const char *words[2], *reason = "";
	const struct take takes[] = { { "reason", "TEXT", "why, for the record", &reason, NULL }, { 0 } };
	AdminAction action = { .verb = verb };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP CART",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = help });
	return act(command, words[0], words[1], reason, &action);
}

int command_cart_suppress(struct command *command, int argc, char **argv)
{
	return act_simply(command, argc, argv, ADMIN_SUPPRESS_CART,
		"Never mails about this cart, even if it changes. The shopper's other carts are not touched.\v"
		"Example:\n  cartbus cart suppress demo 9f2c41 --reason 'called us'");
}

int command_cart_write_off(struct command *command, int argc, char **argv)
{
	return act_simply(command, argc, argv, ADMIN_WRITE_OFF,
		"Ends the chase of this cart.\vExample:\n  cartbus cart write-off demo 9f2c41 --reason 'out of stock'");
}

int command_cart_override(struct command *command, int argc, char **argv)
{
	const char *words[4], *reason = "";
	const struct take takes[] = { { "reason", "TEXT", "why, for the record", &reason, NULL }, { 0 } };
	AdminAction action = { .verb = ADMIN_OVERRIDE_WAIT, .has_wait_override = true };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP CART FIRST SECOND",
			.words = words,
			.words_least = 4,
			.words_most = 4,
			.help = "Gives one cart waits of its own, both counted from the moment it was left. They hold "
				"instead of the owner's rules; at least 4 hours lie between them.\v"
				"Example:\n  cartbus cart override demo 9f2c41 30min 6h" });
	if (duration_parse(words[2], WAIT_MOST_US, &action.wait_override.first_us) ||
		duration_parse(words[3], WAIT_MOST_US, &action.wait_override.second_us) ||
		action.wait_override.second_us <= action.wait_override.first_us) {
		complain(command,
			"the waits are spans like 30min, 6h or 2d, of at most 400 days, and the second is the longer "
			"one");
		return EXIT_USAGE;
	}
	if (action.wait_override.second_us - action.wait_override.first_us < DECISION_BETWEEN_US) {
		complain(command,
			"at least 4 hours lie between the two mails of a cart, as in the rules: make the second wait "
			"longer than %s by that",
			words[2]);
		return EXIT_USAGE;
	}
	return act(command, words[0], words[1], reason, &action);
}
