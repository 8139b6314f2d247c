/* words.h: the words of mail servers in a form that can be compared */
#ifndef PLATFORM_MAILIN_WORDS_H
#define PLATFORM_MAILIN_WORDS_H

#include "bus/base/bytes.h"

enum { WORDS_MOST = 12 * 1024 }; /* bytes of a text that are read */

/*
 * UTF-8 or any bytes. *ret: valid UTF-8 of at most WORDS_MOST bytes in lower case, every run of spaces as one, every address as "@",
 * quotation marks left out, and without the codes that begin the further lines of an answer ("550-5.1.1 ").
 */
void words_tidy(struct bytes text, struct buffer *ret);

/*
 * Finds the phrase in tidied words; NULL: it is not there. A `*` in the phrase matches up to 60 bytes. The
 * phrase must begin at the beginning of a word.
 */
const char *words_find(const char *words, const char *phrase);

#endif
