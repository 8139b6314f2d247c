/*
 * items.c: turns the tokens of one sentence into items, in one language
 *
 * Promises:  no token is lost: it is an item, a part of one, a word without meaning, or an unknown word,
 *            which is counted. A number that can be read in more than one way has an empty `decimal`, and its
 *            reader refuses it.
 * Read next: number.c, words.c, read.c
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool item_is(const struct item *item, const char *concept)
{
	for (int i = 0; i < CONCEPTS_MAX && item->concepts[i]; i++)
		if (strcmp(item->concepts[i], concept) == 0)
			return true;
	return false;
}

bool item_is_any(const struct item *item, const char *const *concepts)
{
	for (; *concepts; concepts++)
		if (item_is(item, *concepts))
			return true;
	return false;
}

bool items_have(const struct items *items, int count, const char *const *concepts)
{
	for (int i = 0; i < count; i++)
		if (item_is_any(&items->list[i], concepts))
			return true;
	return false;
}

static void set_concept(struct item *item, const char *concept)
{
	memset(item->concepts, 0, sizeof(item->concepts));
	item->concepts[0] = concept;
}

/* --- one item per word --- */

struct lexing {
	const struct language *language;
	const char *shop_currency;
	const struct token *tokens;
	int count, at;
	struct items *ret;
};

static const char *mark_concept(const char *word)
{
	static const char *const marks[] = { ",", ";", ":", "-", "(", ")", "/", "=", "." };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strcmp(word, marks[i]) == 0)
			return marks[i];
	return NULL;
}

static void add_number(struct lexing *lexing, struct item *item, const struct token *token)
{
	bool comma = language_has_comma(lexing->language);

	set_concept(item, "num");
	number_plain(token->word, comma, item->decimal);
	item->value = *item->decimal ? number_thousandths(item->decimal) : -1;
}

static bool add_currency(struct lexing *lexing, struct item *item, const char *word)
{
	if (!words_currency(word, lexing->shop_currency, item->currency))
		return false;
	set_concept(item, "currency");
	return true;
}

static void add_phrase(struct item *item, const struct phrase *phrase, const char *shop_currency)
{
	memcpy(item->concepts, phrase->concepts, sizeof(item->concepts));
	item->value = phrase->value;
	item->instead = phrase->instead;
	item->unit_us = item_is(item, "span") ? US_PER_HOUR : 0;
	if (item_is(item, "one"))
		item->value = THOUSANDTHS;
	if (item_is(item, "num") || item_is(item, "one")) {
		item->is_word = true;
		snprintf(item->decimal, sizeof(item->decimal), "%.10g", (double)item->value / THOUSANDTHS);
	}
	if (*phrase->currency && !words_currency(phrase->currency, shop_currency, item->currency))
		set_concept(item, "?");
}

/* The length of an Arabic "and", which is written together with the word behind it; 0: there is none. */
static size_t joined_and(const char *word)
{
	static const char and[] = "\xd9\x88";

	return text_starts(word, and) && strlen(word) > strlen(and) ? strlen(and) : 0;
}

/*
 * Makes sure that no reader skips an "and" as a filler or as an "is": without accents, "e" ("and") and "è"
 * ("is") are one word.
 */
static void keep_link(struct item *item)
{
	int kept = 0;

	for (int i = 0; i < CONCEPTS_MAX && item->concepts[i]; i++)
		if (strcmp(item->concepts[i], "filler") != 0)
			item->concepts[kept++] = item->concepts[i];
	while (kept < CONCEPTS_MAX)
		item->concepts[kept++] = NULL;
}

static void emit(struct lexing *lexing, struct item *item)
{
	bool nothing = item->concepts[0] && strcmp(item->concepts[0], "filler") == 0 && !item->concepts[1];

	if (item_is(item, "and") || item_is(item, "or"))
		keep_link(item);
	for (int i = 0; i < CONCEPTS_MAX && item->concepts[i]; i++)
		if (*item->concepts[i] == '!') { /* a meaning that is refused wins over all others of the word */
			item->concepts[0] = item->concepts[i];
			item->concepts[1] = NULL;
		}
	if (nothing || lexing->ret->count == ITEMS_MAX)
		return;
	lexing->ret->unknown += item_is(item, "?");
	lexing->ret->list[lexing->ret->count++] = *item;
}

