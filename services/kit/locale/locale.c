/*
 * locale.c: tags of languages and places
 *
 * Owns:      the last few spellings, because ICU takes longer to read one than a mail has.
 * Promises:  the same tag for every spelling of it; what is no language is "".
 * Read next: words.c, voice_choose.c (which text a shopper gets)
 */
#include "services/kit/locale/locale.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <unicode/uloc.h>

enum { SPELLINGS_KEPT = 16, NAME_ROOM = 96 };

/* ICU's own name of it, from a tag or from what old programs write ("de_DE", "de_DE.UTF-8"). */
static bool icu_name(const char *given, char ret[NAME_ROOM])
{
	UErrorCode error = U_ZERO_ERROR;
	char dashed[NAME_ROOM];
	int32_t used = 0;

	if (!TEXT_COPY(dashed, given))
		return false;
	dashed[strcspn(dashed, ".@")] = '\0';
	for (char *c = dashed; *c; c++)
		*c = *c == '_' ? '-' : *c;
	int32_t len = uloc_forLanguageTag(dashed, ret, NAME_ROOM, &used, &error);
	return U_SUCCESS(error) && len > 0 && len < NAME_ROOM && (size_t)used == strlen(dashed) &&
		uloc_getISO3Language(ret)[0] != '\0';
}

static void canonical(const char *given, char ret[LOCALE_ROOM])
{
	UErrorCode error = U_ZERO_ERROR;
	char name[NAME_ROOM], tag[NAME_ROOM];

	ret[0] = '\0';
	if (!icu_name(given, name))
		return;
	int32_t len = uloc_toLanguageTag(name, tag, NAME_ROOM, true, &error);
	if (U_SUCCESS(error) && len > 0 && len < LOCALE_ROOM)
		text_copy(ret, LOCALE_ROOM, tag);
}

void locale_canonical(const char *given, char ret[LOCALE_ROOM])
{
	static struct {
		char given[LOCALE_ROOM], tag[LOCALE_ROOM];
	} kept[SPELLINGS_KEPT];
	static size_t oldest;

	ret[0] = '\0';
	if (!*given || strlen(given) >= LOCALE_ROOM)
		return;
	for (size_t i = 0; i < SPELLINGS_KEPT; i++)
		if (strcmp(kept[i].given, given) == 0) {
			text_copy(ret, LOCALE_ROOM, kept[i].tag);
			return;
		}
	canonical(given, ret);
	TEXT_COPY(kept[oldest % SPELLINGS_KEPT].given, given);
	TEXT_COPY(kept[oldest++ % SPELLINGS_KEPT].tag, ret);
}

bool locale_widen(char tag[LOCALE_ROOM])
{
	char *dash = strrchr(tag, '-');

	if (!dash)
		return false;
	if (dash - tag >= 2 && dash[-2] == '-') /* "en-x-shop": a single letter only introduces what follows */
		dash -= 2;
	*dash = '\0';
	return true;
}

bool locale_same_language(const char *a, const char *b)
{
	size_t len = strcspn(a, "-");

	return len > 0 && strcspn(b, "-") == len && strncmp(a, b, len) == 0;
}

bool locale_is_rtl(const char *tag)
{
	return uloc_isRightToLeft(tag);
}

void locale_blend(const char *words, const char *shopper, char ret[LOCALE_ROOM])
{
	char region[8] = "";
	UErrorCode error = U_ZERO_ERROR;

	text_copy(ret, LOCALE_ROOM, *shopper ? shopper : words);
	if (!*words || locale_same_language(words, ret))
		return;
	uloc_getCountry(ret, region, sizeof(region), &error);
	snprintf(ret, LOCALE_ROOM, "%.*s%s%.7s", (int)strcspn(words, "-"), words, region[0] ? "-" : "", region);
}
