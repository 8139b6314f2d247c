/*
 * next.c: predicts the next step of a cart, its time and the reason, and keeps the last decision about it
 *
 * Owns:      the table way (shop, id of an open cart -> struct way_back) of the exporter's state.
 * Promises:  pure. It asks for the waiter's decision at the cart's next look, as `cartbus why` does.
 * Fails by:  missing what is not folded here: stops since the cart's last look, and the shop's policy.
 * Read next: services/carts/policy/plan.c
 */
#include "services/carts/exporter/next.h"
#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/policy/way_back.h"
#include "services/carts/report/report_fold.h"
#include <stdlib.h>

/*
 * The latest audit of each cart
 *
 * Owns:      the table last (shop, cart id -> struct last) of the exporter's state.
 * Promises:  a cart that the report fold does not know, or has forgotten, keeps no row here for longer than a
 *            day.
 */

STATE_STRUCTS(last, "last", struct last);

void last_remember(struct state *state, const struct message_meta *said, const Audit *audit)
{
	struct last last;

	if (!audit->cart_id[0])
		return;
	memset(&last, 0, sizeof(last)); /* rows are compared as bytes */
	TEXT_COPY(last.action, audit->action);
	TEXT_COPY(last.grounds, audit->grounds); /* a longer text is cut */
	last.at_us = audit->at_us;
	last.next_us = audit->next_us;
	STATE_PUT(state, last, said->shop, audit->cart_id, &last);
}

struct last last_of(const struct state *state, const char *shop, const char *cart_id)
{
	struct last last;

	STATE_GET(state, last, shop, cart_id, &last);
	return last;
}

struct forgetting {
	const struct state *state;
	struct buffer names;
};

static bool note_unknown(const char *shop, const char *cart_id, void *context)
{
	struct forgetting *forgetting = context;

	if (!STATE_HAS(forgetting->state, report_fold_carts, shop, cart_id))
		buffer_add(&forgetting->names, cart_id, strlen(cart_id) + 1);
	return true;
}

/* Deletes the rows of carts that the report fold does not know. The table's keys are cart ids. */
static void last_forget_unknown(struct state *state, const struct state_table *table, const char *shop)
{
	struct forgetting forgetting = { .state = state };

	state_walk_keys(state, table, shop, NULL, note_unknown, &forgetting);
	for (size_t at = 0; at < forgetting.names.len; at += strlen((const char *)forgetting.names.data + at) + 1)
		state_delete_row(state, table, shop, (const char *)forgetting.names.data + at);
	buffer_free(&forgetting.names);
}

void last_forget(struct state *state, const char *shop)
{
	last_forget_unknown(state, STATE_HANDLE(last), shop);
}

STATE_STRUCTS(way, "way", struct way_back);

/* ---- where its mails lead ---- */

void next_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
{
	struct way_back way;

	if (cart->status != CART_OPEN) {
		STATE_DELETE(state, way, said->shop, cart->ids.cart_id);
		return;
	}
	way_back_of(cart, &way);
	STATE_PUT(state, way, said->shop, cart->ids.cart_id, &way);
}

void next_forget(struct state *state, const char *shop)
{
	last_forget_unknown(state, STATE_HANDLE(way), shop);
}

/* ---- the last mails ---- */

struct mailed {
	struct map *at; /* address hash -> struct times */
};

/* The last mails to one shopper, newest first. */
struct times {
	int64_t at_us[RULES_CAP_MAILS_MAX];
	int count;
};

static void note_time(struct mailed *mailed, struct bytes key, int64_t at_us)
{
	struct times *times = map_get(mailed->at, key);
	int at = 0;

	if (!times) {
		times = memory_new(sizeof(*times));
		map_put(mailed->at, key, times);
	}
	while (at < times->count && times->at_us[at] > at_us)
		at++;
	if (at == RULES_CAP_MAILS_MAX)
		return;
	times->count += times->count < RULES_CAP_MAILS_MAX;
	memmove(&times->at_us[at + 1], &times->at_us[at], (size_t)(times->count - 1 - at) * sizeof(times->at_us[0]));
	times->at_us[at] = at_us;
}

static void note_mails(const char *cart_id, const struct report_fold_row *row, void *context)
{
	struct mailed *mailed = context;

	(void)cart_id;
	for (int i = 0; i < 2; i++) {
		const struct report_fold_mail *mail = &row->mails[i];
		struct bytes key = bytes_of(row->address_hash);

		if (!key.len || mail->to_owner || (mail->phase != SEND_SENT && mail->phase != SEND_AMBIGUOUS))
			continue;
		note_time(mailed, key, mail->at_us);
	}
}

