/*
 * why.c: `cartbus why`: what happened to a cart, what was decided and why, when it is looked at next and when its next mail goes;
 * `cartbus trace`: everything that was ever said about a cart, in the order of the log
 *
 * Owns:      the choice of what belongs into the story: what came from outside, what was decided (audits), what came of it.
 * Read next: selection.c (what is about a cart), describe.c (one line of words), outlook.c
 */
#include "bus/base/cleanup.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/shops/mode.h"
#include "services/cartbus/watch/outlook.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/carts/words/describe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_MAX = 16 };

struct why {
	const struct command *command;
	struct selection *selection;
	const char *shop, *zone, *scratch;
	struct modes modes;
	json_t *story; /* NULL: print as it comes */
	struct outlook outlook;
	TimerSet pending[PENDING_MAX];
	int pending_count;
};

/* The story leaves out internal messages: each of them has an audit that says it in words. */
static bool belongs_into_story(const struct topic *topic)
{
	static const struct topic *const inner[] = { &topic_cart_state, &topic_cart_wake, &topic_cart_closed,
		&topic_timer_set, &topic_timer_cancel, &topic_timer_fired, &topic_send_claim, &topic_reminder_due };

	for (size_t i = 0; i < sizeof(inner) / sizeof(*inner); i++) {
		if (inner[i] == topic)
			return false;
	}
	return true;
}

static TimerSet *find_pending(struct why *why, const char *name)
{
	for (int i = 0; i < why->pending_count; i++) {
		if (strcmp(why->pending[i].name, name) == 0)
			return &why->pending[i];
	}
	return NULL;
}

static void forget_timer(struct why *why, const char *name, uint64_t version)
{
	TimerSet *pending = find_pending(why, name);

	if (pending && pending->version <= version)
		*pending = why->pending[--why->pending_count];
}

static void keep_timer(struct why *why, const TimerSet *timer)
{
	TimerSet *pending = find_pending(why, timer->name);

	if (pending && pending->version > timer->version)
		return;
	if (!pending && why->pending_count == PENDING_MAX)
		return;
	if (!pending)
		pending = &why->pending[why->pending_count++];
	*pending = *timer;
}

static void follow_timers(struct why *why, const struct topic *topic, const void *message)
{
	if (topic == &topic_timer_set)
		keep_timer(why, message);
	else if (topic == &topic_timer_cancel)
		forget_timer(why, ((const TimerCancel *)message)->name, ((const TimerCancel *)message)->version);
	else if (topic == &topic_timer_fired)
		forget_timer(why, ((const TimerFired *)message)->name, ((const TimerFired *)message)->version);
}

static void print_entry(struct why *why, const struct entry *entry, const struct topic *topic, const void *message)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };
	char at[40];

	describe(topic, message, why->zone, &words);
	if (why->story) {
		json_array_append_new(why->story,
			json_pack("{s:I,s:I,s:s,s:s,s:s}", "seq", (json_int_t)entry->seq, "at_us",
				(json_int_t)entry->time_us, "topic", entry->topic, "said_by", entry->said_by, "words",
				buffer_text(&words)));
		return;
	}
	describe_time(why->zone, entry->time_us, at);
	printf("  %s  %-8s %s\n", at, topic == &topic_audit ? "decided" : "happened", buffer_text(&words));
}

static bool tell_one(const struct entry *entry, void *context)
{
	struct why *why = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	outlook_hear(&why->outlook, entry);
	if (!message || !selection_has(why->selection, entry, topic, message))
		return !scratch_interrupted();
	selection_name_step(why->selection, topic, message);
	follow_timers(why, topic, message);
	if (topic == &topic_shop_status)
		modes_fold(&why->modes, entry);
	if (belongs_into_story(topic))
		print_entry(why, entry, topic, message);
	return !scratch_interrupted();
}

static void print_cart(const struct why *why)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };
	const CartState *cart = selection_cart(why->selection);

	if (cart)
		describe(&topic_cart_state, cart, why->zone, &words);
	printf("Cart %s of %s (times in %s)\n  %s\n\n", cart ? cart->ids.cart_id : "without a row yet", why->shop,
		why->zone, cart ? buffer_text(&words) : "intake has not seen it");
}

static void print_timer(const struct why *why, const TimerSet *timer)
{
	struct next_mail_line line;
	char at[40];

	describe_time(why->zone, timer->due_us, at);
	printf("  %s  the cart is looked at (%s)\n", at, timer->name);
	if (outlook_line(&why->outlook, why->shop, why->zone, timer, &line))
		printf("  %-19s  %s\n", line.at, line.words);
}

static void print_next(const struct why *why)
{
	const CartState *cart = selection_cart(why->selection);

	puts("\nNext");
	for (int i = 0; i < why->pending_count; i++)
		print_timer(why, &why->pending[i]);
	if (why->pending_count == 0 && cart)
		printf("  nothing: the cart is %s\n",
			cart->status == CART_OPEN ? "open, but nothing wakes it" : "no longer chased");
	printf("  the shop is in %s\n", modes_name(&why->modes, why->shop));
}

