/*
 * apply.c: `cartbus rules apply --pending`: carts that wait by older rules are looked at by those in use
 *
 * A timer that was set before an edit fires when it was set to, and is decided on by the new rules then: longer waits are kept so, shorter
 * ones come late. Here every waiting cart is given to the waiter's own decision, in memory; where it would set another time, an
 * admin.action has the cart looked at now, by the log and through intake, timer and waiter. What changed meanwhile has another
 * revision, and the action does nothing.
 *
 * Promises: done twice, the second finds nothing to do; cut short, it goes on where it was: what intake has not come to yet is not
 *           asked for again. No mail goes that the waiter and the sender would not send by themselves.
 * Read next: services/carts/rehearsal/schedule.c, services/carts/intake/intake.c (ADMIN_RETIME)
 */
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/mode.h"
#include "services/cartbus/texts/scratch.h"
#include "services/cartbus/texts/subcommands.h"
#include "services/carts/words/describe.h"

#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/rehearsal/rehearsal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less than this is not worth a look: what follows a mail is counted from the moment it went, not from its decision. */
#define SAME_US (5 * US_PER_MINUTE)

struct move {
	AdminAction action;
	int64_t next_us;
	bool mails;
	char what[40];
};

struct apply {
	struct command *command;
	const char *shop, *scratch, *rate_text, *reason;
	bool pending, dry;
	int64_t rate, now_us;
	uint64_t texts_seq; /* of the last text of the shop: which rules this is about */
	struct shop configured;
	struct client *client;
	struct rehearsal *rehearsal;
	struct move *moves;
	size_t count, room, waiting;
};

static bool read_one(const struct entry *entry, void *context)
{
	struct apply *apply = context;
	const struct message_meta said = entry_said(entry);

	rehearsal_hear(apply->rehearsal, &said, entry->payload);
	if (strcmp(entry->topic, topic_document.name) == 0)
		apply->texts_seq = entry->seq;
	return !scratch_interrupted();
}

/* What is overdue is looked at anyway; what ends without a next look ends by itself when its time has come. */
static void add_move(const struct rehearsed_look *look, void *context)
{
	struct apply *apply = context;
	struct move *move;

	apply->waiting++;
	if (look->due_us <= apply->now_us)
		return;
	if (!look->mails && (look->next_us == 0 || llabs(look->next_us - look->due_us) < SAME_US) &&
		strncmp(look->action, "would_send", 10) != 0)
		return;
	if (apply->count == apply->room) {
		apply->room = apply->room ? 2 * apply->room : 64;
		apply->moves = memory_resize(apply->moves, apply->room * sizeof(*apply->moves));
	}
	move = &apply->moves[apply->count++];
	*move = (struct move){ .next_us = look->next_us, .mails = look->mails };
	move->action = (AdminAction){ .verb = ADMIN_RETIME,
		.revision = look->revision,
		.due_us = look->due_us,
		.would_step = look->would_step,
		.would_us = look->would_us };
	TEXT_COPY(move->action.cart_id, look->cart_id);
	TEXT_COPY(move->what, look->action);
}

static int find_moves(struct apply *apply, const char *folder)
{
	const struct rehearsal_plan plan = { .shop = apply->shop, .folder = folder, .from_seq = UINT64_MAX };
	char why[512];
	int ended;

	apply->rehearsal = rehearsal_new(&plan, why);
	if (!apply->rehearsal) {
		complain(apply->command, "%s: %s; --scratch names another folder", folder, why);
		return EXIT_NO;
	}
	ended = reading_each(apply->command, apply->client,
		&(struct reading_filter){ .from = 1, .shop = apply->shop, .or_shop = SHOP_OF_ALL }, read_one, apply);
	apply->now_us = clock_wall_us(&apply->command->clock);
	if (!ended && !scratch_interrupted())
		rehearsal_view(apply->rehearsal, apply->now_us, add_move, apply);
	rehearsal_free(apply->rehearsal);
	return scratch_interrupted() ? EXIT_NO : ended;
}

/* --- doing it --- */

static int say_move(struct apply *apply, struct move *move)
{
	struct client_said said;
	char idem[160], why[256];

	move->action.at_us = clock_wall_us(&apply->command->clock);
	TEXT_COPY(move->action.who, operator_name());
	TEXT_COPY(move->action.reason, apply->reason);
	snprintf(idem, sizeof(idem), "retime:%" PRIu64 "/%s/%" PRIu64 "/%" PRId64, apply->texts_seq,
		move->action.cart_id, (uint64_t)move->action.revision, move->action.due_us);
	if (CLIENT_SAY(apply->client, admin_action, &move->action, &said, why, .shop = apply->shop,
		    .key = move->action.cart_id, .idem = idem) == 0)
		return EXIT_FINE;
	complain(apply->command, "cart %s and those behind it were not moved: %s; say it again", move->action.cart_id,
		why);
	return EXIT_NO;
}

