/*
 * rules_choose.c: what the rules say about one cart and one moment
 */
#include "bus/base/clock.h"
#include "services/kit/money.h"
#include "services/kit/rules.h"
#include "services/kit/zone.h"
#include <math.h>
#include <string.h>

#define DEFAULT_WINDOW_US US_PER_DAY
#define COUNTABLE_MINOR INT64_C(1000000000000000000)

enum { MINUTES_PER_DAY = 1440, LONGEST_SEARCH_MINUTES = 3 * MINUTES_PER_DAY };

static const struct rules_threshold *threshold_in(const struct rules *rules, const char *currency)
{
	for (int i = 0; i < rules->threshold_count; i++)
		if (strcmp(rules->thresholds[i].currency, currency) == 0)
			return &rules->thresholds[i];
	return NULL;
}

static enum cart_size size_by(const struct rules_threshold *threshold, int64_t total_minor)
{
	if (total_minor < threshold->small_below)
		return SIZE_SMALL;
	return total_minor > threshold->big_above ? SIZE_BIG : SIZE_MEDIUM;
}

static double ten_to(int digits)
{
	return digits > 0 ? 10 * ten_to(digits - 1) : 1;
}

/*
 * Rounded to the nearest minor unit, so that an amount that is exactly a threshold counts as one. A rate may be absurd: what is
 * too large to count is as large as can be.
 */
static int64_t convert(int64_t minor, const char *from, const char *to, double rate)
{
	double converted = (double)minor / ten_to(money_digits(from)) * rate * ten_to(money_digits(to));

	if (converted >= (double)COUNTABLE_MINOR)
		return COUNTABLE_MINOR;
	return converted <= -(double)COUNTABLE_MINOR ? -COUNTABLE_MINOR : llround(converted);
}

/* A rate is good in both directions. */
static const struct rules_threshold *threshold_by_rate(
	const struct rules *rules, const char *currency, int64_t *total_minor)
{
	for (int i = 0; i < rules->rate_count; i++) {
		const struct rules_rate *rate = &rules->rates[i];
		bool forward = strcmp(rate->from, currency) == 0;
		if (!forward && strcmp(rate->to, currency) != 0)
			continue;
		const char *to = forward ? rate->to : rate->from;
		const struct rules_threshold *threshold = threshold_in(rules, to);
		if (!threshold)
			continue;
		*total_minor = convert(*total_minor, currency, to, forward ? rate->rate : 1 / rate->rate);
		return threshold;
	}
	return NULL;
}

struct rules_choice rules_choose(const struct rules *rules, int64_t total_minor, const char *currency)
{
	const struct rules_threshold *threshold = threshold_in(rules, currency);
	struct rules_choice choice = { .size = SIZE_MEDIUM };

	if (!threshold)
		threshold = threshold_by_rate(rules, currency, &total_minor);
	choice.unknown_currency = !threshold;
	if (threshold)
		choice.size = size_by(threshold, total_minor);
	choice.waits = rules->waits[choice.size];
	return choice;
}

int64_t rules_window_us(const struct rules *rules)
{
	return rules->window_us > 0 ? rules->window_us : DEFAULT_WINDOW_US;
}

static bool is_quiet_minute(const struct rules *rules, int minute)
{
	int from = rules->quiet_from_minute, to = rules->quiet_to_minute;

	return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

/* -1: no such zone */
static int minute_at(const char *zone, int64_t us)
{
	struct local_time local;

	return zone_local(zone, us, &local) < 0 ? -1 : local.hour * 60 + local.minute;
}

static bool is_quiet(const struct rules *rules, const char *zone, int64_t us)
{
	int minute = minute_at(zone, us);

	return minute >= 0 && is_quiet_minute(rules, minute);
}

/* Minute by minute: right wherever the clock is changed meanwhile. */
static int64_t search_minutes(const struct rules *rules, const char *zone, int64_t us)
{
	for (int i = 0; i < LONGEST_SEARCH_MINUTES && is_quiet(rules, zone, us); i++)
		us += US_PER_MINUTE;
	return us;
}

int64_t rules_next_sending_us(const struct rules *rules, const char *zone, int64_t us)
{
	if (!rules->has_quiet || !is_quiet(rules, zone, us))
		return us;

	int64_t minute_start = us - ((us % US_PER_MINUTE) + US_PER_MINUTE) % US_PER_MINUTE;
	int left = (rules->quiet_to_minute - minute_at(zone, us) + MINUTES_PER_DAY) % MINUTES_PER_DAY;
	int64_t end = minute_start + left * US_PER_MINUTE;
	bool steady = minute_at(zone, end) == rules->quiet_to_minute; /* the clock was not changed on the way */
	return steady ? end : search_minutes(rules, zone, minute_start);
}
