/*
 * words.c: writes numbers, measures, plurals and days in a language
 *
 * Owns:      a few of ICU's formatters: opening one takes longer than writing the rest of a mail.
 * Fails by:  plain digits (with an English unit), the plural "other", or "" for a day, if ICU does not know
 *            the locale.
 * Read next: money.c (amounts)
 */
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unicode/udat.h>
#include <unicode/udatpg.h>
#include <unicode/unum.h>
#include <unicode/unumberformatter.h>
#include <unicode/upluralrules.h>
#include <unicode/ureldatefmt.h>
#include <unicode/ustring.h>

enum { KEPT = 32, KEY_ROOM = 96, SHOWN_ROOM = 160, PATTERN_ROOM = 64, ZONE_ROOM = 64 };

const char *const locale_plurals[6] = { "zero", "one", "two", "few", "many", "other" };

/* One opened formatter, and the tag and detail that it was opened for. */
struct kept {
	char key[KEY_ROOM];
	void *opened; /* NULL: ICU has none */
};

struct shelf {
	struct kept kept[KEPT];
	size_t oldest;
	void *(*open)(const char *tag, const char *detail);
	void (*close)(void *opened);
};

static void *shelf_take(struct shelf *shelf, const char *tag, const char *detail)
{
	char key[KEY_ROOM];

	snprintf(key, sizeof(key), "%.30s %.60s", tag, detail);
	for (size_t i = 0; i < KEPT; i++)
		if (strcmp(shelf->kept[i].key, key) == 0)
			return shelf->kept[i].opened;
	struct kept *kept = &shelf->kept[shelf->oldest++ % KEPT];
	if (kept->opened)
		shelf->close(kept->opened);
	TEXT_COPY(kept->key, key);
	kept->opened = shelf->open(tag, detail);
	return kept->opened;
}

/* --- numbers --- */

static void *number_open(const char *tag, const char *detail)
{
	UErrorCode error = U_ZERO_ERROR;
	UNumberFormat *format = unum_open(UNUM_DECIMAL, NULL, 0, tag, NULL, &error);

	(void)detail;
	return U_SUCCESS(error) ? format : NULL;
}

static void number_close(void *opened)
{
	unum_close(opened);
}

static bool to_utf8(const UChar *shown, int32_t len, char *ret, int room)
{
	UErrorCode error = U_ZERO_ERROR;
	int32_t bytes = 0;

	u_strToUTF8(ret, room, &bytes, shown, len, &error);
	return U_SUCCESS(error) && bytes < room;
}

static const UNumberFormat *number_format(const char *tag)
{
	static struct shelf shelf = { .open = number_open, .close = number_close };

	return shelf_take(&shelf, tag, "");
}

static bool integer_shown(int64_t number, const char *tag, char *ret, int room)
{
	const UNumberFormat *format = number_format(tag);
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];

	int32_t len = format ? unum_formatInt64(format, number, shown, SHOWN_ROOM, NULL, &error) : 0;
	return format && U_SUCCESS(error) && to_utf8(shown, len, ret, room);
}

void locale_number(uint64_t number, const char *tag, char *ret, int room)
{
	if (!integer_shown((int64_t)number, tag, ret, room))
		snprintf(ret, (size_t)room, "%" PRIu64, number);
}

void locale_integer(int64_t number, const char *tag, char *ret, int room)
{
	if (!integer_shown(number, tag, ret, room))
		snprintf(ret, (size_t)room, "%" PRId64, number);
}

void locale_decimal(double number, const char *tag, char *ret, int room)
{
	const UNumberFormat *format = number_format(tag);
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];

	int32_t len = format ? unum_formatDouble(format, number, shown, SHOWN_ROOM, NULL, &error) : 0;
	if (!format || U_FAILURE(error) || len >= SHOWN_ROOM || !to_utf8(shown, len, ret, room))
		snprintf(ret, (size_t)room, "%.3g", number);
}

/* --- measures: a number with its unit, by one of ICU's number skeletons --- */

struct measure {
	UNumberFormatter *formatter;
	UFormattedNumber *result; /* ICU's scratch for one number */
};

static void measure_close(void *opened)
{
	struct measure *measure = opened;

	unumf_closeResult(measure->result);
	unumf_close(measure->formatter);
	free(measure);
}

static void *measure_open(const char *tag, const char *detail)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar skeleton[PATTERN_ROOM];
	struct measure *measure = memory_new(sizeof(*measure));

	u_uastrcpy(skeleton, detail);
	measure->formatter = unumf_openForSkeletonAndLocale(skeleton, -1, tag, &error);
	measure->result = unumf_openResult(&error);
	if (U_SUCCESS(error))
		return measure;
	measure_close(measure);
	return NULL;
}

