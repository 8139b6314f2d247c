/*
 * rules_check.c: what only the whole text can tell: is anything missing, and do the amounts agree?
 */
#include "bus/base/text.h"
#include "services/kit/money.h"
#include "services/kit/rules_text.h"
#include <stdio.h>

static int check_sizes(struct reader *reader)
{
	for (int size = SIZE_SMALL; size <= SIZE_BIG; size++)
		if (!reader->sizes[size].given)
			return expected(reader, "a sentence about %s carts", words_size_name((enum cart_size)size));
	if (reader->small.count == 0)
		return refuse(
			reader, reader->sizes[SIZE_SMALL].bounds_place, "where small carts end, as \"(under $40)\"");
	if (reader->big.count == 0)
		return refuse(
			reader, reader->sizes[SIZE_BIG].bounds_place, "where big carts begin, as \"(over $150)\"");
	return 0;
}

static const struct bound *find_bound(const struct bounds *bounds, const char *currency)
{
	for (int i = 0; i < bounds->count; i++)
		if (strcmp(bounds->list[i].currency, currency) == 0)
			return &bounds->list[i];
	return NULL;
}

static bool is_later(struct place a, struct place b)
{
	return a.line > b.line || (a.line == b.line && a.column > b.column);
}

static int check_overlap(struct reader *reader, const struct bound *small, const struct bound *big)
{
	char shown[40], where[48];

	if (small->minor <= big->minor)
		return 0;
	bool big_is_later = is_later(big->place, small->place);
	money_plain(big_is_later ? small->minor : big->minor, small->currency, shown, sizeof(shown));
	if (big_is_later)
		return refuse(reader, big->place, "at least %s %s, where small carts end (%s)", shown, small->currency,
			place_words(small->place, where));
	return refuse(reader, small->place, "at most %s %s, where big carts begin (%s)", shown, small->currency,
		place_words(big->place, where));
}

/* Both ends in each currency, or a cart in it could be two sizes or none. */
static int join_bounds(struct reader *reader)
{
	struct rules *rules = reader->rules;

	for (int i = 0; i < reader->big.count; i++)
		if (!find_bound(&reader->small, reader->big.list[i].currency))
			return refuse(reader, reader->big.list[i].place, "an amount in %s for small carts too",
				reader->big.list[i].currency);
	for (int i = 0; i < reader->small.count; i++) {
		const struct bound *small = &reader->small.list[i], *big = find_bound(&reader->big, small->currency);
		if (!big)
			return refuse(reader, small->place, "an amount in %s for big carts too", small->currency);
		int err = check_overlap(reader, small, big);
		if (err < 0)
			return err;
		struct rules_threshold *threshold = &rules->thresholds[rules->threshold_count++];
		*threshold = (struct rules_threshold){ .small_below = small->minor, .big_above = big->minor };
		TEXT_COPY(threshold->currency, small->currency);
	}
	return 0;
}

static int check_middle(
	struct reader *reader, const struct bounds *given, const struct bounds *others, const char *where)
{
	char shown[40], at[48];

	for (int i = 0; i < given->count; i++) {
		const struct bound *bound = &given->list[i], *other = find_bound(others, bound->currency);
		if (other && other->minor == bound->minor)
			continue;
		if (!other)
			return refuse(reader, bound->place, "no amount in %s: small and big carts have none",
				bound->currency);
		money_plain(other->minor, bound->currency, shown, sizeof(shown));
		return refuse(reader, bound->place, "%s %s, %s (%s)", shown, bound->currency, where,
			place_words(other->place, at));
	}
	return 0;
}

/* A rate between currencies that no size is given in would never be used: the owner meant something else. */
static int check_rates(struct reader *reader)
{
	const struct rules *rules = reader->rules;

	for (int i = 0; i < rules->rate_count; i++)
		if (!find_bound(&reader->small, rules->rates[i].from) &&
			!find_bound(&reader->small, rules->rates[i].to))
			return refuse(reader, reader->rate_places[i], "a rate with a currency that carts are sized in");
	return 0;
}

int check_whole(struct reader *reader)
{
	int err = check_sizes(reader);

	if (err == 0)
		err = join_bounds(reader);
	if (err == 0)
		err = check_middle(reader, &reader->medium_low, &reader->small, "where small carts end");
	if (err == 0)
		err = check_middle(reader, &reader->medium_high, &reader->big, "where big carts begin");
	if (err == 0)
		err = check_rates(reader);
	if (err == 0)
		advise(reader);
	return err;
}
