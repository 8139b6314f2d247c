/*
 * history.h: how history went about its decisions: where each was made, when, and what the world answered
 */
#ifndef CARTS_REHEARSAL_HISTORY_H
#define CARTS_REHEARSAL_HISTORY_H

#include "proto/platform_topics.h"
#include "services/kit/mail/message.h"

struct history;

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

struct history *history_new(void);
void history_free(struct history *history); /* takes NULL */
/* `fact`: a topic that the rehearsed services say. */
void history_hear(struct history *history, const struct message_meta *said, struct bytes payload, bool fact);
void history_close(struct history *history); /* all was heard */

size_t history_turns(const struct history *history);
/* In the order in which they were decided. */
const struct past_turn *history_turn(const struct history *history, size_t nth);
/* How many turns there were about this message from `after` on. */
size_t history_turns_about(const struct history *history, uint64_t cause, uint64_t after);
/* When a timer could fire that was due then: later if none fired at that time. */
int64_t history_fires_us(const struct history *history, int64_t due_us);
size_t history_outages(const struct history *history);
/* What the mail server said to this try. What it was never given it takes. */
enum mail_end history_answer(const struct history *history, const char *cart_id, uint32_t step, uint32_t attempt);
bool history_is_dead(const struct history *history, uint64_t seq); /* nobody could handle it */
/* Said so shortly before the log ends that nothing can be concluded from nobody having decided on it. */
bool history_is_fresh(const struct history *history, int64_t said_us);
int64_t history_end_us(const struct history *history);
/* Timers that are due fire within this time. */
int64_t history_grace_us(void);

#endif
