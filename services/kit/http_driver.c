/*
 * http_driver.c: requests as effects
 *
 * Owns:      the call of each running effect.
 * Promises:  of a request that holds, the last byte leaves only after proceed(true), and not if the claim's answer has grown old.
 * Read next: http.c, bus/actor/effect.h
 */
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http.h"
#include "services/kit/http_breaker.h"
#include <inttypes.h>
#include <stdlib.h>

struct http_driver {
	struct effect_driver driver;
	struct http_client *client;
	const struct clock *clock;
	struct http_breaker *breaker;
	uint64_t refusals; /* of our keys */
	struct list jobs;
};

struct job {
	struct list hook;
	struct http_driver *http;
	struct effect *effect;
	struct http_call *call; /* NULL: the breaker did not let it */
	char why[160];
};

static struct job *find(struct http_driver *http, const struct effect *effect)
{
	LIST_EACH (hook, &http->jobs) {
		struct job *job = LIST_ENTRY(hook, struct job, hook);
		if (job->effect == effect)
			return job;
	}
	return NULL;
}

static void job_free(struct job *job)
{
	list_remove(&job->hook);
	free(job);
}

static void on_held(void *context, struct http_call *call)
{
	const struct job *job = context;
	(void)call;
	effect_claim(job->effect);
}

static bool on_may_go(void *context)
{
	const struct job *job = context;
	return effect_may_go(job->effect);
}

static void note_refusal(struct http_driver *http, const struct http_request *request, const struct http_answer *answer)
{
	bool refuses = answer->end == HTTP_ANSWERED && (answer->status == 401 || answer->status == 403);
	if (!refuses || request->auth.kind == HTTP_AUTH_NONE || !*request->auth.secret)
		return;
	http->refusals++;
	log_event(LOG_WARNING, "the key in the secret file %s is refused: %s; refusals since the start: %" PRIu64,
		request->auth.secret, answer->words, http->refusals);
}

static void on_done(void *context, const struct http_answer *answer)
{
	struct job *job = context;
	struct effect *effect = job->effect;
	const struct http_request *request = effect_request(effect);
	http_breaker_note(job->http->breaker, request->url, answer, clock_boot_us(job->http->clock));
	note_refusal(job->http, request, answer);
	job_free(job);
	effect_done(effect, answer);
}

static const struct http_caller caller = { .held = on_held, .may_go = on_may_go, .done = on_done };

static void http_start(void *self, struct effect *effect, const void *request)
{
	struct http_driver *http = self;
	const struct http_request *asked = request;
	struct job *job = memory_new(sizeof(*job));
	job->http = http;
	job->effect = effect;
	list_append(&http->jobs, &job->hook);
	if (http_breaker_lets(http->breaker, asked->url, clock_boot_us(http->clock), job->why))
		job->call = http_call_new(http->client, request, &caller, job);
}

static void http_proceed(void *self, struct effect *effect, bool go)
{
	const struct job *job = find(self, effect);
	if (job && job->call)
		http_call_proceed(job->call, go);
}

static void http_stop(void *self, struct effect *effect)
{
	struct job *job = find(self, effect);
	if (!job)
		return;
	http_call_stop(job->call);
	job_free(job); /* a host that was cut off at the deadline has failed by libcurl's own, which is shorter */
}

static int http_fd(void *self)
{
	return http_client_fd(((struct http_driver *)self)->client);
}

static struct job *first_refused(struct http_driver *http)
{
	LIST_EACH (hook, &http->jobs) {
		struct job *job = LIST_ENTRY(hook, struct job, hook);
		if (!job->call)
			return job;
	}
	return NULL;
}

static int64_t http_wait(void *self)
{
	struct http_driver *http = self;
	return first_refused(http) ? 0 : http_client_wait_us(http->client);
}

static void tell_refused(struct http_driver *http)
{
	struct job *job;
	while ((job = first_refused(http))) {
		struct effect *effect = job->effect;
		struct http_answer answer = { .end = HTTP_NOT_SENT };
		TEXT_COPY(answer.words, job->why);
		job_free(job);
		effect_done(effect, &answer);
	}
}

static void http_work(void *self)
{
	struct http_driver *http = self;
	tell_refused(http);
	http_client_work(http->client);
}

static void http_close(void *self)
{
	struct http_driver *http = self;
	http_client_free(http->client);
	while (!list_empty(&http->jobs))
		job_free(LIST_ENTRY(http->jobs.next, struct job, hook));
	http_breaker_free(http->breaker);
	free(http);
}

struct effect_driver *http_driver_new(const char *name, const struct http_settings *settings)
{
	struct http_driver *http = memory_new(sizeof(*http));
	list_init(&http->jobs);
	http->client = http_client_new(settings);
	http->clock = settings->clock;
	http->breaker = http_breaker_new(settings->failures, settings->pause_us);
	http->driver = (struct effect_driver){ .name = name,
		.self = http,
		.start = http_start,
		.proceed = http_proceed,
		.stop = http_stop,
		.fd = http_fd,
		.wait_us = http_wait,
		.work = http_work,
		.close = http_close };
	return &http->driver;
}
