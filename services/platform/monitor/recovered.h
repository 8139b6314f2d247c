/*
 * recovered.h: counts carts that were bought after a reminder. The counts are for display only
 *
 * It is unknown if the reminder was the reason; `cartbus report` separates shoppers who clicked from the
 * others, and has the amounts.
 */
#ifndef PLATFORM_MONITOR_RECOVERED_H
#define PLATFORM_MONITOR_RECOVERED_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/cart_topics.h"

void recovered_remember_sent(struct state *state, const struct message_meta *said, const ReminderOutcome *sent);
void recovered_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit);

struct recovered {
	uint64_t ever;
	uint32_t today; /* in the last 24 hours, counted by whole hours */
};
struct recovered recovered_carts(const struct state *state, int64_t now_us);

#endif
