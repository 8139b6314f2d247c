/*
 * secret_lines.c: reads the lines of the secret file SHOP.previous
 *
 * Read next: services/kit/endpoint/signature.c (accepts them), services/cartbus/shops/shop.c (adds them)
 */
#include "services/kit/storefront/secret_lines.h"
#include <string.h>

struct secret_lines secret_lines_of(struct bytes text)
{
	return (struct secret_lines){ .rest = text, .left = SECRET_LINES_MOST };
}

/* Takes the first line and its end off `rest`. Returns the line without its end. */
static struct bytes take_line(struct bytes *rest)
{
	const char *start = rest->data, *feed = memchr(start, '\n', rest->len);
	size_t len = feed ? (size_t)(feed - start) : rest->len, whole = len + (feed ? 1 : 0);

	*rest = BYTES(start + whole, rest->len - whole);
	if (len > 0 && start[len - 1] == '\r')
		len--; /* as file_read_secret does at the end of a file */
	return BYTES(start, len);
}

bool secret_lines_next(struct secret_lines *lines, struct bytes *ret)
{
	while (lines->left > 0 && lines->rest.len > 0) {
		*ret = take_line(&lines->rest);
		lines->left -= ret->len > 0;
		if (ret->len > 0)
			return true;
	}
	return false;
}

int secret_lines_count(struct bytes text)
{
	struct secret_lines lines = secret_lines_of(text);
	struct bytes secret;
	int count = 0;

	while (secret_lines_next(&lines, &secret))
		count++;
	return count;
}

bool secret_lines_have_more(struct bytes text)
{
	struct secret_lines lines = secret_lines_of(text);
	struct bytes secret;

	while (secret_lines_next(&lines, &secret))
		;
	lines.left = 1;
	return secret_lines_next(&lines, &secret);
}

bool secret_lines_have(struct bytes text, struct bytes secret)
{
	struct secret_lines lines = secret_lines_of(text);
	struct bytes line;

	while (secret_lines_next(&lines, &line))
		if (bytes_equal(line, secret))
			return true;
	return false;
}
