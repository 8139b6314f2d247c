/*
 * json.c: reads a JSON text into a tree
 *
 * A storefront's body is a few KB of small values. They are laid one behind the other into blocks that are freed at once, and texts
 * without escapes are copied as they are.
 *
 * Owns:      the blocks of each tree.
 * Promises:  reads what RFC 8259 allows and nothing else; needs time in proportion to the text (n log n of an object's members) and
 *            a stack in proportion to the depth allowed; texts that it yields are UTF-8.
 * Fails by:  a fault with its place.
 */
#include "services/gateway/json.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { FEW_MEMBERS = 32, BLOCK_BESIDE = 1024, BLOCK_PER_BYTE = 3 };

struct json_tree {
	struct json_tree *before; /* fuller blocks */
	size_t used, room;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct reading {
	const unsigned char *start, *at, *end;
	struct json_tree *tree;
	int depth_left;
	const char *fault;
	bool too_deep;
};

static void *fail(struct reading *reading, const char *words)
{
	if (!reading->fault)
		reading->fault = words;
	return NULL;
}

/* ---- room ---- */

static void add_block(struct reading *reading, size_t room)
{
	struct json_tree *block = memory_resize(NULL, sizeof(*block) + room);

	block->before = reading->tree;
	block->used = 0;
	block->room = room;
	reading->tree = block;
}

static void *take_room(struct reading *reading, size_t size, size_t alignment)
{
	size_t at = (reading->tree->used + alignment - 1) & ~(alignment - 1);

	if (at > reading->tree->room || size > reading->tree->room - at) {
		size_t room = 2 * reading->tree->room;

		add_block(reading, room > size ? room : size);
		at = 0;
	}
	reading->tree->used = at + size;
	return reading->tree->bytes + at;
}

static struct json *new_value(struct reading *reading, enum value_kind kind)
{
	struct json *value = take_room(reading, sizeof(*value), _Alignof(struct json));

	*value = (struct json){ .kind = kind };
	return value;
}

void json_tree_free(struct json_tree *tree)
{
	while (tree) {
		struct json_tree *before = tree->before;

		free(tree);
		tree = before;
	}
}

/* ---- words ---- */

static void skip_blanks(struct reading *reading)
{
	while (reading->at < reading->end &&
		(*reading->at == ' ' || *reading->at == '\n' || *reading->at == '\r' || *reading->at == '\t'))
		reading->at++;
}

static bool next_is(const struct reading *reading, char c)
{
	return reading->at < reading->end && *reading->at == (unsigned char)c;
}

static bool take_char(struct reading *reading, char c)
{
	bool is = next_is(reading, c);

	reading->at += is;
	return is;
}

/* ---- texts ---- */

static int hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind \u; negative: they are not. */
static int32_t take_unit(struct reading *reading)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = reading->at < reading->end ? hex_digit(*reading->at) : -1;

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
		reading->at++;
	}
	return unit;
}

static size_t write_utf8(int32_t code, char *to)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* \uXXXX, or two of them for what is above U+FFFF; half a pair names no character. */
static size_t take_code(struct reading *reading, char *to)
{
	int32_t code = take_unit(reading), low;

	if (code >= 0xd800 && code < 0xdc00 && take_char(reading, '\\') && take_char(reading, 'u')) {
		low = take_unit(reading);
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
	}
	if (code < 0 || (code >= 0xd800 && code < 0xe000)) {
		fail(reading, "a text with an escape that names no character");
		return 0;
	}
	return write_utf8(code, to);
}

/* Behind the backslash; 0: no such escape. Never writes more than the escape has bytes. */
static size_t take_escape(struct reading *reading, char *to)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *name;

	if (take_char(reading, 'u'))
		return take_code(reading, to);
	name = reading->at < reading->end && *reading->at ? strchr(names, *reading->at) : NULL;
	if (!name) {
		fail(reading, "a text with an unknown escape");
		return 0;
	}
	reading->at++;
	*to = meant[name - names];
	return 1;
}

/* The closing quote, or NULL. What has neither escapes nor bytes above 0x7f (ret_plain) is the text as it is. */
static const unsigned char *find_quote(const struct reading *reading, bool *ret_plain)
{
	const unsigned char *at = reading->at;

	*ret_plain = true;
	for (; at < reading->end && *at != '"'; at++) {
		if (*at < ' ')
			return NULL;
		if (*at == '\\' || *at >= 0x80)
			*ret_plain = false;
		if (*at == '\\' && ++at == reading->end)
			return NULL;
	}
	return at < reading->end ? at : NULL;
}

