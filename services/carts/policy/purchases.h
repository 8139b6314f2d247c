/*
 * purchases.h: orders by each of their ids, and the meaning of their payment status for the shop
 *
 * The fact keeps the platform's word. Each decision looks up its meaning in the shop's present map (shop.conf
 * [payment]) and in these defaults:
 *
 *   Shopify      every financial_status is a purchase: an order is there only when the checkout was completed. "pending" waits for a
 *                bank transfer or cash on delivery, "voided" and "refunded" were ended by the shop: no shopper is nudged back to them.
 *   WooCommerce  processing, completed, on-hold: bought. on-hold is an order that waits for a bank transfer: who ordered is not told
 *                to order. pending, failed: not yet: the shopper was sent to a payment page and did not come back, or was refused.
 *                checkout-draft, draft, auto-draft, trash: nothing; cancelled, refunded come as cancellations.
 *   BigCommerce  every status but Incomplete, which is a checkout that was not finished; Cancelled, Declined, Refunded: cancellations.
 *   any other    bought: in doubt a stop applies, and the record says so.
 */
#ifndef CARTS_POLICY_PURCHASES_H
#define CARTS_POLICY_PURCHASES_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/kit/shop/shop.h"

struct payment {
	enum payment_meaning meaning;
	bool unknown; /* neither the shop's map nor the defaults have this word; it counts as bought */
};

/* `shop` NULL: its configuration is not known yet. A cancellation is never a purchase. */
struct payment payment_of(const struct shop *shop, const CartCheckout *checkout);

void purchases_remember(struct state *state, const struct message_meta *said, const CartCheckout *checkout);

struct purchase {
	uint64_t first_seq, last_seq; /* 0: there is none */
	int64_t first_us, last_us;
};
struct orders {
	struct purchase bought, not_yet;
};
/*
 * The orders under one name: a join name ("ct:abc"), or a shopper's name from purchases_of_address or
 * purchases_of_customer. Test orders count. The payment map is that of the shop's document; without one, the
 * defaults.
 */
struct orders purchases_by(const struct state *state, const char *shop, const char *name);
enum { PURCHASER_MAX = 80 };
const char *purchases_of_address(const char *address_hash, char ret[PURCHASER_MAX]);
const char *purchases_of_customer(const char *customer_id, char ret[PURCHASER_MAX]);

/* Did this shopper buy here before the cart was left? Test orders do not count. */
bool purchases_know(const struct state *state, const struct shop *shop, const CartState *cart);

/*
 * Gives every folded order once for each of its names; `checkout` has only that id, and no total. For a
 * restore.
 */
struct purchase_recalled {
	const char *shop, *name;
	uint64_t seq; /* of the last message of this order */
	CartCheckout checkout;
};
typedef void purchase_recalled_fn(const struct purchase_recalled *order, void *context);
void purchases_recall(const struct state *state, purchase_recalled_fn *each, void *context);

#endif
