/*
 * hours.c: reads "No mail between 9 pm and 8 am.", "Not on Sundays.", "Only Monday to Friday between 9:00
 * and 18:00."
 *
 * Promises:  a sentence has one "no", or one "only", or the words "quiet hours", and beside them only times
 *            and days; anything else is refused. A sentence is also refused if it is not clear which days a
 *            time belongs to, or what "only" limits.
 */
#include "services/kit/rules/text.h"
#include <string.h>

enum { DAY_MINUTES = 1440, HOURS_OF_HALF_A_DAY = 13 };

struct hours {
	int nots, nothings, onlys, quiets;
	bool has_ne, has_time, at_night, in_brackets;
	bool is_open;        /* one end is missing, "after 9 pm" */
	bool has_two_ends;   /* "before 7:00 or after 20:30": each end has a word of its own */
	bool is_list;        /* of days: "Saturday and Sunday" */
	bool is_loose;       /* a list that may be two thoughts: "on Sundays, and on Mondays" */
	bool is_days_first;  /* the days stand before the time */
	bool is_comma_apart; /* a comma or a dash separates days and time */
	bool is_only_first;  /* "only" stands before days and time */
	int from_minute, to_minute;
	int further_from_minute, further_to_minute; /* the first of two: "12:00 to 13:00 and 22:00 to 7:00" */
	bool has_further;
	int days; /* 0: none named */
	struct place time_place;
};

/* --- times --- */

/* May the item be a time? check_pair() refuses a bare number if nothing shows a 24-hour clock. */
static bool is_time(const struct item *item)
{
	return item_is(item, "time") ||
		(item_is(item, "num") && item->value >= 0 && item->value <= 24000 && item->value % 1000 == 0);
}

bool is_pair_of_hours(const struct items *items, int at)
{
	static const char *const links[] = { "and", "to", "until", "-", NULL };
	const struct item *item = &items->list[at];

	return at + 2 < items->count && item_is(item, "num") && item_is_any(item + 1, links) &&
		item_is(item + 2, "num") && is_time(item) && is_time(item + 2) && !item_is(item + 3, "mail");
}

bool looks_like_hours(const struct items *items)
{
	static const char *const limits[] = { "no", "not", "nothing", "nobody", "never", "only", "quiet", NULL };

	for (int i = 0; i < items->count; i++)
		if (is_pair_of_hours(items, i))
			return items_have(items, items->count, limits);
	return false;
}

static bool shows_24_hours(const struct item *item)
{
	return item_is(item, "num") ? item->value >= HOURS_OF_HALF_A_DAY * 1000
				    : item->value >= HOURS_OF_HALF_A_DAY * 60;
}

/* Is it like "8 Uhr" in "21 bis 8 Uhr"? Then the word "Uhr" belongs to both hours. */
static bool is_plain_clock(const struct item *item)
{
	return item_is(item, "time") && item->is_hours && !item->has_half;
}

static int minute_of(const struct item *item)
{
	return item_is(item, "num") ? (int)(item->value / 1000) * 60 : (int)item->value;
}

static int expected_time(struct reader *reader)
{
	const struct item *item = item_now(reader);

	if (item_is(item, "badtime"))
		return refuse(reader, item->value_place, "%s",
			item->value ? "no am or pm after an hour of the 24-hour clock"
				    : "a time of day from 0:00 to 23:59");
	if (item_is(item, "clock"))
		return expected(reader, "a time of day from 0:00 to 23:59");
	return expected(reader, "a time of day, as 21:00 or 9 pm");
}

