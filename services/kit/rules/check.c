/*
 * check.c: the checks that need the whole text: whether the sizes agree, and whether it says anything twice
 *
 * Promises:  the sizes have no gap and no overlap in any currency; carts that no sentence names get no mail.
 * Read next: advice.c
 */
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_LOW INT64_MIN
#define OPEN_HIGH INT64_MAX

enum { CLAUSES_AT_MOST = (RULES_SIZES_MAX - 1) / 2 };

void whole_warn(struct whole *whole, struct place place, const char *format, ...)
{
	struct rules *rules = whole->rules;
	va_list args;

	if (rules->warning_count == RULES_WARNINGS_MAX)
		return;
	char *warning = rules->warnings[rules->warning_count++];
	int len = snprintf(warning, sizeof(*rules->warnings), "line %d, column %d: ", place.line, place.column);
	va_start(args, format);
	vsnprintf(warning + len, sizeof(*rules->warnings) - (size_t)len, format, args);
	va_end(args);
}

/* --- adding a sentence --- */

static int add_clause(struct whole *whole, const struct clause *clause)
{
	char where[48];

	for (int i = 0; i < whole->clause_count; i++) {
		const struct clause *other = &whole->clauses[i];
		bool both_rest = clause->who <= WHO_REST && other->who <= WHO_REST;
		bool same_name = clause->who == WHO_NAMED && other->who == WHO_NAMED && clause->size == other->size;
		if (both_rest || same_name)
			return rules_refuse(whole->error, clause->place, "each size once; %s carts are at %s already",
				same_name ? words_size_name(clause->size) : "all (other)",
				place_words(other->place, where));
	}
	if (whole->clause_count == CLAUSES_AT_MOST)
		return rules_refuse(whole->error, clause->place, "at most %d sizes", CLAUSES_AT_MOST);
	whole->clauses[whole->clause_count++] = *clause;
	return 0;
}

static bool is_of(const struct rules_rate *rate, const char *currency)
{
	return strcmp(rate->from, currency) == 0 || strcmp(rate->to, currency) == 0;
}

static int add_rate(struct whole *whole, const struct rules_rate *rate, struct place place)
{
	struct rules *rules = whole->rules;

	for (int i = 0; i < rules->rate_count; i++)
		if (is_of(&rules->rates[i], rate->from) && is_of(&rules->rates[i], rate->to))
			return rules_refuse(whole->error, place, "one rate between %s and %s; line %d gives it already",
				rate->from, rate->to, whole->rate_places[i].line);
	if (rules->rate_count == RULES_CURRENCIES_MAX)
		return rules_refuse(whole->error, place, "at most %d rates", RULES_CURRENCIES_MAX);
	whole->rate_places[rules->rate_count] = place;
	rules->rates[rules->rate_count++] = *rate;
	return 0;
}

static int add_cap(struct whole *whole, const struct sentence *sentence)
{
	struct rules *rules = whole->rules;
	const struct rules_cap *cap = &sentence->cap;
	struct place before = whole->window_place;
	bool again = cap->mails == 1 && whole->window_given;
	char where[48];

	for (int i = 0; i < rules->cap_count; i++)
		if (cap->mails == rules->caps[i].mails)
			again = true, before = whole->cap_places[i];
	if (again)
		return rules_refuse(whole->error, sentence->place,
			"the time between mails to a shopper only once; it is at %s already",
			place_words(before, where));
	if (cap->mails > 1 && rules->cap_count == RULES_CAPS_MAX)
		return rules_refuse(whole->error, sentence->place, "at most %d such sentences", RULES_CAPS_MAX + 1);
	if (cap->mails == 1) {
		rules->window_us = cap->period_us;
		whole->window_place = sentence->place;
		whole->window_given = true;
		return 0;
	}
	whole->cap_places[rules->cap_count] = sentence->place;
	rules->caps[rules->cap_count++] = *cap;
	return 0;
}

static int add_quiet(struct whole *whole, const struct rules_quiet *quiet, struct place place)
{
	struct rules *rules = whole->rules;

	if (rules->quiet_count == RULES_QUIET_MAX)
		return rules_refuse(whole->error, place, "at most %d quiet times", RULES_QUIET_MAX);
	whole->quiet_places[rules->quiet_count] = place;
	rules->quiets[rules->quiet_count++] = *quiet;
	if (!rules_ever_send(rules))
		return rules_refuse(
			whole->error, place, "some time of the week that is not quiet: no mail would ever go");
	return 0;
}

