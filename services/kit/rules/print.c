/*
 * print.c: prints the rules as understood, in sentences that rules_parse() reads back as the same rules
 *
 * Read next: speech.c (the patterns of the ten languages)
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DAY_MINUTES = 1440, DAYS = 7 };
enum { RATE_DECIMALS_MAX = 28, RATE_ROOM = 80 }; /* a number that is read may have 31 characters */

/* How many zeros "40.00" ends with: of two ways to write an end, the owner probably wrote the rounder one. */
static int roundness(const char *shown)
{
	int zeros = 0;

	for (size_t len = strlen(shown); len && (shown[len - 1] == '0' || shown[len - 1] == '.'); len--)
		zeros += shown[len - 1] == '0';
	return zeros;
}

/* An end can be written as `minor`, inclusive, or as `beside`, exclusive. Is the second one rounder? */
static bool is_rounder_beside(int64_t minor, int64_t beside, const char *currency)
{
	char own[48], other[48];

	money_plain(minor, currency, own, sizeof(own));
	money_plain(beside, currency, other, sizeof(other));
	return beside > 0 && (minor == 0 || roundness(other) > roundness(own));
}

struct ends {
	int index;                             /* of the size */
	bool low_open, high_open, over, under; /* "over" and "under" instead of "from" and "up to" */
};

static int64_t low_of(const struct rules *rules, const struct ends *ends, int edge)
{
	return rules->edges[edge].from[ends->index];
}

static int64_t high_of(const struct rules *rules, const struct ends *ends, int edge)
{
	return rules->edges[edge].from[ends->index + 1] - 1;
}

static struct ends ends_of(const struct rules *rules, int index)
{
	struct ends ends = { .index = index, .low_open = index == 0, .high_open = index + 1 == rules->size_count };
	const char *currency = rules->edges[0].currency;

	if (!ends.low_open)
		ends.over = is_rounder_beside(low_of(rules, &ends, 0), low_of(rules, &ends, 0) - 1, currency);
	if (!ends.high_open)
		ends.under = is_rounder_beside(high_of(rules, &ends, 0), high_of(rules, &ends, 0) + 1, currency);
	/* an amount of zero cannot be written */
	for (int i = 0; i < rules->edge_count; i++) {
		ends.over &= ends.low_open || low_of(rules, &ends, i) > 1;
		ends.under |= !ends.high_open && high_of(rules, &ends, i) <= 0;
	}
	return ends;
}

/* The rules to print, the language, and the output. */
struct printing {
	const struct rules *rules;
	const struct rules_speech *speech;
	struct buffer *out;
};

/* Adds "40.00" with the decimal point of the language, such as "40,00". */
static void add_number(const struct printing *printing, const char *number, struct buffer *ret)
{
	for (; *number; number++)
		if (*number == '.')
			buffer_add_text(ret, speech_words(printing->speech, SPEECH_POINT));
		else
			buffer_add(ret, number, 1);
}

static void add_amounts(const struct printing *printing, const struct ends *ends, bool low, struct buffer *ret)
{
	const struct rules *rules = printing->rules;
	char shown[48];

	for (int i = 0; i < rules->edge_count; i++) {
		int64_t minor = low ? low_of(rules, ends, i) - ends->over : high_of(rules, ends, i) + ends->under;
		money_plain(minor, rules->edges[i].currency, shown, sizeof(shown));
		buffer_add_text(ret, i ? speech_words(printing->speech, SPEECH_OR) : "");
		add_number(printing, shown, ret);
		buffer_printf(ret, " %s", rules->edges[i].currency);
	}
}

static enum speech_key pattern_of(const struct ends *ends)
{
	if (ends->low_open)
		return ends->under ? SPEECH_UNDER : SPEECH_UPTO;
	if (ends->high_open)
		return ends->over ? SPEECH_OVER : SPEECH_FROM;
	if (ends->over)
		return ends->under ? SPEECH_OVER_UNDER : SPEECH_OVER_UPTO;
	return ends->under ? SPEECH_FROM_UNDER : SPEECH_FROM_UPTO;
}

/* Adds "under 40.00 EUR" or "from 40.00 EUR to 150.00 EUR"; nothing for a size without ends. */
static void add_ends(const struct printing *printing, int index, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer low = { 0 }, high = { 0 };
	struct ends ends = ends_of(printing->rules, index);

	if (ends.low_open && ends.high_open)
		return;
	if (!ends.low_open)
		add_amounts(printing, &ends, true, &low);
	if (!ends.high_open)
		add_amounts(printing, &ends, false, &high);
	speech_fill(speech_words(printing->speech, pattern_of(&ends)),
		(const struct speech_value[]){
			{ "low", buffer_text(&low) }, { "high", buffer_text(&high) }, { NULL, NULL } },
		ret);
}

