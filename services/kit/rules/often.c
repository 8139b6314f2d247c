/*
 * often.c: reads "At most one mail per shopper every 24 hours." and "1 EUR is 1.08 USD."
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/rules/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* --- how often one shopper is mailed --- */

struct often {
	bool at_most, is_over, has_ne, has_shopper;
	int nots, count;
	int64_t period_us;
};

/* "per week", "every 24 hours", "in 10 days", "a day", "週に" */
static bool take_period(struct reader *reader, struct often *often)
{
	int start = reader->at;
	bool led = take(reader, "per|every|in in?");
	const struct item *item = item_now(reader);

	if (led && !item_is(item, "span") && take(reader, "one"))
		item = item_now(reader);
	if (item_is(item, "span") && often->period_us == 0) {
		bool own = item_is(item, "a");
		pass(reader);
		if (led || own || next_is(reader, "per|in|every")) {
			if (!led && !own)
				take(reader, "per|in|every");
			often->period_us = item->value;
			return true;
		}
	} else if (next_is(reader, "minute|hour|day|week|month") && often->period_us == 0) {
		take(reader, "minute|hour|day|week|month");
		for (int i = 0; i < CONCEPTS_MAX && item->concepts[i] && !often->period_us; i++)
			often->period_us = words_unit_us(item->concepts[i]);
		if (led || take(reader, "per|in|every"))
			return true;
		often->period_us = 0;
	} else if (!led && often->period_us == 0 && take(reader, "daily")) {
		often->period_us = US_PER_DAY;
		return true;
	}
	reader->at = start;
	return false;
}

static bool take_count(struct reader *reader, struct often *often)
{
	const struct item *item = item_now(reader);
	bool number = item_is(item, "num") || item_is(item, "one");

	if (often->count || !(number || item_is(item, "once") || item_is(item, "twice")))
		return false;
	if (number && (item->value < 0 || item->value % 1000))
		return false;
	often->count = number ? (int)(item->value / 1000) : item_is(item, "once") ? 1 : 2;
	if (number && often->count == 0)
		often->count = -1;
	take(reader, "num|one|once|twice");
	take(reader, "counter");
	return true;
}

static bool take_shopper(struct reader *reader, struct often *often)
{
	if (!take(reader, "to|per|every|all? per|every|all? one? shopper") &&
		!take(reader, "one? shopper per|every|to"))
		return false;
	often->has_shopper = true;
	return true;
}

#define UNITS "minute|hour|day|week|month"

/* "per customer and week", "1 mail / customer / week" */
static bool take_further(struct reader *reader, struct often *often)
{
	bool is_one_of_two = often->has_shopper != (often->period_us > 0);
	bool linked = is_one_of_two ? next_is(reader, "and|/ " UNITS "|shopper")
				    : often->count > 0 && next_is(reader, "/ " UNITS "|shopper");

	if (!linked)
		return false;
	take(reader, "and|/");
	if (take(reader, "shopper"))
		return !often->has_shopper && (often->has_shopper = true);
	const struct item *item = item_now(reader);
	if (often->period_us || !take(reader, UNITS))
		return false;
	for (int i = 0; i < CONCEPTS_MAX && item->concepts[i] && !often->period_us; i++)
		often->period_us = words_unit_us(item->concepts[i]);
	return true;
}

static const struct item *period_ahead(struct reader *reader)
{
	int start = reader->at;

	take(reader, "per|every|in in?");
	const struct item *span = item_now(reader);
	reader->at = start;
	return item_is(span, "span") ? span : NULL;
}

static int read_piece(struct reader *reader, struct often *often)
{
	if (!often->at_most && take(reader, "atmost")) {
		often->at_most = true;
		return 0;
	}
	const struct item *span = period_ahead(reader);
	if (span && span->value <= 0)
		return refuse(
			reader, span->place, span->value ? "a whole number of minutes" : "a time of more than zero");
	if (next_is(reader, "to|per? whole shopper"))
		return expected(reader, "each shopper: a number of mails to all of them together cannot be limited");
	if (take_further(reader, often) || take_period(reader, often) || take_shopper(reader, often))
		return 0;
	if (take(reader, "remind|mail|counter|is|:"))
		return 0;
	if (take_count(reader, often))
		return 0;
	if (take(reader, "not|never|no|nobody")) {
		often->nots++;
		return 0;
	}
	if (!often->is_over && take(reader, "over")) {
		often->is_over = true;
		return 0;
	}
	if (take(reader, "ne"))
		return 0;
	if (next_is(reader, "atleast|no"))
		return expected(reader, "\"at most\" or \"no more than\"");
	if (!often->count)
		return expected(reader, "how many mails, as in \"At most one mail per shopper every 24 hours\"");
	if (take(reader, "every|per|in") && item_is(item_now(reader), "num"))
		pass(reader);
	else if (!often->period_us)
		return expected(reader, "\"every\" and a time, as 24 hours");
	if (!often->period_us)
		return expected(reader, "a time unit (hours, days, weeks)");
	return expected(reader, "\".\" at the end of the sentence");
}