static void lex_one(struct lexing *lexing)
{
	const struct token *token = &lexing->tokens[lexing->at];
	struct item item = { .place = token->place, .source = token->source, .is_joined = token->joined };
	int left = lexing->count - lexing->at, used = 1;
	size_t and = joined_and(token->word);
	const struct phrase *phrase = language_find(lexing->language, token, left, 0, &used);

	if (!phrase && and&&(phrase = language_find(lexing->language, token, left, and, &used))) {
		struct item link = item;
		set_concept(&link, "and");
		emit(lexing, &link);
	}
	if (token->kind == TOKEN_NUMBER && !phrase)
		add_number(lexing, &item, token);
	else if (token->kind == TOKEN_TIME)
		set_concept(&item, "clock");
	else if (phrase)
		add_phrase(&item, phrase, lexing->shop_currency);
	else if (!add_currency(lexing, &item, token->word))
		set_concept(&item, mark_concept(token->word) ? mark_concept(token->word) : "?");
	if (token->kind == TOKEN_TIME)
		TEXT_COPY(item.decimal, token->word);
	const struct token *last = token + used - 1;
	item.source.len =
		(size_t)((const char *)last->source.data + last->source.len - (const char *)token->source.data);
	lexing->at += used;
	if (!item_is(&item, "."))
		emit(lexing, &item);
}

/* --- several words that make one item --- */

struct merging {
	struct items *items;
	const struct language *language;
	int at, to;
};

static struct item *ahead(struct merging *merging, int by)
{
	int at = merging->at + by;

	return &merging->items->list[at < merging->items->count ? at : merging->items->count];
}

static bool is_number(const struct item *item)
{
	return item_is(item, "num") || item_is(item, "one");
}

static int64_t unit_of(const struct item *item)
{
	for (int i = 0; i < CONCEPTS_MAX && item->concepts[i]; i++)
		if (words_unit_us(item->concepts[i]))
			return words_unit_us(item->concepts[i]);
	return 0;
}

/* Replaces the next `used` items by `item`, which gets the place of the first one. */
static void put(struct merging *merging, struct item item, int used)
{
	const struct item *first = ahead(merging, 0), *last = ahead(merging, used - 1);

	item.place = first->place;
	item.is_joined = first->is_joined;
	item.source = BYTES(first->source.data,
		(size_t)((const char *)last->source.data + last->source.len - (const char *)first->source.data));
	merging->items->list[merging->to++] = item;
	merging->at += used;
}

/* "twenty-four" */
static bool merge_tens(struct merging *merging)
{
	const struct item *tens = ahead(merging, 0);
	int dash = item_is(ahead(merging, 1), "-");
	const struct item *ones = ahead(merging, 1 + dash);
	int64_t value = tens->value / THOUSANDTHS, more = ones->value / THOUSANDTHS;

	if (!item_is(tens, "num") || !tens->is_word || !is_number(ones) || !ones->is_word || value < 20 || value > 90 ||
		value % 10 || more < 1 || more > 9 || ones->value % THOUSANDTHS)
		return false;
	struct item item = *tens;
	item.value = (value + more) * THOUSANDTHS;
	snprintf(item.decimal, sizeof(item.decimal), "%d", (int)(value + more));
	put(merging, item, 2 + dash);
	return true;
}

/* "1 000,50": a group of three digits behind a blank, in a language with a decimal comma. */
static bool merge_groups(struct merging *merging)
{
	const struct item *first = ahead(merging, 0), *next = ahead(merging, 1);
	struct item item = *first;

	if (!language_has_comma(merging->language) || !item_is(first, "num") || first->is_word ||
		!item_is(next, "num") || next->is_word || next->is_joined || strlen(first->decimal) > 3 ||
		strcspn(next->decimal, ".") != 3 || strchr(first->decimal, '.') || !*first->decimal ||
		first->decimal[0] == '0')
		return false;
	snprintf(item.decimal, sizeof(item.decimal), "%.8s%.20s", first->decimal, next->decimal);
	item.value = number_thousandths(item.decimal);
	put(merging, item, 2);
	return true;
}