static void add_span(const struct printing *printing, int64_t us, struct buffer *ret)
{
	int64_t unit = span_unit(us);

	speech_count(printing->speech,
		unit == US_PER_DAY            ? SPEECH_DAYS
			: unit == US_PER_HOUR ? SPEECH_HOURS
					      : SPEECH_MINUTES,
		us / unit, ret);
}

static void end_sentence(const struct printing *printing, const char *pattern, const struct speech_value *values)
{
	speech_fill(pattern, values, printing->out);
	buffer_add_text(printing->out, "\n");
}

static void print_waits(const struct printing *printing, const char *who, const struct rules_waits *waits)
{
	_cleanup_(buffer_free) struct buffer first = { 0 }, second = { 0 };

	if (waits->mails > 0)
		add_span(printing, waits->first_us, &first);
	if (waits->mails > 1)
		add_span(printing, waits->second_us, &second);
	end_sentence(printing,
		speech_words(printing->speech,
			waits->mails == 0           ? SPEECH_NEVER
				: waits->mails == 1 ? SPEECH_ONCE
						    : SPEECH_TWICE),
		(const struct speech_value[]){ { "who", who }, { "first", buffer_text(&first) },
			{ "second", buffer_text(&second) }, { NULL, NULL } });
}

/* May the ends of medium carts be left out? They may if small and big carts lie directly beside them. */
static bool is_plain_medium(const struct rules *rules, int index)
{
	bool small = index > 0 && rules->sizes[index - 1].name == SIZE_SMALL;
	bool big = index + 1 < rules->size_count && rules->sizes[index + 1].name == SIZE_BIG;

	return (small || index == 0) && (big || index + 1 == rules->size_count);
}

static void print_size(const struct printing *printing, int index)
{
	static const enum speech_key names[] = { SPEECH_SMALL, SPEECH_MEDIUM, SPEECH_BIG };
	const struct rules_size *size = &printing->rules->sizes[index];
	_cleanup_(buffer_free) struct buffer ends = { 0 }, who = { 0 };
	bool is_named = size->name != SIZE_BY_AMOUNT;
	const char *name = is_named ? speech_words(printing->speech, names[size->name]) : "";

	if (size->name != SIZE_MEDIUM || !is_plain_medium(printing->rules, index)) {
		add_ends(printing, index, &ends);
		speech_fill(speech_words(printing->speech, is_named ? SPEECH_NAMED : SPEECH_CARTS),
			(const struct speech_value[]){
				{ "who", name }, { "ends", buffer_text(&ends) }, { NULL, NULL } },
			&who);
	} else {
		buffer_add_text(&who, name);
	}
	print_waits(printing, buffer_text(&who), &size->waits);
}

static void print_rest(const struct printing *printing)
{
	const struct rules *rules = printing->rules;

	for (int i = 0; i < rules->size_count; i++)
		if (rules->sizes[i].is_rest) {
			print_waits(printing,
				speech_words(printing->speech, rules->size_count > 1 ? SPEECH_REST : SPEECH_ALL),
				&rules->sizes[i].waits);
			return;
		}
	if (rules->rest_name == SIZE_BY_AMOUNT && rules->rest.mails) /* of other currencies */
		print_waits(printing, speech_words(printing->speech, SPEECH_REST), &rules->rest);
}

/* Adds the nth name of "Sunday, Monday, ..." */
static void add_weekday(const struct printing *printing, int nth, struct buffer *ret)
{
	const char *name = speech_words(printing->speech, SPEECH_WEEKDAYS);

	while (nth-- > 0)
		name += strcspn(name, ",") + strlen(", ");
	buffer_add(ret, name, strcspn(name, ","));
}

/* Adds a list such as "Saturday and Sunday", from Monday on. */
static void add_days(const struct printing *printing, int days, struct buffer *ret)
{
	int left = __builtin_popcount((unsigned int)days), count = left;

	for (int i = 1; i <= DAYS; i++) {
		if (!(days & 1 << i % DAYS))
			continue;
		if (left < count)
			buffer_add_text(ret, speech_words(printing->speech, left == 1 ? SPEECH_AND : SPEECH_COMMA));
		add_weekday(printing, i % DAYS, ret);
		left--;
	}
}

