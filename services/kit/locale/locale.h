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

/*
 * Converts any spelling of a storefront ("pt_br", "iw-IL") to the canonical tag ("pt-BR", "he-IL"); "" if it
 * is no language.
 */
void locale_canonical(const char *given, char ret[LOCALE_ROOM]);
/*
 * Replaces the tag by the next wider one, in the lookup order of RFC 4647: "zh-Hant-TW", "zh-Hant", "zh".
 * false: there is none.
 */
bool locale_widen(char tag[LOCALE_ROOM]);
bool locale_same_language(const char *a, const char *b);
bool locale_is_rtl(const char *tag);
/*
 * Combines the language of `words` with the habits of the shopper's place. If both have the same language,
 * the result is the shopper's tag; otherwise "de" and "en-US" give "de-US".
 */
void locale_blend(const char *words, const char *shopper, char ret[LOCALE_ROOM]);

/* --- words.c: the results are always terminated, and readable even if ICU lacks the data --- */

enum locale_day {
	LOCALE_DATE,        /* "21. November" */
	LOCALE_WEEKDAY,     /* "Samstag" */
	LOCALE_MOMENT,      /* "21. November 2026 um 02:04 MEZ" */
	LOCALE_SHORT,       /* "21. Nov., 02:04" */
	LOCALE_SHORT_YEAR,  /* "21. Nov. 2026, 02:04" */
	LOCALE_SHORT_ZONE,  /* "21. Nov. 2026, 02:04 MEZ": for an hour that comes twice */
	LOCALE_CLOCK,       /* "02:04" */
	LOCALE_CLOCK_ZONE,  /* "02:04 MEZ" */
	LOCALE_DAY,         /* "Sa., 21. Nov." */
	LOCALE_DAY_YEAR,    /* "Sa., 21. Nov. 2026" */
	LOCALE_DAY_OF_MONTH /* "21. Nov." */
};

void locale_number(uint64_t number, const char *tag, char *ret, int room);
void locale_integer(int64_t number, const char *tag, char *ret, int room);
void locale_decimal(double number, const char *tag, char *ret, int room); /* three digits after the point at most */
/* 0.664 is "66 %", 0.0123 is "1,2 %". */
void locale_percent(double fraction, const char *tag, char *ret, int room);
/* "1,2 GB": powers of 1000. */
void locale_bytes(int64_t bytes, const char *tag, char *ret, int room);
/* "3 Tg. 2 Std.", "4 Std. 3 Min.", "20 Sek.", "250 ms": the two largest units. */
void locale_span(int64_t us, const char *tag, char *ret, int room);
/* "vor 8 Min.", "in 8 Min.", "jetzt"; the difference is that of the moment to now. */
void locale_ago(int64_t difference_us, const char *tag, char *ret, int room);
void locale_day(int64_t us, const char *zone, const char *tag, enum locale_day form, char *ret, int room);
/* The CLDR plural category of this number in the language: "zero", "one", "two", "few", "many" or "other". */
const char *locale_plural(uint64_t number, const char *tag);
extern const char *const locale_plurals[6]; /* all of them, "other" last */

/* ---- the choice among the offered languages ---- */

/*
 * `accept` is the header Accept-Language (RFC 9110 section 12.5.4), NULL or "": not given; `locale` a locale to fall back on
 * ("de-AT"). `offered` ends with NULL and is not empty. Returns one of them: the best that is accepted, else that of the locale,
 * else the first.
 */
const char *language_choose(const char *accept, const char *locale, const char *const *offered);
/*
 * The same choice in a table of texts. `rows` have `row_size` bytes each, begin with `const char *language`,
 * and end with a row whose language is NULL (language_table in services/kit/CMakeLists.txt makes them).
 * Returns one of the rows. The table has 1 to 32 languages.
 */
const void *language_row(const void *rows, size_t row_size, const char *accept, const char *locale);

/* ---- characters in strangers' texts that are invisible and change how a line reads ---- */

/* C0, C1, DEL, and the separators of lines and paragraphs. */
static inline bool text_is_control(UChar32 c)
{
	return c < ' ' || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
}

/*
 * Marks, embeddings, overrides and isolates: with them a title could reverse its line. Joiners of emoji do
 * not count.
 */
static inline bool text_is_direction_mark(UChar32 c)
{
	return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

#endif
