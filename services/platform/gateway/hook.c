/*
 * hook.c: a storefront's webhook: proven, read, encoded
 *
 * Promises:  no body is taken without a signature that could be right, and nothing of it is looked at before it is; the answer's status tells the storefront whether to
 *            repeat it: 200 never, 401 and 503 yes. What is authentic and will never be readable is answered 200 (repeating it
 *            would not help, and a platform ends its subscription after a few refusals), logged, counted and kept.
 * Fails by:  the answer.
 * Read next: signature.c, services/kit/storefront/event.h
 */
#include "services/platform/gateway/hook.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/events.h"
#include "services/kit/shop/shop.h"
#include "services/kit/storefront/bigcommerce.h"
#include "services/kit/storefront/event.h"
#include "services/kit/time/moment.h"
#include "services/platform/gateway/reject.h"
#include "services/platform/gateway/traceparent.h"
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>

enum { SHOP_CONF_MOST = 64 * 1024 };

struct platform {
	const char *name;
	const char *signature[2], *topic[2], *ids[2]; /* headers; the second is another name of the first */
	enum reading (*read)(const struct event_source *source, struct bytes body, struct event *ret);
};

static const struct platform platforms[] = {
	[ENTRANCE_SHOPIFY] = { "shopify", { "X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256" },
		{ "X-Shopify-Topic", "Shopify-Topic" }, { "X-Shopify-Webhook-Id", "Shopify-Webhook-Id" },
		shopify_read },
	[ENTRANCE_WOOCOMMERCE] = { "woocommerce", { "X-WC-Webhook-Signature" }, { "X-WC-Webhook-Topic" },
		{ "X-WC-Webhook-Delivery-ID", "X-WC-Delivery-ID" }, woocommerce_read },
	[ENTRANCE_GENERIC] = { "cart", { "X-Cartbus-Signature" }, { NULL }, { NULL }, generic_read },
	[ENTRANCE_BIGCOMMERCE] = { "bigcommerce", { "X-Cartbus-Secret" }, { NULL }, { NULL }, bigcommerce_read },
};

/* At most one a second of each kind: strangers can make any number. Words only: never a header's value, a body, an address. */
void hook_warn(struct reception *reception, struct warnings *warnings, const char *shop, const char *words)
{
	int64_t now_us = clock_boot_us(reception->clock);

	if (warnings->last_us && now_us < warnings->last_us + US_PER_S) {
		warnings->swallowed++;
		return;
	}
	log_event_about(LOG_WARNING, &(struct log_about){ .event = event_webhook_refused, .shop = shop },
		"refused shop=%s: %s (and %llu more since the last such line)", shop, words,
		(unsigned long long)warnings->swallowed);
	warnings->last_us = now_us;
	warnings->swallowed = 0;
}

/* WooCommerce posts an unsigned "webhook_id=N" when a webhook is saved: it wants a 200 and means nothing. */
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

/* A name given twice, or both names with different words. */
static bool header_ambiguous(const struct request *request, const char *const names[2])
{
	const char *first = request_header(request, names[0]);
	const char *other = names[1] ? request_header(request, names[1]) : NULL;

	return request_header_repeated(request, names[0]) || (names[1] && request_header_repeated(request, names[1])) ||
		(first && other && strcmp(first, other) != 0);
}

static enum signature check_signature(struct reception *reception, const struct platform *platform,
	const struct secrets_pair *secrets, const struct request *request)
{
	const char *given = first_header(request, platform->signature);

	if (platform->read == bigcommerce_read)
		return signature_check_word(secrets, given);
	if (platform->read == generic_read)
		return signature_check_stamped(secrets, request->body, request_header(request, "X-Cartbus-Timestamp"),
			given, clock_wall_us(reception->clock));
	return signature_check_body(secrets, request->body, given);
}

static bool refuse_signature(struct reception *reception, const char *shop, const char *words, struct answer *answer)
{
	reception->counters->bad_signatures++;
	seen_note_signature(reception->seen, shop, SEEN_BAD_SIGNATURE);
	hook_warn(reception, &reception->of_strangers, shop, words);
	answer_json_error(answer, 401, words);
	return false;
}

