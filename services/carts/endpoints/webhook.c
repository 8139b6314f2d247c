/*
 * webhook.c: verifies a storefront's webhook, reads it and publishes it
 *
 * Promises:  a body is received only with a signature that may be right, and read only after the signature is
 *            proven. The status of the answer tells the storefront whether to repeat the webhook: 200 never,
 *            401 and 503 yes. An authentic webhook that cannot be read is answered 200 (repeating it would
 *            not help, and a platform ends its subscription after a few refusals), logged, counted and kept.
 * Fails by:  the status of the answer.
 * Read next: services/kit/endpoint/signature.h, services/kit/storefront/event.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "proto/platform_topics.h"
#include "services/carts/endpoints/endpoints.h"
#include "services/kit/endpoint/reject.h"
#include "services/kit/endpoint/signature.h"
#include "services/kit/endpoint/traceparent.h"
#include "services/kit/shop/shop.h"
#include "services/kit/storefront/event.h"
#include "services/kit/time/timestamp.h"
#include <errno.h>
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>

enum { SHOP_CONF_MOST = 64 * 1024 };

static struct event event; /* of the webhook that is being read; static, because it is large */

struct kept {              /* for the answer */
	const char *doubt; /* why the webhook's consent counts as a no, as a constant; NULL: it does not */
	bool is_answered;  /* the answer is written already, and stays unless the message is refused */
};

struct platform {
	const char *name;
	const char *signature[2], *topic[2], *ids[2]; /* headers; the second is another name of the first */
	enum reading (*read)(const struct event_source *source, struct bytes body, struct event *ret);
};

static const struct platform shopify = { "shopify", { "X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256" },
	{ "X-Shopify-Topic", "Shopify-Topic" }, { "X-Shopify-Webhook-Id", "Shopify-Webhook-Id" }, shopify_read };
static const struct platform woocommerce = { "woocommerce", { "X-WC-Webhook-Signature" }, { "X-WC-Webhook-Topic" },
	{ "X-WC-Webhook-Delivery-ID", "X-WC-Delivery-ID" }, woocommerce_read };
static const struct platform generic = { "cart", { "X-Cartbus-Signature" }, { NULL }, { NULL }, generic_read };
static const struct platform bigcommerce = { "bigcommerce", { "X-Cartbus-Secret" }, { NULL }, { NULL },
	bigcommerce_read };

/* WooCommerce posts an unsigned "webhook_id=N" when a webhook is saved. It means nothing and needs a 200. */
static bool is_woocommerce_ping(const struct request *request)
{
	const char *body = request->body.data;
	size_t prefix = strlen("webhook_id=");

	if (request->body.len <= prefix || request->body.len > prefix + 20 || memcmp(body, "webhook_id=", prefix) != 0)
		return false;
	for (size_t i = prefix; i < request->body.len; i++)
		if (body[i] < '0' || body[i] > '9')
			return false;
	return true;
}

/* NULL: none of the names is given. */
static const char *first_header(const struct request *request, const char *const names[2])
{
	const char *value = NULL;

	for (int i = 0; i < 2 && names[i] && (!value || !*value); i++)
		value = request_header(request, names[i]);
	return value;
}

static const char *header_or_empty(const struct request *request, const char *const names[2])
{
	const char *value = first_header(request, names);

	return value ? value : "";
}

/* true: a name is given twice, or both names are given with different values. */
static bool header_ambiguous(const struct request *request, const char *const names[2])
{
	const char *first = request_header(request, names[0]);
	const char *other = names[1] ? request_header(request, names[1]) : NULL;

	return request_header_repeated(request, names[0]) || (names[1] && request_header_repeated(request, names[1])) ||
		(first && other && strcmp(first, other) != 0);
}

static const char *shop_of(const struct submission *submission)
{
	return submission->names[0];
}

static enum signature check_signature(
	const struct submission *submission, const struct platform *platform, const struct secrets_pair *secrets)
{
	const struct request *request = submission->request;
	const char *given = first_header(request, platform->signature);

	if (platform->read == bigcommerce_read)
		return signature_check_word(secrets, given);
	if (platform->read == generic_read)
		return signature_check_stamped(secrets, request->body, request_header(request, "X-Cartbus-Timestamp"),
			given, clock_wall_us(submission->context->clock));
	return signature_check_body(secrets, request->body, given);
}

static bool refuse_signature(struct submission *submission, const char *words)
{
	struct endpoint_context *context = submission->context;

	context->counters->bad_signatures++;
	webhook_stats_note_signature(context->stats, shop_of(submission), WEBHOOK_BAD_SIGNATURE);
	submission_warn(submission, &context->of_strangers, shop_of(submission), words);
	answer_json_error(submission->answer, 401, words);
	return false;
}

