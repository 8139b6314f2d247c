/* html.c: escapes text for HTML */
#include "services/kit/web/html.h"

static const char *escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void html_escape_bytes(struct bytes text, struct buffer *ret)
{
	const char *at = text.data, *end = at + text.len;

	while (at < end) {
		const char *from = at;

		while (at < end && !escape_of(*at))
			at++;
		buffer_add(ret, from, (size_t)(at - from));
		if (at < end)
			buffer_add_text(ret, escape_of(*at++));
	}
}

void html_escape(const char *text, struct buffer *ret)
{
	html_escape_bytes(bytes_of(text), ret);
}
