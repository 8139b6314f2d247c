/*
 * retain.c: what may go, by age and size, and what must stay
 *
 * Promises:  a class of topics that is not kept for ever is dropped in whole ranges, a few times a day; never anything that a
 *            queue has not settled, that a live session has not been shown, or that `latest` has not folded. (A dead letter has a
 *            copy of its own.) Rows of `latest` leave by the age of the facts too, two days after the services' own forgetting.
 *            A clock that jumped drops nothing for a day, so that somebody can set it right.
 * Read next: drop.c (how), latest.c, bus/base/retention.h (the numbers)
 */
#include "bus/broker/session.h"

static const int64_t LOOK_EVERY_US = 4 * US_PER_HOUR;
static const int64_t FACTS_SLACK_US = 2 * US_PER_DAY; /* services forget by the day, and first */
static const int64_t JUMP_US = 1 * US_PER_HOUR;       /* wall and boot time do not part by this much */
static const int64_t DISTRUST_US = 1 * US_PER_DAY;
enum { CLASS_RAW, CLASS_FACT };

int64_t retain_facts_us(const struct broker *broker)
{
	return broker->settings.retention.facts_us + FACTS_SLACK_US;
}

static void topics_of(const struct broker *broker, uint8_t class, uint64_t ret[2])
{
	ret[0] = ret[1] = 0;
	for (int i = 0; i < broker->topology.topic_count; i++)
		if (broker->topology.topics[i].retention == class)
			ret[i / 64] |= UINT64_C(1) << (i % 64);
}

static bool meet(const uint64_t one[2], const uint64_t other[2])
{
	return (one[0] & other[0]) != 0 || (one[1] & other[1]) != 0;
}

static void lower(uint64_t *limit, uint64_t other)
{
	if (other < *limit)
		*limit = other;
}

/* The first message of a class that somebody still needs. */
static uint64_t needed_from(const struct broker *broker, uint8_t class)
{
	uint64_t topics[2], limit = broker->folded + 1;

	topics_of(broker, class, topics);
	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i] && meet(broker->topology.peers[i].hears, topics))
			lower(&limit, broker->queues[i]->floor + 1);
	LIST_EACH (hook, &broker->sessions) {
		const struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (meet(broker->topology.peers[session->peer].remembers, topics))
			lower(&limit, session->cursor + 1);
	}
	return limit;
}

struct rule {
	int64_t age_us, least_us;
	uint64_t bytes;
};

static struct rule rule_of(const struct broker *broker, uint8_t class)
{
	const struct retention_limits *retention = &broker->settings.retention;

	if (class == CLASS_RAW) /* a look too early, not too late: it is a promise about persons */
		return (struct rule){ retention->raw_us - LOOK_EVERY_US, RETENTION_RAW_LEAST_US, retention->raw_bytes };
	return (struct rule){ retain_facts_us(broker), RETENTION_FACTS_LEAST_US, retention->facts_bytes };
}

static int drop(struct broker *broker, uint8_t class)
{
	struct rule rule = rule_of(broker, class);
	int64_t now_us = broker_wall_us(broker);
	uint64_t limit = needed_from(broker, class), before;
	int r = log_seek_time(broker->log, now_us - rule.age_us, &before);

	if (r == 0 && rule.bytes > 0) {
		uint64_t by_size = 0, least = 0;

		r = log_seek_size(broker->log, class, rule.bytes, &by_size);
		if (r == 0)
			r = log_seek_time(broker->log, now_us - rule.least_us, &least);
		lower(&by_size, least);
		if (by_size > before)
			before = by_size;
	}
	if (r < 0)
		return r;
	lower(&before, limit);
	return log_drop(broker->log, class, before);
}

/* Wall time that did not pass on the boot clock too, or while nobody looked, is not believed at once. */
static bool clock_is_trusted(struct broker *broker)
{
	int64_t wall_us = broker_wall_us(broker), boot_us = broker_boot_us(broker);
	int64_t parted_us = (wall_us - broker->retain_wall_us) - (boot_us - broker->retain_boot_us);

	if (parted_us > JUMP_US) {
		broker->retain_from_boot_us = boot_us + DISTRUST_US;
		broker->retain_wall_us = wall_us;
		broker->retain_boot_us = boot_us;
	}
	return boot_us >= broker->retain_from_boot_us;
}

void retain_open(struct broker *broker)
{
	int64_t last_us = log_time_us(broker->log, 0), now_us = broker_wall_us(broker);
	bool believed = log_head(broker->log) == 0 || now_us - last_us < DISTRUST_US;

	broker->retain_wall_us = believed ? now_us : last_us;
	broker->retain_boot_us = broker_boot_us(broker);
}

void retain(struct broker *broker)
{
	bool trusted = clock_is_trusted(broker);

	if (!trusted || broker->broken < 0 || broker_wall_us(broker) < broker->retain_due_us)
		return;
	broker->retain_due_us = broker_wall_us(broker) + LOOK_EVERY_US;
	for (uint8_t class = CLASS_RAW; class <= CLASS_FACT && broker->broken == 0; class ++)
		broker->broken = drop(broker, class);
	latest_sweep_start(broker);
}

/* A store that stopped before what was dropped since cannot be brought up to date: it is folded anew. */
bool retain_is_too_old(const struct broker *broker, int peer, uint64_t cursor)
{
	for (uint8_t class = CLASS_RAW; cursor > 0 && class <= CLASS_FACT; class ++) {
		uint64_t topics[2];

		topics_of(broker, class, topics);
		if (meet(broker->topology.peers[peer].remembers, topics) &&
			cursor + 1 < log_kept_from(broker->log, class))
			return true;
	}
	return false;
}
