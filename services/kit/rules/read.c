/*
 * read.c: the parts of all sentences of the rules: patterns of meanings, amounts, spans of time, and errors
 *
 * Promises:  of several errors in one sentence, the one furthest into the sentence stays.
 */
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { FOUND_MAX = 40 };

static const struct item *item_at(const struct reader *reader, int at)
{
	return &reader->items->list[at < reader->items->count ? at : reader->items->count];
}

const struct item *item_ahead(struct reader *reader, int by)
{
	return item_at(reader, reader->at + by);
}

/* Is one of the item's meanings one of the alternatives "a|b|c" of length `len`? */
static bool is_among(const struct item *item, const char *alternatives, size_t len)
{
	for (int i = 0; i < CONCEPTS_MAX && item->concepts[i]; i++) {
		const char *from = alternatives;
		size_t own = strlen(item->concepts[i]), left = len;
		while (own <= left) {
			if (memcmp(from, item->concepts[i], own) == 0 && (own == left || from[own] == '|'))
				return true;
			const char *bar = memchr(from, '|', left);
			if (!bar)
				break;
			left -= (size_t)(bar - from) + 1;
			from = bar + 1;
		}
	}
	return false;
}

/* Takes one item, and skips fillers before it: a filler has a meaning in some places only. */
static bool take_one(struct reader *reader, const char *alternatives, size_t len)
{
	int at = reader->at;

	while (!is_among(item_at(reader, at), alternatives, len)) {
		if (!item_is(item_at(reader, at), "filler"))
			return false;
		at++;
	}
	reader->at = at + 1;
	return true;
}

static bool take_here(struct reader *reader, const char *pattern)
{
	int start = reader->at;

	while (*pattern) {
		size_t len = strcspn(pattern, " ");
		bool optional = pattern[len - 1] == '?';
		if (!take_one(reader, pattern, len - optional) && !optional) {
			reader->at = start;
			return false;
		}
		pattern += len;
		pattern += *pattern == ' ';
	}
	return reader->at > start;
}

bool take(struct reader *reader, const char *pattern)
{
	int start = reader->at;

	for (int at = start;; at++) {
		reader->at = at;
		if (take_here(reader, pattern))
			return true;
		if (item_is(item_at(reader, at), "filler"))
			continue;
		reader->at = start;
		return false;
	}
}

bool next_is(struct reader *reader, const char *pattern)
{
	int start = reader->at;
	bool is = take(reader, pattern);

	reader->at = start;
	return is;
}

static int at_now(const struct reader *reader)
{
	int at = reader->at;

	while (item_is(item_at(reader, at), "filler"))
		at++;
	return at;
}

const struct item *item_now(const struct reader *reader)
{
	return item_at(reader, at_now(reader));
}

void pass(struct reader *reader)
{
	reader->at = at_now(reader) + 1;
}

bool at_end(struct reader *reader)
{
	int at = at_now(reader);

	while (item_is(item_at(reader, at), ",") || item_is(item_at(reader, at), "filler"))
		at++; /* "..., please." */
	return at >= reader->items->count;
}

static int __attribute__((format(printf, 4, 0)))
complain(struct rules_error *error, struct place place, const char *found, const char *format, va_list args)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char what[2 * sizeof(error->text)];

	vsnprintf(what, sizeof(what), format, args);
	buffer_printf(&text, "line %d, column %d: expected %s%s", place.line, place.column, what, found);
	TEXT_COPY(error->text, buffer_text(&text));
	error->line = place.line;
	error->column = place.column;
	return -EINVAL;
}

int expected(struct reader *reader, const char *format, ...)
{
	const struct item *item = item_now(reader);
	char word[FOUND_MAX + 1], found[FOUND_MAX + 40];
	va_list args;

	text_copy_bytes(word, sizeof(word), item->source);
	if (item_is(item, "end"))
		snprintf(found, sizeof(found), " but the text ends");
	else
		snprintf(found, sizeof(found), " but found \"%s\"", word);
	if (at_now(reader) < reader->furthest)
		return -EINVAL;
	reader->furthest = at_now(reader);
	va_start(args, format);
	int err = complain(reader->error, item->place, found, format, args);
	va_end(args);
	return err;
}

int refuse(struct reader *reader, struct place place, const char *format, ...)
{
	va_list args;

	if (at_now(reader) < reader->furthest)
		return -EINVAL;
	reader->furthest = at_now(reader);
	va_start(args, format);
	int err = complain(reader->error, place, "", format, args);
	va_end(args);
	return err;
}

int rules_refuse(struct rules_error *error, struct place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int err = complain(error, place, "", format, args);
	va_end(args);
	return err;
}

const char *place_words(struct place place, char ret[48])
{
	snprintf(ret, 48, "line %d, column %d", place.line, place.column);
	return ret;
}

/* --- amounts --- */

