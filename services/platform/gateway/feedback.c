/*
 * feedback.c: takes bounces and complaints that SES reports through SNS
 *
 * This process fetches nothing. By a message (feedback.fetch) it asks mailin to fetch an unknown certificate,
 * or to confirm a subscription. While a certificate is missing the answer is 503, and SNS repeats its post
 * three times, 20 s apart.
 *
 * Promises:  a post counts only if a topic on the shop's own list signed it within the last day; each
 *            recipient is published as a message of its own, whose idempotency key follows from SNS's message
 *            id, so a repetition changes nothing.
 * Fails by:  the answer: 400 the body is no message of SNS, 403 the message may not be believed, 404 the shop
 *            is unknown or has no topics, 503 SNS must come again. Refusals are counted and logged.
 * Read next: sns.c, ses_event.c, services/platform/mailin/mailin.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/sns.h"
#include "services/kit/shop/shop.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/gateway/ses_event.h"
#include "services/platform/gateway/sns.h"
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <sys/stat.h>

STATE_NUMBERS(certificate_version, "certificate.version");
STATE_TABLE(certificates, "certificate", FeedbackCertificate);

#define OLD_US US_PER_DAY
#define AHEAD_US (15 * US_PER_MINUTE)
#define ASK_EVERY_US (5 * US_PER_S) /* for certificates, because strangers can name any number of them */
enum { SHOP_CONF_MOST = 64 * 1024, FEEDBACK_MOST = 256 * 1024 }; /* SNS sends no more than 256 KB */

static void digest_name(const char *text, char ret[33])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA256((const unsigned char *)text, strlen(text), digest);
	text_hex(digest, 16, ret);
}

void feedback_remember_certificate(
	struct state *state, const struct message_meta *said, const FeedbackCertificate *fact)
{
	if (said->version >= STATE_NUMBER(state, certificate_version, said->shop, said->key)) {
		STATE_PUT_NUMBER(state, certificate_version, said->shop, said->key, said->version);
		STATE_PUT(state, certificates, said->shop, said->key, fact);
	}
}

static bool refuse(struct submission *submission, unsigned status, const char *words)
{
	struct endpoint_context *context = submission->context;

	context->counters->malformed += status == 400 || status == 404;
	context->counters->feedback_refused += status == 403;
	submission_warn(submission, &context->of_strangers, submission->names[0], words);
	buffer_clear(&submission->answer->body);
	answer_json_error(submission->answer, status, words);
	return false;
}

/* ---- may it be believed? ---- */

