/* span.h: a span of time as an admin types it */
#ifndef CARTBUS_SPAN_H
#define CARTBUS_SPAN_H

#include <stdint.h>

int span_parse(const char *text, int64_t *ret_us); /* "30min", "6h", "2d", "45s"; -EINVAL */

#endif
