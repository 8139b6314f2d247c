/*
 * calls.h: an effect driver each of whose effects is one call over HTTP
 *
 * It begins the call, asks for the claim when the call holds before its last byte, passes the answer of the claim on, and cuts the
 * call when the effect is stopped. What differs between such drivers are two functions: what is asked, and what the answer means.
 */
#ifndef KIT_HTTP_CALLS_H
#define KIT_HTTP_CALLS_H

#include "bus/base/list.h"
#include "services/kit/http/http.h"

/* Over which client the calls are made: http_calls, or one that does more for each (a token first). As http.h has them. */
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
	const void *request;      /* the effect's */
	struct http_request made; /* the driver's own request, if the effect's is none; cleared at the end */
	void *call;               /* NULL: nothing was asked */
	struct http_call *held;   /* waits for its yes or no; NULL: none does */
	char why[160];            /* nothing was asked */
};

struct calls {
	struct effect_driver driver; /* first: what the runtime gets */
	const struct call_way *way;
	void *client;
	struct list jobs;
	/* The request to be made, which lives as long as the job; NULL: none, and job->why says why. Without this function: the effect's. */
	const void *(*ask)(struct calls *calls, struct call_job *job);
	/* Ends in call_done. What was not asked (job->call is NULL) ended as HTTP_NOT_SENT. Without it: the answer is the result. */
	void (*answered)(struct calls *calls, struct call_job *job, const struct http_answer *answer);
	void (*close)(struct calls *calls); /* frees what else the driver has; NULL: nothing */
};

/* Fills `calls`, which begins a structure from memory_new; closing the driver frees that, and the client. */
void calls_init(struct calls *calls, const char *name, const struct call_way *way, void *client);
void call_done(struct call_job *job, const void *result); /* the job is gone */

#endif
