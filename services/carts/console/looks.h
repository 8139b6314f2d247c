/*
 * looks.h: when each cart is looked at next, and what is known of its next mail
 *
 * The prediction is the waiter's own (carts/waiter/waiter.h), so that a page never tells of another next mail than `cartbus why`.
 */
#ifndef CARTS_CONSOLE_LOOKS_H
#define CARTS_CONSOLE_LOOKS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/carts/words/next_mail.h"

enum { LOOK_KEY_MAX = 96 };

/* The last timer.set, timer.cancel or timer.fired of a cart. */
struct cart_look {
	uint64_t version; /* of the timer; 0: there is none */
	uint64_t seq, cause;
	int64_t due_us;
	uint64_t revision; /* of the cart, as the timer has it */
	int64_t would_us;
	uint32_t would_step;
	uint32_t ended; /* 1: the timer was cancelled, or has fired */
};
STATE_STRUCTS(cart_looks, "page.look", struct cart_look); /* by cart id */
STATE_STRINGS(looks_by_due, "page.due");                  /* time as 16 hex digits/cart id; only timers that are set */

void looks_remember_set(struct state *state, const struct message_meta *said, const TimerSet *timer);
void looks_remember_cancel(struct state *state, const struct message_meta *said, const TimerCancel *timer);
void looks_remember_fired(struct state *state, const struct message_meta *said, const TimerFired *timer);
void looks_remember_due(struct state *state, const struct message_meta *said, const ReminderDue *due);
#define LOOKS_REMEMBERED                                                                                               \
	REMEMBERS(timer_set, looks_remember_set), REMEMBERS(timer_cancel, looks_remember_cancel),                      \
		REMEMBERS(timer_fired, looks_remember_fired), REMEMBERS(reminder_due, looks_remember_due)

/* false: no timer is set for the cart, or it belongs to an older state of the cart. */
bool look_foresee(
	const struct state *state, const char *shop, const char *cart_id, int64_t now_us, struct foreseen *ret);

#endif
