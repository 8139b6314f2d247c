/*
 * recovered.h: carts that were bought after a reminder had gone to their shopper. To be looked at: nothing is decided on it
 *
 * That the reminder was the reason nobody knows; `cartbus report` parts those who clicked from the others, and knows the money.
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
	uint32_t today; /* in the last 24 hours, by whole hours */
};
struct recovered recovered_carts(const struct state *state, int64_t now_us);

#endif
