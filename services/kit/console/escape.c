/*
 * escape.c: makes a stranger's text safe for its place in a page
 *
 * Promises:  the result is valid UTF-8, and nothing in it leaves its place: no tag, no quote, no other scheme, no change of direction.
 * Read next: markup.c (which place a value is in)
 */
#include "services/kit/console/escape.h"
#include "services/kit/web/html.h"
#include <ctype.h>
#include <strings.h>
#include <unicode/utf8.h>

static const char nowhere[] = "about:invalid", replaced[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool is_plain_ascii(uint8_t c)
{
	return (c >= ' ' && c < 0x7f) || c == '\t' || c == '\n';
}

static bool may_be_shown(UChar32 c)
{
	return c >= 0xa0 && !(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/* The length of the next run of characters that may be shown; 0: there is one that may not, of `ret_skip` bytes. */
static size_t good_run(struct bytes text, size_t from, size_t *ret_skip)
{
	const uint8_t *data = text.data;
	size_t at = from;

	*ret_skip = 0;
	while (at < text.len) {
		size_t before = at;
		UChar32 c;

		if (is_plain_ascii(data[at])) {
			at++;
			continue;
		}
		U8_NEXT(data, at, text.len, c);
		if (may_be_shown(c))
			continue;
		*ret_skip = at - before;
		return before - from;
	}
	return at - from;
}

static void escape_by(struct bytes text, void (*add)(struct bytes run, struct buffer *ret), struct buffer *ret)
{
	size_t at = 0, skip;

	while (at < text.len) {
		size_t run = good_run(text, at, &skip);

		add(BYTES((const uint8_t *)text.data + at, run), ret);
		if (skip > 0)
			add(bytes_of(replaced), ret);
		at += run + skip;
	}
}

static void add_as_it_is(struct bytes run, struct buffer *ret)
{
	buffer_add(ret, run.data, run.len);
}

static void add_percent(struct bytes run, struct buffer *ret)
{
	static const char digits[] = "0123456789ABCDEF";
	const uint8_t *data = run.data;

	for (size_t i = 0; i < run.len; i++) {
		char coded[] = { '%', digits[data[i] >> 4], digits[data[i] & 15] };

		if (data[i] < 0x80 && (isalnum(data[i]) || strchr("-._~", data[i])))
			buffer_add(ret, &data[i], 1);
		else
			buffer_add(ret, coded, sizeof(coded));
	}
}

void escape_html(struct bytes text, struct buffer *ret)
{
	escape_by(text, html_escape_bytes, ret);
}

void escape_nothing(struct bytes text, struct buffer *ret)
{
	escape_by(text, add_as_it_is, ret);
}

void escape_component(struct bytes text, struct buffer *ret)
{
	if (bytes_equal(text, bytes_of(".")) || bytes_equal(text, bytes_of("..")))
		text = bytes_of(replaced); /* a browser climbs even if the dots are encoded */
	escape_by(text, add_percent, ret);
}

static bool begins(struct bytes text, const char *with)
{
	return text.len > strlen(with) && strncasecmp(text.data, with, strlen(with)) == 0;
}

/* Browsers take out tabs and line feeds, and read "\" as "/": an address with them is another than it seems to be. */
static bool has_tricks(struct bytes address)
{
	const uint8_t *data = address.data;

	for (size_t i = 0; i < address.len; i++)
		if (data[i] <= ' ' || data[i] == 0x7f || data[i] == '\\')
			return true;
	return false;
}

void escape_address(struct bytes address, const char *prefix, struct buffer *ret)
{
	const char *data = address.data;
	bool is_path = address.len > 0 && data[0] == '/' && !(address.len > 1 && data[1] == '/');

	if (has_tricks(address) ||
		!(is_path || begins(address, "http://") || begins(address, "https://") || begins(address, "mailto:"))) {
		buffer_add_text(ret, nowhere);
		return;
	}
	if (is_path)
		escape_html(bytes_of(prefix), ret);
	escape_html(address, ret);
}
