/* history.h: the decisions in the log: where and when each was made, and the results of its mails */
#ifndef CARTS_REHEARSAL_HISTORY_H
#define CARTS_REHEARSAL_HISTORY_H

#include "proto/platform_topics.h"
#include "services/kit/mail/message.h"

struct history;

/* One past turn: the facts that one process said about one message together. */
struct past_turn {
	uint64_t cause;               /* the message that it is about */
	uint64_t first;               /* its first fact: from there on all others know of it */
	uint64_t decided_on;          /* the last message that it had seen */
	int64_t now_us;               /* the time of the decision */
	uint64_t due_seq, closed_seq; /* its reminder.due and cart.closed; 0: none */
	bool finds_order;             /* it said a cart.checkout: the storefront knew of an order */
	bool claims;                  /* it said a send.claim */
	bool ended;                   /* it said the outcome of a mail: */
	enum mail_end end;
};

struct history *history_new(void);
void history_free(struct history *history); /* takes NULL */
/* `fact`: the topic is one that the rehearsed services say. */
void history_hear(struct history *history, const struct message_meta *said, struct bytes payload, bool fact);
void history_close(struct history *history); /* to be called after the last message */

size_t history_turns(const struct history *history);
/* The nth turn, in the order of the decisions. */
const struct past_turn *history_turn(const struct history *history, size_t nth);
/* How many turns there were about this message from `after` on. */
size_t history_turns_about(const struct history *history, uint64_t cause, uint64_t after);
/* When a timer that was due at due_us could fire: later if timers did not fire at that time. */
int64_t history_fires_us(const struct history *history, int64_t due_us);
size_t history_outages(const struct history *history);
/* The mail server's answer to this attempt. It accepts every mail that it was never given. */
enum mail_end history_answer(const struct history *history, const char *cart_id, uint32_t step, uint32_t attempt);
bool history_is_dead(const struct history *history, uint64_t seq); /* the message became a dead letter */
/* true: it was said so shortly before the end of the log that a missing decision proves nothing. */
bool history_is_fresh(const struct history *history, int64_t said_us);
int64_t history_end_us(const struct history *history);
/* Due timers fire within this time, in microseconds. */
int64_t history_grace_us(void);

#endif
