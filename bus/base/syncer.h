/*
 * syncer.h: fsync of many files at once, without waiting for any of them
 *
 * A few threads do nothing but sync. So the process goes on meanwhile, and the disk gets several syncs at a
 * time. A thread is started when one is needed; a process that never syncs has none.
 */
#ifndef BASE_SYNCER_H
#define BASE_SYNCER_H

#include "bus/base/list.h"
#include <stdbool.h>

/* One sync. The caller owns it; the syncer uses it from syncer_begin until syncer_next returns it. */
struct syncing {
	struct list hook;
	int fd;
	int result;     /* 0 or a negative errno, after it has ended */
	bool data_only; /* fdatasync: the content and its size, not the time of writing */
};

struct syncer;

struct syncer *syncer_new(void);
/*
 * Waits for running syncs. Every begun sync must have been returned, or the caller must find it itself. Takes
 * NULL.
 */
void syncer_free(struct syncer *syncer);
/* Queues the file until syncer_hand_over. `fd` is closed when the sync has ended. */
void syncer_begin(struct syncer *syncer, struct syncing *syncing, int fd);
void syncer_begin_data(struct syncer *syncer, struct syncing *syncing, int fd); /* the same with fdatasync */
/* Gives the queued syncs to the threads. Each costs less when there are more at a time. */
void syncer_hand_over(struct syncer *syncer);
struct syncing *syncer_next(struct syncer *syncer); /* one that ended, or NULL */
void syncer_wait(struct syncer *syncer);            /* hands over, and returns when all have ended */
int syncer_fd(const struct syncer *syncer);         /* readable while an ended sync can be taken */

#endif
