/*
 * fields.c: reads the bodies that storefronts really send
 *
 * Promises:  one bad field never makes the body fail. Texts are UTF-8 without control characters. Ids are
 *            never cut.
 * Read next: shopify.c, woocommerce.c, generic.c
 */
#include "services/kit/storefront/fields.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/time/timestamp.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <openssl/sha.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Memory for jansson that is freed in one step
 *
 * Owns:      the blocks between begin and end; jansson's choice of malloc and free in the whole process.
 * Promises:  outside of begin and end jansson uses malloc and free. Other threads always do (one may log
 *            meanwhile).
 * Fails by:  die() when there is no memory.
 */

enum { BLOCK_LEAST = 4096, BLOCK_PER_BYTE = 12 }; /* storefronts' bodies take about ten times their length */

struct block {
	struct block *before; /* the previous block, which is full */
	size_t used, room;
	alignas(max_align_t) unsigned char bytes[];
};

static _Thread_local struct block *newest;

static void add_block(size_t room)
{
	struct block *block = memory_resize(NULL, sizeof(*block) + room);

	block->before = newest;
	block->used = 0;
	block->room = room;
	newest = block;
}

static void *take(size_t size)
{
	const size_t step = alignof(max_align_t);
	size_t rounded = size <= SIZE_MAX - step ? (size + step - 1) / step * step : SIZE_MAX;
	void *taken;

	if (!newest)
		return malloc(size);
	if (rounded > newest->room - newest->used)
		add_block(rounded > 2 * newest->room ? rounded : 2 * newest->room);
	taken = newest->bytes + newest->used;
	newest->used += rounded;
	return taken;
}

static void leave(void *taken)
{
	if (!newest)
		free(taken);
}

void json_block_begin(size_t text_len)
{
	assert(!newest);
	add_block(BLOCK_LEAST + BLOCK_PER_BYTE * text_len);
	json_set_alloc_funcs(take, leave);
}

void json_block_end(void)
{
	json_set_alloc_funcs(malloc, free);
	while (newest) {
		struct block *before = newest->before;

		free(newest);
		newest = before;
	}
}

enum { ESCAPE_LEN = 6 };

/* Counts this character in the body; stops at FIELDS_DEPTH_MAX + 1. */
static int count_some(struct bytes body, char c)
{
	const char *at = body.data, *end = at + body.len;
	int count = 0;

	while (count <= FIELDS_DEPTH_MAX && at < end && (at = memchr(at, c, (size_t)(end - at)))) {
		count++;
		at++;
	}
	return count;
}

/* jansson's own limit of 2048 cannot be changed, so this counts the brackets outside of strings first. */
static bool too_deep(struct bytes body)
{
	const char *text = body.data;
	bool quoted = false;
	int depth = 0;

	if (count_some(body, '{') + count_some(body, '[') <= FIELDS_DEPTH_MAX)
		return false; /* so few brackets cannot be too deep; most bodies end here */
	for (size_t i = 0; i < body.len; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '['))
			depth++;
		else if (!quoted && (text[i] == '}' || text[i] == ']'))
			depth--;
		if (depth > FIELDS_DEPTH_MAX)
			return true;
	}
	return false;
}

