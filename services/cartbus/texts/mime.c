/*
 * mime.c: takes a mail of ours apart again
 */
#include "services/cartbus/texts/mime.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)toupper((unsigned char)c);
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One character of quoted-printable at `at`; returns how many bytes it took, and the character (-1: none, a soft line end). */
static size_t quoted_one(const char *at, const char *end, int *ret)
{
	*ret = (unsigned char)*at;
	if (*at == '\r') {
		*ret = -1;
		return 1;
	}
	if (*at != '=' || end - at < 3)
		return 1;
	if (at[1] == '\r') {
		*ret = -1;
		return 3;
	}
	if (hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
		return 1;
	*ret = hex_digit(at[1]) * 16 + hex_digit(at[2]);
	return 3;
}

static void decode_quoted(const char *at, const char *end, struct buffer *ret)
{
	while (at < end) {
		int character;
		uint8_t byte;

		at += quoted_one(at, end, &character);
		byte = (uint8_t)character;
		if (character >= 0)
			buffer_add(ret, &byte, 1);
	}
}

static const char *find(const char *at, const char *end, const char *text)
{
	return at && at < end ? memmem(at, (size_t)(end - at), text, strlen(text)) : NULL;
}

/* What ends a part: CRLF, two dashes and the boundary; "" in a mail of one part. */
static void find_boundary(const char *start, const char *end, char ret[100])
{
	const char *at = find(start, end, "boundary=\"");
	const char *stop = at ? find(at + 10, end, "\"") : NULL;

	ret[0] = '\0';
	if (stop && stop - at - 10 < 80)
		snprintf(ret, 100, "\r\n--%.*s", (int)(stop - at - 10), at + 10);
}

int mime_part(struct bytes mime, const char *type, struct buffer *ret)
{
	const char *start = mime.data, *end = start + mime.len, *at, *body, *stop;
	char wanted[64], boundary[100];

	find_boundary(start, end, boundary);
	snprintf(wanted, sizeof(wanted), "Content-Type: %s", type);
	at = find(start, end, wanted);
	body = find(at, end, "\r\n\r\n");
	if (!body)
		return -ENOENT;
	body += 4;
	stop = boundary[0] ? find(body, end, boundary) : NULL;
	decode_quoted(body, stop ? stop : end, ret);
	return 0;
}

static void decode_base64(const char *at, size_t len, struct buffer *ret)
{
	uint8_t decoded[600];
	int got;

	if (len > 600 || len % 4)
		return;
	got = EVP_DecodeBlock(decoded, (const unsigned char *)at, (int)len);
	for (size_t i = 0; i < 2 && got > 0 && len > i && at[len - 1 - i] == '='; i++)
		got--;
	if (got > 0)
		buffer_add(ret, decoded, (size_t)got);
}

/* "=?UTF-8?Q?...?=" or "=?UTF-8?B?...?=" at `at`; returns what follows it, or NULL when it is none. */
static const char *encoded_word(const char *at, const char *end, struct buffer *ret)
{
	const char *stop = find(at + 10, end, "?=");

	if (end - at < 12 || strncasecmp(at, "=?UTF-8?", 8) != 0 || !stop)
		return NULL;
	if (at[8] == 'B' || at[8] == 'b') {
		decode_base64(at + 10, (size_t)(stop - at - 10), ret);
		return stop + 2;
	}
	for (const char *c = at + 10; c < stop;) {
		int character = ' ';
		uint8_t byte;

		c += *c == '_' ? 1 : quoted_one(c, stop, &character);
		byte = (uint8_t)character;
		buffer_add(ret, &byte, 1);
	}
	return stop + 2;
}

static void decode_words(const char *at, const char *end, struct buffer *ret)
{
	while (at < end) {
		const char *after = *at == '=' ? encoded_word(at, end, ret) : NULL;

		if (!after && *at != '\r' && *at != '\n')
			buffer_add(ret, at, 1);
		at = after ? after : at + 1;
		if (after && end - at >= 5 && memcmp(at, "\r\n =?", 5) == 0)
			at += 3; /* blanks between encoded words are not part of the text */
	}
}

int mime_header(struct bytes mime, const char *name, char *ret, size_t room)
{
	const char *start = mime.data, *end = start + mime.len, *at, *stop;
	struct buffer value = { 0 };
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "\r\n%s: ", name);
	at = find(start, end, wanted);
	if (!at)
		return -ENOENT;
	at += strlen(wanted);
	stop = find(at, end, "\r\n");
	while (stop && stop + 2 < end && (stop[2] == ' ' || stop[2] == '\t'))
		stop = find(stop + 2, end, "\r\n");
	decode_words(at, stop ? stop : end, &value);
	snprintf(ret, room, "%s", buffer_text(&value));
	buffer_free(&value);
	return 0;
}
