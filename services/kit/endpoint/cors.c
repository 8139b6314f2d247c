/*
 * cors.c: the headers that let scripts of other origins read an answer (https://fetch.spec.whatwg.org, CORS)
 *
 * Promises:  an origin is named only if the endpoint allows it, and never as `*`. A cache keeps the answers to two origins apart.
 */
#include "services/kit/endpoint/endpoint.h"
#include <string.h>

enum { ORIGIN_MOST = 300 }; /* bytes */

bool cors_origin_is_listed(const char *list, const char *origin)
{
	static const char between[] = " ,\t";
	size_t len = strlen(origin);

	if (len == 0 || strcmp(origin, "null") == 0)
		return false;
	for (list += strspn(list, between); *list; list += strspn(list, between)) {
		size_t item = strcspn(list, between);

		if (item == len && memcmp(list, origin, len) == 0)
			return true;
		list += item;
	}
	return false;
}

/* The origin of the request, if the endpoint allows it; NULL: none, or not allowed. */
static const char *allowed_origin(const struct submission *submission)
{
	const char *origin = request_header(submission->request, "Origin");

	if (!origin || !*origin || strlen(origin) > ORIGIN_MOST ||
		request_header_repeated(submission->request, "Origin"))
		return NULL;
	return submission->cors->allows(submission, origin) ? origin : NULL;
}

void cors_dress(struct submission *submission)
{
	const char *origin = allowed_origin(submission);

	answer_add(submission->answer, "Vary", "Origin");
	if (!origin)
		return;
	answer_add(submission->answer, "Access-Control-Allow-Origin", origin);
	answer_add(submission->answer, "Access-Control-Expose-Headers", "Retry-After");
}

void cors_answer_options(struct submission *submission)
{
	struct answer *answer = submission->answer;

	answer->status = 204;
	answer->allow = submission->allow;
	if (!request_header(submission->request, "Access-Control-Request-Method") || !allowed_origin(submission))
		return;
	answer_add(answer, "Access-Control-Allow-Methods", submission->allow);
	if (submission->cors->headers)
		answer_add(answer, "Access-Control-Allow-Headers", submission->cors->headers);
	answer_add(answer, "Access-Control-Max-Age", "7200"); /* seconds: the most that Chromium remembers */
}
