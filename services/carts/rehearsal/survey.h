/*
 * survey.h: how history went about its decisions: where each was made, when, and what the world answered
 */
#ifndef CARTS_REHEARSAL_SURVEY_H
#define CARTS_REHEARSAL_SURVEY_H

#include "proto/platform_topics.h"
#include "services/kit/mail/message.h"

struct survey;

/* One turn of history: what one process said about one message at once. */
struct past_turn {
	uint64_t cause;               /* the message it is about */
	uint64_t first;               /* the first thing that it said: where all others learnt of it */
	uint64_t decided_on;          /* the last message that it had seen */
	int64_t now_us;               /* the clock it decided with */
	uint64_t due_seq, closed_seq; /* the reminder.due and cart.closed that it said; 0: none */
	bool finds_order;             /* a cart.checkout: the storefront knew of one */
	bool claims;                  /* a send.claim */
	bool ended;                   /* an outcome of a mail: */
	enum mail_end end;
};

struct survey *survey_new(void);
void survey_free(struct survey *survey); /* takes NULL */
/* `fact`: a topic that the rehearsed services say. */
void survey_hear(struct survey *survey, const struct message_meta *said, struct bytes payload, bool fact);
void survey_close(struct survey *survey); /* all was heard */

size_t survey_turns(const struct survey *survey);
/* In the order in which they were decided. */
const struct past_turn *survey_turn(const struct survey *survey, size_t nth);
/* How many turns there were about this message from `after` on. */
size_t survey_turns_about(const struct survey *survey, uint64_t cause, uint64_t after);
/* When a timer could fire that was due then: later if none fired at that time. */
int64_t survey_fires_us(const struct survey *survey, int64_t due_us);
size_t survey_outages(const struct survey *survey);
/* What the mail server said to this try. What it was never given it takes. */
enum mail_end survey_answer(const struct survey *survey, const char *cart_id, uint32_t step, uint32_t attempt);
bool survey_is_dead(const struct survey *survey, uint64_t seq); /* nobody could handle it */
/* Said so shortly before the log ends that nothing can be concluded from nobody having decided on it. */
bool survey_is_fresh(const struct survey *survey, int64_t said_us);
int64_t survey_end_us(const struct survey *survey);
/* Timers that are due fire within this time. */
int64_t survey_grace_us(void);

#endif
