/*
 * cron.c: finds the next time at which a cron line is due in a zone
 *
 * Promises:  a local time that the clock skips is due at the end of the gap. A local time that comes twice is
 *            due once, the first time. Later local minutes never have earlier moments. So the first minute is
 *            found by bisection, and the due one from there by the calendar alone: a leap day eight years
 *            away costs about as much as tomorrow.
 * Fails by:  -EINVAL with a reason. A line with both a day of the month and a weekday is refused, because
 *            cron programs disagree on its meaning.
 * Read next: zone.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "services/kit/time/zone.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MINUTES_PER_DAY = 1440,
	SEARCH_DAYS = 41 * 366, /* 29 February on a fifth Monday comes every 40 years at worst */
	SPAN_MINUTES = 26 * 60  /* no zone ever jumped by more than a day */
};

struct cron {
	uint64_t minutes, hours, days, months, weekdays; /* bit n: the value n */
	int nth;                                         /* the nth such weekday of the month; 0: every one */
};

struct field {
	const char *name;
	int least, most;
	const char *const *words; /* three letters each, from `least` */
};

static const char *const month_words[] = { "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV",
	"DEC", NULL };
static const char *const day_words[] = { "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", NULL };
static const struct field fields[] = { { "minute", 0, 59, NULL }, { "hour", 0, 23, NULL },
	{ "day of month", 1, 31, NULL }, { "month", 1, 12, month_words }, { "weekday", 0, 7, day_words } };

/* -1: not a value of this field */
static int read_value(const struct field *field, const char **text)
{
	for (int i = 0; field->words && field->words[i]; i++)
		if (strncasecmp(*text, field->words[i], 3) == 0) {
			*text += 3;
			return field->least + i;
		}
	if (**text < '0' || **text > '9')
		return -1;
	char *end;
	long value = strtol(*text, &end, 10);
	*text = end;
	return value < field->least || value > field->most ? -1 : (int)value;
}

static int read_step(const char **text)
{
	char *end;

	if (**text != '/')
		return 1;
	if ((*text)[1] < '0' || (*text)[1] > '9')
		return -1;
	long step = strtol(*text + 1, &end, 10);
	*text = end;
	return step < 1 || step > 59 ? -1 : (int)step;
}

/* Reads one part of a list: a value, a range or everything, perhaps with a step. */
static int read_part(const struct field *field, const char **text, uint64_t *bits)
{
	int from = field->least, to = field->most;

	if (**text == '*' || **text == '?') {
		(*text)++;
	} else {
		from = to = read_value(field, text);
		if (from < 0)
			return -EINVAL;
		if (**text == '-') {
			(*text)++;
			to = read_value(field, text);
		} else if (**text == '/') {
			to = field->most;
		}
	}
	int step = read_step(text);
	if (to < from || step < 0)
		return -EINVAL;
	for (int value = from; value <= to; value += step)
		*bits |= UINT64_C(1) << value;
	return 0;
}

static int read_nth(const char **text, int *nth)
{
	if (**text != '#')
		return 0;
	if ((*text)[1] < '1' || (*text)[1] > '5')
		return -EINVAL;
	*nth = (*text)[1] - '0';
	*text += 2;
	return 0;
}

static int read_field(const struct field *field, const char *text, uint64_t *bits, int *nth)
{
	do {
		if (read_part(field, &text, bits) < 0)
			return -EINVAL;
		if (field == &fields[4] && read_nth(&text, nth) < 0)
			return -EINVAL;
	} while (*text == ',' && *nth == 0 && text++);
	return *text == '\0' ? 0 : -EINVAL;
}

static bool is_single(uint64_t bits)
{
	return bits && (bits & (bits - 1)) == 0;
}

static int check_days(const struct cron *cron, char ret_why[160])
{
	if (cron->days != UINT64_C(0xfffffffe) && (cron->weekdays & 0x7f) != 0x7f) {
		snprintf(ret_why, 160, "give a day of the month or a weekday, and ? for the other one");
		return -EINVAL;
	}
	if (cron->nth && !is_single(cron->weekdays)) {
		snprintf(ret_why, 160, "expected one weekday before #%d", cron->nth);
		return -EINVAL;
	}
	return 0;
}

/* The next word of the line, which it cuts up; NULL: there are no more. */
static const char *next_word(char **rest)
{
	char *word;

	do
		word = strsep(rest, " \t");
	while (word && *word == '\0');
	return word;
}

