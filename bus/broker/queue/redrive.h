/*
 * redrive.h: delivers many messages once more, bit by bit: a redrive of dead letters, or a replay of the log
 *
 * A queue has at most one. It is durable: it continues after the end of the peer that asked for it, and after
 * a restart of the broker.
 */
#ifndef BROKER_QUEUE_REDRIVE_H
#define BROKER_QUEUE_REDRIVE_H

#include "bus/broker/queue/queue.h"

struct redrive {
	Feed what;
	bool finished;
	int64_t next_boot_us; /* no step before this boot time */
};

int redrive_open(struct broker *broker, struct queue *queue);
void redrive_free(struct redrive *redrive);         /* takes NULL */
bool redrive_is_running(const struct queue *queue); /* neither finished nor cancelled */
/* replaces the previous one */
void redrive_begin(struct broker *broker, struct queue *queue, const Feed *what);
/* `cancel` false: resumes it; false is returned if there is none */
bool redrive_cancel(struct broker *broker, struct queue *queue, bool cancel);
void redrives_tick(struct broker *broker);
/* microseconds; INT64_MAX: there is nothing to wait for */
int64_t redrive_wait_us(const struct broker *broker, const struct queue *queue);

bool redrive_wants_dead(const Feed *what, const Envelope *envelope, const Trouble *retry);
/* The next message of the log that a replay wants, at or after what->next. -ENOENT: none up to what->to. */
int redrive_find(struct broker *broker, const struct queue *queue, const Feed *what, struct logged *ret);
/* Is the message of the shop that `what` names? */
bool redrive_wants_logged(const Feed *what, const struct logged *logged);

#endif
