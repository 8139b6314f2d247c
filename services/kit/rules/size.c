/*
 * size.c: reads "Small carts (under $40): remind after 4 hours, then after 24."
 *
 * Promises:  each word of the sentence belongs to a size, to a wait, to the order of the two waits or to a
 *            "no", or it has no meaning. A sentence with a "no" and a wait is refused.
 * Read next: check.c (whether the sizes agree)
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/rules/text.h"
#include <stdio.h>

/* equals DECISION_BETWEEN_US (services/carts/policy/decision.h), which also holds for deferred mails */
#define BETWEEN_MAILS_US (4 * US_PER_HOUR)

enum { NOT_TAKEN = 1 };

#define AFTER_ORDER "when the cart was left: carts that were ordered get no reminder"
#define ONE_OR_TWO "one reminder, or two waits: a reminder is not repeated"
#define NOT_BOTH "never, or a wait: not both"

/* The parts of one clause that were read so far. */
struct plan {
	int64_t span_us[2], unit_us;
	struct place span_places[2];
	int span_count;
	int order[2]; /* 1 or 2 for each span, by the words around it; 0: unknown */
	int order_pending;
	int leads; /* marks before the first wait */
	bool is_single, separated, has_ne;
	bool then_pending; /* "then", and no second wait yet */
	bool is_relative;  /* the second wait counts from the first mail: "24 hours later" */
	bool is_again;     /* "again 24 hours": clear only with "later" or a similar word behind it */
	struct place again_place;
	bool is_after_behind; /* "2 hours after": the first wait is written like a relative one */
	int nots, nothings;
	int mails;        /* "two reminders"; 0: not said */
	bool has_mail[2]; /* of each wait: "1通" ("one mail") stands behind it and belongs to it alone */
};

/* --- the carts of the sentence --- */

static struct clause *clause_now(struct reader *reader)
{
	return &reader->sentence->clauses[reader->sentence->clause_count];
}

static bool at_amount(struct reader *reader)
{
	return next_is(reader, "amount") || next_is(reader, "num to|and|-|until amount");
}

/* Reads one end of a size, such as "under $40". */
static int read_half(struct reader *reader, const char *words, int64_t add, struct bounds *ret)
{
	if (ret->count)
		return expected(reader, "each amount once");
	take(reader, words);
	return read_amounts(reader, add, ret);
}

static int read_prefixed(struct reader *reader)
{
	struct clause *clause = clause_now(reader);

	if (next_is(reader, "under amount|num"))
		return read_half(reader, "under", -1, &clause->high);
	if (next_is(reader, "over amount|num"))
		return read_half(reader, "over", 1, &clause->low);
	if (next_is(reader, "upto|to|until|atmost amount|num"))
		return read_half(reader, "upto|to|until|atmost", 0, &clause->high);
	return read_half(reader, "atleast", 0, &clause->low);
}

/* Reads a range: "$40 to $150", "between $40 and $150", "20 से 80 यूरो के बीच". */
static int read_range(struct reader *reader)
{
	struct clause *clause = clause_now(reader);
	bool between = take(reader, "between");

	take(reader, "from");
	clause->low.soft = clause->high.soft = true;
	int err = read_amounts(reader, 0, &clause->low);
	if (err < 0)
		return err;
	if (!take(reader, between ? "and|-" : "to|until|-|and"))
		return expected(reader, between ? "\"and\"" : "\"to\"");
	if (take(reader, "under"))
		return read_amounts(reader, -1, &clause->high);
	take(reader, "upto");
	err = read_amounts(reader, 0, &clause->high);
	if (err == 0)
		(void)(take(reader, "between") || take(reader, "until"));
	return err;
}

