/*
 * period.c: days, weeks and months in the calendar of a shop
 *
 * Promises:  pure. A day on which the clock changes is one whole day, weeks begin on Monday (ISO 8601), and
 *            each period ends where the next one begins.
 * Read next: zone.h
 */
#include "services/kit/time/period.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/time/zone.h"
#include <errno.h>
#include <stdio.h>
#include <unicode/udat.h>
#include <unicode/udatpg.h>
#include <unicode/ustring.h>

static int midnight(const char *zone, struct local_time date, int64_t *ret_us)
{
	date.hour = date.minute = date.second = 0;
	return zone_moment(zone, &date, ret_us);
}

/* The number of days from Monday to this weekday. */
static int after_monday(const struct local_time *date)
{
	return (date->weekday + 6) % 7;
}

static void step(struct local_time *date, enum period_kind kind, int by)
{
	if (kind == PERIOD_MONTH)
		date->month += by;
	else
		date->day += kind == PERIOD_WEEK ? 7 * by : by;
}

/* Brings the month into 1 to 12 and changes the year accordingly; days roll over in zone_moment(). */
static void settle(struct local_time *date)
{
	int months = date->year * 12 + date->month - 1;

	date->year = months / 12;
	date->month = months % 12 + 1;
}

/* A week belongs to the year of its Thursday. */
static int name_week(const char *zone, struct period *period)
{
	struct local_time thursday, first;
	int64_t us, first_us;

	int r = zone_local(zone, period->from_us, &thursday);
	thursday.day += 3;
	if (r == 0)
		r = midnight(zone, thursday, &us);
	if (r == 0)
		r = zone_local(zone, us, &thursday);
	first = (struct local_time){ .year = thursday.year, .month = 1, .day = 1 };
	if (r == 0)
		r = midnight(zone, first, &first_us);
	if (r == 0) /* half a day is added, so that an hour more or less does not matter */
		snprintf(period->name, sizeof(period->name), "%04d-W%02d", thursday.year % 10000,
			(int)((us - first_us + US_PER_DAY / 2) / US_PER_DAY / 7 + 1) % 100);
	return r;
}

static int name(const char *zone, struct period *period)
{
	struct local_time from;

	if (period->kind == PERIOD_WEEK)
		return name_week(zone, period);
	int r = zone_local(zone, period->from_us, &from);
	if (r == 0 && period->kind == PERIOD_MONTH)
		snprintf(period->name, sizeof(period->name), "%04d-%02d", from.year % 10000, from.month % 100);
	else if (r == 0)
		snprintf(period->name, sizeof(period->name), "%04d-%02d-%02d", from.year % 10000, from.month % 100,
			from.day % 100);
	return r;
}

/* The period that is `back` periods before the one of `us`. */
static int period_at(enum period_kind kind, const char *zone, int64_t us, int back, struct period *ret)
{
	struct local_time from, to;

	*ret = (struct period){ .kind = kind };
	int r = zone_local(zone, us, &from);
	if (r < 0)
		return r;
	if (kind == PERIOD_WEEK)
		from.day -= after_monday(&from);
	if (kind == PERIOD_MONTH)
		from.day = 1;
	step(&from, kind, -back);
	settle(&from);
	to = from;
	step(&to, kind, 1);
	settle(&to);
	r = midnight(zone, from, &ret->from_us);
	if (r == 0)
		r = midnight(zone, to, &ret->to_us);
	return r < 0 ? r : name(zone, ret);
}

int period_ended(enum period_kind kind, const char *zone, int64_t us, int back, struct period *ret)
{
	return period_at(kind, zone, us, back + 1, ret);
}

int period_of(enum period_kind kind, const char *zone, int64_t us, struct period *ret)
{
	return period_at(kind, zone, us, 0, ret);
}

int period_month(const char *zone, const char *month, struct period *ret)
{
	struct local_time day = { .day = 1 };
	int64_t us;
	int end = 0;

	if (sscanf(month, "%4d-%2d%n", &day.year, &day.month, &end) != 2 || month[end] || day.month < 1 ||
		day.month > 12 || midnight(zone, day, &us) < 0)
		return -EINVAL;
	return period_at(PERIOD_MONTH, zone, us, 0, ret);
}

static int read_day(const char *zone, const char *text, int later, int64_t *ret_us)
{
	struct local_time day = { 0 }, back;
	int end = 0;

	if (sscanf(text, "%4d-%2d-%2d%n", &day.year, &day.month, &day.day, &end) != 3 || text[end] ||
		midnight(zone, day, ret_us) < 0 || zone_local(zone, *ret_us, &back) < 0 || back.day != day.day ||
		back.month != day.month)
		return -EINVAL;
	day.day += later;
	return midnight(zone, day, ret_us);
}

