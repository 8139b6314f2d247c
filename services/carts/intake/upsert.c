/*
 * upsert.c: applies a cart.changed to a row
 *
 * Promises:  pure. A late event never overwrites a newer one: of two events, in either order, the newer one
 *            decides the fields that both have. A change restarts the waits only if the shopper made it
 *            (carts/policy/change.h). The consent has a time of its own; one time stands for all other fields.
 *            So for those the order counts for three events: if the newest lacks a field and comes second, the
 *            third, older one does not replace the value of the first, even if that is older still.
 *            stops_rows.c combines changes in the same way.
 * Read next: cart.h, merge.c
 */
#include "bus/actor/turn.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/intake/cart.h"
#include "services/carts/policy/change.h"
#include <string.h>

bool cart_has_address(const CartState *row)
{
	return *row->ids.email && *row->ids.email_hash;
}

void cart_take_consent(CartState *row, Consent consent, bool is_unreadable, int64_t at_us)
{
	int64_t known_us = consent_us(row);

	if (consent == CONSENT_UNKNOWN || at_us < known_us || (at_us == known_us && consent != CONSENT_NO))
		return;
	row->consent = consent;
	row->consent_unreadable = is_unreadable;
	row->consent_us = at_us;
}

void cart_set_changed(CartState *row, int64_t at_us)
{
	if (at_us > row->changed_us && row->consent != CONSENT_UNKNOWN)
		row->consent_us = consent_us(row);
	row->changed_us = at_us;
}

void cart_take_way_back(CartState *row, const char *url, Platform platform, bool newer)
{
	bool takes_url = *url && (newer || !*row->recovery_url);

	if (takes_url)
		TEXT_COPY(row->recovery_url, url);
	if (platform != PLATFORM_UNKNOWN && (takes_url || row->platform == PLATFORM_UNKNOWN))
		row->platform = platform;
}

/*
 * Puts an id into the first free place for its kind: the row's own ids, then the further ones. Without a free
 * place the id is dropped.
 */
static void learn_id(CartState *row, size_t offset, size_t room, const char *id)
{
	char *own = (char *)&row->ids + offset;

	if (!*id || strcmp(own, id) == 0)
		return;
	if (!*own) {
		text_copy(own, room, id);
		return;
	}
	for (int i = 0; i < (int)(sizeof(row->also) / sizeof(row->also[0])); i++) {
		char *place = (char *)&row->also[i] + offset;

		if (i < row->also_count && strcmp(place, id) == 0)
			return;
		if (i < row->also_count && *place)
			continue;
		if (i == row->also_count)
			row->also[row->also_count++] = (CartIds){ 0 };
		text_copy(place, room, id);
		return;
	}
}

#define LEARN_ID(row, ids, field) learn_id((row), offsetof(CartIds, field), sizeof((ids)->field), (ids)->field)

/*
 * Mails go to the newest address. A former address stays among the further ids, where it still identifies
 * purchases and the person.
 */
static void learn_address(CartState *row, const CartIds *ids, bool newer)
{
	if (!*ids->email_hash || strcmp(ids->email_hash, row->ids.email_hash) == 0) {
		if (!*row->ids.email)
			TEXT_COPY(row->ids.email, ids->email);
		return;
	}
	if (newer && *row->ids.email_hash) {
		char former[sizeof(row->ids.email_hash)];

		TEXT_COPY(former, row->ids.email_hash);
		TEXT_COPY(row->ids.email_hash, ids->email_hash);
		TEXT_COPY(row->ids.email, ids->email);
		learn_id(row, offsetof(CartIds, email_hash), sizeof(former), former);
		return;
	}
	if (!*row->ids.email_hash)
		TEXT_COPY(row->ids.email, ids->email);
	LEARN_ID(row, ids, email_hash);
}

