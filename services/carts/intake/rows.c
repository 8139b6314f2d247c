/*
 * rows.c: the canonical carts, and the ways to find one
 *
 * Owns:      the tables cart (cart id -> CartState), name (kind:id -> cart id), open (address hash/cart id ->
 *            nothing) and bought (address hash/cart id -> time of the purchase).
 * Promises:  an older fact never replaces a newer one; every id of a merged cart leads to the cart that it
 *            was merged into.
 * Read next: rows.h, intake.c
 */
#include "services/carts/intake/rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/intake/unpaid.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/change.h"
#include <stdio.h>

STATE_STRINGS(name, "name");
STATE_STRINGS(open, "open");
STATE_NUMBERS(bought, "bought");

enum { MERGES_FOLLOWED = 16 };

static void name_ids(struct state *state, const char *shop, const CartIds *ids, const char *cart_id)
{
	char names[JOIN_NAMES_MAX][80];
	int count = join_names(ids, names);

	for (int i = 0; i < count; i++)
		STATE_PUT_STRING(state, name, shop, names[i], bytes_of(cart_id));
}

static void note_open(struct state *state, const char *shop, const CartIds *ids, const char *cart_id, bool open)
{
	char key[128];

	if (!*ids->email_hash)
		return;
	snprintf(key, sizeof(key), "%s/%s", ids->email_hash, cart_id);
	if (open)
		STATE_PUT_STRING(state, open, shop, key, BYTES("", 0));
	else if (STATE_HAS(state, open, shop, key))
		STATE_DELETE(state, open, shop, key);
}

static void note_bought(struct state *state, const char *shop, const CartIds *ids, const CartState *row)
{
	char key[128];

	if (!*ids->email_hash || row->status != CART_BOUGHT)
		return;
	snprintf(key, sizeof(key), "%s/%s", ids->email_hash, row->ids.cart_id);
	STATE_PUT_NUMBER(state, bought, shop, key, (uint64_t)row->bought_us);
}

void rows_remember(struct state *state, const struct message_meta *said, const CartState *row)
{
	const char *cart_id = row->ids.cart_id;
	const char *leads_to = row->closed_reason == CLOSED_MERGED ? row->merged_into : cart_id;
	bool open = row->status == CART_OPEN;

	if (!cart_rows_remember(state, said, row))
		return;
	unpaid_remember(state, said->shop, row);
	name_ids(state, said->shop, &row->ids, leads_to);
	note_open(state, said->shop, &row->ids, cart_id, open);
	note_bought(state, said->shop, &row->ids, row);
	for (int i = 0; i < row->also_count; i++) {
		name_ids(state, said->shop, &row->also[i], leads_to);
		note_open(state, said->shop, &row->also[i], cart_id, open);
		note_bought(state, said->shop, &row->also[i], row);
	}
}

bool rows_get(const struct state *state, const char *shop, const char *cart_id, CartState *ret_row)
{
	char id[CART_ID_MAX];

	TEXT_COPY(id, cart_id);
	for (int i = 0; i < MERGES_FOLLOWED; i++) {
		if (!STATE_GET(state, cart_rows, shop, id, ret_row))
			return false;
		if (ret_row->closed_reason != CLOSED_MERGED || !*ret_row->merged_into)
			return true;
		TEXT_COPY(id, ret_row->merged_into);
	}
	return true;
}

static int add_found(char found[ROWS_MOST][CART_ID_MAX], int count, const char *cart_id)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(found[i], cart_id) == 0)
			return count;
	}
	if (count == ROWS_MOST)
		return count;
	text_copy(found[count], CART_ID_MAX, cart_id);
	return count + 1;
}

int rows_find(
	const struct state *state, const char *shop, const CartIds *ids, char ret_cart_ids[ROWS_MOST][CART_ID_MAX])
{
	char names[JOIN_NAMES_MAX][80];
	int count = join_names(ids, names), found = 0;

	for (int i = 0; i < count; i++) {
		_cleanup_(buffer_free) struct buffer cart_id = { 0 };
		CartState row;

		if (!STATE_GET_STRING(state, name, shop, names[i], &cart_id))
			continue;
		if (rows_get(state, shop, buffer_text(&cart_id), &row))
			found = add_found(ret_cart_ids, found, row.ids.cart_id);
	}
	return found;
}

struct of_address {
	rows_each_fn *each;
	void *context;
};

static bool each_open(const char *shop, const char *key, void *context)
{
	const struct of_address *of = context;
	const char *cart_id = strchr(key, '/');

	(void)shop;
	return !cart_id || of->each(cart_id + 1, of->context);
}

void rows_of_address(
	const struct state *state, const char *shop, const char *address_hash, rows_each_fn *each, void *context)
{
	struct of_address of = { each, context };
	char prefix[64];

	if (!*address_hash)
		return;
	snprintf(prefix, sizeof(prefix), "%s/", address_hash);
	STATE_EACH_KEY(state, open, shop, prefix, each_open, &of);
}

struct since {
	int64_t at_us;
	char cart_id[CART_ID_MAX];
};

static bool note_since(const char *shop, const char *key, uint64_t bought, void *context)
{
	struct since *since = context;
	const char *cart_id = strchr(key, '/');

	(void)shop;
	if (!cart_id || (int64_t)bought < since->at_us)
		return true;
	TEXT_COPY(since->cart_id, cart_id + 1);
	return false;
}

bool rows_bought_since(
	const struct state *state, const char *shop, const char *address_hash, int64_t at_us, CartState *ret_row)
{
	struct since since = { .at_us = at_us };
	char prefix[80];

	if (!*address_hash)
		return false;
	snprintf(prefix, sizeof(prefix), "%s/", address_hash);
	STATE_EACH(state, bought, shop, prefix, note_since, &since);
	return *since.cart_id && rows_get(state, shop, since.cart_id, ret_row) && ret_row->status == CART_BOUGHT;
}
