/* chunks.c: is a chunked body one that can be read in one way only? */
#include "services/kit/web/chunks.h"
#include <errno.h>

enum { SIZE_DIGITS_MOST = 8 };

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Moves *at behind a CRLF. 1: it is there; 0: it has not all come; -EBADMSG: something else is there. */
static int take_line_end(const char *text, size_t len, size_t *at)
{
	static const char line_end[] = "\r\n";

	for (int i = 0; i < 2; i++, (*at)++) {
		if (*at == len)
			return 0;
		if (text[*at] != line_end[i])
			return -EBADMSG;
	}
	return 1;
}

/* The line of a chunk's size, as take_line_end; -ERANGE: the size has too many digits. */
static int take_size(const char *text, size_t len, size_t *at, size_t *ret_size)
{
	int digits = 0, digit;

	*ret_size = 0;
	for (; *at < len && (digit = hex_digit(text[*at])) >= 0; (*at)++) {
		if (++digits > SIZE_DIGITS_MOST)
			return -ERANGE;
		*ret_size = *ret_size * 16 + (size_t)digit;
	}
	if (digits == 0)
		return *at == len ? 0 : -EBADMSG;
	return take_line_end(text, len, at);
}

static long refuse(int why, const char **ret_why)
{
	*ret_why = why == -ERANGE
		? "the size of a chunk is too large"
		: "a chunk is a number and CRLF, its data and CRLF; extensions and trailers are not taken";
	return -EBADMSG;
}

long chunks_end(struct bytes data, const char **ret_why)
{
	const char *text = data.data;
	size_t at = 0, size;
	int came;

	do {
		came = take_size(text, data.len, &at, &size);
		if (came > 0 && size > data.len - at)
			return 0;
		if (came > 0) {
			at += size;
			came = take_line_end(text, data.len, &at);
		}
		if (came < 0)
			return refuse(came, ret_why);
	} while (came > 0 && size > 0);
	return came > 0 ? (long)at : 0;
}