/* Is each hour of the pair clear? The way one is written can make the other one clear. */
static int check_pair(struct reader *reader, const struct item *from, const struct item *to)
{
	const struct item *bare = item_is(from, "num") ? from : item_is(to, "num") ? to : NULL;
	const struct item *other = bare == from ? to : from;

	if (!bare)
		return 0;
	bool both_bare = item_is(from, "num") && item_is(to, "num");
	if ((both_bare && (shows_24_hours(from) || shows_24_hours(to))) ||
		(!both_bare && bare == from && is_plain_clock(other)) ||
		(!both_bare && shows_24_hours(bare) && item_is(other, "time")))
		return 0;
	reader->at = (int)(bare - reader->items->list) + 1;
	return expected(reader, "am, pm, or minutes as in 21:00");
}

static int read_pair(struct reader *reader, struct hours *hours, const char *between)
{
	const struct item *from = item_now(reader);

	if (!is_time(from))
		return expected_time(reader);
	pass(reader);
	take(reader, "after");
	if (!take(reader, between)) {
		if (item_is(from, "num"))
			return expected(reader, "am, pm, or minutes as in 21:00");
		return expected(reader, "\"and\" or \"to\" and a second time of day");
	}
	take(reader, "before");
	const struct item *to = item_now(reader);
	if (!is_time(to))
		return expected_time(reader);
	pass(reader);
	hours->time_place = from->place;
	hours->from_minute = minute_of(from);
	hours->to_minute = minute_of(to);
	hours->has_time = true;
	(void)(take(reader, "between") || take(reader, "until") || take(reader, "before"));
	return check_pair(reader, from, to);
}

/* Reads one end, "after 9 pm" or "9 pm after". `certain`: it is a time of day; "8 h" could also be a wait. */
static int read_end(struct reader *reader, const char *word, int *ret_minute, bool *certain)
{
	bool before = take(reader, word);
	const struct item *item = item_now(reader);

	if (!is_time(item))
		return expected_time(reader);
	if (item_is(item, "num") && !shows_24_hours(item)) {
		pass(reader);
		return expected(reader, "am, pm, or minutes as in 21:00");
	}
	*certain = item_is(item, "time") ? item->is_clock || shows_24_hours(item) : false;
	pass(reader);
	if (!before && !take(reader, word))
		return expected(reader, "\"and\" or \"to\" and a second time of day");
	*ret_minute = minute_of(item);
	return 0;
}

static bool at_after(struct reader *reader)
{
	return next_is(reader, "after time|num") || next_is(reader, "from time|num") ||
		next_is(reader, "time|num after");
}

static bool at_before(struct reader *reader)
{
	return next_is(reader, "before|until time|num") || next_is(reader, "time|num before|until");
}

static void take_link(struct reader *reader, struct hours *hours)
{
	take(reader, ",");
	take(reader, "and|or");
	if (hours->nots + hours->nothings > 0 &&
		(next_is(reader, "no|not|nothing mail? after|before") || next_is(reader, "no|nothing remind")))
		take(reader, "no|not|nothing mail?");
}

/* Reads "after 20:30 or before 7:00", in either order, or one of the two alone. */
static int read_ends(struct reader *reader, struct hours *hours)
{
	bool after_first = at_after(reader), certain_a, certain_b = true;
	int *first = after_first ? &hours->from_minute : &hours->to_minute;
	int *second = after_first ? &hours->to_minute : &hours->from_minute;

	hours->time_place = item_now(reader)->place;
	int err = read_end(reader, after_first ? "after|from" : "before|until", first, &certain_a);
	if (err < 0)
		return err;
	int start = reader->at;
	take_link(reader, hours);
	bool both = after_first ? at_before(reader) : at_after(reader);
	if (both)
		err = read_end(reader, after_first ? "before|until" : "after|from", second, &certain_b);
	else
		reader->at = start;
	if (err == 0 && !both && !certain_a)
		return expected(reader, "\"before\" and a second time of day");
	if (!both)
		*second = after_first ? DAY_MINUTES : 0;
	hours->is_open = !both;
	hours->has_two_ends = both;
	hours->has_time = true;
	return err;
}

