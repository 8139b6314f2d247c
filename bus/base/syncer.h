/*
 * syncer.h: fsync of many files at once, without waiting for any of them
 *
 * A few threads that do nothing else: so the process goes on meanwhile, and the disk gets several at a time. A thread is begun when
 * one is missing; who never syncs has none.
 */
#ifndef BASE_SYNCER_H
#define BASE_SYNCER_H

#include "bus/base/list.h"
#include <stdbool.h>

/* The caller's; the syncer's from syncer_begin until syncer_next returns it. */
struct syncing {
	struct list hook;
	int fd;
	int result;     /* 0 or a negative errno, when it ended */
	bool data_only; /* what is needed to read the content back; not when it was written */
};

struct syncer;

struct syncer *syncer_new(void);
/* Waits for what runs. Everything that was begun must have been taken, or is the caller's to find again. NULL: nothing. */
void syncer_free(struct syncer *syncer);
/* The file waits for syncer_hand_over; `fd` is closed when it ended. */
void syncer_begin(struct syncer *syncer, struct syncing *syncing, int fd);
void syncer_begin_data(struct syncer *syncer, struct syncing *syncing, int fd); /* likewise; fdatasync */
/* What was begun goes to the threads. The more at a time, the less each costs. */
void syncer_hand_over(struct syncer *syncer);
struct syncing *syncer_next(struct syncer *syncer); /* one that ended, or NULL */
void syncer_wait(struct syncer *syncer);            /* hands over, and returns when all have ended */
int syncer_fd(const struct syncer *syncer);         /* readable while one that ended is there */

#endif
