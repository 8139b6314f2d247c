/*
 * topology.c: topology.conf, read
 *
 * Promises:  what it returns adds up: every topic that a peer names is declared, no name is too long, nothing is left out.
 * Fails by:  -EINVAL with file, section and what was expected.
 * Read next: topology.h
 */
#include "bus/broker/topology.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include <errno.h>
#include <stdio.h>

static const char LEASE[] = "30s";

enum retained { RETAINED_RAW, RETAINED_FACT, RETAINED_KEEP, RETAINED_CLAIM };

#define TOPIC_WORDS CONFIG_TEXT(500) /* judged below, against what else is declared */

static const struct config_key keys[] = {
	{ "topic", "retention", "fact", "how long it is kept", .named = true,
		.kind = CONFIG_WORD("raw fact keep claim") },
	{ "topic", "group", "", "compaction group; empty: not compacted", .named = true, .kind = TOPIC_WORDS },
	{ "topic", "sidelog", "no", "outlives the log: also written to the side log", .named = true,
		.kind = CONFIG_YES },
	{ "topic", "shown", NULL, "fields that a masked message shows", .repeated = CONFIG_MANY, .named = true,
		.kind = TOPIC_WORDS },
	{ "topic", "cart", "", "field that the journal is searched by", .named = true, .kind = TOPIC_WORDS },
	{ "peer", "exclusive", "no", "one active instance, others stand by", .named = true, .kind = CONFIG_YES },
	{ "peer", "gateway", "no", "has a spool that claims wait for", .named = true, .kind = CONFIG_YES },
	{ "peer", "operator", "no", "may ask and tell everything", .named = true, .kind = CONFIG_YES },
	{ "peer", "hears", NULL, "a topic of its queue", .repeated = CONFIG_MANY, .named = true, .kind = TOPIC_WORDS },
	{ "peer", "remembers", NULL, "a topic of its projections", .repeated = CONFIG_MANY, .named = true,
		.kind = TOPIC_WORDS },
	{ "peer", "says", NULL, "a topic it may say", .repeated = CONFIG_MANY, .named = true, .kind = TOPIC_WORDS },
	{ "peer", "failure-limit", "5", "failures before the dead letters", .named = true,
		.kind = CONFIG_COUNT(1, 1000) },
	{ "peer", "lease", LEASE, "how long a message is leased", .named = true,
		.kind = CONFIG_SPAN(US_PER_MS, US_PER_DAY) },
	CONFIG_END,
};

struct reading {
	const struct config *config;
	const char *file;
	struct topology *topology;
	struct config_error *error;
	struct topology_peer *peer; /* being read */
	uint64_t *set;              /* being filled */
};

int topology_topic(const struct topology *topology, const char *name)
{
	for (int i = 0; i < topology->topic_count; i++)
		if (strcmp(topology->topics[i].name, name) == 0)
			return i;
	return -ENOENT;
}

int topology_peer(const struct topology *topology, const char *name)
{
	for (int i = 0; i < topology->peer_count; i++)
		if (strcmp(topology->peers[i].name, name) == 0)
			return i;
	return -ENOENT;
}

static int refuse(struct reading *reading, const char *section, const char *name, const char *what)
{
	snprintf(reading->error->text, sizeof(reading->error->text), "%s: [%s %s]: %s", reading->file, section, name,
		what);
	return -EINVAL;
}

static int read_shown(const char *value, void *context)
{
	struct reading *reading = context;
	struct topology_topic *topic = &reading->topology->topics[reading->topology->topic_count];

	if (mask_add(&topic->mask, value) == 0)
		return 0;
	return refuse(reading, "topic", topic->name, "shown has paths of field numbers, as in 1/ 1/12, at most 64");
}

