/*
 * log.h: the log on disk, the source of all state
 *
 * Messages are staged, written as one frame per retention class beside a column record, and become visible
 * together when the sync that covers them has returned. Recent frames stay in memory, so the tail is never
 * read from the store.
 *
 * Read next: block.h (the records), recover.c (what is checked at opening)
 */
#ifndef BROKER_LOG_LOG_H
#define BROKER_LOG_LOG_H

#include "bus/broker/topology.h"
#include "bus/store/store.h"

enum family {
	FAMILY_META,
	FAMILY_RAW, /* + retention class */
	FAMILY_FACT,
	FAMILY_KEEP,
	FAMILY_COLUMN,
	FAMILY_QUEUE,
	FAMILY_DEAD,
	FAMILY_IDEM,
	FAMILY_LATEST
};

/* FLAG_ERASED: the message's content was erased, and the message is no longer shown to anybody (erase.c). */
enum { FLAG_TOMBSTONE = 1, FLAG_CLAIM = 2, FLAG_ERASED = 4 };
enum { RETENTION_CLASSES = 3, RETENTION_KEEP = 2 };

/* Row of family meta: the rows of `latest` that ended before this message are forgotten (latest.c). */
#define LATEST_FORGOTTEN "latest-forgotten"

/* Row of family meta: claims are held until the operator releases them (claim.c). */
#define CLAIMS_HELD "held"

struct log;

/* One message of the log. Strings and bytes are borrowed until the next call that reads from the log. */
struct logged {
	uint64_t seq;
	int64_t time_us;
	int topic; /* index into the topology; negative: not declared any more */
	uint8_t retention;
	uint8_t flags;
	uint64_t key_hash; /* of shop and key */
	const char *said_by;
	struct bytes message;
};

/*
 * Checks the log and syncs its tail. -EUCLEAN: it is inconsistent; ret_why tells what, where, and the remedy.
 */
int log_start(struct store *store, const struct topology *topology, struct log **ret, char ret_why[512]);
void log_free(struct log *log); /* takes NULL; the store is borrowed */

uint64_t log_head(const struct log *log); /* the last committed number */
const char *log_id(const struct log *log);
/* the id of the first log that this one was restored from; its own id if there was none */
const char *log_origin(const struct log *log);
/* identifies this opening of the log: boots in the upper half, a random number in the lower */
uint64_t log_opening(const struct log *log);
/* Messages before this number do not tell whether they end the row of a compacted topic; 0: all do. */
uint64_t log_ends_from(const struct log *log);
/* index in the topology; negative: it is not declared any more */
int log_topic(const struct log *log, uint16_t id);
uint16_t log_topic_id(const struct log *log, int topic); /* as stored; stable for ever */

/*
 * log_identity.c: has the log lost messages that a peer learnt in that opening (0: unknown)? ret_why gives
 * the reason in words.
 */
bool log_forgot(struct log *log, uint64_t remembered, uint64_t opening, char ret_why[256]);
/* at once and synced: every later opening refuses the log */
void log_mark_forgotten(struct log *log, const char *why);
/*
 * Gives a closed log a new identity: peers that know the old identity refuse it. -ENOENT: there is no log in
 * this store.
 */
int log_new_identity(struct store *store, char ret_before[40], char ret_id[40]);

/* Stages a copy of the message. Returns the number that it will have. */
uint64_t log_stage(
	struct log *log, int topic, uint8_t flags, uint64_t key_hash, const char *said_by, struct bytes message);
uint32_t log_staged(const struct log *log);
/*
 * Writes the staged messages into the batch; messages that are staged from now on belong to the next batch.
 */
void log_seal(struct log *log, struct store_batch *batch, int64_t wall_us);
void log_committed(struct log *log); /* the batch is on disk: the head moves over the sealed messages */
int64_t log_time_us(const struct log *log, int64_t wall_us); /* never goes backwards */

/* drop.c: the number from which on a class is kept, and when it was set; 1 and 0 if nothing was dropped. */
uint64_t log_kept_from(const struct log *log, uint8_t retention);
int64_t log_kept_from_us(struct log *log, uint8_t retention);
/* Finds the first message with a log time of `us` or later; head + 1: none. */
int log_seek_time(struct log *log, int64_t us, uint64_t *ret_seq);
/* Finds the first message from which on the class has at most `bytes` bytes. */
int log_seek_size(struct log *log, uint8_t retention, uint64_t bytes, uint64_t *ret_seq);
/* Drops the class's frames whose messages all lie before `before`; synced when it returns. */
int log_drop(struct log *log, uint8_t retention, uint64_t before);

/* drop.c: writes the rest of an erased message, without its key, trace and payload. */
int message_erase(struct bytes message, bool with_idem, struct buffer *ret);
/*
 * Writes the block that contains `seq` into the batch, without the messages that picked() selects.
 * *ret_block: give it to log_erased after the commit, or to block_free if the commit failed; NULL: nothing
 * changed. *ret_last: the last number of the block.
 */
/*
 * Reads the column entry of a message without its bytes, even if the bytes were dropped. -ENOENT: it is
 * beyond the head.
 */
int log_look(struct log *log, uint64_t seq, struct logged *ret);
uint64_t log_block_first(struct log *log, uint64_t seq); /* the first number of the commit that contains it */
struct picked {
	bool erase, with_idem;
};
typedef struct picked picked_fn(const struct logged *logged, void *context);
struct block;
int log_erase(struct log *log, uint64_t seq, picked_fn *picked, void *context, struct store_batch *batch,
	struct block **ret_block, uint64_t *ret_last);
void log_erased(struct log *log, struct block *block);

/* Reads a message. -ENOENT: it is beyond the head, or was dropped. -EUCLEAN: the stored bytes are damaged. */
int log_read(struct log *log, uint64_t seq, struct logged *ret);
/*
 * Finds the first committed message at or after `from` whose topic is in the set and that was not erased,
 * without its bytes. -ENOENT: none.
 */
int log_find(struct log *log, uint64_t from, const struct topic_set *topics, struct logged *ret);
/*
 * The same with limited work. -EAGAIN: there is none up to ret_looked, and more would have to be read from
 * disk.
 */
int log_find_soon(
	struct log *log, uint64_t from, const struct topic_set *topics, uint64_t *ret_looked, struct logged *ret);
uint64_t log_loads(const struct log *log); /* the number of blocks read from disk so far */

#endif
