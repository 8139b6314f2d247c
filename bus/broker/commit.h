/*
 * commit.h: what was heard becomes one commit, and the answers that leave with it
 */
#ifndef BROKER_COMMIT_H
#define BROKER_COMMIT_H

#include "bus/broker/core.h"

/* What leaves with the next commit. */
struct answer {
	struct list hook;
	uint64_t epoch, request, seq;
	uint32_t further; /* requests that follow this one, and are answered alike */
	ConfirmKind kind;
	bool claim; /* checked once more when it leaves (commit.c) */
	bool poisoned;
	char *reason; /* NULL: none */
};

struct commit {
	bool is_committing; /* from when it is sealed until it is over */
	int64_t sealed_boot_us;
	struct list answers;        /* struct answer: leave with the next commit */
	struct list sealed_answers; /* with this one */
	uint32_t answer_count, sealed_count;
	uint32_t verdict_count;  /* of the answers */
	bool is_streaming;       /* the last commit held messages: more are likely ... */
	int64_t let_out_boot_us; /* ... and when it was over */
	uint64_t messages;       /* that were committed, this start */
	uint64_t over;           /* commits that are over, this start */
};

struct commit *commit_new(void);
void commit_free(struct commit *commit); /* with the answers that did not leave */

/* Notes that a commit of the store failed, with the words for broker_why. Returns `error`. */
int commit_failed(struct broker *broker, int error);
/* An error when the store could not be read for a frame or an answer: nothing may leave any more. */
int check_unbroken(struct broker *broker);

/* stage.c */
void answer_later(struct broker *broker, const struct session *session, uint64_t request, ConfirmKind kind,
	uint64_t seq, bool claim);
void answer_refused(
	struct broker *broker, const struct session *session, uint64_t request, const char *reason, bool poisoned);
void answer_send(struct broker *broker, struct session *session, const struct answer *answer); /* now */
void answer_free(struct answer *answer); /* and takes it off its list */

#endif
