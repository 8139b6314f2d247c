/* status.c: folds the shops' modes and the alarms that stand */
#include "services/console/status.h"
#include "bus/base/text.h"

static const char mode_key[] = "mode";

void status_remember_mode(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	ShopStatus known;

	if (!STATE_GET(state, shop_modes, said->shop, mode_key, &known) || status->version >= known.version)
		STATE_PUT(state, shop_modes, said->shop, mode_key, status);
}

void status_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (alarm->raised)
		STATE_PUT(state, standing_alarms, said->shop, alarm->kind, alarm);
	else
		STATE_DELETE(state, standing_alarms, said->shop, alarm->kind);
}

bool status_mode(const struct state *state, const char *shop, ShopStatus *ret)
{
	return STATE_GET(state, shop_modes, shop, mode_key, ret);
}

bool status_all_stopped(const struct state *state, ShopStatus *ret)
{
	return status_mode(state, SHOP_OF_ALL, ret) && ret->mode == MODE_PAUSED;
}
