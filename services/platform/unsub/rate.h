/*
 * rate.h: the rates of complaints and bounces of a shop's mails, and their consequences
 *
 * For each shop it counts the last 30 days (UTC, including today): complaints and permanent bounces of
 * addresses that we mailed, compared with the reminders that were sent to shoppers. Each mail counts once,
 * however often it is reported (an unknown mail: each address once). There is an alarm from 0.1 % and two
 * complaints on. From 0.3 % and three complaints on, the shop is paused until a person resumes it, because
 * one of three mails tells nothing about a shop. Bounces raise an alarm from 5 % and five bounces on. A
 * person who resumes the shop has seen the complaints so far, so these do not pause it again.
 */
#ifndef PLATFORM_UNSUB_RATE_H
#define PLATFORM_UNSUB_RATE_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

enum { RATE_DAYS = 30, RATE_PAUSE_PRIORITY = 100 };

void rate_remember_sent(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome);
void rate_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback);
void rate_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status);
void rate_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

/*
 * Was a shopper of this hash ever mailed by this shop? Feedback about other addresses does not concern our
 * mails.
 */
bool rate_is_ours(const struct state *state, const char *shop, const char *address_hash);
/* To be called after a decision on feedback: says the alarms and the pause that follow. */
void rate_judge(const struct state *state, const MailFeedback *feedback, struct turn *turn);

/*
 * The turns of the clock: alarms end when their cause is older than the window, and the alarm of a pause ends
 * when a person has resumed the shop.
 */
int64_t rate_next_due_us(const struct state *state);
void rate_due(const struct state *state, struct turn *turn);

#endif