static bool is_same_file(const struct stat *now, const struct stat *then)
{
	return now->st_ino == then->st_ino && now->st_dev == then->st_dev && now->st_size == then->st_size &&
		now->st_mtim.tv_sec == then->st_mtim.tv_sec && now->st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

/*
 * NULL: there is no such shop, or its shop.conf is not valid. The last shop is kept while its file is
 * unchanged: the client has proven nothing yet, and must not cost a file read with each request.
 */
static const struct shop *load_shop(const struct submission *submission)
{
	const char *name = submission->names[0];
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	static struct shop shop; /* large */
	static struct stat read_then;
	struct stat now;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/shop.conf", submission->context->shops_folder, name);
	if (!shop_name_valid(name) || stat(path, &now) < 0)
		return NULL;
	if (is_same_file(&now, &read_then) && strcmp(shop.name, name) == 0)
		return &shop;
	read_then = (struct stat){ 0 };
	if (file_read(path, SHOP_CONF_MOST, &text) < 0 || shop_parse(buffer_text(&text), name, path, &shop, &error) < 0)
		return NULL;
	read_then = now;
	return &shop;
}

/* NULL: apart from the signature, nothing speaks against the message. Otherwise the reason for doubt. */
static const char *doubt(const struct shop *shop, const struct sns *sns, int64_t now_us)
{
	if (!shop_trusts_topic(shop, sns->topic_arn))
		return "its topic is not among the shop's: [mail] sns-topic in shop.conf";
	if (!sns_certificate_url_valid(sns->certificate_url, sns->topic_arn))
		return "its certificate does not lie with SNS in the topic's region";
	if (sns->at_us < now_us - OLD_US || sns->at_us > now_us + AHEAD_US)
		return "it was sent too long ago, or is yet to be sent";
	if (sns->kind == SNS_SUBSCRIBE && !sns_subscribe_url_valid(sns->subscribe_url, sns->topic_arn))
		return "its confirmation does not lie with SNS, or is another topic's";
	return NULL;
}

/* ---- the messages that follow ---- */

/* The data that answer_notice needs. */
struct kept {
	const char *come_again; /* why SNS must repeat its post in any case, a constant; NULL: it need not */
};

static bool ask_to_fetch(
	struct submission *submission, FeedbackFetchKind kind, const char *url, const char *topic_arn, const char *idem)
{
	FeedbackFetch fetch = { .kind = kind, .heard_us = clock_wall_us(submission->context->clock) };
	char key[33];
	struct publish_options how = { .shop = submission->names[0], .key = key, .idem = idem };

	digest_name(url, key);
	TEXT_COPY(fetch.url, url);
	TEXT_COPY(fetch.topic_arn, topic_arn);
	return submission_publish(submission, &topic_feedback_fetch, &how, NULL, &fetch) == 0;
}

/* Asks mailin for an unknown certificate, and tells SNS to come again. */
static bool want_certificate(struct submission *submission, const struct sns *sns)
{
	static const char words[] = "the certificate that this is signed with is being fetched";
	struct endpoint_context *context = submission->context;
	struct kept *kept = submission->kept;
	int64_t now_us = clock_boot_us(context->clock);
	char name[33], idem[100];

	if (context->certificate_asked_us && now_us < context->certificate_asked_us + ASK_EVERY_US) {
		answer_json_error(submission->answer, 503, words);
		return false;
	}
	context->certificate_asked_us = now_us;
	digest_name(sns->certificate_url, name);
	snprintf(idem, sizeof(idem), "certificate:%s:%lld", name,
		(long long)(clock_wall_us(context->clock) / ASK_EVERY_US));
	kept->come_again = words;
	return ask_to_fetch(submission, FETCH_CERTIFICATE, sns->certificate_url, sns->topic_arn, idem);
}

static bool say_recipient(struct submission *submission, const struct sns *sns, const struct ses_event *event,
	const struct ses_recipient *recipient)
{
	MailFeedback feedback = { .kind = event->kind, .heard_us = clock_wall_us(submission->context->clock) };
	char idem[120], hash[ADDRESS_HASH_LEN + 1];
	struct publish_options how = { .shop = submission->names[0], .key = hash, .idem = idem };

	address_hash(secrets_address_key(submission->context->secrets), submission->names[0], recipient->address, hash);
	TEXT_COPY(feedback.address_hash, hash);
	TEXT_COPY(feedback.detail, recipient->detail);
	TEXT_COPY(feedback.message_id, event->message_id);
	snprintf(idem, sizeof(idem), "sns:%s:%s", sns->message_id, hash);
	return submission_publish(submission, &topic_mail_feedback, &how, NULL, &feedback) == 0;
}

static bool take_event(struct submission *submission, const struct sns *sns)
{
	static struct ses_event event; /* large */
	char why[200];

	if (ses_event_parse(buffer_bytes(&sns->message), &event, why) < 0)
		return refuse(submission, 400, why);
	if (event.count == 0) {
		submission->context->counters->ignored++;
		answer_json_line(submission->answer, "ignored", event.words);
		return false;
	}
	submission->stop = event.kind != FEEDBACK_BOUNCE_TRANSIENT;
	for (int i = 0; i < event.count; i++)
		if (!say_recipient(submission, sns, &event, &event.recipients[i]))
			return refuse(submission, 400, "it does not fit on the bus");
	submission->context->counters->feedback += (uint64_t)event.count;
	return true;
}

static bool take_signed(struct submission *submission, const struct sns *sns)
{
	const char *shop = submission->names[0];
	char idem[100];

	submission->answer->proven = true;
	switch (sns->kind) {
	case SNS_NOTIFICATION:
		return take_event(submission, sns);
	case SNS_SUBSCRIBE:
		snprintf(idem, sizeof(idem), "sns:%s", sns->message_id);
		log_event(LOG_NOTICE, "shop=%s is being subscribed to %s", shop, sns->topic_arn);
		return ask_to_fetch(submission, FETCH_SUBSCRIBE, sns->subscribe_url, sns->topic_arn, idem);
	case SNS_UNSUBSCRIBE:
		log_event(LOG_WARNING, "shop=%s is no longer subscribed to %s: its bounces and complaints come no more",
			shop, sns->topic_arn);
		submission->context->counters->ignored++;
		answer_json_line(submission->answer, "ignored", "the end of a subscription");
		return false;
	}
	return false;
}

static bool judge_notice(struct submission *submission, const struct shop *shop, const struct sns *sns)
{
	static FeedbackCertificate known; /* large */
	const struct state *state = runtime_state(submission->context->runtime);
	int64_t now_us = clock_wall_us(submission->context->clock);
	const char *why = doubt(shop, sns, now_us);
	char name[33];

	if (why)
		return refuse(submission, 403, why);
	digest_name(sns->certificate_url, name);
	if (!STATE_GET(state, certificates, SHOP_OF_ALL, name, &known) || !sns_certificate_holds(known.pem, now_us))
		return want_certificate(submission, sns);
	if (!sns_signed_by(sns, known.pem, now_us))
		return refuse(submission, 403, "it is not signed by SNS");
	return take_signed(submission, sns);
}

static bool prove_by_head(struct submission *submission)
{
	const char *topic = request_header(submission->request, "x-amz-sns-topic-arn");
	const struct shop *shop = load_shop(submission);

	if (!shop)
		return refuse(submission, 404, "no such shop");
	if (shop->sns_topic_count == 0)
		return refuse(submission, 404, "this shop has no topics of SNS: [mail] sns-topic in shop.conf");
	if (!request_header(submission->request, "x-amz-sns-message-type"))
		return refuse(submission, 400, "this is no message of SNS: the header of its type is missing");
	if (!topic || !shop_trusts_topic(shop, topic))
		return refuse(submission, 403, "its topic is not among the shop's: [mail] sns-topic in shop.conf");
	return true;
}

static bool read_notice(struct submission *submission)
{
	struct sns sns = { 0 };
	char why[200];
	const char *type = request_header(submission->request, "x-amz-sns-message-type");
	const struct shop *shop = load_shop(submission);
	bool ret;

	submission_keep(submission, sizeof(struct kept));
	if (!shop)
		return refuse(submission, 404, "no such shop");
	if (!sns_may_be_envelope(submission->request->body))
		ret = refuse(submission, 400, "this is no message of SNS: it has too many parts");
	else if (sns_parse(submission->request->body, &sns, why) < 0)
		ret = refuse(submission, 400, why);
	else if (!type || strcmp(type, sns.type) != 0)
		ret = refuse(submission, 400, "its header names another type than its body");
	else
		ret = judge_notice(submission, shop, &sns);
	sns_clear(&sns);
	return ret;
}

static void answer_notice(struct submission *submission)
{
	const struct kept *kept = submission->kept;

	if (!kept->come_again) {
		submission_answer_json(submission, NULL);
		return;
	}
	submission->context->counters->refused += submission->end == SUBMISSION_REFUSED;
	answer_json_error(submission->answer, 503, kept->come_again);
}

const struct endpoint feedback_endpoints[] = {
	{ "/feedback/<shop>/sns", ENDPOINT_POST, FEEDBACK_MOST, .prove = prove_by_head, .read = read_notice,
		.answer = answer_notice },
	{ 0 },
};