/* Reads an end or a range that begins with the amount: the word behind the amount tells which it is. */
static int read_amount_first(struct reader *reader)
{
	struct clause *clause = clause_now(reader);
	struct bounds amounts = { 0 };
	int start = reader->at, err = read_amounts(reader, 0, &amounts);
	int64_t add = 0;
	bool low = next_is(reader, "atleast|over");

	if (err < 0)
		return err;
	if (next_is(reader, "to|until|-|and amount|under|upto") || next_is(reader, "to|-|and num")) {
		reader->at = start;
		return read_range(reader);
	}
	if (take(reader, "under"))
		add = -1;
	else if (take(reader, "over"))
		add = 1;
	else if (!take(reader, "atleast") && !take(reader, "upto"))
		return expected(reader, "\"to\" and a second amount, or \"under\" or \"over\" with it");
	struct bounds *bounds = low ? &clause->low : &clause->high;
	if (bounds->count)
		return expected(reader, "each amount once");
	*bounds = amounts;
	for (int i = 0; i < bounds->count; i++)
		bounds->list[i].minor += add;
	return 0;
}

static int read_from(struct reader *reader)
{
	struct clause *clause = clause_now(reader);
	int start = reader->at;

	take(reader, "from");
	int err = read_amounts(reader, 0, &clause->low);
	bool range = next_is(reader, "to|until|-|and amount|under|upto");
	if (err < 0 || range) { /* "from 20 to 80 EUR": the first number has no currency of its own */
		reader->at = start;
		clause->low = (struct bounds){ 0 };
		return read_range(reader);
	}
	take(reader, "atleast");
	return 0;
}

static bool at_bound(struct reader *reader)
{
	return next_is(reader, "under|over|upto|to|until|atleast|from|atmost amount|num") ||
		next_is(reader, "between") || at_amount(reader);
}

/* "under" without an amount: read_bounds() has the better error for it. */
static bool at_half_a_bound(struct reader *reader)
{
	return next_is(reader, "under|over|atleast");
}

static int read_one_bound(struct reader *reader)
{
	if (next_is(reader, "between") || next_is(reader, "num"))
		return read_range(reader);
	if (next_is(reader, "from amount|num") && !next_is(reader, "atleast amount|num"))
		return read_from(reader);
	return next_is(reader, "amount") ? read_amount_first(reader) : read_prefixed(reader);
}

static int read_bounds(struct reader *reader)
{
	struct clause *clause = clause_now(reader);
	bool open = take(reader, "(");

	clause->bounds_place = item_now(reader)->place;
	if (clause->low.count || clause->high.count)
		return expected(reader, "the amounts of these carts once");
	if (open && take(reader, "rest")) {
		clause->is_middle = true;
		return take(reader, ")") ? 0 : expected(reader, "\")\"");
	}
	if (!at_bound(reader)) {
		bool word = take(reader, "under|over|upto|atleast|between|from|to");
		return expected(reader,
			word ? "an amount, as $40 or 40 EUR" : "\"under\", \"over\" or \"between\" and an amount");
	}
	int err = read_one_bound(reader);
	if (err == 0 && (clause->low.count == 0) != (clause->high.count == 0)) {
		int start = reader->at;
		take(reader, "and|but|,");
		if (at_bound(reader))
			err = read_one_bound(reader);
		else
			reader->at = start;
	}
	if (err < 0)
		return err;
	take(reader, "or|and cart");
	if (open && !take(reader, ")"))
		return expected(reader, "\")\" or \"or\" and an amount in another currency");
	return 0;
}

static int read_size_word(struct reader *reader)
{
	struct clause *clause = clause_now(reader);
	enum cart_size size = next_is(reader, "small") ? SIZE_SMALL
		: next_is(reader, "medium")            ? SIZE_MEDIUM
						       : SIZE_BIG;

	if (clause->who == WHO_NAMED || clause->who == WHO_REST)
		return expected(reader, "one size in a sentence, or \";\" between two");
	clause->who = WHO_NAMED;
	clause->size = size;
	clause->place = item_now(reader)->place;
	take(reader, "small|medium|big");
	take(reader, "sized");
	while (next_is(reader, "and|or|, small|medium|big")) {
		take(reader, "and|or|,");
		clause->also |= 1 << (next_is(reader, "small")              ? SIZE_SMALL
						: next_is(reader, "medium") ? SIZE_MEDIUM
									    : SIZE_BIG);
		take(reader, "small|medium|big");
	}
	return 0;
}

