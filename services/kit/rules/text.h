/*
 * text.h: the inside of the rules parser: tokens, the words of ten languages, the items of a sentence, and
 * its meaning
 *
 * Read next: parse.c (the whole), token.c, words.c, items.c, then one file per kind of sentence
 */
#ifndef KIT_RULES_TEXT_H
#define KIT_RULES_TEXT_H

#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "services/kit/rules/rules.h"
#include "services/kit/template/template.h"
#include <float.h>

struct place {
	int line, column;
};

/* --- token.c: the text as words, numbers, times, currency signs and marks, the same in every language --- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_TIME, TOKEN_SIGN, TOKEN_MARK };

struct token {
	enum token_kind kind;
	bool joined; /* it follows the previous token directly */
	bool upper;  /* its first letter is a capital, or its script has no capitals */
	struct place place;
	struct bytes source; /* as written */
	char word[64];       /* folded: lower case, without accents; ASCII digits; "" when it is longer */
};

/*
 * -EINVAL: the text has something that is no token; ret_error tells where. `ret` gets struct tokens, the last
 * one TOKEN_END.
 */
int rules_tokens(const char *text, struct buffer *ret, struct rules_error *ret_error);

/* --- words.c: the meanings of a language's words --- */

enum { LANGUAGES_MAX = 16, CONCEPTS_MAX = 6, PHRASE_TOKENS_MAX = 12 };

struct phrase {
	const char *concepts[CONCEPTS_MAX]; /* "cart", "under"; NULL ends them */
	int64_t value;                      /* "num": thousandths; "dow": a bit; "span": microseconds */
	char currency[8];                   /* "currency" */
	const char *instead;                /* "!vague": exact words to propose instead; NULL: none */
};

struct language;
int languages_count(void);
const struct language *language_at(int index);
const struct language *language_named(const char *tag);      /* of "de-AT": German; NULL: there is none */
bool language_has_comma(const struct language *language);    /* 1.000,50 and not 1,000.50 */
bool language_counts_units(const struct language *language); /* a unit without a number is one of it */
bool language_waits_behind(const struct language *language); /* "after" stands behind the wait, as in Japanese */
/* The longest phrase that the tokens begin with; NULL: none. `skip`: bytes of the first word to ignore. */
const struct phrase *language_find(
	const struct language *language, const struct token *tokens, int count, size_t skip, int *ret_used);
/*
 * The one word of the language of which `word` is a misspelling, among words that cannot reverse a meaning;
 * NULL: none, or several. In places that may name carts, shoppers or times, a word with another letter counts
 * as another word.
 */
enum mend_place {
	MEND_FIRST,  /* the first word of the sentence */
	MEND_INSIDE, /* may limit a time: "domingo de manhã" is no "domingo manda" */
	MEND_WHOM,   /* beside a cart or a shopper: "older customers" are no "order" */
	MEND_OFFER   /* only for proposals: a word for a size or its limit, which is never read as such */
};
const char *language_mend(const struct language *language, const char *word, enum mend_place place);

int64_t words_unit_us(const char *concept);       /* "hour"; 0: it is no unit */
const char *words_unit_name(int64_t unit_us);     /* "hours" */
const char *words_size_name(enum cart_size size); /* "small" */
bool words_name_currency(const char *word);       /* is it the sign or name of a currency? Codes do not count. */
/*
 * The currency of a sign, a code or a name. A sign of several currencies means the shop's own currency if
 * that uses it.
 */
bool words_currency(const char *word, const char *shop_currency, char ret[4]);

/*
 * --- items.c: reads the tokens of one sentence in one language as items: words by meaning, amounts, spans,
 * times
 */

enum { ITEMS_MAX = 400 };

/* the data of storefronts is not kept longer, so no reminder could be made */
#define SPAN_MAX_US (30 * US_PER_DAY)

struct item {
	const char *concepts[CONCEPTS_MAX];
	int64_t value;    /* "num": thousandths; "span": microseconds; "time": minute of the day; "dow": a bit */
	int64_t unit_us;  /* "span": of its first number */
	char decimal[32]; /* "num" and "amount": as a plain decimal number; "": it can be read in more than one way */
	char currency[4]; /* "currency" and "amount" */
	const char *instead; /* the phrase's proposal; NULL: none */
	bool is_clock;       /* "time": it is certainly no span ("8 h" may be one) */
	bool is_hours;       /* "time": with a word like "Uhr" */
	bool has_half;       /* "time": with "pm" or a similar word */
	bool is_word;        /* "num": written out */
	bool is_joined;      /* it follows the previous item directly */
	struct place place;
	struct place value_place; /* "amount": the place of its number; "badtime": the place of the error */
	struct bytes source;
};