static void pause_between(const struct apply *apply)
{
	const struct clock *clock = &apply->command->clock;
	int64_t until_us = clock_boot_us(clock) + US_PER_S / apply->rate;

	while (clock_boot_us(clock) < until_us)
		client_work(apply->client, until_us - clock_boot_us(clock));
}

static int say_moves(struct apply *apply, size_t *ret_said)
{
	int ended = EXIT_FINE;

	for (*ret_said = 0; !ended && *ret_said < apply->count && !scratch_interrupted();) {
		if (*ret_said > 0)
			pause_between(apply);
		ended = say_move(apply, &apply->moves[*ret_said]);
		*ret_said += !ended;
	}
	return scratch_interrupted() ? EXIT_NO : ended;
}

/* --- telling it --- */

static void print_move(const struct apply *apply, const struct move *move)
{
	char due[40], next[40];

	describe_time(apply->configured.zone, move->action.due_us, due);
	describe_time(apply->configured.zone, move->next_us, next);
	printf("%-36s %.16s -> ", move->action.cart_id, due);
	if (move->mails || strncmp(move->what, "would_send", 10) == 0)
		printf("now (%s), then %.16s\n", move->what, next);
	else
		printf("%.16s (%s)\n", next, move->what);
}

static json_t *move_json(const struct move *move)
{
	return json_pack("{s:s,s:I,s:I,s:b,s:s}", "cart", move->action.cart_id, "due_us",
		(json_int_t)move->action.due_us, "next_us", (json_int_t)move->next_us, "mails", (int)move->mails,
		"action", move->what);
}

static void print_moves(const struct apply *apply, size_t said)
{
	json_t *list, *whole;

	if (!apply->command->json) {
		size_t told = apply->dry ? apply->count : said;

		for (size_t i = 0; i < told; i++)
			print_move(apply, &apply->moves[i]);
		printf("%zu of %zu waiting carts %s\n", told, apply->waiting,
			apply->dry ? "would be moved" : "are looked at now, by the rules in use");
		return;
	}
	list = json_array();
	for (size_t i = 0; i < apply->count; i++)
		json_array_append_new(list, move_json(&apply->moves[i]));
	whole = json_pack("{s:s,s:I,s:I,s:I,s:b,s:o}", "shop", apply->shop, "waiting", (json_int_t)apply->waiting,
		"would", (json_int_t)apply->count, "moved", (json_int_t)said, "dry_run", (int)apply->dry, "carts",
		list);
	json_print(whole);
	json_decref(whole);
}

static int check(struct apply *apply)
{
	static struct modes modes;
	int ended = command_shop(apply->command, apply->shop, &apply->configured);

	if (ended)
		return ended;
	if (!apply->pending) {
		complain(apply->command,
			"rules are in use as soon as their file is saved; --pending moves the timers that wait by "
			"older ones");
		return EXIT_USAGE;
	}
	if (range_rate(apply->rate_text, &apply->rate)) {
		complain(apply->command, "\"%s\" is no rate; say 5/s, at most 100000/s", apply->rate_text);
		return EXIT_USAGE;
	}
	modes_load(apply->command, &modes);
	if (strcmp(modes_name(&modes, apply->shop), "paused") != 0)
		return EXIT_FINE;
	complain(apply->command, "the shop is paused: nothing is decided now; say it again when it is not");
	return EXIT_NO;
}

static int apply_pending(struct apply *apply)
{
	struct scratch scratch;
	size_t said = 0;
	int ended = scratch_make(apply->command, apply->scratch, &scratch);

	if (ended)
		return ended;
	apply->client = command_connect(apply->command);
	ended = find_moves(apply, scratch.folder);
	scratch_remove(&scratch);
	if (!ended && !apply->dry)
		ended = say_moves(apply, &said);
	if (!ended || said > 0)
		print_moves(apply, said);
	client_free(apply->client);
	free(apply->moves);
	return ended;
}

int command_rules_apply(struct command *command, int argc, char **argv)
{
	struct apply apply = { .command = command, .scratch = scratch_usual(), .rate_text = "20/s", .reason = "" };
	const struct take takes[] = { { "pending", NULL, "the timers that wait by older rules (needed)", NULL,
					      &apply.pending },
		{ "dry-run", NULL, "look and count only", NULL, &apply.dry },
		{ "rate", "N/s", "so many carts a second (20/s)", &apply.rate_text, NULL },
		{ "reason", "TEXT", "why, for the record", &apply.reason, NULL }, SCRATCH_TAKE(apply.scratch), { 0 } };
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words = &apply.shop,
			.words_least = 1,
			.words_most = 1,
			.help = "Has every waiting cart looked at now for which the rules in use ask for another time "
				"than its timer was set to. Without it such a timer fires when it was set to, and is "
				"decided on by "
				"the new rules then, so that shorter waits come late. What a mail needs besides (quiet "
				"hours, the window, no stop) is looked at as always.\v"
				"Examples:\n  cartbus rules apply demo --pending --dry-run\n  cartbus rules apply demo "
				"--pending --rate 5/s" });
	ended = check(&apply);
	return ended ? ended : apply_pending(&apply);
}