static int check_often(struct reader *reader, const struct often *often)
{
	if (often->nots && !often->is_over)
		return expected(reader, "\"more than\" with \"no\", or \"at most\"");
	if (often->is_over && (often->nots != 1 || often->at_most))
		return expected(reader, "\"no more than\" or \"at most\"");
	if (!often->count)
		return expected(reader, "how many mails, as in \"At most one mail per shopper every 24 hours\"");
	if (!often->period_us)
		return expected(reader, "\"every\" and a time, as 24 hours");
	if (!often->at_most && !often->is_over)
		return expected(reader, "\"at most\"");
	if (often->period_us < 0)
		return expected(reader, "a whole number of minutes");
	if (often->count < 0 || often->count > RULES_CAP_MAILS_MAX)
		return refuse(reader, reader->sentence->place, "1 to %d mails to one shopper", RULES_CAP_MAILS_MAX);
	if (often->period_us > 30 * US_PER_DAY)
		return expected(reader, "at most 30 days");
	return 0;
}

/* "At least 24 hours between two mails to the same shopper." */
static int read_distance(struct reader *reader, struct often *often)
{
	take(reader, "remind");
	take(reader, "atleast");
	int64_t unit_us = 0;
	int err = read_span(reader, &unit_us, &often->period_us);
	if (err < 0)
		return err;
	take(reader, "between num");
	if (!take(reader, "mail"))
		return expected(reader, "\"mails\"");
	(void)take_shopper(reader, often);
	often->count = 1;
	often->at_most = true;
	return 0;
}

static bool at_distance(struct reader *reader)
{
	int start = reader->at;

	take(reader, "remind");
	take(reader, "atleast");
	bool span = take(reader, "span");
	bool two =
		span && take(reader, "between") && item_is(item_now(reader), "num") && item_now(reader)->value == 2000;
	reader->at = start;
	return two;
}

int read_often(struct reader *reader)
{
	struct often often = { 0 };

	if (at_distance(reader) && read_distance(reader, &often) < 0)
		return -EINVAL;
	while (!at_end(reader)) {
		int at = reader->at, err = read_piece(reader, &often);
		if (err < 0)
			return err;
		if (reader->at == at)
			return expected(reader, "\".\" at the end of the sentence");
	}
	int err = check_often(reader, &often);
	reader->sentence->cap = (struct rules_cap){ .mails = often.count, .period_us = often.period_us };
	return err;
}

/* --- rates between currencies --- */

static int read_side(struct reader *reader, const struct item **ret)
{
	*ret = item_now(reader);
	if (item_is(*ret, "num")) {
		pass(reader);
		return expected(reader, "a currency, as $ or EUR");
	}
	if (!item_is(*ret, "amount"))
		return expected(reader, "an amount, as $40 or 40 EUR");
	if (!*(*ret)->decimal)
		return refuse(reader, (*ret)->place, "a number that can be read in one way only, as 1.08");
	if (strtod((*ret)->decimal, NULL) <= 0)
		return refuse(reader, (*ret)->place, "an amount above zero");
	pass(reader);
	return 0;
}

/* The quotient without the last, inexact digits: 0.58 by 100 is 0.0058 and not 0.0057999999999999996. */
static double divided(const struct item *to, const struct item *from)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.*g", RATES_DIGITS, strtod(to->decimal, NULL) / strtod(from->decimal, NULL));
	return strtod(digits, NULL);
}

static int add_rate(struct reader *reader, const struct item *from, const struct item *to)
{
	struct sentence *sentence = reader->sentence;

	if (strcmp(from->currency, to->currency) == 0)
		return refuse(reader, to->place, "another currency than %s", from->currency);
	if (sentence->rate_count == RATES_MAX)
		return expected(reader, "\".\": at most %d rates in a sentence", RATES_MAX);
	struct rules_rate *rate = &sentence->rates[sentence->rate_count];
	sentence->rate_places[sentence->rate_count++] = from->place;
	TEXT_COPY(rate->from, from->currency);
	TEXT_COPY(rate->to, to->currency);
	rate->rate = divided(to, from);
	return 0;
}

int read_rates(struct reader *reader)
{
	const struct item *from, *to;
	bool count = take(reader, "count");

	for (;;) {
		int err = read_side(reader, &from);
		if (err < 0)
			return err;
		if (!take(reader, count ? "as" : "is"))
			return expected(reader, count ? "\"as\"" : "\"is\"");
		err = read_side(reader, &to);
		if (err == 0)
			err = add_rate(reader, from, to);
		if (err < 0 || at_end(reader))
			return err;
		if (!take(reader, "and|,"))
			return expected(reader, "\".\" at the end of the sentence");
	}
}