enum reading { READ_WAITS, READ_CLOCK }; /* whether "8 h" is a wait or a time of day */

struct items {
	struct item list[ITEMS_MAX + 1]; /* the last one is "end" */
	int count;
	int unknown;       /* how many items the language does not know */
	bool waits_behind; /* of the language */
};

void items_read(const struct language *language, enum reading reading, const char *shop_currency,
	const struct token *tokens, int count, struct items *ret);
bool item_is(const struct item *item, const char *concept);
bool item_is_any(const struct item *item, const char *const *concepts);             /* NULL ends the concepts */
bool items_have(const struct items *items, int count, const char *const *concepts); /* among the first `count` */

/* --- read.c: the parts of all sentences --- */

struct bound {
	char currency[4];
	int64_t minor;
	struct place place;
};

struct bounds {
	struct bound list[RULES_CURRENCIES_MAX];
	int count;
	bool soft; /* of a range: a neighbouring size with "up to" or "from" includes the amount itself */
};

enum who { WHO_NONE, WHO_ALL, WHO_REST, WHO_NAMED, WHO_AMOUNTS };

/* One sentence, or a part of it, about carts. */
struct clause {
	enum who who;
	enum cart_size size;     /* WHO_NAMED */
	int also;                /* further sizes with the same meaning, as bits */
	struct bounds low, high; /* both inclusive; none: open */
	bool is_middle;          /* "the rest", of medium carts */
	struct rules_waits waits;
	struct place place, low_place, bounds_place, first_place;
};

enum { CLAUSES_MAX = 8, RATES_MAX = 8 };
enum { RATES_DIGITS = DBL_DIG }; /* significant digits of a rate: a double keeps each decimal of so many */

enum kind { KIND_SIZES, KIND_OFTEN, KIND_RATES, KIND_HOURS, KINDS };

struct sentence {
	enum kind kind;
	struct clause clauses[CLAUSES_MAX];
	int clause_count;
	struct rules_quiet quiets[2];
	int quiet_count;
	struct rules_cap cap;
	struct rules_rate rates[RATES_MAX];
	struct place rate_places[RATES_MAX];
	int rate_count;
	struct place place;
};

struct reader {
	const struct items *items;
	int at;
	struct sentence *sentence;
	struct rules_error *error;
	int furthest; /* the furthest item, where the error is */
};

const struct item *item_now(const struct reader *reader);
void pass(struct reader *reader);                             /* passes over the current item */
const struct item *item_ahead(struct reader *reader, int by); /* the item `by` places ahead; fillers count */
/*
 * Takes all concepts of a pattern or none. Concepts are separated by blanks; "a|b" means one of both; "a?"
 * may be missing; words without meaning are skipped: take(reader, "every? shopper|cart").
 */
