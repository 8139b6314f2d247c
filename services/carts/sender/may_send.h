/*
 * may_send.h: may this reminder be mailed now? One pure function, asked before the mail is written and again at its last byte
 */
#ifndef CARTS_SENDER_MAY_SEND_H
#define CARTS_SENDER_MAY_SEND_H

#include "bus/actor/state.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/policy/sends.h"
#include "services/kit/shop/shop.h"

/* A mail that is later than this after its decision would be out of place. */
#define LATE_US US_PER_DAY

enum send_decision {
	DECIDED_SEND,
	DECIDED_SPENT,   /* this step has its outcome: nothing to do */
	DECIDED_CLAIMED, /* somebody has claimed it and not said what became of it */
	DECIDED_SKIP,    /* never: the reason says why; spends the step */
	DECIDED_LEAVE,   /* the cart is being decided anew: nothing to do, nothing spent */
	DECIDED_DEFER,   /* to `until_us`, to be decided anew then */
	DECIDED_WAIT,    /* to `until_us`, in the queue: too many went in this minute */
	DECIDED_PAUSED,  /* the shop is paused */
	DECIDED_NO_SHOP  /* the shop's document has not come yet */
};

struct finding {
	enum send_decision decision;
	const char *word;   /* of SKIP: the stable first word of its reason */
	const char *reason; /* in words, of all but SEND and SPENT */
	int64_t until_us;   /* of DEFER and WAIT */
	struct send send;   /* what is known of this step */
	const struct shop *shop;
	bool to_owner; /* mode "mail me" */
};

struct finding may_send(const struct state *state, const char *shop, const ReminderDue *due, int64_t now_us);
/* The same with our own claim taken: does everything still hold for attempt `attempt`? */
bool may_still_send(const struct state *state, const char *shop, const ReminderDue *due, uint32_t attempt,
	bool to_owner, int64_t now_us);

#endif
