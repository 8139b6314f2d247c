/*
 * rules_advice.c: what contradicts nothing, and will surprise the owner all the same
 *
 * Promises:  only warns; what it says follows from the whole text alone, for every cart of that size.
 * Read next: services/kit/move.c (what is done about quiet hours and the window)
 */
#include "bus/base/clock.h"
#include "services/kit/rules_text.h"

#define NEVER_US (3 * US_PER_DAY) /* a mail that others push back further than this is not sent (services/kit/move.h) */

enum { DAY_MINUTES = 1440 };

/* The window that the owner wrote counts between the two mails of one cart as well. */
static void advise_of_window(struct reader *reader, enum cart_size size)
{
	const struct rules_waits *waits = &reader->rules->waits[size];
	int64_t late_us = waits->first_us + reader->rules->window_us - waits->second_us;
	char window[40], late[40], where[48];

	if (!reader->window_given || late_us <= 0)
		return;
	print_span(reader->rules->window_us, window, sizeof(window));
	print_span(late_us, late, sizeof(late));
	place_words(reader->window_place, where);
	if (late_us > NEVER_US)
		warn_at(reader, reader->sizes[size].place, "the second mail never goes: one mail every %s (%s)", window,
			where);
	else
		warn_at(reader, reader->sizes[size].place, "the second mail goes %s later: one mail every %s (%s)",
			late, window, where);
}

/*
 * The first mail goes in a sending hour. If those, moved by what lies between the two waits, are all quiet, the second one is never
 * due in one.
 */
static bool second_is_always_quiet(const struct rules *rules, const struct rules_waits *waits)
{
	int quiet = (rules->quiet_to_minute - rules->quiet_from_minute + DAY_MINUTES) % DAY_MINUTES;
	int between = (int)((waits->second_us - waits->first_us) / US_PER_MINUTE % DAY_MINUTES);
	int into = (quiet + between) % DAY_MINUTES; /* the first sending minute's, counted from where quiet begins */

	return into + (DAY_MINUTES - quiet) <= quiet;
}

static void advise_of_quiet(struct reader *reader, enum cart_size size)
{
	const struct rules *rules = reader->rules;
	char where[48];

	if (!rules->has_quiet || !second_is_always_quiet(rules, &rules->waits[size]))
		return;
	warn_at(reader, reader->sizes[size].place,
		"the second mail always falls in the quiet hours (%s) and goes at %02d:%02d",
		place_words(reader->quiet_place, where), rules->quiet_to_minute / 60, rules->quiet_to_minute % 60);
}

void advise(struct reader *reader)
{
	for (int size = SIZE_SMALL; size <= SIZE_BIG; size++) {
		advise_of_window(reader, (enum cart_size)size);
		advise_of_quiet(reader, (enum cart_size)size);
	}
}
