/* erase.h: erases the content of messages from the log */
#ifndef BROKER_ADMIN_ERASE_H
#define BROKER_ADMIN_ERASE_H

#include "bus/broker/core.h"

struct eraser;

enum erase_phase {
	ERASE_ASKED, /* the list of messages is not complete yet; nothing is on disk */
	ERASE_SETTLING,
	ERASE_REWRITING,
	ERASE_TELLING,
	ERASE_PURGING,
	ERASE_DONE
};

struct erase_entry {
	uint64_t seq;
	bool with_idem; /* its idempotency key names a person and is erased as well */
};

/* The range of overwritten or deleted keys of one family. */
struct erase_span {
	bool is_set;
	struct buffer from, to;
};
enum { ERASE_FAMILIES = FAMILY_LATEST + 1 };

struct erasing {
	enum erase_phase phase;
	bool is_resumed; /* resumed after a restart: keys that were overwritten before are unknown */
	struct erase_entry *entries;
	size_t count, room, next;
	bool is_held, has_settled; /* in this pass */
	uint64_t wait_commits;     /* it continues when this many commits are over */
	int64_t again_boot_us;
	struct topic_set topics; /* of the erased messages */
	struct erase_span spans[ERASE_FAMILIES];
	struct eraser *eraser; /* NULL: it does not run */
};

struct erasure {
	struct erasing *erasing; /* NULL: none since the start */
	/* by topic: a store whose cursor is lower may hold erased content of the topic */
	uint64_t *before;
};

struct erasure *erasure_new(int topic_count);
void erasure_free(struct erasure *erasure);

int erase_open(struct broker *broker);
void erase_tick(struct broker *broker);
bool erase_is_too_old(const struct broker *broker, int peer, uint64_t cursor);

void erasing_free(struct erasing *erasing); /* takes NULL */
bool erase_is_running(const struct broker *broker);
/* begins a list of messages to erase; false: an erasure is running */
bool erase_begin(struct broker *broker);
void erase_add(struct broker *broker, uint64_t seq, bool with_idem);
void erase_run(struct broker *broker); /* writes the list with the next commit and starts the work after it */
void erase_add_entry(struct erasing *erasing, uint64_t seq, bool with_idem);

/* erase_rows.c: these write into the batch */
void erase_rows_write(struct broker *broker, const struct erasing *erasing);
void erase_rows_delete(struct broker *broker, const struct erasing *erasing);
/* Makes a service fold anew if it remembers the topic and its state ends before the boundary. */
void erase_rows_bound(struct broker *broker, int topic, uint64_t boundary);

#endif
