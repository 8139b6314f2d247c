/*
 * submission.h: one request to an endpoint, from its head to its answer
 *
 * The gateway makes a submission when it has read a head with valid framing, and frees it when the answer is
 * sent or the client is gone. An endpoint's functions (endpoint.h) get only the submission. Everything in it
 * is borrowed from the submission.
 */
#ifndef KIT_ENDPOINT_SUBMISSION_H
#define KIT_ENDPOINT_SUBMISSION_H

#include "bus/actor/runtime/runtime.h"
#include "services/kit/blobs/blob_uses.h"
#include "services/kit/endpoint/secrets.h"
#include "services/kit/endpoint/webhook_stats.h"
#include "services/kit/web/request.h"

/* ---- the gateway's counters since its start ---- */

#define GATEWAY_COUNTERS(X)                                                                                            \
	X(requests)                                                                                                    \
	X(accepted)                                                                                                    \
	X(duplicates)                                                                                                  \
	X(spooled)                                                                                                     \
	X(drained)                                                                                                     \
	X(ignored)             /* authentic, of no interest: unknown topics, order statuses that mean nothing */       \
	X(rejected)            /* authentic, never readable; kept in rejected/ */                                      \
	X(consents_unreadable) /* carts that are not mailed, because nobody can tell a yes from a no */                \
	X(bad_signatures)                                                                                              \
	X(previous_secret)  /* right with the secret that is being rotated out */                                      \
	X(refused)          /* 503 */                                                                                  \
	X(malformed)        /* 400, 404, 405, 413 */                                                                   \
	X(misnamed)         /* a trusted proxy named the client in words that cannot be read */                        \
	X(cut_off)          /* too slow, or the body too long */                                                       \
	X(crowded_out)      /* the longest without a request when there was no room for another connection */          \
	X(turned_away)      /* not let in, or their bodies dropped: their network, or all together, held too much */   \
	X(feedback)         /* recipients of whom SES told a bounce or a complaint */                                  \
	X(feedback_refused) /* 403: not signed by SNS, or of a topic that is not the shop's */                         \
	X(optouts)                                                                                                     \
	X(taken_back) /* undone by the shopper */                                                                      \
	X(actions)    /* by the owner's links */                                                                       \
	X(links_used) /* an owner's link that was used before */                                                       \
	X(links_expired)                                                                                               \
	X(links_forged) /* or cut, or of a shop that is not here */                                                    \
	X(privacy)      /* requests of storefronts */                                                                  \
	X(clicks)

struct counters {
#define COUNTER_FIELD(name) uint64_t name;
	GATEWAY_COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
};

void counters_tell(struct metrics_sink *told, void *counters); /* a metrics_fn */
/* logs them if they have changed */
void counters_log(const struct counters *counters, struct counters *logged);

/* ---- the submission ---- */

struct cors;
struct blob_uses;
struct blob_writer;
struct endpoint;
struct kept_body;
struct publisher;

enum { SUBMISSION_NAMES_MAX = 3, SUBMISSION_NAMES_ROOM = 400 };

/* What the endpoints of all systems share. It lives as long as the process. */
struct endpoint_context {
	struct secrets *secrets;
	const struct clock *clock;
	struct counters *counters;
	const char *shops_folder, *rejected_folder;
	const struct runtime *runtime; /* has the gateway's folded state; NULL: nothing is known */
	struct webhook_stats *stats;   /* NULL: nothing is counted */
	/* the stores for bodies that become files; NULL: no row has such a body */
	struct blob_uses *blobs;
	const struct publisher *publisher; /* of the gateway's own endpoints */
	struct warnings {
		int64_t last_us; /* boot time */
		uint64_t swallowed;
	} of_strangers, of_shops, of_bodies;
	int64_t certificate_asked_us; /* boot time: a certificate of SNS was asked for */
};

/* The end of the messages of a submission: the worst end of all of them. A later value is worse. */
enum submission_end {
	SUBMISSION_DUPLICATE, /* all messages were repeats; `seq` */
	SUBMISSION_ACCEPTED,  /* the broker confirmed them; `seq` */
	SUBMISSION_SPOOLED,   /* they are synced on the gateway's disk */
	SUBMISSION_REFUSED    /* they may be lost, and the sender must repeat the request; `why` */
};

