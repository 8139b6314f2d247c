/* commit.h: makes one commit of the received messages, and sends the answers with it */
#ifndef BROKER_COMMIT_H
#define BROKER_COMMIT_H

#include "bus/broker/core.h"

/* An answer that is sent after the next commit. */
struct answer {
	struct list hook;
	uint64_t epoch, request, seq;
	uint32_t further; /* how many following requests get the same answer */
	ConfirmKind kind;
	bool claim; /* checked once more when it is sent (commit.c) */
	bool poisoned;
	char *reason; /* NULL: none */
};

struct commit {
	bool is_committing; /* true from the sealing until the commit is over */
	int64_t sealed_boot_us;
	struct list answers;        /* struct answer: sent after the next commit */
	struct list sealed_answers; /* sent after this commit */
	uint32_t answer_count, sealed_count;
	uint32_t verdict_count;  /* how many of the answers are for verdicts */
	bool is_streaming;       /* the last commit held messages: more are likely ... */
	int64_t let_out_boot_us; /* ... and when it was over */
	uint64_t messages;       /* committed since the start */
	uint64_t over;           /* commits since the start */
};

struct commit *commit_new(void);
void commit_free(struct commit *commit); /* also frees the unsent answers */

/* Notes that a commit of the store failed, with the words for broker_why. Returns `error`. */
int commit_failed(struct broker *broker, int error);
/* Returns an error if the store could not be read for a frame or an answer: nothing may be sent any more. */
int check_unbroken(struct broker *broker);

/* stage.c */
void answer_later(struct broker *broker, const struct session *session, uint64_t request, ConfirmKind kind,
	uint64_t seq, bool claim);
void answer_refused(
	struct broker *broker, const struct session *session, uint64_t request, const char *reason, bool poisoned);
/* sends it at once */
void answer_send(struct broker *broker, struct session *session, const struct answer *answer);
void answer_free(struct answer *answer); /* also removes it from its list */

#endif