static bool find_secrets(struct submission *submission, const struct secrets_pair **ret)
{
	struct endpoint_context *context = submission->context;
	int r = secrets_of_shop(context->secrets, shop_of(submission), ret);

	if (r == 0)
		return true;
	submission_warn(submission, r == -ENOENT ? &context->of_strangers : &context->of_shops, shop_of(submission),
		secrets_remedy(r));
	context->counters->malformed += r == -ENOENT;
	context->counters->refused += r != -ENOENT;
	answer_json_error(submission->answer, r == -ENOENT ? 404 : 503,
		r == -ENOENT ? "no such shop" : "this shop's secret cannot be read here");
	return false;
}

/* Checks the signature as far as this is possible without the body. */
static enum signature look_at_signature(
	const struct submission *submission, const struct platform *platform, const struct secrets_pair *secrets)
{
	const struct request *request = submission->request;
	const char *given = first_header(request, platform->signature);

	if (platform->read == bigcommerce_read)
		return signature_check_word(secrets, given);
	if (platform->read == generic_read)
		return signature_look_stamped(request_header(request, "X-Cartbus-Timestamp"), given,
			clock_wall_us(submission->context->clock));
	return signature_look(given);
}

/* true: the body is as short as a ping's. */
static bool may_be_ping(const struct request *request)
{
	const char *length = request_header(request, "Content-Length");

	return length && strlen(length) <= 2;
}

static bool prove_by_head(struct submission *submission)
{
	const struct platform *platform = submission->endpoint->own;
	const struct secrets_pair *secrets;
	enum signature signature;

	if (!find_secrets(submission, &secrets))
		return false;
	signature = look_at_signature(submission, platform, secrets);
	if (signature == SIGNATURE_MISSING && platform->read == woocommerce_read && may_be_ping(submission->request))
		return true;
	if (signature == SIGNATURE_CURRENT || signature == SIGNATURE_PREVIOUS)
		return true;
	return refuse_signature(submission, signature_words(signature));
}

/* true: the webhook is from the shop. */
static bool prove_by_body(struct submission *submission)
{
	const struct platform *platform = submission->endpoint->own;
	struct endpoint_context *context = submission->context;
	const struct secrets_pair *secrets;
	enum signature signature;

	if (!find_secrets(submission, &secrets))
		return false;
	if (header_ambiguous(submission->request, platform->signature) ||
		request_header_repeated(submission->request, "X-Cartbus-Timestamp"))
		return refuse_signature(submission, "the signature is given more than once");
	signature = check_signature(submission, platform, secrets);
	if (signature != SIGNATURE_CURRENT && signature != SIGNATURE_PREVIOUS)
		return refuse_signature(submission, signature_words(signature));
	submission->answer->proven = true;
	webhook_stats_note_signature(context->stats, shop_of(submission),
		signature == SIGNATURE_PREVIOUS ? WEBHOOK_PREVIOUS_SECRET : WEBHOOK_CURRENT_SECRET);
	if (signature == SIGNATURE_PREVIOUS && context->counters->previous_secret++ % 1000 == 0)
		log_event(LOG_NOTICE,
			"shop=%s still signs with the previous secret: enter the new one at the storefront",
			shop_of(submission));
	return true;
}

/* Names on the bus are short and plain. Another name is replaced by its digest, which is always the same. */
static void name_of(const char *text, size_t room, char *ret)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];
	size_t len = strlen(text), plain = 0;

	while (plain < len && text[plain] > ' ' && text[plain] < 0x7f)
		plain++;
	if (plain == len && len < room) {
		text_copy(ret, room, text);
		return;
	}
	SHA256((const unsigned char *)text, len, digest);
	text_hex(digest, sizeof(digest), hex);
	snprintf(ret, room, "sha256-%s", hex);
}

enum { BODY_DIGEST = 8 }; /* bytes */

/*
 * The key is "platform:id", with the platform's own id. An id in a header is not covered by the signature, so
 * a digest of the body is added: no delivery can be passed off as the repetition of another. A delivery
 * without an id is known by the digest of its topic and body.
 */
