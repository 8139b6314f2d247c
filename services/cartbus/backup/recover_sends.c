/*
 * recover_sends.c: learns what was mailed and what forbids a mail from the states of sender, waiter and unsub
 *
 * Promises:  a claimed step is spent: sent if that is known, else ambiguous. Each row that stops mails to a
 *            person becomes a message that stops them again. A message that the side log holds word for word
 *            is not learnt again from rows, which know less. Publishing a message twice changes nothing.
 * Fails by:  telling that a state cannot be read. A row that makes no sense is skipped.
 * Read next: services/carts/policy/sends.c, services/carts/policy/stops.c (the rows),
 *            recover_sends_sidelog.c, recover_sends_publish.c, restore.c
 */
#include "services/cartbus/backup/recover_sends.h"

#include "bus/actor/state.h"
#include "bus/base/sorted_map.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/reading.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/purchases.h"
#include "services/carts/policy/sends.h"
#include "services/carts/policy/stops.h"
#include "services/kit/suppression/suppressions.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct learning {
	struct recover_sends *recovery;
	uint64_t after;            /* messages up to this number are in the backup */
	const char *log;           /* the log that the numbers belong to */
	struct sorted_map *orders; /* name -> struct order */
	OptoutSource source;
};

static void note_optout(
	struct recover_sends *recovery, const char *shop, const char *hash, OptoutSource source, int64_t at_us)
{
	OptoutRequest asked = { .source = source, .heard_us = at_us };
	char name[200], idem[120];

	if (!TEXT_COPY(asked.address_hash, hash) || !*hash)
		return;
	snprintf(name, sizeof(name), "optout/%s/%s/%d", shop, hash, (int)source);
	snprintf(idem, sizeof(idem), "restored/%s/%d", hash, (int)source);
	recover_sends_note(recovery,
		&(struct recalled){ .name = name, .shop = shop, .key = hash, .idem = idem, .at_us = at_us },
		&topic_optout_request, &asked);
}

static OptoutSource source_of(enum stop stop)
{
	return stop == STOP_COMPLAINED ? OPTOUT_COMPLAINT : stop == STOP_BOUNCED ? OPTOUT_BOUNCE : OPTOUT_ONE_CLICK;
}

static void take_person(const struct stop_recalled *row, void *context)
{
	const struct learning *learning = context;

	if (row->seq <= learning->after)
		return;
	note_optout(learning->recovery, row->shop, row->key,
		row->kind == RECALLED_PAGE             ? OPTOUT_PAGE
			: row->kind == RECALLED_LISTED ? OPTOUT_OWNER
						       : source_of(row->stop),
		row->at_us);
}

static void take_owners(const struct stop_recalled *row, const struct learning *learning)
{
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART, .at_us = row->at_us };
	char name[200], idem[120];

	if (row->seq <= learning->after || !text_starts(row->key, "id:") || !TEXT_COPY(action.cart_id, row->key + 3))
		return;
	TEXT_COPY(action.who, "system");
	TEXT_COPY(action.reason, "stopped before the log was restored");
	snprintf(name, sizeof(name), "owner/%s/%s", row->shop, action.cart_id);
	snprintf(idem, sizeof(idem), "restored/%s", action.cart_id);
	recover_sends_note(learning->recovery,
		&(struct recalled){
			.name = name, .shop = row->shop, .key = action.cart_id, .idem = idem, .at_us = row->at_us },
		&topic_admin_action, &action);
}

static void take_mode(const struct stop_recalled *row, const struct learning *learning)
{
	ShopStatus status = {
		.mode = row->mode, .priority = row->priority, .at_us = row->at_us, .version = row->version
	};

	if (row->kind == RECALLED_GONE) {
		status = (ShopStatus){
			.mode = MODE_PAUSED, .priority = 100, .at_us = row->at_us /* it has no version */
		};
		TEXT_COPY(status.reason, "the storefront asked to erase this shop");
	} else {
		TEXT_COPY(status.reason, "as it was before the log was restored");
	}
	if (row->seq > learning->after)
		recover_sends_note_mode(learning->recovery, row->shop, &status);
}

