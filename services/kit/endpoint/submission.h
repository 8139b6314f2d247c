/*
 * submission.h: one request to an endpoint, from its head to its answer
 *
 * The gateway makes a submission when a head has come whose framing is right, and frees it when the answer is sent or the client is
 * gone. An endpoint's functions (endpoint.h) get nothing else. Everything in it is borrowed from the submission.
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

void counters_tell(struct metrics_sink *told, void *counters);               /* a metrics_fn */
void counters_log(const struct counters *counters, struct counters *logged); /* if there is news */

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
	const struct runtime *runtime;     /* whose state the gateway has folded; NULL: nothing is known */
	struct webhook_stats *stats;       /* NULL: nothing is counted */
	struct blob_uses *blobs;           /* where bodies go that are files; NULL: no row has such a body */
	const struct publisher *publisher; /* of the gateway's own endpoints */
	struct warnings {
		int64_t last_us; /* boot time */
		uint64_t swallowed;
	} of_strangers, of_shops, of_bodies;
	int64_t certificate_asked_us; /* boot time: a certificate of SNS was asked for */
};

/* What became of the messages of a submission: the worst of them, the last of these values being the worst. */
enum submission_end {
	SUBMISSION_DUPLICATE, /* all were there already; seq */
	SUBMISSION_ACCEPTED,  /* confirmed by the broker; seq */
	SUBMISSION_SPOOLED,   /* synced on the gateway's disk */
	SUBMISSION_REFUSED    /* nothing is promised, and the sender must repeat it; `why` */
};

struct submission {
	struct endpoint_context *context;
	const struct endpoint *endpoint; /* NULL: no row has this path and method */
	const char *allow;               /* the methods that the path understands; static; NULL: the path is unknown */
	const struct cors *cors;         /* of the path, or of one that begins like it; NULL: none */
	const char *names[SUBMISSION_NAMES_MAX]; /* of the path's segments, in their order; "" behind the last */
	const struct source_key
		*client; /* whose network pays for the request (bus/base/sources.h); NULL: it is not known */
	struct request *request;
	struct answer *answer;

	/* What `read` leaves, besides what it says and keeps. */
	bool stop; /* the messages forbid a mail (a checkout, an opt-out, an emptied cart), so they may not be overtaken by a claim */

	/* What `answer` finds. */
	enum submission_end end;
	uint64_t seq;    /* of SUBMISSION_DUPLICATE and SUBMISSION_ACCEPTED; of several messages one's */
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

/* Adds a message, which is published when `read` has returned true. 0, or -EMSGSIZE and it is not added. `trace` NULL: a new trace. */
int submission_publish(struct submission *submission, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message);
/* Zeroed memory for what `answer` needs to know, once for each submission; it is freed with it, and found as submission->kept. */
void *submission_keep(struct submission *submission, size_t size);

/* The answer to a program: the end of the submission as a line of JSON. `warning` is a constant without `"`; NULL: none. */
void submission_answer_json(struct submission *submission, const char *warning);
/*
 * A warning in the log that a request was refused: of each kind one a second, with the number of those that were not logged. `words` is
 * a constant: never a header's value, a body or an address.
 */
void submission_warn(
	const struct submission *submission, struct warnings *warnings, const char *shop, const char *words);

/*
 * The body of a submission as a file, for rows with a `file` (endpoint.h)
 *
 * The body is written to a store of the gateway's (services/kit/blobs) while it comes, so memory stays flat. `read` looks into it,
 * and keeps it before it says a message that names it:
 *
 *   while ((got = body_look(submission, at, piece, sizeof(piece))) > 0) ...
 *   if (!body_keep(submission, idem, name))
 *           return false;
 *   submission_publish(... .idem = idem ... name ...)
 *
 * A body that was not kept leaves nothing behind: when the client goes away, when `read` refuses it, when the gateway ends or is killed.
 * If `read` returns false after body_keep, the reference is released, unless it was there before. Once messages are on their
 * way the reference stays, whatever becomes of them, because the broker may have them all the same; a sender that repeats the request
 * refers to the same content. A reference that no message names goes with its age.
 */

/* Bytes read from this place on; 0: the end; a negative errno. Not after body_keep. */
ssize_t body_look(const struct submission *submission, uint64_t from, void *to, size_t size);
/*
 * Makes the body durable under its SHA-256. `idem` is the key of the message that names it, by which an erasure finds the reference.
 * It waits for the disk. false: the answer is complete (507: there is no room; 503).
 */
bool body_keep(struct submission *submission, const char *idem, char ret_name[BLOB_NAME_SIZE]);

/* ---- for the gateway ---- */

/* The next piece has come. false: the answer is complete. */
bool body_add(struct submission *submission, struct bytes piece);
void body_end(struct submission *submission); /* the submission is at its end */

#endif
