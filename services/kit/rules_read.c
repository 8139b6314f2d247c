/*
 * rules_read.c: what all sentences of the rules are made of: words, amounts, spans of time, and complaints
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/rules_text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SPAN_MAX_DAYS = 30, /* what a storefront sent is not kept longer, so no reminder could be made */
	THOUSANDTHS = 1000,
	COUNT_MAX = 100000,
	FOUND_MAX = 30
};

const struct token *token_ahead(const struct reader *reader, int by)
{
	const struct token *token = &reader->tokens[reader->at];

	for (; by > 0 && token->kind != TOKEN_END; by--)
		token++;
	return token;
}

const struct token *token_now(const struct reader *reader)
{
	return token_ahead(reader, 0);
}

/* Is `word` one of the alternatives "a|b|c" of length `len`? */
static bool is_among(const char *word, const char *alternatives, size_t len)
{
	size_t own = strlen(word);

	while (own > 0 && len > 0) {
		const char *bar = memchr(alternatives, '|', len);
		size_t one = bar ? (size_t)(bar - alternatives) : len;
		if (one == own && memcmp(word, alternatives, one) == 0)
			return true;
		size_t skip = bar ? one + 1 : one;
		alternatives += skip;
		len -= skip;
	}
	return false;
}

bool take(struct reader *reader, const char *pattern)
{
	int start = reader->at;

	while (*pattern) {
		size_t len = strcspn(pattern, " ");
		bool optional = pattern[len - 1] == '?';
		bool here = is_among(token_now(reader)->word, pattern, len - optional);
		if (here)
			reader->at++;
		if (!here && !optional) {
			reader->at = start;
			return false;
		}
		pattern += len;
		pattern += *pattern == ' ';
	}
	return reader->at > start;
}

bool next_is(struct reader *reader, const char *pattern)
{
	int start = reader->at;
	bool is = take(reader, pattern);

	reader->at = start;
	return is;
}

static int __attribute__((format(printf, 4, 0)))
complain(struct reader *reader, struct place place, const char *found, const char *format, va_list args)
{
	struct rules_error *error = reader->error;
	char what[124];

	vsnprintf(what, sizeof(what), format, args);
	error->line = place.line;
	error->column = place.column;
	snprintf(error->text, sizeof(error->text), "line %d, column %d: expected %s%s", place.line, place.column, what,
		found);
	return -EINVAL;
}

int expected(struct reader *reader, const char *format, ...)
{
	const struct token *token = token_now(reader);
	char word[FOUND_MAX + 1], found[FOUND_MAX + 40];
	va_list args;

	text_copy_bytes(word, sizeof(word), token->source);
	if (token->kind == TOKEN_END)
		snprintf(found, sizeof(found), " but the text ends");
	else
		snprintf(found, sizeof(found), " but found \"%s\"", word);
	va_start(args, format);
	int err = complain(reader, token->place, found, format, args);
	va_end(args);
	return err;
}

int refuse(struct reader *reader, struct place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int err = complain(reader, place, "", format, args);
	va_end(args);
	return err;
}

const char *place_words(struct place place, char ret[48])
{
	snprintf(ret, 48, "line %d, column %d", place.line, place.column);
	return ret;
}

void warn_at(struct reader *reader, struct place place, const char *format, ...)
{
	struct rules *rules = reader->rules;
	va_list args;

	if (rules->warning_count == RULES_WARNINGS_MAX)
		return;
	char *warning = rules->warnings[rules->warning_count++];
	int len = snprintf(warning, sizeof(*rules->warnings), "line %d, column %d: ", place.line, place.column);
	va_start(args, format);
	vsnprintf(warning + len, sizeof(*rules->warnings) - (size_t)len, format, args);
	va_end(args);
}

/* --- amounts --- */

static bool is_number(const struct token *token)
{
	return token->kind == TOKEN_NUMBER || (token->kind == TOKEN_WORD && words_number(token->word) >= 0);
}

static bool is_currency(const struct reader *reader, const struct token *token)
{
	char currency[4];

	return (token->kind == TOKEN_SIGN || token->kind == TOKEN_WORD) &&
		words_currency(token->word, reader->currency, currency);
}

bool at_amount(const struct reader *reader, int ahead)
{
	const struct token *first = token_ahead(reader, ahead), *second = token_ahead(reader, ahead + 1);

	return (is_currency(reader, first) && is_number(second)) || (is_number(first) && is_currency(reader, second)) ||
		first->kind == TOKEN_SIGN;
}

static int read_currency(struct reader *reader, struct amount *ret)
{
	const struct token *token = token_now(reader);

	if (token->kind != TOKEN_SIGN && token->kind != TOKEN_WORD)
		return expected(reader, "a currency, as $ or EUR");
	if (!words_currency(token->word, reader->currency, ret->currency))
		return expected(reader, "a currency that is known and clear, as $ or EUR");
	reader->at++;
	return 0;
}

static int read_decimal(struct reader *reader, struct amount *ret)
{
	const struct token *token = token_now(reader);

	if (!is_number(token))
		return expected(reader, "an amount, as $40 or 40 EUR");
	ret->place = token->place;
	if (token->kind == TOKEN_NUMBER)
		TEXT_COPY(ret->decimal, token->word);
	else
		snprintf(ret->decimal, sizeof(ret->decimal), "%d", words_number(token->word));
	if (!ret->decimal[0])
		return expected(reader, "a smaller number");
	reader->at++;
	return 0;
}

