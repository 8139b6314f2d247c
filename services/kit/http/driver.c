/*
 * driver.c: requests as effects
 *
 * Owns:      what it knows of the hosts that failed, and how often a key of ours was refused.
 * Read next: calls.c, breaker.h
 */
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/kit/http/breaker.h"
#include "services/kit/http/calls.h"
#include <inttypes.h>

struct http_driver {
	struct calls calls; /* first */
	const struct clock *clock;
	struct http_breaker *breaker;
	uint64_t refusals; /* of our keys */
};

static const void *ask(struct calls *calls, struct call_job *job)
{
	struct http_driver *http = (struct http_driver *)calls;
	const struct http_request *asked = job->request;
	return http_breaker_lets(http->breaker, asked->url, clock_boot_us(http->clock), job->why) ? asked : NULL;
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

/* A host that was cut off at the effect's deadline has failed by libcurl's own, which is shorter. */
static void answered(struct calls *calls, struct call_job *job, const struct http_answer *answer)
{
	struct http_driver *http = (struct http_driver *)calls;
	const struct http_request *request = job->request;
	if (job->call) {
		http_breaker_note(http->breaker, request->url, answer, clock_boot_us(http->clock));
		note_refusal(http, request, answer);
	}
	call_done(job, answer);
}

static void leave(struct calls *calls)
{
	http_breaker_free(((struct http_driver *)calls)->breaker);
}

struct effect_driver *http_driver_new(const char *name, const struct http_settings *settings)
{
	struct http_driver *http = memory_new(sizeof(*http));
	http->clock = settings->clock;
	http->breaker = http_breaker_new(settings->failures, settings->pause_us);
	calls_init(&http->calls, name, &http_calls, http_client_new(settings));
	http->calls.ask = ask;
	http->calls.answered = answered;
	http->calls.close = leave;
	return &http->calls.driver;
}