static bool measure_shown(double number, const char *tag, const char *skeleton, char *ret, int room)
{
	static struct shelf shelf = { .open = measure_open, .close = measure_close };
	const struct measure *measure = shelf_take(&shelf, tag, skeleton);
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];

	if (!measure)
		return false;
	unumf_formatDouble(measure->formatter, number, measure->result, &error);
	int32_t len = unumf_resultToString(measure->result, shown, SHOWN_ROOM, &error);
	return U_SUCCESS(error) && to_utf8(shown, len, ret, room);
}

void locale_percent(double fraction, const char *tag, char *ret, int room)
{
	const char *skeleton = fabs(fraction) < 0.1 ? "percent scale/100 .#" : "percent scale/100 .";

	if (!measure_shown(fraction, tag, skeleton, ret, room))
		snprintf(ret, (size_t)room, "%.1f %%", fraction * 100);
}

void locale_bytes(int64_t bytes, const char *tag, char *ret, int room)
{
	static const struct {
		const char *skeleton, *name;
	} units[] = { { "unit/byte unit-width-short .", "byte" }, { "unit/kilobyte unit-width-short .#", "kB" },
		{ "unit/megabyte unit-width-short .#", "MB" }, { "unit/gigabyte unit-width-short .#", "GB" },
		{ "unit/terabyte unit-width-short .#", "TB" }, { "unit/petabyte unit-width-short .#", "PB" } };
	double size = (double)bytes;
	size_t unit = 0;

	for (; fabs(size) >= 999.95 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		size /= 1000;
	if (!measure_shown(size, tag, units[unit].skeleton, ret, room))
		snprintf(ret, (size_t)room, "%.1f %s", size, units[unit].name);
}

/* --- spans of time --- */

static const struct unit {
	int64_t us;
	const char *skeleton, *name;
	URelativeDateTimeUnit relative;
} units_of_time[] = { { US_PER_DAY, "unit/day unit-width-short .", "d", UDAT_REL_UNIT_DAY },
	{ US_PER_HOUR, "unit/hour unit-width-short .", "h", UDAT_REL_UNIT_HOUR },
	{ US_PER_MINUTE, "unit/minute unit-width-short .", "min", UDAT_REL_UNIT_MINUTE },
	{ US_PER_S, "unit/second unit-width-short .", "s", UDAT_REL_UNIT_SECOND },
	{ US_PER_MS, "unit/millisecond unit-width-short .", "ms", UDAT_REL_UNIT_SECOND } };
enum { UNITS_OF_TIME = sizeof(units_of_time) / sizeof(*units_of_time), SECOND = UNITS_OF_TIME - 2 };

static void add_unit(int64_t count, const struct unit *unit, const char *tag, char *ret, int room)
{
	char shown[SHOWN_ROOM];
	size_t len = strlen(ret);

	if (!measure_shown((double)count, tag, unit->skeleton, shown, sizeof(shown)))
		snprintf(shown, sizeof(shown), "%" PRId64 " %s", count, unit->name);
	if (len + 1 < (size_t)room)
		text_copy(ret + len, (size_t)room - len, shown);
}

void locale_span(int64_t us, const char *tag, char *ret, int room)
{
	int sign = us < 0 ? -1 : 1, first = 0;
	int64_t size = us == INT64_MIN ? INT64_MAX : us * sign;

	ret[0] = '\0';
	while (first < UNITS_OF_TIME - 1 && size < units_of_time[first].us)
		first++;
	if (size < US_PER_MS)
		first = SECOND; /* "0 sec" */
	add_unit(sign * (size / units_of_time[first].us), &units_of_time[first], tag, ret, room);
	if (first >= SECOND)
		return;
	int64_t rest = size % units_of_time[first].us / units_of_time[first + 1].us;
	size_t len = strlen(ret);
	if (rest > 0 && text_copy(ret + len, (size_t)room - len, " "))
		add_unit(rest, &units_of_time[first + 1], tag, ret, room);
}

static void *ago_open(const char *tag, const char *detail)
{
	UErrorCode error = U_ZERO_ERROR;
	URelativeDateTimeFormatter *formatter =
		ureldatefmt_open(tag, NULL, UDAT_STYLE_SHORT, UDISPCTX_CAPITALIZATION_NONE, &error);

	(void)detail;
	return U_SUCCESS(error) ? formatter : NULL;
}

static void ago_close(void *opened)
{
	ureldatefmt_close(opened);
}

void locale_ago(int64_t difference_us, const char *tag, char *ret, int room)
{
	static struct shelf shelf = { .open = ago_open, .close = ago_close };
	const URelativeDateTimeFormatter *formatter = shelf_take(&shelf, tag, "");
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];
	int unit = 0;

	while (unit < SECOND && llabs(difference_us / units_of_time[unit].us) == 0)
		unit++;
	double count = (double)(difference_us / units_of_time[unit].us);
	int32_t len = 0;
	if (formatter && count == 0) /* "now" */
		len = ureldatefmt_format(formatter, 0, UDAT_REL_UNIT_SECOND, shown, SHOWN_ROOM, &error);
	else if (formatter)
		len = ureldatefmt_formatNumeric(
			formatter, count, units_of_time[unit].relative, shown, SHOWN_ROOM, &error);
	if (!formatter || U_FAILURE(error) || !to_utf8(shown, len, ret, room))
		snprintf(ret, (size_t)room, "%+.0f %s", count, units_of_time[unit].name);
}

