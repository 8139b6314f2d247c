/*
 * recovered.c: folds which carts a reminder was sent for, and which of them were bought
 *
 * Owns:      tables reminded (shop, cart -> when its first reminder went), reminded.at (one list of all shops, when/shop/cart),
 *            reminded.from (no row of that list is older: it need not be asked for each mail) and recovered (hour of the day, over all
 *            shops -> struct hour_row; "ever" -> how many).
 * Promises:  pure; a cart counts once, and only while its reminder is not older than a month. What is older is forgotten as new
 *            ones come, so the rows are those of a month.
 * Fails by:  counting too few: a reminder for a cart that was merged into another, which was bought.
 * Read next: totals.c
 */
#include "services/platform/monitor/recovered.h"
#include "bus/base/clock.h"
#include "services/kit/state/row.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REMINDED_FOR_US (30 * US_PER_DAY)
enum { HOURS = 24, AT_KEY_MAX = 220, HOUR_KEY_MAX = 8, FORGOTTEN_AT_ONCE = 2 };
static const char everywhere[] = "all", ever[] = "ever";

struct hour_row {
	int64_t hour; /* since 1970 */
	uint64_t count;
};

static void at_key(char ret[AT_KEY_MAX], int64_t at_us, const char *shop, const char *cart_id)
{
	snprintf(ret, AT_KEY_MAX, "%016" PRIx64 "/%s/%s", (uint64_t)at_us, shop, cart_id);
}

static void forget(struct state *state, const char *shop, const char *cart_id, int64_t at_us)
{
	char key[AT_KEY_MAX];

	at_key(key, at_us, shop, cart_id);
	state_delete(state, "reminded.at", everywhere, key);
	state_delete(state, "reminded", shop, cart_id);
}

static bool first_row(const char *shop, const char *key, struct bytes value, void *context)
{
	(void)shop, (void)value;
	snprintf(context, AT_KEY_MAX, "%s", key);
	return false;
}

/* false: there is none that is so old. */
static bool forget_oldest(struct state *state, int64_t before_us)
{
	char key[AT_KEY_MAX] = "";
	char *shop, *cart_id;
	uint64_t at;

	state_each(state, "reminded.at", everywhere, NULL, first_row, key);
	shop = strchr(key, '/');
	cart_id = shop ? strchr(shop + 1, '/') : NULL;
	if (!cart_id || sscanf(key, "%16" SCNx64, &at) != 1)
		return false;
	if ((int64_t)at >= before_us) {
		state_put_number(state, "reminded.from", everywhere, "", at);
		return false;
	}
	*shop++ = '\0', *cart_id++ = '\0';
	forget(state, shop, cart_id, (int64_t)at);
	return true;
}

/* `sent_us` is in the list already. */
static void forget_old(struct state *state, int64_t sent_us)
{
	int64_t from_us = (int64_t)state_number(state, "reminded.from", everywhere, "");

	if (sent_us < from_us)
		state_put_number(state, "reminded.from", everywhere, "", (uint64_t)sent_us);
	if (from_us >= sent_us - REMINDED_FOR_US)
		return;
	for (int i = 0; i < FORGOTTEN_AT_ONCE && forget_oldest(state, sent_us - REMINDED_FOR_US); i++)
		;
}

void recovered_remember_sent(struct state *state, const struct message_meta *said, const ReminderOutcome *sent)
{
	char key[AT_KEY_MAX];

	if (sent->to_owner || !sent->cart_id[0] || state_has(state, "reminded", said->shop, sent->cart_id))
		return;
	at_key(key, sent->at_us, said->shop, sent->cart_id);
	state_put_number(state, "reminded.at", everywhere, key, 1);
	state_put_number(state, "reminded", said->shop, sent->cart_id, (uint64_t)sent->at_us);
	forget_old(state, sent->at_us);
}

static void count(struct state *state, int64_t at_us)
{
	struct hour_row row;
	int64_t hour = at_us / US_PER_HOUR;
	char key[HOUR_KEY_MAX];

	state_put_number(state, "recovered", everywhere, ever, state_number(state, "recovered", everywhere, ever) + 1);
	snprintf(key, sizeof(key), "%02d", (int)(hour % HOURS));
	row_get(state, "recovered", everywhere, key, &row, sizeof(row));
	if (row.hour > hour)
		return; /* said so late that its hour's place was taken */
	if (row.hour < hour)
		row = (struct hour_row){ .hour = hour };
	row.count++;
	ROW_PUT(state, "recovered", everywhere, key, &row);
}

void recovered_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	int64_t reminded_us;

	if (strcmp(audit->action, "bought") != 0)
		return;
	reminded_us = (int64_t)state_number(state, "reminded", said->shop, audit->cart_id);
	if (reminded_us == 0)
		return;
	forget(state, said->shop, audit->cart_id, reminded_us);
	if (audit->at_us - reminded_us <= REMINDED_FOR_US)
		count(state, audit->at_us);
}

struct sum {
	int64_t now_us;
	uint32_t count;
};

static bool add_hour(const char *shop, const char *key, struct bytes value, void *context)
{
	struct sum *sum = context;
	struct hour_row row;

	(void)shop, (void)key;
	if (value.len != sizeof(row))
		return true;
	memcpy(&row, value.data, sizeof(row));
	if (row.hour > sum->now_us / US_PER_HOUR - HOURS)
		sum->count += (uint32_t)row.count;
	return true;
}

struct recovered recovered_carts(const struct state *state, int64_t now_us)
{
	struct sum sum = { .now_us = now_us };

	state_each(state, "recovered", everywhere, NULL, add_hour, &sum);
	return (struct recovered){ .ever = state_number(state, "recovered", everywhere, ever), .today = sum.count };
}
