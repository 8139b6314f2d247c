/*
 * shopify_privacy.c: reads the three topics by which Shopify passes on requests about a person's rights
 *
 * Promises:  the event names a person only by the keyed hash of the address and by the storefront's number,
 *            because messages are kept. The same delivery gets the same id.
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/storefront/payload_parts.h"
#include <openssl/sha.h>
#include <strings.h>

enum { REQUEST_ID_BYTES = 16 };

static const struct privacy_topic {
	const char *name;
	PrivacyKind kind;
} topics[] = { { "customers/redact", PRIVACY_REDACT_CUSTOMER }, { "shop/redact", PRIVACY_REDACT_SHOP },
	{ "customers/data_request", PRIVACY_DATA_REQUEST } };

static const struct privacy_topic *find_topic(const char *name)
{
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++)
		if (strcmp(topics[i].name, name) == 0)
			return &topics[i];
	return NULL;
}

bool shopify_is_privacy(const char *topic)
{
	return find_topic(topic);
}

/* If a delivery has no id, its content identifies it. */
static void name_request(const struct event_source *source, struct bytes body, PrivacyRequest *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	unsigned char digest[SHA256_DIGEST_LENGTH];

	buffer_printf(&text, "shopify\n%s\n%s\n", source->topic, source->webhook_id);
	if (!source->webhook_id[0])
		buffer_add(&text, body.data, body.len);
	SHA256(text.data, text.len, digest);
	text_hex(digest, REQUEST_ID_BYTES, ret->request_id);
}

static bool has_any(const json_t *body, const char *const *names)
{
	for (; *names; names++)
		if (json_object_get(body, *names))
			return true;
	return false;
}

/*
 * The topic is in a header that the signature does not cover. A body that was signed for another topic must
 * not erase a person or a shop. The fields of the three bodies tell them apart, also from carts and orders.
 */
static bool is_body_of(PrivacyKind kind, const json_t *body)
{
	static const char *const of_goods[] = { "line_items", "token", "order_number", "financial_status", NULL };
	static const char *const of_shops[] = { "shop_id", "shop_domain", NULL };
	static const char *const of_people[] = { "customer", "orders_to_redact", "orders_requested", "data_request",
		NULL };
	static const char *const of_requests[] = { "orders_requested", "data_request", NULL };

	if (has_any(body, of_goods))
		return false;
	switch (kind) {
	case PRIVACY_REDACT_SHOP:
		return has_any(body, of_shops) && !has_any(body, of_people);
	case PRIVACY_REDACT_CUSTOMER:
		return !has_any(body, of_requests);
	case PRIVACY_DATA_REQUEST:
		return true;
	}
	return true;
}

/* The domain of another shop that the body names. NULL: it names this shop or none, or ours is unknown. */
static const char *other_shop(const struct event_source *source, const json_t *body)
{
	const char *domain = field_word(body, "shop_domain");

	return domain && source->domain && *source->domain && strcasecmp(domain, source->domain) != 0 ? domain : NULL;
}

static bool is_believed(const struct event_source *source, PrivacyKind kind, const json_t *body, struct event *ret)
{
	if (!is_body_of(kind, body)) {
		unreadable(ret, "the body is not one of the topic %.60s, which the signature does not cover",
			source->topic);
		return false;
	}
	if (other_shop(source, body)) {
		unreadable(ret, "the body is about %.100s, and this shop is %.60s ([storefront] api in shop.conf)",
			other_shop(source, body), source->domain);
		return false;
	}
	return true;
}

enum reading shopify_read_privacy(const struct event_source *source, struct bytes body, struct event *ret)
{
	const struct privacy_topic *topic = find_topic(source->topic);
	const json_t *json = topic ? fields_parse(body, ret->why) : NULL;
	const json_t *customer = field_object(json, "customer");
	PrivacyRequest *request = &ret->privacy;
	CartIds ids = { 0 };

	if (!json)
		return READ_UNREADABLE;
	if (!is_believed(source, topic->kind, json, ret)) {
		fields_done();
		return READ_UNREADABLE;
	}
	*request = (PrivacyRequest){ .kind = topic->kind, .platform = PLATFORM_SHOPIFY, .heard_us = source->heard_us };
	name_request(source, body, request);
	TEXT_COPY(request->platform_topic, source->topic);
	TEXT_COPY(request->webhook_id, source->webhook_id);
	read_address(source, field_word(customer, "email"), &ids);
	TEXT_COPY(request->address_hash, ids.email_hash);
	field_id(customer, "id", request->customer_id, sizeof(request->customer_id));
	fields_done();
	return READ_PRIVACY;
}