static int read_fields(char *line, struct cron *cron, char ret_why[160])
{
	uint64_t *const bits[] = { &cron->minutes, &cron->hours, &cron->days, &cron->months, &cron->weekdays };
	char *rest = line;

	for (size_t i = 0; i < 5; i++) {
		const char *text = next_word(&rest);
		if (!text) {
			snprintf(ret_why, 160,
				"expected five fields (minute hour day month weekday), the %s is missing",
				fields[i].name);
			return -EINVAL;
		}
		if (read_field(&fields[i], text, bits[i], &cron->nth) < 0) {
			snprintf(ret_why, 160, "\"%.40s\" is not a %s (%d to %d, lists, ranges, steps)", text,
				fields[i].name, fields[i].least, fields[i].most);
			return -EINVAL;
		}
	}
	if (next_word(&rest)) {
		snprintf(ret_why, 160, "expected five fields (minute hour day month weekday), there are more");
		return -EINVAL;
	}
	cron->weekdays = (cron->weekdays | (cron->weekdays >> 7 & 1)) & 0x7f; /* 7 is Sunday too */
	return check_days(cron, ret_why);
}

DEFINE_CLEANUP(struct cron *, cron_free)

int cron_parse(const char *text, struct cron **ret, char ret_why[160])
{
	_cleanup_(cron_freep) struct cron *cron = memory_new(sizeof(*cron));
	_cleanup_free_ char *line = memory_copy_text(text);

	ret_why[0] = '\0';
	if (read_fields(line, cron, ret_why) < 0)
		return -EINVAL;
	*ret = TAKE(cron);
	return 0;
}

void cron_free(struct cron *cron)
{
	free(cron);
}

/* --- the calendar alone: days since 1970-01-01, proleptic Gregorian --- */

static int64_t day_number(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static struct local_time day_date(int64_t number)
{
	int64_t days = number + 719468, era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
	int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * years + years / 4 - years / 100), shifted = (5 * of_year + 2) / 153;
	int month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);

	return (struct local_time){ .year = (int)(years + era * 400 + (month <= 2)),
		.month = month,
		.day = (int)(of_year - (153 * shifted + 2) / 5 + 1),
		.weekday = (int)(((number + 4) % 7 + 7) % 7) };
}

static bool has(uint64_t bits, int value)
{
	return bits >> value & 1;
}

static bool day_matches(const struct cron *cron, const struct local_time *date)
{
	return has(cron->months, date->month) && has(cron->days, date->day) && has(cron->weekdays, date->weekday) &&
		(cron->nth == 0 || (date->day - 1) / 7 + 1 == cron->nth);
}

/* The first minute of a day, at or after `from`, that matches; -1: none. */
static int minute_of_day(const struct cron *cron, int from)
{
	for (int minute = from; minute < MINUTES_PER_DAY; minute++)
		if (has(cron->hours, minute / 60) && has(cron->minutes, minute % 60))
			return minute;
	return -1;
}

/* The moment of a local minute, which is counted from 1970-01-01 00:00 local time. */
static int timestamp_of(const char *zone, int64_t local_minute, int64_t *ret_us)
{
	int64_t day = local_minute / MINUTES_PER_DAY - (local_minute % MINUTES_PER_DAY < 0);
	int64_t minute = local_minute - day * MINUTES_PER_DAY;
	struct local_time local = day_date(day);

	local.hour = (int)(minute / 60);
	local.minute = (int)(minute % 60);
	return zone_moment(zone, &local, ret_us);
}

/* The first local minute whose moment is after `after_us`. */
static int first_minute_after(const char *zone, int64_t after_us, int64_t *ret_minute)
{
	struct local_time local;
	int64_t timestamp;

	if (zone_local(zone, after_us, &local) < 0)
		return -EINVAL;
	int64_t now = day_number(local.year, local.month, local.day) * MINUTES_PER_DAY + local.hour * 60 + local.minute;
	int64_t low = now - SPAN_MINUTES, high = now + SPAN_MINUTES;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		int err = timestamp_of(zone, middle, &timestamp);
		if (err < 0)
			return err;
		if (timestamp > after_us)
			high = middle;
		else
			low = middle + 1;
	}
	*ret_minute = low;
	return 0;
}

int cron_next(const struct cron *cron, const char *zone, int64_t after_us, int64_t *ret_us)
{
	int64_t first;

	if (first_minute_after(zone, after_us, &first) < 0)
		return -EINVAL;
	int64_t first_day = first / MINUTES_PER_DAY - (first % MINUTES_PER_DAY < 0);
	for (int64_t day = first_day; day < first_day + SEARCH_DAYS; day++) {
		struct local_time date = day_date(day);
		if (!day_matches(cron, &date))
			continue;
		int minute = minute_of_day(cron, day == first_day ? (int)(first - day * MINUTES_PER_DAY) : 0);
		if (minute >= 0)
			return timestamp_of(zone, day * MINUTES_PER_DAY + minute, ret_us);
	}
	return -ENOENT;
}