static bool find_secrets(
	struct reception *reception, const char *shop, struct answer *answer, const struct secrets_pair **ret)
{
	int r = secrets_of_shop(reception->secrets, shop, ret);

	if (r == 0)
		return true;
	hook_warn(reception, r == -ENOENT ? &reception->of_strangers : &reception->of_shops, shop, secrets_remedy(r));
	reception->counters->malformed += r == -ENOENT;
	reception->counters->refused += r != -ENOENT;
	answer_json_error(answer, r == -ENOENT ? 404 : 503,
		r == -ENOENT ? "no such shop" : "this shop's secret cannot be read here");
	return false;
}

/* As far as it can be told without the body. */
static enum signature look_at_signature(struct reception *reception, const struct platform *platform,
	const struct secrets_pair *secrets, const struct request *request)
{
	const char *given = first_header(request, platform->signature);

	if (platform->read == bigcommerce_read)
		return signature_check_word(secrets, given);
	if (platform->read == generic_read)
		return signature_look_stamped(
			request_header(request, "X-Cartbus-Timestamp"), given, clock_wall_us(reception->clock));
	return signature_look(given);
}

/* A ping is so short. */
static bool may_be_ping(const struct request *request)
{
	const char *length = request_header(request, "Content-Length");

	return length && strlen(length) <= 2;
}

bool hook_judge_head(
	struct reception *reception, const struct route *route, const struct request *request, struct answer *answer)
{
	const struct platform *platform = &platforms[route->entrance];
	const struct secrets_pair *secrets;
	enum signature signature;

	if (!find_secrets(reception, route->name, answer, &secrets))
		return false;
	signature = look_at_signature(reception, platform, secrets, request);
	if (signature == SIGNATURE_MISSING && route->entrance == ENTRANCE_WOOCOMMERCE && may_be_ping(request))
		return true;
	if (signature == SIGNATURE_CURRENT || signature == SIGNATURE_PREVIOUS)
		return true;
	return refuse_signature(reception, route->name, signature_words(signature), answer);
}

/* true: it is from the shop. */
static bool prove(struct reception *reception, const struct platform *platform, const char *shop,
	const struct request *request, struct answer *answer)
{
	const struct secrets_pair *secrets;
	enum signature signature;

	if (!find_secrets(reception, shop, answer, &secrets))
		return false;
	if (header_ambiguous(request, platform->signature) || request_header_repeated(request, "X-Cartbus-Timestamp"))
		return refuse_signature(reception, shop, "the signature is given more than once", answer);
	signature = check_signature(reception, platform, secrets, request);
	if (signature != SIGNATURE_CURRENT && signature != SIGNATURE_PREVIOUS)
		return refuse_signature(reception, shop, signature_words(signature), answer);
	answer->proven = true;
	seen_note_signature(
		reception->seen, shop, signature == SIGNATURE_PREVIOUS ? SEEN_PREVIOUS_SECRET : SEEN_CURRENT_SECRET);
	if (signature == SIGNATURE_PREVIOUS && reception->counters->previous_secret++ % 1000 == 0)
		log_event(LOG_NOTICE,
			"shop=%s still signs with the previous secret: enter the new one at the storefront", shop);
	return true;
}

/* Names on the bus are short and plain; a name that is not becomes its digest, the same every time. */
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
 * platform:id, the platform's own. Where the id stands in a header, which the signature does not cover, what the body holds is part of it:
 * nobody can make one delivery pass for the repetition of another. A delivery without an id is known by what it holds.
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