static int read_amount(struct reader *reader, const char *currency, struct bound *ret)
{
	const struct item *item = item_now(reader);
	const char *point = strchr(item->decimal, '.');
	int digits = money_digits(currency);

	struct place place = item_is(item, "amount") ? item->value_place : item->place;

	ret->place = place;
	TEXT_COPY(ret->currency, currency);
	if (!*item->decimal)
		return refuse(reader, place,
			"a point before decimals (35.50), and three digits behind the comma of thousands (1,000)");
	if (point && (int)strlen(point + 1) > digits)
		return refuse(
			reader, place, "at most %d decimals in %s; write thousands as 1,000 or 1000", digits, currency);
	if (money_parse(item->decimal, currency, &ret->minor) < 0)
		return refuse(reader, place, "a smaller amount");
	if (ret->minor == 0)
		return refuse(reader, place, "an amount above zero");
	pass(reader);
	return 0;
}

static int add_bound(struct reader *reader, const struct bound *bound, int64_t add, struct bounds *ret)
{
	for (int i = 0; i < ret->count; i++)
		if (strcmp(ret->list[i].currency, bound->currency) == 0)
			return refuse(reader, bound->place, "another currency: an amount in %s is given already",
				bound->currency);
	if (ret->count == RULES_CURRENCIES_MAX)
		return refuse(reader, bound->place, "at most %d currencies", RULES_CURRENCIES_MAX);
	ret->list[ret->count] = *bound;
	ret->list[ret->count++].minor += add;
	return 0;
}

/* The currency for "20" of "20 to 80 EUR": it stands behind the second number. NULL: there is none. */
static const char *currency_behind(struct reader *reader)
{
	int start = reader->at;
	const char *currency = NULL;

	pass(reader);
	if (take(reader, "to|until|-|and") && item_is(item_now(reader), "amount"))
		currency = item_now(reader)->currency;
	reader->at = start;
	return currency;
}

int read_amounts(struct reader *reader, int64_t add, struct bounds *ret)
{
	struct bound bound;

	for (;;) {
		const struct item *item = item_now(reader);
		const char *currency = item_is(item, "amount") ? item->currency : NULL;
		if (!currency && item_is(item, "num"))
			currency = ret->soft ? currency_behind(reader) : NULL;
		if (!currency && item_is(item, "num")) {
			pass(reader);
			return expected(reader,
				item_is(item_now(reader), "?") ? "a currency that is known and clear, as $ or EUR"
							       : "a currency, as $ or EUR");
		}
		if (!currency)
			return expected(reader, "an amount, as $40 or 40 EUR");
		int err = read_amount(reader, currency, &bound);
		if (err == 0)
			err = add_bound(reader, &bound, add, ret);
		if (err < 0)
			return err;
		if (!next_is(reader, "or|/|, amount"))
			return 0;
		take(reader, "or|/|,");
	}
}

/* --- spans of time --- */

static int check_span(struct reader *reader, struct place place, int64_t us)
{
	if (us == -2)
		return refuse(reader, place, "a smaller number, with at most 3 decimals");
	if (us < 0)
		return refuse(reader, place, "a whole number of minutes");
	if (us == 0)
		return refuse(reader, place, "a time of more than zero");
	if (us > SPAN_MAX_US)
		return refuse(reader, place, "at most 30 days");
	return 0;
}

int read_span(struct reader *reader, int64_t *unit_us, int64_t *ret_us)
{
	const struct item *item = item_now(reader);

	if (item_is(item, "span")) {
		*ret_us = item->value;
		*unit_us = item->unit_us;
		pass(reader);
		return check_span(reader, item->place, *ret_us);
	}
	if (!item_is(item, "num"))
		return expected(reader, "a time, as 4 hours");
	if (item->value < 0)
		return expected(reader, "a smaller number, with at most 3 decimals");
	pass(reader);
	if (*unit_us == 0 || item_is(item_now(reader), "?"))
		return expected(reader,
			*unit_us == 0 ? "a time unit (hours, minutes, days)"
				      : "a time unit (hours, minutes, days) or \".\"");
	*ret_us = item->value * (*unit_us / US_PER_MINUTE) % THOUSANDTHS ? -1 : item->value * (*unit_us / THOUSANDTHS);
	return check_span(reader, item->place, *ret_us);
}

int64_t span_unit(int64_t us)
{
	return us % US_PER_DAY == 0 && us > US_PER_DAY ? US_PER_DAY
		: us % US_PER_HOUR == 0                ? US_PER_HOUR
						       : US_PER_MINUTE;
}

void print_span(int64_t us, char *ret, size_t room)
{
	int64_t unit = span_unit(us), count = us / unit;
	const char *name = words_unit_name(unit);

	snprintf(ret, room, "%" PRId64 " %.*s", count, (int)strlen(name) - (count == 1), name);
}
