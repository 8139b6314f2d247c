/*
 * rules.h: the owner's rules, prose that means exactly one thing
 *
 * The grammar is in grammar.md beside this file and, for owners, in deploy/handbook/owner.md. A text is accepted whole or refused with line,
 * column and what was expected; nothing is guessed.
 */
#ifndef KIT_RULES_RULES_H
#define KIT_RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum cart_size { SIZE_SMALL, SIZE_MEDIUM, SIZE_BIG, SIZE_BY_AMOUNT };

enum {
	RULES_CURRENCIES_MAX = 16,
	RULES_WARNINGS_MAX = 8,
	RULES_SIZES_MAX = 64, /* gaps between them included */
	RULES_QUIET_MAX = 16,
	RULES_CAPS_MAX = 4,
	RULES_CAP_MAILS_MAX = 10, /* what is remembered of a shopper */
	RULES_EVERY_DAY = 0x7f
};

struct rules {
	/* From the smallest to the largest, without gaps: what no sentence speaks of is a size of its own without a mail. */
	struct rules_size {
		enum cart_size name;
		bool is_rest; /* what is left: "all other carts", or no sentence speaks of it */
		struct rules_waits {
			int mails;                   /* 0 to 2 */
			int64_t first_us, second_us; /* both from abandonment; 0: there is none */
		} waits;
	} sizes[RULES_SIZES_MAX];
	int size_count;
	struct rules_edges {
		char currency[4];              /* always a code: a bare sign was resolved */
		int64_t from[RULES_SIZES_MAX]; /* minor units: the least total of each size; of the first INT64_MIN */
	} edges[RULES_CURRENCIES_MAX];
	int edge_count;          /* 0: there is one size, of all carts */
	struct rules_waits rest; /* of carts whose currency has no amounts and no rate */
	enum cart_size rest_name;
	struct rules_rate {
		char from[4], to[4];
		double rate; /* 1 from = rate to: the owner's fixed rate */
	} rates[RULES_CURRENCIES_MAX];
	int rate_count;
	struct rules_quiet {
		int days;                   /* on which it begins; bit 0 is Sunday */
		int from_minute, to_minute; /* of the local day; from > to spans midnight; 0 to 1440 is the whole day */
	} quiets[RULES_QUIET_MAX];
	int quiet_count;
	int64_t window_us; /* at most one mail per shopper in this time; 0: not given (24 h is used) */
	struct rules_cap {
		int mails; /* more than one */
		int64_t period_us;
	} caps[RULES_CAPS_MAX]; /* and at most so many in so long, each */
	int cap_count;
	int warning_count;
	char warnings[RULES_WARNINGS_MAX][160];
};

struct rules_error {
	int line, column;  /* from 1; column counts characters, not bytes */
	char text[240];    /* "line 1, column 34: expected a time unit (hours, minutes, days) but found \"bananas\"" */
	char shown[240];   /* the line, and below it a caret under the place */
	char instead[240]; /* the same sentence with the one thing mended that was wrong (offer.c); else "" */
	char or_instead[240]; /* beside it, what may be meant as well; else "" */
};

/* `currency` is the shop's: what a bare "$" means if the shop's currency uses that sign; a US dollar if it does not. */
int rules_parse(const char *text, const char *currency, struct rules *ret, struct rules_error *ret_error);

/*
 * Where no amount and no rate is in the shop's own `currency`, though carts are sized by amount: warns of it as rules_parse does of other
 * things, and returns the warning; else NULL. Not for a currency that is a guess.
 */
const char *rules_warn_of_currency(struct rules *rules, const char *currency);

struct rules_choice {
	enum cart_size size;
	int index;                    /* of the size; -1: of none, the currency is unknown */
	int64_t from_minor, to_minor; /* of the size in `currency`, both inclusive; INT64_MIN, INT64_MAX: open */
	char currency[4];             /* "" when carts are not sized by amount */
	struct rules_waits waits;
	bool unknown_currency; /* no amount and no rate: what is left counts */
};
struct rules_choice rules_choose(const struct rules *rules, int64_t total_minor, const char *currency);
/* "a small cart", "a cart of 20.00 EUR to 80.00 EUR", "a cart" */
const char *rules_size_words(const struct rules_choice *choice, char ret[96]);
int64_t rules_window_us(const struct rules *rules);
/* `us` itself when it is outside the quiet hours and days, else the next sending minute, in the shop's zone. */
int64_t rules_next_sending_us(const struct rules *rules, const char *zone, int64_t us);
/* Is any minute of the week left for mail? */
bool rules_ever_send(const struct rules *rules);

/* The waits of a cart that has waits of its own (0: it has not): these hold instead of the rules'. */
struct rules_waits rules_waits_or_own(struct rules_waits waits, int64_t own_first_us, int64_t own_second_us);
/*
 * `mailed_us`: the last mails to one shopper, newest first, RULES_CAP_MAILS_MAX at most. Until when "at most so many in so long" allows
 * no further one; 0: it does now.
 */
int64_t rules_capped_until_us(const struct rules *rules, const int64_t *mailed_us, int count);

/*
 * The rules as they were understood, in sentences that rules_parse reads back as the same rules, in the language of `locale` ("de-AT"), or
 * in English if that is none of the ten; what is built in and holds beside them is a comment behind them. Appends.
 */
struct buffer;
void rules_print(const struct rules *rules, const char *locale, struct buffer *ret);

#endif
