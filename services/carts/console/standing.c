/*
 * standing.c: folds what stands about a shop
 *
 * Owns:      the tables of standing.h, and page.unclear.at (send key -> the time in page.unclear).
 */
#include "services/carts/console/standing.h"
#include "services/carts/console/lines.h"
#include "services/carts/policy/sends.h"
#include <stdio.h>
#include <string.h>

STATE_NUMBERS(unclear_at, "page.unclear.at");

/* By the rules of stops_remember_status (carts/policy/stops_rows.c), which decides what is mailed. */
void standing_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	ShopStatus row;
	bool known = STATE_GET(state, page_modes, said->shop, "", &row);

	if (known && status->version < row.version)
		return;
	if (known && row.mode == MODE_PAUSED && status->priority < row.priority)
		return;
	STATE_PUT(state, page_modes, said->shop, "", status);
}

void standing_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (alarm->raised && !said->tombstone && strcmp(alarm->kind, "test") != 0)
		STATE_PUT(state, page_alarms, said->shop, alarm->kind, alarm);
	else
		STATE_DELETE(state, page_alarms, said->shop, alarm->kind);
}

static const char *unclear_key(int64_t at_us, const char *send, char ret[LINE_KEY_MAX])
{
	char newest_first[LINE_INVERTED_ROOM];

	snprintf(ret, LINE_KEY_MAX, "%s/%s", line_inverted(at_us, newest_first), send);
	return ret;
}

void standing_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	struct send send = sends_own(state, said->shop, outcome->cart_id, (int)outcome->step);
	char name[SEND_KEY_MAX], key[LINE_KEY_MAX];
	uint64_t known_us;

	send_key(name, outcome->cart_id, outcome->step);
	known_us = STATE_NUMBER(state, unclear_at, said->shop, name);
	if (known_us) {
		STATE_DELETE(state, page_unclear, said->shop, unclear_key((int64_t)known_us, name, key));
		STATE_DELETE(state, unclear_at, said->shop, name);
	}
	if (send.phase != SEND_AMBIGUOUS)
		return;
	STATE_PUT_NUMBER(state, unclear_at, said->shop, name, (uint64_t)send.at_us);
	STATE_PUT_STRING(state, page_unclear, said->shop, unclear_key(send.at_us, name, key), BYTES("", 0));
}
