/*
 * rules_parse.c: the owner's rules, sentence by sentence
 *
 * Owns:      which sentence is which, and the short ones: exchange rates, quiet hours, the window per shopper.
 * Promises:  a text means one thing or is refused with the first place where it does not; nothing is skipped.
 * Fails by:  -EINVAL and a struct rules_error that names line, column and what was expected.
 * Read next: grammar.md, rules_size.c (the sentences about carts), rules_check.c (what only the whole text can tell)
 */
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/rules_text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SIZE_WORD_WITHIN = 6, /* "Please remind all shoppers with small carts" */
	LEAST_SENDING_MINUTES = 60
};

#define MAILS "mail|mails|email|emails|reminder|reminders|message|messages"
#define SHOPPER "shopper|shoppers|customer|customers|person|buyer|buyers|address|anyone|anybody|people"

static int sentence_end(struct reader *reader)
{
	return take(reader, ".") ? 0 : expected(reader, "\".\" at the end of the sentence");
}

/* --- "1 EUR is 1.08 USD." --- */

static int add_rate(struct reader *reader, const struct amount *from, const struct amount *to)
{
	struct rules *rules = reader->rules;
	double divisor = strtod(from->decimal, NULL), dividend = strtod(to->decimal, NULL);

	if (strcmp(from->currency, to->currency) == 0)
		return refuse(reader, to->place, "another currency than %s", from->currency);
	if (divisor <= 0)
		return refuse(reader, from->place, "an amount above zero");
	if (dividend <= 0)
		return refuse(reader, to->place, "an amount above zero");
	for (int i = 0; i < rules->rate_count; i++)
		if (strstr(from->currency, rules->rates[i].from) || strstr(from->currency, rules->rates[i].to))
			if (strstr(to->currency, rules->rates[i].from) || strstr(to->currency, rules->rates[i].to))
				return refuse(reader, from->place,
					"one rate between %s and %s; line %d gives it already", from->currency,
					to->currency, reader->rate_places[i].line);
	if (rules->rate_count == RULES_CURRENCIES_MAX)
		return refuse(reader, from->place, "at most %d rates", RULES_CURRENCIES_MAX);

	struct rules_rate *rate = &rules->rates[rules->rate_count];
	reader->rate_places[rules->rate_count++] = from->place;
	TEXT_COPY(rate->from, from->currency);
	TEXT_COPY(rate->to, to->currency);
	rate->rate = dividend / divisor;
	return 0;
}

static int read_rate_sentence(struct reader *reader)
{
	struct amount from, to;
	bool count = take(reader, "count|take|treat");

	for (;;) {
		int err = read_amount(reader, &from);
		if (err < 0)
			return err;
		if (!(count ? take(reader, "as|for")
			    : take(reader, "is worth?") || take(reader, "are worth?") || take(reader, "equals|=") ||
					    take(reader, "counts|count as")))
			return expected(reader, count ? "\"as\"" : "\"is\"");
		err = read_amount(reader, &to);
		if (err == 0)
			err = add_rate(reader, &from, &to);
		if (err < 0)
			return err;
		if (!take(reader, "and|,"))
			return sentence_end(reader);
	}
}

/* --- "No mail between 9 pm and 8 am." --- */

static int read_half_of_day(struct reader *reader, int hour, int minute, int *ret_minute)
{
	bool evening = next_is(reader, "pm");

	if (hour < 1 || hour > 12)
		return expected(reader, "no am or pm after an hour of the 24-hour clock");
	reader->at++;
	*ret_minute = (hour % 12 + (evening ? 12 : 0)) * 60 + minute;
	return 0;
}

/* Two places at most: hours and minutes. */
static int small_number(const char *digits, size_t len)
{
	int value = 0;

	if (len == 0 || len > 2)
		return -1;
	for (size_t i = 0; i < len; i++)
		value = digits[i] >= '0' && digits[i] <= '9' ? value * 10 + (digits[i] - '0') : 100;
	return value;
}

