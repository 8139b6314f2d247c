/*
 * words.h: what mail servers say, as words that compare
 */
#ifndef PLATFORM_MAILIN_WORDS_H
#define PLATFORM_MAILIN_WORDS_H

#include "bus/base/bytes.h"

enum { WORDS_MOST = 12 * 1024 }; /* of a text that is looked at */

/*
 * UTF-8 or any bytes. *ret: valid UTF-8 of at most WORDS_MOST bytes in lower case, every run of spaces as one, every address as "@",
 * quotation marks left out, and without the codes that begin the further lines of an answer ("550-5.1.1 ").
 */
void words_tidy(struct bytes text, struct buffer *ret);

/* Where these words, tidied, hold the phrase; NULL: nowhere. A `*` in it is up to 60 bytes of anything; a word begins where it does. */
const char *words_find(const char *words, const char *phrase);

#endif
