/* shop_timer.c: sets the timers of the reports */
#include "services/kit/shop_timer.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/docs.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdio.h>

#define NO_SHOP_US (10 * US_PER_S)

enum verdict shop_timer_hear(
	const struct state *state, const struct shop_timer *timer, const Document *document, struct turn *turn)
{
	const char *name = turn_message(turn)->shop;
	const struct shop *shop = docs_shop(state, name);
	if (strcmp(document->kind, "shop") != 0)
		return DONE;
	if (!shop)
		return turn_failed(turn, NO_SHOP_US, "the shop's configuration is not readable");
	Tick tick = { 0 };
	TimerSet set = { .version = document->version };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));
	TEXT_COPY(tick.name, timer->report);
	snprintf(set.name, sizeof(set.name), "%s/%s", timer->report, name);
	TEXT_COPY(set.cron, timer->cron);
	TEXT_COPY(set.zone, shop->zone);
	TEXT_COPY(set.topic, timer->tick->name);
	TEXT_COPY(set.key, name);
	if (!pb_encode(&stream, &Tick_msg, &tick))
		assert(!"a tick always fits into a timer");
	set.payload.size = (pb_size_t)stream.bytes_written;
	SAY(turn, timer_set, &set, .shop = name, .key = set.name, .version = set.version);
	return DONE;
}