bool take(struct reader *reader, const char *pattern);
bool next_is(struct reader *reader, const char *pattern); /* the same without taking them */
bool at_end(struct reader *reader);
/* reports "expected ... but found ..." */
int expected(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
int refuse(struct reader *reader, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void print_span(int64_t us, char *ret, size_t room);       /* "90 minutes", "4 hours" */
int64_t span_unit(int64_t us);                             /* the unit of such a text, such as US_PER_HOUR */
const char *place_words(struct place place, char ret[48]); /* "line 1, column 34" */
int rules_refuse(struct rules_error *error, struct place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Reads "4 hours", or a number alone, which has the unit of the previous wait (`unit_us`; 0: none). `unit_us`
 * becomes the unit of this wait.
 */
int read_span(struct reader *reader, int64_t *unit_us, int64_t *ret_us);
/* Reads "$40" or "$40 or €35" in minor units, plus `add`. */
int read_amounts(struct reader *reader, int64_t add, struct bounds *ret);

/* One file per kind of sentence. */
int read_sizes(struct reader *reader);
int read_often(struct reader *reader);
int read_rates(struct reader *reader);
int read_hours(struct reader *reader);

/* --- hours.c --- */

/* Is it a pair such as "9 and 8" or "9 to 8" that belongs to no cart, amount or wait? */
bool is_pair_of_hours(const struct items *items, int at);
/* Is it a sentence about quiet hours, or with "no mail" or "only", that has such a pair? */
bool looks_like_hours(const struct items *items);

/* --- number.c: numbers as owners write them --- */

enum { THOUSANDTHS = 1000, NUMBER_MAX = 100000 };
/*
 * Writes "1.000,50" as "1000.50". false: it can be read in several ways, or in none. `comma`: the language's
 * decimal point is a comma.
 */
bool number_plain(const char *raw, bool comma, char ret[32]);
int64_t number_thousandths(const char *decimal); /* of "1000.50"; -1: above NUMBER_MAX, or more than three decimals */

/* --- split.c: the beginning and end of a sentence, and sentences that state two things --- */

enum { SENTENCE_ENDS_MAX = 8 };

struct sentence_ends {
	/* the full stops that may end it; the last one certainly ends it, or the limit is reached */
	int list[SENTENCE_ENDS_MAX];
	int count; /* 0: the text ends before the sentence does */
};

struct sentence_ends sentence_ends(const struct token *tokens);
/* How many tokens mark the sentence as an entry of a list: "-", "*", "1." or "1)". */
int list_mark(const struct token *tokens);
/*
 * Does the item at `at` link two limits, as in "... and never on Sundays" or "... and at most 3 per week"?
 * Each half must then be read alone.
 */
bool is_seam(const struct items *items, int at);
/*
 * Do two limits mean the same when they are separated? "No mail on Sundays and not before 10:00" does not: it
 * may mean on Sundays or on every day.
 */
bool may_stand_together(const struct sentence *first, const struct sentence *second);

/* --- offer.c: proposes a sentence in place of a refused one --- */

/* Can the text, without its full stop, be read as one sentence (parse.c)? */
bool sentence_reads(const char *text, const char *currency);
/*
 * Proposes the sentence with one thing made exact: Monday to Friday for working days, a wait for the next
 * day, the shop's currency after an amount, the right spelling of a size. For two bare hours it proposes the
 * two likely pairs of a 24-hour clock: over the night, or over the day. If the result is no sentence, `ret`
 * is unchanged.
 */
void offer_instead(const struct token *tokens, int count, const char *currency, struct rules_error *ret);

/* --- speech.c: prints the rules: the patterns of each language --- */

enum speech_key {
	SPEECH_AND, /* between the last two of a list */
	SPEECH_COMMA,
	SPEECH_OR,
	SPEECH_POINT, /* the decimal point of a number */
	SPEECH_SMALL,
	SPEECH_MEDIUM,
	SPEECH_BIG,
	SPEECH_ALL,
	SPEECH_REST,
	SPEECH_NAMED, /* {who} ({ends}) */
	SPEECH_CARTS, /* {ends} */
	SPEECH_UNDER, /* {low} and {high} as far as there are, to SPEECH_FROM_UPTO */
	SPEECH_UPTO,
	SPEECH_OVER,
	SPEECH_OVER_UNDER,
	SPEECH_OVER_UPTO,
	SPEECH_FROM,
	SPEECH_FROM_UNDER,
	SPEECH_FROM_UPTO,
	SPEECH_NEVER, /* {who}; further {first}, {second} */
	SPEECH_ONCE,
	SPEECH_TWICE,
	SPEECH_MINUTES, /* by number */
	SPEECH_HOURS,
	SPEECH_DAYS,
	SPEECH_RATE,   /* {low}, {rate}, {high} */
	SPEECH_CLOSED, /* {days} */
	SPEECH_QUIET,  /* {from}, {to} */
	SPEECH_QUIET_DAYS,
	SPEECH_WINDOW,  /* {span} */
	SPEECH_CAPS,    /* by number, {span} */
	SPEECH_BUILTIN, /* {span}; a comment, not a sentence */
	SPEECH_WEEKDAYS,
	SPEECH_KEYS
};

struct rules_speech;
/* English if we do not have the locale's language */
const struct rules_speech *rules_speech_for(const char *locale);
const char *speech_words(const struct rules_speech *speech, enum speech_key key);
struct speech_value {
	const char *name, *text; /* NULL ends them */
};
void speech_fill(const char *pattern, const struct speech_value *values, struct buffer *ret);
/* Appends the words for this count by the language's grammar, with the number in place of '#'. */
void speech_count(const struct rules_speech *speech, enum speech_key key, int64_t count, struct buffer *ret);

/* --- the whole text --- */

struct whole {
	struct rules *rules;
	struct rules_error *error;
	struct clause clauses[RULES_SIZES_MAX];
	int clause_count;
	struct place rate_places[RULES_CURRENCIES_MAX];
	struct place quiet_places[RULES_QUIET_MAX];
	struct place cap_places[RULES_CAPS_MAX];
	struct place window_place, end;
	bool window_given;
};

void rules_show(const char *text, struct rules_error *error); /* show.c: the line and a caret, into `shown` */

int whole_add(struct whole *whole, const struct sentence *sentence);
int whole_check(struct whole *whole); /* checks that need the whole text */
void whole_warn(struct whole *whole, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void advise(struct whole *whole); /* adds warnings about rules that are no contradiction but may surprise */

/* words/de.txt and so on: the meanings of owners' words (words.c) */
extern const struct text_resource word_texts[];
/* sentences/de.txt and so on: the patterns to print rules (speech.c) */
extern const struct text_resource sentence_texts[];

#endif
