/*
 * webhook_health.h: the webhooks of storefronts, as the gateways report them: wrong signatures, old secrets,
 * silent topics
 */
#ifndef PLATFORM_MONITOR_WEBHOOK_HEALTH_H
#define PLATFORM_MONITOR_WEBHOOK_HEALTH_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

void webhook_health_remember(struct state *state, const struct message_meta *said, const GatewaySeen *seen);

/* Of the last hour. */
struct webhook_hour {
	uint32_t authentic, bad_signatures, previous_secret;
};
struct webhook_hour webhook_hour(const struct state *state, const char *shop, int64_t now_us);
void webhook_health_each_shop(const struct state *state, void (*each)(const char *shop, void *context), void *context);

/* ---- the usual pauses of a topic ---- */

/*
 * The longest pause of a shop's topic on each day of the last four weeks. The usual pause is learnt for a
 * week before an alarm is possible; nights and weekends count as usual pauses.
 */
enum { SILENCE_DAYS = 28 };
struct topic_silence {
	int64_t first_us, last_us;
	uint64_t count;
	int64_t day[SILENCE_DAYS]; /* the day of each pause, in days since 1970; 0: none */
	int64_t pause_us[SILENCE_DAYS];
};
void topic_silence_hear(struct topic_silence *silence, int64_t first_us, int64_t last_us, uint32_t count);
int64_t topic_silence_usual_us(const struct topic_silence *silence, int64_t now_us);
/* How long the topic has been silent, in microseconds; 0: it is not silent, or the usual pause is unknown. */
int64_t topic_silence_of(const struct topic_silence *silence, int64_t now_us);

struct webhook_silence {
	int count;
	int64_t longest_us, usual_us;
	char topics[160]; /* "orders/create, carts/update" */
};
struct webhook_silence webhook_silence(const struct state *state, const char *shop, int64_t now_us);

#endif
