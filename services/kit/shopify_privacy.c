/*
 * shopify_privacy.c: the three topics by which Shopify passes on what the law grants a person
 *
 * Promises: names a person by the keyed hash of the address and by the storefront's number alone, because what is said is kept; the
 *           same delivery has the same id.
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/fields.h"
#include "services/kit/particulars.h"
#include <openssl/sha.h>

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

/* A delivery without an id is known by what it holds. */
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

enum reading shopify_read_privacy(const struct event_source *source, struct bytes body, struct event *ret)
{
	const struct privacy_topic *topic = find_topic(source->topic);
	const json_t *json = fields_parse(body, ret->why);
	const json_t *customer = field_object(json, "customer");
	PrivacyRequest *request = &ret->privacy;
	CartIds ids = { 0 };

	if (!topic || !json)
		return READ_UNREADABLE;
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
