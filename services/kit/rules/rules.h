/*
 * rules.h: the owner's rules: prose with exactly one meaning
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
	RULES_CAP_MAILS_MAX = 10, /* the most mails that are remembered for a shopper */
	RULES_EVERY_DAY = 0x7f
};

struct rules {
	/*
	 * From the smallest to the largest, without gaps: a range that no sentence mentions is a size of its
	 * own without mails.
	 */
	struct rules_size {
		enum cart_size name;
		bool is_rest; /* the rest: "all other carts", or a range that no sentence mentions */
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
	int64_t window_us; /* at most one mail per shopper in this time; 0: not given (then 24 h) */
	struct rules_cap {
		int mails; /* more than one */
		int64_t period_us;
	} caps[RULES_CAPS_MAX]; /* at most `mails` mails in each period_us */
	int cap_count;
	int warning_count;
	char warnings[RULES_WARNINGS_MAX][160];
};

struct rules_error {
	int line, column;  /* from 1; column counts characters, not bytes */
	char text[240];    /* "line 1, column 34: expected a time unit (hours, minutes, days) but found \"bananas\"" */
	char shown[360];   /* up to 74 characters of the line, and below them a caret under the place */
	char instead[240]; /* the same sentence with its one error mended (offer.c); else "" */
	char or_instead[240]; /* another possible correction; else "" */
};

/* `currency` is the shop's. A bare "$" means this currency if it uses that sign, otherwise the US dollar. */
int rules_parse(const char *text, const char *currency, struct rules *ret, struct rules_error *ret_error);

/*
 * If carts are sized by amount, but no amount and no rate is in the shop's own `currency`: adds a warning as
 * rules_parse does, and returns it; else NULL. Do not call it for a guessed currency.
 */
const char *rules_warn_of_currency(struct rules *rules, const char *currency);

struct rules_choice {
	enum cart_size size;
	int index;                    /* of the size; -1: none, because the currency is unknown */
	int64_t from_minor, to_minor; /* of the size in `currency`, both inclusive; INT64_MIN, INT64_MAX: open */
	char currency[4];             /* "" when carts are not sized by amount */
	struct rules_waits waits;
	bool unknown_currency; /* no amount and no rate in this currency, so the rest applies */
};
struct rules_choice rules_choose(const struct rules *rules, int64_t total_minor, const char *currency);
/* Describes the size: "a small cart", "a cart of 20.00 EUR to 80.00 EUR", "a cart". */
const char *rules_size_words(const struct rules_choice *choice, char ret[96]);
int64_t rules_window_us(const struct rules *rules);
/*
 * `us` itself if it is outside the quiet hours and days of the shop's zone; else the next minute in which
 * mails may be sent.
 */
int64_t rules_next_sending_us(const struct rules *rules, const char *zone, int64_t us);
/* Is any minute of the week left for mail? */
bool rules_ever_send(const struct rules *rules);

/* The waits of a cart. Its own waits (0: none) replace those of the rules. */
struct rules_waits rules_waits_or_own(struct rules_waits waits, int64_t own_first_us, int64_t own_second_us);
/*
 * `mailed_us`: the last mails to one shopper, newest first, RULES_CAP_MAILS_MAX at most. Returns until when
 * the limits (`caps`) allow no further mail; 0: one is allowed now.
 */
int64_t rules_capped_until_us(const struct rules *rules, const int64_t *mailed_us, int count);

/*
 * Appends the rules as they were understood, in sentences that rules_parse reads back as the same rules. The
 * language is that of `locale` ("de-AT"), or English if that is none of the ten. The built-in rules follow as
 * a comment.
 */
struct buffer;
void rules_print(const struct rules *rules, const char *locale, struct buffer *ret);

/*
 * For texts that are no rules: has the text a word for a currency, a percentage or a discount that `known` does
 * not have? Of a language ("de-AT") that the rules do not know, only signs and names of currencies are found.
 */
bool rules_text_adds_money(const char *text, const char *language, const char *known);

#endif
