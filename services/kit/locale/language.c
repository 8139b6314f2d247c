/* language.c: which of the languages we have somebody reads: ICU matches */
#include "services/kit/locale/language.h"
#include <assert.h>
#include <string.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>

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
