/*
 * rows.h: what the monitor remembers: reminders without an outcome, timers, ambiguous mails, alarms
 */
#ifndef MONITOR_ROWS_H
#define MONITOR_ROWS_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/topics.h"

void rows_remember_due(struct state *state, const struct said *said, const ReminderDue *due);
void rows_remember_outcome(struct state *state, const struct said *said, const ReminderOutcome *outcome);
void rows_remember_audit(struct state *state, const struct said *said, const Audit *audit);
void rows_remember_status(struct state *state, const struct said *said, const ShopStatus *status);
void rows_remember_set(struct state *state, const struct said *said, const TimerSet *set);
void rows_remember_cancel(struct state *state, const struct said *said, const TimerCancel *cancel);
void rows_remember_fired(struct state *state, const struct said *said, const TimerFired *fired);
void rows_remember_alarm(struct state *state, const struct said *said, const Alarm *alarm);

struct rows_count {
	uint32_t count;
	int64_t oldest_us; /* 0: none */
	char example[180]; /* "demo cart c1, reminder 1" */
};

/* Reminders that were due before `before_us` and have no outcome, in shops that are not paused. */
struct rows_count rows_waiting(const struct state *state, int64_t before_us);
struct rows_count rows_ambiguous(const struct state *state, int64_t since_us);
int64_t rows_first_timer_us(const struct state *state); /* when the first one-off is due; INT64_MAX: none is set */
bool rows_alarm_raised(const struct state *state, const char *kind);

#endif