static void print_json(const struct why *why)
{
	const CartState *cart = selection_cart(why->selection);
	json_t *next = json_array();
	json_t *whole;

	for (int i = 0; i < why->pending_count; i++)
		json_array_append_new(next,
			json_pack("{s:s,s:I,s:o?}", "timer", why->pending[i].name, "at_us",
				(json_int_t)why->pending[i].due_us, "send",
				outlook_json(&why->outlook, why->shop, why->zone, &why->pending[i])));
	whole = json_pack("{s:s,s:s,s:o,s:O,s:o}", "shop", why->shop, "mode", modes_name(&why->modes, why->shop),
		"cart", cart ? message_to_json(&topic_cart_state, cart) : json_null(), "story", why->story, "next",
		next);
	json_print(whole);
	json_decref(whole);
}

static int explain(struct why *why, struct client *client, const char *cart)
{
	int failed;

	why->selection = selection_find(why->command, client, why->shop, cart);
	if (!why->selection)
		return EXIT_NO;
	if (why->command->json)
		why->story = json_array();
	else
		print_cart(why);
	failed = outlook_begin(why->command, why->scratch, &why->outlook);
	if (!failed)
		failed = reading_each(why->command, client,
			&(struct reading_filter){ .from = 1, .shop = why->shop, .or_shop = SHOP_OF_ALL }, tell_one,
			why);
	if (!failed && scratch_interrupted())
		failed = EXIT_NO;
	if (!failed && why->story)
		print_json(why);
	else if (!failed)
		print_next(why);
	if (!failed && !why->story)
		command_print_reach(why->command, client, why->zone);
	outlook_end(&why->outlook);
	json_decref(why->story);
	selection_free(why->selection);
	return failed;
}

int command_why(struct command *command, int argc, char **argv)
{
	const char *words[2];
	static struct why why; /* large */
	const struct take takes[] = { SCRATCH_TAKE(why.scratch), { 0 } };
	struct client *client;
	int ended;

	why.command = command;
	why.scratch = scratch_usual();
	why.modes.known = true;
	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP CART",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Tells the story of a cart: what came from outside, what was decided and on what "
				"grounds, what came of "
				"it, when the cart is looked at next, and when its next mail goes as far as that is "
				"known: after "
				"the wait, the shopper's window and the quiet hours. CART is as for cartbus trace.\v"
				"Example:\n  cartbus why demo 9f2c41" });
	why.shop = words[0];
	why.zone = zone_of_shop(command, words[0]);
	client = command_connect(command);
	ended = explain(&why, client, words[1]);
	client_free(client);
	return ended;
}

/* ---- `cartbus trace` ---- */

struct tracing {
	struct selection *selection;
	const char *zone;
	json_t *json;
};

static void print_line(
	const struct tracing *tracing, const struct entry *entry, const struct topic *topic, const void *message)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };
	char at[40];

	describe_time(tracing->zone, entry->time_us, at);
	describe(topic, message, tracing->zone, &words);
	printf("%8llu  %s  %-10s %-18s %s\n", (unsigned long long)entry->seq, at, entry->said_by, entry->topic,
		buffer_text(&words));
}

static bool trace_one(const struct entry *entry, void *context)
{
	struct tracing *tracing = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (!message || !selection_has(tracing->selection, entry, topic, message))
		return true;
	selection_name_step(tracing->selection, topic, message);
	if (tracing->json)
		json_array_append_new(tracing->json, entry_json(entry));
	else
		print_line(tracing, entry, topic, message);
	return true;
}

static int trace(const struct command *command, struct client *client, const char *shop, const char *cart)
{
	struct tracing tracing = { .zone = zone_of_shop(command, shop) };
	int failed;

	tracing.selection = selection_find(command, client, shop, cart);
	if (!tracing.selection)
		return EXIT_NO;
	if (command->json)
		tracing.json = json_array();
	failed = reading_each(command, client, &(struct reading_filter){ .shop = shop }, trace_one, &tracing);
	if (tracing.json)
		json_print_list("messages", tracing.json);
	else
		command_print_reach(command, client, tracing.zone);
	selection_free(tracing.selection);
	return failed;
}

int command_trace(struct command *command, int argc, char **argv)
{
	const char *words[2];
	struct client *client;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SHOP CART",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Prints, from the log and from its start, everything that was said about a cart by any "
				"process. CART is "
				"our cart id, any token, a checkout or order id, or a shopper's address (all of that "
				"shopper's carts). Times are the shop's; addresses are masked.\v"
				"Example:\n  cartbus trace demo 9f2c41\n  cartbus trace demo huber@example.com "
				"--json" });
	client = command_connect(command);
	ended = trace(command, client, words[0], words[1]);
	client_free(client);
	return ended;
}
