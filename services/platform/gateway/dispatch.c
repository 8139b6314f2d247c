/*
 * dispatch.c: finds the endpoint of a request, publishes its messages, and answers it
 *
 * Promises:  a request is routed once. Every request gets an answer that says in words what happened. The end of a submission is the
 *            worst end of its messages, so a sender that repeats the request loses nothing.
 * Fails by:  404 and 405 in words.
 * Read next: services/kit/endpoint/endpoint.h, route.c, publisher.c
 */
#include "services/platform/gateway/dispatch.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/endpoint/endpoint.h"
#include "services/platform/gateway/route.h"

void dispatch_check(void)
{
	const char *why = route_check(registered_endpoints);

	if (why)
		die("%s", why);
}

struct submission *dispatch_begin(
	struct endpoint_context *context, struct request *request, struct answer *answer, size_t *body_most)
{
	struct submission *submission = memory_new(sizeof(*submission));

	submission->context = context;
	submission->request = request;
	submission->answer = answer;
	route_find(registered_endpoints, request->method, request->path, submission);
	if (submission->endpoint && submission->endpoint->body_most)
		*body_most = submission->endpoint->body_most;
	return submission;
}

static bool refuse(struct submission *submission, unsigned status, const char *words)
{
	submission->context->counters->malformed++;
	answer_json_error(submission->answer, status, words);
	return false;
}

static bool refuse_unknown(struct submission *submission)
{
	_cleanup_(buffer_free) struct buffer words = { 0 }, places = { 0 };

	if (submission->allow && submission->cors && strcmp(submission->request->method, "OPTIONS") == 0) {
		cors_answer_options(submission);
		return false;
	}
	if (submission->allow) {
		submission->answer->allow = submission->allow;
		return refuse(submission, 405, "this address does not understand that method");
	}
	route_name_all(registered_endpoints, &places);
	buffer_add_text(&words, "nothing is here");
	if (places.len > 0)
		buffer_printf(&words, "; webhooks go to %s", buffer_text(&places));
	return refuse(submission, 404, buffer_text(&words));
}

bool dispatch_prove(struct submission *submission)
{
	const struct endpoint *endpoint = submission->endpoint;

	if (!endpoint)
		return refuse_unknown(submission);
	return !endpoint->prove || endpoint->prove(submission);
}

void dispatch_dress(struct submission *submission)
{
	/* A page loads nothing, cannot be framed, and tells no other site its address. */
	static const struct http_header of_pages[] = { { "Referrer-Policy", "no-referrer" },
		{ "Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'" },
		{ NULL, NULL } };
	const char *type = submission->answer->content_type;

	if (type && text_starts(type, "text/html"))
		submission->answer->more = of_pages;
	if (submission->cors)
		cors_dress(submission);
}

bool dispatch_read(struct submission *submission)
{
	const struct endpoint *endpoint = submission->endpoint;

	if (!endpoint->read(submission))
		return false;
	if (endpoint->answer && submission->message_count > 0)
		return true;
	log_event(LOG_ERROR, "the endpoint %s has %s: the request is refused", endpoint->path,
		endpoint->answer ? "read a request and said nothing" : "said something and cannot answer");
	buffer_clear(&submission->answer->body);
	answer_json_error(submission->answer, 503, "this address does not work now");
	return false;
}

void dispatch_end(struct submission *submission, enum submission_end end, uint64_t seq, const char *why)
{
	if (end >= submission->end) {
		submission->end = end;
		submission->seq = seq;
		TEXT_COPY(submission->why_room, why ? why : "");
	}
	if (--submission->unanswered > 0)
		return;
	submission->why = submission->message_count == 1 ? why : submission->why_room;
	submission->endpoint->answer(submission);
	submission->on_end(submission);
}

static void on_published(void *context, enum submission_end end, uint64_t seq, const char *why)
{
	dispatch_end(context, end, seq, why);
}

void dispatch_publish(struct publisher *publisher, struct submission *submission)
{
	submission->published = true;
	submission->end = SUBMISSION_DUPLICATE; /* the best end */
	submission->unanswered = submission->message_count;
	/* The publisher answers only from publisher_work or runtime_work: not before all are added. */
	for (int i = 0; i < submission->message_count; i++)
		publisher_add(publisher, &submission->messages[i], submission->stop, on_published, submission);
}
