/*
 * latest.h: how rows of family latest look, and a newcomer's way through them
 */
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
uint64_t latest_folded(const struct broker *broker);  /* it stands here ... */
uint64_t latest_written(const struct broker *broker); /* ... and this is what is written of it */
void latest_fold(struct broker *broker, uint32_t most);
void latest_fold_lazily(struct broker *broker, uint32_t most);              /* now and then, behind the head */
void latest_write_cursor(struct broker *broker, struct store_batch *batch); /* if it has moved */
void latest_keep_cursor(struct broker *broker);                             /* now, with a sync, if it has moved */
void latest_sweep(struct broker *broker);                                   /* deletes a few of the forgotten rows */

/* Replaces what is in it; without an envelope: what the group's keys begin with. */
void latest_key(const char *group, const Envelope *envelope, struct buffer *ret);
bool latest_parse(struct bytes row, char said_by[32], struct logged *ret); /* borrows; false: it does not add up */

/* backfill.c: the rows that stood when it came, in order of their numbers. NULL: the peer remembers nothing compacted. */
struct backfill;
struct backfill *backfill_new(struct broker *broker, int peer);
void backfill_free(struct backfill *backfill);
/*
 * The next row at or after `from`, no less than in the call before. -ENOENT: no more; -EAGAIN: not found yet, ask again in the next
 * pass; other errors of the store.
 */
int backfill_next(struct broker *broker, struct backfill *backfill, uint64_t from, struct logged *ret);
/* Where `latest` stood: up to there the log's compacted topics are skipped. */
uint64_t backfill_limit(const struct backfill *backfill);

#endif