void cart_learn_ids(CartState *row, const CartIds *ids, bool newer)
{
	LEARN_ID(row, ids, cart_id);
	LEARN_ID(row, ids, cart_token);
	LEARN_ID(row, ids, checkout_token);
	LEARN_ID(row, ids, checkout_id);
	LEARN_ID(row, ids, order_id);
	if (!*row->ids.customer_id)
		TEXT_COPY(row->ids.customer_id, ids->customer_id);
	learn_address(row, ids, newer);
	row->ids.email_unusable = !*row->ids.email_hash && (row->ids.email_unusable || ids->email_unusable);
}

static void take_text(char *to, size_t room, const char *from, bool newer)
{
	if (*from && (newer || !*to))
		text_copy(to, room, from);
}

#define TAKE_TEXT(row, from, field, newer) take_text((row)->field, sizeof((row)->field), (from)->field, (newer))

static void take_contents(CartState *row, const CartChanged *changed, bool newer)
{
	bool unknown = row->items_count == 0 && row->items_left_out == 0 && row->closed_reason != CLOSED_EMPTIED;

	if (changed->has_items && (newer || unknown)) {
		memcpy(row->items, changed->items, changed->items_count * sizeof(row->items[0]));
		row->items_count = changed->items_count;
		row->items_left_out = changed->items_left_out;
	}
	if (changed->has_total && (newer || !*row->currency)) {
		row->total_minor = changed->total_minor;
		TEXT_COPY(row->currency, changed->currency);
	}
}

static void take_lists(CartState *row, const CartChanged *changed, bool newer)
{
	if (changed->discount_codes_count > 0 && (newer || row->discount_codes_count == 0)) {
		memcpy(row->discount_codes, changed->discount_codes,
			changed->discount_codes_count * sizeof(row->discount_codes[0]));
		row->discount_codes_count = changed->discount_codes_count;
	}
	if (changed->note_attributes_count > 0 && (newer || row->note_attributes_count == 0)) {
		memcpy(row->note_attributes, changed->note_attributes,
			changed->note_attributes_count * sizeof(row->note_attributes[0]));
		row->note_attributes_count = changed->note_attributes_count;
	}
	if (changed->tags_count > 0 && (newer || row->tags_count == 0)) {
		memcpy(row->tags, changed->tags, changed->tags_count * sizeof(row->tags[0]));
		row->tags_count = changed->tags_count;
		row->tags_left_out = changed->tags_left_out;
	}
}

static void take_rest(CartState *row, const CartChanged *changed, bool newer)
{
	TAKE_TEXT(row, changed, currency, newer && changed->has_total);
	TAKE_TEXT(row, changed, locale, newer);
	cart_take_way_back(row, changed->recovery_url, changed->platform, newer);
	TAKE_TEXT(row, changed, first_name, newer);
	take_lists(row, changed, newer);
	cart_take_consent(row, changed->consent, changed->consent_unreadable, change_us(changed));
	if (changed->has_wait_override && (newer || !row->has_wait_override)) {
		row->has_wait_override = true;
		row->wait_override = changed->wait_override;
	}
	row->saved_link |= changed->saved_link;
	row->test |= changed->test;
}

/* Compares the rows as they would be encoded, so bytes after the end of a string do not count. */
bool cart_same(const CartState *a, const CartState *b)
{
	_cleanup_(buffer_free) struct buffer first = { 0 };
	_cleanup_(buffer_free) struct buffer second = { 0 };

	return turn_encode(&topic_cart_state, a, &first) && turn_encode(&topic_cart_state, b, &second) &&
		bytes_equal(buffer_bytes(&first), buffer_bytes(&second));
}

static bool same_contents(const CartState *a, const CartState *b)
{
	return change_items_digest(a->items, a->items_count, a->items_left_out) ==
		change_items_digest(b->items, b->items_count, b->items_left_out) &&
		a->total_minor == b->total_minor && strcmp(a->currency, b->currency) == 0;
}

static bool shopper_did_it(const CartState *before, const CartState *after)
{
	return !same_contents(before, after) || strcmp(before->ids.email_hash, after->ids.email_hash) != 0 ||
		before->saved_link != after->saved_link;
}

