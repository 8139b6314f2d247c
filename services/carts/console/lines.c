/*
 * lines.c: folds carts into the lines of lists, and the indexes that lead to them
 *
 * Owns:      the tables of lines.h.
 * Promises:  a line follows from the newest cart.state and from what the report has folded of its mails; so a newly folded store equals a
 *            kept one. A fold writes only index rows whose keys changed; when the cart has ended it writes all of them, so that they
 *            are forgotten together with the cart.
 */
#include "services/carts/console/lines.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/policy/change.h"
#include "services/kit/words/message_json.h"
#include <inttypes.h>
#include <stdio.h>

enum { INDEXES = 4 };

static const struct state_table *const indexes[INDEXES] = { STATE_HANDLE(lines_by_left), STATE_HANDLE(lines_by_word),
	STATE_HANDLE(lines_by_amount), STATE_HANDLE(lines_by_shopper) };

struct line_keys {
	char of[INDEXES][LINE_KEY_MAX]; /* in the order of `indexes`; "": the index does not have this cart */
};

const char *line_inverted(int64_t number, char ret[LINE_INVERTED_ROOM])
{
	snprintf(ret, LINE_INVERTED_ROOM, "%016" PRIx64, UINT64_MAX - (uint64_t)(number > 0 ? number : 0));
	return ret;
}

static void keys_of(const struct cart_line *line, const char *cart_id, struct line_keys *ret)
{
	char left[LINE_INVERTED_ROOM], minor[LINE_INVERTED_ROOM];

	*ret = (struct line_keys){ 0 };
	if (!line->version)
		return;
	line_inverted(line->left_us, left);
	snprintf(ret->of[0], LINE_KEY_MAX, "%s/%s", left, cart_id);
	snprintf(ret->of[1], LINE_KEY_MAX, "%s/%s/%s", cart_word_text(line->word), left, cart_id);
	if (*line->currency)
		snprintf(ret->of[2], LINE_KEY_MAX, "%s/%s/%s", line->currency, line_inverted(line->total_minor, minor),
			cart_id);
	if (*line->email_hash)
		snprintf(ret->of[3], LINE_KEY_MAX, "%s/%s/%s", line->email_hash, left, cart_id);
}

static void put_empty(struct state *state, const struct state_table *table, const char *shop, const char *key)
{
	state_put_string(state, table, shop, key, BYTES("", 0));
}

/* `ends`: also writes the rows that are there already. */
static void move_indexes(struct state *state, const char *shop, const char *cart_id, const struct cart_line *old,
	const struct cart_line *now, bool ends)
{
	struct line_keys before, after;

	keys_of(old, cart_id, &before);
	keys_of(now, cart_id, &after);
	for (int i = 0; i < INDEXES; i++) {
		bool changed = strcmp(before.of[i], after.of[i]) != 0;

		if (changed && before.of[i][0])
			state_delete_row(state, indexes[i], shop, before.of[i]);
		if ((changed || ends) && after.of[i][0])
			put_empty(state, indexes[i], shop, after.of[i]);
	}
}

/* ---- names ---- */

static void add_name(struct buffer *names, const char *name)
{
	for (size_t at = 0; at < names->len; at += strlen((const char *)names->data + at) + 1)
		if (strcmp((const char *)names->data + at, name) == 0)
			return;
	buffer_add(names, name, strlen(name) + 1);
}

static void add_ids(struct buffer *names, const CartIds *ids)
{
	char joins[JOIN_NAMES_MAX][LINE_NAME_MAX], customer[LINE_NAME_MAX];
	int count = join_names(ids, joins);

	for (int i = 0; i < count; i++)
		add_name(names, joins[i]);
	if (!*ids->customer_id)
		return;
	snprintf(customer, sizeof(customer), "cu:%s", ids->customer_id);
	add_name(names, customer);
}

static void add_names(struct buffer *names, const CartState *cart)
{
	char name[LINE_NAME_MAX];

	add_ids(names, &cart->ids);
	for (int i = 0; i < cart->also_count; i++)
		add_ids(names, &cart->also[i]);
	for (int i = 0; i < cart->merged_from_count; i++) {
		snprintf(name, sizeof(name), "id:%s", cart->merged_from[i]);
		add_name(names, name);
	}
	if (!*cart->order_id)
		return;
	snprintf(name, sizeof(name), "oi:%s", cart->order_id);
	add_name(names, name);
}

static bool has_name(const struct buffer *names, const char *name)
{
	for (size_t at = 0; at < names->len; at += strlen((const char *)names->data + at) + 1)
		if (strcmp((const char *)names->data + at, name) == 0)
			return true;
	return false;
}

static const char *name_key(const char *name, const char *cart_id, char ret[LINE_KEY_MAX])
{
	snprintf(ret, LINE_KEY_MAX, "%s" LINE_TIE "%s", name, cart_id);
	return ret;
}

