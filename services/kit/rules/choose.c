/*
 * choose.c: applies the rules to one cart, and to one moment
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/rules.h"
#include "services/kit/time/zone.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_WINDOW_US US_PER_DAY
#define COUNTABLE_MINOR INT64_C(1000000000000000000)

enum { MINUTES_PER_DAY = 1440, DAYS = 7, MINUTES_PER_WEEK = DAYS * MINUTES_PER_DAY, CHANGES_MOST = 4 };

static const struct rules_edges *edges_in(const struct rules *rules, const char *currency)
{
	for (int i = 0; i < rules->edge_count; i++)
		if (strcmp(rules->edges[i].currency, currency) == 0)
			return &rules->edges[i];
	return NULL;
}

/* If two sizes begin at the same amount in this currency, the larger one counts. */
static int size_by(const struct rules *rules, const struct rules_edges *edges, int64_t total_minor)
{
	int size = rules->size_count - 1;

	while (size > 0 && total_minor < edges->from[size])
		size--;
	return size;
}

static double ten_to(int digits)
{
	return digits > 0 ? 10 * ten_to(digits - 1) : 1;
}

/*
 * Rounds to the nearest minor unit, so that an amount that equals a threshold counts as equal. Results beyond
 * COUNTABLE_MINOR, which an absurd rate may give, become COUNTABLE_MINOR.
 */
static int64_t convert(int64_t minor, const char *from, const char *to, double rate)
{
	double converted = (double)minor / ten_to(money_digits(from)) * rate * ten_to(money_digits(to));

	if (converted >= (double)COUNTABLE_MINOR)
		return COUNTABLE_MINOR;
	return converted <= -(double)COUNTABLE_MINOR ? -COUNTABLE_MINOR : llround(converted);
}

/*
 * Converts the total into a currency with edges, by a rate in either direction; NULL: there is no such one.
 */
static const struct rules_edges *edges_by_rate(const struct rules *rules, const char *currency, int64_t *total_minor)
{
	for (int i = 0; i < rules->rate_count; i++) {
		const struct rules_rate *rate = &rules->rates[i];
		bool forward = strcmp(rate->from, currency) == 0;
		if (!forward && strcmp(rate->to, currency) != 0)
			continue;
		const char *to = forward ? rate->to : rate->from;
		const struct rules_edges *edges = edges_in(rules, to);
		if (!edges)
			continue;
		*total_minor = convert(*total_minor, currency, to, forward ? rate->rate : 1 / rate->rate);
		return edges;
	}
	return NULL;
}

struct rules_choice rules_choose(const struct rules *rules, int64_t total_minor, const char *currency)
{
	const struct rules_edges *edges = edges_in(rules, currency);
	struct rules_choice choice = { .from_minor = INT64_MIN, .to_minor = INT64_MAX };

	if (!edges)
		edges = edges_by_rate(rules, currency, &total_minor);
	choice.unknown_currency = !edges && rules->edge_count > 0;
	if (choice.unknown_currency) {
		choice.index = -1;
		choice.size = rules->rest_name;
		choice.waits = rules->rest;
		return choice;
	}
	choice.index = edges ? size_by(rules, edges, total_minor) : 0;
	choice.size = rules->sizes[choice.index].name;
	choice.waits = rules->sizes[choice.index].waits;
	if (!edges)
		return choice;
	TEXT_COPY(choice.currency, edges->currency);
	choice.from_minor = edges->from[choice.index];
	if (choice.index + 1 < rules->size_count)
		choice.to_minor = edges->from[choice.index + 1] - 1;
	return choice;
}

struct rules_waits rules_waits_or_own(struct rules_waits waits, int64_t own_first_us, int64_t own_second_us)
{
	if (own_first_us <= 0)
		return waits;
	waits.first_us = own_first_us;
	if (own_second_us > 0)
		waits.second_us = own_second_us;
	waits.mails = waits.second_us > 0 ? 2 : 1;
	return waits;
}

const char *rules_size_words(const struct rules_choice *choice, char ret[96])
{
	static const char *const names[] = { "a small cart", "a medium cart", "a big cart" };
	char from[40] = "", to[40] = "";
	bool low = choice->from_minor != INT64_MIN, high = choice->to_minor != INT64_MAX;

	if (choice->size != SIZE_BY_AMOUNT || (!low && !high)) {
		snprintf(ret, 96, "%s", choice->size == SIZE_BY_AMOUNT ? "a cart" : names[choice->size]);
		return ret;
	}
	if (low)
		money_plain(choice->from_minor, choice->currency, from, sizeof(from));
	if (high)
		money_plain(choice->to_minor, choice->currency, to, sizeof(to));
	snprintf(ret, 96, "a cart%s%s%s%s %s", low ? " from " : "", from, high ? low ? " to " : " up to " : "", to,
		choice->currency);
	return ret;
}

