/*
 * recovered.c: folds which carts a reminder was sent for, and which of them were bought
 *
 * Owns:      tables reminded (shop, cart -> when its first reminder went), reminded.at (one list of all
 *            shops, when/shop/cart), reminded.from (no row of that list is older, so the list need not be
 *            read for each mail) and recovered (hour of the day, over all shops -> struct hour_row; "ever" ->
 *            how many).
 * Promises:  pure; a cart counts once, and only while its reminder is not older than a month. Older rows are
 *            removed as new ones come, so the rows are those of a month.
 * Fails by:  counting too few: it misses a cart that was merged into another cart before that one was bought.
 * Read next: totals.c
 */
#include "services/platform/monitor/recovered.h"
#include "bus/base/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

STATE_NUMBERS(reminded, "reminded");
STATE_NUMBERS(reminded_at, "reminded.at");
STATE_NUMBERS(reminded_from, "reminded.from");
STATE_NUMBERS(recovered_ever, "recovered");

#define REMINDED_FOR_US (30 * US_PER_DAY)
enum { HOURS = 24, AT_KEY_MAX = 220, HOUR_KEY_MAX = 8, FORGOTTEN_AT_ONCE = 2 };
static const char everywhere[] = "all", ever[] = "ever";

struct hour_row {
	int64_t hour; /* since 1970 */
	uint64_t count;
};
STATE_STRUCTS(recovered_hours, "recovered", struct hour_row);

static void at_key(char ret[AT_KEY_MAX], int64_t at_us, const char *shop, const char *cart_id)
{
	snprintf(ret, AT_KEY_MAX, "%016" PRIx64 "/%s/%s", (uint64_t)at_us, shop, cart_id);
}

static void forget(struct state *state, const char *shop, const char *cart_id, int64_t at_us)
{
	char key[AT_KEY_MAX];

	at_key(key, at_us, shop, cart_id);
	STATE_DELETE(state, reminded_at, everywhere, key);
	STATE_DELETE(state, reminded, shop, cart_id);
}

static bool first_row(const char *shop, const char *key, void *context)
{
	(void)shop;
	snprintf(context, AT_KEY_MAX, "%s", key);
	return false;
}

/* Removes the oldest row. false: no row is older than before_us. */
static bool forget_oldest(struct state *state, int64_t before_us)
{
	char key[AT_KEY_MAX] = "";
	char *shop, *cart_id;
	uint64_t at;

	STATE_EACH_KEY(state, reminded_at, everywhere, NULL, first_row, key);
	shop = strchr(key, '/');
	cart_id = shop ? strchr(shop + 1, '/') : NULL;
	if (!cart_id || sscanf(key, "%16" SCNx64, &at) != 1)
		return false;
	if ((int64_t)at >= before_us) {
		STATE_PUT_NUMBER(state, reminded_from, everywhere, "", at);
		return false;
	}
	*shop++ = '\0', *cart_id++ = '\0';
	forget(state, shop, cart_id, (int64_t)at);
	return true;
}

/* `sent_us` is in the list already. */
static void forget_old(struct state *state, int64_t sent_us)
{
	int64_t from_us = (int64_t)STATE_NUMBER(state, reminded_from, everywhere, "");

	if (sent_us < from_us)
		STATE_PUT_NUMBER(state, reminded_from, everywhere, "", (uint64_t)sent_us);
	if (from_us >= sent_us - REMINDED_FOR_US)
		return;
	for (int i = 0; i < FORGOTTEN_AT_ONCE && forget_oldest(state, sent_us - REMINDED_FOR_US); i++)
		;
}

void recovered_remember_sent(struct state *state, const struct message_meta *said, const ReminderOutcome *sent)
{
	char key[AT_KEY_MAX];

	if (sent->to_owner || !sent->cart_id[0] || STATE_HAS(state, reminded, said->shop, sent->cart_id))
		return;
	at_key(key, sent->at_us, said->shop, sent->cart_id);
	STATE_PUT_NUMBER(state, reminded_at, everywhere, key, 1);
	STATE_PUT_NUMBER(state, reminded, said->shop, sent->cart_id, (uint64_t)sent->at_us);
	forget_old(state, sent->at_us);
}

static void count(struct state *state, int64_t at_us)
{
	struct hour_row row;
	int64_t hour = at_us / US_PER_HOUR;
	char key[HOUR_KEY_MAX];

	STATE_PUT_NUMBER(
		state, recovered_ever, everywhere, ever, STATE_NUMBER(state, recovered_ever, everywhere, ever) + 1);
	snprintf(key, sizeof(key), "%02d", (int)(hour % HOURS));
	STATE_GET(state, recovered_hours, everywhere, key, &row);
	if (row.hour > hour)
		return; /* published so late that a later hour has its place */
	if (row.hour < hour)
		row = (struct hour_row){ .hour = hour };
	row.count++;
	STATE_PUT(state, recovered_hours, everywhere, key, &row);
}

void recovered_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	int64_t reminded_us;

	if (strcmp(audit->action, "bought") != 0)
		return;
	reminded_us = (int64_t)STATE_NUMBER(state, reminded, said->shop, audit->cart_id);
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

static bool add_hour(const char *shop, const char *key, const struct hour_row *row, void *context)
{
	struct sum *sum = context;

	(void)shop, (void)key;
	if (row->hour > sum->now_us / US_PER_HOUR - HOURS)
		sum->count += (uint32_t)row->count;
	return true;
}

struct recovered recovered_carts(const struct state *state, int64_t now_us)
{
	struct sum sum = { .now_us = now_us };

	STATE_EACH(state, recovered_hours, everywhere, NULL, add_hour, &sum);
	return (struct recovered){ .ever = STATE_NUMBER(state, recovered_ever, everywhere, ever), .today = sum.count };
}
