/*
 * purchases.c: folds orders under each of their names, and looks up what their payment statuses mean
 *
 * Owns:      the table purchases (name -> struct kept[], one for each platform, kind, status and test flag).
 * Promises:  the order of messages does not matter. A row has the platform's words, not their meaning. Rows
 *            are kept for ever, as their messages are.
 * Fails by:  nothing: if a name has more than KEPT_MOST different words, the last place holds all further
 *            ones as an unknown word, which counts as bought.
 * Read next: stops.c, eligibility.c, services/carts/intake/intake.c
 */
#include "services/carts/policy/purchases.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/policy/change.h"
#include "services/kit/documents/docs.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { KEPT_MOST = 8 };

struct kept {
	char status[32];
	uint32_t platform, kind, test, reserved;
	struct purchase when;
};

/* ---- the meaning of a status ---- */

static bool find_word(const struct payment_word *words, int count, const char *status, enum payment_meaning *ret)
{
	for (int i = 0; i < count; i++) {
		if (strcasecmp(words[i].status, status) != 0)
			continue;
		*ret = words[i].meaning;
		return true;
	}
	return false;
}

static const struct payment_word shopify[] = { { "pending", PAYMENT_BOUGHT }, { "authorized", PAYMENT_BOUGHT },
	{ "partially_paid", PAYMENT_BOUGHT }, { "paid", PAYMENT_BOUGHT }, { "partially_refunded", PAYMENT_BOUGHT },
	{ "refunded", PAYMENT_BOUGHT }, { "voided", PAYMENT_BOUGHT }, { "expired", PAYMENT_BOUGHT } };
static const struct payment_word woocommerce[] = { { "processing", PAYMENT_BOUGHT }, { "completed", PAYMENT_BOUGHT },
	{ "on-hold", PAYMENT_BOUGHT }, { "pending", PAYMENT_NOT_YET }, { "failed", PAYMENT_NOT_YET },
	{ "checkout-draft", PAYMENT_IGNORED }, { "draft", PAYMENT_IGNORED }, { "auto-draft", PAYMENT_IGNORED },
	{ "trash", PAYMENT_IGNORED }, { "cancelled", PAYMENT_IGNORED }, { "refunded", PAYMENT_IGNORED } };

static const struct payment_word bigcommerce[] = { { "pending", PAYMENT_BOUGHT },
	{ "awaiting payment", PAYMENT_BOUGHT }, { "awaiting fulfillment", PAYMENT_BOUGHT },
	{ "awaiting shipment", PAYMENT_BOUGHT }, { "awaiting pickup", PAYMENT_BOUGHT },
	{ "partially shipped", PAYMENT_BOUGHT }, { "shipped", PAYMENT_BOUGHT }, { "completed", PAYMENT_BOUGHT },
	{ "manual verification required", PAYMENT_BOUGHT }, { "disputed", PAYMENT_BOUGHT },
	{ "partially refunded", PAYMENT_BOUGHT }, { "incomplete", PAYMENT_IGNORED } };

static bool find_default(Platform platform, const char *status, enum payment_meaning *ret)
{
	switch (platform) {
	case PLATFORM_SHOPIFY:
		return find_word(shopify, sizeof(shopify) / sizeof(shopify[0]), status, ret);
	case PLATFORM_WOOCOMMERCE:
		return find_word(woocommerce, sizeof(woocommerce) / sizeof(woocommerce[0]), status, ret);
	case PLATFORM_BIGCOMMERCE:
		return find_word(bigcommerce, sizeof(bigcommerce) / sizeof(bigcommerce[0]), status, ret);
	case PLATFORM_UNKNOWN:
	case PLATFORM_GENERIC:
		break;
	}
	return false;
}

static struct payment meaning_of(const struct shop *shop, const struct kept *order)
{
	enum payment_meaning meaning = PAYMENT_BOUGHT;

	if (order->kind != CHECKOUT_BOUGHT)
		return (struct payment){ .meaning = PAYMENT_IGNORED }; /* no message says that it was paid */
	if (*order->status && shop && find_word(shop->payments, shop->payment_count, order->status, &meaning))
		return (struct payment){ .meaning = meaning };
	bool known = !*order->status || find_default((Platform)order->platform, order->status, &meaning);
	return (struct payment){ .meaning = meaning, .unknown = !known };
}

