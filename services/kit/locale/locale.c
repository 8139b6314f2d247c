/*
 * locale.c: tags of languages and places
 *
 * Owns:      the last few spellings and their tags, because ICU needs too long to read one for each mail.
 * Promises:  all spellings of a tag give the same tag; a text that names no language gives "".
 * Read next: words.c, voice_choose.c (chooses the text for a shopper)
 */
#include "services/kit/locale/locale.h"
#include "bus/base/text.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>

enum { SPELLINGS_KEPT = 16, NAME_ROOM = 96 };

/* ICU's name of a locale, from a tag or from the form of old programs ("de_DE", "de_DE.UTF-8"). */
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
	if (dash - tag >= 2 && dash[-2] == '-') /* "en-x-shop": a single letter only begins the next part */
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

/* --- chooses one of the offered languages for a reader: ICU matches them --- */

enum {
	ACCEPT_MOST = 1000, /* a browser's is some tens of bytes */
	ROWS_MOST = 32
};

static int count_of(const char *const *offered)
{
	int count = 0;

	while (offered[count])
		count++;
	return count;
}

static const char *one_of(const char *language, const char *const *offered)
{
	for (; *offered; offered++)
		if (strcmp(*offered, language) == 0)
			return *offered;
	return NULL;
}

static const char *accepted(const char *accept, const char *const *offered)
{
	UErrorCode error = U_ZERO_ERROR;
	UEnumeration *enumeration = uenum_openCharStringsEnumeration(offered, count_of(offered), &error);
	UAcceptResult result = ULOC_ACCEPT_FAILED;
	char best[ULOC_FULLNAME_CAPACITY] = "", language[ULOC_LANG_CAPACITY] = "";

	uloc_acceptLanguageFromHTTP(best, sizeof(best), &result, accept, enumeration, &error);
	uenum_close(enumeration);
	if (U_FAILURE(error) || result == ULOC_ACCEPT_FAILED)
		return NULL;
	uloc_getLanguage(best, language, sizeof(language), &error);
	return U_FAILURE(error) ? NULL : one_of(language, offered);
}

const char *language_choose(const char *accept, const char *locale, const char *const *offered)
{
	char language[ULOC_LANG_CAPACITY] = "";
	const char *found = NULL;
	UErrorCode error = U_ZERO_ERROR;

	if (accept && *accept && strlen(accept) <= ACCEPT_MOST)
		found = accepted(accept, offered);
	if (!found && locale) {
		uloc_getLanguage(locale, language, sizeof(language), &error);
		found = U_FAILURE(error) ? NULL : one_of(language, offered);
	}
	return found ? found : offered[0];
}

static const char *language_of(const void *rows, size_t row_size, int row)
{
	const char *language;

	memcpy(&language, (const char *)rows + (size_t)row * row_size, sizeof(language));
	return language;
}

const void *language_row(const void *rows, size_t row_size, const char *accept, const char *locale)
{
	const char *offered[ROWS_MOST + 1] = { NULL }, *chosen;
	int row = 0;

	for (int i = 0; (offered[i] = language_of(rows, row_size, i)); i++)
		assert(i < ROWS_MOST);
	chosen = language_choose(accept, locale, offered);
	while (offered[row] != chosen)
		row++;
	return (const char *)rows + (size_t)row * row_size;
}
