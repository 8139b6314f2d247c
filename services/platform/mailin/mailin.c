/*
 * mailin.c: takes bounces and complaints that come back as mails, and fetches what SNS needs
 *
 * Hears:     feedback.fetch
 * Remembers: document, reminder.sent, reminder.ambiguous
 * Says:      mail.feedback, feedback.certificate, audit; and what systems register
 * Promises:  a mail leaves its folder only when its message is confirmed, when it is put aside, or when it
 *            asks for nothing; a forged mail cannot put another person's address on the list.
 * Read next: mailbox.c (finds the route of a mail), folder.c, lmtp_server.c (take mails), report.c (reads
 *            them), match.c (finds the shopper)
 */
#include "services/platform/mailin/mailin.h"
#include "bus/actor/service.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/documents/docs.h"
#include "services/kit/http/http.h"
#include "services/kit/http/sns.h"
#include "services/kit/mail/inbound/route.h"
#include "services/platform/mailin/match.h"
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

/* --- publishing what a returned mail says --- */

/* The bounces of two shoppers may be equal, byte by byte: then only the envelope tells whose each one is. */
static void print_subject(const char *shop, const MailFeedback *feedback, struct buffer *ret)
{
	buffer_printf(ret, "%s\n%s\n%s\n%u\n", shop, feedback->address_hash, feedback->cart_id, feedback->step);
}

int feedback_publish(struct runtime *runtime, const char *shop, const MailFeedback *feedback, struct bytes mail,
	said_fn *answer, void *context)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	_cleanup_(buffer_free) struct buffer subject = { 0 };
	char hex[2 * SHA256_DIGEST_LENGTH + 1], idem[80];
	const struct publish_options how = { .shop = shop, .key = feedback->address_hash, .idem = idem };

	print_subject(shop, feedback, &subject);
	buffer_add(&subject, mail.data, mail.len);
	SHA256(subject.data, subject.len, digest);
	text_hex(digest, SHA256_DIGEST_LENGTH, hex);
	snprintf(idem, sizeof(idem), "mail:%s", hex);
	return runtime_publish(runtime, &topic_mail_feedback, &how, NULL, feedback, answer, context);
}

/*
 * Fetches from SNS for the gateway
 *
 * The gateway takes requests from everybody and may not connect to the internet; this process may, and takes
 * requests from the bus alone.
 *
 * Promises:  only addresses of SNS itself are fetched, over TLS that the system's authorities vouch for; a
 *            certificate is published only if it is valid now and has an RSA key of 2048 bits or more; each
 *            fetch is on record.
 * Fails by:  trying again, then a dead letter. A confirmation whose answer was lost may be repeated: the
 *            second one changes nothing.
 */

static const struct effect_kind fetch_effect;

#define FETCH_WITHIN_US (20 * US_PER_S)
#define AGAIN_US (2 * US_PER_S)
enum { ANSWER_MOST = 64 * 1024 };

static bool is_allowed(const FeedbackFetch *wanted)
{
	switch (wanted->kind) {
	case FETCH_CERTIFICATE:
		return sns_certificate_url_valid(wanted->url, wanted->topic_arn);
	case FETCH_SUBSCRIBE:
		return sns_subscribe_url_valid(wanted->url, wanted->topic_arn);
	}
	return false;
}

static enum verdict fetch_hear(const struct state *state, const FeedbackFetch *wanted, struct turn *turn)
{
	(void)state;
	if (!is_allowed(wanted))
		return turn_dead_letter(turn, "this is no address of SNS that may be fetched");
	struct http_request *request = memory_new(sizeof(*request));
	http_request_init(request, "GET", "%s", wanted->url);
	request->reach = HTTP_REACH_PUBLIC;
	request->deadline_us = FETCH_WITHIN_US;
	request->most_bytes = ANSWER_MOST;
	return turn_effect(turn, &fetch_effect, (void **)&request);
}

static void say_audit(struct turn *turn, const char *action, const FeedbackFetch *wanted)
{
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, "system");
	snprintf(audit.grounds, sizeof(audit.grounds), "%s", wanted->topic_arn);
	SAY(turn, audit, &audit, .shop = turn_message(turn)->shop, .key = turn_message(turn)->shop);
}

static enum verdict take_certificate(const FeedbackFetch *wanted, struct bytes body, struct turn *turn)
{
	FeedbackCertificate certificate = { .fetched_us = turn_now_us(turn) };
	EVP_PKEY *key = NULL;
	if (!TEXT_COPY(certificate.url, wanted->url) ||
		!text_copy_bytes(certificate.pem, sizeof(certificate.pem), body) || strlen(certificate.pem) != body.len)
		return turn_dead_letter(turn, "the certificate is longer than one is");
	const char *trouble = sns_certificate_key(certificate.pem, turn_now_us(turn), &key);
	EVP_PKEY_free(key);
	if (trouble)
		return turn_dead_letter(turn, trouble);
	SAY(turn, feedback_certificate, &certificate, .shop = SHOP_OF_ALL, .key = turn_message(turn)->key,
		.version = (uint64_t)certificate.fetched_us);
	say_audit(turn, "sns_certificate", wanted);
	return TURN_DONE;
}

static enum verdict fetch_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const FeedbackFetch *wanted = message;
	const struct http_answer *answer = result;
	(void)state, (void)request, (void)claimed;
	if (!answer || answer->end != HTTP_ANSWERED || answer->status >= 500 || answer->status == 429)
		return turn_failed(turn, AGAIN_US, answer ? answer->words : "no answer within the deadline");
	if (answer->status != 200)
		return turn_dead_letter(turn, answer->words);
	if (wanted->kind == FETCH_CERTIFICATE)
		return take_certificate(wanted, answer->body, turn);
	say_audit(turn, "sns_subscribed", wanted);
	return TURN_DONE;
}

static void request_free(void *request)
{
	if (request)
		http_request_clear(request);
	free(request);
}

static const struct effect_kind fetch_effect = {
	.name = "http",
	.request_free = request_free,
	.deadline_us = 2 * FETCH_WITHIN_US,
	.decide = fetch_decide,
};

/* ---- the service ---- */

const struct service mailin = {
	.name = "mailin",
	.hears = HEARING(HEARS(feedback_fetch, fetch_hear)),
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember),
		REMEMBERS_FOR_A_WHILE(reminder_sent, match_remember_outcome),
		REMEMBERS_FOR_A_WHILE(reminder_ambiguous, match_remember_outcome)),
	.says = SAYING(SAYS(mail_feedback), SAYS(feedback_certificate), SAYS(audit)),
	.says_also = registered_mail_route_topics,
	.effects = RUNNING(&fetch_effect),
};