int whole_add(struct whole *whole, const struct sentence *sentence)
{
	int err = 0;

	for (int i = 0; err == 0 && i < sentence->clause_count; i++)
		err = add_clause(whole, &sentence->clauses[i]);
	for (int i = 0; err == 0 && i < sentence->rate_count; i++)
		err = add_rate(whole, &sentence->rates[i], sentence->rate_places[i]);
	for (int i = 0; err == 0 && i < sentence->quiet_count; i++)
		err = add_quiet(whole, &sentence->quiets[i], sentence->place);
	if (err == 0 && sentence->kind == KIND_OFTEN)
		err = add_cap(whole, sentence);
	return err;
}

/* --- the sizes --- */

static bool is_sized(const struct clause *clause)
{
	return clause->who == WHO_NAMED || clause->who == WHO_AMOUNTS;
}

static struct clause *named(struct whole *whole, enum cart_size size)
{
	for (int i = 0; i < whole->clause_count; i++)
		if (whole->clauses[i].who == WHO_NAMED && whole->clauses[i].size == size)
			return &whole->clauses[i];
	return NULL;
}

static const char *name_of(const struct clause *clause)
{
	return clause->who == WHO_NAMED ? words_size_name(clause->size) : "such";
}

/*
 * If `to` has no amounts: takes those of its neighbour, moved by `add`, so that one size begins where the
 * other ends.
 */
static void borrow(struct bounds *to, const struct bounds *from, int64_t add)
{
	if (to->count || !from)
		return;
	*to = *from;
	to->soft = true;
	for (int i = 0; i < to->count; i++)
		to->list[i].minor += add;
}

/* Gives the amounts of its neighbours to a size that states none. */
static int complete_names(struct whole *whole)
{
	struct clause *small = named(whole, SIZE_SMALL), *medium = named(whole, SIZE_MEDIUM),
		      *big = named(whole, SIZE_BIG);

	if (medium && !medium->low.count && !medium->high.count) {
		if (small)
			borrow(&medium->low, &small->high, 1);
		if (big)
			borrow(&medium->high, &big->low, -1);
		medium->is_middle = true;
	} else if (medium) {
		if (small)
			borrow(&small->high, &medium->low, -1);
		if (big)
			borrow(&big->low, &medium->high, 1);
	}
	if (small && !small->high.count)
		return rules_refuse(whole->error, small->bounds_place, "where small carts end, as \"(under $40)\"");
	if (big && !big->low.count)
		return rules_refuse(whole->error, big->bounds_place, "where big carts begin, as \"(over $150)\"");
	if (medium && !medium->low.count && !medium->high.count)
		return rules_refuse(
			whole->error, medium->bounds_place, "where medium carts begin and end, as \"($40 to $150)\"");
	return 0;
}

static const struct bound *find_bound(const struct bounds *bounds, const char *currency)
{
	for (int i = 0; i < bounds->count; i++)
		if (strcmp(bounds->list[i].currency, currency) == 0)
			return &bounds->list[i];
	return NULL;
}

static bool is_medium(const struct clause *clause)
{
	return clause->who == WHO_NAMED && clause->size == SIZE_MEDIUM;
}

/* Refuses a currency that `has` (an end of `clause`) names and `lacks` (an end of `other`) does not. */
static int check_same_currencies(struct whole *whole, const struct clause *clause, const struct bounds *has,
	const struct clause *other, const struct bounds *lacks)
{
	for (int i = 0; lacks->count && !is_medium(other) && !clause->is_middle && i < has->count; i++)
		if (!find_bound(lacks, has->list[i].currency) && is_medium(clause))
			return rules_refuse(whole->error, has->list[i].place, "no amount in %s: %s carts have none",
				has->list[i].currency, name_of(other));
		else if (!find_bound(lacks, has->list[i].currency))
			return rules_refuse(whole->error, has->list[i].place, "an amount in %s for %s carts too",
				has->list[i].currency, name_of(other));
	return 0;
}

/* Each end has an amount in each currency; otherwise a cart in that currency could have two sizes or none. */
static int check_currencies(struct whole *whole)
{
	for (int i = 0; i < whole->clause_count; i++)
		for (int j = 0; j < whole->clause_count; j++) {
			const struct clause *a = &whole->clauses[i], *b = &whole->clauses[j];
			int err = check_same_currencies(whole, a, &a->low, b, &b->low);
			err = err ? err : check_same_currencies(whole, a, &a->low, b, &b->high);
			err = err ? err : check_same_currencies(whole, a, &a->high, b, &b->low);
			err = err ? err : check_same_currencies(whole, a, &a->high, b, &b->high);
			if (err < 0)
				return err;
		}
	return 0;
}

static int64_t low_of(const struct clause *clause, const char *currency)
{
	const struct bound *bound = find_bound(&clause->low, currency);

	return bound ? bound->minor : OPEN_LOW;
}