/* Is it a second pair, as in "between 12:00 and 13:00 and between 22:00 and 7:00"? Both hold on every day. */
static bool at_second_pair(struct reader *reader, const struct hours *hours)
{
	return !hours->has_further && !hours->is_open && !hours->has_two_ends && !hours->days && !hours->onlys &&
		(next_is(reader, "from? time to|until|-|and time") ||
			next_is(reader, "between time and|to|until|- time"));
}

static int read_time(struct reader *reader, struct hours *hours)
{
	int start = reader->at;

	if (hours->has_time && !at_second_pair(reader, hours))
		return expected(reader, "one time a sentence");
	if (hours->has_time) {
		hours->further_from_minute = hours->from_minute;
		hours->further_to_minute = hours->to_minute;
		hours->has_further = true;
	}
	if (take(reader, "between"))
		return read_pair(reader, hours, "and|to|until|-");
	bool from = take(reader, "from");
	if (next_is(reader, "time|num to|until|-|and time|num") ||
		(from && next_is(reader, "time|num to|until|-|and")) || hours->quiets)
		return read_pair(reader, hours, "to|until|-|and");
	reader->at = start;
	if (at_after(reader) || at_before(reader))
		return read_ends(reader, hours);
	return read_pair(reader, hours, "to|until|-|and");
}

/* --- days --- */

static bool at_day(struct reader *reader)
{
	return next_is(reader, "dow|weekend|weekdays") ||
		next_is(reader, "every|all|per|from|between dow|weekend|weekdays");
}

static int read_day(struct reader *reader)
{
	take(reader, "every|all|per|from|between");
	const struct item *item = item_now(reader);
	int days = item_is(item, "weekend") ? 1 << 6 | 1 : item_is(item, "weekdays") ? 0x3e : (int)item->value;

	pass(reader);
	return days;
}

static int days_up_to(int first, int last)
{
	int days = first;

	for (int day = first; day != last; days |= day)
		day = day == 1 << 6 ? 1 : day << 1;
	return days;
}

/* Is there more than blanks between the item before `at` and the current one, such as a second "on"? */
static bool has_words_between(struct reader *reader, int at)
{
	const struct item *before = &reader->items->list[at - 1], *now = item_now(reader);
	const char *from = (const char *)before->source.data + before->source.len, *to = now->source.data;

	while (from < to && (*from == ' ' || *from == '\n' || *from == '\r' || *from == '\t'))
		from++;
	return from < to;
}

/*
 * A list may be two thoughts (`is_loose`) if it mixes days and weekends, or has a comma or a second "on"
 * before its last day.
 */
static void note_list(struct reader *reader, struct hours *hours, int last)
{
	bool has_link = item_is(&reader->items->list[reader->at - 1], "and") ||
		item_is(&reader->items->list[reader->at - 1], "or") ||
		item_is(&reader->items->list[reader->at - 1], "/");
	const struct item *before = &reader->items->list[last];

	hours->is_list = true;
	hours->is_loose = reader->at - last != 2 || !has_link || has_words_between(reader, reader->at) ||
		!next_is(reader, "dow") || !item_is(before, "dow");
}

static int read_days(struct reader *reader, struct hours *hours)
{
	if (hours->days)
		return expected(reader, "\".\" at the end of the sentence");
	hours->is_days_first = !hours->has_time;
	for (;;) {
		bool one = next_is(reader, "every|all|per|from|between? dow"), ranged = false;
		bool led = item_is(item_now(reader), "from") || item_is(item_now(reader), "between");
		int days = read_day(reader);
		if (one && (next_is(reader, "to|until|-|and dow until|between") || next_is(reader, "to|until|- dow"))) {
			take(reader, "to|until|-|and");
			days = days_up_to(days, read_day(reader));
			ranged = true;
			(void)(take(reader, "until") || take(reader, "between"));
		}
		if (led && !ranged)
			return expected(reader, "\"to\" and a second day, as \"from Monday to Friday\"");
		hours->days |= days;
		int start = reader->at;
		take(reader, ",");
		take(reader, "and|or|/");
		if (reader->at > start && take(reader, "no|not|nothing|never") && !(hours->nots + hours->nothings))
			reader->at = start;
		if (at_day(reader) && reader->at > start) {
			note_list(reader, hours, start - 1);
			continue;
		}
		reader->at = start;
		if (!(one && at_day(reader) && next_is(reader, "dow")))
			return 0;
		hours->is_list = hours->is_loose = true;
	}
}

