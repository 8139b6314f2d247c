/*
 * format.c: writes times and days for one reader
 *
 * Promises:  all times are in the reader's zone, never in that of the machine; a local time that comes twice is told apart.
 * Read next: locale/words.c (the languages' forms), time/zone.h
 */
#include "services/kit/console/format.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/time/timestamp.h"
#include "services/kit/time/zone.h"
#include <stdio.h>
#include <time.h>

static const char *zone_of(const struct format_reader *reader)
{
	return zone_valid(reader->zone) ? reader->zone : "UTC";
}

static bool is_this_year(const struct format_reader *reader, int64_t us)
{
	struct local_time then = { 0 }, now = { 0 };

	zone_local(zone_of(reader), us, &then);
	zone_local(zone_of(reader), reader->now_us, &now);
	return then.year == now.year;
}

static bool same_on_the_clock(const struct local_time *a, const struct local_time *b)
{
	return a->day == b->day && a->hour == b->hour && a->minute == b->minute;
}

/* Whether clocks show this time again an hour later, or showed it an hour before. */
static bool comes_twice(const char *zone, int64_t us)
{
	struct local_time then = { 0 }, later = { 0 }, earlier = { 0 };

	if (us < INT64_MIN + US_PER_HOUR || us > INT64_MAX - US_PER_HOUR)
		return false;
	zone_local(zone, us, &then);
	zone_local(zone, us + US_PER_HOUR, &later);
	zone_local(zone, us - US_PER_HOUR, &earlier);
	return same_on_the_clock(&then, &later) || same_on_the_clock(&then, &earlier);
}

void format_time(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM])
{
	const char *zone = zone_of(reader);
	enum locale_day form = is_this_year(reader, us) ? LOCALE_SHORT : LOCALE_SHORT_YEAR;

	locale_day(us, zone, reader->locale, comes_twice(zone, us) ? LOCALE_SHORT_ZONE : form, ret, FORMAT_ROOM);
}

void format_clock(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM])
{
	const char *zone = zone_of(reader);

	locale_day(
		us, zone, reader->locale, comes_twice(zone, us) ? LOCALE_CLOCK_ZONE : LOCALE_CLOCK, ret, FORMAT_ROOM);
}

void format_day(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM])
{
	locale_day(us, zone_of(reader), reader->locale, is_this_year(reader, us) ? LOCALE_DAY : LOCALE_DAY_YEAR, ret,
		FORMAT_ROOM);
}

void format_date(const struct format_reader *reader, const char *date, enum locale_day form, char ret[FORMAT_ROOM])
{
	char noon[40];
	int64_t us;

	snprintf(noon, sizeof(noon), "%.10sT12:00:00Z", date);
	if (strlen(date) != 10 || timestamp_parse(noon, &us) < 0) {
		text_copy(ret, FORMAT_ROOM, date);
		return;
	}
	if (form == LOCALE_DAY && !is_this_year(reader, us))
		form = LOCALE_DAY_YEAR;
	locale_day(us, "UTC", reader->locale, form, ret, FORMAT_ROOM);
}

void format_ago(const struct format_reader *reader, int64_t us, char ret[FORMAT_ROOM])
{
	int64_t difference;

	if (__builtin_sub_overflow(us, reader->now_us, &difference))
		difference = us < 0 ? INT64_MIN : INT64_MAX;
	locale_ago(difference, reader->locale, ret, FORMAT_ROOM);
}

void format_iso(int64_t us, char ret[FORMAT_ROOM])
{
	time_t s = (time_t)(us / US_PER_S - (us % US_PER_S < 0));
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&s, &tm) && tm.tm_year >= -1900 && tm.tm_year <= 9999 - 1900)
		strftime(ret, FORMAT_ROOM, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
