/*
 * sends.h: what was mailed, claimed, released: folded from send.claim and reminder.* by each service that needs it
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
/* For who makes more of a claim and of its release: calls these two, and says so. */
#define SENDS_REMEMBERED_BY(claim, released)                                                                           \
	REMEMBERS(send_claim, claim), REMEMBERS(reminder_sent, sends_remember_outcome),                                \
		REMEMBERS(reminder_released, released), REMEMBERS(reminder_refused, sends_remember_outcome),           \
		REMEMBERS(reminder_ambiguous, sends_remember_outcome),                                                 \
		REMEMBERS(reminder_skipped, sends_remember_outcome)

/* The states of a claim (kit/effect/claim.h), as they are called for mails. */
enum send_phase {
	SEND_NONE = CLAIM_IS_ASKED,      /* never tried */
	SEND_CLAIMED = CLAIM_IS_CLAIMED, /* claimed, no outcome yet */
	SEND_SENT = CLAIM_IS_DONE,
	SEND_RELEASED =
		CLAIM_IS_RELEASED,       /* definitely not delivered, may be tried again with the next attempt number */
	SEND_REFUSED = CLAIM_IS_REFUSED, /* for good: this step is spent */
	SEND_AMBIGUOUS = CLAIM_IS_AMBIGUOUS, /* spent, never repeated */
	SEND_SKIPPED = CLAIM_IS_SKIPPED      /* decided not to; spent */
};

struct send {
	enum send_phase phase;
	uint32_t attempt; /* the highest seen; 0: none */
	int64_t at_us;    /* of the outcome, or of the claim */
	uint64_t due_seq;
	char owner[40]; /* of the claim */
};

/* Of this cart and of every cart merged into it: the most spent one counts. */
struct send sends_of(const struct state *state, const char *shop, const CartState *cart, int step);
/* The key of a step in the table sends, which holds a struct claim_row for each. */
enum { SEND_KEY_MAX = 96 };
const char *send_key(char to[SEND_KEY_MAX], const char *cart_id, uint32_t step);
/* This attempt of the cart's own is the claim that holds, and no cart that was merged into it has spent the step. */
bool sends_claimed_alone(
	const struct state *state, const char *shop, const CartState *cart, int step, uint32_t attempt);
/* Calls each() for every step that anything is known of; false: there is none. */
typedef void sends_each_fn(const char *shop, const char *cart_id, int step, const struct send *send, void *context);
bool sends_each(const struct state *state, sends_each_fn *each, void *context);
bool send_is_spent(enum send_phase phase);      /* sent, refused, ambiguous, skipped, claimed */
bool send_may_have_gone(enum send_phase phase); /* sent, ambiguous, claimed: what sends_last_to counts */
/* When this shopper was last mailed by this shop, any cart; 0: never. Claims without an outcome count. */
int64_t sends_last_to(const struct state *state, const char *shop, const char *address_hash);
/* Until when this shopper had as many mails as the rules allow in some time; 0: fewer. Claims without an outcome count. */
int64_t sends_capped_until_us(
	const struct state *state, const char *shop, const char *address_hash, const struct rules *rules);

#endif
