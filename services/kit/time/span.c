/* span.c: a span of time as people type it, and read it */
#include "services/kit/time/span.h"
#include "bus/base/clock.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int span_parse(const char *text, int64_t most_us, int64_t *ret_us)
{
	static const struct {
		const char *name;
		int64_t us;
	} units[] = { { "s", US_PER_S }, { "min", US_PER_MINUTE }, { "h", US_PER_HOUR }, { "d", US_PER_DAY } };
	char *end;
	long long number = strtoll(text, &end, 10); /* too large a number is LLONG_MAX, and more than any most_us */

	if (!isdigit((unsigned char)*text) || number <= 0)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name) != 0 || number > most_us / units[i].us)
			continue;
		*ret_us = number * units[i].us;
		return 0;
	}
	return -EINVAL;
}

const char *span_words(int64_t us, char ret[SPAN_WORDS_MAX])
{
	int64_t s = (us < 0 ? -us : us) / US_PER_S, min = s / 60, h = min / 60, d = h / 24;

	if (d > 0 && h % 24)
		snprintf(ret, SPAN_WORDS_MAX, "%d d %d h", (int)(d % 100000), (int)(h % 24));
	else if (d > 0)
		snprintf(ret, SPAN_WORDS_MAX, "%d d", (int)(d % 100000));
	else if (h > 0 && min % 60)
		snprintf(ret, SPAN_WORDS_MAX, "%d h %d min", (int)h, (int)(min % 60));
	else if (h > 0)
		snprintf(ret, SPAN_WORDS_MAX, "%d h", (int)h);
	else if (min > 0)
		snprintf(ret, SPAN_WORDS_MAX, "%d min", (int)min);
	else
		snprintf(ret, SPAN_WORDS_MAX, "%d s", (int)s);
	return ret;
}