/* Behind the opening quote; NULL: a fault. A NUL follows. */
static const char *take_text(struct reading *reading, uint32_t *ret_len)
{
	bool plain;
	const unsigned char *quote = find_quote(reading, &plain);
	size_t len = 0;
	char *text;

	if (!quote)
		return fail(reading, "a text that does not end, or has a control character in it");
	text = take_room(reading, (size_t)(quote - reading->at) + 1, 1);
	if (plain) {
		len = (size_t)(quote - reading->at);
		memcpy(text, reading->at, len);
	} else {
		while (reading->at < quote && !reading->fault) {
			if (take_char(reading, '\\'))
				len += take_escape(reading, text + len);
			else
				text[len++] = (char)*reading->at++;
		}
		if (reading->fault || !text_is_utf8(BYTES(text, len)))
			return fail(reading, "a text that is not UTF-8");
	}
	reading->at = quote + 1;
	text[len] = '\0';
	*ret_len = (uint32_t)len;
	return text;
}

static struct json *read_text(struct reading *reading)
{
	struct json *value = new_value(reading, VALUE_TEXT);

	value->text = take_text(reading, &value->size);
	return value->text ? value : NULL;
}

/* ---- numbers ---- */

static size_t count_digits(struct reading *reading)
{
	const unsigned char *from = reading->at;

	while (reading->at < reading->end && *reading->at >= '0' && *reading->at <= '9')
		reading->at++;
	return (size_t)(reading->at - from);
}

static struct json *read_integer(struct reading *reading, const unsigned char *from)
{
	struct json *value = new_value(reading, VALUE_INTEGER);
	bool negative = *from == '-';

	for (from += negative; from < reading->at; from++) {
		int64_t digit = *from - '0';

		if (__builtin_mul_overflow(value->integer, 10, &value->integer) ||
			__builtin_add_overflow(value->integer, negative ? -digit : digit, &value->integer))
			return fail(reading, "a number that is too large");
	}
	return value;
}

static struct json *read_real(struct reading *reading, const unsigned char *from)
{
	struct json *value = new_value(reading, VALUE_REAL);
	size_t len = (size_t)(reading->at - from);
	char *digits = take_room(reading, len + 1, 1);

	memcpy(digits, from, len);
	digits[len] = '\0';
	value->real = strtod(digits, NULL);
	return isinf(value->real) ? fail(reading, "a number that is too large") : value;
}

static struct json *read_number(struct reading *reading)
{
	const unsigned char *from = reading->at;
	bool right, whole = true;

	take_char(reading, '-');
	right = take_char(reading, '0') || count_digits(reading) > 0;
	if (right && take_char(reading, '.')) {
		whole = false;
		right = count_digits(reading) > 0;
	}
	if (right && (take_char(reading, 'e') || take_char(reading, 'E'))) {
		whole = false;
		if (!take_char(reading, '+'))
			take_char(reading, '-');
		right = count_digits(reading) > 0;
	}
	if (!right)
		return fail(reading, "neither a value nor a number");
	return whole ? read_integer(reading, from) : read_real(reading, from);
}

/* ---- lists and objects ---- */

static struct json *read_value(struct reading *reading);

static int by_key(const void *a, const void *b)
{
	const struct json *left = *(struct json *const *)a, *right = *(struct json *const *)b;

	return bytes_compare(BYTES(left->key, left->key_len), BYTES(right->key, right->key_len));
}

/* The first byte, which is the NUL behind an empty key, tells most of them apart. */
static bool has_key(const struct json *member, const char *key, size_t len)
{
	return member->key_len == len && member->key[0] == key[0] && memcmp(member->key, key, len) == 0;
}

static bool many_keys_repeat(const struct json *object)
{
	const struct json **members = memory_resize(NULL, object->size * sizeof(*members));
	size_t count = 0;
	bool repeat = false;

	JSON_EACH (member, object)
		members[count++] = member;
	qsort(members, count, sizeof(*members), by_key);
	for (size_t i = 1; i < count && !repeat; i++)
		repeat = has_key(members[i - 1], members[i]->key, members[i]->key_len);
	free(members);
	return repeat;
}

static bool keys_repeat(const struct json *object)
{
	if (object->size > FEW_MEMBERS)
		return many_keys_repeat(object);
	JSON_EACH (member, object)
		for (const struct json *later = member->next; later; later = later->next)
			if (has_key(later, member->key, member->key_len))
				return true;
	return false;
}