/* What the platform calls this shop, by its shop.conf; "": not known. Only for what is rare: the file is read each time. */
static void domain_of(const struct reception *reception, const char *shop, char ret[256])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	static struct shop parsed; /* large */
	struct config_error error;
	char path[512];

	ret[0] = 0;
	snprintf(path, sizeof(path), "%s/%s/shop.conf", reception->shops_folder, shop);
	if (file_read(path, SHOP_CONF_MOST, &text) < 0 ||
		shop_parse(buffer_text(&text), shop, path, &parsed, &error) < 0 ||
		parsed.storefront.platform != STOREFRONT_SHOPIFY)
		return;
	text_copy(ret, 256, parsed.storefront.api + strlen("https://"));
	ret[strcspn(ret, "/:")] = 0;
}

static int encode(struct reception *reception, const struct request *request, const char *shop, const char *idem,
	bool bought, struct wish *wish)
{
	const struct event *event = reception->event;
	const CartIds *ids = bought ? &event->checkout.ids : &event->changed.ids;
	const char *token = event_key(ids);
	char key[120], trace[TRACEPARENT_ROOM];
	struct publish_options how = { .shop = shop, .key = key, .idem = idem };

	if (bought) /* kept for ever: who bought is known by the keyed hash alone */
		reception->event->checkout.ids.email[0] = '\0';
	if (!token[0])
		token = ids->email_hash[0] ? ids->email_hash : ids->customer_id;
	name_of(token, sizeof(key), key);
	traceparent_of(request, trace);
	wish->stop = bought || (event->changed.has_items && event->changed.items_count == 0);
	TEXT_COPY(wish->shop, shop);
	return message_encode(bought ? &topic_cart_checkout : &topic_cart_changed, &how, trace,
		clock_wall_us(reception->clock), bought ? (const void *)&event->checkout : &event->changed,
		&wish->message);
}

static int encode_task(struct reception *reception, const struct request *request, const char *shop, const char *idem,
	struct wish *wish)
{
	const StorefrontTask *task = &reception->event->task;
	char trace[TRACEPARENT_ROOM], key[120];
	struct publish_options how = { .shop = shop, .key = key, .idem = idem };

	name_of(task->id, sizeof(key), key);
	traceparent_of(request, trace);
	TEXT_COPY(wish->shop, shop);
	return message_encode(
		&topic_storefront_task, &how, trace, clock_wall_us(reception->clock), task, &wish->message);
}

static int encode_privacy(struct reception *reception, const struct request *request, const char *shop,
	const char *idem, struct wish *wish)
{
	const PrivacyRequest *asked = &reception->event->privacy;
	struct publish_options how = { .shop = shop, .key = asked->request_id, .idem = idem };
	char trace[TRACEPARENT_ROOM];

	traceparent_of(request, trace);
	wish->stop = asked->kind != PRIVACY_DATA_REQUEST;
	TEXT_COPY(wish->shop, shop);
	reception->counters->privacy++;
	return message_encode(
		&topic_privacy_request, &how, trace, clock_wall_us(reception->clock), asked, &wish->message);
}

static void keep_unreadable(struct reception *reception, const struct platform *platform,
	const struct event_source *source, const struct request *request, struct answer *answer)
{
	struct rejection rejection = { .at_us = source->heard_us,
		.shop = source->shop,
		.platform = platform->name,
		.topic = source->topic,
		.webhook_id = source->webhook_id,
		.why = reception->event->why,
		.body = request->body };
	char name[64] = "";
	int r = reject_keep(reception->rejected_folder, &rejection, name);

	reception->counters->rejected++;
	log_event_about(LOG_WARNING,
		&(struct log_about){ .event = event_webhook_unreadable, .shop = source->shop, .topic = source->topic },
		"an authentic webhook cannot be read shop=%s platform=%s kept=%s: %s", source->shop, platform->name,
		r < 0 ? strerror(-r) : name, reception->event->why);
	answer_json_error(answer, 200, reception->event->why);
}

/* A platform without topics of its own names the event in its body. */
static void note_topic(struct reception *reception, const struct event_source *source, enum reading reading)
{
	const char *topic = source->topic;

	if (!*topic && reading == READ_CHANGED)
		topic = reception->event->changed.platform_topic;
	else if (!*topic && reading == READ_CHECKOUT)
		topic = reception->event->checkout.platform_topic;
	seen_note_topic(reception->seen, source->shop, topic);
}

