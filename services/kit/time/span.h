/* span.h: a span of time as people type it, and read it */
#ifndef KIT_TIME_SPAN_H
#define KIT_TIME_SPAN_H

#include <stdint.h>

/* "45s", "30min", "6h", "2d": microseconds. -EINVAL: anything else, zero, or more than most_us. */
int span_parse(const char *text, int64_t most_us, int64_t *ret_us);

enum { SPAN_WORDS_MAX = 24 };
/* "3 d 2 h", "4 h 3 min", "20 s"; returns ret. */
const char *span_words(int64_t us, char ret[SPAN_WORDS_MAX]);

#endif