static bool at_who(struct reader *reader)
{
	return next_is(reader, "(|small|medium|big|cart|rest|all|every|between") || at_bound(reader) ||
		at_half_a_bound(reader);
}

/*
 * Does a wait count from the order, as in "4 hours after the order" or "注文の4時間後"? In "orders over $40"
 * the word means carts.
 */
static bool at_after_order(struct reader *reader)
{
	bool is_alone = clause_now(reader)->who == WHO_NONE;

	if (reader->items->waits_behind)
		return is_alone && (next_is(reader, "order to? span") || next_is(reader, "order after"));
	return (next_is(reader, "after order") || next_is(reader, "after first cart")) &&
		!next_is(reader, "after order left") && !item_is(item_now(reader), "at");
}

/* Reads one piece of the description of carts: "all", "small", "carts", "(under $40)". */
static int read_who(struct reader *reader)
{
	struct clause *clause = clause_now(reader);
	bool first = clause->who == WHO_NONE;

	if (first)
		clause->place = item_now(reader)->place;
	if (next_is(reader, "small|medium|big"))
		return read_size_word(reader);
	if (next_is(reader, "(") || at_bound(reader) || at_half_a_bound(reader)) {
		clause->who = clause->who == WHO_NAMED ? WHO_NAMED : WHO_AMOUNTS;
		return read_bounds(reader);
	}
	if (next_is(reader, "rest") && (first || clause->who == WHO_ALL || clause->who == WHO_NAMED)) {
		take(reader, "rest");
		clause->is_middle = clause->who == WHO_NAMED;
		clause->who = clause->who == WHO_NAMED ? WHO_NAMED : WHO_REST;
		return 0;
	}
	if (take(reader, "cart")) {
		clause->bounds_place = item_now(reader)->place;
		return 0;
	}
	bool is_time = next_is(reader, "all|every num|span"); /* "every 4 hours" */
	if (!take(reader, "all|every") || is_time)
		return expected(reader, "whose carts they are, as \"small carts\" or \"all carts\"");
	clause->who = first ? WHO_ALL : clause->who;
	return 0;
}

/* --- the waits of these carts --- */

static int read_order(struct reader *reader, struct plan *plan)
{
	int order = next_is(reader, "first") ? 1 : 2;
	bool behind = plan->span_count > 0 && plan->order[plan->span_count - 1] == 0 && !plan->separated &&
		(plan->span_count == 2 || !next_is(reader, "again"));

	if (next_is(reader, "first|second shopper|cart"))
		return expected(reader, "reminders that are the first or the second, not shoppers or carts");
	take(reader, "first|second|again");
	take(reader, "and? again");
	if (plan->nots + plan->nothings > 0 && order == 2 && plan->span_count == 1) {
		plan->is_single = true; /* "no second one" */
		plan->then_pending = false;
		plan->nots = plan->nothings = 0;
		return 0;
	}
	if (behind) {
		plan->order[plan->span_count - 1] = order;
		return 0;
	}
	if (plan->order_pending && plan->order_pending != order)
		return expected(reader, "a time, as 4 hours");
	plan->order_pending = order;
	return 0;
}

#define BOTH_COUNT                                                                                                     \
	"\".\": both waits count from when the cart was left; say so, or \"24 hours later\" if you mean after the "    \
	"first"

/*
 * Takes words by which the second wait counts from the first mail: "another 24 hours", "then wait 20 hours",
 * "24 hours after that", "24 hours later". In a language where "after" stands behind every wait, "24 hours
 * after" does not mean this. Returns whether it took such words.
 */
