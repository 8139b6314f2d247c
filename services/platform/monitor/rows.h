/*
 * rows.h: what the monitor remembers: reminders without an outcome, timers, ambiguous mails, a day's mails
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
int64_t rows_first_timer_us(const struct state *state); /* when the first one-off is due; INT64_MAX: none is set */
/* When the first cart's turn is: no further reminder is decided on before. INT64_MAX: no cart waits. */
int64_t rows_first_cart_us(const struct state *state);

/* Mails of the last 24 hours that went to a server, and how many of them it refused or nobody knows of. */
struct rows_mailing {
	uint32_t tried, failed;
};
struct rows_mailing rows_mailing(const struct state *state, int64_t now_us);
struct rows_mailing rows_mailing_hour(const struct state *state, int64_t now_us); /* of this hour of the clock */

#endif
