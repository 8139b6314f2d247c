/*
 * may_send.h: one pure function that decides if a reminder may be mailed now; it is asked before the mail is
 * written and again at its last byte
 */
#ifndef CARTS_SENDER_MAY_SEND_H
#define CARTS_SENDER_MAY_SEND_H

#include "bus/actor/state.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/carts/policy/sends.h"
#include "services/kit/shop/shop.h"

/* A mail that is later than this after its decision is not sent. */
#define LATE_US US_PER_DAY

enum send_decision {
	DECIDED_SEND,
	DECIDED_SPENT,   /* this step has its outcome; nothing to do */
	DECIDED_CLAIMED, /* it is claimed, and its outcome is not known */
	DECIDED_SKIP,    /* never send it; `reason` tells why; this spends the step */
	DECIDED_LEAVE,   /* the cart is being decided on again; nothing to do, and the step is not spent */
	DECIDED_DEFER,   /* decide on the cart again at `until_us` */
	DECIDED_WAIT,    /* wait in the queue until `until_us`, because of the limit of mails per minute */
	DECIDED_PAUSED,  /* the shop is paused */
	DECIDED_NO_SHOP  /* the shop's document is not known yet */
};

struct finding {
	enum send_decision decision;
	const char *word;   /* of SKIP: the stable first word of its reason */
	const char *reason; /* in words; not for SEND and SPENT */
	int64_t until_us;   /* of DEFER and WAIT */
	struct send send;   /* the known state of this step */
	const struct shop *shop;
	bool to_owner; /* mode "mail me" */
};

struct finding may_send(const struct state *state, const char *shop, const ReminderDue *due, int64_t now_us);
/* The same after our own claim: may attempt `attempt` still be sent? */
bool may_still_send(const struct state *state, const char *shop, const ReminderDue *due, uint32_t attempt,
	bool to_owner, int64_t now_us);

#endif