int read_amount(struct reader *reader, struct amount *ret)
{
	bool number_first = is_number(token_now(reader));

	if (!number_first && token_now(reader)->kind != TOKEN_SIGN && !is_number(token_ahead(reader, 1)))
		return expected(reader, "an amount, as $40 or 40 EUR");
	int err = number_first ? read_decimal(reader, ret) : read_currency(reader, ret);
	if (err < 0)
		return err;
	return number_first ? read_currency(reader, ret) : read_decimal(reader, ret);
}

/* --- spans of time --- */

/* Up to three decimals, in thousandths; -EINVAL: more of either. */
static int thousandths(const char *decimal, int64_t *ret)
{
	int64_t value = 0;
	int decimals = -1;

	for (; *decimal; decimal++) {
		if (*decimal == '.') {
			decimals = 0;
			continue;
		}
		value = value * 10 + (*decimal - '0');
		decimals += decimals >= 0;
		if (decimals > 3 || value > (int64_t)COUNT_MAX * THOUSANDTHS)
			return -EINVAL;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		value *= 10;
	*ret = value;
	return value > (int64_t)COUNT_MAX * THOUSANDTHS ? -EINVAL : 0;
}

/* "twenty-four", "twenty four" */
static int read_number_words(struct reader *reader)
{
	int value = words_number(token_now(reader)->word);

	reader->at++;
	if (value < 20 || value % 10 != 0)
		return value;
	int dash = token_now(reader)->word[0] == '-';
	int ones = token_ahead(reader, dash)->kind == TOKEN_WORD ? words_number(token_ahead(reader, dash)->word) : -1;
	if (ones < 1 || ones > 9)
		return value;
	reader->at += dash + 1;
	return value + ones;
}

static int read_count(struct reader *reader, int64_t *ret_thousandths)
{
	const struct token *token = token_now(reader);

	if (take(reader, "a|an")) {
		*ret_thousandths = THOUSANDTHS;
		return 0;
	}
	if (take(reader, "half a|an")) {
		*ret_thousandths = THOUSANDTHS / 2;
		return 0;
	}
	if (!is_number(token))
		return expected(reader, "a time, as 4 hours");
	if (token->kind == TOKEN_WORD) {
		*ret_thousandths = (int64_t)read_number_words(reader) * THOUSANDTHS;
		return 0;
	}
	if (!token->word[0] || thousandths(token->word, ret_thousandths) < 0)
		return expected(reader, "a smaller number, with at most 3 decimals");
	reader->at++;
	return 0;
}

/* A bare number takes the unit of the one before, but not in front of a word that could be meant as a unit. */
static int read_unit(struct reader *reader, int64_t *unit_us)
{
	int64_t unit = words_unit_us(token_now(reader)->word);
	bool word_follows = token_now(reader)->kind == TOKEN_WORD && !next_is(reader, "and|then|again");

	if (unit == 0 && *unit_us == 0)
		return expected(reader, "a time unit (hours, minutes, days)");
	if (unit == 0 && word_follows)
		return expected(reader, "a time unit (hours, minutes, days) or \".\"");
	if (unit > 0) {
		*unit_us = unit;
		reader->at++;
	}
	return 0;
}

/* "1 hour 30 minutes": a smaller unit directly behind. */
static void read_smaller(struct reader *reader, int64_t unit_us, int64_t *total_us)
{
	int64_t smaller = words_unit_us(token_ahead(reader, 1)->word), count;

	if (token_now(reader)->kind != TOKEN_NUMBER || smaller == 0 || smaller >= unit_us)
		return;
	if (thousandths(token_now(reader)->word, &count) == 0 && count % THOUSANDTHS == 0) {
		*total_us += count / THOUSANDTHS * smaller;
		reader->at += 2;
	}
}

int read_span(struct reader *reader, int64_t *unit_us, int64_t *ret_us)
{
	struct place place = token_now(reader)->place;
	int64_t count;

	int err = read_count(reader, &count);
	if (err == 0)
		err = read_unit(reader, unit_us);
	if (err < 0)
		return err;
	if (count * (*unit_us / US_PER_MINUTE) % THOUSANDTHS != 0)
		return refuse(reader, place, "a whole number of minutes");
	*ret_us = count * (*unit_us / THOUSANDTHS);
	read_smaller(reader, *unit_us, ret_us);
	if (*ret_us == 0)
		return refuse(reader, place, "a time of more than zero");
	if (*ret_us > SPAN_MAX_DAYS * US_PER_DAY)
		return refuse(reader, place, "at most %d days", SPAN_MAX_DAYS);
	return 0;
}

void print_span(int64_t us, char *ret, size_t room)
{
	int64_t unit = us % US_PER_DAY == 0 && us > US_PER_DAY ? US_PER_DAY
		: us % US_PER_HOUR == 0                        ? US_PER_HOUR
							       : US_PER_MINUTE;
	int64_t count = us / unit;
	const char *name = words_unit_name(unit);

	snprintf(ret, room, "%" PRId64 " %.*s", count, (int)strlen(name) - (count == 1), name);
}
