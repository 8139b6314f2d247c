/*
 * pace.c: counts claims by the minute and by the day
 *
 * Owns:      the table pace (shop -> struct pace_row); the row of SHOP_OF_ALL counts the claims of all shops.
 * Promises:  pure. A day is a day of the given zone, which has 23 to 25 hours where clocks are changed. So
 *            the file counts quarters of an hour: the offset of every zone is a multiple of them. Of claims
 *            that come at once, the first ones in the log are within the limit.
 * Fails by:  counting too many, never too few: a released claim is subtracted only if it is one of the last
 *            RECENT_MOST claims.
 * Read next: pace.h, services/carts/sender/may_send.c
 */
#include "services/kit/mail/pace.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/time/zone.h"
#include <stdio.h>

#define QUARTER_US (15 * US_PER_MINUTE)
#define RETRY_US US_PER_S

enum { MINUTES = 3, QUARTERS = 104, RECENT_MOST = 64 }; /* the longest day, of 25 hours, has 100 quarters */

struct recent {
	uint64_t name; /* 0: released since */
	int64_t at_us;
};

struct pace_row {
	int64_t minute, quarter;     /* the newest */
	uint32_t minutes[MINUTES];   /* by minute % MINUTES */
	uint32_t quarters[QUARTERS]; /* by quarter % QUARTERS */
	uint32_t recent_at;          /* the place of the next one */
	struct recent recent[RECENT_MOST];
};
STATE_STRUCTS(pace, "pace", struct pace_row);

static int64_t floor_div(int64_t us, int64_t by)
{
	return us > 0 ? us / by : 0; /* there was no mail before 1970 */
}

static uint64_t name_of(const char *shop, const char *cart_id, uint32_t step, uint32_t attempt)
{
	char name[200];

	snprintf(name, sizeof(name), "%s %s/%u/%u", shop, cart_id, (unsigned)step, (unsigned)attempt);
	uint64_t hash = text_hash(bytes_of(name));
	return hash ? hash : 1;
}

/*
 * Moves the ring forward to this minute or quarter, emptying the places between, and returns its place. NULL:
 * it is too long ago.
 */
static uint32_t *place(uint32_t *ring, int64_t size, int64_t *newest, int64_t at)
{
	if (at <= *newest - size)
		return NULL;
	for (int64_t i = at - *newest > size ? at - size + 1 : *newest + 1; i <= at; i++)
		ring[i % size] = 0;
	if (at > *newest)
		*newest = at;
	return &ring[at % size];
}

static uint32_t at_place(const uint32_t *ring, int64_t size, int64_t newest, int64_t at)
{
	return at > newest || at <= newest - size ? 0 : ring[at % size];
}

static void count(struct pace_row *row, int64_t at_us, bool taken_back)
{
	uint32_t *minute = place(row->minutes, MINUTES, &row->minute, floor_div(at_us, US_PER_MINUTE));
	uint32_t *quarter = place(row->quarters, QUARTERS, &row->quarter, floor_div(at_us, QUARTER_US));

	if (!taken_back && minute)
		++*minute;
	if (!taken_back && quarter)
		++*quarter;
	if (taken_back && minute && *minute)
		--*minute;
	if (taken_back && quarter && *quarter)
		--*quarter;
}

static void add_claim(struct state *state, const char *shop, uint64_t name, int64_t at_us)
{
	struct pace_row row;

	STATE_GET(state, pace, shop, "", &row);
	count(&row, at_us, false);
	row.recent[row.recent_at] = (struct recent){ .name = name, .at_us = at_us };
	row.recent_at = (row.recent_at + 1) % RECENT_MOST;
	STATE_PUT(state, pace, shop, "", &row);
}

void pace_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim)
{
	uint64_t name = name_of(said->shop, claim->cart_id, claim->step, claim->attempt);

	add_claim(state, said->shop, name, claim->claimed_us);
	add_claim(state, SHOP_OF_ALL, name, claim->claimed_us);
}

static void take_back(struct state *state, const char *shop, uint64_t name)
{
	struct pace_row row;

	if (!STATE_GET(state, pace, shop, "", &row))
		return;
	for (int i = 0; i < RECENT_MOST; i++) {
		if (row.recent[i].name != name)
			continue;
		row.recent[i].name = 0;
		count(&row, row.recent[i].at_us, true);
		STATE_PUT(state, pace, shop, "", &row);
		return;
	}
}

