/* latest.h: the rows of family latest, and the backfill that reads them for a new store */
#ifndef BROKER_LOG_LATEST_H
#define BROKER_LOG_LATEST_H

#include "bus/broker/core.h"

/* a row: number, version, log time, flags, length of said_by, said_by, message */
enum {
	LATEST_ROW_VERSION = 8,
	LATEST_ROW_TIME = 16,
	LATEST_ROW_FLAGS = 24,
	LATEST_ROW_SAID = 25,
	LATEST_ROW_HEAD = 26
};

int latest_open(struct broker *broker);
void latest_close(struct broker *broker);
uint64_t latest_folded(const struct broker *broker);  /* it has folded up to here ... */
uint64_t latest_written(const struct broker *broker); /* ... and written its cursor up to here */
void latest_fold(struct broker *broker, uint32_t most);
/* folds from time to time, behind the head */
void latest_fold_lazily(struct broker *broker, uint32_t most);
void latest_write_cursor(struct broker *broker, struct store_batch *batch); /* if it has moved */
/* writes the cursor at once with a sync, if it has moved */
void latest_keep_cursor(struct broker *broker);
void latest_sweep(struct broker *broker); /* deletes a few of the forgotten rows */

/* Replaces the content of `ret`. `envelope` NULL: the prefix of the group's keys. */
void latest_key(const char *group, const Envelope *envelope, struct buffer *ret);
/* borrows from the row; false: it is malformed */
bool latest_parse(struct bytes row, char said_by[32], struct logged *ret);

/*
 * backfill.c: the rows that stood when the peer said hello, in order of their numbers. NULL: the peer
 * remembers no compacted topic.
 */
struct backfill;
struct backfill *backfill_new(struct broker *broker, int peer);
void backfill_free(struct backfill *backfill);
/*
 * The next row at or after `from`, which must not be lower than in the previous call. -ENOENT: there are no
 * more. -EAGAIN: not found yet, ask again in the next pass. Other errors are the store's.
 */
int backfill_next(struct broker *broker, struct backfill *backfill, uint64_t from, struct logged *ret);
/* The number up to which `latest` was folded: the backfill skips the log's compacted topics up to there. */
uint64_t backfill_limit(const struct backfill *backfill);

#endif