/* --- the sentence --- */

static bool take_word(struct reader *reader, struct hours *hours)
{
	if (take(reader, "quiet")) {
		take(reader, ":|=|is");
		hours->quiets++;
	} else if (take(reader, "ne")) {
		hours->has_ne = true;
	} else if (take(reader, "no|nothing|nobody")) {
		hours->nothings++;
		take(reader, "one mail");
	} else if (hours->nots + hours->nothings > 0 && take(reader, "one mail")) {
		return true; /* "nobody gets a mail" */
	} else if (hours->nothings == 0 && take(reader, "never|not")) {
		hours->nots++; /* "no mail not" is not "not a mail" */
		take(reader, "one mail");
	} else if (take(reader, "only")) {
		hours->onlys++;
		hours->is_only_first = !hours->days && !hours->has_time;
	} else if (take(reader, "night")) {
		hours->at_night = true; /* "at night between 22:00 and 6:00": alone it is no time */
	} else if (item_is(item_now(reader), "and") || item_is(item_now(reader), "or")) {
		return false; /* without its accent, "è" is "e": as an "is" it would be passed over */
	} else {
		return take(reader, "remind|mail|shopper|is|:") || take(reader, "to? every|all? shopper") ||
			take(reader, "daily");
	}
	return true;
}

/* "at night (22:00 to 7:00)" */
static bool take_bracket(struct reader *reader, struct hours *hours)
{
	if (hours->in_brackets ? !take(reader, ")") : hours->has_time || !next_is(reader, "( between|from? time"))
		return false;
	if (!hours->in_brackets)
		take(reader, "(");
	hours->in_brackets = !hours->in_brackets;
	return true;
}

static int read_piece(struct reader *reader, struct hours *hours)
{
	if (at_day(reader))
		return read_days(reader, hours);
	if (next_is(reader, "time|num|clock|badtime") ||
		next_is(reader, "between|from|after|before|until time|num|clock|badtime") ||
		(hours->quiets && next_is(reader, "between|from")))
		return read_time(reader, hours);
	if (take_bracket(reader, hours) || take_word(reader, hours))
		return 0;
	if (hours->has_time && next_is(reader, ",? and? between|from? time") && take(reader, ",? and?")) {
		if (at_second_pair(reader, hours))
			return read_time(reader, hours);
		return expected(reader, "\".\" at the end of the sentence");
	}
	if (next_is(reader, ",|-") && (hours->days || hours->has_time) && take(reader, ",|-")) {
		hours->is_comma_apart |= !hours->days != !hours->has_time;
		return 0;
	}
	if (hours->has_time || hours->days)
		return expected(reader, "\".\" at the end of the sentence");
	if (next_is(reader, "between|from|after"))
		take(reader, "between|from|after");
	return expected(reader, "\"between\" and two times of day, or a day, as in \"No mail between 9 pm and 8 am\"");
}

/*
 * If the sentence has days and a time: is it clear to which days the time belongs, and what holds on the
 * other days?
 */
