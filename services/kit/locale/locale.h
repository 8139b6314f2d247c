/*
 * locale.h: languages and places as BCP 47 writes them ("pt-BR"), and how they write numbers and days (ICU)
 */
#ifndef KIT_LOCALE_LOCALE_H
#define KIT_LOCALE_LOCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unicode/umachine.h>

enum { LOCALE_ROOM = 24 };

/* However a storefront spells it ("pt_br", "iw-IL") to the canonical tag ("pt-BR", "he-IL"); "" for what is no language. */
void locale_canonical(const char *given, char ret[LOCALE_ROOM]);
/* The next wider tag, as RFC 4647 looks them up: "zh-Hant-TW", "zh-Hant", "zh". false: there is none. */
bool locale_widen(char tag[LOCALE_ROOM]);
bool locale_same_language(const char *a, const char *b);
bool locale_is_rtl(const char *tag);
/* Words in the language of `words`, habits of where the shopper is: of the same language the shopper's, else "de" and "en-US": "de-US". */
void locale_blend(const char *words, const char *shopper, char ret[LOCALE_ROOM]);

/* --- words.c: always terminated, and readable also where ICU lacks the data --- */

/* "21. November", "Samstag", "21. November 2026 um 02:04 MEZ" */
enum locale_day { LOCALE_DATE, LOCALE_WEEKDAY, LOCALE_MOMENT };

void locale_number(uint64_t number, const char *tag, char *ret, int room);
void locale_day(int64_t us, const char *zone, const char *tag, enum locale_day form, char *ret, int room);
/* CLDR's category of this many things in the language: "zero", "one", "two", "few", "many" or "other". */
const char *locale_plural(uint64_t number, const char *tag);
extern const char *const locale_plurals[6]; /* all of them, "other" last */

/* ---- which of the offered languages a reader gets ---- */

/*
 * `accept` is the header Accept-Language (RFC 9110 section 12.5.4), NULL or "": not given; `locale` a locale to fall back on
 * ("de-AT"). `offered` ends with NULL and is not empty. Returns one of them: the best that is accepted, else that of the locale,
 * else the first.
 */
const char *language_choose(const char *accept, const char *locale, const char *const *offered);
/*
 * The same choice in a table of texts: `rows` have `row_size` bytes each, begin with `const char *language` and end with a row where it is
 * NULL (language_table in services/kit/CMakeLists.txt makes them). Returns one of the rows. The table has 1 to 32 languages.
 */
const void *language_row(const void *rows, size_t row_size, const char *accept, const char *locale);

/* ---- characters in strangers' texts that are invisible and change how a line reads ---- */

/* C0, C1, DEL, and the separators of lines and paragraphs. */
static inline bool text_is_control(UChar32 c)
{
	return c < ' ' || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
}

/* Marks, embeddings, overrides and isolates: a title could turn the line it stands in around. Joiners of emoji are none. */
static inline bool text_is_direction_mark(UChar32 c)
{
	return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

#endif