static bool take_relative(struct reader *reader, struct plan *plan)
{
	bool behind = reader->items->waits_behind, is = false;

	if (plan->span_count == 1 && !plan->is_relative) {
		is = (next_is(reader, "after? more|rest span|num") && take(reader, "after? more|rest")) ||
			(next_is(reader, "wait span|num") && take(reader, "wait")) ||
			(next_is(reader, "thereafter wait|more more? span|num") &&
				take(reader, "thereafter wait|more more?"));
		plan->separated |= is;
	} else if (plan->span_count == 2) {
		is = take(reader, "later|more|thereafter") || take(reader, "after first mail?") ||
			(next_is(reader, "then end|stop") && take(reader, "then")) ||
			(!behind && next_is(reader, "after end|stop") && take(reader, "after"));
	}
	plan->is_relative |= is;
	return is;
}

/* Do words follow that may or may not make the second wait relative? */
static bool is_unclear(struct reader *reader, const struct plan *plan)
{
	bool behind = reader->items->waits_behind;

	if (plan->span_count == 1)
		return next_is(reader, "after again|second span|num") || next_is(reader, "thereafter after") ||
			next_is(reader, "thereafter span|num") ||
			(plan->then_pending && next_is(reader, "and|then span|num"));
	return plan->span_count == 2 &&
		(next_is(reader, "wait") || (!behind && next_is(reader, "after") && !next_is(reader, "after left")) ||
			(plan->is_after_behind && next_is(reader, "later|thereafter|then|after") &&
				!next_is(reader, "after left")));
}

/* "Then again 24 hours" may count from the first mail or from the cart; only words behind it can tell. */
static void note_again(struct reader *reader, struct plan *plan)
{
	if (plan->span_count != 1 || reader->items->waits_behind || !next_is(reader, "again span|num"))
		return;
	plan->is_again = true;
	plan->again_place = item_now(reader)->place;
}

/* Is the time a duration, as in "remind for 4 hours"? "Wait for 4 hours" is a wait. */
static bool is_lasting(struct reader *reader)
{
	int at = (int)(item_now(reader) - reader->items->list);

	return at > 0 && item_is(&reader->items->list[at - 1], "lasting") &&
		!(at > 1 && item_is(&reader->items->list[at - 2], "wait"));
}

static int read_wait(struct reader *reader, struct plan *plan)
{
	struct place place = item_now(reader)->place;
	int64_t us;

	if (is_lasting(reader))
		return expected(reader, "a time after which to remind, as \"after 4 hours\", and not for how long");
	if (plan->span_count == 2)
		return expected(reader, "\".\": two mails are the whole budget");
	if (plan->span_count == 1 && !plan->separated && !plan->order_pending)
		return expected(reader, "\", then\" and the second wait");
	if (item_is(item_now(reader), "num") && plan->unit_us == 0 && next_is(reader, "num and|, after? span"))
		plan->unit_us =
			item_ahead(reader, next_is(reader, "num and|, after") ? 3 : 2)->unit_us; /* "4 and 24 hours" */
	int err = read_span(reader, &plan->unit_us, &us);
	if (err < 0)
		return err;
	bool behind = reader->items->waits_behind;
	if (behind && (next_is(reader, "lasting") || (next_is(reader, "only") && !next_is(reader, "only wait"))))
		return expected(reader, "\"after\": a wait says after how long, not for how long");
	if (behind && next_is(reader, "once|twice")) /* 1日1回 */
		return expected(reader, ONE_OR_TWO);
	if (next_is(reader, "before") && (behind || !next_is(reader, "before first|second|again|remind|mail")))
		return expected(reader, "\"after\": a wait says after how long, not before");
	take(reader, "before");
	plan->span_us[plan->span_count] = us;
	plan->span_places[plan->span_count] = place;
	plan->order[plan->span_count++] = plan->order_pending;
	plan->order_pending = 0;
	plan->separated = plan->then_pending = false;
	return 0;
}

static int read_no(struct reader *reader, struct plan *plan)
{
	if (next_is(reader, "never|not") && plan->nothings)
		return expected(reader, "one \"no\" in a sentence"); /* "no mail not" is not "not a mail" */
	if (take(reader, "never|not"))
		plan->nots++;
	else
		take(reader, "no|nothing"), plan->nothings++;
	if (plan->nots > 1 || plan->nothings > 1)
		return expected(reader, "one \"no\" in a sentence");
	return 0;
}