struct submission {
	struct endpoint_context *context;
	const struct endpoint *endpoint; /* NULL: no row has this path and method */
	const char *allow;               /* the methods that the path understands; static; NULL: the path is unknown */
	const struct cors *cors;         /* of the path, or of one that begins like it; NULL: none */
	const char *names[SUBMISSION_NAMES_MAX]; /* of the path's segments, in their order; "" behind the last */
	const struct source_key
		*client; /* the network that is charged for the request (bus/base/sources.h); NULL: unknown */
	struct request *request;
	struct answer *answer;

	/* Set by `read`, besides its messages and kept memory. */
	bool stop; /* the messages forbid a mail (a checkout, an opt-out, an emptied cart), so they may not be overtaken by a claim */

	/* Set for `answer`. */
	enum submission_end end;
	/* of SUBMISSION_DUPLICATE and SUBMISSION_ACCEPTED; the number of one of the messages */
	uint64_t seq;
	const char *why; /* of SUBMISSION_REFUSED */

	/* The rest belongs to submission.c and the gateway. */
	struct buffer *messages; /* encoded */
	int message_count, unanswered;
	struct blob_writer *body; /* of a row with a `file`; NULL: no byte of its body has come yet */
	struct kept_body *kept_body;
	bool published;
	void *kept;
	void *connection;
	void (*on_end)(struct submission *submission);
	char names_room[SUBMISSION_NAMES_ROOM], why_room[200];
};

void submission_clear(struct submission *submission);

/*
 * Adds a message, which is published when `read` has returned true. 0, or -EMSGSIZE: it is too large and was
 * not added. `trace` NULL: a new trace.
 */
int submission_publish(struct submission *submission, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message);
/*
 * Zeroed memory for data that `answer` needs; at most once for each submission. It is freed with the
 * submission, and is submission->kept.
 */
void *submission_keep(struct submission *submission, size_t size);

/*
 * Answers a program: writes the end of the submission as a line of JSON. `warning` is a constant without `"`;
 * NULL: none.
 */
void submission_answer_json(struct submission *submission, const char *warning);
/*
 * Logs a warning that a request was refused: at most one a second of each kind, with the number of those that
 * were not logged. `words` must be a constant: never a header's value, a body or an address.
 */
void submission_warn(
	const struct submission *submission, struct warnings *warnings, const char *shop, const char *words);

/*
 * The body of a submission as a file, for rows with a `file` (endpoint.h)
 *
 * The body is written to a store of the gateway's (services/kit/blobs) while it comes, so memory stays flat.
 * `read` examines it, and keeps it before it says a message that names it:
 *
 *   while ((got = body_look(submission, at, piece, sizeof(piece))) > 0) ...
 *   if (!body_keep(submission, idem, name))
 *           return false;
 *   submission_publish(... .idem = idem ... name ...)
 *
 * A body that was not kept leaves nothing behind: when the client goes away, when `read` refuses it, when the
 * gateway ends or is killed. If `read` returns false after body_keep, the reference is released, unless it was
 * there before. Once messages are sent to the broker the reference stays in every case, because
 * the broker may have them; a sender that repeats the request refers to the same content. A reference that no
 * message names is removed by its age.
 */

/*
 * Reads from this offset on. Returns the number of bytes, 0 at the end, or a negative errno. Must not be
 * called after body_keep.
 */
ssize_t body_look(const struct submission *submission, uint64_t from, void *to, size_t size);
/*
 * Makes the body durable under its SHA-256. `idem` is the key of the message that names it, by which an
 * erasure finds the reference. It waits for the disk. false: the answer is complete (507: there is no disk
 * space; or 503).
 */
bool body_keep(struct submission *submission, const char *idem, char ret_name[BLOB_NAME_SIZE]);

/* ---- for the gateway ---- */

/* Adds the next piece of the body. false: the answer is complete. */
bool body_add(struct submission *submission, struct bytes piece);

#endif