int64_t rules_window_us(const struct rules *rules)
{
	return rules->window_us > 0 ? rules->window_us : DEFAULT_WINDOW_US;
}

int64_t rules_capped_until_us(const struct rules *rules, const int64_t *mailed_us, int count)
{
	int64_t until_us = 0;

	for (int i = 0; i < rules->cap_count; i++) {
		const struct rules_cap *cap = &rules->caps[i];
		if (count >= cap->mails && mailed_us[cap->mails - 1] + cap->period_us > until_us)
			until_us = mailed_us[cap->mails - 1] + cap->period_us;
	}
	return until_us;
}

/* --- quiet hours: minutes of the local week, counted from Sunday 0:00 --- */

/* For how many minutes this sentence makes it quiet, from this minute of the week on; 0: it is not quiet. */
static int quiet_minutes(const struct rules_quiet *quiet, int minute)
{
	int length = quiet->to_minute - quiet->from_minute;
	int most = 0;

	length += length <= 0 ? MINUTES_PER_DAY : 0;
	for (int day = 0; day < DAYS; day++) {
		int begin = day * MINUTES_PER_DAY + quiet->from_minute;
		int into = (minute - begin + 2 * MINUTES_PER_WEEK) % MINUTES_PER_WEEK;
		if (quiet->days & 1 << day && into < length && length - into > most)
			most = length - into;
	}
	return most;
}

/* The same for all sentences together, also one after the other; MINUTES_PER_WEEK: it is always quiet. */
static int quiet_ahead(const struct rules *rules, int minute)
{
	int ahead = 0;

	for (bool more = true; more && ahead < MINUTES_PER_WEEK;) {
		more = false;
		for (int i = 0; i < rules->quiet_count; i++) {
			int longer = quiet_minutes(&rules->quiets[i], (minute + ahead) % MINUTES_PER_WEEK);
			ahead += longer;
			more |= longer > 0;
		}
	}
	return ahead < MINUTES_PER_WEEK ? ahead : MINUTES_PER_WEEK;
}

bool rules_ever_send(const struct rules *rules)
{
	return quiet_ahead(rules, 0) < MINUTES_PER_WEEK;
}

/* The minute of the local week at `us`; -1: there is no such zone. */
static int minute_at(const char *zone, int64_t us)
{
	struct local_time local;

	return zone_local(zone, us, &local) < 0 ? -1 : local.weekday * MINUTES_PER_DAY + local.hour * 60 + local.minute;
}

/* By how many minutes the local clock advanced more than time passed; not 0 if the clock was changed. */
static int drift(const char *zone, int64_t from_us, int64_t to_us)
{
	int passed = (int)((to_us - from_us) / US_PER_MINUTE);

	return (minute_at(zone, to_us) - minute_at(zone, from_us) - passed % MINUTES_PER_WEEK + 2 * MINUTES_PER_WEEK) %
		MINUTES_PER_WEEK;
}

/* Finds the first minute of the changed clock: after `from_us`, at the latest `to_us`. */
static int64_t find_change(const char *zone, int64_t from_us, int64_t to_us)
{
	int64_t good = 0, bad = (to_us - from_us) / US_PER_MINUTE;

	while (bad - good > 1) {
		int64_t middle = (good + bad) / 2;
		if (drift(zone, from_us, from_us + middle * US_PER_MINUTE) == 0)
			good = middle;
		else
			bad = middle;
	}
	return from_us + bad * US_PER_MINUTE;
}

/* Minutes of the week can be added only between two changes of the clock: it goes from change to change. */
int64_t rules_next_sending_us(const struct rules *rules, const char *zone, int64_t us)
{
	int ahead = 0, minute = rules->quiet_count > 0 ? minute_at(zone, us) : -1;

	if (minute < 0 || (ahead = quiet_ahead(rules, minute)) == 0)
		return us;
	int64_t at_us = us - ((us % US_PER_MINUTE) + US_PER_MINUTE) % US_PER_MINUTE;
	for (int i = 0; i < CHANGES_MOST; i++) {
		int64_t end_us = at_us + ahead * US_PER_MINUTE;
		if (drift(zone, at_us, end_us) == 0)
			return end_us;
		at_us = find_change(zone, at_us, end_us);
		ahead = quiet_ahead(rules, minute_at(zone, at_us));
		if (ahead == 0)
			return at_us;
	}
	return at_us + ahead * US_PER_MINUTE;
}
