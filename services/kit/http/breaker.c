/*
 * breaker.c: HTTP requests as effects; a host that failed several times in a row gets no requests for a while
 *
 * Owns:      in memory, the failures of each host since its last answer (each process counts for itself), and
 *            the number of times that a key of ours was refused.
 * Promises:  during a pause at most one request per `pause_us` reaches the host, and the first answer ends
 *            the pause.
 * Read next: calls.c, circuit.h
 */
#include "services/kit/http/breaker.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/effect/circuit.h"
#include "services/kit/http/calls.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct host {
	struct list hook;
	char origin[280]; /* https://name:port */
	struct circuit circuit;
};

struct http_breaker {
	struct circuit fresh; /* the circuit of a host that has not failed */
	struct list hosts;    /* hosts that have failed since their last answer */
};

struct http_breaker *http_breaker_new(int failures, int64_t pause_us)
{
	struct http_breaker *breaker = memory_new(sizeof(*breaker));
	breaker->fresh = (struct circuit){ .failures = failures, .first_us = pause_us, .most_us = pause_us };
	list_init(&breaker->hosts);
	return breaker;
}

static void host_free(struct host *host)
{
	list_remove(&host->hook);
	free(host);
}

void http_breaker_free(struct http_breaker *breaker)
{
	if (!breaker)
		return;
	while (!list_empty(&breaker->hosts))
		host_free(LIST_ENTRY(breaker->hosts.next, struct host, hook));
	free(breaker);
}

static struct bytes origin_of(const char *url)
{
	const char *host = strstr(url, "://");
	size_t before = host ? (size_t)(host + 3 - url) : 0;
	return BYTES(url, before + strcspn(url + before, "/?#"));
}

static struct host *find(const struct http_breaker *breaker, const char *url)
{
	LIST_EACH (hook, &breaker->hosts) {
		struct host *host = LIST_ENTRY(hook, struct host, hook);
		if (bytes_equal(bytes_of(host->origin), origin_of(url)))
			return host;
	}
	return NULL;
}

bool http_breaker_lets(struct http_breaker *breaker, const char *url, int64_t now_us, char ret_why[160])
{
	struct host *host = find(breaker, url);
	if (!host)
		return true;
	if (circuit_may_try(&host->circuit, now_us)) {
		circuit_tried(&host->circuit, now_us);
		return true;
	}
	snprintf(ret_why, 160, "not asked: it failed %d times in a row and is left alone for a while",
		host->circuit.failed);
	return false;
}

static struct host *host_new(struct http_breaker *breaker, const char *url)
{
	struct host *host = memory_new(sizeof(*host));
	text_copy_bytes(host->origin, sizeof(host->origin), origin_of(url));
	host->circuit = breaker->fresh;
	list_append(&breaker->hosts, &host->hook);
	return host;
}

void http_breaker_note(struct http_breaker *breaker, const char *url, const struct http_answer *answer, int64_t now_us)
{
	struct host *host = find(breaker, url);
	bool good = answer->end == HTTP_ANSWERED && answer->status < 500 && answer->status != 429;
	if (answer->end == HTTP_BARRED || !breaker->fresh.failures || (good && !host))
		return;
	if (good) {
		host_free(host);
		return;
	}
	if (!host)
		host = host_new(breaker, url);
	if (circuit_failed(&host->circuit, now_us))
		log_event(LOG_WARNING, "%s failed %d times in a row (%s): nothing is asked of it for %lld s",
			host->origin, host->circuit.failed, answer->words,
			(long long)(host->circuit.pause_us / US_PER_S));
}

/* --- the driver --- */

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

/* A host that never answers counts too, because libcurl's deadline is shorter than the effect's. */
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
