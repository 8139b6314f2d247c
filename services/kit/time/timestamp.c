/*
 * timestamp.c: reads the platforms' timestamps, and reads and writes spans of time
 *
 * Promises:  reads RFC 3339, also without a zone (then UTC) or without the colon of the zone, and nothing
 *            looser. Storefronts do send malformed timestamps, so a caller has to manage without one.
 */
#include "services/kit/time/timestamp.h"
#include "bus/base/clock.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t most_ahead_us = 10 * US_PER_MINUTE;

/* Takes exactly `digits` digits. false: there are fewer, or the number is out of range. */
static bool take_number(const char **at, int digits, int least, int most, int *ret)
{
	int number = 0;

	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)(*at)[i]))
			return false;
		number = number * 10 + ((*at)[i] - '0');
	}
	*at += digits;
	*ret = number;
	return number >= least && number <= most;
}

static bool take_char(const char **at, const char *any)
{
	if (**at == '\0' || !strchr(any, **at))
		return false;
	(*at)++;
	return true;
}

static int64_t take_fraction_us(const char **at)
{
	int64_t us = 0, unit = US_PER_S / 10;

	if (!take_char(at, "."))
		return 0;
	for (; isdigit((unsigned char)**at); (*at)++, unit /= 10)
		us += (**at - '0') * unit;
	return us;
}

static bool take_zone_s(const char **at, int64_t *ret_s)
{
	int hours, minutes, sign;

	*ret_s = 0;
	if (**at == '\0' || take_char(at, "Zz"))
		return true;
	sign = **at == '-' ? -1 : 1;
	if (!take_char(at, "+-") || !take_number(at, 2, 0, 14, &hours))
		return false;
	take_char(at, ":");
	if (!take_number(at, 2, 0, 59, &minutes))
		return false;
	*ret_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

static bool take_date_time(const char **at, struct tm *ret)
{
	int year, month;

	*ret = (struct tm){ 0 };
	if (!take_number(at, 4, 1970, 9999, &year) || !take_char(at, "-") || !take_number(at, 2, 1, 12, &month) ||
		!take_char(at, "-") || !take_number(at, 2, 1, 31, &ret->tm_mday) || !take_char(at, "Tt ") ||
		!take_number(at, 2, 0, 23, &ret->tm_hour) || !take_char(at, ":") ||
		!take_number(at, 2, 0, 59, &ret->tm_min) || !take_char(at, ":") ||
		!take_number(at, 2, 0, 60, &ret->tm_sec))
		return false;
	ret->tm_year = year - 1900;
	ret->tm_mon = month - 1;
	return true;
}

int timestamp_parse(const char *text, int64_t *ret_us)
{
	struct tm tm;
	int64_t fraction_us, zone_s;
	int day;

	if (!take_date_time(&text, &tm))
		return -EINVAL;
	fraction_us = take_fraction_us(&text);
	if (!take_zone_s(&text, &zone_s) || *text)
		return -EINVAL;
	day = tm.tm_mday;
	*ret_us = ((int64_t)timegm(&tm) - zone_s) * US_PER_S + fraction_us;
	return tm.tm_mday == day && *ret_us >= 0 ? 0 : -EINVAL; /* timegm turns 31 April into 1 May */
}

int64_t timestamp_not_ahead(int64_t us, int64_t heard_us)
{
	return us > heard_us + most_ahead_us ? heard_us : us;
}

/* --- a span of time as people type it, and read it --- */

int duration_parse(const char *text, int64_t most_us, int64_t *ret_us)
{
	static const struct {
		const char *name;
		int64_t us;
	} units[] = { { "s", US_PER_S }, { "min", US_PER_MINUTE }, { "h", US_PER_HOUR }, { "d", US_PER_DAY } };
	char *end;
	long long number = strtoll(text, &end, 10); /* too large: LLONG_MAX, which exceeds any most_us */

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

const char *duration_words(int64_t us, char ret[DURATION_WORDS_MAX])
{
	int64_t s = (us < 0 ? -us : us) / US_PER_S, min = s / 60, h = min / 60, d = h / 24;

	if (d > 0 && h % 24)
		snprintf(ret, DURATION_WORDS_MAX, "%d d %d h", (int)(d % 100000), (int)(h % 24));
	else if (d > 0)
		snprintf(ret, DURATION_WORDS_MAX, "%d d", (int)(d % 100000));
	else if (h > 0 && min % 60)
		snprintf(ret, DURATION_WORDS_MAX, "%d h %d min", (int)h, (int)(min % 60));
	else if (h > 0)
		snprintf(ret, DURATION_WORDS_MAX, "%d h", (int)h);
	else if (min > 0)
		snprintf(ret, DURATION_WORDS_MAX, "%d min", (int)min);
	else
		snprintf(ret, DURATION_WORDS_MAX, "%d s", (int)s);
	return ret;
}