static void take_stop(const struct stop_recalled *row, void *context)
{
	switch (row->kind) {
	case RECALLED_PERSON:
	case RECALLED_PAGE:
	case RECALLED_LISTED:
		take_person(row, context);
		return;
	case RECALLED_OWNER:
		take_owners(row, context);
		return;
	case RECALLED_MODE:
	case RECALLED_GONE:
		take_mode(row, context);
		return;
	}
}

/* ---- orders ---- */

struct order {
	char shop[80], key[80];
	CartCheckout checkout;
};

static void add_ids(CartIds *to, const CartIds *from)
{
	if (!*to->cart_id)
		TEXT_COPY(to->cart_id, from->cart_id);
	if (!*to->cart_token)
		TEXT_COPY(to->cart_token, from->cart_token);
	if (!*to->checkout_token)
		TEXT_COPY(to->checkout_token, from->checkout_token);
	if (!*to->checkout_id)
		TEXT_COPY(to->checkout_id, from->checkout_id);
	if (!*to->order_id)
		TEXT_COPY(to->order_id, from->order_id);
	if (!*to->customer_id)
		TEXT_COPY(to->customer_id, from->customer_id);
	if (!*to->email_hash)
		TEXT_COPY(to->email_hash, from->email_hash);
}

/*
 * An order has a row for each of its names, each with the number of the order's message. Rows of one number
 * are merged into one order.
 */
static void take_order(const struct purchase_recalled *row, void *context)
{
	const struct learning *learning = context;
	const CartCheckout *checkout = &row->checkout;
	const struct sorted_map_entry *known;
	struct order order;
	char name[200];

	if (row->seq <= learning->after)
		return;
	snprintf(name, sizeof(name), "order/%.32s/%.64s/%012llu/%d.%d.%d.%.31s", learning->log, row->shop,
		(unsigned long long)row->seq, (int)checkout->platform, (int)checkout->kind, checkout->test,
		checkout->payment_status);
	known = sorted_map_find(learning->orders, bytes_of(name));
	memset(&order, 0, sizeof(order));
	if (known) {
		memcpy(&order, sorted_map_value(known).data, sizeof(order));
	} else {
		order.checkout = *checkout;
		order.checkout.heard_us = checkout->bought_us;
		TEXT_COPY(order.shop, row->shop);
		TEXT_COPY(order.key, row->name);
	}
	add_ids(&order.checkout.ids, &checkout->ids);
	sorted_map_put(learning->orders, bytes_of(name), BYTES(&order, sizeof(order)), 0);
}

static void note_orders(const struct learning *learning)
{
	for (const struct sorted_map_entry *entry = sorted_map_first(learning->orders); entry;
		entry = sorted_map_next(entry)) {
		char name[200], idem[220];
		struct order order;

		memcpy(&order, sorted_map_value(entry).data, sizeof(order));
		text_copy_bytes(name, sizeof(name), sorted_map_key(entry));
		snprintf(idem, sizeof(idem), "restored/%s", name);
		recover_sends_note(learning->recovery,
			&(struct recalled){ .name = name,
				.shop = order.shop,
				.key = order.key,
				.idem = idem,
				.at_us = order.checkout.bought_us },
			&topic_cart_checkout, &order.checkout);
	}
}

/*
 * Learns the end of a cart that no message of the side log tells: the shopper emptied it, or withdrew the
 * consent.
 */