/* "1万", "5 हज़ार", "two thousand", "3 mil": digits or a word, before a word for a thousand or more. */
static bool merge_thousands(struct merging *merging)
{
	enum { COUNT_MAX = 9999 };
	const struct item *count = ahead(merging, 0), *power = ahead(merging, 1), *more = ahead(merging, 2);
	int64_t times = power->value / THOUSANDTHS, ones = count->value / THOUSANDTHS;
	struct item item = *count;

	if (!item_is(count, "num") || !item_is(power, "num") || !power->is_word || times < THOUSANDTHS ||
		power->value % THOUSANDTHS || ones < 1 || ones > COUNT_MAX || count->value % THOUSANDTHS ||
		ones * times > NUMBER_MAX)
		return false;
	bool is_more = item_is(more, "num") && more->is_joined && !more->is_word && more->value % THOUSANDTHS == 0 &&
		more->value > 0 && more->value / THOUSANDTHS < times;
	if (item_is(more, "num") && !is_more)
		return false;
	item.value = (ones * times + (is_more ? more->value / THOUSANDTHS : 0)) * THOUSANDTHS;
	snprintf(item.decimal, sizeof(item.decimal), "%lld", (long long)(item.value / THOUSANDTHS));
	put(merging, item, 2 + is_more);
	return true;
}

static bool merge_amount(struct merging *merging)
{
	const struct item *first = ahead(merging, 0), *second = ahead(merging, 1);
	bool number_first = is_number(first);
	const struct item *number = number_first ? first : second, *currency = number_first ? second : first;
	struct item item = *number;

	if (!is_number(number) || !item_is(currency, "currency"))
		return false;
	set_concept(&item, "amount");
	item.value_place = number->place;
	TEXT_COPY(item.currency, currency->currency);
	/* "1.000" may be one dinar or a thousand of them; the language alone does not make it clear */
	if (money_digits(item.currency) == 3 && language_has_comma(merging->language) && !number->is_word &&
		memchr(number->source.data, '.', number->source.len) &&
		!memchr(number->source.data, ',', number->source.len))
		*item.decimal = '\0';
	put(merging, item, 2);
	return true;
}

/* How many items a "half an" before a unit has; 0: there is none. */
static int half_before_unit(struct merging *merging)
{
	int at = item_is(ahead(merging, 0), "one") && ahead(merging, 1)->value == THOUSANDTHS / 2 ? 1 : 0;

	if (!item_is(ahead(merging, at), "num") || ahead(merging, at)->value != THOUSANDTHS / 2)
		return 0;
	at++;
	at += item_is(ahead(merging, at), "-") || item_is(ahead(merging, at), "one");
	return unit_of(ahead(merging, at)) ? at : 0;
}

/* Adds "[and] 30 minutes", "30" of "1h30", or "and a half" behind a unit to `us`. Returns how many items. */
static int more_of_span(struct merging *merging, int at, int64_t unit_us, int64_t *us)
{
	int and = item_is(ahead(merging, at), "and");
	const struct item *number = ahead(merging, at + and), *unit = ahead(merging, at + and+1);
	int64_t smaller = unit_of(unit);
	bool is_short = ahead(merging, at - 1)->source.len == 1 && smaller == 0; /* "2 h 30" */

	if (item_is(number, "num") && number->value >= 0 && number->value % THOUSANDTHS == 0 && smaller > 0 &&
		smaller < unit_us) {
		*us += number->value / THOUSANDTHS * smaller;
		return and+2;
	}
	if (!and&&item_is(number, "num") && !number->is_word && (number->is_joined || is_short) &&
		unit_us == US_PER_HOUR && number->value < 60 * THOUSANDTHS && strlen(number->decimal) == 2) {
		*us += number->value / THOUSANDTHS * US_PER_MINUTE;
		return 1;
	}
	int one = item_is(number, "one") && and? 1 : 0;
	const struct item *half = ahead(merging, at + and+one);
	bool alone = !unit_of(ahead(merging, at + and+one + 1)) && !item_is(ahead(merging, at + and+one + 1), "one");
	if (item_is(half, "num") && half->is_word && half->value == THOUSANDTHS / 2 && alone) {
		*us += unit_us / 2;
		return and+one + 1;
	}
	return 0;
}

