/* span.h: a span of time as people type it */
#ifndef KIT_SPAN_H
#define KIT_SPAN_H

#include <stdint.h>

/* "45s", "30min", "6h", "2d": microseconds. -EINVAL: anything else, zero, or more than most_us. */
int span_parse(const char *text, int64_t most_us, int64_t *ret_us);

#endif
