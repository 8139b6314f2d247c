/*
 * endpoint.h: the endpoints of the gateway: one row for each address
 *
 * A system brings a table of rows to the gateway (services/systems.cmake, the face `endpoints`). The last row is empty. The gateway
 * finds the row of a request by its path and method, once, and answers 404 and 405 by itself. Then it calls `prove`, `read` and
 * `answer`, in this order. Each gets the submission (submission.h), which lives until the answer is sent.
 */
#ifndef KIT_ENDPOINT_ENDPOINT_H
#define KIT_ENDPOINT_ENDPOINT_H

#include "services/kit/endpoint/submission.h"

enum endpoint_methods {     /* a set */
	ENDPOINT_READS = 1, /* GET and HEAD: the endpoint changes nothing */
	ENDPOINT_POST = 2
};

/* the largest body of a page, and of a file, in bytes */
enum { FORM_MOST = 16 * 1024, FILE_MOST = 32 * 1024 * 1024 };

/* A body that becomes a blob (submission.h). The first name of the row's path is the shop that the blob belongs to. */
struct endpoint_file {
	const struct blob_use *use; /* its blob_bytes is at least the row's body_most */
	const struct topic *topic;  /* of the message that names it (TOPIC_DEFINE_NAMING) */
};

/*
 * Lets scripts of other origins use an endpoint (https://fetch.spec.whatwg.org, CORS). With it the gateway
 * answers OPTIONS, and adds the headers to every answer: also to 400, 405, 413, 429 and 503, and to the 404
 * of a path that begins like the row's path up to its first name. All rows of one path share one. Never with
 * credentials. It does not prove where a request comes from: a form or a program needs no permission, so
 * `read` must check the header Origin itself if it matters.
 */
struct cors {
	/*
	 * May a page of this origin read the answers? The submission has the path and the head. Its row may
	 * be NULL, and names may be missing. cors_origin_is_listed checks an origin against a list.
	 */
	bool (*allows)(const struct submission *submission, const char *origin);
	const char *headers; /* of a request, that need permission, as "Content-Type, X-Requested-With"; NULL: none */
};

struct endpoint {
	/*
	 * A segment in angle brackets has a name: `<shop>` is a valid name of a shop, every other (`<token>`) is a word without
	 * escapes. At most SUBMISSION_NAMES_MAX segments have a name. NULL ends the table.
	 */
	const char *path;
	unsigned methods;
	size_t body_most; /* bytes; 0: the server's own limit */
	/*
	 * NULL: the body stays in memory. Else the gateway writes it to a file while it comes, and request.body is empty. Such a body may have
	 * body_most bytes, up to FILE_MOST. A body in chunks, without a length, may have 32 KB; the gateway answers 411 to a longer one.
	 */
	const struct endpoint_file *file;
	/*
	 * Checks the head before a byte of the body is read. false: the answer is complete. NULL: every head
	 * is accepted.
	 */
	bool (*prove)(struct submission *submission);
	/* Reads the whole request. true: its messages are published, and `answer` is called then. false: the answer is complete. */
	bool (*read)(struct submission *submission);
	/* Answers when the end of the submission is known. NULL: `read` never returns true. Required of a row that takes ENDPOINT_POST. */
	void (*answer)(struct submission *submission);
	const struct cors *cors; /* NULL: scripts of other origins read no answer */
	const void *own;         /* tells rows with the same functions apart; NULL: not needed */
	bool listed;             /* the answer to an unknown path names this address */
};

/* Made by services/systems.cmake: the tables of all systems, and of the topics that their endpoints say. NULL ends a list. */
extern const struct endpoint *const registered_endpoints[];
extern const struct topic *const *const registered_endpoint_topics[];

/* ---- the headers that let scripts of other origins read an answer ---- */

/*
 * Is the origin in the list, such as "https://shop.example https://www.shop.example:8443", with blanks or
 * commas between? Compared byte for byte, as a browser writes it. "null" is the origin of every sandboxed
 * page and every file, so it never counts as listed. There is no wildcard.
 */
bool cors_origin_is_listed(const char *list, const char *origin);

/*
 * Adds the headers to an answer of a submission that has a `cors`. An origin that is not allowed gets only
 * `Vary`.
 */
void cors_dress(struct submission *submission);
/* Answers OPTIONS: 204 with `Allow` and the headers of a preflight. cors_dress completes it. */
void cors_answer_options(struct submission *submission);

#endif