static void idem_of(const struct platform *platform, const char *webhook_id, const char *topic,
	const struct request *request, char ret[160])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char name[120], hex[2 * SHA256_DIGEST_LENGTH + 1];

	if (!webhook_id[0])
		buffer_printf(&text, "%s\n", topic);
	buffer_add(&text, request->body.data, request->body.len);
	SHA256(text.data, text.len, digest);
	if (webhook_id[0]) {
		name_of(webhook_id, sizeof(name), name);
		text_hex(digest, BODY_DIGEST, hex);
		snprintf(ret, 160, platform->ids[0] ? "%s:%s:%s" : "%s:%s", platform->name, name, hex);
		return;
	}
	text_hex(digest, sizeof(digest), hex);
	snprintf(ret, 160, "%s:body-%s", platform->name, hex);
}

/*
 * The platform's name for this shop, from its shop.conf; "": unknown. For rare events only, because it reads
 * the file each time.
 */
static void domain_of(const struct submission *submission, char ret[256])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	static struct shop parsed; /* large */
	struct config_error error;
	char path[512];

	ret[0] = 0;
	snprintf(path, sizeof(path), "%s/%s/shop.conf", submission->context->shops_folder, shop_of(submission));
	if (file_read(path, SHOP_CONF_MOST, &text) < 0 ||
		shop_parse(buffer_text(&text), shop_of(submission), path, &parsed, &error) < 0 ||
		parsed.storefront.platform != STOREFRONT_SHOPIFY)
		return;
	text_copy(ret, 256, parsed.storefront.api + strlen("https://"));
	ret[strcspn(ret, "/:")] = 0;
}

/* ---- publishing ---- */

static int publish_event(struct submission *submission, const struct topic *topic, const char *key, const char *idem,
	const void *message)
{
	struct publish_options how = { .shop = shop_of(submission), .key = key, .idem = idem };
	char trace[TRACEPARENT_ROOM];

	traceparent_of(submission->request, trace);
	return submission_publish(submission, topic, &how, trace, message);
}

static int say_cart(struct submission *submission, const char *idem, bool bought)
{
	const CartIds *ids = bought ? &event.checkout.ids : &event.changed.ids;
	const char *token = event_key(ids);
	char key[120];

	if (bought) /* the fact is kept for ever, so it names the buyer only by the keyed hash */
		event.checkout.ids.email[0] = '\0';
	if (!token[0])
		token = ids->email_hash[0] ? ids->email_hash : ids->customer_id;
	name_of(token, sizeof(key), key);
	submission->stop = bought || (event.changed.has_items && event.changed.items_count == 0);
	if (bought)
		return publish_event(submission, &topic_cart_checkout, key, idem, &event.checkout);
	return publish_event(submission, &topic_cart_changed, key, idem, &event.changed);
}

static int say_task(struct submission *submission, const char *idem)
{
	char key[120];

	name_of(event.task.id, sizeof(key), key);
	return publish_event(submission, &topic_storefront_task, key, idem, &event.task);
}

static int say_privacy(struct submission *submission, const char *idem)
{
	submission->stop = event.privacy.kind != PRIVACY_DATA_REQUEST;
	submission->context->counters->privacy++;
	return publish_event(submission, &topic_privacy_request, event.privacy.request_id, idem, &event.privacy);
}

/* ---- the meaning of an event ---- */

static void keep_unreadable(
	struct submission *submission, const struct platform *platform, const struct event_source *source)
{
	struct rejection rejection = { .at_us = source->heard_us,
		.shop = source->shop,
		.platform = platform->name,
		.topic = source->topic,
		.webhook_id = source->webhook_id,
		.why = event.why,
		.body = submission->request->body };
	char name[64] = "";
	int r = reject_keep(submission->context->rejected_folder, &rejection, name);

	submission->context->counters->rejected++;
	log_event_about(LOG_WARNING,
		&(struct log_about){ .event = event_webhook_unreadable, .shop = source->shop, .topic = source->topic },
		"an authentic webhook cannot be read shop=%s platform=%s kept=%s: %s", source->shop, platform->name,
		r < 0 ? strerror(-r) : name, event.why);
	answer_json_error(submission->answer, 200, event.why);
}

/* A platform without topics of its own names the event in its body. */
static void note_topic(const struct submission *submission, const struct event_source *source, enum reading reading)
{
	const char *topic = source->topic;

	if (!*topic && reading == READ_CHANGED)
		topic = event.changed.platform_topic;
	else if (!*topic && reading == READ_CHECKOUT)
		topic = event.checkout.platform_topic;
	webhook_stats_note_topic(submission->context->stats, source->shop, topic);
}

/*
 * The webhook is taken all the same: a refused one stops no mail, and the unreadable consent may have been a
 * no.
 */
static void note_doubt(
	struct submission *submission, const struct platform *platform, const struct event_source *source)
{
	struct kept *kept = submission->kept;

