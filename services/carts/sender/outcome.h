/* outcome.h: publishes the outcome of a reminder and its audit, always together */
#ifndef CARTS_SENDER_OUTCOME_H
#define CARTS_SENDER_OUTCOME_H

#include "bus/actor/service.h"
#include "bus/actor/turn.h"
#include "proto/cart_topics.h"
#include "services/carts/sender/reminder_mail.h"
#include "services/kit/effect/claim.h"

struct outcome {
	const ReminderDue *due;
	uint32_t attempt;
	bool to_owner;
	const char *message_id, *transport; /* NULL: there was no mail */
	const char *note;                   /* about the questions before the mail; NULL: none */
	const char *reason;                 /* of every outcome except DONE */
};

/* `end`: DONE, RELEASED, REFUSED, AMBIGUOUS or SKIPPED. */
void say_outcome(struct turn *turn, enum claim_state end, const struct outcome *outcome);

/*
 * Sets the cart's timer to `until_us` for the revision of the decision, so that the waiter decides again, and
 * says an audit.
 */
void say_deferred(struct turn *turn, const ReminderDue *due, int64_t until_us, const char *reason);
/* Says only an audit why this mail was not sent, because the cart is decided on again anyway. */
void say_left(struct turn *turn, const ReminderDue *due, const char *reason);

/* ---- unused claims: the sender was killed, and the last byte of the mail is known not to have left ---- */

void unused_say(struct turn *turn, const struct claim_note *claim);
void unused_remember(struct state *state, const struct message_meta *said, const SendUnused *unused);
bool unused_is(const struct state *state, const struct claim_row *claim);

#endif
