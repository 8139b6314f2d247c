/*
 * fetcher.c: fetches each named document as plain text, every fifteen minutes
 *
 * Owns:      when each document is fetched next, and the request that runs for it.
 * Promises:  the loop never waits for Google; a document is judged like a file, after its byte order mark and
 *            the CR of its line ends are gone.
 * Fails by:  trying again after a minute; mirror_not_fetched (an alarm) when Google refuses, or after three failures in a row.
 * Read next: mirror.c, services/kit/google/google.h. Source: developers.google.com, Drive API v3, files.export.
 */
#include "services/platform/mirror/fetcher.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mirror/mirror.h"
#include <stdio.h>
#include <stdlib.h>

enum {
	FAILURES_TOLERATED = 3,
	BODY_TIMES = 4 /* how much longer than the longest text a body may be: its line ends are CRLF */
};
#define EVERY_US (15 * US_PER_MINUTE)
#define AGAIN_US US_PER_MINUTE
#define RETRY_MOST_US US_PER_HOUR
#define SOONEST_US (200 * US_PER_MS) /* also when a demo's clock runs fast */

struct document {
	struct list hook;
	struct fetcher *fetcher;
	const struct document_kind *row;
	char shop[64], kind[DOCUMENT_KIND_ROOM], id[GOOGLE_ID_MAX + 1];
	int64_t due_us; /* boot time */
	int failures;
	bool is_named;
	struct google_request request;
	struct google_call *call;
};

struct fetcher {
	struct google *google;
	const struct clock *clock;
	const char *api;
	struct mirror *into;
	struct list documents;
};

struct fetcher *fetcher_new(const struct google_settings *settings, const char *api, struct mirror *into)
{
	struct fetcher *fetcher = memory_new(sizeof(*fetcher));

	fetcher->google = google_new(settings);
	fetcher->clock = settings->http.clock;
	fetcher->api = api;
	fetcher->into = into;
	list_init(&fetcher->documents);
	return fetcher;
}

static void forget(struct document *document)
{
	google_call_stop(document->call);
	http_request_clear(&document->request.http);
	list_remove(&document->hook);
	free(document);
}

void fetcher_free(struct fetcher *fetcher)
{
	if (!fetcher)
		return;
	LIST_EACH_SAFE (hook, &fetcher->documents)
		forget(LIST_ENTRY(hook, struct document, hook));
	google_free(fetcher->google);
	free(fetcher);
}

int fetcher_fd(const struct fetcher *fetcher)
{
	return google_fd(fetcher->google);
}

void fetcher_wake(struct fetcher *fetcher)
{
	google_work(fetcher->google);
}

/* ---- which there are ---- */

static void note(const struct shop_docs *docs, void *context)
{
	struct fetcher *fetcher = context;

	for (size_t i = 0; i < docs->count; i++) {
		const struct doc *doc = &docs->docs[i];
		struct document *found = NULL;
		if (!doc->is_remote || !doc->google[0])
			continue;
		LIST_EACH (hook, &fetcher->documents) {
			struct document *document = LIST_ENTRY(hook, struct document, hook);
			if (strcmp(document->shop, docs->shop) == 0 && strcmp(document->kind, doc->kind) == 0 &&
				strcmp(document->id, doc->google) == 0)
				found = document;
		}
		if (!found) {
			found = memory_new(sizeof(*found));
			found->fetcher = fetcher;
			found->row = doc->row;
			TEXT_COPY(found->shop, docs->shop);
			TEXT_COPY(found->kind, doc->kind);
			TEXT_COPY(found->id, doc->google);
			list_append(&fetcher->documents, &found->hook);
		}
		found->is_named = true;
	}
}

static void note_all(struct fetcher *fetcher)
{
	LIST_EACH (hook, &fetcher->documents)
		LIST_ENTRY(hook, struct document, hook)->is_named = false;
	mirror_each(fetcher->into, note, fetcher);
	LIST_EACH_SAFE (hook, &fetcher->documents) {
		struct document *document = LIST_ENTRY(hook, struct document, hook);
		if (!document->is_named)
			forget(document);
	}
}

