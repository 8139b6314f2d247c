/*
 * outcome.h: how the sender says what became of a reminder: the outcome and its audit, always together
 */
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
	const char *note;                   /* of what was asked before; NULL: nothing */
	const char *reason;                 /* of anything but sent */
};

/* `end`: DONE, RELEASED, REFUSED, AMBIGUOUS or SKIPPED. */
void say_outcome(struct turn *turn, enum claim_state end, const struct outcome *outcome);

/* Sets the cart's timer to `until_us` under the revision decided on, so that the waiter decides anew, and audits it. */
void say_deferred(struct turn *turn, const ReminderDue *due, int64_t until_us, const char *reason);
/* The cart is decided anew anyway: only the record says why this mail was left. */
void say_left(struct turn *turn, const ReminderDue *due, const char *reason);

/* ---- unused claims: the sender was killed, and the last byte of the mail is known not to have left ---- */

void unused_say(struct turn *turn, const struct claim_note *claim);
void unused_remember(struct state *state, const struct message_meta *said, const SendUnused *unused);
bool unused_is(const struct state *state, const struct claim_row *claim);

#endif
