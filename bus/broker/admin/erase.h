/*
 * erase.h: messages lose what they hold
 */
#ifndef BROKER_ADMIN_ERASE_H
#define BROKER_ADMIN_ERASE_H

#include "bus/broker/core.h"

struct eraser;

enum erase_phase {
	ERASE_ASKED, /* not all of it is told yet: nothing is on the disk */
	ERASE_SETTLING,
	ERASE_REWRITING,
	ERASE_TELLING,
	ERASE_PURGING,
	ERASE_DONE
};

struct erase_entry {
	uint64_t seq;
	bool with_idem; /* its idempotency key names somebody, and goes as well */
};

/* Keys of one family that were overwritten or deleted. */
struct erase_span {
	bool is_set;
	struct buffer from, to;
};
enum { ERASE_FAMILIES = FAMILY_LATEST + 1 };

struct erasing {
	enum erase_phase phase;
	bool is_resumed; /* since the start: what was overwritten before is not known */
	struct erase_entry *entries;
	size_t count, room, next;
	bool is_held, has_settled; /* in this pass */
	uint64_t wait_commits;     /* it goes on when so many are over */
	int64_t again_boot_us;
	struct topic_set topics; /* of what was erased */
	struct erase_span spans[ERASE_FAMILIES];
	struct eraser *eraser; /* NULL: not at work */
};

struct erasure {
	struct erasing *erasing; /* NULL: none since the start */
	uint64_t *before;        /* by topic: stores that stopped before it may hold what was erased of the topic */
};

struct erasure *erasure_new(int topic_count);
void erasure_free(struct erasure *erasure);

int erase_open(struct broker *broker);
void erase_tick(struct broker *broker);
bool erase_is_too_old(const struct broker *broker, int peer, uint64_t cursor);

void erasing_free(struct erasing *erasing); /* takes NULL */
bool erase_is_running(const struct broker *broker);
bool erase_begin(struct broker *broker); /* what is added from now on is wanted; false: one is running */
void erase_add(struct broker *broker, uint64_t seq, bool with_idem);
void erase_run(struct broker *broker); /* on the disk with the next commit, and done from then on */
void erase_add_entry(struct erasing *erasing, uint64_t seq, bool with_idem);

/* erase_rows.c: into the batch */
void erase_rows_write(struct broker *broker, const struct erasing *erasing);
void erase_rows_delete(struct broker *broker, const struct erasing *erasing);
/* A service that remembers the topic, and whose state ends before the boundary, folds anew. */
void erase_rows_bound(struct broker *broker, int topic, uint64_t boundary);

#endif