static void print_quiet(const struct printing *printing, const struct rules_quiet *quiet)
{
	_cleanup_(buffer_free) struct buffer days = { 0 };
	bool is_closed = quiet->to_minute - quiet->from_minute == DAY_MINUTES;
	char from[16], to[16];

	snprintf(from, sizeof(from), "%02d:%02d", quiet->from_minute / 60, quiet->from_minute % 60);
	snprintf(to, sizeof(to), "%02d:%02d", quiet->to_minute / 60 % 24, quiet->to_minute % 60);
	add_days(printing, quiet->days, &days);
	end_sentence(printing,
		speech_words(printing->speech,
			is_closed                                ? SPEECH_CLOSED
				: quiet->days == RULES_EVERY_DAY ? SPEECH_QUIET
								 : SPEECH_QUIET_DAYS),
		(const struct speech_value[]){
			{ "days", buffer_text(&days) }, { "from", from }, { "to", to }, { NULL, NULL } });
}

/*
 * Writes all digits of the rate, such as "0.000062". The rules know no exponents. A third decimal gets a zero
 * behind it: in a language with the other decimal point, "1.085" is one thousand and eighty-five.
 */
static void plain_rate(double rate, char ret[RATE_ROOM])
{
	int decimals = RATES_DIGITS - 1 - (int)floor(log10(rate));

	decimals = decimals < 0 ? 0 : decimals > RATE_DECIMALS_MAX ? RATE_DECIMALS_MAX : decimals;
	snprintf(ret, RATE_ROOM, "%.*f", decimals, rate);
	char *point = strchr(ret, '.'), *end = strchr(ret, '\0');
	if (!point)
		return;
	while (end[-1] == '0')
		end--;
	if (end - point == 1)
		end--;
	else if (end - point == 4 && rate >= 1)
		*end++ = '0';
	*end = '\0';
}

static void print_rate(const struct printing *printing, const struct rules_rate *rate)
{
	_cleanup_(buffer_free) struct buffer shown = { 0 };
	char plain[RATE_ROOM];

	plain_rate(rate->rate, plain);
	add_number(printing, plain, &shown);
	end_sentence(printing, speech_words(printing->speech, SPEECH_RATE),
		(const struct speech_value[]){
			{ "low", rate->from }, { "rate", buffer_text(&shown) }, { "high", rate->to }, { NULL, NULL } });
}

/* Prints "at most `mails` mails in `period_us`". */
static void print_cap(const struct printing *printing, int mails, int64_t period_us)
{
	_cleanup_(buffer_free) struct buffer span = { 0 }, many = { 0 };
	const char *pattern = speech_words(printing->speech, SPEECH_WINDOW);

	add_span(printing, period_us, &span);
	if (mails > 1) {
		speech_count(printing->speech, SPEECH_CAPS, mails, &many);
		pattern = buffer_text(&many);
	}
	end_sentence(
		printing, pattern, (const struct speech_value[]){ { "span", buffer_text(&span) }, { NULL, NULL } });
}

/* Prints the built-in window as a comment: a sentence would also hold between the two mails of one cart. */
static void print_builtin(const struct printing *printing)
{
	_cleanup_(buffer_free) struct buffer span = { 0 };

	speech_count(printing->speech, SPEECH_HOURS, rules_window_us(printing->rules) / US_PER_HOUR, &span);
	buffer_add_text(printing->out, "# ");
	end_sentence(printing, speech_words(printing->speech, SPEECH_BUILTIN),
		(const struct speech_value[]){ { "span", buffer_text(&span) }, { NULL, NULL } });
}

void rules_print(const struct rules *rules, const char *locale, struct buffer *ret)
{
	const struct printing printing = { .rules = rules, .speech = rules_speech_for(locale), .out = ret };

	for (int i = 0; i < rules->size_count; i++)
		if (!rules->sizes[i].is_rest)
			print_size(&printing, i);
	print_rest(&printing);
	for (int i = 0; i < rules->rate_count; i++)
		print_rate(&printing, &rules->rates[i]);
	for (int i = 0; i < rules->quiet_count; i++)
		print_quiet(&printing, &rules->quiets[i]);
	for (int i = 0; i < rules->cap_count; i++)
		print_cap(&printing, rules->caps[i].mails, rules->caps[i].period_us);
	if (rules->window_us)
		print_cap(&printing, 1, rules->window_us);
	else
		print_builtin(&printing);
}
