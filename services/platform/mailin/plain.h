/* plain.h: the plain text of a part of a mail */
#ifndef PLATFORM_MAILIN_PLAIN_H
#define PLATFORM_MAILIN_PLAIN_H

#include "bus/base/bytes.h"
#include <gmime/gmime.h>

/* The bytes of a part, without its transfer encoding; appended to *ret. */
void plain_bytes(GMimePart *part, struct buffer *ret);
/* The text of a part, without its transfer encoding, charset and HTML, as UTF-8, one line per line; appended to *ret. */
void plain_add(GMimeObject *part, struct buffer *ret);

/*
 * The offset at which the returned mail begins in the text of a bounce: its headers, or the line that
 * announces it; the end of the text if there is none.
 */
size_t plain_original_at(const char *text);
/*
 * The first header of the returned mail: skips the announcing line, empty lines, and quote marks before the
 * first header.
 */
const char *plain_skip_quotes(const char *original);

#endif