/* How many items the "and a half" of "2 and a half" before a unit has; 0: there is none. */
static int and_a_half(struct merging *merging)
{
	int one = item_is(ahead(merging, 2), "one");

	if (!item_is(ahead(merging, 1), "and") || ahead(merging, 2 + one)->value != THOUSANDTHS / 2 ||
		!item_is(ahead(merging, 2 + one), "num") || !unit_of(ahead(merging, 3 + one)))
		return 0;
	return 2 + one;
}

/*
 * Merges "4 hours", "an hour", "half a day", "1 hour 30 minutes", "une heure et demie". The value is -1 if it
 * is no whole number of minutes, -2 if its number is too large or has too many decimals.
 */
static bool merge_span(struct merging *merging)
{
	const struct item *first = ahead(merging, 0);
	int half = half_before_unit(merging), used = half ? half : is_number(first) ? 1 : 0;
	int64_t count = half ? THOUSANDTHS / 2 : first->value, us;
	int halves = !half && is_number(first) ? and_a_half(merging) : 0;
	bool article = item_is(first, "one");

	used += halves;
	count += halves ? THOUSANDTHS / 2 : 0;
	if (used == 0 && !language_counts_units(merging->language))
		return false;
	used += used > 0 && !first->is_word && item_is(ahead(merging, used), "counter"); /* ヶ */
	int64_t unit = unit_of(ahead(merging, used));
	bool after_word = used == 0 && merging->to > 0 && item_is(&merging->items->list[merging->to - 1], "after");
	if (!unit || (used == 0 && !after_word))
		return false;
	count = used == 0 ? THOUSANDTHS : count;
	us = count < 0 ? -2 : count * (unit / US_PER_MINUTE) % THOUSANDTHS ? -1 : count * (unit / THOUSANDTHS);
	used++;
	if (us >= 0)
		used += more_of_span(merging, used, unit, &us);
	struct item item = { .value = us, .unit_us = unit };
	set_concept(&item, "span");
	if (article)
		item.concepts[1] = "a"; /* "a day" */
	if (unit == words_unit_us("month"))
		item.concepts[article ? 2 : 1] = "months";
	put(merging, item, used);
	return true;
}

/* --- times of day --- */

static bool is_half_of_day(const struct item *item)
{
	return item_is(item, "am") || item_is(item, "pm") || item_is(item, "night");
}

/* The minute of the day; -1: there is no such time. */
static int minute_of(int hour, int minute, const struct item *half)
{
	if (hour > 23 || minute > 59 || hour < 0 || minute < 0)
		return -1;
	if (!half)
		return hour * 60 + minute;
	bool evening = item_is(half, "pm") || (item_is(half, "night") && hour >= 6 && hour < 12);
	if (hour > 12)
		return item_is(half, "am") || half->source.len == 2 || half->source.len == 3 ? -1 : hour * 60 + minute;
	if (hour == 0)
		return -1;
	return (hour % 12 + (evening ? 12 : 0)) * 60 + minute;
}

/* Reads "21:00", "21.30" or "9" as hour and minute. */
static bool hour_and_minute(const struct item *item, int *ret_hour, int *ret_minute)
{
	const char *text = item->decimal, *point = strpbrk(text, ":.");

	*ret_minute = 0;
	if (!*text || strlen(text) > 5 || (item->is_word && point))
		return false;
	*ret_hour = atoi(text);
	if (!point)
		return strlen(text) <= 2;
	*ret_minute = atoi(point + 1);
	return strlen(point + 1) == 2 && point - text <= 2;
}

