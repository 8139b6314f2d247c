/*
 * transport_ses.c: mails over the API of Amazon SES, version 2 (SendEmail with the whole message as it was composed)
 *
 * Owns:      the HTTP client of its own.
 * Promises:  the claim is asked for when all but the last byte of the body is out; without a yes the connection is cut and SES never had
 *            the mail. An error that a mail cannot be blamed for (our credentials, our account, our configuration) spends no mail.
 * Fails by:  mail_result per mail; die() at start on settings that cannot work. After the last byte an answer that does not say
 *            whether SES took it (500, 502, 504, none) is unknown and never repeated.
 * Read next: calls.h, transport_ses_answer.c (what the answers mean)
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/calls.h"
#include "services/kit/mail/compose.h"
#include "services/kit/mail/transport.h"
#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>

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

/* What SES tells later about a reminder names it so; a tag's value knows no dot. */
static void add_tag(const struct mail *mail, json_t *body)
{
	char tag[MAIL_LOCAL_MAX];
	if (!mail_local_read(mail->message_id, tag))
		return;
	tag[1] = '-';
	json_object_set_new(body, "EmailTags", json_pack("[{s:s,s:s}]", "Name", MAIL_SES_TAG, "Value", tag));
}

/* The recipient is the envelope's, not that of the headers. */
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
		counts_throttled_by("mail");
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
