/*
 * webhook_health.h: what the storefronts send, as the gateways saw it: signatures that fail, the old secret, topics gone silent
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

/* ---- how a topic usually comes ---- */

/*
 * How a topic of a shop usually comes: the longest pause of each of the last four weeks' days. What is usual is learnt for a week
 * before anybody is told; a night, a weekend are pauses as they always were.
 */
enum { SILENCE_DAYS = 28 };
struct topic_silence {
	int64_t first_us, last_us;
	uint64_t count;
	int64_t day[SILENCE_DAYS]; /* since 1970: which day a pause belongs to; 0: none */
	int64_t pause_us[SILENCE_DAYS];
};
void topic_silence_hear(struct topic_silence *silence, int64_t first_us, int64_t last_us, uint32_t count);
int64_t topic_silence_usual_us(const struct topic_silence *silence, int64_t now_us);
/* 0: it is not silent, or it is not known what is usual; else for how long. */
int64_t topic_silence_of(const struct topic_silence *silence, int64_t now_us);

struct webhook_silence {
	int count;
	int64_t longest_us, usual_us;
	char topics[160]; /* "orders/create, carts/update" */
};
struct webhook_silence webhook_silence(const struct state *state, const char *shop, int64_t now_us);

#endif