/* An order that was paid before it was cancelled or refunded is kept as a purchase. */
static struct kept kept_of(const struct message_meta *said, const CartCheckout *checkout)
{
	bool was_bought = checkout->kind != CHECKOUT_BOUGHT && checkout->was_bought;
	int64_t ordered_us = checkout_ordered_us(checkout), at_us = ordered_us ? ordered_us : purchase_us(checkout);
	struct kept kept;

	memset(&kept, 0, sizeof(kept)); /* rows are compared as bytes */
	TEXT_COPY(kept.status, was_bought ? "" : checkout->payment_status);
	kept.platform = checkout->platform;
	kept.kind = was_bought ? CHECKOUT_BOUGHT : checkout->kind;
	kept.test = checkout->test;
	kept.when = (struct purchase){
		.first_seq = said ? said->seq : 0, .last_seq = said ? said->seq : 0, .first_us = at_us, .last_us = at_us
	};
	return kept;
}

struct payment payment_of(const struct shop *shop, const CartCheckout *checkout)
{
	struct kept order = kept_of(NULL, checkout);

	return meaning_of(shop, &order);
}

/* ---- the rows ---- */

struct kept_row {
	int count;
	struct kept orders[KEPT_MOST];
};
/* A stored row is the first `count` of `orders`. */
STATE_STRINGS(purchases, "purchases");

static void row_read(const struct state *state, const char *shop, const char *name, struct kept_row *ret)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };

	*ret = (struct kept_row){ 0 };
	if (!STATE_GET_STRING(state, purchases, shop, name, &row) || row.len % sizeof(struct kept) != 0 ||
		row.len > sizeof(ret->orders))
		return;
	ret->count = (int)(row.len / sizeof(struct kept));
	if (row.len > 0)
		memcpy(ret->orders, row.data, row.len);
}

static bool same_word(const struct kept *a, const struct kept *b)
{
	return a->platform == b->platform && a->kind == b->kind && a->test == b->test &&
		strcmp(a->status, b->status) == 0;
}

static void widen(struct purchase *to, const struct purchase *by)
{
	if (!to->first_us || by->first_us < to->first_us) {
		to->first_us = by->first_us;
		to->first_seq = by->first_seq;
	}
	if (by->last_us > to->last_us) {
		to->last_us = by->last_us;
		to->last_seq = by->last_seq;
	}
}

static void add_kept(struct kept_row *row, const struct kept *order)
{
	for (int i = 0; i < row->count; i++) {
		if (!same_word(&row->orders[i], order))
			continue;
		widen(&row->orders[i].when, &order->when);
		return;
	}
	if (row->count < KEPT_MOST) {
		row->orders[row->count++] = *order;
		return;
	}
	struct kept *last = &row->orders[KEPT_MOST - 1];
	TEXT_COPY(last->status, "(several)");
	last->kind = CHECKOUT_BOUGHT;
	last->platform = PLATFORM_UNKNOWN;
	last->test = 0;
	widen(&last->when, &order->when);
}

static void remember_by(struct state *state, const char *shop, const char *name, const struct kept *order)
{
	struct kept_row row;

	row_read(state, shop, name, &row);
	add_kept(&row, order);
	STATE_PUT_STRING(state, purchases, shop, name, BYTES(row.orders, (size_t)row.count * sizeof(row.orders[0])));
}

const char *purchases_of_address(const char *address_hash, char ret[PURCHASER_MAX])
{
	snprintf(ret, PURCHASER_MAX, "to:%.64s", address_hash);
	return ret;
}

const char *purchases_of_customer(const char *customer_id, char ret[PURCHASER_MAX])
{
	snprintf(ret, PURCHASER_MAX, "cu:%.64s", customer_id);
	return ret;
}

void purchases_remember(struct state *state, const struct message_meta *said, const CartCheckout *checkout)
{
	struct kept order = kept_of(said, checkout);
	char names[JOIN_NAMES_MAX][80], purchaser[PURCHASER_MAX];
	int count = join_names(&checkout->ids, names);

	for (int i = 0; i < count; i++)
		remember_by(state, said->shop, names[i], &order);
	if (checkout->was_bought && !checkout_ordered_us(checkout))
		return; /* its time is unknown, so it says nothing about the shopper's other carts */
	if (*checkout->ids.email_hash)
		remember_by(state, said->shop, purchases_of_address(checkout->ids.email_hash, purchaser), &order);
	if (*checkout->ids.customer_id)
		remember_by(state, said->shop, purchases_of_customer(checkout->ids.customer_id, purchaser), &order);
}