static int read_topic(const char *name, void *context)
{
	struct reading *reading = context;
	struct topology *topology = reading->topology;
	struct topology_topic *topic;
	const char *cart;

	if (topology_topic(topology, name) >= 0)
		return 0;
	if (topology->topic_count == TOPICS_MAX)
		return refuse(reading, "topic", name, "more topics than the broker can hold (128)");
	topic = &topology->topics[topology->topic_count];
	if (name[0] == '\0' || !TEXT_COPY(topic->name, name))
		return refuse(reading, "topic", name, "a topic's name has 1 to 31 bytes");
	if (!TEXT_COPY(topic->group, config_get(reading->config, "topic", name, "group")))
		return refuse(reading, "topic", name, "a group's name has at most 31 bytes");
	topic->retention =
		(uint8_t)config_word(reading->config, "topic", name, "retention"); /* in the order of enum retained */
	topic->claim = topic->retention == RETAINED_CLAIM;
	if (topic->claim)
		topic->retention = RETAINED_KEEP;
	topic->sidelog = config_yes(reading->config, "topic", name, "sidelog");
	if (config_each_value(reading->config, "topic", name, "shown", read_shown, reading) < 0)
		return -EINVAL;
	cart = config_get(reading->config, "topic", name, "cart");
	if (*cart && mask_path(cart, &topic->cart) < 0)
		return refuse(reading, "topic", name, "cart is a path of field numbers, as in 1/1");
	topology->topic_count++;
	return 0;
}

static int read_member(const char *value, void *context)
{
	struct reading *reading = context;
	int topic = topology_topic(reading->topology, value);
	char what[256];

	if (topic < 0) {
		snprintf(what, sizeof(what), "topic \"%.64s\" is not declared: add [topic %.64s]", value, value);
		return refuse(reading, "peer", reading->peer->name, what);
	}
	reading->set[topic / 64] |= UINT64_C(1) << (topic % 64);
	return 0;
}

static int read_set(struct reading *reading, const char *key, uint64_t *set)
{
	reading->set = set;
	return config_each_value(reading->config, "peer", reading->peer->name, key, read_member, reading);
}

static void read_flags(const struct config *config, struct topology_peer *peer)
{
	peer->exclusive = config_yes(config, "peer", peer->name, "exclusive");
	peer->gateway = config_yes(config, "peer", peer->name, "gateway");
	peer->operator_ = config_yes(config, "peer", peer->name, "operator");
	peer->failure_limit = (uint32_t)config_number(config, "peer", peer->name, "failure-limit");
	peer->lease_us = config_number(config, "peer", peer->name, "lease");
}

static int read_peer(const char *name, void *context)
{
	struct reading *reading = context;
	struct topology *topology = reading->topology;
	struct topology_peer *peer = &topology->peers[topology->peer_count];
	int r;

	if (topology->peer_count == PEERS_MAX)
		return refuse(reading, "peer", name, "more peers than the broker can hold (32)");
	if (name[0] == '\0' || !TEXT_COPY(peer->name, name))
		return refuse(reading, "peer", name, "a peer's name has 1 to 31 bytes");
	reading->peer = peer;
	read_flags(reading->config, peer);
	if ((r = read_set(reading, "hears", peer->hears)) < 0 ||
		(r = read_set(reading, "remembers", peer->remembers)) < 0 ||
		(r = read_set(reading, "says", peer->says)) < 0)
		return r;
	topology->peer_count++;
	return 0;
}

static int declare_own(struct topology *topology, const char *name)
{
	struct topology_topic *topic = &topology->topics[topology->topic_count];

	*topic = (struct topology_topic){ .retention = RETAINED_KEEP };
	TEXT_COPY(topic->name, name);
	return topology->topic_count++;
}

/* A service that folds facts must forget them, too: so it remembers log.forgotten. */
static void tell_what_is_forgotten(struct topology *topology, int topic)
{
	for (int i = 0; i < topology->peer_count; i++) {
		uint64_t *set = topology->peers[i].remembers;

		if (set[0] != 0 || set[1] != 0)
			set[topic / 64] |= UINT64_C(1) << (topic % 64);
	}
}

DEFINE_CLEANUP(struct config *, config_free)

int topology_parse(const char *text, const char *name, struct topology *ret, struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct reading reading = { .file = name, .topology = ret, .error = ret_error };
	int forgotten, r = config_parse(text, name, keys, &config, ret_error);

	if (r < 0)
		return r;
	*ret = (struct topology){ 0 };
	declare_own(ret, TOPIC_DEAD_LETTER);
	forgotten = declare_own(ret, TOPIC_FORGOTTEN);
	reading.config = config;
	r = config_each_section(config, "topic", read_topic, &reading);
	if (r < 0)
		return r;
	r = config_each_section(config, "peer", read_peer, &reading);
	tell_what_is_forgotten(ret, forgotten);
	return r;
}