static int check_days_with_time(struct reader *reader, const struct hours *hours)
{
	bool is_list_limited =
		hours->is_list && !hours->quiets && (hours->is_loose || (hours->is_days_first && hours->is_open));
	bool is_over_midnight = hours->from_minute > hours->to_minute && hours->to_minute > 0;

	if (!hours->days || !hours->has_time)
		return 0;
	if (is_list_limited || (hours->is_comma_apart && !hours->onlys))
		return refuse(reader, hours->time_place,
			"two sentences, as \"No mail on Sunday. No mail on Monday before 10:00\": "
			"it is not clear which days the time belongs to");
	if (hours->onlys && !(hours->is_only_first && hours->is_days_first))
		return refuse(reader, hours->time_place,
			"\"only\", then days, then times; or the times without mail, as "
			"\"No mail on Sunday before 10:00\": what holds on other days is not clear");
	if (hours->has_two_ends && !hours->onlys)
		return refuse(reader, hours->time_place,
			"two sentences, one for \"before\" and one for \"after\": "
			"it is not clear which night is meant");
	if (hours->onlys && is_over_midnight)
		return refuse(reader, hours->time_place, "two times of the same day: these end on the next one");
	return 0;
}

static int check(struct reader *reader, const struct hours *hours)
{
	bool no = hours->nots + hours->nothings > 0;
	int ways = no + (hours->onlys > 0) + (hours->quiets > 0);

	if (hours->has_further && (hours->days || hours->onlys))
		return refuse(reader, hours->time_place, "one time a sentence, where it names days or says \"only\"");
	if (hours->in_brackets)
		return expected(reader, "\")\"");
	if (!hours->has_time && !hours->days)
		return expected(
			reader, "\"between\" and two times of day, or a day, as in \"No mail between 9 pm and 8 am\"");
	if (ways != 1 || hours->nots > 1 || hours->nothings > 1 || hours->onlys > 1 || hours->quiets > 1)
		return refuse(reader, reader->sentence->place,
			"one \"no\", one \"only\" or the words \"quiet hours\", as in \"No mail on Sunday\"");
	if (hours->at_night && !hours->has_time)
		return expected(reader, "two times of day: when the night begins and ends");
	if (hours->has_ne && !no && !hours->onlys)
		return expected(reader, "a whole \"ne ... pas\"");
	if (hours->has_time && hours->from_minute % DAY_MINUTES == hours->to_minute % DAY_MINUTES)
		return refuse(
			reader, hours->time_place, "two different times: quiet all day would mean no mail at all");
	return check_days_with_time(reader, hours);
}

static void add_quiet(struct reader *reader, int days, int from_minute, int to_minute)
{
	bool whole_day = to_minute - from_minute == DAY_MINUTES;

	to_minute = whole_day ? to_minute : to_minute % DAY_MINUTES;
	from_minute %= DAY_MINUTES;
	if (days)
		reader->sentence->quiets[reader->sentence->quiet_count++] =
			(struct rules_quiet){ .days = days, .from_minute = from_minute, .to_minute = to_minute };
}

/* With "only", each day and time that the sentence does not name is quiet. */
static void say_only(struct reader *reader, const struct hours *hours)
{
	if (hours->days)
		add_quiet(reader, RULES_EVERY_DAY & ~hours->days, 0, DAY_MINUTES);
	if (!hours->has_time)
		return;
	int from = hours->to_minute % DAY_MINUTES, to = hours->from_minute;
	add_quiet(reader, RULES_EVERY_DAY, from, to);
}

int read_hours(struct reader *reader)
{
	struct hours hours = { 0 };

	while (!at_end(reader)) {
		int at = reader->at, err = read_piece(reader, &hours);
		if (err < 0)
			return err;
		if (reader->at == at)
			return expected(reader, "\".\" at the end of the sentence");
	}
	int err = check(reader, &hours);
	if (err < 0)
		return err;
	if (hours.onlys)
		say_only(reader, &hours);
	else if (hours.has_further)
		add_quiet(reader, RULES_EVERY_DAY, hours.further_from_minute, hours.further_to_minute);
	if (!hours.onlys)
		add_quiet(reader, hours.days ? hours.days : RULES_EVERY_DAY, hours.has_time ? hours.from_minute : 0,
			hours.has_time ? hours.to_minute : DAY_MINUTES);
	return 0;
}