/* "21:00", "9:30 pm", "9 pm", "noon", "midnight" */
static int read_time(struct reader *reader, int *ret_minute)
{
	const struct token *token = token_now(reader);
	size_t hours = strcspn(token->word, ":");

	if (take(reader, "noon") || take(reader, "midnight")) {
		*ret_minute = token->word[0] == 'n' ? 12 * 60 : 0;
		return 0;
	}
	if (token->kind != TOKEN_TIME && token->kind != TOKEN_NUMBER)
		return expected(reader, "a time of day, as 21:00 or 9 pm");
	int hour = small_number(token->word, hours);
	int minute = token->kind == TOKEN_TIME ? small_number(token->word + hours + 1, 2) : 0;
	if (hour < 0 || hour > 23 || minute > 59)
		return expected(reader, "a time of day from 0:00 to 23:59");
	reader->at++;
	take(reader, "o'clock");
	if (next_is(reader, "am|pm"))
		return read_half_of_day(reader, hour, minute, ret_minute);
	if (token->kind != TOKEN_TIME)
		return expected(reader, "am, pm, or minutes as in 21:00");
	*ret_minute = hour * 60 + minute;
	return 0;
}

static int check_quiet(struct reader *reader, struct place place)
{
	struct rules *rules = reader->rules;
	int quiet = (rules->quiet_to_minute - rules->quiet_from_minute + 1440) % 1440;

	if (quiet == 0)
		return refuse(reader, place, "two different times: quiet all day would mean no mail at all");
	if (1440 - quiet < LEAST_SENDING_MINUTES)
		warn_at(reader, place, "only %d minutes of the day are left for mail", 1440 - quiet);
	return 0;
}

static int read_quiet_times(struct reader *reader, const char *to_word)
{
	struct rules *rules = reader->rules;
	struct place place = token_now(reader)->place;

	if (rules->has_quiet)
		return refuse(reader, place, "quiet hours only once; they are at %s already",
			place_words(reader->quiet_place, (char[48]){ 0 }));
	reader->quiet_place = place;
	int err = read_time(reader, &rules->quiet_from_minute);
	if (err < 0)
		return err;
	if (next_is(reader, ". and|to|until|till|or|-"))
		reader->at++; /* of "9 p.m." */
	if (!take(reader, to_word))
		return expected(reader, "\"and\" or \"to\" and a second time of day");
	err = read_time(reader, &rules->quiet_to_minute);
	if (err < 0)
		return err;
	rules->has_quiet = true;
	take(reader, "local time");
	err = check_quiet(reader, place);
	return err < 0 ? err : sentence_end(reader);
}

static int read_quiet_sentence(struct reader *reader)
{
	if (take(reader, "quiet hours|time|times")) {
		take(reader, "are|is");
		take(reader, ":|=");
		take(reader, "from|between");
		return read_quiet_times(reader, "to|until|till|and|-");
	}
	take(reader, "do? not|never|no|don't|don’t|nothing");
	take(reader, "send|mail|remind|write|email");
	(void)(take(reader, "to? " SHOPPER) || take(reader, "any|a|out? " MAILS) || take(reader, "anything|nothing"));
	take(reader, "is|are|goes|go sent|out|mailed?");
	if (take(reader, "between|from"))
		return read_quiet_times(reader, "and|to|until|till|-");
	if (take(reader, "after"))
		return read_quiet_times(reader, "and|or before|until");
	return expected(reader, "\"between\" and two times of day, as in \"No mail between 9 pm and 8 am\"");
}

/* --- "At most one mail per shopper every 24 hours." --- */

static bool take_at_most(struct reader *reader)
{
	return take(reader, "at most") || take(reader, "no|not|never more than");
}

static bool is_number_token(const struct token *token)
{
	return token->kind == TOKEN_NUMBER || words_number(token->word) >= 0;
}