/* Reads the words behind the hour: "Uhr", "h", "30", "minutes", "半". Returns how many items they are. */
static int rest_of_time(struct merging *merging, int at, int *minute, bool *is_clock, bool *is_marked)
{
	int used = 0;
	const struct item *marker = ahead(merging, at);

	if (item_is(marker, "oclock") || unit_of(marker) == US_PER_HOUR) {
		*is_clock |= item_is(marker, "oclock") && unit_of(marker) == 0;
		*is_marked = true;
		used++;
		const struct item *more = ahead(merging, at + used);
		bool minutes = unit_of(ahead(merging, at + used + 1)) == US_PER_MINUTE;
		if (item_is(more, "num") && *minute == 0 && (minutes || more->is_joined) &&
			more->value % THOUSANDTHS == 0) {
			*minute = (int)(more->value / THOUSANDTHS);
			*is_clock = true;
			used += 1 + minutes;
		} else if (item_is(more, "num") && more->is_word && more->value == THOUSANDTHS / 2 && *minute == 0) {
			*minute = 30;
			used++;
		}
	}
	return used;
}

static bool merge_named_time(struct merging *merging)
{
	const struct item *first = ahead(merging, 0);
	bool noon = item_is(first, "noon");

	if (!noon && !item_is(first, "midnight"))
		return false;
	struct item item = { .value = noon ? 12 * 60 : 0, .is_clock = true };
	set_concept(&item, "time");
	put(merging, item, 1);
	return true;
}

/* "9 pm", "21:00", "21 Uhr", "21h30", "夜9時半", "half past nine in the evening" */
static bool merge_time(struct merging *merging)
{
	int used = 0, hour, minute, past = 0;
	const struct item *half = is_half_of_day(ahead(merging, 0)) ? ahead(merging, 0) : NULL;
	bool is_clock = half != NULL, is_marked = half != NULL;

	used += half != NULL;
	if (item_is(ahead(merging, used), "half") || item_is(ahead(merging, used), "quarter"))
		past = item_is(ahead(merging, used++), "half") ? 30 : 15;
	bool prefix = item_is(ahead(merging, used), "oclock");
	used += prefix;
	const struct item *number = ahead(merging, used);
	if ((!is_number(number) && !item_is(number, "clock")) || !hour_and_minute(number, &hour, &minute))
		return false;
	bool written = item_is(number, "clock") ||
		(strchr(number->decimal, '.') != NULL && language_has_comma(merging->language));
	is_clock |= prefix || written;
	is_marked |= prefix || written;
	used++;
	int behind = rest_of_time(merging, used, &minute, &is_clock, &is_marked);
	bool is_hours = behind > 0;
	used += behind;
	if (!half && is_half_of_day(ahead(merging, used))) {
		half = ahead(merging, used++);
		is_clock = is_marked = true;
	}
	if (!is_marked || (past && (!half || minute)))
		return false;
	struct item item = { .value = minute_of(hour, minute + past, half),
		.is_clock = is_clock,
		.is_hours = is_hours,
		.has_half = half };
	set_concept(&item, item.value < 0 ? "badtime" : "time");
	if (item.value < 0)
		item.value = hour > 12 && hour < 24 && half ? 1 : 0;
	item.value_place = item.value && half ? half->place : number->place;
	put(merging, item, used);
	return true;
}

/* Is the dash a minus, as in "-4"? It is right before a number, and not behind a number, a time or a unit. */
static bool merge_minus(struct merging *merging)
{
	const struct item *dash = ahead(merging, 0), *number = ahead(merging, 1);
	const struct item *before = merging->to > 0 ? &merging->items->list[merging->to - 1] : NULL;
	bool goes_on = before &&
		(is_number(before) || item_is(before, "clock") || unit_of(before) || item_is(before, "oclock") ||
			item_is(before, "currency") || is_half_of_day(before));
	bool is_sign = (number->is_joined && !dash->is_joined) || (before && item_is(before, "after"));

	if (!item_is(dash, "-") || !(is_number(number) || item_is(number, "clock")) || goes_on || !is_sign)
		return false;
	struct item item = { 0 };
	set_concept(&item, "minus");
	put(merging, item, 1);
	return true;
}

