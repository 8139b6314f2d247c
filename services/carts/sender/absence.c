/*
 * absence.c: after nobody could reach a gateway, mails wait for what the platforms may send again
 *
 * Owns:      the table away (gateway -> struct away_row) of the service's state.
 * Read next: services/platform/gateway/absence.h (who says so, and for how long)
 */
#include "services/carts/sender/absence.h"

struct away_row {
	int64_t back_us, hold_until_us;
};
STATE_STRUCTS(away, "away", struct away_row);

void absence_remember(struct state *state, const struct message_meta *said, const GatewayAway *away)
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

int64_t absence_holds_until_us(const struct state *state)
{
	int64_t latest_us = 0;

	STATE_EACH(state, away, NULL, NULL, later_one, &latest_us);
	return latest_us;
}
