/*
 * redrive.h: many messages are handed out once more, bit by bit: a redrive of many dead letters, or a replay of the log
 *
 * One per queue. It is durable: it survives the end of the peer that asked for it, and a restart of the broker.
 */
#ifndef BROKER_QUEUE_REDRIVE_H
#define BROKER_QUEUE_REDRIVE_H

#include "bus/broker/queue/queue.h"

struct redrive {
	Feed what;
	bool finished;
	int64_t next_boot_us; /* not before this */
};

int redrive_open(struct broker *broker, struct queue *queue);
void redrive_free(struct redrive *redrive);                                       /* takes NULL */
bool redrive_is_running(const struct queue *queue);                               /* neither finished nor cancelled */
void redrive_begin(struct broker *broker, struct queue *queue, const Feed *what); /* in place of the one before */
bool redrive_cancel(struct broker *broker, struct queue *queue, bool cancel);     /* or goes on; false: there is none */
void redrives_tick(struct broker *broker);
int64_t redrive_wait_us(const struct broker *broker, const struct queue *queue); /* INT64_MAX: it waits for nothing */

bool redrive_wants_dead(const Feed *what, const Envelope *envelope, const Trouble *retry);
/* The next message of the log that a replay wants, at or after what->next. -ENOENT: none up to what->to. */
int redrive_find(struct broker *broker, const struct queue *queue, const Feed *what, struct logged *ret);
/* Is it of the shop? */
bool redrive_wants_logged(const Feed *what, const struct logged *logged);

#endif