/* Runs one step over all items. Each step works on the result of the step before. */
static void merge(struct items *items, const struct language *language, bool (*step)(struct merging *))
{
	struct merging merging = { .items = items, .language = language };

	while (merging.at < items->count)
		if (!step(&merging))
			items->list[merging.to++] = items->list[merging.at++];
	struct item end = items->list[items->count];
	items->count = merging.to;
	items->list[items->count] = end;
}

/* --- words that change the meaning of the words beside them --- */

static const char *const nos[] = { "no", "not", "never", "nothing", NULL };
static const char *const clause_ends[] = { ",", ";", NULL };

/*
 * "Customers that write to us", "Kunden, die uns schreiben": the verb describes shoppers, it is no reminder.
 */
static bool begins_relative(const struct items *items, int at)
{
	static const char *const verbs[] = { "remind", "mail", "is", NULL };
	const struct item *list = items->list;
	bool apart = at > 1 && item_is(&list[at - 1], ",");

	return (item_is(&list[at], "relating") || (apart && item_is(&list[at], "relating-apart"))) && at > apart &&
		item_is(&list[at - 1 - apart], "shopper") && item_is_any(&list[at + 1], verbs);
}

/*
 * "Carts with mail", "the same cart": these mean some carts only, which no reader can tell from others. "With
 * one mail" may describe a reminder, but behind "cart" it describes the carts.
 */
static bool tells_which_cart(const struct items *items, int at)
{
	const struct item *item = &items->list[at], *next = item + 1;
	const struct item *before = at > 0 ? item - 1 : &items->list[items->count];
	bool bears_one = item_is(next, "one") && item_is(item + 2, "mail") && item_is(before, "cart");

	if (item_is(item, "same"))
		return item_is(next, "cart");
	if (!item_is(item, "bearing"))
		return false;
	if (items->waits_behind)
		return item_is(before, "mail") && item_is(next, "cart");
	return bears_one || (item_is(next, "mail") && !item_is(before, "remind"));
}

/* "Not without mail": here two negations mean "yes", while those of "no reminder, never" are one. */
static bool lacks_nothing(const struct items *items, int at)
{
	const struct item *list = items->list;

	if (!item_is(&list[at], "lacking"))
		return false;
	for (int step = -1; step <= 1; step += 2)
		for (int i = at + step; i >= 0 && i < items->count && !item_is_any(&list[i], clause_ends); i += step)
			if (item_is_any(&list[i], nos))
				return true;
	return false;
}

/* "This Sunday" is not every Sunday; "not always" is not "never". Such words are refused, never skipped. */
static void refuse_changed(struct items *items)
{
	static const char *const dates[] = { "dow", "weekend", "weekdays", "day", "week", "month", NULL };

	for (int i = 0; i < items->count; i++) {
		struct item *item = &items->list[i];
		if (item_is(item, "pointing") && item_is_any(item + 1, dates))
			set_concept(item, "!once");
		else if (item_is_any(item, nos) && item_is(item + 1, "always"))
			set_concept(item, "!vague");
		else if (begins_relative(items, i))
			set_concept(item, "!when");
		else if (tells_which_cart(items, i))
			set_concept(item, "!which");
		else if (lacks_nothing(items, i))
			set_concept(item, "!nots");
	}
}

void items_read(const struct language *language, enum reading reading, const char *shop_currency,
	const struct token *tokens, int count, struct items *ret)
{
	struct lexing lexing = {
		.language = language, .shop_currency = shop_currency, .tokens = tokens, .count = count, .ret = ret
	};

	ret->count = ret->unknown = 0;
	ret->waits_behind = language_waits_behind(language);
	while (lexing.at < count)
		lex_one(&lexing);
	ret->list[ret->count] = (struct item){ .place = tokens[count].place, .source = tokens[count].source };
	set_concept(&ret->list[ret->count], tokens[count].kind == TOKEN_END ? "end" : "stop");
	refuse_changed(ret);
	merge(ret, language, merge_minus);
	merge(ret, language, merge_tens);
	merge(ret, language, merge_groups);
	merge(ret, language, merge_thousands);
	merge(ret, language, merge_amount);
	if (reading == READ_WAITS) {
		merge(ret, language, merge_span);
		return;
	}
	merge(ret, language, merge_named_time);
	merge(ret, language, merge_time);
}
