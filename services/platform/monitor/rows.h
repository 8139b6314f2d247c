/*
 * rows.h: the monitor's folded state: reminders without an outcome, timers, ambiguous mails, the mails of a
 * day
 */
#ifndef PLATFORM_MONITOR_ROWS_H
#define PLATFORM_MONITOR_ROWS_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/cart_topics.h"

void rows_remember_due(struct state *state, const struct message_meta *said, const ReminderDue *due);
void rows_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome);
void rows_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit);
void rows_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status);
void rows_remember_set(struct state *state, const struct message_meta *said, const TimerSet *set);
void rows_remember_cancel(struct state *state, const struct message_meta *said, const TimerCancel *cancel);
void rows_remember_fired(struct state *state, const struct message_meta *said, const TimerFired *fired);

struct rows_count {
	uint32_t count;
	int64_t oldest_us; /* 0: none */
	char example[180]; /* "demo cart c1, reminder 1" */
};

/* Reminders that were due before `before_us` and have no outcome, in shops that are not paused. */
struct rows_count rows_waiting(const struct state *state, int64_t before_us);
struct rows_count rows_ambiguous(const struct state *state, int64_t since_us);
/* when the first one-off timer is due; INT64_MAX: none is set */
int64_t rows_first_timer_us(const struct state *state);
/* When the first cart is decided on; no reminder is decided before. INT64_MAX: no cart waits. */
int64_t rows_first_cart_us(const struct state *state);

/*
 * Mails of the last 24 hours that were given to a server, and how many of them were refused or are ambiguous.
 */
struct rows_mailing {
	uint32_t tried, failed;
};
struct rows_mailing rows_mailing(const struct state *state, int64_t now_us);
/* of the present clock hour */
struct rows_mailing rows_mailing_hour(const struct state *state, int64_t now_us);

#endif
