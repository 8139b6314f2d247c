/*
 * log_state.h: the log's own memory, shared by log.c, drop.c, log_identity.c and recover.c
 */
#ifndef BROKER_LOG_LOG_STATE_H
#define BROKER_LOG_LOG_STATE_H

#include "bus/broker/log/block.h"

enum {
	TOPIC_ID_NONE = UINT16_MAX, /* a log can have 65535 topic names in its life */
	RING_BLOCKS = 4096,         /* the number of recent commits in memory */
	RING_BYTES = 16 << 20,      /* ... and how much memory they may use, in bytes */
	LOADED_BLOCKS = 8,          /* blocks that were read back from the store */
	TAIL_BLOCKS = 256,          /* how many commits are checked and rewritten at opening */
};

struct topic_name {
	char name[32];
	int topic; /* in the topology, or negative */
};

struct log {
	struct store *store;
	const struct topology *topology;
	char id[40], origin[40];
	uint64_t head;
	uint64_t boots;
	/* of this start: boots in the upper half, a random number in the lower */
	uint64_t opening;
	int64_t time_us;                       /* log time of the last commit */
	uint64_t ends_from;                    /* an older program wrote the messages before this number */
	uint64_t kept_from[RETENTION_CLASSES]; /* by class: frames with smaller numbers were dropped */
	struct topic_name *names;              /* by id: every topic name that this log has ever had */
	uint16_t name_count;
	uint16_t *ids;        /* the ids of the topology's topics */
	struct block *staged; /* NULL: nothing is staged */
	struct block *sealed; /* the block of the running commit; NULL: none */
	struct block *ring[RING_BLOCKS];
	uint32_t ring_first, ring_count;
	size_t ring_bytes;
	struct block *loaded[LOADED_BLOCKS];
	uint32_t loaded_next; /* the one to replace next */
	uint64_t loads;
};

/* Reads the topic names of this log and writes the new ones. */
int topic_ids_open(struct log *log, struct store_batch *batch);
/*
 * log_identity.c: the log's identity; -EUCLEAN: it has none, or a peer once proved that the log lost messages
 * (then `why` says so).
 */
int log_identity_read(struct log *log, char why[512]);
void log_identity_open(struct log *log); /* counts one more opening */
void log_identity_write(const struct log *log, struct store_batch *batch);
/* log.c: the block that holds seq, without its frames. */
int log_find_block(struct log *log, uint64_t seq, struct block **ret);
/* One message of a block. */
void log_describe(const struct log *log, const struct block *block, uint32_t i, struct logged *ret);
/* drop.c: reads how far each class was dropped. */
int drop_open(struct log *log);
/* recover.c: meta, tail, epoch; leaves the tail rewritten and synced. */
int log_recover(struct log *log, char ret_why[512]);

#endif