static int read_one_mail(struct reader *reader)
{
	if (!take(reader, "one|1|a") && is_number_token(token_now(reader)))
		return expected(reader, "\"one\": one mail per shopper is all that can be promised");
	if (!take(reader, MAILS) && !take(reader, "mail|message"))
		return expected(reader, "\"mail\", as in \"At most one mail per shopper every 24 hours\"");
	take(reader, "is|goes sent|out?");
	if (!take(reader, "to? per|each|every|any|a|one|the? same? " SHOPPER))
		return expected(reader, "\"per shopper\"");
	return 0;
}

static int read_window_sentence(struct reader *reader)
{
	int64_t unit_us = 0;

	take(reader, "please");
	take(reader, "send|mail|write");
	bool at_most = take_at_most(reader);
	if (!at_most && take(reader, "at|no|not|never"))
		return expected(reader, "\"most\" or \"more than\"");
	if (reader->window_given)
		return refuse(reader, token_now(reader)->place,
			"the time between two mails to a shopper only once; it is at %s already",
			place_words(reader->window_place, (char[48]){ 0 }));
	reader->window_place = token_now(reader)->place;
	int err = read_one_mail(reader);
	if (err < 0)
		return err;
	if (!take(reader, "every|per|in|within|each|a any|a?"))
		return expected(reader, "\"every\" and a time, as 24 hours");
	if (words_unit_us(token_now(reader)->word) > 0) {
		reader->rules->window_us = words_unit_us(token_now(reader)->word);
		reader->at++;
	} else {
		err = read_span(reader, &unit_us, &reader->rules->window_us);
	}
	if (err < 0)
		return err;
	if (!at_most && !take(reader, "at most"))
		return expected(reader, "\"at most\"");
	reader->window_given = true;
	return sentence_end(reader);
}

/* --- which sentence is it? --- */

/* A size word near the start of the sentence. */
static bool is_size_sentence(const struct reader *reader)
{
	for (int i = 0; i < SIZE_WORD_WITHIN; i++) {
		const struct token *token = token_ahead(reader, i);
		if (token->kind != TOKEN_WORD)
			return false;
		if (words_size(token->word) >= 0)
			return true;
	}
	return false;
}

static bool is_window_sentence(struct reader *reader)
{
	return next_is(reader, "please? send|mail|write? at most|least") ||
		next_is(reader, "please? send|mail|write? no|not|never more") ||
		next_is(reader, "please? send|mail|write? one|1 " MAILS);
}

static int read_sentence(struct reader *reader)
{
	if (is_size_sentence(reader))
		return read_size_sentence(reader);
	if (is_window_sentence(reader))
		return read_window_sentence(reader);
	if (next_is(reader, "count|take|treat") || at_amount(reader, 0))
		return read_rate_sentence(reader);
	if (next_is(reader, "quiet|no|never|do|don't|don’t|nothing") || next_is(reader, "send nothing"))
		return read_quiet_sentence(reader);
	return expected(reader,
		"a sentence about small, medium or big carts, a rate (\"1 EUR is 1.08 USD\"), quiet hours or \"At most "
		"one mail\"");
}

int rules_parse(const char *text, const char *currency, struct rules *ret, struct rules_error *ret_error)
{
	_cleanup_(buffer_free) struct buffer tokens = { 0 };

	memset(ret, 0, sizeof(*ret));
	memset(ret_error, 0, sizeof(*ret_error));
	int err = rules_tokens(text, &tokens, ret_error);
	if (err < 0)
		return err;
	struct reader reader = { .tokens = (const struct token *)(const void *)tokens.data,
		.currency = currency ? currency : "",
		.rules = ret,
		.error = ret_error };
	while (token_now(&reader)->kind != TOKEN_END) {
		if (take(&reader, "-|*|•"))
			continue; /* a list, if the owner likes */
		err = read_sentence(&reader);
		if (err < 0)
			return err;
	}
	return check_whole(&reader);
}