/* Takes "two reminders", "one mail per cart"; the one mail in "4時間後に1通" belongs to that wait. */
static bool take_mails(struct reader *reader, struct plan *plan)
{
	bool is_headed = plan->span_count == 0 && next_is(reader, "num :"); /* "they get two: after ..." */
	if (!is_headed && !next_is(reader, "num|one counter|mail"))
		return false;
	int64_t count = item_now(reader)->value;
	if (item_is(item_now(reader), "num") && (count > 2000 || count < 1000 || count % 1000))
		return false;
	bool is_number = item_is(item_now(reader), "num");
	if (is_number && count == 1000 && plan->span_count > 0 && reader->items->waits_behind)
		plan->has_mail[plan->span_count - 1] = true;
	else if (is_number)
		plan->mails = (int)(count / 1000);
	take(reader, "num|one counter? mail?");
	plan->is_single |= take(reader, "per cart") && plan->mails != 2; /* also "a mail per cart" */
	return true;
}

/* Does the clause say one mail? Also if only one of two waits has a mail of its own: "4時間後と24時間後に1通". */
static bool is_one_mail(const struct plan *plan)
{
	bool second = plan->has_mail[1] || plan->order[1] == 2;

	return plan->is_single || plan->mails == 1 || (plan->has_mail[0] ? !second : plan->has_mail[1]);
}

/* Takes words that add no meaning to a clause with waits. */
static bool take_plain(struct reader *reader)
{
	return take(reader, "to? every|all|one? shopper") || take(reader, "one? remind|wait|mail|left") ||
		(!item_is(item_now(reader), "and") && take(reader, "is")) ||
		(next_is(reader, "one first|second|only|again|counter|after|span") && take(reader, "one"));
}

/* Is it a single shopper, as in "Remind one customer" or "un seul client"? "A customer" means every one. */
static bool at_some_shopper(struct reader *reader)
{
	return next_is(reader, "numeral|only shopper") || next_is(reader, "only one shopper") ||
		next_is(reader, "one only shopper") || next_is(reader, "one shopper only");
}

/* Does an exception begin, as in "All carts but ..."? A "but" before the first wait or "no" is one. */
static bool at_exception(struct reader *reader, const struct plan *plan)
{
	return item_is(item_now(reader), "but") && plan->span_count + plan->nots + plan->nothings == 0;
}

static int read_piece(struct reader *reader, struct plan *plan)
{
	if (at_after_order(reader))
		return expected(reader, AFTER_ORDER);
	if (plan->span_count == 2 && plan->is_after_behind && is_unclear(reader, plan))
		return expected(reader, BOTH_COUNT);
	if (take_relative(reader, plan))
		return 0;
	if (is_unclear(reader, plan))
		return expected(reader, BOTH_COUNT);
	note_again(reader, plan);
	if (next_is(reader, "span|num") && !next_is(reader, "num counter|mail|to|until|:") && !at_amount(reader))
		return read_wait(reader, plan);
	if (at_some_shopper(reader))
		return expected(reader, "every shopper: which ones get a reminder cannot be said");
	if (take_mails(reader, plan) || take_plain(reader))
		return 0;
	if ((plan->span_count == 0 || clause_now(reader)->who == WHO_NONE) && at_who(reader))
		return read_who(reader);
	if (next_is(reader, "never|no|not|nothing"))
		return read_no(reader, plan);
	if (next_is(reader, "first|second|again"))
		return read_order(reader, plan);
	if (take(reader, "only")) {
		plan->is_single = true;
		plan->then_pending = false;
		return 0;
	}
	if (next_is(reader, "once|twice per|every|in|inwait|a"))
		return expected(reader, ONE_OR_TWO);
	if (take(reader, "twice")) {
		plan->mails = 2;
		return 0;
	}
	if (take(reader, ":")) {
		plan->leads++;
		return 0;
	}
	if (take(reader, "ne")) {
		plan->has_ne = true;
		return 0;
	}
	if (take(reader, "once|after|inwait")) {
		plan->is_after_behind |= plan->span_count == 1 && !plan->separated && !reader->items->waits_behind &&
			!next_is(reader, "left");
		return 0;
	}
	if (at_exception(reader, plan))
		return expected(reader, "a sentence without exceptions; say each case in a sentence of its own");
	if (plan->span_count == 2 && next_is(reader, ",|-|/|and|then|;|but"))
		return expected(reader, "\".\": two mails are the whole budget");
	if (plan->span_count == 0 && plan->leads++ > 0 && next_is(reader, "-"))
		return expected(reader, "a time, as 4 hours");
	if (next_is(reader, ",|-|/|and|then|;|but")) {
		plan->separated |= plan->span_count > 0;
		take(reader, ",|-|/|;|but");
		take(reader, "and");
		plan->then_pending |= take(reader, "then") && plan->span_count > 0;
		return 0;
	}
	return NOT_TAKEN;
}

