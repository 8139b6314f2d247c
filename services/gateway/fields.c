/*
 * fields.c: reads the bodies that storefronts really send
 *
 * Promises: never fails on one bad field; text comes out as UTF-8 without control characters; ids come out whole.
 * Read next: shopify.c, woocommerce.c, generic.c
 */
#include "services/gateway/fields.h"
#include "bus/base/text.h"
#include "services/gateway/moment.h"
#include "services/kit/money.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>

const struct json *fields_parse(struct bytes body, struct json_tree **ret_tree, char ret_why[200])
{
	struct json_fault fault;
	const struct json *json = json_read(body, FIELDS_DEPTH_MAX, ret_tree, &fault);

	if (!json && fault.too_deep)
		snprintf(ret_why, 200, "the JSON is nested deeper than %d", FIELDS_DEPTH_MAX);
	else if (!json)
		snprintf(
			ret_why, 200, "not valid JSON (line %u, column %u): %s", fault.line, fault.column, fault.words);
	if (!json || json_is(json, VALUE_OBJECT))
		return json;
	snprintf(ret_why, 200, "the JSON is not an object");
	json_tree_free(*ret_tree);
	*ret_tree = NULL;
	return NULL;
}

const struct json *field_object(const struct json *object, const char *name)
{
	const struct json *field = json_get(object, name);

	return json_is(field, VALUE_OBJECT) ? field : NULL;
}

const struct json *field_list(const struct json *object, const char *name)
{
	const struct json *field = json_get(object, name);

	return json_is(field, VALUE_LIST) ? field : NULL;
}

static const char *as_word(const struct json *field)
{
	return json_is(field, VALUE_TEXT) && field->size > 0 && strlen(field->text) == field->size ? field->text : NULL;
}

const char *field_word(const struct json *object, const char *name)
{
	return as_word(json_get(object, name));
}

bool field_true(const struct json *object, const char *name)
{
	return json_is(json_get(object, name), VALUE_TRUE);
}

/* Text or whole number, as bytes; `scratch` holds a number's digits. Empty: neither. */
static struct bytes as_text(const struct json *field, char scratch[32])
{
	if (json_is(field, VALUE_TEXT))
		return BYTES(field->text, field->size);
	if (json_is(field, VALUE_INTEGER))
		return BYTES(scratch, (size_t)snprintf(scratch, 32, "%" PRId64, field->integer));
	return BYTES("", 0);
}

static bool has_control(struct bytes text)
{
	const unsigned char *at = text.data;

	for (size_t i = 0; i < text.len; i++)
		if (at[i] < 0x20 || at[i] == 0x7f)
			return true;
	return false;
}

bool field_text(const struct json *object, const char *name, char *ret, size_t room)
{
	char scratch[32];
	struct bytes text = as_text(json_get(object, name), scratch);
	struct buffer clean = { 0 };

	ret[0] = '\0';
	if (!has_control(text)) {
		text_copy_bytes(ret, room, text);
		return ret[0] != '\0';
	}
	buffer_add(&clean, text.data, text.len);
	for (size_t i = 0; i < clean.len; i++)
		if (clean.data[i] < 0x20 || clean.data[i] == 0x7f)
			clean.data[i] = ' ';
	text_copy_bytes(ret, room, buffer_bytes(&clean));
	buffer_free(&clean);
	return ret[0] != '\0';
}

static void name_by_digest(struct bytes text, char *ret, size_t room)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];

	SHA256(text.data, text.len, digest);
	text_hex(digest, sizeof(digest), hex);
	snprintf(ret, room, "sha256-%s", hex);
}

bool field_id(const struct json *object, const char *name, char *ret, size_t room)
{
	char scratch[32];
	struct bytes text = as_text(json_get(object, name), scratch);

	ret[0] = '\0';
	if (text.len == 0)
		return false;
	if (text.len >= room || has_control(text))
		name_by_digest(text, ret, room);
	else
		text_copy_bytes(ret, room, text);
	return true;
}

bool field_url(const struct json *object, const char *name, char *ret, size_t room)
{
	const char *text = field_word(object, name);

	ret[0] = '\0';
	if (!text || strlen(text) >= room)
		return false;
	if (!text_starts(text, "https://") && !text_starts(text, "http://"))
		return false;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("\"'<>\\", *at))
			return false;
	return text_copy(ret, room, text);
}

bool field_https(const struct json *object, const char *name, char *ret, size_t room)
{
	if (!field_url(object, name, ret, room) || !text_starts(ret, "https://"))
		ret[0] = '\0';
	return ret[0] != '\0';
}

int field_money(const struct json *object, const char *name, const char *currency, int64_t *ret_minor)
{
	const struct json *field = json_get(object, name);
	char number[40];
	struct bytes text;

	if (!field || json_is(field, VALUE_NULL))
		return 0;
	text = as_text(field, number);
	if (json_is(field, VALUE_REAL))
		text.len = (size_t)snprintf(number, sizeof(number), "%.12g", field->real);
	else if (text.len == 0 || text.len >= sizeof(number) || has_control(text))
		return -EINVAL;
	else if (text.data != number)
		text_copy_bytes(number, sizeof(number), text);
	if (money_parse(number, currency, ret_minor) < 0 || *ret_minor < 0)
		return -EINVAL;
	return 1;
}

bool field_moment(const struct json *object, const char *name, int64_t *ret_us)
{
	const char *text = field_word(object, name);

	return text && moment_parse(text, ret_us) == 0;
}

int field_currency(const struct json *object, const char *name, char ret[4])
{
	const struct json *field = json_get(object, name);
	const char *text = as_word(field);

	ret[0] = '\0';
	if (!field || json_is(field, VALUE_NULL) || (json_is(field, VALUE_TEXT) && !field->text[0]))
		return 0;
	if (!text || strlen(text) != 3)
		return -EINVAL;
	for (int i = 0; i < 4; i++)
		ret[i] = (char)toupper((unsigned char)text[i]);
	if (money_currency_valid(ret))
		return 1;
	ret[0] = '\0';
	return -EINVAL;
}