static bool take_cart(const char *shop, const char *key, const CartState *cart, void *context)
{
	const struct learning *learning = context;
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART };
	char name[200], idem[120];

	(void)key;
	if (cart->changed_us < learning->recovery->from_us ||
		!(cart->consent == CONSENT_NO || cart->closed_reason == CLOSED_EMPTIED))
		return true;
	action.at_us = cart->changed_us;
	TEXT_COPY(action.cart_id, cart->ids.cart_id);
	TEXT_COPY(action.who, "system");
	TEXT_COPY(action.reason,
		cart->consent == CONSENT_NO ? "said no before the log was restored"
					    : "emptied before the log was restored");
	snprintf(name, sizeof(name), "owner/%s/%s", shop, action.cart_id);
	snprintf(idem, sizeof(idem), "restored/%s", action.cart_id);
	recover_sends_note(learning->recovery,
		&(struct recalled){
			.name = name, .shop = shop, .key = action.cart_id, .idem = idem, .at_us = action.at_us },
		&topic_admin_action, &action);
	return true;
}

/* unsub's row also tells the source of the entry. */
static bool take_suppression(const char *shop, const char *key, const Suppression *row, void *context)
{
	const struct learning *learning = context;

	(void)key;
	if (!row->lifted && row->since_us >= learning->recovery->from_us)
		note_optout(learning->recovery, shop, row->address_hash, row->source, row->since_us);
	return true;
}

static bool take_request(const char *shop, const char *key, const PrivacyState *row, void *context)
{
	const struct learning *learning = context;
	char name[200], idem[120];

	(void)key;
	if (row->settled || row->request.heard_us < learning->recovery->from_us)
		return true;
	snprintf(name, sizeof(name), "privacy/%s/%s", shop, row->request.request_id);
	snprintf(idem, sizeof(idem), "restored/%s", row->request.request_id);
	recover_sends_note(learning->recovery,
		&(struct recalled){ .name = name,
			.shop = shop,
			.key = row->request.request_id,
			.idem = idem,
			.at_us = row->request.heard_us },
		&topic_privacy_request, &row->request);
	return true;
}

void recover_sends_stops(struct recover_sends *recovery, const struct state *state, bool is_same_log)
{
	struct learning learning = {
		.recovery = recovery, .after = is_same_log ? recovery->head : 0, .log = state_folder_log_id(state)
	};

	STATE_EACH(state, cart_rows, NULL, NULL, take_cart, &learning);
	if (recovery->has_sidelog)
		return; /* the side log has all of them, word for word */
	STATE_EACH(state, suppressions, NULL, NULL, take_suppression, &learning);
	STATE_EACH(state, privacy_rows, NULL, NULL, take_request, &learning);
	stops_recall(state, take_stop, &learning);
	learning.orders = sorted_map_new();
	purchases_recall(state, take_order, &learning);
	note_orders(&learning);
	sorted_map_free(learning.orders);
}

/* ---- one state: what was mailed, and what forbids a mail ---- */

/* Several states may have this send; SEND_SENT wins over the other phases. */
static void note_send(const char *shop, const char *cart_id, int step, const struct send *send, void *context)
{
	const struct recover_sends *recovery = context;
	char name[200];

	if (!send_is_spent(send->phase) || send->at_us < recovery->from_us)
		return;
	snprintf(name, sizeof(name), "%s/%s/%d", shop, cart_id, step);
	if (json_integer_value(json_object_get(json_object_get(recovery->sends, name), "phase")) == SEND_SENT)
		return;
	json_object_set_new(recovery->sends, name,
		json_pack("{s:s,s:s,s:i,s:i,s:I,s:I,s:I}", "shop", shop, "cart", cart_id, "step", step, "phase",
			(int)send->phase, "attempt", (json_int_t)send->attempt, "at_us", (json_int_t)send->at_us,
			"due_seq", (json_int_t)send->due_seq));
}

bool recover_sends_is_kin(const struct recover_sends *recovery, const char *log_id)
{
	return strcmp(log_id, recovery->log_id) == 0 || (*log_id && strcmp(log_id, recovery->sidelog_id) == 0);
}

bool recover_sends_is_covered(const struct recover_sends *recovery)
{
	return recovery->has_sidelog || (recovery->stops_to > 0 && recovery->stops_to >= recovery->known_to);
}

