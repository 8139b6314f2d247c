/* range.c: see range.h; what is not all of it understood is refused, never half of it used */
#include "services/cartbus/core/range.h"
#include "services/kit/time/moment.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPAN_MOST_US (INT64_C(3660) * US_PER_DAY)
enum { RATE_MOST = 100000 };

static int digits(const char *text, const char *after, int64_t most, int64_t *ret)
{
	char *end;

	if (text[0] < '1' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (errno != 0 || *ret > most || (*end != '\0' && strcmp(end, after) != 0))
		return -EINVAL;
	return 0;
}

int range_seq(const char *text, int64_t *ret)
{
	return digits(text, "", INT64_MAX, ret);
}

int range_rate(const char *text, int64_t *ret)
{
	return digits(text, "/s", RATE_MOST, ret);
}

static int moment(const char *text, int64_t *ret_us)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, formats[i], &tm);
		int day = tm.tm_mday;

		if (!end || *end != '\0')
			continue;
		*ret_us = (int64_t)timegm(&tm) * US_PER_S;
		return tm.tm_mday == day && *ret_us > 0 ? 0 : -EINVAL; /* timegm turns 31 April into 1 May */
	}
	return -EINVAL;
}

int range_end_parse(const char *text, const struct clock *clock, struct range_end *ret)
{
	int64_t ago_us;

	*ret = (struct range_end){ 0 };
	if (range_seq(text, &ret->seq) == 0)
		return 0;
	ret->seq = 0;
	if (span_parse(text, SPAN_MOST_US, &ago_us) == 0) {
		ret->time_us = clock_wall_us(clock) - ago_us;
		return ret->time_us > 0 ? 0 : -EINVAL;
	}
	return moment(text, &ret->time_us);
}
