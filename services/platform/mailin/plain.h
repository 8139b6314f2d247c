/*
 * plain.h: what a part of a mail reads as
 */
#ifndef PLATFORM_MAILIN_PLAIN_H
#define PLATFORM_MAILIN_PLAIN_H

#include "bus/base/bytes.h"
#include <gmime/gmime.h>

/* The bytes of a part, without its transfer encoding; appended to *ret. */
void plain_bytes(GMimePart *part, struct buffer *ret);
/* The text of a part, without its transfer encoding, charset and HTML, as UTF-8, one line per line; appended to *ret. */
void plain_add(GMimeObject *part, struct buffer *ret);

/* Where the mail that came back begins in the text of a bounce: its headers, or the line that announces it; the text's end: nowhere. */
size_t plain_original_at(const char *text);
/* From there to its first header: without the line that announces it, empty lines, and the marks of a quote before the first. */
const char *plain_skip_quotes(const char *original);

#endif
