/* describe.h: a message in one line of words, for people */
#ifndef CARTS_WORDS_DESCRIBE_H
#define CARTS_WORDS_DESCRIBE_H

#include "bus/actor/topic.h"
#include "bus/base/bytes.h"

/* Appends one line without its end. Times are in `zone`. Addresses are masked. */
void describe(const struct topic *topic, const void *message, const char *zone, struct buffer *ret);
/* "2026-11-20 14:05:03", in `zone`; "never" for 0 */
void describe_time(const char *zone, int64_t us, char ret[40]);

#endif
