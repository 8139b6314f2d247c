/*
 * calls.c: effects that are calls over HTTP
 *
 * Owns:      the job of each running effect, and the client.
 * Promises:  a call that holds sends its last byte only after proceed(true), and not if its claim is too old
 *            by then. A job without a request ends in work() like all others, because a driver must not
 *            answer within start().
 * Read next: http.h, bus/actor/effect.h, breaker.c (a driver of this kind)
 */
#include "services/kit/http/calls.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdlib.h>

static struct call_job *find(const struct calls *calls, const struct effect *effect)
{
	LIST_EACH (hook, &calls->jobs) {
		struct call_job *job = LIST_ENTRY(hook, struct call_job, hook);
		if (job->effect == effect)
			return job;
	}
	return NULL;
}

static struct call_job *first_not_asked(const struct calls *calls)
{
	LIST_EACH (hook, &calls->jobs) {
		struct call_job *job = LIST_ENTRY(hook, struct call_job, hook);
		if (!job->call)
			return job;
	}
	return NULL;
}

static void job_free(struct call_job *job)
{
	list_remove(&job->hook);
	http_request_clear(&job->made);
	free(job);
}

void call_done(struct call_job *job, const void *result)
{
	struct effect *effect = job->effect;
	job_free(job);
	effect_done(effect, result);
}

/* ---- the call ---- */

static void on_held(void *context, struct http_call *held)
{
	struct call_job *job = context;
	job->held = held;
	effect_claim(job->effect);
}

static int64_t on_until_us(void *context)
{
	return effect_until_us(((const struct call_job *)context)->effect);
}

static void on_done(void *context, const struct http_answer *answer)
{
	struct call_job *job = context;
	if (job->calls->answered)
		job->calls->answered(job->calls, job, answer);
	else
		call_done(job, answer);
}

static const struct http_caller caller = { .held = on_held, .until_us = on_until_us, .done = on_done };

/* ---- the driver ---- */

static void calls_start(void *self, struct effect *effect, const void *request)
{
	struct calls *calls = self;
	struct call_job *job = memory_new(sizeof(*job));
	job->calls = calls;
	job->effect = effect;
	job->request = request;
	list_append(&calls->jobs, &job->hook);
	if (calls->ask)
		request = calls->ask(calls, job);
	if (request)
		job->call = calls->way->begin(calls->client, request, &caller, job);
}

static void calls_proceed(void *self, struct effect *effect, bool go)
{
	const struct call_job *job = find(self, effect);
	if (job && job->held)
		http_call_proceed(job->held, go);
}

static void calls_stop(void *self, struct effect *effect)
{
	struct calls *calls = self;
	struct call_job *job = find(calls, effect);
	if (!job)
		return;
	calls->way->stop(job->call);
	job_free(job);
}

static int calls_fd(void *self)
{
	const struct calls *calls = self;
	return calls->way->fd(calls->client);
}

static int64_t calls_wait_us(void *self)
{
	const struct calls *calls = self;
	return first_not_asked(calls) ? 0 : calls->way->wait_us(calls->client);
}

static void calls_work(void *self)
{
	struct calls *calls = self;
	struct call_job *job;
	while ((job = first_not_asked(calls))) {
		struct http_answer answer = { .end = HTTP_NOT_SENT };
		TEXT_COPY(answer.words, job->why);
		on_done(job, &answer);
	}
	calls->way->work(calls->client);
}

static void calls_close(void *self)
{
	struct calls *calls = self;
	calls->way->free(calls->client); /* also frees its calls, which borrow from the jobs */
	while (!list_empty(&calls->jobs))
		job_free(LIST_ENTRY(calls->jobs.next, struct call_job, hook));
	if (calls->close)
		calls->close(calls);
	free(calls);
}

void calls_init(struct calls *calls, const char *name, const struct call_way *way, void *client)
{
	list_init(&calls->jobs);
	calls->way = way;
	calls->client = client;
	calls->driver = (struct effect_driver){ .name = name,
		.self = calls,
		.start = calls_start,
		.proceed = calls_proceed,
		.stop = calls_stop,
		.fd = calls_fd,
		.wait_us = calls_wait_us,
		.work = calls_work,
		.close = calls_close };
}

/* ---- calls of an http_client ---- */

static void *http_begin(void *client, const void *request, const struct http_caller *asks, void *context)
{
	return http_call_new(client, request, asks, context);
}

static void http_stop(void *call)
{
	http_call_stop(call);
}

static int http_fd(const void *client)
{
	return http_client_fd(client);
}

static int64_t http_wait_us(const void *client)
{
	return http_client_wait_us(client);
}

static void http_work(void *client)
{
	http_client_work(client);
}

static void http_free(void *client)
{
	http_client_free(client);
}

const struct call_way http_calls = { http_begin, http_stop, http_fd, http_wait_us, http_work, http_free };