/* Judges a service by its name. true: its state also tells that nothing was mailed, and has every stop. */
static bool keeps_account(const char *name)
{
	return text_starts(name, "sender") || text_starts(name, "waiter");
}

static void learn(struct recover_sends *recovery, const char *name, const struct state *state)
{
	bool is_same_log = strcmp(state_folder_log_id(state), recovery->log_id) == 0, has_sends;
	uint64_t cursor = state_cursor(state);

	has_sends = sends_each(state, note_send, recovery);
	recover_sends_stops(recovery, state, is_same_log);
	recovery->accounts += has_sends || (keeps_account(name) && cursor > 0);
	if (!is_same_log)
		return; /* its numbers belong to another log */
	if (cursor > recovery->known_to)
		recovery->known_to = cursor;
	if (keeps_account(name) && cursor > recovery->stops_to)
		recovery->stops_to = cursor;
}

int recover_sends_folder(struct recover_sends *recovery, const char *name, const char *path)
{
	const struct command *command = recovery->command;
	struct state *state = NULL;
	char why[512] = "";
	int r = state_open_folder(path, &state, why);

	if (r == -EUCLEAN)
		complain(command, "%s is damaged, and what it knew is not learnt: %s", path, why);
	else if (r < 0)
		complain(command, "%s cannot be read, and may know what was mailed: %s", path, why);
	if (r < 0)
		return r;
	recovery->has_other_log |= state_cursor(state) > 0 && strcmp(state_folder_log_id(state), recovery->log_id) != 0;
	if (recover_sends_is_kin(recovery, state_folder_log_id(state)))
		learn(recovery, name, state);
	state_close_folder(state);
	return 0;
}

static const struct topic *topic_of_phase(enum send_phase phase)
{
	switch (phase) {
	case SEND_SENT:
		return &topic_reminder_sent;
	case SEND_REFUSED:
		return &topic_reminder_refused;
	case SEND_SKIPPED:
		return &topic_reminder_skipped;
	case SEND_NONE:
	case SEND_RELEASED:
	case SEND_CLAIMED:
	case SEND_AMBIGUOUS:
		break;
	}
	return &topic_reminder_ambiguous;
}

static int say_one(struct client *client, const json_t *send, char why[256])
{
	const char *shop = json_string_value(json_object_get(send, "shop"));
	const char *cart = json_string_value(json_object_get(send, "cart"));
	ReminderOutcome outcome = {
		.step = (uint32_t)json_integer_value(json_object_get(send, "step")),
		.attempt = (uint32_t)json_integer_value(json_object_get(send, "attempt")),
		.due_seq = (uint64_t)json_integer_value(json_object_get(send, "due_seq")),
		.at_us = json_integer_value(json_object_get(send, "at_us")),
	};
	const struct topic *topic = topic_of_phase((enum send_phase)json_integer_value(json_object_get(send, "phase")));
	struct client_said said;
	char idem[160];

	if (!shop || !cart || !TEXT_COPY(outcome.cart_id, cart)) {
		snprintf(why, 256, "the note of the restore is damaged");
		return -EINVAL;
	}
	TEXT_COPY(outcome.reason, "restored learnt from the state of a service; the log had forgotten it");
	snprintf(idem, sizeof(idem), "restored/%s/%u/%u", cart, (unsigned)outcome.step, (unsigned)outcome.attempt);
	return client_publish(client, topic, &(struct publish_options){ .shop = shop, .key = cart, .idem = idem },
		&outcome, &said, why);
}

int recover_sends_publish(const struct command *command, json_t *sends)
{
	struct client *client = command_connect(command);
	int ended = EXIT_FINE;
	const char *name;
	json_t *send;
	char why[256];

	json_object_foreach(sends, name, send)
	{
		if (ended == EXIT_FINE && say_one(client, send, why) < 0) {
			complain(command, "what was mailed could not be said: %s; run it again", why);
			ended = EXIT_NO;
		}
	}
	client_free(client);
	return ended;
}
