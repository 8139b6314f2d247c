/*
 * log.h: the log on disk, the only truth
 *
 * Messages are staged, written as one frame per retention class beside a column record, and become visible together when the
 * sync that covers them has returned. Recent frames stay in memory, so that nobody reads the tail from the store.
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

/* Erased: what the message held is gone, and nobody is shown it any more (erase.c). */
enum { FLAG_TOMBSTONE = 1, FLAG_CLAIM = 2, FLAG_ERASED = 4 };
enum { RETENTION_CLASSES = 3, RETENTION_KEEP = 2 };

/* Row of family meta: which rows of `latest` are forgotten: those that ended before this message (latest.c). */
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

/* Checks that the log adds up and makes sure of its tail. -EUCLEAN: ret_why says what, where, and the remedy. */
int log_start(struct store *store, const struct topology *topology, struct log **ret, char ret_why[512]);
void log_free(struct log *log); /* takes NULL; the store is borrowed */

uint64_t log_head(const struct log *log); /* committed */
const char *log_id(const struct log *log);
const char *log_origin(const struct log *log); /* the first log that this one was restored from; its own id: none */
uint64_t log_opening(const struct log *log);   /* this one: boots in the upper half, a random number in the lower */
/* Messages before it do not tell whether they end the row of a compacted topic; 0: all do. */
uint64_t log_ends_from(const struct log *log);
int log_topic(const struct log *log, uint16_t id);       /* in the topology; negative: it is not there any more */
uint16_t log_topic_id(const struct log *log, int topic); /* as stored; stable for ever */

/* log_identity.c: has the log lost what a peer learnt in that opening of it (0: not known)? ret_why: in words. */
bool log_forgot(struct log *log, uint64_t remembered, uint64_t opening, char ret_why[256]);
void log_mark_forgotten(struct log *log, const char *why); /* at once, synced: no later opening believes it */
/* Of a log that nobody has open: peers who know the old identity will refuse it. -ENOENT: there is no log in this store. */
int log_new_identity(struct store *store, char ret_before[40], char ret_id[40]);

/* The number that the message will have. It is copied. */
uint64_t log_stage(
	struct log *log, int topic, uint8_t flags, uint64_t key_hash, const char *said_by, struct bytes message);
uint32_t log_staged(const struct log *log);
/* What is staged goes into the batch; what is staged from now on goes into the next one. */
void log_seal(struct log *log, struct store_batch *batch, int64_t wall_us);
void log_committed(struct log *log); /* the batch is on the disk: what was sealed is the head now */
int64_t log_time_us(const struct log *log, int64_t wall_us); /* never goes backwards */

/* drop.c: of each class the number it is kept from, and when that was said; a class of which nothing was dropped: 1 and 0. */
uint64_t log_kept_from(const struct log *log, uint8_t retention);
int64_t log_kept_from_us(struct log *log, uint8_t retention);
/* The first message said at `us` or later; head + 1: none. */
int log_seek_time(struct log *log, int64_t us, uint64_t *ret_seq);
/* The first message from which on a class takes no more than so many bytes. */
int log_seek_size(struct log *log, uint8_t retention, uint64_t bytes, uint64_t *ret_seq);
/* Drops the class's frames that hold nothing at or after `before`; on the disk when it returns. */
int log_drop(struct log *log, uint8_t retention, uint64_t before);

/* drop.c: what of a message stays when it is erased: nothing of its key, its trace and its payload. */
int message_erase(struct bytes message, bool with_idem, struct buffer *ret);
/*
 * The block that holds `seq`, written without those of its messages that picked() says; into the batch. *ret_block: what is to be
 * given to log_erased when that is committed, else to block_free; NULL: there was nothing to do. *ret_last: of the block.
 */
/* What its column says, without its bytes, whether or not those are still there. -ENOENT: beyond the head. */
int log_look(struct log *log, uint64_t seq, struct logged *ret);
uint64_t log_block_first(struct log *log, uint64_t seq); /* of the commit that holds it */
struct picked {
	bool erase, with_idem;
};
typedef struct picked picked_fn(const struct logged *logged, void *context);
struct block;
int log_erase(struct log *log, uint64_t seq, picked_fn *picked, void *context, struct store_batch *batch,
	struct block **ret_block, uint64_t *ret_last);
void log_erased(struct log *log, struct block *block);

/* -ENOENT: beyond the head, or dropped; -EUCLEAN: what lies there is not what was written */
int log_read(struct log *log, uint64_t seq, struct logged *ret);
/* The first committed message at or after `from` whose topic is in the set and that was not erased, without its bytes. -ENOENT: none. */
int log_find(struct log *log, uint64_t from, const struct topic_set *topics, struct logged *ret);
/* The same, as far as a moment goes. -EAGAIN: there is none up to ret_looked, and the disk would have to be read for more. */
int log_find_soon(
	struct log *log, uint64_t from, const struct topic_set *topics, uint64_t *ret_looked, struct logged *ret);
uint64_t log_loads(const struct log *log); /* blocks that were read from the disk, so far */

#endif
