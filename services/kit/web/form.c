/*
 * form.c: reads urlencoded forms (https://url.spec.whatwg.org/#application/x-www-form-urlencoded)
 *
 * Promises:  no field is read in two ways: an escape that is none, a NUL and bytes that are no UTF-8 are refused.
 * Fails by:  -EBADMSG, -E2BIG.
 */
#include "services/kit/web/form.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/web/request.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool form_next_pair(struct bytes *rest, struct bytes *ret)
{
	const char *at = rest->data, *and = rest->len ? memchr(at, '&', rest->len) : NULL;
	size_t len = and? (size_t)(and-at) : rest->len;

	if (rest->len == 0)
		return false;
	*rest = and? BYTES(and+1, rest->len - len - 1) : BYTES("", 0);
	while (len > 0 && (at[len - 1] == '\r' || at[len - 1] == '\n'))
		len--;
	*ret = BYTES(at, len);
	return true;
}

/* Decodes a name or a value: "+" is a blank, %41 an A. false: a bad %, a NUL, or too long. */
static bool decode(struct bytes value, char *ret, size_t room)
{
	const char *at = value.data, *end = at + value.len;
	size_t len = 0;

	while (at < end && len + 1 < room) {
		uint8_t byte = (uint8_t)*at++;
		char digits[3] = "";

		if (byte == '%') {
			if (end - at < 2 || !isxdigit((unsigned char)at[0]) || !isxdigit((unsigned char)at[1]))
				return false;
			memcpy(digits, at, 2);
			at += 2;
			byte = (uint8_t)strtoul(digits, NULL, 16);
		} else if (byte == '+') {
			byte = ' ';
		}
		if (byte == '\0')
			return false;
		ret[len++] = (char)byte;
	}
	ret[len] = '\0';
	return at == end;
}

bool form_find(struct bytes encoded, const char *name, char *ret, size_t room)
{
	size_t len = strlen(name);
	struct bytes pair;

	ret[0] = '\0';
	while (form_next_pair(&encoded, &pair)) {
		const char *at = pair.data;

		if (pair.len < len + 1 || memcmp(at, name, len) != 0 || at[len] != '=')
			continue;
		if (decode(BYTES(at + len + 1, pair.len - len - 1), ret, room))
			return true;
		ret[0] = '\0';
		return false;
	}
	return false;
}

/* ---- all fields ---- */

static int count_pairs(struct bytes encoded)
{
	struct bytes pair;
	int count = 0;

	while (form_next_pair(&encoded, &pair))
		count += pair.len > 0;
	return count;
}

/* Decodes into the text at *at, and moves *at behind it. NULL: it is no text. */
static const char *add_text(struct bytes encoded, char **at)
{
	char *text = *at;

	if (!decode(encoded, text, encoded.len + 1) || !text_is_utf8(bytes_of(text)))
		return NULL;
	*at += strlen(text) + 1;
	return text;
}

/* A name and a value with a NUL each need no more room than they had with the `=` and the `&`. */
static bool add_field(struct bytes pair, struct form *form, char **at)
{
	const char *sign = memchr(pair.data, '=', pair.len);
	size_t len = sign ? (size_t)(sign - (const char *)pair.data) : pair.len;
	struct form_field *field = &form->fields[form->count++];

	field->name = add_text(BYTES(pair.data, len), at);
	field->value = sign ? add_text(BYTES(sign + 1, pair.len - len - 1), at) : "";
	return field->name && field->value;
}

int form_read(struct bytes encoded, struct form *ret)
{
	int count = count_pairs(encoded);
	struct bytes pair;
	char *at;

	*ret = (struct form){ 0 };
	if (count > PARTS_MOST)
		return -E2BIG;
	ret->fields = memory_new(((size_t)count + 1) * sizeof(*ret->fields));
	ret->text = at = memory_new(encoded.len + 1);
	while (form_next_pair(&encoded, &pair)) {
		if (pair.len == 0 || add_field(pair, ret, &at))
			continue;
		form_free(ret);
		return -EBADMSG;
	}
	return 0;
}

void form_free(struct form *form)
{
	free(form->fields);
	free(form->text);
	*form = (struct form){ 0 };
}

const char *form_each(const struct form *form, const char *name, int *at)
{
	while (*at < form->count) {
		const struct form_field *field = &form->fields[(*at)++];

		if (strcmp(field->name, name) == 0)
			return field->value;
	}
	return NULL;
}

const char *form_value(const struct form *form, const char *name)
{
	int at = 0;

	return form_each(form, name, &at);
}
