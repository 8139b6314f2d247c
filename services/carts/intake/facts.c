/*
 * facts.c: publishes what intake decided: rows, timers, audits
 *
 * Promises:  a row's version strictly increases. A timer carries the revision that it belongs to, so a timer
 *            of an older revision never wakes a cart that has changed since. The message of a row that is not
 *            open is a tombstone, so the log forgets it after its time; the row of an open cart is kept,
 *            however long its waits are.
 * Read next: intake.c, services/platform/timer/timer.c
 */
#include "services/carts/intake/facts.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/change.h"
#include "services/carts/policy/rules_document.h"
#include "services/kit/documents/docs.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdio.h>

#define NO_RULES_WAIT_US US_PER_HOUR         /* the waiter decides by the rules, and waits longer if they say so */
#define NO_ADDRESS_WAIT_US (30 * US_PER_DAY) /* how long a cart waits for an address before it is closed */
enum { VERSIONS_PER_REVISION = 16 };         /* so that a version tells its revision at a glance */

void say_row(struct turn *turn, CartState *row)
{
	uint64_t least = row->revision * VERSIONS_PER_REVISION;

	row->state_version = row->state_version + 1 > least ? row->state_version + 1 : least;
	row->has_ids = true;
	SAY(turn, cart_state, row, .shop = turn_message(turn)->shop, .key = row->ids.cart_id,
		.version = row->state_version, .tombstone = row->status != CART_OPEN);
}

static int64_t first_wait_us(const struct state *state, const char *shop, const CartState *row)
{
	const struct rules *rules;
	uint32_t version;

	if (row->has_wait_override && row->wait_override.first_us > 0)
		return row->wait_override.first_us;
	rules = rules_in_use(state, shop, &version);
	return rules ? rules_choose(rules, row->total_minor, row->currency).waits.first_us : NO_RULES_WAIT_US;
}

static void set_timer(struct turn *turn, const CartState *row, CartWake *wake)
{
	const char *shop = turn_message(turn)->shop;
	TimerSet set = { .version = row->revision, .due_us = wake->due_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	wake->revision = row->revision;
	TEXT_COPY(wake->cart_id, row->ids.cart_id);
	snprintf(set.name, sizeof(set.name), "cart/%s", row->ids.cart_id);
	TEXT_COPY(set.topic, topic_cart_wake.name);
	TEXT_COPY(set.key, row->ids.cart_id);
	if (!pb_encode(&stream, &CartWake_msg, wake))
		assert(!"a wake-up always fits into a timer");
	set.payload.size = (pb_size_t)stream.bytes_written;
	SAY(turn, timer_set, &set, .shop = shop, .key = set.name, .version = set.version);
}

static void say_wake(const struct state *state, struct turn *turn, const CartState *row)
{
	int64_t wait_us =
		cart_has_address(row) ? first_wait_us(state, turn_message(turn)->shop, row) : NO_ADDRESS_WAIT_US;
	CartWake wake = { .due_us = row->abandoned_us + wait_us };

	set_timer(turn, row, &wake);
}

void say_look_now(struct turn *turn, const CartState *row, const AdminAction *action)
{
	CartWake wake = { .due_us = turn_now_us(turn), .would_step = action->would_step, .would_us = action->would_us };

	set_timer(turn, row, &wake);
}

void say_timer(const struct state *state, struct turn *turn, const CartState *row)
{
	TimerCancel cancel = { .version = row->revision };

	if (row->status == CART_OPEN) {
		say_wake(state, turn, row);
		return;
	}
	snprintf(cancel.name, sizeof(cancel.name), "cart/%s", row->ids.cart_id);
	SAY(turn, timer_cancel, &cancel, .shop = turn_message(turn)->shop, .key = cancel.name,
		.version = cancel.version, .tombstone = true);
}

void say_audit(struct turn *turn, const CartState *row, const struct note *note)
{
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };

	TEXT_COPY(audit.action, note->action);
	TEXT_COPY(audit.who, note->who && *note->who ? note->who : "system");
	TEXT_COPY(audit.cart_id, row->ids.cart_id);
	TEXT_COPY(audit.address_hash, row->ids.email_hash);
	TEXT_COPY(audit.grounds, note->grounds);
	if (note->before)
		cart_line(note->before, audit.before);
	if (note->before_words)
		TEXT_COPY(audit.before, note->before_words);
	cart_line(row, audit.after);
	if (note->after_words)
		TEXT_COPY(audit.after, note->after_words);
	SAY(turn, audit, &audit, .shop = turn_message(turn)->shop, .key = row->ids.cart_id);
}

void choose_cart_id(const struct state *state, const char *shop, const CartIds *ids, char ret[CART_ID_MAX])
{
	char names[JOIN_NAMES_MAX][80];
	int count = join_names(ids, names);

	assert(count > 0);
	(void)count;
	text_copy(ret, CART_ID_MAX, strchr(names[0], ':') + 1);
	if (STATE_HAS(state, cart_rows, shop, ret))
		text_copy(ret, CART_ID_MAX, names[0]);
}

static void say_merged(struct turn *turn, const CartState *before, const CartState *loser)
{
	TimerCancel cancel = { .version = loser->revision };
	char grounds[160];

	snprintf(grounds, sizeof(grounds), "turned out to be the same cart as %s, which is older", loser->merged_into);
	snprintf(cancel.name, sizeof(cancel.name), "cart/%s", loser->ids.cart_id);
	SAY(turn, timer_cancel, &cancel, .shop = turn_message(turn)->shop, .key = cancel.name,
		.version = cancel.version, .tombstone = true);
	say_audit(turn, loser, &(struct note){ .action = "merged", .grounds = grounds, .before = before });
}

static void merge_into(const struct state *state, struct turn *turn, const char *cart_id, CartState *winner)
{
	CartState loser, before;

	if (!rows_get(state, turn_message(turn)->shop, cart_id, &loser))
		return;
	before = loser;
	cart_merge(winner, &loser, turn_now_us(turn));
	say_row(turn, &loser);
	say_merged(turn, &before, &loser);
}

int gather_rows(const struct state *state, struct turn *turn, char cart_ids[ROWS_MOST][CART_ID_MAX], int count,
	CartState *ret_row)
{
	const char *shop = turn_message(turn)->shop;
	int oldest = 0;

	rows_get(state, shop, cart_ids[0], ret_row);
	for (int i = 1; i < count; i++) {
		CartState other;

		if (rows_get(state, shop, cart_ids[i], &other) && cart_is_older(&other, ret_row)) {
			*ret_row = other;
			oldest = i;
		}
	}
	for (int i = 0; i < count; i++) {
		if (i != oldest)
			merge_into(state, turn, cart_ids[i], ret_row);
	}
	return count;
}
