/* html.h: escapes text for HTML */
#ifndef KIT_WEB_HTML_H
#define KIT_WEB_HTML_H

#include "bus/base/bytes.h"

/* Appends `text`, safe between tags and within a quoted attribute, in either kind of quotes. */
void html_escape(const char *text, struct buffer *ret);
void html_escape_bytes(struct bytes text, struct buffer *ret);

#endif
