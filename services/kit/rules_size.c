/*
 * rules_size.c: "Small carts (under $40): remind after 4 hours, then after 24."
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/money.h"
#include "services/kit/rules_text.h"
#include <errno.h>
#include <stdio.h>

#define BETWEEN_MAILS_US (4 * US_PER_HOUR) /* whatever is deferred, too: two mails closer than this are pestering */
#define SOON_US US_PER_HOUR                /* before it, most shoppers are still shopping */

#define CARTS "carts|cart|baskets|basket|orders|order|ones|one"
#define SHOPPER "shopper|shoppers|customer|customers|buyer|buyers|person|them|people"
#define REMINDER "reminder|mail|email|message|nudge|one"

static int bound_add(struct reader *reader, struct bounds *bounds, const struct amount *amount)
{
	const char *point = strchr(amount->decimal, '.');
	int digits = money_digits(amount->currency);
	int64_t minor;

	if (point && (int)strlen(point + 1) > digits)
		return refuse(reader, amount->place, "at most %d decimals in %s; write thousands as 1,000 or 1000",
			digits, amount->currency);
	if (money_parse(amount->decimal, amount->currency, &minor) < 0)
		return refuse(reader, amount->place, "a smaller amount");
	if (minor == 0)
		return refuse(reader, amount->place, "an amount above zero");
	for (int i = 0; i < bounds->count; i++)
		if (strcmp(bounds->list[i].currency, amount->currency) == 0)
			return refuse(reader, amount->place, "another currency: an amount in %s is given already",
				amount->currency);
	if (bounds->count == RULES_CURRENCIES_MAX)
		return refuse(reader, amount->place, "at most %d currencies", RULES_CURRENCIES_MAX);

	struct bound *bound = &bounds->list[bounds->count++];
	*bound = (struct bound){ .minor = minor, .place = amount->place };
	TEXT_COPY(bound->currency, amount->currency);
	return 0;
}

/* "$40", "$40 or €35", "$40, €35 or ¥6000" */
static int read_amounts(struct reader *reader, struct bounds *bounds)
{
	struct amount amount;

	for (;;) {
		int err = read_amount(reader, &amount);
		if (err == 0)
			err = bound_add(reader, bounds, &amount);
		if (err < 0)
			return err;
		bool comma = next_is(reader, ",") && at_amount(reader, 1);
		if (!comma && !next_is(reader, "or|/"))
			return 0;
		reader->at++;
	}
}

static bool take_under(struct reader *reader)
{
	return take(reader, "under|below") || take(reader, "less|smaller|cheaper than");
}

static bool take_over(struct reader *reader)
{
	return take(reader, "over|above") || take(reader, "more|bigger|larger|greater than");
}

static bool take_the_rest(struct reader *reader)
{
	return take(reader, "the? rest") || take(reader, "everything|anything|all else") ||
		take(reader, "all? the? others") || take(reader, "in between");
}

static bool at_bound_words(struct reader *reader)
{
	return next_is(reader,
		       "under|below|over|above|less|smaller|cheaper|more|bigger|larger|greater|between|up|at|from|"
		       "rest") ||
		next_is(reader, "the? rest|others") || next_is(reader, "everything|anything|all else") ||
		next_is(reader, "in between");
}

/* Not needed, because medium is what is left; but if it is there it must say the same as the other two. */
static int read_middle(struct reader *reader)
{
	if (take_the_rest(reader))
		return 0;
	bool between = take(reader, "between");
	take(reader, "from");
	if (!at_amount(reader, 0))
		return expected(reader, "\"the rest\", or \"$40 to $150\"");
	int err = read_amounts(reader, &reader->medium_low);
	if (err < 0)
		return err;
	if (!take(reader, between ? "and" : "to|-"))
		return expected(reader, between ? "\"and\"" : "\"to\"");
	return read_amounts(reader, &reader->medium_high);
}

static int read_bound(struct reader *reader, enum cart_size size)
{
	if (size == SIZE_MEDIUM)
		return read_middle(reader);
	if (size == SIZE_SMALL && !take_under(reader))
		return expected(reader, "\"under\" and an amount; a total of exactly the amount is medium");
	if (size == SIZE_BIG && !take_over(reader))
		return expected(reader, "\"over\" and an amount; a total of exactly the amount is medium");
	return read_amounts(reader, size == SIZE_SMALL ? &reader->small : &reader->big);
}

