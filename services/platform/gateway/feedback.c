/*
 * feedback.c: bounces and complaints that SES tells by way of SNS
 *
 * This process fetches nothing: a certificate that it does not know, and a subscription's confirmation, are asked of mailin by a message
 * (feedback.fetch). Meanwhile the answer is 503, and SNS repeats what it posted, three times with 20 s between them.
 *
 * Promises:  nothing is believed that a topic of the shop's own list has not signed within the last day; each recipient is said by a
 *            message of its own, whose name on the bus follows from SNS's own, so a repetition changes nothing.
 * Fails by:  the answer: 400 what is no message of SNS, 403 what is not for us to believe, 503 come again. Refusals are counted and logged.
 * Read next: sns.c, ses_event.c, services/platform/mailin/fetch.c
 */
#include "services/platform/gateway/feedback.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/sns.h"
#include "services/kit/shop/shop.h"
#include "services/platform/gateway/hook.h"
#include "services/platform/gateway/ses_event.h"
#include "services/platform/gateway/sns.h"
#include "services/platform/gateway/traceparent.h"
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <sys/stat.h>

#define OLD_US US_PER_DAY
#define AHEAD_US (15 * US_PER_MINUTE)
#define ASK_EVERY_US (5 * US_PER_S) /* for certificates: strangers can name any number of them */
enum { SHOP_CONF_MOST = 64 * 1024 };

static void digest_name(const char *text, char ret[33])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA256((const unsigned char *)text, strlen(text), digest);
	text_hex(digest, 16, ret);
}

void feedback_remember_certificate(
	struct state *state, const struct message_meta *said, const FeedbackCertificate *fact)
{
	if (said->version >= state_number(state, "certificate.version", said->shop, said->key)) {
		state_put_number(state, "certificate.version", said->shop, said->key, said->version);
		state_put(state, "certificate", said->shop, said->key, &FeedbackCertificate_msg, fact);
	}
}

static bool refuse(
	struct reception *reception, const char *shop, unsigned status, const char *words, struct answer *answer)
{
	reception->counters->malformed += status == 400 || status == 404;
	reception->counters->feedback_refused += status == 403;
	hook_warn(reception, &reception->of_strangers, shop, words);
	answer_json_error(answer, status, words);
	return false;
}

/* ---- may it be believed? ---- */