	kept->doubt = event.doubt;
	if (!kept->doubt)
		return;
	submission->context->counters->consents_unreadable++;
	log_event_about(LOG_WARNING,
		&(struct log_about){ .event = event_webhook_unreadable, .shop = source->shop, .topic = source->topic },
		"a webhook's consent cannot be read shop=%s platform=%s: %s", source->shop, platform->name,
		kept->doubt);
}

/*
 * Keeps a body that cannot be read, and answers with the reason. A no to mail that can be read in it counts
 * all the same. It is published under a key of its own, so that a sender that mends the body and repeats it
 * under the same id is not taken for a repetition.
 */
static bool refuse_all_but_no(struct submission *submission, const struct platform *platform,
	const struct event_source *source, const char *idem)
{
	struct kept *kept = submission->kept;
	char idem_of_no[170];

	keep_unreadable(submission, platform, source);
	if (!event_keep_no(&event))
		return false;
	snprintf(idem_of_no, sizeof(idem_of_no), "no:%s", idem);
	kept->is_answered = true;
	return say_cart(submission, idem_of_no, false) == 0;
}

static bool judge_event(
	struct submission *submission, const struct platform *platform, const struct event_source *source)
{
	enum reading reading = platform->read(source, submission->request->body, &event);
	char idem[160];

	idem_of(platform, event.webhook_id, source->topic, submission->request, idem);
	note_topic(submission, source, reading);
	switch (reading) {
	case READ_CHANGED:
	case READ_CHECKOUT:
		if (reading == READ_CHANGED)
			note_doubt(submission, platform, source);
		if (say_cart(submission, idem, reading == READ_CHECKOUT) == 0)
			return true;
		snprintf(event.why, sizeof(event.why), "it is too large for the bus");
		return refuse_all_but_no(submission, platform, source, idem);
	case READ_TASK:
		return say_task(submission, idem) == 0;
	case READ_PRIVACY:
		return say_privacy(submission, idem) == 0;
	case READ_UNREADABLE:
		return refuse_all_but_no(submission, platform, source, idem);
	case READ_NOTHING:
		submission->context->counters->ignored++;
		answer_json_line(submission->answer, "ignored", event.why);
		return false;
	}
	return false;
}

static bool ignore_ping(struct submission *submission)
{
	submission->context->counters->ignored++;
	answer_json_line(submission->answer, "ignored", "a ping");
	return false;
}

static bool read_webhook(struct submission *submission)
{
	static const char *const triggered_at[2] = { "X-Shopify-Triggered-At", "Shopify-Triggered-At" };
	const struct platform *platform = submission->endpoint->own;
	const struct request *request = submission->request;
	const char *triggered = first_header(request, triggered_at);
	char domain[256];
	struct event_source source = { .shop = shop_of(submission),
		.topic = header_or_empty(request, platform->topic),
		.webhook_id = header_or_empty(request, platform->ids),
		.address_key = secrets_address_key(submission->context->secrets),
		.heard_us = clock_wall_us(submission->context->clock) };

	if (platform->read == woocommerce_read && !first_header(request, platform->signature) &&
		is_woocommerce_ping(request))
		return ignore_ping(submission);
	if (!prove_by_body(submission))
		return false;
	if (platform->read == shopify_read && shopify_is_privacy(source.topic)) {
		domain_of(submission, domain);
		source.domain = domain;
	}
	if (triggered && timestamp_parse(triggered, &source.triggered_us) < 0)
		source.triggered_us = 0;
	submission_keep(submission, sizeof(struct kept));
	return judge_event(submission, platform, &source);
}

static void answer_webhook(struct submission *submission)
{
	const struct kept *kept = submission->kept;

	if (!kept->is_answered || submission->end == SUBMISSION_REFUSED)
		submission_answer_json(submission, kept->doubt);
}

const struct endpoint carts_webhook_endpoints[] = {
	{ "/hooks/<shop>/shopify", ENDPOINT_POST, .prove = prove_by_head, .read = read_webhook,
		.answer = answer_webhook, .own = &shopify, .listed = true },
	{ "/hooks/<shop>/woocommerce", ENDPOINT_POST, .prove = prove_by_head, .read = read_webhook,
		.answer = answer_webhook, .own = &woocommerce, .listed = true },
	{ "/hooks/<shop>/bigcommerce", ENDPOINT_POST, .prove = prove_by_head, .read = read_webhook,
		.answer = answer_webhook, .own = &bigcommerce, .listed = true },
	{ "/hooks/<shop>/cart", ENDPOINT_POST, .prove = prove_by_head, .read = read_webhook, .answer = answer_webhook,
		.own = &generic, .listed = true },
	{ 0 },
};