static int read_bounds(struct reader *reader, enum cart_size size)
{
	int start = reader->at;

	reader->sizes[size].bounds_place = token_now(reader)->place;
	if (take(reader, "(")) {
		int err = read_bound(reader, size);
		if (err < 0)
			return err;
		return take(reader, ")") ? 0 : expected(reader, "\")\" or \"or\" and an amount in another currency");
	}
	take(reader, ",");
	take(reader, "of|with|worth|costing");
	if (at_bound_words(reader))
		return read_bound(reader, size);
	reader->at = start;
	return 0;
}

/* "remind the shopper", "send a first reminder", "wait"; all of it may be missing. */
static void take_lead(struct reader *reader)
{
	take(reader, "remind|send|mail|email|write|wait|nudge");
	take(reader, "to? the|every|each? " SHOPPER);
	(void)(take(reader, "the|a|one? first " REMINDER "?") || take(reader, "the|a|one " REMINDER));
	take(reader, "first|once");
	take(reader, "goes|comes|follows out?");
	take(reader, "after|for|in|at");
}

static void take_second_lead(struct reader *reader)
{
	take(reader, "remind|send|mail|email|write|wait|nudge");
	take(reader, "to? the|every|each? " SHOPPER);
	(void)(take(reader, "the|a|one? second|last|final " REMINDER "?") || take(reader, "another " REMINDER "?"));
	(void)(take(reader, "again") || take(reader, "once more") || take(reader, "a second time"));
	take(reader, "goes|comes|follows out?");
	take(reader, "after|for|in|at");
}

static int take_between(struct reader *reader)
{
	bool mark = take(reader, ",|;|-");
	bool word = take(reader, "and? then") || take(reader, "and");

	if (mark || word || next_is(reader, "again|once"))
		return 0;
	return expected(reader, "\", then\" and the second wait");
}

static int check_waits(struct reader *reader, const struct rules_waits *waits, struct place second)
{
	char least[40];

	print_span(waits->first_us + BETWEEN_MAILS_US, least, sizeof(least));
	if (waits->second_us <= waits->first_us)
		return refuse(reader, second,
			"a wait longer than the first (%s or more): both count from when the cart was left", least);
	if (waits->second_us - waits->first_us < BETWEEN_MAILS_US)
		return refuse(reader, second, "%s or more: at least 4 hours lie between the two mails", least);
	return 0;
}

static int read_waits(struct reader *reader, enum cart_size size)
{
	struct rules_waits *waits = &reader->rules->waits[size];
	int64_t unit_us = 0;

	take_lead(reader);
	struct place first = token_now(reader)->place;
	int err = read_span(reader, &unit_us, &waits->first_us);
	if (err == 0)
		err = take_between(reader);
	if (err < 0)
		return err;
	take_second_lead(reader);
	struct place second = token_now(reader)->place;
	err = read_span(reader, &unit_us, &waits->second_us);
	if (err == 0)
		err = check_waits(reader, waits, second);
	if (err == 0 && waits->first_us < SOON_US)
		warn_at(reader, first,
			"%s carts are reminded after %d minutes; many shoppers are still shopping in the first hour",
			words_size_name(size), (int)(waits->first_us / US_PER_MINUTE));
	return err;
}

static int read_end(struct reader *reader)
{
	if (take(reader, "."))
		return 0;
	if (next_is(reader, ",|;|then|and|again"))
		return expected(reader, "\".\": two mails are the whole budget");
	if (next_is(reader, "later|afterwards|more"))
		return expected(reader, "\".\": both waits count from when the cart was left");
	return expected(reader, "\".\" at the end of the sentence");
}

static int read_size(struct reader *reader, enum cart_size *ret)
{
	const struct token *token = token_now(reader);
	int size = words_size(token->word);

	if (size < 0)
		return expected(reader, "a cart size (small, medium, big)");
	struct size_read *read = &reader->sizes[size];
	if (read->given)
		return refuse(reader, token->place, "each size once; %s carts are at %s already",
			words_size_name((enum cart_size)size), place_words(read->place, (char[48]){ 0 }));
	read->given = true;
	read->place = token->place;
	reader->at++;
	(void)(take(reader, "- sized|size") || take(reader, "sized|size"));
	take(reader, CARTS);
	*ret = (enum cart_size)size;
	return 0;
}

int read_size_sentence(struct reader *reader)
{
	enum cart_size size = SIZE_MEDIUM;

	take(reader, "please");
	take(reader, "remind|mail|email|write|send|nudge");
	take(reader, "to|for");
	take(reader, "all|the|any|every|" SHOPPER);
	take(reader, "of|with");
	int err = read_size(reader, &size);
	if (err == 0)
		err = read_bounds(reader, size);
	if (err < 0)
		return err;
	take(reader, ":|,|-");
	err = read_waits(reader, size);
	return err < 0 ? err : read_end(reader);
}