static int what_was_expected(struct reader *reader, const struct plan *plan)
{
	if (plan->span_count == 2 && next_is(reader, "third|then|again|num|span"))
		return expected(reader, "\".\": two mails are the whole budget");
	if (plan->span_count > 0 && next_is(reader, "later"))
		return expected(reader, BOTH_COUNT);
	if (next_is(reader, "badtime|time"))
		return expected(reader, "a wait, as 4 hours, and not a time of day");
	if (plan->span_count == 2)
		return expected(reader, "\".\" at the end of the sentence");
	return expected(reader,
		plan->span_count ? "\", then\" and the second wait, or \".\"" : "a time, as 4 hours, or \"never\"");
}

/* --- the end of a clause --- */

static int put_in_order(struct reader *reader, struct plan *plan)
{
	bool swapped = plan->order[0] == 2 && plan->order[1] == 1;

	if (plan->order_pending)
		return expected(reader, "a time, as 4 hours");
	if (plan->is_relative && swapped)
		return refuse(reader, plan->span_places[0], "the first reminder before the one that counts from it");
	if ((plan->order[0] == 2 && !swapped) || (plan->order[1] == 1 && !swapped))
		return refuse(reader, plan->span_places[0], "a first reminder before the second one");
	if (!swapped)
		return 0;
	int64_t us = plan->span_us[0];
	plan->span_us[0] = plan->span_us[1];
	plan->span_us[1] = us;
	return 0;
}

static int check_waits(struct reader *reader, struct plan *plan)
{
	char least[40];
	struct place second = plan->span_places[1];

	if (plan->is_relative)
		plan->span_us[1] += plan->span_us[0];
	if (plan->span_us[1] > SPAN_MAX_US)
		return refuse(reader, second, "both waits together: at most 30 days");
	print_span(plan->span_us[0] + BETWEEN_MAILS_US, least, sizeof(least));
	if (plan->span_us[1] <= plan->span_us[0])
		return refuse(reader, second,
			"a wait longer than the first (%s or more): both count from when the cart was left", least);
	if (plan->span_us[1] - plan->span_us[0] < BETWEEN_MAILS_US)
		return refuse(reader, second, "%s or more: at least 4 hours lie between the two mails", least);
	return 0;
}

/* Small carts have only an upper end, big ones only a lower one, medium ones both or none. */
static int check_named(struct reader *reader, const struct clause *clause)
{
	static const char *const expectations[] = { [SIZE_SMALL] = "\"under\" and an amount, or \"up to\"",
		[SIZE_MEDIUM] = "\"the rest\", or \"$40 to $150\"",
		[SIZE_BIG] = "\"over\" and an amount, or \"from\"" };
	bool low = clause->low.count > 0, high = clause->high.count > 0;

	if (clause->who != WHO_NAMED)
		return 0;
	if ((clause->size == SIZE_SMALL && (low || clause->is_middle)) ||
		(clause->size == SIZE_BIG && (high || clause->is_middle)) ||
		(clause->size == SIZE_MEDIUM && low != high))
		return refuse(reader, clause->bounds_place, "%s", expectations[clause->size]);
	return 0;
}

