/*
 * calls.h: an effect driver that makes one call over HTTP for each effect
 *
 * It begins the call, asks for the claim when the call holds before its last byte, passes the answer of the
 * claim on, and cuts the call when the effect is stopped. Such drivers differ in two functions: one makes the
 * request, one reads the answer.
 */
#ifndef KIT_HTTP_CALLS_H
#define KIT_HTTP_CALLS_H

#include "bus/base/list.h"
#include "services/kit/http/http.h"

/*
 * The client that makes the calls: http_calls, or one that does more for each call (such as getting a token
 * first). The functions are those of http.h.
 */
struct call_way {
	void *(*begin)(void *client, const void *request, const struct http_caller *caller, void *context);
	void (*stop)(void *call);
	int (*fd)(const void *client);
	int64_t (*wait_us)(const void *client);
	void (*work)(void *client);
	void (*free)(void *client);
};
extern const struct call_way
	http_calls; /* the client is a struct http_client, a request begins with a struct http_request */

struct calls;

struct call_job {
	struct list hook;
	struct calls *calls;
	struct effect *effect;
	const void *request;      /* the request of the effect */
	struct http_request made; /* the driver's own request, if the effect's is none; cleared at the end */
	void *call;               /* NULL: no request was made */
	struct http_call *held;   /* the call that waits for proceed; NULL: none */
	char why[160];            /* why no request was made */
};

struct calls {
	struct effect_driver driver; /* first: what the runtime gets */
	const struct call_way *way;
	void *client;
	struct list jobs;
	/*
	 * Makes the request, which lives as long as the job. NULL: there is none, and job->why gives the
	 * reason. Without this function the effect's request is used.
	 */
	const void *(*ask)(struct calls *calls, struct call_job *job);
	/*
	 * Reads the answer and ends in call_done. If no request was made (job->call is NULL) the answer is
	 * HTTP_NOT_SENT. Without this function the answer is the result.
	 */
	void (*answered)(struct calls *calls, struct call_job *job, const struct http_answer *answer);
	void (*close)(struct calls *calls); /* frees the driver's other memory; NULL: there is none */
};

/* Fills `calls`, which begins a structure from memory_new; closing the driver frees that, and the client. */
void calls_init(struct calls *calls, const char *name, const struct call_way *way, void *client);
void call_done(struct call_job *job, const void *result); /* the job is freed */

#endif