/* The code of a JSON escape \uXXXX at `at`; 0: there is none. */
static unsigned escaped_code(struct bytes body, size_t at)
{
	const char *text = body.data;
	char digits[5] = "";

	if (body.len - at < ESCAPE_LEN || text[at] != '\\' || text[at + 1] != 'u')
		return 0;
	memcpy(digits, text + at + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (unsigned)strtoul(digits, NULL, 16) : 0;
}

/* How many bytes the escape at `at` has; *ret_half: it is one half of a surrogate pair without the other. */
static size_t escape_len(struct bytes body, size_t at, bool *ret_half)
{
	unsigned code = escaped_code(body, at);
	bool paired = code >= 0xd800 && code < 0xdc00 && body.len - at > ESCAPE_LEN &&
		(escaped_code(body, at + ESCAPE_LEN) & 0xfc00) == 0xdc00;

	*ret_half = (code & 0xf800) == 0xd800 && !paired;
	return code == 0 ? 2 : paired ? 2 * ESCAPE_LEN : ESCAPE_LEN;
}

/*
 * If a text was cut within an emoji, JavaScript sends half a surrogate pair. This JSON is well-formed (RFC
 * 8259, section 8.2), but jansson refuses it. Each half is replaced by U+FFFD, which is as long. `body` is
 * not changed.
 */
static struct bytes mend_halves(struct bytes body, struct buffer *mended)
{
	const char *at = body.len ? memchr(body.data, '\\', body.len) : NULL;
	bool half;

	for (size_t i = at ? (size_t)(at - (const char *)body.data) : body.len; i < body.len;) {
		size_t len = ((const char *)body.data)[i] == '\\' ? escape_len(body, i, &half) : 1;

		if (len == ESCAPE_LEN && half) {
			if (!mended->len)
				buffer_add(mended, body.data, body.len);
			memcpy(mended->data + i, "\\ufffd", ESCAPE_LEN);
		}
		i += len;
	}
	return mended->len ? buffer_bytes(mended) : body;
}

const json_t *fields_parse(struct bytes body, char ret_why[200])
{
	_cleanup_(buffer_free) struct buffer mended = { 0 };
	json_error_t error;
	const json_t *json;

	if (body.len >= 3 && memcmp(body.data, "\xef\xbb\xbf", 3) == 0) /* skips a byte order mark */
		body = BYTES((const char *)body.data + 3, body.len - 3);
	if (too_deep(body)) {
		snprintf(ret_why, 200, "the JSON is nested deeper than %d", FIELDS_DEPTH_MAX);
		return NULL;
	}
	body = mend_halves(body, &mended);
	json_block_begin(body.len);
	json = json_loadb(body.data ? body.data : "", body.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!json) /* without error.text, which quotes the body and so perhaps an address */
		snprintf(ret_why, 200, "not valid JSON (line %d, column %d)", error.line, error.column);
	else if (!json_is_object(json))
		snprintf(ret_why, 200, "the JSON is not an object");
	if (json_is_object(json))
		return json;
	json_block_end();
	return NULL;
}

void fields_done(void)
{
	json_block_end();
}

const json_t *field_object(const json_t *object, const char *name)
{
	const json_t *field = json_object_get(object, name);

	return json_is_object(field) ? field : NULL;
}

const json_t *field_list(const json_t *object, const char *name)
{
	const json_t *field = json_object_get(object, name);

	return json_is_array(field) ? field : NULL;
}

static const char *as_word(const json_t *field)
{
	const char *text = json_string_value(field);

	return text && *text && strlen(text) == json_string_length(field) ? text : NULL;
}

const char *field_word(const json_t *object, const char *name)
{
	return as_word(json_object_get(object, name));
}

bool field_true(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

static bool is_word_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

int field_yes_no(const json_t *object, const char *name)
{
	static const char *const yes[] = { "1", "true", "yes", NULL };
	static const char *const no[] = { "0", "false", "no", "denied", "", NULL };
	const json_t *field = json_object_get(object, name);
	const char *text = json_string_value(field);

	if (!field || json_is_null(field))
		return -ENOENT;
	if (json_is_boolean(field))
		return json_is_true(field);
	if (json_is_number(field) && (json_number_value(field) == 0 || json_number_value(field) == 1))
		return json_number_value(field) == 1;
	if (!text || strlen(text) != json_string_length(field))
		return -EINVAL;
	if (is_word_of(text, yes))
		return 1;
	return is_word_of(text, no) ? 0 : -EINVAL;
}

/* Is it a whole number? Some storefronts write 9.0. A real beyond 2^53 is not exact, so it counts as none. */
static bool is_whole(const json_t *field, json_int_t *ret)
{
	const double number = json_real_value(field); /* 0: it is no real */

	*ret = json_integer_value(field);
	if (json_is_real(field) && fabs(number) <= 9007199254740992.0)
		*ret = (json_int_t)number;
	return json_is_integer(field) || (json_is_real(field) && fabs(number - (double)*ret) == 0);
}

/* A text or a whole number as bytes; `scratch` gets the number's digits. Empty: the field is neither. */
static struct bytes as_text(const json_t *field, char scratch[32])
{
	json_int_t number;

	if (json_is_string(field))
		return BYTES(json_string_value(field), json_string_length(field));
	if (is_whole(field, &number))
		return BYTES(scratch, (size_t)snprintf(scratch, 32, "%" JSON_INTEGER_FORMAT, number));
	return BYTES("", 0);
}

bool field_has_control(struct bytes text, bool marks)
{
	for (size_t i = 0; i < text.len; i++)
		if (text_control(BYTES((const char *)text.data + i, text.len - i), marks))
			return true;
	return false;
}

bool field_text(const json_t *object, const char *name, char *ret, size_t room)
{
	char scratch[32];
	struct bytes text = as_text(json_object_get(object, name), scratch);
	struct buffer clean = { 0 };

	ret[0] = '\0';
	if (!field_has_control(text, false)) {
		text_copy_bytes(ret, room, text);
		return ret[0] != '\0';
	}
	buffer_add(&clean, text.data, text.len);
	for (size_t i = 0; i < clean.len; i++)
		memset(clean.data + i, ' ', text_control(BYTES(clean.data + i, clean.len - i), false));
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

bool field_id(const json_t *object, const char *name, char *ret, size_t room)
{
	char scratch[32];
	struct bytes text = as_text(json_object_get(object, name), scratch);

	ret[0] = '\0';
	if (text.len == 0)
		return false;
	if (text.len >= room || field_has_control(text, true))
		name_by_digest(text, ret, room);
	else
		text_copy_bytes(ret, room, text);
	return true;
}

bool field_url(const json_t *object, const char *name, char *ret, size_t room)
{
	const char *text = field_word(object, name);

	ret[0] = '\0';
	if (!text || strlen(text) >= room)
		return false;
	if (!text_starts(text, "https://") && !text_starts(text, "http://"))
		return false;
	for (const char *at = text; *at; at++)
		if (*at == ' ' || strchr("\"'<>\\", *at))
			return false;
	return !field_has_control(bytes_of(text), true) && text_copy(ret, room, text);
}

bool field_https(const json_t *object, const char *name, char *ret, size_t room)
{
	if (!field_url(object, name, ret, room) || !text_starts(ret, "https://"))
		ret[0] = '\0';
	return ret[0] != '\0';
}

static int signed_money(const json_t *object, const char *name, const char *currency, int64_t *ret_minor)
{
	const json_t *field = json_object_get(object, name);
	char number[40];
	struct bytes text;

	if (!field || json_is_null(field))
		return 0;
	text = as_text(field, number);
	if (json_is_real(field))
		text.len = (size_t)snprintf(number, sizeof(number), "%.12g", json_real_value(field));
	else if (text.len == 0 || text.len >= sizeof(number) || field_has_control(text, false))
		return -EINVAL;
	else if (text.data != number)
		text_copy_bytes(number, sizeof(number), text);
	return money_parse(number, currency, ret_minor) < 0 ? -EINVAL : 1;
}

int field_money(const json_t *object, const char *name, const char *currency, int64_t *ret_minor)
{
	int r = signed_money(object, name, currency, ret_minor);

	return r == 1 && *ret_minor < 0 ? -EINVAL : r;
}

bool field_refund(const json_t *object, const char *name, const char *currency, int64_t *ret_minor)
{
	if (signed_money(object, name, currency, ret_minor) != 1 || *ret_minor == 0)
		return false;
	*ret_minor = llabs(*ret_minor);
	return true;
}

bool field_timestamp(const json_t *object, const char *name, int64_t *ret_us)
{
	const char *text = field_word(object, name);

	return text && timestamp_parse(text, ret_us) == 0;
}

int field_currency(const json_t *object, const char *name, char ret[4])
{
	const json_t *field = json_object_get(object, name);
	const char *text = json_string_value(field);

	ret[0] = '\0';
	if (!field || json_is_null(field) || (text && !*text))
		return 0;
	if (!text || strlen(text) != 3 || json_string_length(field) != 3)
		return -EINVAL;
	for (int i = 0; i < 4; i++)
		ret[i] = (char)toupper((unsigned char)text[i]);
	if (money_currency_valid(ret))
		return 1;
	ret[0] = '\0';
	return -EINVAL;
}
