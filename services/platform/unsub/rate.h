/*
 * rate.h: how many of a shop's mails were complained about or bounced, and what is done about it
 *
 * Over the last 30 days of UTC, today included, per shop: complaints and permanent bounces of addresses that we mailed, each mail once,
 * however often it is told of (of a mail that is not known each address once), against the reminders that were sent to shoppers. From 0.1 % on, and two complaints, there is an alarm; from 0.3 % on, and
 * three, the shop is paused until a person resumes it: one of three mails says nothing about a shop. Bounces alarm at 5 %, and five.
 * Who resumes has seen the complaints so far: they pause nothing any more.
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

/* Was a shopper of this hash ever mailed by this shop? Feedback about others is not about our mails. */
bool rate_is_ours(const struct state *state, const char *shop, const char *address_hash);
/* After feedback was decided on: says the alarms and the pause that follow from it. */
void rate_judge(const struct state *state, const MailFeedback *feedback, struct turn *turn);

/* Alarms end by the clock, when what they were about has grown older than the window, and the pause's when somebody resumed. */
int64_t rate_next_due_us(const struct state *state);
void rate_due(const struct state *state, struct turn *turn);

#endif