static int64_t high_of(const struct clause *clause, const char *currency)
{
	const struct bound *bound = find_bound(&clause->high, currency);

	return bound ? bound->minor : OPEN_HIGH;
}

static bool is_later(struct place a, struct place b)
{
	return a.line > b.line || (a.line == b.line && a.column > b.column);
}

/* The error if `below` does not lie under `above`. */
static int refuse_overlap(
	struct whole *whole, const struct clause *below, const struct clause *above, const char *currency)
{
	const struct bound *end = find_bound(&below->high, currency), *begin = find_bound(&above->low, currency);
	char shown[40], where[48];

	if (!end || !begin)
		return rules_refuse(whole->error, is_later(above->place, below->place) ? above->place : below->place,
			"sizes that do not overlap");
	if (is_later(begin->place, end->place)) {
		money_plain(end->minor + 1, currency, shown, sizeof(shown));
		return rules_refuse(whole->error, begin->place, "at least %s %s, where %s carts end (%s)", shown,
			currency, name_of(below), place_words(end->place, where));
	}
	money_plain(begin->minor - 1, currency, shown, sizeof(shown));
	return rules_refuse(whole->error, end->place, "at most %s %s, where %s carts begin (%s)", shown, currency,
		name_of(above), place_words(begin->place, where));
}

/*
 * An amount that ends one range and begins the next belongs to the next, unless the lower range says its end
 * exactly.
 */
static void part(struct clause *below, struct clause *above)
{
	for (int i = 0; i < below->high.count; i++) {
		struct bound *end = &below->high.list[i];
		for (int j = 0; j < above->low.count; j++) {
			struct bound *begin = &above->low.list[j];
			if (strcmp(begin->currency, end->currency) != 0 || begin->minor != end->minor)
				continue;
			if (below->high.soft)
				end->minor--;
			else if (above->low.soft)
				begin->minor++;
		}
	}
}

/* The error if medium carts do not begin where small carts end, or do not end where big carts begin. */
static int refuse_hole(
	struct whole *whole, const struct clause *below, const struct clause *above, const char *currency)
{
	const struct bound *end = find_bound(&below->high, currency), *begin = find_bound(&above->low, currency);
	bool above_is_medium = is_medium(above);
	char shown[40], where[48];

	money_plain(above_is_medium ? end->minor + 1 : begin->minor - 1, currency, shown, sizeof(shown));
	return rules_refuse(whole->error, above_is_medium ? begin->place : end->place, "%s %s, where %s carts %s (%s)",
		shown, currency, name_of(above_is_medium ? below : above), above_is_medium ? "end" : "begin",
		place_words(above_is_medium ? end->place : begin->place, where));
}

static int check_neighbours(struct whole *whole, struct clause *below, struct clause *above, const char *currency)
{
	part(below, above);
	if (high_of(below, currency) >= low_of(above, currency))
		return refuse_overlap(whole, below, above, currency);
	bool one_is_medium = is_medium(below) || is_medium(above);
	if (below->who == WHO_NAMED && above->who == WHO_NAMED && one_is_medium &&
		high_of(below, currency) + 1 < low_of(above, currency))
		return refuse_hole(whole, below, above, currency);
	return 0;
}

/* Refuses a range whose low end is above its high end, as medium carts have if small and big ones overlap. */
static int check_room(struct whole *whole, const struct clause *clause, const char *currency)
{
	const struct clause *small = named(whole, SIZE_SMALL), *big = named(whole, SIZE_BIG);
	const struct bound *low = find_bound(&clause->low, currency);

	if (low_of(clause, currency) <= high_of(clause, currency))
		return 0;
	if (clause->is_middle && small && big)
		return refuse_overlap(whole, small, big, currency);
	return rules_refuse(whole->error, low ? low->place : clause->place, "the smaller amount first");
}

static int by_low(const void *a, const void *b)
{
	const struct clause *one = a, *other = b;
	const char *currency = one->low.count ? one->low.list[0].currency
		: other->low.count            ? other->low.list[0].currency
					      : "";
	int64_t low = low_of(one, currency), other_low = low_of(other, currency);

	if (is_sized(one) != is_sized(other))
		return is_sized(one) ? -1 : 1;
	return low < other_low ? -1 : low > other_low;
}

static int check_overlaps(struct whole *whole, const struct bounds *currencies, int sized)
{
	for (int i = 0; i < currencies->count; i++) {
		const char *currency = currencies->list[i].currency;
		for (int j = 0; j < sized; j++) {
			int err = check_room(whole, &whole->clauses[j], currency);
			if (err == 0 && j + 1 < sized)
				err = check_neighbours(whole, &whole->clauses[j], &whole->clauses[j + 1], currency);
			if (err < 0)
				return err;
		}
	}
	return 0;
}