static bool is_same_file(const struct stat *now, const struct stat *then)
{
	return now->st_ino == then->st_ino && now->st_dev == then->st_dev && now->st_size == then->st_size &&
		now->st_mtim.tv_sec == then->st_mtim.tv_sec && now->st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

/*
 * NULL: there is no such shop, or its shop.conf is not right. The last one is kept while its file is the same: the client has not
 * proven anything yet, and reading a file for each request is more than it should cost.
 */
static const struct shop *load_shop(const struct reception *reception, const char *name)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	static struct shop shop; /* large */
	static struct stat read_then;
	struct stat now;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/shop.conf", reception->shops_folder, name);
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

/* NULL: it may be believed as far as it can be told without the signature. */
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

/* ---- what it makes us say ---- */

static bool say(struct reception *reception, const struct topic *topic, const struct publish_options *how,
	const void *message, struct buffer *ret)
{
	char trace[TRACEPARENT_ROOM];
	traceparent_new(trace);
	return message_encode(topic, how, trace, clock_wall_us(reception->clock), message, ret) == 0;
}

static bool ask_to_fetch(struct reception *reception, const char *shop, FeedbackFetchKind kind, const char *url,
	const char *topic_arn, const char *idem, struct wish *wish)
{
	FeedbackFetch fetch = { .kind = kind, .heard_us = clock_wall_us(reception->clock) };
	char key[33];
	digest_name(url, key);
	TEXT_COPY(fetch.url, url);
	TEXT_COPY(fetch.topic_arn, topic_arn);
	TEXT_COPY(wish->shop, shop);
	return say(reception, &topic_feedback_fetch,
		&(struct publish_options){ .shop = shop, .key = key, .idem = idem }, &fetch, &wish->message);
}

/* Nobody knows this certificate yet: it is asked for, and SNS is to come again. */
static bool want_certificate(struct reception *reception, const struct shop *shop, const struct sns *sns,
	struct answer *answer, struct wish *wish)
{
	int64_t now_us = clock_boot_us(reception->clock);
	char name[33], idem[100];
	if (reception->certificate_asked_us && now_us < reception->certificate_asked_us + ASK_EVERY_US) {
		answer_json_error(answer, 503, "the certificate that this is signed with is being fetched");
		return false;
	}
	reception->certificate_asked_us = now_us;
	digest_name(sns->certificate_url, name);
	snprintf(idem, sizeof(idem), "certificate:%s:%lld", name,
		(long long)(clock_wall_us(reception->clock) / ASK_EVERY_US));
	wish->come_again = "the certificate that this is signed with is being fetched";
	return ask_to_fetch(reception, shop->name, FETCH_CERTIFICATE, sns->certificate_url, sns->topic_arn, idem, wish);
}

static bool encode_recipient(struct reception *reception, const char *shop, const struct sns *sns,
	const struct ses_event *event, const struct ses_recipient *recipient, struct buffer *ret)
{
	MailFeedback feedback = { .kind = event->kind, .heard_us = clock_wall_us(reception->clock) };
	char idem[120], hash[ADDRESS_HASH_LEN + 1];
	address_hash(secrets_address_key(reception->secrets), shop, recipient->address, hash);
	TEXT_COPY(feedback.address_hash, hash);
	TEXT_COPY(feedback.detail, recipient->detail);
	TEXT_COPY(feedback.message_id, event->message_id);
	snprintf(idem, sizeof(idem), "sns:%s:%s", sns->message_id, hash);
	return say(reception, &topic_mail_feedback,
		&(struct publish_options){ .shop = shop, .key = hash, .idem = idem }, &feedback, ret);
}

static bool take_event(struct reception *reception, const struct shop *shop, const struct sns *sns,
	struct answer *answer, struct wish *wish)
{
	static struct ses_event event; /* large */
	char why[200];
	if (ses_event_parse(buffer_bytes(&sns->message), &event, why) < 0)
		return refuse(reception, shop->name, 400, why, answer);
	if (event.count == 0) {
		reception->counters->ignored++;
		answer_json_line(answer, "ignored", event.words);
		return false;
	}
	wish->stop = event.kind != FEEDBACK_BOUNCE_TRANSIENT;
	wish->more = event.count > 1 ? memory_new((size_t)(event.count - 1) * sizeof(*wish->more)) : NULL;
	wish->more_count = event.count - 1;
	TEXT_COPY(wish->shop, shop->name);
	for (int i = 0; i < event.count; i++)
		if (!encode_recipient(reception, shop->name, sns, &event, &event.recipients[i],
			    i == 0 ? &wish->message : &wish->more[i - 1]))
			return refuse(reception, shop->name, 400, "it does not fit on the bus", answer);
	reception->counters->feedback += (uint64_t)event.count;
	return true;
}

static bool take_signed(struct reception *reception, const struct shop *shop, const struct sns *sns,
	struct answer *answer, struct wish *wish)
{
	char idem[100];
	answer->proven = true;
	switch (sns->kind) {
	case SNS_NOTIFICATION:
		return take_event(reception, shop, sns, answer, wish);
	case SNS_SUBSCRIBE:
		snprintf(idem, sizeof(idem), "sns:%s", sns->message_id);
		log_event(LOG_NOTICE, "shop=%s is being subscribed to %s", shop->name, sns->topic_arn);
		return ask_to_fetch(
			reception, shop->name, FETCH_SUBSCRIBE, sns->subscribe_url, sns->topic_arn, idem, wish);
	case SNS_UNSUBSCRIBE:
		log_event(LOG_WARNING, "shop=%s is no longer subscribed to %s: its bounces and complaints come no more",
			shop->name, sns->topic_arn);
		reception->counters->ignored++;
		answer_json_line(answer, "ignored", "the end of a subscription");
		return false;
	}
	return false;
}

static bool judge(struct reception *reception, const struct shop *shop, const struct sns *sns, struct answer *answer,
	struct wish *wish)
{
	static FeedbackCertificate known; /* large */
	const struct state *state = runtime_state(reception->runtime);
	int64_t now_us = clock_wall_us(reception->clock);
	const char *why = doubt(shop, sns, now_us);
	char name[33];
	if (why)
		return refuse(reception, shop->name, 403, why, answer);
	digest_name(sns->certificate_url, name);
	if (!state_get(state, "certificate", SHOP_OF_ALL, name, &FeedbackCertificate_msg, &known) ||
		!sns_certificate_holds(known.pem, now_us))
		return want_certificate(reception, shop, sns, answer, wish);
	if (!sns_signed_by(sns, known.pem, now_us))
		return refuse(reception, shop->name, 403, "it is not signed by SNS", answer);
	return take_signed(reception, shop, sns, answer, wish);
}

bool feedback_judge_head(
	struct reception *reception, const struct route *route, const struct request *request, struct answer *answer)
{
	const char *topic = request_header(request, "x-amz-sns-topic-arn");
	const struct shop *shop = load_shop(reception, route->name);

	if (!shop)
		return refuse(reception, route->name, 404, "no such shop", answer);
	if (shop->sns_topic_count == 0)
		return refuse(reception, shop->name, 404,
			"this shop has no topics of SNS: [mail] sns-topic in shop.conf", answer);
	if (!request_header(request, "x-amz-sns-message-type"))
		return refuse(reception, shop->name, 400,
			"this is no message of SNS: the header of its type is missing", answer);
	if (!topic || !shop_trusts_topic(shop, topic))
		return refuse(reception, shop->name, 403,
			"its topic is not among the shop's: [mail] sns-topic in shop.conf", answer);
	return true;
}

bool feedback_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	struct sns sns = { 0 };
	char why[200];
	const char *type = request_header(request, "x-amz-sns-message-type");
	const struct shop *shop = load_shop(reception, route->name);
	bool ret;

	if (!shop)
		return refuse(reception, route->name, 404, "no such shop", answer);
	if (!sns_may_be_envelope(request->body))
		ret = refuse(reception, shop->name, 400, "this is no message of SNS: it has too many parts", answer);
	else if (sns_parse(request->body, &sns, why) < 0)
		ret = refuse(reception, shop->name, 400, why, answer);
	else if (!type || strcmp(type, sns.type) != 0)
		ret = refuse(reception, shop->name, 400, "its header names another type than its body", answer);
	else
		ret = judge(reception, shop, &sns, answer, wish);
	sns_clear(&sns);
	return ret;
}