/* --- plurals --- */

static void *plural_open(const char *tag, const char *detail)
{
	UErrorCode error = U_ZERO_ERROR;
	UPluralRules *rules = uplrules_open(tag, &error);

	(void)detail;
	return U_SUCCESS(error) ? rules : NULL;
}

static void plural_close(void *opened)
{
	uplrules_close(opened);
}

const char *locale_plural(uint64_t number, const char *tag)
{
	static struct shelf shelf = { .open = plural_open, .close = plural_close };
	const UPluralRules *rules = shelf_take(&shelf, tag, "");
	UErrorCode error = U_ZERO_ERROR;
	UChar word[16];
	char name[16];

	int32_t len = rules ? uplrules_select(rules, (double)number, word, 16, &error) : 0;
	if (rules && U_SUCCESS(error) && to_utf8(word, len, name, sizeof(name)))
		for (int i = 0; i < 6; i++)
			if (strcmp(locale_plurals[i], name) == 0)
				return locale_plurals[i];
	return "other";
}

/* --- days --- */

/* The language's pattern for a skeleton: "MMMMd" becomes "d. MMMM" in German. */
static int32_t best_pattern(const char *tag, const char *skeleton, UChar ret[PATTERN_ROOM])
{
	UErrorCode error = U_ZERO_ERROR;
	UChar wanted[PATTERN_ROOM];
	UDateTimePatternGenerator *generator = udatpg_open(tag, &error);

	u_uastrcpy(wanted, skeleton);
	int32_t len = U_SUCCESS(error) ? udatpg_getBestPattern(generator, wanted, -1, ret, PATTERN_ROOM, &error) : -1;
	udatpg_close(generator);
	return U_SUCCESS(error) ? len : -1;
}

static void *day_open(const char *tag, const char *detail)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar pattern[PATTERN_ROOM], zone[ZONE_ROOM];
	const char *skeleton = strchr(detail, ' ') + 1;

	int32_t len = best_pattern(tag, skeleton, pattern);
	if (len < 0)
		return NULL;
	int32_t zone_len = (int32_t)(skeleton - 1 - detail);
	u_charsToUChars(detail, zone, zone_len);
	UDateFormat *format = udat_open(UDAT_PATTERN, UDAT_PATTERN, tag, zone, zone_len, pattern, len, &error);
	return U_SUCCESS(error) ? format : NULL;
}

static void day_close(void *opened)
{
	udat_close(opened);
}

void locale_day(int64_t us, const char *zone, const char *tag, enum locale_day form, char *ret, int room)
{
	static const char *const skeletons[] = { [LOCALE_DATE] = "MMMMd",
		[LOCALE_WEEKDAY] = "EEEE",
		[LOCALE_MOMENT] = "yMMMMdjjmmz",
		[LOCALE_SHORT] = "MMMdjjmm",
		[LOCALE_SHORT_YEAR] = "yMMMdjjmm",
		[LOCALE_SHORT_ZONE] = "yMMMdjjmmz",
		[LOCALE_CLOCK] = "jjmm",
		[LOCALE_CLOCK_ZONE] = "jjmmz",
		[LOCALE_DAY] = "MMMEd",
		[LOCALE_DAY_YEAR] = "yMMMEd",
		[LOCALE_DAY_OF_MONTH] = "MMMd" };
	static struct shelf shelf = { .open = day_open, .close = day_close };
	char detail[ZONE_ROOM + 16];
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];

	snprintf(detail, sizeof(detail), "%.40s %s", zone, skeletons[form]);
	const UDateFormat *format = shelf_take(&shelf, tag, detail);
	ret[0] = '\0';
	if (!format)
		return;
	int32_t len = udat_format(format, (UDate)us / (UDate)US_PER_MS, shown, SHOWN_ROOM, NULL, &error);
	if (U_FAILURE(error) || !to_utf8(shown, len, ret, room))
		ret[0] = '\0';
}