/* Adds a clause for each further size of "Small and medium carts: never." */
static int add_also(struct reader *reader, const struct clause *clause)
{
	for (int size = SIZE_SMALL; size <= SIZE_BIG; size++) {
		if (!(clause->also & 1 << size))
			continue;
		if (clause->low.count || clause->high.count || clause->is_middle)
			return refuse(
				reader, clause->bounds_place, "no amounts with two sizes: give each its own sentence");
		if (reader->sentence->clause_count == CLAUSES_MAX)
			return expected(reader, "\".\": at most %d sizes in a sentence", CLAUSES_MAX);
		struct clause *other = &reader->sentence->clauses[reader->sentence->clause_count++];
		*other = *clause;
		other->size = (enum cart_size)size;
		other->also = 0;
	}
	return 0;
}

static int end_clause(struct reader *reader, struct plan *plan)
{
	struct clause *clause = clause_now(reader);
	bool no = plan->nots + plan->nothings > 0;

	if (plan->has_ne && !no)
		return expected(reader, "a whole \"ne ... pas\"");
	if (plan->is_again && !plan->is_relative)
		return refuse(reader, plan->again_place, BOTH_COUNT);
	if (no && plan->span_count)
		return refuse(reader, plan->span_places[0], NOT_BOTH);
	if (no && (clause->who == WHO_NONE || plan->is_single || plan->mails == 2))
		return expected(reader, "which carts get no reminder, as \"small carts: never\"");
	if (!no && plan->span_count == 0)
		return what_was_expected(reader, plan);
	if (is_one_mail(plan) && plan->span_count == 2)
		return refuse(reader, plan->span_places[1], "one reminder only, or two waits: not both");
	if ((plan->mails == 2 || plan->then_pending) && plan->span_count != 2)
		return expected(reader, "\", then\" and the second wait");
	int err = check_named(reader, clause);
	if (err == 0)
		err = put_in_order(reader, plan);
	if (err == 0 && plan->span_count == 2)
		err = check_waits(reader, plan);
	if (err < 0)
		return err;
	clause->waits = (struct rules_waits){ .mails = plan->span_count,
		.first_us = plan->span_count > 0 ? plan->span_us[0] : 0,
		.second_us = plan->span_count > 1 ? plan->span_us[1] : 0 };
	clause->first_place = plan->span_places[0];
	clause->who = clause->who == WHO_NONE ? WHO_ALL : clause->who;
	reader->sentence->clause_count++;
	return add_also(reader, clause);
}

static bool at_next_clause(struct reader *reader, const struct plan *plan)
{
	bool complete = plan->span_count > 0 || plan->nots + plan->nothings > 0;
	int start = reader->at;

	if (!complete || !take(reader, ";|,"))
		return false;
	take(reader, "and|but");
	take(reader, "remind");
	bool is = next_is(reader, "small|medium|big|rest|cart") ||
		next_is(reader, "all|every rest|cart|small|medium|big") || at_bound(reader);
	reader->at = start;
	return is && !next_is(reader, "; num") && !next_is(reader, "; span");
}

static int read_clause(struct reader *reader)
{
	struct plan plan = { 0 };

	*clause_now(reader) =
		(struct clause){ .place = item_now(reader)->place, .bounds_place = item_now(reader)->place };
	if (next_is(reader, "then|again|and|or|but"))
		return expected(reader, "a sentence that begins with carts, as \"Small carts\"");
	while (!at_end(reader) && !at_next_clause(reader, &plan)) {
		int at = reader->at, err = read_piece(reader, &plan);
		if (err < 0)
			return err;
		if (err == NOT_TAKEN || reader->at == at)
			return what_was_expected(reader, &plan);
	}
	return end_clause(reader, &plan);
}

int read_sizes(struct reader *reader)
{
	for (;;) {
		if (reader->sentence->clause_count == CLAUSES_MAX)
			return expected(reader, "\".\": at most %d sizes in a sentence", CLAUSES_MAX);
		int err = read_clause(reader);
		if (err < 0 || at_end(reader))
			return err;
		take(reader, ";|,");
		take(reader, "and|but");
	}
}