static void add_size(struct rules *rules, const struct rules_size *size)
{
	rules->sizes[rules->size_count++] = *size;
}

static bool has_gap(const struct whole *whole, const struct bounds *currencies, int below, int above, int sized)
{
	for (int i = 0; i < currencies->count; i++) {
		const char *currency = currencies->list[i].currency;
		int64_t end = below < 0 ? OPEN_LOW : high_of(&whole->clauses[below], currency);
		int64_t begin = above == sized ? OPEN_HIGH : low_of(&whole->clauses[above], currency);
		if (below < 0 ? begin != OPEN_LOW : above == sized ? end != OPEN_HIGH : end + 1 < begin)
			return true;
	}
	return false;
}

/* Where the size that was just added begins, in every currency. */
static void set_edges(struct whole *whole, const struct bounds *currencies, int below, const struct clause *clause)
{
	struct rules *rules = whole->rules;

	rules->edge_count = currencies->count;
	for (int i = 0; i < currencies->count; i++) {
		const char *currency = currencies->list[i].currency;
		TEXT_COPY(rules->edges[i].currency, currency);
		rules->edges[i].from[rules->size_count - 1] = clause ? low_of(clause, currency)
			: below < 0                                  ? OPEN_LOW
								     : high_of(&whole->clauses[below], currency) + 1;
	}
}

static void build_sizes(struct whole *whole, const struct bounds *currencies, int sized, const struct rules_waits *rest)
{
	for (int i = 0; i <= sized; i++) {
		if (has_gap(whole, currencies, i - 1, i, sized)) {
			add_size(whole->rules,
				&(struct rules_size){ .name = SIZE_BY_AMOUNT, .is_rest = true, .waits = *rest });
			set_edges(whole, currencies, i - 1, NULL);
		}
		if (i == sized)
			return;
		const struct clause *clause = &whole->clauses[i];
		enum cart_size name = clause->who == WHO_NAMED ? clause->size : SIZE_BY_AMOUNT;
		add_size(whole->rules, &(struct rules_size){ .name = name, .waits = clause->waits });
		set_edges(whole, currencies, i - 1, clause);
	}
}

/* Refuses a rate between two currencies in which no size has an amount: it would never be used. */
static int check_rates(struct whole *whole)
{
	const struct rules *rules = whole->rules;

	for (int i = 0; i < rules->rate_count; i++) {
		bool used = false;
		for (int j = 0; j < rules->edge_count; j++)
			used |= is_of(&rules->rates[i], rules->edges[j].currency);
		if (!used)
			return rules_refuse(
				whole->error, whole->rate_places[i], "a rate with a currency that carts are sized in");
	}
	return 0;
}

static int check_any_mail(struct whole *whole)
{
	for (int i = 0; i < whole->clause_count; i++)
		if (whole->clauses[i].waits.mails > 0)
			return 0;
	return rules_refuse(whole->error, whole->end,
		"a sentence that says when carts are reminded, as \"All carts: remind after 4 hours, then after 24\"%s",
		whole->clause_count ? "" : ", or one for small carts and others");
}

int whole_check(struct whole *whole)
{
	struct rules *rules = whole->rules;
	const struct bounds *currencies = NULL;
	struct rules_waits rest = { 0 };
	int sized = 0;

	int err = check_any_mail(whole);
	err = err ? err : complete_names(whole);
	err = err ? err : check_currencies(whole);
	if (err < 0)
		return err;
	qsort(whole->clauses, (size_t)whole->clause_count, sizeof(whole->clauses[0]), by_low);
	for (int i = 0; i < whole->clause_count; i++) {
		const struct clause *clause = &whole->clauses[i];
		sized += is_sized(clause);
		if (!is_sized(clause))
			rest = clause->waits;
		else if (!currencies)
			currencies = clause->low.count ? &clause->low : &clause->high;
	}
	struct bounds kept = currencies ? *currencies : (struct bounds){ 0 };
	err = check_overlaps(whole, &kept, sized);
	if (err < 0)
		return err;
	if (sized)
		build_sizes(whole, &kept, sized, &rest);
	else
		add_size(rules, &(struct rules_size){ .name = SIZE_BY_AMOUNT, .is_rest = true, .waits = rest });
	const struct clause *medium = named(whole, SIZE_MEDIUM);
	rules->rest = medium ? medium->waits : rest;
	rules->rest_name = medium ? SIZE_MEDIUM : SIZE_BY_AMOUNT;
	err = check_rates(whole);
	if (err == 0)
		advise(whole);
	return err;
}