static struct json *read_member(struct reading *reading)
{
	struct json *value;
	const char *key;
	uint32_t len;

	skip_blanks(reading);
	if (!take_char(reading, '"'))
		return fail(reading, "a member without a key");
	key = take_text(reading, &len);
	if (!key)
		return NULL;
	if (memchr(key, '\0', len))
		return fail(reading, "a key with a NUL in it");
	skip_blanks(reading);
	if (!take_char(reading, ':'))
		return fail(reading, "a key without a value");
	value = read_value(reading);
	if (!value)
		return NULL;
	value->key = key;
	value->key_len = len;
	return value;
}

static struct json *read_all(struct reading *reading, enum value_kind kind, char close)
{
	struct json *whole = new_value(reading, kind), **last = &whole->first;

	skip_blanks(reading);
	if (take_char(reading, close))
		return whole;
	do {
		*last = kind == VALUE_OBJECT ? read_member(reading) : read_value(reading);
		if (!*last)
			return NULL;
		last = &(*last)->next;
		whole->size++;
		skip_blanks(reading);
	} while (take_char(reading, ','));
	if (!take_char(reading, close))
		return fail(reading, "a list or an object that does not end");
	if (kind == VALUE_OBJECT && keys_repeat(whole))
		return fail(reading, "a key that is given twice");
	return whole;
}

static struct json *read_nested(struct reading *reading, enum value_kind kind, char close)
{
	struct json *whole;

	if (reading->depth_left == 0) {
		reading->too_deep = true;
		return fail(reading, "nested too deep");
	}
	reading->depth_left--;
	whole = read_all(reading, kind, close);
	reading->depth_left++;
	return whole;
}

static struct json *read_word(struct reading *reading, const char *word, enum value_kind kind)
{
	size_t len = strlen(word);

	if ((size_t)(reading->end - reading->at) < len || memcmp(reading->at, word, len) != 0)
		return fail(reading, "a word that is none of true, false, null");
	reading->at += len;
	return new_value(reading, kind);
}

static struct json *read_value(struct reading *reading)
{
	skip_blanks(reading);
	if (reading->at == reading->end)
		return fail(reading, "the text ends too early");
	switch (*reading->at) {
	case '{':
		reading->at++;
		return read_nested(reading, VALUE_OBJECT, '}');
	case '[':
		reading->at++;
		return read_nested(reading, VALUE_LIST, ']');
	case '"':
		reading->at++;
		return read_text(reading);
	case 't':
		return read_word(reading, "true", VALUE_TRUE);
	case 'f':
		return read_word(reading, "false", VALUE_FALSE);
	case 'n':
		return read_word(reading, "null", VALUE_NULL);
	default:
		return read_number(reading);
	}
}

/* ---- the whole ---- */

static struct json_fault place_of(const struct reading *reading)
{
	struct json_fault fault = { .words = reading->fault, .too_deep = reading->too_deep, .line = 1, .column = 1 };

	for (const unsigned char *at = reading->start; at < reading->at; at++) {
		fault.column = *at == '\n' ? 1 : fault.column + 1;
		fault.line += *at == '\n';
	}
	return fault;
}

const struct json *json_read(
	struct bytes text, int depth_most, struct json_tree **ret_tree, struct json_fault *ret_fault)
{
	const unsigned char *start = text.len > 0 ? text.data : (const unsigned char *)"";
	struct reading reading = { .start = start, .at = start, .end = start + text.len, .depth_left = depth_most };
	const struct json *whole = NULL;

	*ret_tree = NULL;
	if (text.len > UINT32_MAX) {
		fail(&reading, "the text is too long");
	} else {
		add_block(&reading, BLOCK_BESIDE + BLOCK_PER_BYTE * text.len);
		whole = read_value(&reading);
		skip_blanks(&reading);
		if (whole && reading.at < reading.end)
			whole = fail(&reading, "something behind the value");
	}
	if (whole) {
		*ret_tree = reading.tree;
		return whole;
	}
	*ret_fault = place_of(&reading);
	json_tree_free(reading.tree);
	return NULL;
}

const struct json *json_get(const struct json *object, const char *key)
{
	size_t len = strlen(key);

	if (!json_is(object, VALUE_OBJECT))
		return NULL;
	JSON_EACH (member, object)
		if (has_key(member, key, len))
			return member;
	return NULL;
}
