/*
 * advice.c: warnings about rules that contradict nothing, but may surprise the owner
 *
 * Promises:  it only warns. A warning follows from the whole text and the shop's currency alone, and holds
 *            for every cart of that size.
 * Read next: services/carts/policy/decision.c (the effects of quiet hours and of the window)
 */
#include "bus/base/clock.h"
#include "services/kit/rules/text.h"
#include <stdio.h>

/* a mail that other mails to the shopper delay longer is not sent (services/carts/policy/decision.h) */
#define NEVER_US (3 * US_PER_DAY)
#define SOON_US US_PER_HOUR /* in a shorter time, many shoppers are still shopping */

enum { DAY_MINUTES = 1440, LEAST_SENDING_MINUTES = 60 };

static void advise_of_soon(struct whole *whole, const struct clause *clause)
{
	char wait[40];

	if (clause->waits.mails == 0 || clause->waits.first_us >= SOON_US)
		return;
	print_span(clause->waits.first_us, wait, sizeof(wait));
	whole_warn(whole, clause->first_place,
		"%s carts are reminded after %s; many shoppers are still shopping in the first hour",
		clause->who == WHO_NAMED ? words_size_name(clause->size) : "such", wait);
}

/* If the owner wrote a window, it also holds between the two mails of one cart. */
static void advise_of_window(struct whole *whole, const struct clause *clause)
{
	const struct rules_waits *waits = &clause->waits;
	int64_t late_us = waits->first_us + whole->rules->window_us - waits->second_us;
	char window[40], late[40], where[48];

	if (!whole->window_given || waits->mails < 2 || late_us <= 0)
		return;
	print_span(whole->rules->window_us, window, sizeof(window));
	print_span(late_us, late, sizeof(late));
	place_words(whole->window_place, where);
	if (late_us > NEVER_US)
		whole_warn(whole, clause->place, "the second mail never goes: one mail every %s (%s)", window, where);
	else
		whole_warn(whole, clause->place, "the second mail goes %s later: one mail every %s (%s)", late, window,
			where);
}

/*
 * The first mail goes at a time that is not quiet. If all such times, moved by the difference of the two
 * waits, are quiet, then the second mail is always due in the quiet hours.
 */
static bool second_is_always_quiet(const struct rules_quiet *hours, const struct rules_waits *waits)
{
	int quiet = (hours->to_minute - hours->from_minute + DAY_MINUTES) % DAY_MINUTES;
	int between = (int)((waits->second_us - waits->first_us) / US_PER_MINUTE % DAY_MINUTES);
	/* the first sending minute, moved by `between`, as minutes behind the beginning of the quiet hours */
	int into = (quiet + between) % DAY_MINUTES;

	return into + (DAY_MINUTES - quiet) <= quiet;
}

static void advise_of_quiet(struct whole *whole, const struct clause *clause)
{
	const struct rules *rules = whole->rules;
	char where[48];

	if (rules->quiet_count != 1 || rules->quiets[0].days != RULES_EVERY_DAY || clause->waits.mails < 2 ||
		!second_is_always_quiet(&rules->quiets[0], &clause->waits))
		return;
	whole_warn(whole, clause->place, "the second mail always falls in the quiet hours (%s) and goes at %02d:%02d",
		place_words(whole->quiet_places[0], where), rules->quiets[0].to_minute / 60 % 24,
		rules->quiets[0].to_minute % 60);
}

static void advise_of_little_time(struct whole *whole)
{
	const struct rules_quiet *hours = whole->rules->quiets;
	char left[40];
	int quiet;

	if (whole->rules->quiet_count != 1 || hours->days != RULES_EVERY_DAY)
		return;
	quiet = (hours->to_minute - hours->from_minute + DAY_MINUTES) % DAY_MINUTES;
	if (DAY_MINUTES - quiet < LEAST_SENDING_MINUTES) {
		print_span((DAY_MINUTES - quiet) * US_PER_MINUTE, left, sizeof(left));
		whole_warn(whole, whole->quiet_places[0], "quiet hours leave only %s of the day for mail", left);
	}
}

static void advise_of_rest(struct whole *whole, const struct clause *clause)
{
	bool used = false;

	for (int i = 0; i < whole->rules->size_count; i++)
		used |= whole->rules->sizes[i].is_rest;
	if (clause->who <= WHO_REST && !used)
		whole_warn(whole, clause->place,
			"there are no other carts: the sizes of the other sentences cover all amounts");
}

void advise(struct whole *whole)
{
	for (int i = 0; i < whole->clause_count; i++) {
		advise_of_soon(whole, &whole->clauses[i]);
		advise_of_window(whole, &whole->clauses[i]);
		advise_of_quiet(whole, &whole->clauses[i]);
		advise_of_rest(whole, &whole->clauses[i]);
	}
	advise_of_little_time(whole);
}

const char *rules_warn_of_currency(struct rules *rules, const char *currency)
{
	const char *become = rules->rest_name == SIZE_MEDIUM ? "all count as medium"
		: rules->rest.mails                          ? "all count as other carts"
							     : "get no mail";
	int at = rules->warning_count;

	if (!rules_choose(rules, 0, currency).unknown_currency)
		return NULL;
	if (at == RULES_WARNINGS_MAX)
		at--; /* this warning matters more than the last one */
	rules->warning_count = at + 1;
	snprintf(rules->warnings[at], sizeof(rules->warnings[at]),
		"no amount and no rate is in %s, the shop's own currency: carts in it %s", currency, become);
	return rules->warnings[at];
}
