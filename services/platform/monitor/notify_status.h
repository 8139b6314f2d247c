/* notify_status.h: finds the channels to the admin that do not work */
#ifndef PLATFORM_MONITOR_NOTIFY_STATUS_H
#define PLATFORM_MONITOR_NOTIFY_STATUS_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/platform/monitor/channels.h"

void notify_status_remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due);
void notify_status_remember_told(struct state *state, const struct message_meta *said, const AlarmTold *told);

struct notify_status_none {
	int count;
	char channels[320]; /* "webhook 2 (HTTP 404), mail 1 (no answer yet)" */
};

/*
 * Configured channels on which the last alarm failed, or on which an alarm from before `before_us` still has
 * no answer.
 */
struct notify_status_none notify_status_none(
	const struct state *state, const struct channels *channels, int64_t before_us);

#endif