void pace_remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released)
{
	uint64_t name = name_of(said->shop, released->cart_id, released->step, released->attempt);

	take_back(state, said->shop, name);
	take_back(state, SHOP_OF_ALL, name);
}

/* ---- the questions ---- */

struct day {
	int64_t from_us, to_us;
};

static struct day day_of(const char *zone, int64_t us)
{
	struct local_time local;
	struct day day = { floor_div(us, US_PER_DAY) * US_PER_DAY,
		floor_div(us, US_PER_DAY) * US_PER_DAY + US_PER_DAY };

	if (zone_local(zone, us, &local) < 0)
		return day;
	struct local_time first = { .year = local.year, .month = local.month, .day = local.day };
	struct local_time next = { .year = local.year, .month = local.month, .day = local.day + 1 };
	if (zone_moment(zone, &first, &day.from_us) < 0 || zone_moment(zone, &next, &day.to_us) < 0)
		return day;
	return day;
}

static uint32_t counted_in(const struct pace_row *row, const struct day *day)
{
	uint32_t sum = 0;

	for (int64_t at = floor_div(day->from_us, QUARTER_US); at < floor_div(day->to_us, QUARTER_US); at++)
		sum += at_place(row->quarters, QUARTERS, row->quarter, at);
	return sum;
}

enum pace_answer pace_ask(const struct state *state, const struct pace *pace, int64_t now_us, int64_t *ret_until_us)
{
	struct pace_row row;

	if (!pace->a_minute && !pace->a_day)
		return PACE_GO;
	STATE_GET(state, pace, pace->shop, "", &row);
	struct day day = day_of(pace->zone, now_us);
	uint32_t today = pace->a_day ? counted_in(&row, &day) : 0;
	int64_t minute = floor_div(now_us, US_PER_MINUTE);
	uint32_t now = at_place(row.minutes, MINUTES, row.minute, minute);

	if (pace->a_day && today >= pace->a_day) {
		*ret_until_us = day.to_us;
		return PACE_DAY;
	}
	*ret_until_us = now_us + RETRY_US;
	if (pace->a_day && today + pace->under_way >= pace->a_day)
		return PACE_WAIT;
	if (!pace->a_minute || now + pace->under_way < pace->a_minute)
		return PACE_GO;
	if (now >= pace->a_minute)
		*ret_until_us = (minute + 1) * US_PER_MINUTE;
	return PACE_WAIT;
}

/* Is this claim one of the first `most` of its span, in the order of the log? */
static bool is_within(
	const struct pace_row *row, const struct recent *claim, const struct day *span, uint32_t counted, uint32_t most)
{
	uint32_t later = 0;

	for (uint32_t i = 1; i <= RECENT_MOST; i++) {
		const struct recent *recent = &row->recent[(row->recent_at + RECENT_MOST - i) % RECENT_MOST];
		if (recent == claim)
			return counted <= most + later;
		later += recent->name && recent->at_us >= span->from_us && recent->at_us < span->to_us;
	}
	return false;
}

static const struct recent *find_claim(const struct pace_row *row, uint64_t name)
{
	for (int i = 0; i < RECENT_MOST; i++)
		if (row->recent[i].name == name)
			return &row->recent[i];
	return NULL;
}

bool pace_holds(const struct state *state, const struct pace *pace, const struct pace_claim *claim)
{
	struct pace_row row;

	if (!pace->a_minute && !pace->a_day)
		return true;
	STATE_GET(state, pace, pace->shop, "", &row);
	const struct recent *recent =
		find_claim(&row, name_of(claim->shop, claim->cart_id, claim->step, claim->attempt));
	if (!recent)
		return false; /* too many came after it to tell; the next attempt is asked about */
	int64_t minute = floor_div(recent->at_us, US_PER_MINUTE);
	struct day in_minute = { minute * US_PER_MINUTE, (minute + 1) * US_PER_MINUTE };
	struct day day = day_of(pace->zone, recent->at_us);
	if (pace->a_minute &&
		!is_within(
			&row, recent, &in_minute, at_place(row.minutes, MINUTES, row.minute, minute), pace->a_minute))
		return false;
	return !pace->a_day || is_within(&row, recent, &day, counted_in(&row, &day), pace->a_day);
}
