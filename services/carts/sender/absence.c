/*
 * absence.c: after nobody could reach a gateway, mails wait for what the platforms may send again
 *
 * Owns:      the table away (gateway -> struct away_row) of the service's state.
 * Read next: services/platform/gateway/absence.h (who says so, and for how long)
 */
#include "services/carts/sender/absence.h"
#include "services/kit/state/row.h"

struct away_row {
	int64_t back_us, hold_until_us;
};

void absence_remember(struct state *state, const struct message_meta *said, const GatewayAway *away)
{
	struct away_row row;

	if (row_get(state, "away", said->shop, away->gateway, &row, sizeof(row)) && row.back_us > away->back_us)
		return;
	row = (struct away_row){ .back_us = away->back_us, .hold_until_us = away->hold_until_us };
	ROW_PUT(state, "away", said->shop, away->gateway, &row);
}

static bool later_one(const char *shop, const char *key, struct bytes value, void *context)
{
	int64_t *latest_us = context;
	struct away_row row;

	(void)shop, (void)key;
	if (value.len != sizeof(row))
		return true;
	memcpy(&row, value.data, sizeof(row));
	if (row.hold_until_us > *latest_us)
		*latest_us = row.hold_until_us;
	return true;
}

int64_t absence_holds_until_us(const struct state *state)
{
	int64_t latest_us = 0;

	state_each(state, "away", NULL, NULL, later_one, &latest_us);
	return latest_us;
}
