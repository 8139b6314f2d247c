/*
 * sns.c: reads the posts of Amazon SNS, and checks that SNS signed them
 *
 * Promises:  the signature is checked over the same values that are used later.
 * Fails by:  -EBADMSG with the reason in words; false.
 * Read next: feedback.c (the caller)
 */
#include "services/platform/gateway/sns.h"
#include "bus/base/text.h"
#include "services/kit/http/sns.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/time/timestamp.h"
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>

enum {
	SIGNATURE_CHARACTERS_MOST = 1400, /* of an RSA key of 8192 bits, in base64 */
	PARTS_MOST = 128                  /* SNS has 11 fields, and up to 10 attributes of 2 each */
};

static const char *const notification_covers[] = { "Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type",
	NULL };
static const char *const subscription_covers[] = { "Message", "MessageId", "SubscribeURL", "Timestamp", "Token",
	"TopicArn", "Type", NULL };

static const struct {
	const char *type;
	enum sns_kind kind;
	const char *const *covers;
} kinds[] = {
	{ "Notification", SNS_NOTIFICATION, notification_covers },
	{ "SubscriptionConfirmation", SNS_SUBSCRIBE, subscription_covers },
	{ "UnsubscribeConfirmation", SNS_UNSUBSCRIBE, subscription_covers },
};

static int wrong(char ret_why[200], const char *what)
{
	snprintf(ret_why, 200, "this is no message of SNS: %s", what);
	return -EBADMSG;
}

static bool take(const json_t *envelope, const char *name, char *ret, size_t room)
{
	const char *word = field_word(envelope, name);
	return word && !text_has_control(word) && text_copy(ret, room, word);
}

/* Only a Subject may be missing. */
static bool cover(const json_t *envelope, const char *const *names, struct buffer *ret)
{
	for (; *names; names++) {
		const json_t *value = json_object_get(envelope, *names);
		if (!json_is_string(value)) {
			if (strcmp(*names, "Subject") == 0)
				continue;
			return false;
		}
		buffer_printf(ret, "%s\n", *names);
		buffer_add(ret, json_string_value(value), json_string_length(value));
		buffer_add_text(ret, "\n");
	}
	return true;
}

static bool decode(const char *base64, struct buffer *ret)
{
	size_t len = strlen(base64);
	int written = 0, rest = 0;
	if (len == 0 || len > SIGNATURE_CHARACTERS_MOST)
		return false;
	EVP_ENCODE_CTX *context = EVP_ENCODE_CTX_new();
	unsigned char *to = buffer_grow(ret, len);
	EVP_DecodeInit(context);
	bool good = EVP_DecodeUpdate(context, to, &written, (const unsigned char *)base64, (int)len) >= 0 &&
		EVP_DecodeFinal(context, to + written, &rest) == 1;
	ret->len += good ? (size_t)(written + rest) : 0;
	EVP_ENCODE_CTX_free(context);
	return good && ret->len > 0;
}

static bool message_id_valid(const char *id)
{
	return strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == strlen(id);
}

static int take_signature(const json_t *envelope, struct sns *ret, char ret_why[200])
{
	const char *version = field_word(envelope, "SignatureVersion"), *signature = field_word(envelope, "Signature");
	ret->version = version && strcmp(version, "1") == 0 ? 1 : version && strcmp(version, "2") == 0 ? 2 : 0;
	if (!ret->version)
		return wrong(ret_why, "its signature has an unknown version");
	if (!signature || !decode(signature, &ret->signature))
		return wrong(ret_why, "it has no signature");
	if (!take(envelope, "SigningCertURL", ret->certificate_url, sizeof(ret->certificate_url)))
		return wrong(ret_why, "it does not say with which certificate it is signed");
	return 0;
}

static int take_kind(const json_t *envelope, struct sns *ret, char ret_why[200])
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(ret->type, kinds[i].type) == 0) {
			ret->kind = kinds[i].kind;
			return cover(envelope, kinds[i].covers, &ret->covered) ? 0
									       : wrong(ret_why, "fields are missing");
		}
	return wrong(ret_why, "its type is unknown");
}

static int take_all(const json_t *envelope, struct sns *ret, char ret_why[200])
{
	char timestamp[40];
	const json_t *message = json_object_get(envelope, "Message");
	if (!take(envelope, "Type", ret->type, sizeof(ret->type)) ||
		!take(envelope, "TopicArn", ret->topic_arn, sizeof(ret->topic_arn)) ||
		!take(envelope, "MessageId", ret->message_id, sizeof(ret->message_id)) ||
		!message_id_valid(ret->message_id) || !json_is_string(message))
		return wrong(ret_why, "fields are missing");
	if (!take(envelope, "Timestamp", timestamp, sizeof(timestamp)) || timestamp_parse(timestamp, &ret->at_us) < 0)
		return wrong(ret_why, "it does not say when it was sent");
	int r = take_kind(envelope, ret, ret_why);
	if (r == 0)
		r = take_signature(envelope, ret, ret_why);
	if (r == 0 && ret->kind == SNS_SUBSCRIBE &&
		!take(envelope, "SubscribeURL", ret->subscribe_url, sizeof(ret->subscribe_url)))
		return wrong(ret_why, "it does not say how to subscribe");
	buffer_add(&ret->message, json_string_value(message), json_string_length(message));
	return r;
}

bool sns_may_be_envelope(struct bytes body)
{
	const char *text = body.data;
	bool quoted = false;
	int parts = 0;

	for (size_t i = 0; i < body.len && parts <= PARTS_MOST; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted)
			parts += text[i] == '{' || text[i] == '[' || text[i] == ',';
	}
	return parts <= PARTS_MOST;
}

int sns_parse(struct bytes body, struct sns *ret, char ret_why[200])
{
	memset(ret, 0, sizeof(*ret));
	const json_t *envelope = fields_parse(body, ret_why);
	if (!envelope)
		return -EBADMSG;
	int r = take_all(envelope, ret, ret_why);
	fields_done();
	return r;
}

void sns_clear(struct sns *sns)
{
	buffer_free(&sns->message);
	buffer_free(&sns->covered);
	buffer_free(&sns->signature);
}

/* ---- the signature ---- */

bool sns_certificate_holds(const char *pem, int64_t now_us)
{
	EVP_PKEY *key = NULL;
	bool ret = sns_certificate_key(pem, now_us, &key) == NULL;
	EVP_PKEY_free(key);
	return ret;
}

static bool verify(const struct sns *sns, EVP_PKEY *key)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	const EVP_MD *digest = sns->version == 1 ? EVP_sha1() : EVP_sha256();
	bool ret = EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1 &&
		EVP_DigestVerify(
			context, sns->signature.data, sns->signature.len, sns->covered.data, sns->covered.len) == 1;
	EVP_MD_CTX_free(context);
	return ret;
}

bool sns_signed_by(const struct sns *sns, const char *pem, int64_t now_us)
{
	EVP_PKEY *key = NULL;
	bool ret = sns_certificate_key(pem, now_us, &key) == NULL && verify(sns, key);
	EVP_PKEY_free(key);
	return ret;
}
