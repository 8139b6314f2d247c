/* html.c: text as HTML shows it */
#include "services/kit/html.h"

void html_escape(const char *text, struct buffer *ret)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			buffer_add_text(ret, "&amp;");
			break;
		case '<':
			buffer_add_text(ret, "&lt;");
			break;
		case '>':
			buffer_add_text(ret, "&gt;");
			break;
		case '"':
			buffer_add_text(ret, "&quot;");
			break;
		case '\'':
			buffer_add_text(ret, "&#39;");
			break;
		default:
			buffer_add(ret, text, 1);
		}
}