/* ---- one fetch ---- */

static void wait_for(struct document *document, int64_t us)
{
	int64_t wait_us = (int64_t)((double)us / document->fetcher->clock->rate);

	document->due_us = clock_boot_us(document->fetcher->clock) + (wait_us > SOONEST_US ? wait_us : SOONEST_US);
}

void fetcher_text(struct bytes body, struct buffer *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	const char *at = body.data, *end = at + body.len;

	if (body.len >= 3 && memcmp(at, mark, 3) == 0)
		at += 3;
	for (; at < end; at++)
		if (*at != '\r' || at + 1 == end || at[1] != '\n')
			buffer_add(ret, at, 1);
}

static void take(struct document *document, struct bytes body)
{
	struct buffer text = { 0 };

	fetcher_text(body, &text);
	if (mirror_fetched(document->fetcher->into, document->shop, document->kind, document->id, buffer_bytes(&text)))
		log_event(LOG_NOTICE, "fetched shop=%s document=%s", document->shop, document->kind);
	buffer_free(&text);
	document->failures = 0;
	wait_for(document, EVERY_US);
}

static void take_failure(struct document *document, const struct http_answer *answer)
{
	bool is_later = answer->status == 401 || answer->status == 408 || answer->status == 429;
	bool is_refusal = answer->end == HTTP_BARRED ||
		(answer->end == HTTP_ANSWERED && answer->status >= 300 && answer->status < 500 && !is_later);

	document->failures++;
	if (is_refusal || document->failures >= FAILURES_TOLERATED) {
		if (mirror_not_fetched(
			    document->fetcher->into, document->shop, document->kind, document->id, answer->words))
			log_event(LOG_ERROR, "cannot fetch shop=%s document=%s: %s", document->shop, document->kind,
				answer->words);
		wait_for(document, http_answer_retry_us(answer, EVERY_US, RETRY_MOST_US));
		return;
	}
	wait_for(document, http_answer_retry_us(answer, AGAIN_US, RETRY_MOST_US));
}

static void on_done(void *context, const struct http_answer *answer)
{
	struct document *document = context;

	document->call = NULL;
	http_request_clear(&document->request.http);
	if (answer->end == HTTP_ANSWERED && answer->status == 200)
		take(document, answer->body);
	else
		take_failure(document, answer);
}

static const struct http_caller caller = { .done = on_done };

static void fetch(struct document *document)
{
	struct fetcher *fetcher = document->fetcher;
	struct http_request *http = &document->request.http;

	http_request_init(
		http, "GET", "%.256s/drive/v3/files/%s/export?mimeType=text/plain", fetcher->api, document->id);
	http->reach = HTTP_REACH_ADMIN;
	http->most_bytes = BODY_TIMES * document->row->bytes_max;
	http->wanted[0] = "Retry-After";
	document->request.scope = GOOGLE_SCOPE_DRIVE;
	document->call = google_call_new(fetcher->google, &document->request, &caller, document);
}

int64_t fetcher_look(struct fetcher *fetcher, int64_t boot_us)
{
	int64_t wait_us;

	note_all(fetcher);
	LIST_EACH (hook, &fetcher->documents) {
		struct document *document = LIST_ENTRY(hook, struct document, hook);
		if (!document->call && document->due_us <= boot_us)
			fetch(document);
	}
	google_work(fetcher->google);
	wait_us = google_wait_us(fetcher->google);
	LIST_EACH (hook, &fetcher->documents) {
		const struct document *document = LIST_ENTRY(hook, struct document, hook);
		int64_t left_us = document->due_us > boot_us ? document->due_us - boot_us : 0;
		if (!document->call && (wait_us < 0 || left_us < wait_us))
			wait_us = left_us;
	}
	return wait_us;
}
