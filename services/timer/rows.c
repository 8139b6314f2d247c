/*
 * rows.c: timers ordered by due time
 *
 * Owns:      the tables timer (name -> TimerSet with its next due time), version (name -> the highest version seen) and due (one
 *            order over all shops: due time, shop, name -> nothing).
 * Promises:  an older set or cancel is ignored, also after the newer timer has fired; the next timer is found by one seek. A cron
 *            timer's next time is counted from the log's time of the message that set it, so every replay gives the same.
 * Fails by:  leaving out a cron timer whose text or zone cannot be read: whoever sets one checks it first (kit/zone.h).
 * Read next: timer.c
 */
#include "services/timer/rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/zone.h"
#include <inttypes.h>
#include <stdio.h>

static const char ALL_SHOPS[] = "all";

enum { DUE_KEY_MAX = 256, BETWEEN = 0x1f };

static const char *due_key(char to[DUE_KEY_MAX], int64_t due_us, const char *shop, const char *name)
{
	snprintf(to, DUE_KEY_MAX, "%016" PRIx64 "%s%c%s", (uint64_t)(due_us > 0 ? due_us : 0), shop, BETWEEN, name);
	return to;
}

static void forget(struct state *state, const char *shop, const char *name)
{
	char key[DUE_KEY_MAX];
	TimerSet set;

	if (!state_get(state, "timer", shop, name, &TimerSet_msg, &set))
		return;
	state_delete(state, "due", ALL_SHOPS, due_key(key, set.due_us, shop, name));
	state_delete(state, "timer", shop, name);
}

/* false: something newer is known of this timer. */
static bool is_current(struct state *state, const char *shop, const char *name, uint64_t version)
{
	if (state_number(state, "version", shop, name) > version)
		return false;
	state_put_number(state, "version", shop, name, version);
	return true;
}

static bool next_of_cron(const TimerSet *set, int64_t after_us, int64_t *ret_us)
{
	struct cron *cron = NULL;
	char why[160];
	int r = cron_parse(set->cron, &cron, why);

	if (r < 0)
		return false;
	r = cron_next(cron, set->zone, after_us, ret_us);
	cron_free(cron);
	return r == 0;
}

void timers_remember_set(struct state *state, const struct said *said, const TimerSet *set)
{
	char key[DUE_KEY_MAX];
	TimerSet row = *set;

	if (!is_current(state, said->shop, set->name, set->version))
		return;
	forget(state, said->shop, set->name);
	if (*set->cron && !next_of_cron(set, said->time_us, &row.due_us))
		return;
	state_put(state, "timer", said->shop, set->name, &TimerSet_msg, &row);
	state_put_bytes(state, "due", ALL_SHOPS, due_key(key, row.due_us, said->shop, set->name), BYTES("", 0));
}

void timers_remember_cancel(struct state *state, const struct said *said, const TimerCancel *cancel)
{
	if (is_current(state, said->shop, cancel->name, cancel->version))
		forget(state, said->shop, cancel->name);
}

void timers_remember_fired(struct state *state, const struct said *said, const TimerFired *fired)
{
	if (is_current(state, said->shop, fired->name, fired->version))
		forget(state, said->shop, fired->name);
}

bool timers_get(const struct state *state, const char *shop, const char *name, TimerSet *ret_set)
{
	return state_get(state, "timer", shop, name, &TimerSet_msg, ret_set);
}

uint64_t timers_version(const struct state *state, const char *shop, const char *name)
{
	return state_number(state, "version", shop, name);
}

static bool first_key(const char *shop, const char *key, struct bytes value, void *context)
{
	(void)shop, (void)value;
	text_copy(context, DUE_KEY_MAX, key);
	return false;
}

static bool first_due(const struct state *state, char ret_key[DUE_KEY_MAX])
{
	ret_key[0] = '\0';
	state_each(state, "due", ALL_SHOPS, NULL, first_key, ret_key);
	return ret_key[0] != '\0';
}

int64_t timers_next_due_us(const struct state *state)
{
	char key[DUE_KEY_MAX];
	uint64_t due_us;

	if (!first_due(state, key) || sscanf(key, "%16" SCNx64, &due_us) != 1)
		return INT64_MAX;
	return (int64_t)due_us;
}

bool timers_first(const struct state *state, char ret_shop[TIMER_SHOP_MAX], TimerSet *ret_set)
{
	char key[DUE_KEY_MAX];
	const char *shop, *between;

	if (!first_due(state, key))
		return false;
	shop = key + 16;
	between = strchr(shop, BETWEEN);
	if (!between)
		return false;
	text_copy_bytes(ret_shop, TIMER_SHOP_MAX, BYTES(shop, (size_t)(between - shop)));
	return state_get(state, "timer", ret_shop, between + 1, &TimerSet_msg, ret_set);
}