/* Taken all the same: what is refused stops nothing, and a consent that cannot be read may have been a no. */
static void note_doubt(struct reception *reception, const struct event_source *source, const struct platform *platform,
	struct wish *wish)
{
	wish->doubt = reception->event->doubt;
	if (!wish->doubt)
		return;
	reception->counters->consents_unreadable++;
	log_event_about(LOG_WARNING,
		&(struct log_about){ .event = event_webhook_unreadable, .shop = source->shop, .topic = source->topic },
		"a webhook's consent cannot be read shop=%s platform=%s: %s", source->shop, platform->name,
		wish->doubt);
}

/*
 * A body that cannot be read is kept aside and answered with the reason; a no to mail that can be read in it counts all the same. It is said
 * under an id of its own: who mends the body and says it again under the same one is not told that it is a repetition.
 */
static bool refuse_all_but_no(struct reception *reception, const struct platform *platform,
	const struct event_source *source, const struct request *request, const char *idem, struct answer *answer,
	struct wish *wish)
{
	char idem_of_no[170];

	keep_unreadable(reception, platform, source, request, answer);
	if (!event_keep_no(reception->event))
		return false;
	snprintf(idem_of_no, sizeof(idem_of_no), "no:%s", idem);
	wish->is_answered = true;
	return encode(reception, request, source->shop, idem_of_no, false, wish) == 0;
}

static bool judge(struct reception *reception, const struct platform *platform, const struct event_source *source,
	const struct request *request, struct answer *answer, struct wish *wish)
{
	enum reading reading = platform->read(source, request->body, reception->event);
	char idem[160];

	idem_of(platform, reception->event->webhook_id, source->topic, request, idem);
	note_topic(reception, source, reading);
	switch (reading) {
	case READ_CHANGED:
	case READ_CHECKOUT:
		if (reading == READ_CHANGED)
			note_doubt(reception, source, platform, wish);
		if (encode(reception, request, source->shop, idem, reading == READ_CHECKOUT, wish) == 0)
			return true;
		snprintf(reception->event->why, sizeof(reception->event->why), "it is too large for the bus");
		return refuse_all_but_no(reception, platform, source, request, idem, answer, wish);
	case READ_TASK:
		return encode_task(reception, request, source->shop, idem, wish) == 0;
	case READ_PRIVACY:
		return encode_privacy(reception, request, source->shop, idem, wish) == 0;
	case READ_UNREADABLE:
		return refuse_all_but_no(reception, platform, source, request, idem, answer, wish);
	case READ_NOTHING:
		reception->counters->ignored++;
		answer_json_line(answer, "ignored", reception->event->why);
		return false;
	}
	return false;
}

bool hook_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	const struct platform *platform = &platforms[route->entrance];
	static const char *const triggered_at[2] = { "X-Shopify-Triggered-At", "Shopify-Triggered-At" };
	const char *triggered = first_header(request, triggered_at);
	char domain[256];
	struct event_source source = { .shop = route->name,
		.topic = header_or_empty(request, platform->topic),
		.webhook_id = header_or_empty(request, platform->ids),
		.address_key = secrets_address_key(reception->secrets),
		.heard_us = clock_wall_us(reception->clock) };

	if (route->entrance == ENTRANCE_WOOCOMMERCE && !first_header(request, platform->signature) &&
		is_woocommerce_ping(request)) {
		reception->counters->ignored++;
		answer_json_line(answer, "ignored", "a ping");
		return false;
	}
	if (!prove(reception, platform, route->name, request, answer))
		return false;
	if (platform->read == shopify_read && shopify_is_privacy(source.topic)) {
		domain_of(reception, route->name, domain);
		source.domain = domain;
	}
	if (triggered && moment_parse(triggered, &source.triggered_us) < 0)
		source.triggered_us = 0;
	return judge(reception, platform, &source, request, answer, wish);
}