int period_span(const char *zone, const char *from, const char *to, struct period *ret)
{
	*ret = (struct period){ .kind = PERIOD_SPAN };
	if (read_day(zone, from, 0, &ret->from_us) < 0 || read_day(zone, to, 1, &ret->to_us) < 0 ||
		ret->to_us <= ret->from_us)
		return -EINVAL;
	snprintf(ret->name, sizeof(ret->name), "%.10s..%.10s", from, to);
	return 0;
}

static int name_span(const char *zone, struct period *period)
{
	struct local_time from, last;
	int r = zone_local(zone, period->from_us, &from);

	if (r == 0)
		r = zone_local(zone, period->to_us - 1, &last);
	if (r == 0)
		snprintf(period->name, sizeof(period->name), "%04d-%02d-%02d..%04d-%02d-%02d", from.year % 10000,
			from.month % 100, from.day % 100, last.year % 10000, last.month % 100, last.day % 100);
	return r;
}

int period_before(const char *zone, const struct period *period, struct period *ret)
{
	if (period->kind != PERIOD_SPAN)
		return period_at(period->kind, zone, period->from_us, 1, ret);
	struct local_time from;
	int days = (int)((period->to_us - period->from_us + US_PER_DAY / 2) / US_PER_DAY);
	*ret = (struct period){ .kind = PERIOD_SPAN, .to_us = period->from_us };
	int r = zone_local(zone, period->from_us, &from);
	from.day -= days;
	if (r == 0)
		r = midnight(zone, from, &ret->from_us);
	return r < 0 ? r : name_span(zone, ret);
}

/* ---- for people ---- */

enum { ROOM = 120 };

static bool print_pattern(const char *zone, int64_t us, const char *locale, const char *skeleton, char *ret, int room)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar wide_zone[64], wide_skeleton[16], pattern[64], text[ROOM];
	u_uastrncpy(wide_zone, zone, 64);
	u_uastrncpy(wide_skeleton, skeleton, 16);
	UDateTimePatternGenerator *generator = udatpg_open(locale, &error);
	int32_t len = udatpg_getBestPattern(generator, wide_skeleton, -1, pattern, 64, &error);
	UDateFormat *format = udat_open(UDAT_PATTERN, UDAT_PATTERN, locale, wide_zone, -1, pattern, len, &error);
	udat_format(format, (double)us / 1000, text, ROOM, NULL, &error);
	u_strToUTF8(ret, room, NULL, text, -1, &error);
	udat_close(format);
	udatpg_close(generator);
	return U_SUCCESS(error) && error != U_STRING_NOT_TERMINATED_WARNING;
}

void period_print(const char *zone, const struct period *period, const char *locale, char *ret, int room)
{
	char from[ROOM], to[ROOM];

	snprintf(ret, (size_t)room, "%s", period->name);
	if (period->kind == PERIOD_MONTH) {
		if (!print_pattern(zone, period->from_us, locale, "yMMMM", ret, room))
			snprintf(ret, (size_t)room, "%s", period->name);
		return;
	}
	if (print_pattern(zone, period->from_us, locale, "yMMMd", from, ROOM) &&
		print_pattern(zone, period->to_us - 1, locale, "yMMMd", to, ROOM))
		snprintf(ret, (size_t)room, "%s \xe2\x80\x93 %s", from, to);
}

/*
 * Finds the oldest period without a report, between the timer's tick and now
 *
 * Promises:  pure. It looks at LOOKED_AT_MOST periods, so that a tick years late reports no old times.
 */

enum { LOOKED_AT_MOST = 62 };

int missed_find(const struct state *state, const struct missed *missed, struct period *ret, bool *ret_more)
{
	int64_t until_us = missed->until_us > missed->ticked_us ? missed->until_us : missed->ticked_us;
	struct period oldest, period;
	int found = 0;

	int r = period_ended(missed->kind, missed->zone, missed->ticked_us, 0, &oldest);
	if (r == 0)
		r = period_ended(missed->kind, missed->zone, until_us, 0, &period);
	for (int i = 0; r == 0 && i < LOOKED_AT_MOST && period.from_us >= oldest.from_us; i++) {
		if (!state_has_row(state, missed->table, missed->shop, period.name)) {
			*ret = period;
			found++;
		}
		r = period_before(missed->zone, &period, &period);
	}
	*ret_more = found > 1;
	return r < 0 ? r : found > 0;
}
