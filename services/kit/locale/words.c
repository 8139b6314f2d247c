/*
 * words.c: writes numbers, plurals and days in a language
 *
 * Owns:      a few of ICU's formatters: opening one takes longer than writing the rest of a mail.
 * Fails by:  plain digits, the plural "other", or "" for a day, if ICU does not know the locale.
 * Read next: money.c (amounts)
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include <inttypes.h>
#include <stdio.h>
#include <unicode/udat.h>
#include <unicode/udatpg.h>
#include <unicode/unum.h>
#include <unicode/upluralrules.h>
#include <unicode/ustring.h>

enum { KEPT = 16, KEY_ROOM = 96, SHOWN_ROOM = 160, PATTERN_ROOM = 64, ZONE_ROOM = 64 };

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

void locale_number(uint64_t number, const char *tag, char *ret, int room)
{
	static struct shelf shelf = { .open = number_open, .close = number_close };
	const UNumberFormat *format = shelf_take(&shelf, tag, "");
	UErrorCode error = U_ZERO_ERROR;
	UChar shown[SHOWN_ROOM];

	int32_t len = format ? unum_formatInt64(format, (int64_t)number, shown, SHOWN_ROOM, NULL, &error) : 0;
	if (!format || U_FAILURE(error) || !to_utf8(shown, len, ret, room))
		snprintf(ret, (size_t)room, "%" PRIu64, number);
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
	static const char *const skeletons[] = {
		[LOCALE_DATE] = "MMMMd", [LOCALE_WEEKDAY] = "EEEE", [LOCALE_MOMENT] = "yMMMMdjjmmz"
	};
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
