/*
 * escape.h: makes a stranger's text safe for its place in a page
 *
 * All of these append to `ret`. Whatever the bytes are, the result is valid UTF-8: bytes that are no UTF-8, control characters (except tab
 * and line feed), and characters that change the direction of what follows (U+202A to U+202E, U+2066 to U+2069) become U+FFFD.
 */
#ifndef KIT_CONSOLE_ESCAPE_H
#define KIT_CONSOLE_ESCAPE_H

#include "bus/base/bytes.h"

/* For text, and for attributes in either kind of quotes. */
void escape_html(struct bytes text, struct buffer *ret);
/* Only valid UTF-8 without such characters: for what a script sets as textContent. */
void escape_nothing(struct bytes text, struct buffer *ret);
/*
 * For one segment of a path, or one value of a query: all but letters, digits and -._~ is percent-encoded. "." and ".." would climb, so
 * each becomes a segment that exists nowhere.
 */
void escape_component(struct bytes text, struct buffer *ret);
/*
 * A whole address as an attribute: a path that begins with one "/" gets `prefix`; http, https and mailto stay; all else becomes
 * "about:invalid", which leads nowhere.
 */
void escape_address(struct bytes address, const char *prefix, struct buffer *ret);

#endif
