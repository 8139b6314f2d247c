/*
 * webhook_stats.c: counts the webhooks of each shop, and publishes the counts at most once a minute
 *
 * Owns:      the counts per shop, and per topic of a shop.
 * Promises:  nothing is published while no webhook comes. Counts that could not be published are added to the
 *            next ones. They have no body, address or header, only the names of topics.
 * Fails by:  losing the counts of the last minute if the process dies: they are for alarms, not for books.
 * Read next: services/platform/monitor/webhook_health.c (raises alarms from these counts)
 */
#include "services/kit/endpoint/webhook_stats.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <stdlib.h>

#define SAY_EVERY_US US_PER_MINUTE /* wall time; at least a second of boot time */

struct webhook_stats_shop {
	char name[64];
	GatewaySeen now;
	int64_t say_at_us; /* boot time; 0: nothing was noted */
	bool saying;       /* `said` is published, but not confirmed yet */
	GatewaySeen said;
	struct webhook_stats *stats;
};

struct webhook_stats {
	struct runtime *runtime;
	const struct clock *clock;
	struct map *shops; /* name -> struct webhook_stats_shop */
};

struct webhook_stats *webhook_stats_new(struct runtime *runtime, const struct clock *clock)
{
	struct webhook_stats *stats = memory_new(sizeof(*stats));

	stats->runtime = runtime;
	stats->clock = clock;
	stats->shops = map_new();
	return stats;
}

static void free_shop(struct bytes name, void *shop, void *context)
{
	(void)name, (void)context;
	free(shop);
}

void webhook_stats_free(struct webhook_stats *stats)
{
	if (!stats)
		return;
	map_each(stats->shops, free_shop, NULL);
	map_free(stats->shops);
	free(stats);
}

static int64_t pause_us(const struct webhook_stats *stats)
{
	int64_t boot_us = (int64_t)((double)SAY_EVERY_US / stats->clock->rate);

	return boot_us > US_PER_S ? boot_us : US_PER_S;
}

static struct webhook_stats_shop *shop_of(struct webhook_stats *stats, const char *name)
{
	struct webhook_stats_shop *shop = map_get(stats->shops, bytes_of(name));

	if (!shop) {
		shop = memory_new(sizeof(*shop));
		TEXT_COPY(shop->name, name);
		shop->stats = stats;
		map_put(stats->shops, bytes_of(name), shop);
	}
	if (!shop->say_at_us) {
		shop->say_at_us = clock_boot_us(stats->clock) + pause_us(stats);
		shop->now.from_us = clock_wall_us(stats->clock);
	}
	return shop;
}

void webhook_stats_note_signature(struct webhook_stats *stats, const char *name, enum webhook_signature signature)
{
	struct webhook_stats_shop *shop = stats ? shop_of(stats, name) : NULL;

	if (!shop)
		return;
	shop->now.bad_signatures += signature == WEBHOOK_BAD_SIGNATURE;
	shop->now.authentic += signature != WEBHOOK_BAD_SIGNATURE;
	shop->now.previous_secret += signature == WEBHOOK_PREVIOUS_SECRET;
}

/* The entry of a topic; NULL: there is no room for a further topic. */
static TopicSeen *topic_of(GatewaySeen *in, const char *name)
{
	const pb_size_t most = sizeof(in->topics) / sizeof(in->topics[0]);

	for (pb_size_t i = 0; i < in->topics_count; i++)
		if (strcmp(in->topics[i].topic, name) == 0)
			return &in->topics[i];
	if (in->topics_count == most)
		return NULL;
	TopicSeen *topic = &in->topics[in->topics_count++];
	*topic = (TopicSeen){ 0 };
	TEXT_COPY(topic->topic, name);
	return topic;
}

static void add_topic(GatewaySeen *in, const TopicSeen *add)
{
	TopicSeen *topic = topic_of(in, add->topic);

	if (!topic)
		return;
	topic->count += add->count;
	if (!topic->first_us || add->first_us < topic->first_us)
		topic->first_us = add->first_us;
	if (add->last_us > topic->last_us)
		topic->last_us = add->last_us;
}

void webhook_stats_note_topic(struct webhook_stats *stats, const char *name, const char *topic)
{
	TopicSeen add = { .count = 1 };

	if (!stats || !*topic || !TEXT_COPY(add.topic, topic))
		return;
	add.first_us = add.last_us = clock_wall_us(stats->clock);
	add_topic(&shop_of(stats, name)->now, &add);
}

/* ---- publishing the counts ---- */

static void take_back(struct webhook_stats_shop *shop)
{
	shop->now.authentic += shop->said.authentic;
	shop->now.bad_signatures += shop->said.bad_signatures;
	shop->now.previous_secret += shop->said.previous_secret;
	for (pb_size_t i = 0; i < shop->said.topics_count; i++)
		add_topic(&shop->now, &shop->said.topics[i]);
	if (!shop->say_at_us)
		shop->say_at_us = clock_boot_us(shop->stats->clock) + pause_us(shop->stats);
	shop->now.from_us = shop->said.from_us;
}

static void answered(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct webhook_stats_shop *shop = context;

	(void)seq;
	shop->saying = false;
	if (result == SAID_REFUSED)
		log_event(LOG_WARNING, "what was seen for shop=%s was refused: %s", shop->name, reason);
	else if (result == SAID_UNKNOWN)
		take_back(shop);
}

static void say_one(struct webhook_stats *stats, struct webhook_stats_shop *shop)
{
	const char *gateway = runtime_instance(stats->runtime);
	struct publish_options how = { .shop = shop->name, .key = gateway };

	shop->now.to_us = clock_wall_us(stats->clock);
	TEXT_COPY(shop->now.gateway, gateway);
	shop->said = shop->now;
	shop->now = (GatewaySeen){ 0 };
	shop->say_at_us = 0;
	shop->saying = true;
	if (runtime_publish(stats->runtime, &topic_gateway_seen, &how, NULL, &shop->said, answered, shop) < 0) {
		shop->saying = false;
		take_back(shop);
	}
}

struct working {
	struct webhook_stats *stats;
	int64_t wait_us;
};

static void work_one(struct bytes name, void *value, void *context)
{
	struct working *working = context;
	struct webhook_stats_shop *shop = value;
	int64_t left_us;

	(void)name;
	if (!shop->say_at_us || shop->saying)
		return;
	if (clock_boot_us(working->stats->clock) >= shop->say_at_us)
		say_one(working->stats, shop);
	left_us = shop->say_at_us - clock_boot_us(working->stats->clock);
	if (shop->say_at_us && (working->wait_us < 0 || left_us < working->wait_us))
		working->wait_us = left_us > 0 ? left_us : 0;
}

int64_t webhook_stats_work(struct webhook_stats *stats)
{
	struct working working = { .stats = stats, .wait_us = -1 };

	map_each(stats->shops, work_one, &working);
	return working.wait_us;
}
