/*
 * rules.h: the owner's rules, prose that means exactly one thing
 *
 * The grammar is in grammar.md beside this file and, for owners, in the README. A text is accepted whole or refused with line,
 * column and what was expected; nothing is guessed.
 */
#ifndef KIT_RULES_H
#define KIT_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum cart_size { SIZE_SMALL, SIZE_MEDIUM, SIZE_BIG };

enum { RULES_CURRENCIES_MAX = 16, RULES_WARNINGS_MAX = 8 };

struct rules {
	struct rules_waits {
		int64_t first_us, second_us; /* both from abandonment */
	} waits[3];                          /* by enum cart_size */
	struct rules_threshold {
		char currency[4];    /* always a code: a bare sign was resolved */
		int64_t small_below; /* minor units: a total below is small */
		int64_t big_above;   /* a total above is big; both ends themselves are medium */
	} thresholds[RULES_CURRENCIES_MAX];
	int threshold_count;
	struct rules_rate {
		char from[4], to[4];
		double rate; /* 1 from = rate to: the owner's fixed rate */
	} rates[RULES_CURRENCIES_MAX];
	int rate_count;
	bool has_quiet;
	int quiet_from_minute, quiet_to_minute; /* of the local day; from > to spans midnight */
	int64_t window_us; /* at most one mail per shopper in this time; 0: not given (24 h is used) */
	int warning_count;
	char warnings[RULES_WARNINGS_MAX][160];
};

struct rules_error {
	int line, column; /* from 1; column counts characters, not bytes */
	char text[240];   /* "line 1, column 34: expected a time unit (hours, minutes, days) but found \"bananas\"" */
};

/* `currency` is the shop's: what a bare "$" means if the shop's currency uses that sign; a US dollar if it does not. */
int rules_parse(const char *text, const char *currency, struct rules *ret, struct rules_error *ret_error);

struct rules_choice {
	enum cart_size size;
	struct rules_waits waits;
	bool unknown_currency; /* no threshold and no rate: counted as medium */
};
struct rules_choice rules_choose(const struct rules *rules, int64_t total_minor, const char *currency);
int64_t rules_window_us(const struct rules *rules);
/* `us` itself when it is outside the quiet hours, else the next sending minute, in the shop's zone. */
int64_t rules_next_sending_us(const struct rules *rules, const char *zone, int64_t us);

/* The rules as they were understood, in sentences that rules_parse reads back as the same rules. Appends. */
struct buffer;
void rules_print(const struct rules *rules, struct buffer *ret);

#endif