static bool may_reopen(const CartState *row)
{
	switch (row->closed_reason) {
	case CLOSED_NOT:
	case CLOSED_NO_ADDRESS:
	case CLOSED_EMPTIED:
	case CLOSED_TOO_LATE:
	case CLOSED_NOT_CHASED:
	case CLOSED_NEWER_CART:
		return row->status != CART_BOUGHT;
	case CLOSED_GAVE_UP:
	case CLOSED_MERGED:
	case CLOSED_OPTED_OUT:
	case CLOSED_BY_OWNER:
		return false;
	}
	return false;
}

static void close_emptied(CartState *row, int64_t at_us)
{
	row->status = CART_CLOSED;
	row->closed_reason = CLOSED_EMPTIED;
	row->closed_us = at_us;
}

static void restart(CartState *row, int64_t at_us)
{
	row->status = CART_OPEN;
	row->closed_reason = CLOSED_NOT;
	row->closed_us = 0;
	row->abandoned_us = at_us;
	row->revision++;
}

static bool is_old_news(const CartChanged *changed, int64_t now_us)
{
	int64_t at_us = change_us(changed);

	return (changed->heard_us > 0 && changed->heard_us - at_us > HEARD_LATE_US) || now_us - at_us > DECIDED_LATE_US;
}

static bool may_restart(const CartState *before, const CartChanged *changed, int64_t now_us)
{
	return may_reopen(before) && (before->status == CART_OPEN || !is_old_news(changed, now_us));
}

static struct cart_change judge(
	CartState *row, const CartState *before, const CartChanged *changed, int64_t now_us, bool newer)
{
	int64_t at_us = change_us(changed);
	struct cart_change what = { 0 };

	if (newer && change_empties(changed) && before->closed_reason != CLOSED_EMPTIED && may_reopen(before)) {
		close_emptied(row, at_us);
		what.emptied = true;
	} else if (newer && may_restart(before, changed, now_us) && shopper_did_it(before, row) &&
		!change_empties(changed)) {
		/* An emptied cart is opened again by goods in it, not by an address. */
		if (before->closed_reason != CLOSED_EMPTIED || row->items_count > 0) {
			restart(row, at_us);
			what.restarted = true;
			what.reopened = before->status != CART_OPEN;
		}
	}
	if (row->status == CART_OPEN) {
		what.reachable = !cart_has_address(before) && cart_has_address(row);
		what.retimed = row->has_wait_override &&
			(!before->has_wait_override || row->wait_override.first_us != before->wait_override.first_us ||
				row->wait_override.second_us != before->wait_override.second_us);
	}
	return what;
}

/* false: the row knows a newer event, or it was bought; it then takes only values that it lacks. */
static bool take(CartState *row, const CartChanged *changed)
{
	int64_t at_us = change_us(changed);
	bool newer = at_us >= row->changed_us && row->status != CART_BOUGHT;

	cart_learn_ids(row, &changed->ids, newer);
	take_contents(row, changed, newer);
	take_rest(row, changed, newer);
	if (newer)
		cart_set_changed(row, at_us);
	return newer;
}

struct cart_change cart_upsert(CartState *row, const CartChanged *changed, int64_t now_us)
{
	const CartState before = *row;
	bool newer = take(row, changed);
	struct cart_change what = judge(row, &before, changed, now_us, newer);

	what.changed = !cart_same(&before, row);
	return what;
}

struct cart_change cart_first_seen(CartState *row, const char *cart_id, const CartChanged *changed, int64_t now_us)
{
	struct cart_change what = { .changed = true, .restarted = true };
	int64_t at_us = change_us(changed);

	*row = (CartState){ .revision = 1, .first_seen_us = now_us, .abandoned_us = at_us };
	TEXT_COPY(row->ids.cart_id, cart_id);
	row->has_ids = true;
	take(row, changed);
	what.emptied = change_empties(changed);
	if (what.emptied) {
		close_emptied(row, at_us);
	} else if (is_old_news(changed, now_us)) {
		row->status = CART_CLOSED;
		row->closed_reason = CLOSED_NOT_CHASED;
		row->closed_us = now_us;
	}
	what.restarted = row->status == CART_OPEN;
	return what;
}
