/*
 * rules_text.h: inside the rules parser: tokens, words and places (rules_token.c, rules_words.c, rules_parse.c, rules_size.c)
 */
#ifndef KIT_RULES_TEXT_H
#define KIT_RULES_TEXT_H

#include "bus/base/bytes.h"
#include "services/kit/rules.h"

struct place {
	int line, column;
};

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_TIME, TOKEN_SIGN, TOKEN_MARK };

struct token {
	enum token_kind kind;
	struct place place;
	struct bytes source; /* as written, for messages */
	char word[32]; /* lower case; a number without grouping commas; a currency sign; one mark; "" past 31 bytes */
};

struct amount {
	char currency[4];
	char decimal[32];
	struct place place;
};

struct bound {
	char currency[4];
	int64_t minor;
	struct place place;
};

struct bounds {
	struct bound list[RULES_CURRENCIES_MAX];
	int count;
};

struct reader {
	const struct token *tokens; /* the last one is TOKEN_END */
	int at;
	const char *currency; /* the shop's */
	struct rules *rules;
	struct rules_error *error;

	struct size_read {
		bool given;
		struct place place;        /* of the size word */
		struct place bounds_place; /* where the amounts are, or would be */
	} sizes[3];
	struct bounds small, big, medium_low, medium_high;
	struct place rate_places[RULES_CURRENCIES_MAX];
	bool window_given;
	struct place quiet_place, window_place;
};

/* rules_token.c. -EINVAL: something that is no token; ret_error says where. `ret` gets struct tokens. */
int rules_tokens(const char *text, struct buffer *ret, struct rules_error *ret_error);

/* rules_words.c: what words mean */
int64_t words_unit_us(const char *word);          /* "hours", "h": 0 if it is no unit */
const char *words_unit_name(int64_t unit_us);     /* "hours" */
int words_number(const char *word);               /* "four": 4; -1 if it is no number */
int words_size(const char *word);                 /* enum cart_size; -1 */
const char *words_size_name(enum cart_size size); /* "small" */
/* The currency that a sign, a code or a name stands for; signs that several share mean the shop's own if it uses them. */
bool words_currency(const char *word, const char *shop_currency, char ret[4]);

/* rules_read.c: what all sentences are made of */
const struct token *token_now(const struct reader *reader);
const struct token *token_ahead(const struct reader *reader, int by);
/*
 * Takes the words of a pattern, all or none. Words are separated by blanks, "a|b" is either, "a?" may be missing:
 * take(reader, "the? shopper|customer").
 */
bool take(struct reader *reader, const char *pattern);
bool next_is(struct reader *reader, const char *pattern); /* the same, takes nothing */
int expected(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3))); /* but found ... */
const char *place_words(struct place place, char ret[48]); /* "line 1, column 34" */
int refuse(struct reader *reader, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void warn_at(struct reader *reader, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool at_amount(const struct reader *reader, int ahead);
int read_amount(struct reader *reader, struct amount *ret);
/* `unit_us` is the unit of the wait before, 0: none; it becomes this one's. */
int read_span(struct reader *reader, int64_t *unit_us, int64_t *ret_us);
void print_span(int64_t us, char *ret, size_t room); /* "90 minutes", "4 hours" */

/* rules_size.c, rules_check.c */
int read_size_sentence(struct reader *reader);
int check_whole(struct reader *reader);

/* rules_advice.c: warns of what is no contradiction, and will surprise all the same; of a text that is right. */
void advise(struct reader *reader);

#endif
