/*
 * sends.h: the state of each mail (claimed, sent, released ...), folded from send.claim and reminder.* by
 * each service that needs it
 */
#ifndef CARTS_POLICY_SENDS_H
#define CARTS_POLICY_SENDS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/kit/effect/claim.h"
#include "services/kit/rules/rules.h"

STATE_STRUCTS(sends, "sends", struct claim_row); /* by send_key */

void sends_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim);
void sends_remember_outcome(
	struct state *state, const struct message_meta *said, const ReminderOutcome *outcome); /* any reminder.* */

#define SENDS_REMEMBERED SENDS_REMEMBERED_BY(sends_remember_claim, sends_remember_outcome)
/* For services that also use claims and releases themselves: their two functions must call those above. */
#define SENDS_REMEMBERED_BY(claim, released)                                                                           \
	REMEMBERS(send_claim, claim), REMEMBERS(reminder_sent, sends_remember_outcome),                                \
		REMEMBERS(reminder_released, released), REMEMBERS(reminder_refused, sends_remember_outcome),           \
		REMEMBERS(reminder_ambiguous, sends_remember_outcome),                                                 \
		REMEMBERS(reminder_skipped, sends_remember_outcome)

/* The states of a claim (kit/effect/claim.h), with names for mails. */
enum send_phase {
	SEND_NONE = CLAIM_IS_ASKED,      /* never tried */
	SEND_CLAIMED = CLAIM_IS_CLAIMED, /* claimed, no outcome yet */
	SEND_SENT = CLAIM_IS_DONE,
	/* certainly not delivered; may be tried again with the next attempt number */
	SEND_RELEASED = CLAIM_IS_RELEASED,
	SEND_REFUSED = CLAIM_IS_REFUSED,     /* refused for good: this step is spent */
	SEND_AMBIGUOUS = CLAIM_IS_AMBIGUOUS, /* may have been delivered: spent, never repeated */
	SEND_SKIPPED = CLAIM_IS_SKIPPED      /* decided against; spent */
};

struct send {
	enum send_phase phase;
	uint32_t attempt; /* the highest seen; 0: none */
	int64_t at_us;    /* time of the outcome, or of the claim */
	uint64_t due_seq;
	char owner[40]; /* the run that made the claim */
};

/* The state of a step for this cart and all carts merged into it: the most final one counts. */
struct send sends_of(const struct state *state, const char *shop, const CartState *cart, int step);
/* The state of a step for this cart alone. */
struct send sends_own(const struct state *state, const char *shop, const char *cart_id, int step);
/* The key of a step in the table sends. */
enum { SEND_KEY_MAX = 96 };
const char *send_key(char to[SEND_KEY_MAX], const char *cart_id, uint32_t step);
/*
 * true: the valid claim is this attempt of the cart itself, and no cart that was merged into it has spent the
 * step.
 */
bool sends_claimed_alone(
	const struct state *state, const char *shop, const CartState *cart, int step, uint32_t attempt);
/* Calls each() for every known step; false: there is none. */
typedef void sends_each_fn(const char *shop, const char *cart_id, int step, const struct send *send, void *context);
bool sends_each(const struct state *state, sends_each_fn *each, void *context);
bool send_is_spent(enum send_phase phase);      /* sent, refused, ambiguous, skipped, claimed */
bool send_may_have_gone(enum send_phase phase); /* sent, ambiguous, claimed: what sends_last_to counts */
/* When this shop last mailed this shopper about any cart; 0: never. Claims without an outcome count. */
int64_t sends_last_to(const struct state *state, const char *shop, const char *address_hash);
/*
 * Until when the rules allow no further mail to this shopper; 0: one is allowed now. Claims without an
 * outcome count.
 */
int64_t sends_capped_until_us(
	const struct state *state, const char *shop, const char *address_hash, const struct rules *rules);

#endif
