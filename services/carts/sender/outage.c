/*
 * outage.c: delays mails while the mail server cannot be reached, and after a time without a reachable
 * gateway
 *
 * Owns:      the alarm mail-server; the tables outage (kind -> raised) and away (gateway -> struct away_row)
 *            of the service's state.
 * Promises:  one alarm for an outage, from the sender that notices it first, and one message that it is over.
 *            Meanwhile mails wait, and nothing is published about them.
 * Read next: services/kit/effect/circuit.h (decides when the server is probed),
 *            services/platform/gateway/downtime.h (tells that a gateway was away), sender.c
 */
#include "services/carts/sender/outage.h"
#include "bus/base/text.h"
#include <stdio.h>

STATE_NUMBERS(outage, "outage");

static const char KIND[] = "mail-server";

void outage_remember(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, KIND) == 0)
		STATE_PUT_NUMBER(state, outage, said->shop, KIND, alarm->raised);
}

static bool is_raised(const struct state *state)
{
	return STATE_NUMBER(state, outage, SHOP_OF_ALL, KIND) != 0;
}

static void publish_alarm(struct turn *turn, Alarm *alarm)
{
	TEXT_COPY(alarm->kind, KIND);
	alarm->at_us = turn_now_us(turn);
	SAY(turn, alarm, alarm, .shop = SHOP_OF_ALL, .key = KIND, .version = (uint64_t)alarm->at_us);
}

void say_server_away(const struct state *state, struct turn *turn, const char *words)
{
	Alarm alarm = { .raised = true };

	if (is_raised(state))
		return;
	snprintf(alarm.text, sizeof(alarm.text), "no connection to the mail server: %.300s", words);
	TEXT_COPY(alarm.remedy,
		"is it running, and are [mail] smtp-host, smtp-port, smtp-user and the secret smtp.password right? "
		"Reminders wait for it and go as soon as it lets us in; a new password counts at once");
	publish_alarm(turn, &alarm);
}

void say_server_back(const struct state *state, struct turn *turn)
{
	Alarm alarm = { 0 };

	if (!is_raised(state))
		return;
	TEXT_COPY(alarm.text, "the mail server answers again");
	publish_alarm(turn, &alarm);
}

/* ---- gateways that were away ---- */

struct away_row {
	int64_t back_us, hold_until_us;
};
STATE_STRUCTS(away, "away", struct away_row);

void downtime_remember(struct state *state, const struct message_meta *said, const GatewayAway *away)
{
	struct away_row row;

	if (STATE_GET(state, away, said->shop, away->gateway, &row) && row.back_us > away->back_us)
		return;
	row = (struct away_row){ .back_us = away->back_us, .hold_until_us = away->hold_until_us };
	STATE_PUT(state, away, said->shop, away->gateway, &row);
}

static bool later_one(const char *shop, const char *key, const struct away_row *row, void *context)
{
	int64_t *latest_us = context;

	(void)shop, (void)key;
	if (row->hold_until_us > *latest_us)
		*latest_us = row->hold_until_us;
	return true;
}

int64_t downtime_holds_until_us(const struct state *state)
{
	int64_t latest_us = 0;

	STATE_EACH(state, away, NULL, NULL, later_one, &latest_us);
	return latest_us;
}
