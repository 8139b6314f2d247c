/*
 * transport_ses_answer.c: what an answer of SES means for the mail
 *
 * Names of errors: the API reference of SES version 2, SendEmail, and its errors common to all actions.
 * Read next: transport_ses.c
 */
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "services/kit/mail/transport.h"
#include <jansson.h>
#include <stdio.h>

static const struct meaning {
	const char *name;
	enum mail_end end;
} meanings[] = {
	{ "MessageRejected", MAIL_REFUSED }, /* this mail */
	{ "BadRequestException", MAIL_REFUSED }, { "TooManyRequestsException", MAIL_LATER },
	{ "ThrottlingException", MAIL_LATER }, { "Throttling", MAIL_LATER },
	{ "LimitExceededException", MAIL_LATER }, /* the day's quota */
	{ "ConcurrentModificationException", MAIL_LATER }, { "ServiceUnavailable", MAIL_LATER },
	/* everything else of 4xx is about us: the account is paused or suspended, an identity is not verified, a configuration set does
	 * not exist, credentials are wrong or old, the clock is off */
};

/* "TooManyRequestsException:http://..." or "com.amazon...#TooManyRequestsException" */
static void name_of(const char *given, char ret[80])
{
	const char *hash = strchr(given, '#');
	const char *from = hash ? hash + 1 : given;
	text_copy_bytes(ret, 80, BYTES(from, strcspn(from, ":")));
}

static const char *member(const json_t *body, const char *name)
{
	const char *text = json_string_value(json_object_get(body, name));
	return text ? text : "";
}

static enum mail_end end_of_error(long status, const char *name, bool went)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (strcmp(name, meanings[i].name) == 0)
			return meanings[i].end;
	if (status == 429 || status == 503)
		return MAIL_LATER;
	if (status >= 400 && status < 500)
		return MAIL_NOT_SENT;
	return went ? MAIL_UNKNOWN : MAIL_NOT_SENT;
}

/* A 200 that we did not wait for proves nothing; one without a MessageId does not say that it is there. */
static enum mail_end end_of_success(const json_t *body, bool went)
{
	if (!went)
		return MAIL_NOT_SENT;
	return member(body, "MessageId")[0] ? MAIL_SENT : MAIL_UNKNOWN;
}

static const char *error_of(const struct http_answer *answer, const json_t *body, char ret[80])
{
	const char *header = http_answer_header(answer, SES_ERROR_HEADER);

	name_of(header ? header : member(body, "__type"), ret);
	return ret;
}

static json_t *body_of(const struct http_answer *answer)
{
	return json_loadb(answer->body.data ? answer->body.data : "", answer->body.len, 0, NULL);
}

bool ses_is_throttled(const struct http_answer *answer)
{
	static const char *const names[] = { "TooManyRequestsException", "ThrottlingException", "Throttling",
		"LimitExceededException" };
	json_t *body;
	char name[80];
	bool is_one = answer->status == 429;

	if (answer->end != HTTP_ANSWERED)
		return false;
	body = body_of(answer);
	error_of(answer, body, name);
	json_decref(body);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_one |= strcmp(name, names[i]) == 0;
	return is_one;
}

static struct mail_result result_of_status(const struct http_answer *answer, bool went)
{
	json_t *body = body_of(answer);
	struct mail_result ret = { .end = MAIL_NOT_SENT };
	char name[80], line[400];

	error_of(answer, body, name);
	ret.end = answer->status == 200 ? end_of_success(body, went) : end_of_error(answer->status, name, went);
	if (ret.end == MAIL_SENT)
		snprintf(line, sizeof(line), "MessageId %s", member(body, "MessageId"));
	else
		snprintf(line, sizeof(line), "HTTP %ld %s %s", answer->status, name, member(body, "message"));
	mail_words(line, strlen(line), ret.words);
	json_decref(body);
	return ret;
}

struct mail_result ses_result_of(const struct http_answer *answer, bool went)
{
	struct mail_result ret = { .end = MAIL_NOT_SENT };

	switch (answer->end) {
	case HTTP_ANSWERED:
		ret = result_of_status(answer, went);
		break;
	case HTTP_UNKNOWN:
		ret.end = went ? MAIL_UNKNOWN : MAIL_NOT_SENT;
		TEXT_COPY(ret.words, answer->words);
		break;
	case HTTP_NOT_SENT:
	case HTTP_BARRED:
		TEXT_COPY(ret.words, answer->words);
		break;
	}
	TEXT_COPY(ret.transport, "ses");
	return ret;
}
