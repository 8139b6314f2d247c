/*
 * timestamp.h: the platforms' timestamps, and spans of time
 */
#ifndef KIT_TIME_TIMESTAMP_H
#define KIT_TIME_TIMESTAMP_H

#include <stdint.h>

/*
 * "2026-11-21T02:00:00-05:00", "...Z", with or without a fraction; without a zone it is UTC (WooCommerce's *_gmt fields).
 * Microseconds since 1970. -EINVAL: anything else, or before 1970.
 */
int timestamp_parse(const char *text, int64_t *ret_us);
/*
 * Limits a platform's time to 10 minutes after heard_us, because its clock may be wrong, and a time in the
 * future would make every later event look old.
 */
int64_t timestamp_not_ahead(int64_t us, int64_t heard_us);

/* ---- spans of time that people type and read ---- */

/* "45s", "30min", "6h", "2d": microseconds. -EINVAL: anything else, zero, or more than most_us. */
int duration_parse(const char *text, int64_t most_us, int64_t *ret_us);

enum { DURATION_WORDS_MAX = 24 };
/* "3 d 2 h", "4 h 3 min", "20 s"; returns ret. */
const char *duration_words(int64_t us, char ret[DURATION_WORDS_MAX]);

#endif
