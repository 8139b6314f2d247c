/*
 * transport_ses.c: sends mails over the API of Amazon SES, version 2 (SendEmail with the whole message)
 *
 * Owns:      its own HTTP client.
 * Promises:  asks for the claim when all but the last byte of the body is sent. If it must not go, the
 *            connection is cut and SES never had the whole mail. An error that is not the mail's fault (our
 *            credentials, our account, our configuration) leaves the mail unsent, so that it can be tried
 *            again.
 * Fails by:  mail_result per mail; die() at start on settings that cannot work. After the last byte, an
 *            answer that does not tell whether SES took the mail (500, 502, 504, none) is unknown, and the
 *            mail is never repeated.
 * Read next: calls.h
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/calls.h"
#include "services/kit/http/http.h"
#include "services/kit/mail/compose.h"
#include "services/kit/mail/transport.h"
#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * What an answer of SES means for the mail
 *
 * Names of errors: the API reference of SES version 2, SendEmail, and its errors common to all actions.
 */

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

/*
 * A 200 that comes before the last byte left proves nothing; a 200 without a MessageId does not tell that SES
 * took the mail.
 */
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

#define ANSWER_WITHIN_US (10 * US_PER_MINUTE) /* what the claim may wait included; below the sender's own deadline */

struct ses {
	struct calls calls; /* first */
	char endpoint[256], region[32], configuration_set[80], ca[256];
};

/* ---- the request ---- */

static json_t *encoded(struct bytes mime)
{
	char *text = memory_new(4 * (mime.len + 2) / 3 + 1);
	int len = EVP_EncodeBlock((unsigned char *)text, mime.data, (int)mime.len);
	json_t *ret = json_stringn(text, (size_t)len);
	free(text);
	return ret;
}

/* SES names a reminder by this tag in its later events. A tag's value may have no dot. */
static void add_tag(const struct mail *mail, json_t *body)
{
	char tag[MAIL_LOCAL_MAX];
	if (!mail_local_read(mail->message_id, tag))
		return;
	tag[1] = '-';
	json_object_set_new(body, "EmailTags", json_pack("[{s:s,s:s}]", "Name", MAIL_SES_TAG, "Value", tag));
}

/* The recipient comes from the envelope, not from the headers. */
static int write_body(const struct ses *ses, const struct mail *mail, struct buffer *ret)
{
	json_t *body = json_pack("{s:{s:{s:o}},s:{s:[s]}}", "Content", "Raw", "Data",
		encoded(buffer_bytes(&mail->mime)), "Destination", "ToAddresses", mail->envelope_to);
	if (body && ses->configuration_set[0])
		json_object_set_new(body, "ConfigurationSetName", json_string(ses->configuration_set));
	if (body)
		add_tag(mail, body);
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	if (text)
		buffer_add_text(ret, text);
	free(text);
	json_decref(body);
	return ret->len > 0 ? 0 : -EINVAL;
}

static int write_request(const struct ses *ses, const struct mail *mail, struct http_request *ret)
{
	if (!mail_envelope_valid(mail->envelope_to) || !mail_lines_valid(buffer_bytes(&mail->mime)))
		return -EINVAL;
	int r = http_request_init(ret, "POST", "%s/v2/email/outbound-emails", ses->endpoint);
	if (r == 0)
		r = http_request_header(ret, "Content-Type", "application/json");
	if (r == 0)
		r = write_body(ses, mail, &ret->body);
	ret->auth.kind = HTTP_AUTH_SIGV4;
	TEXT_COPY(ret->auth.secret, "ses.key");
	TEXT_COPY(ret->auth.region, ses->region);
	TEXT_COPY(ret->auth.service, "ses");
	TEXT_COPY(ret->ca, ses->ca);
	ret->deadline_us = ANSWER_WITHIN_US;
	ret->reach = HTTP_REACH_ADMIN;
	ret->holds = mail->claim;
	ret->wanted[0] = SES_ERROR_HEADER;
	return r;
}

static const void *ask(struct calls *calls, struct call_job *job)
{
	return write_request((const struct ses *)calls, job->request, &job->made) == 0 ? &job->made : NULL;
}

static void answered(struct calls *calls, struct call_job *job, const struct http_answer *answer)
{
	struct mail_result result =
		mail_result_of(MAIL_REFUSED, "ses", "not a mail that may be sent: its lines or its envelope");
	(void)calls;
	if (ses_is_throttled(answer))
		metrics_throttled_by("mail");
	if (job->call)
		result = ses_result_of(answer, answer->went);
	call_done(job, &result);
}

struct effect_driver *transport_ses_new(const struct ses_settings *settings)
{
	struct ses *ses = memory_new(sizeof(*ses));
	TEXT_COPY(ses->region, settings->region);
	if (settings->endpoint)
		TEXT_COPY(ses->endpoint, settings->endpoint);
	else
		snprintf(ses->endpoint, sizeof(ses->endpoint), "https://email.%s.amazonaws.com", ses->region);
	TEXT_COPY(ses->configuration_set, settings->configuration_set ? settings->configuration_set : "");
	TEXT_COPY(ses->ca, settings->ca ? settings->ca : "");
	calls_init(&ses->calls, "mail", &http_calls, http_client_new(&settings->http));
	ses->calls.ask = ask;
	ses->calls.answered = answered;
	ses->calls.driver.noted = true;
	return &ses->calls.driver;
}
