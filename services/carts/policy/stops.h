/*
 * stops.h: the raw messages that forbid a send, as they were confirmed to the outside
 *
 * Waiter and sender both fold them from the raw topics, so that promise 4 holds while intake and unsub are
 * behind or down. A checkout stops a cart if they share an id, also through ids that other raw messages
 * connect. It also stops a cart by address if the cart's last change is not newer than the purchase, allowing
 * for different clocks (change.h). The shop's map of payment statuses tells what counts as a purchase
 * (purchases.h), so a service that asks must also remember documents. In doubt a stop applies.
 */
#ifndef CARTS_POLICY_STOPS_H
#define CARTS_POLICY_STOPS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

void stops_remember_changed(struct state *state, const struct message_meta *said, const CartChanged *changed);
void stops_remember_checkout(struct state *state, const struct message_meta *said, const CartCheckout *checkout);
void stops_remember_optout(struct state *state, const struct message_meta *said, const OptoutRequest *asked);
void stops_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback);
void stops_remember_action(struct state *state, const struct message_meta *said, const AdminAction *action);
void stops_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status);
void stops_remember_privacy(struct state *state, const struct message_meta *said, const PrivacyRequest *request);
void stops_remember_suppression(struct state *state, const struct message_meta *said, const Suppression *fact);

/* The rows for a service's table. */
#define STOPS_REMEMBERED                                                                                               \
	REMEMBERS(cart_changed, stops_remember_changed), REMEMBERS(cart_checkout, stops_remember_checkout),            \
		REMEMBERS(optout_request, stops_remember_optout), REMEMBERS(mail_feedback, stops_remember_feedback),   \
		REMEMBERS(admin_action, stops_remember_action), REMEMBERS(shop_status, stops_remember_status),         \
		REMEMBERS(privacy_request, stops_remember_privacy), REMEMBERS(suppression, stops_remember_suppression)

enum stop {
	STOP_NONE,
	STOP_BOUGHT,
	STOP_OPTED_OUT,
	STOP_COMPLAINED,
	STOP_BOUNCED,
	STOP_SUPPRESSED,
	STOP_BY_OWNER, /* this cart was suppressed or written off */
	STOP_EMPTIED,  /* a raw change emptied it */
	STOP_CHANGED,  /* a raw change is newer than the cart of the decision, so it will be decided again */
	STOP_PAUSED    /* the shop is paused, for now */
};

struct stopped {
	enum stop stop;
	uint64_t seq; /* the number of the message that stops */
	int64_t at_us;
	/*
	 * The time of the latest unpaid order of this cart, or by its address (shop.conf [payment]); 0: none.
	 * It is no stop, but the shopper was there: the waits count from it, and a mail that was decided on
	 * before it is decided on again. It is set only if there is no purchase.
	 */
	int64_t unpaid_us;
	uint64_t unpaid_seq; /* the number of that order's message */
};

/* The strongest stop for this cart now (permanent ones before STOP_CHANGED and STOP_PAUSED). */
struct stopped stops_for(const struct state *state, const char *shop, const CartState *cart);
/* a name for audits, such as "bought" or "opted out" */
const char *stop_name(enum stop stop);
ShopMode stops_mode(const struct state *state, const char *shop); /* MODE_OBSERVE if no mode was ever said */

/* ---- every stop that a service has folded, for a restore after the loss of the log ---- */

enum stop_recalled_kind {
	RECALLED_PERSON,
	RECALLED_PAGE,
	RECALLED_LISTED,
	RECALLED_OWNER,
	RECALLED_MODE,
	RECALLED_GONE
};

struct stop_recalled {
	enum stop_recalled_kind kind;
	const char *shop, *key; /* key: an address hash; of RECALLED_OWNER "id:<cart id>" */
	uint64_t seq, version;
	int64_t at_us;
	enum stop stop;
	ShopMode mode; /* of RECALLED_MODE */
	uint32_t priority;
};

/* Lifted stops are left out. */
typedef void stop_recalled_fn(const struct stop_recalled *row, void *context);
void stops_recall(const struct state *state, stop_recalled_fn *each, void *context);

#endif