/* ---- the questions ---- */

static struct purchase gather(
	const struct kept_row *row, const struct shop *shop, enum payment_meaning meaning, bool tests)
{
	struct purchase found = { 0 };

	for (int i = 0; i < row->count; i++) {
		if (meaning_of(shop, &row->orders[i]).meaning == meaning && (tests || !row->orders[i].test))
			widen(&found, &row->orders[i].when);
	}
	return found;
}

struct orders purchases_by(const struct state *state, const char *shop, const char *name)
{
	struct kept_row row;

	row_read(state, shop, name, &row);
	if (row.count == 0)
		return (struct orders){ 0 };
	const struct shop *map = docs_shop(state, shop);
	return (struct orders){ .bought = gather(&row, map, PAYMENT_BOUGHT, true),
		.not_yet = gather(&row, map, PAYMENT_NOT_YET, true) };
}

static bool bought_before(const struct state *state, const struct shop *shop, const char *name, int64_t before_us)
{
	struct kept_row row;

	row_read(state, shop->name, name, &row);
	struct purchase bought = gather(&row, shop, PAYMENT_BOUGHT, false);
	return bought.last_us > 0 && bought.first_us < before_us;
}

bool purchases_know(const struct state *state, const struct shop *shop, const CartState *cart)
{
	char name[PURCHASER_MAX];

	if (*cart->ids.email_hash &&
		bought_before(state, shop, purchases_of_address(cart->ids.email_hash, name), cart->abandoned_us))
		return true;
	return *cart->ids.customer_id &&
		bought_before(state, shop, purchases_of_customer(cart->ids.customer_id, name), cart->abandoned_us);
}

/* ---- all of them, for a restore ---- */

struct recalling {
	purchase_recalled_fn *each;
	void *context;
};

/* Turns a name back into its id: the name is a join name (change.c) or one of the two names of a shopper. */
static bool read_name(const char *name, CartIds *ids)
{
	static const struct {
		const char *kind;
		size_t at, room;
	} kinds[] = { { "ct:", offsetof(CartIds, cart_token), sizeof(((CartIds *)0)->cart_token) },
		{ "kt:", offsetof(CartIds, checkout_token), sizeof(((CartIds *)0)->checkout_token) },
		{ "ci:", offsetof(CartIds, checkout_id), sizeof(((CartIds *)0)->checkout_id) },
		{ "oi:", offsetof(CartIds, order_id), sizeof(((CartIds *)0)->order_id) },
		{ "id:", offsetof(CartIds, cart_id), sizeof(((CartIds *)0)->cart_id) },
		{ "to:", offsetof(CartIds, email_hash), sizeof(((CartIds *)0)->email_hash) },
		{ "cu:", offsetof(CartIds, customer_id), sizeof(((CartIds *)0)->customer_id) } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(name, kinds[i].kind, 3) == 0)
			return text_copy((char *)ids + kinds[i].at, kinds[i].room, name + 3);
	return false;
}

static bool recall_row(const char *shop, const char *name, struct bytes value, void *context)
{
	const struct recalling *recalling = context;
	struct kept orders[KEPT_MOST];
	size_t count = value.len / sizeof(orders[0]);

	if (value.len % sizeof(orders[0]) != 0 || count > KEPT_MOST)
		return true;
	memcpy(orders, value.data, value.len);
	for (size_t i = 0; i < count; i++) {
		struct purchase_recalled order = { .shop = shop,
			.name = name,
			.seq = orders[i].when.last_seq,
			.checkout = { .has_ids = true,
				.platform = (Platform)orders[i].platform,
				.kind = (CheckoutKind)orders[i].kind,
				.test = orders[i].test,
				.bought_us = orders[i].when.last_us } };

		TEXT_COPY(order.checkout.payment_status, orders[i].status);
		if (read_name(name, &order.checkout.ids))
			recalling->each(&order, recalling->context);
	}
	return true;
}

void purchases_recall(const struct state *state, purchase_recalled_fn *each, void *context)
{
	struct recalling recalling = { .each = each, .context = context };

	STATE_EACH(state, purchases, NULL, NULL, recall_row, &recalling);
}