struct mailed *mailed_new(const struct state *state, const char *shop)
{
	struct mailed *mailed = memory_new(sizeof(*mailed));

	mailed->at = map_new();
	report_fold_each(state, shop, note_mails, mailed);
	return mailed;
}

static void free_times(struct bytes key, void *value, void *context)
{
	(void)key;
	(void)context;
	free(value);
}

void mailed_free(struct mailed *mailed)
{
	if (mailed) {
		map_each(mailed->at, free_times, NULL);
		map_free(mailed->at);
	}
	free(mailed);
}

/* ---- the next mail ---- */

static struct send send_of(const struct report_fold_mail *mail)
{
	return (struct send){ .phase = mail->phase, .at_us = mail->at_us };
}

static void set_waits(struct decision_facts *facts, const struct rules *rules, const struct report_fold_row *row)
{
	struct rules_waits waits = rules_waits_or_own(
		rules_choose(rules, row->total_minor, row->currency).waits, row->own_first_us, row->own_second_us);

	facts->first_us = waits.first_us;
	facts->second_us = waits.second_us;
	facts->window_us = rules_window_us(rules);
	facts->window_written = rules->window_us > 0;
	facts->rules = rules;
}

/* In a shop that is only observed, only the last audit tells which mail would have been sent. */
static void set_observed(struct decision_facts *facts, const struct last *last)
{
	if (!text_starts(last->action, "would_send_"))
		return;
	facts->mode = MODE_OBSERVE;
	facts->would_step = strcmp(last->action, "would_send_first") == 0 ? 1 : 2;
	facts->would_us = last->at_us;
}

static bool is_with_sender(const struct report_fold_row *row, const struct last *last, struct next *ret)
{
	int step = strcmp(last->action, "first_reminder") == 0 ? 1
		: strcmp(last->action, "second_reminder") == 0 ? 2
							       : 0;

	if (!step || last->at_us < row->abandoned_us || row->mails[step - 1].phase != SEND_NONE)
		return false;
	*ret = (struct next){ .step = step, .at_us = last->at_us };
	TEXT_COPY(ret->words, "decided, and with the sender");
	return true;
}

static struct next reminder_of(const struct mailed *mailed, const struct shop *shop, const struct rules *rules,
	const struct report_fold_row *row, const struct last *last)
{
	bool is_known = last->at_us >= row->abandoned_us; /* the last audit is about the present state of the cart */
	struct next next = { .step = row->mails[0].phase == SEND_NONE ? 1 : row->mails[1].phase == SEND_NONE ? 2 : 0 };
	struct decision_facts facts = { .now_us = is_known ? last->at_us : row->abandoned_us,
		.open = true,
		.has_address = true,
		.documents = true,
		.abandoned_us = row->abandoned_us,
		.first = send_of(&row->mails[0]),
		.second = send_of(&row->mails[1]),
		.mode = MODE_LIVE,
		.zone = shop->zone };
	const struct times *times = map_get(mailed->at, bytes_of(row->address_hash));
	struct plan plan;

	if (is_with_sender(row, last, &next) || !rules)
		return next;
	facts.last_mail_us = times ? times->at_us[0] : 0;
	facts.capped_until_us = times ? rules_capped_until_us(rules, times->at_us, times->count) : 0;
	set_waits(&facts, rules, row);
	set_observed(&facts, last);
	plan = plan_next(&facts, is_known ? last->next_us : 0);
	next.step = plan.step;
	next.at_us = plan.send_us;
	if (plan.step && (plan.window_until_us || plan.quiet_until_us))
		plan_words(&plan, shop->zone, next.words);
	return next;
}

struct next next_of(const struct state *state, const struct mailed *mailed, const struct shop *shop,
	const struct rules *rules, const char *cart_id, const struct report_fold_row *row, const struct last *last)
{
	struct next next = reminder_of(mailed, shop, rules, row, last);
	struct way_back way;
	const char *fault = STATE_GET(state, way, shop->name, cart_id, &way) ? way_back_fault(shop, &way) : NULL;

	if (!next.step || !fault)
		return next;
	next = (struct next){ .is_unmailable = true };
	TEXT_COPY(next.words, fault);
	return next;
}
