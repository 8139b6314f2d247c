/*
 * topology.c: topology.conf, read
 *
 * Promises:  what it returns adds up: every topic that a peer names is declared, no name is too long, nothing is left out.
 * Fails by:  -EINVAL with file, section and what was expected.
 * Read next: topology.h
 */
#include "bus/broker/topology.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include <errno.h>
#include <stdio.h>

static const uint32_t FAILURE_LIMIT = 5;
static const char LEASE[] = "30s";

enum retained { RETAINED_RAW, RETAINED_FACT, RETAINED_KEEP, RETAINED_CLAIM };

static const struct config_key keys[] = {
	{ .section = "topic", .key = "retention", .fallback = "fact", .help = "raw, fact, keep or claim" },
	{ .section = "topic", .key = "group", .fallback = "", .help = "compaction group; empty: not compacted" },
	{ .section = "topic", .key = "shown", .help = "fields that a masked message shows", .repeated = true },
	{ .section = "topic", .key = "cart", .fallback = "", .help = "field that the journal is searched by" },
	{ .section = "peer", .key = "exclusive", .fallback = "no", .help = "one active instance, others stand by" },
	{ .section = "peer", .key = "gateway", .fallback = "no", .help = "has a spool that claims wait for" },
	{ .section = "peer", .key = "operator", .fallback = "no", .help = "may ask and tell everything" },
	{ .section = "peer", .key = "hears", .help = "a topic of its queue", .repeated = true },
	{ .section = "peer", .key = "remembers", .help = "a topic of its projections", .repeated = true },
	{ .section = "peer", .key = "says", .help = "a topic it may say", .repeated = true },
	{ .section = "peer", .key = "failure-limit", .fallback = "5", .help = "failures before the dead letters" },
	{ .section = "peer", .key = "lease", .fallback = LEASE, .help = "how long a message is leased" },
	{ .section = NULL },
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

static int retention_parse(const char *text, uint8_t *ret)
{
	static const char *const names[] = { "raw", "fact", "keep", "claim" };

	for (uint8_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int flag_parse(struct reading *reading, const char *name, const char *key, bool *ret)
{
	const char *value = config_get(reading->config, "peer", name, key);

	*ret = strcmp(value, "yes") == 0;
	if (*ret || strcmp(value, "no") == 0)
		return 0;
	return refuse(reading, "peer", name, "exclusive, gateway and operator are yes or no");
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
	if (retention_parse(config_get(reading->config, "topic", name, "retention"), &topic->retention) < 0)
		return refuse(reading, "topic", name, "retention is raw, fact, keep or claim");
	topic->claim = topic->retention == RETAINED_CLAIM;
	if (topic->claim)
		topic->retention = RETAINED_KEEP;
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

static int read_numbers(struct reading *reading, struct topology_peer *peer)
{
	int64_t limit = FAILURE_LIMIT;
	int r = config_get_int(reading->config, "peer", peer->name, "failure-limit", 1, 1000, &limit, reading->error);

	if (r < 0)
		return r;
	peer->failure_limit = (uint32_t)limit;
	return config_get_span(reading->config, "peer", peer->name, "lease", &peer->lease_us, reading->error);
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
	if ((r = flag_parse(reading, name, "exclusive", &peer->exclusive)) < 0 ||
		(r = flag_parse(reading, name, "gateway", &peer->gateway)) < 0 ||
		(r = flag_parse(reading, name, "operator", &peer->operator_)) < 0 ||
		(r = read_set(reading, "hears", peer->hears)) < 0 ||
		(r = read_set(reading, "remembers", peer->remembers)) < 0 ||
		(r = read_set(reading, "says", peer->says)) < 0 || (r = read_numbers(reading, peer)) < 0)
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

/* Whoever folds facts must forget them, too. */
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
