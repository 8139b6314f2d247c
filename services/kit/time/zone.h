/*
 * zone.h: local time in a shop's zone (ICU), right across both daylight-saving changes
 *
 * A local time that does not exist (spring) means the end of the gap; one that comes twice (autumn) means the
 * first.
 */
#ifndef KIT_TIME_ZONE_H
#define KIT_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

struct local_time {
	int year, month, day; /* month 1..12 */
	int hour, minute, second;
	int weekday; /* 0 Sunday .. 6 Saturday */
};

bool zone_valid(const char *zone); /* a canonical IANA name that ICU knows; "" and unknown ones are not */
int zone_local(const char *zone, int64_t us, struct local_time *ret);               /* -EINVAL: no such zone */
int zone_moment(const char *zone, const struct local_time *local, int64_t *ret_us); /* fields out of range roll over */
/* "Fri 20 Nov 2026, 14:05" with the zone's short name, for logs and `cartbus why`. */
void zone_print(const char *zone, int64_t us, char *ret, int room);

/* cron: "minute hour day-of-month month day-of-week" with lists, ranges, steps, `?`, and `N#k` (kth such weekday; 1 = Monday, 0 and 7 = Sunday). */
struct cron;
int cron_parse(const char *text, struct cron **ret, char ret_why[160]);
void cron_free(struct cron *cron);
/*
 * The first moment after `after_us` that matches in the zone. A skipped time fires when the gap ends; a time
 * that comes twice fires once. -ENOENT: it never matches.
 */
int cron_next(const struct cron *cron, const char *zone, int64_t after_us, int64_t *ret_us);

#endif