static void move_names(struct state *state, const char *shop, const char *cart_id, const struct buffer *now, bool ends)
{
	_cleanup_(buffer_free) struct buffer old = { 0 };
	char key[LINE_KEY_MAX];

	STATE_GET_STRING(state, line_names, shop, cart_id, &old);
	for (size_t at = 0; at < old.len; at += strlen((const char *)old.data + at) + 1) {
		const char *name = (const char *)old.data + at;

		if (!has_name(now, name))
			STATE_DELETE(state, lines_by_name, shop, name_key(name, cart_id, key));
	}
	for (size_t at = 0; at < now->len; at += strlen((const char *)now->data + at) + 1) {
		const char *name = (const char *)now->data + at;

		if (ends || !has_name(&old, name))
			put_empty(state, STATE_HANDLE(lines_by_name), shop, name_key(name, cart_id, key));
	}
	if (now->len)
		STATE_PUT_STRING(state, line_names, shop, cart_id, buffer_bytes(now));
	else if (old.len)
		STATE_DELETE(state, line_names, shop, cart_id);
}

/* ---- lines ---- */

/* What the word and the mails follow from: the report's row, or for a cart that reports leave out its own row alone. */
static void set_word(
	struct cart_line *line, const struct state *state, const char *shop, const char *cart_id, const CartState *cart)
{
	struct report_fold_row row;

	if (!report_fold_get(state, shop, cart_id, &row) && cart) {
		row.status = cart->status;
		row.closed_reason = cart->closed_reason;
		TEXT_COPY(row.address_hash, cart->ids.email_hash);
	} else if (!row.first_seen_us) {
		return;
	}
	line->word = cart_word_of(&row, &line->mails);
}

static void line_of(const CartState *cart, struct cart_line *ret)
{
	char masked[300];

	memset(ret, 0, sizeof(*ret));
	ret->version = cart->state_version ? cart->state_version : 1;
	ret->left_us = cart->abandoned_us ? cart->abandoned_us : cart->first_seen_us;
	ret->total_minor = cart->total_minor;
	ret->closed_reason = cart->closed_reason;
	ret->open = cart->status == CART_OPEN;
	ret->items = cart->items_count + cart->items_left_out;
	TEXT_COPY(ret->currency, cart->currency);
	TEXT_COPY(ret->email_hash, cart->ids.email_hash);
	if (*cart->ids.email) {
		mask_address(cart->ids.email, masked);
		TEXT_COPY(ret->masked, masked);
	}
	if (cart->items_count)
		TEXT_COPY(ret->first_item, cart->items[0].title);
}

static void remember_merged(struct state *state, const char *shop, const char *cart_id, const struct cart_line *old)
{
	move_indexes(state, shop, cart_id, old, &(struct cart_line){ 0 }, false);
	move_names(state, shop, cart_id, &(struct buffer){ 0 }, false);
	if (old->version)
		STATE_DELETE(state, cart_lines, shop, cart_id);
}

void lines_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
{
	const char *cart_id = cart->ids.cart_id;
	_cleanup_(buffer_free) struct buffer names = { 0 };
	struct cart_line old, now;

	STATE_GET(state, cart_lines, said->shop, cart_id, &old);
	if (old.version > cart->state_version)
		return;
	if (*cart->merged_into) {
		remember_merged(state, said->shop, cart_id, &old);
		return;
	}
	line_of(cart, &now);
	set_word(&now, state, said->shop, cart_id, cart);
	move_indexes(state, said->shop, cart_id, &old, &now, said->tombstone);
	STATE_PUT(state, cart_lines, said->shop, cart_id, &now);
	add_names(&names, cart);
	move_names(state, said->shop, cart_id, &names, said->tombstone);
}

void lines_refresh(struct state *state, const char *shop, const char *cart_id)
{
	struct cart_line old, now;

	if (!STATE_GET(state, cart_lines, shop, cart_id, &old))
		return;
	memcpy(&now, &old, sizeof(now));
	set_word(&now, state, shop, cart_id, NULL);
	if (memcmp(&old, &now, sizeof(old)) == 0)
		return;
	move_indexes(state, shop, cart_id, &old, &now, false);
	STATE_PUT(state, cart_lines, shop, cart_id, &now);
}

static bool take_first(const char *shop, const char *key, void *context)
{
	(void)shop;
	text_copy(context, LINE_ID_MAX, strstr(key, LINE_TIE) + 1);
	return false;
}

bool line_named(const struct state *state, const char *shop, const char *name, char ret_cart_id[LINE_ID_MAX])
{
	char prefix[LINE_NAME_MAX + 1];

	*ret_cart_id = '\0';
	snprintf(prefix, sizeof(prefix), "%s" LINE_TIE, name);
	STATE_EACH_KEY(state, lines_by_name, shop, prefix, take_first, ret_cart_id);
	return *ret_cart_id;
}
