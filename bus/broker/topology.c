/*
 * topology.c: reads topology.conf; sets of topics
 *
 * Promises:  a topology that it returns is consistent: every topic that a peer names is declared, no name is
 *            too long, nothing is left out.
 * Fails by:  -EINVAL with file, section and what was expected.
 * Read next: topology.h
 */
#include "bus/broker/topology.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include "bus/wire/protocol.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As text, for the table of keys. */
static const char FAILURES_USUAL[] = "5", LEASE_USUAL[] = "30s";
_Static_assert(QUEUE_FAILURES_USUAL == 5 && QUEUE_LEASE_MS_USUAL == 30 * 1000, "they say the same");
/* Manifests go on writing this name, as the broker of v0.2.0 refuses a key that it does not know. */
#define SUBJECT_OF_OLD "cart"

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
	{ "topic", "subject", "", "field that the journal is searched by", .named = true, .kind = TOPIC_WORDS },
	{ "topic", SUBJECT_OF_OLD, "", "the same, as v0.2.0 calls it", .named = true, .kind = TOPIC_WORDS },
	{ "peer", "exclusive", "no", "one active instance, others stand by", .named = true, .kind = CONFIG_YES },
	{ "peer", "gateway", "no", "has a spool that claims wait for", .named = true, .kind = CONFIG_YES },
	{ "peer", "operator", "no", "may ask and tell everything", .named = true, .kind = CONFIG_YES },
	{ "peer", "hears", NULL, "a topic of its queue", .repeated = CONFIG_MANY, .named = true, .kind = TOPIC_WORDS },
	{ "peer", "remembers", NULL, "a topic of its projections", .repeated = CONFIG_MANY, .named = true,
		.kind = TOPIC_WORDS },
	{ "peer", "says", NULL, "a topic it may say", .repeated = CONFIG_MANY, .named = true, .kind = TOPIC_WORDS },
	{ "peer", "failure-limit", FAILURES_USUAL, "failures before the dead letters", .named = true,
		.kind = CONFIG_COUNT(QUEUE_FAILURES_LEAST, QUEUE_FAILURES_MOST) },
	{ "peer", "lease", LEASE_USUAL, "how long a message is leased", .named = true,
		.kind = CONFIG_SPAN(QUEUE_LEASE_MS_LEAST * US_PER_MS, QUEUE_LEASE_MS_MOST *US_PER_MS) },
	CONFIG_END,
};

struct reading {
	const struct config *config;
	const char *file;
	struct topology *topology;
	struct config_error *error;
	struct topology_peer *peer; /* the peer being read */
	struct topic_set *set;      /* the set being filled */
};

int topology_topic(const struct topology *topology, const char *name)
{
	const void *found = topology->by_name ? map_get(topology->by_name, bytes_of(name)) : NULL;

	return found ? (int)(uintptr_t)found - 1 : -ENOENT;
}

int topology_peer(const struct topology *topology, const char *name)
{
	for (int i = 0; i < topology->peer_count; i++)
		if (strcmp(topology->peers[i].name, name) == 0)
			return i;
	return -ENOENT;
}

/* The arrays grow in powers of two. */
static void *make_room(void *places, int count, size_t size)
{
	if ((count & (count - 1)) != 0)
		return places;
	return memory_resize(places, (count == 0 ? 1 : 2 * (size_t)count) * size);
}

/*
 * An empty place behind the counted ones. add_topic or peer_count counts it: a refused section leaves
 * nothing.
 */
static struct topology_topic *next_topic(struct topology *topology)
{
	topology->topics = make_room(topology->topics, topology->topic_count, sizeof(*topology->topics));
	topology->topics[topology->topic_count] = (struct topology_topic){ 0 };
	return &topology->topics[topology->topic_count];
}

static struct topology_peer *next_peer(struct topology *topology)
{
	topology->peers = make_room(topology->peers, topology->peer_count, sizeof(*topology->peers));
	topology->peers[topology->peer_count] = (struct topology_peer){ 0 };
	return &topology->peers[topology->peer_count];
}

/* From now on the topic counts. Returns its index. */
static int add_topic(struct topology *topology)
{
	int index = topology->topic_count++;

	if (!topology->by_name)
		topology->by_name = map_new();
	map_put(topology->by_name, bytes_of(topology->topics[index].name), (void *)(uintptr_t)topology->topic_count);
	return index;
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

/* The key has two names; a section that gives both must give one value. */
static int read_subject(struct reading *reading, struct topology_topic *topic)
{
	const char *path = config_get(reading->config, "topic", topic->name, "subject");
	const char *of_old = config_get(reading->config, "topic", topic->name, SUBJECT_OF_OLD);

	if (*path && *of_old && strcmp(path, of_old) != 0)
		return refuse(reading, "topic", topic->name,
			"subject and " SUBJECT_OF_OLD " are two names of one key: give one of them");
	if (!*path)
		path = of_old;
	if (*path && mask_path(path, &topic->subject) < 0)
		return refuse(reading, "topic", topic->name, "subject is a path of field numbers, as in 1/1");
	return 0;
}

static int read_topic(const char *name, void *context)
{
	struct reading *reading = context;
	struct topology *topology = reading->topology;
	struct topology_topic *topic;

	if (topology_topic(topology, name) >= 0)
		return 0;
	if (topology->topic_count == TOPICS_MOST)
		return refuse(reading, "topic", name,
			"a log tells 65535 topics apart, because their numbers have 16 bits. Declare fewer topics");
	topic = next_topic(topology);
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
	if (read_subject(reading, topic) < 0)
		return -EINVAL;
	add_topic(topology);
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
	topic_set_add(reading->set, topic);
	return 0;
}

static int read_set(struct reading *reading, const char *key, struct topic_set *set)
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
	struct topology_peer *peer = next_peer(topology);
	int r;

	topology->peer_count++; /* counted at once, so that its memory is freed with the others */
	if (name[0] == '\0' || !TEXT_COPY(peer->name, name))
		return refuse(reading, "peer", name, "a peer's name has 1 to 31 bytes");
	reading->peer = peer;
	read_flags(reading->config, peer);
	if ((r = read_set(reading, "hears", &peer->hears)) < 0 ||
		(r = read_set(reading, "remembers", &peer->remembers)) < 0 ||
		(r = read_set(reading, "says", &peer->says)) < 0)
		return r;
	return 0;
}

static int declare_own(struct topology *topology, const char *name)
{
	struct topology_topic *topic = next_topic(topology);

	topic->retention = RETAINED_KEEP;
	TEXT_COPY(topic->name, name);
	return add_topic(topology);
}

/* A service that folds facts must also forget them: so it remembers log.forgotten. */
static void tell_what_is_forgotten(struct topology *topology, int topic)
{
	for (int i = 0; i < topology->peer_count; i++) {
		struct topic_set *set = &topology->peers[i].remembers;

		if (topic_set_any(set))
			topic_set_add(set, topic);
	}
}

void topology_free(struct topology *topology)
{
	for (int i = 0; i < topology->peer_count; i++) {
		topic_set_clear(&topology->peers[i].hears);
		topic_set_clear(&topology->peers[i].remembers);
		topic_set_clear(&topology->peers[i].says);
	}
	free(topology->peers);
	free(topology->topics);
	map_free(topology->by_name);
	*topology = (struct topology){ 0 };
}

DEFINE_CLEANUP(struct config *, config_free)

int topology_parse(const char *text, const char *name, struct topology *ret, struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct reading reading = { .file = name, .topology = ret, .error = ret_error };
	int forgotten, r = config_parse(text, name, keys, &config, ret_error);

	*ret = (struct topology){ 0 };
	if (r < 0)
		return r;
	declare_own(ret, TOPIC_DEAD_LETTER);
	forgotten = declare_own(ret, TOPIC_FORGOTTEN);
	reading.config = config;
	r = config_each_section(config, "topic", read_topic, &reading);
	if (r == 0)
		r = config_each_section(config, "peer", read_peer, &reading);
	if (r < 0) {
		topology_free(ret);
		return r;
	}
	tell_what_is_forgotten(ret, forgotten);
	return 0;
}

/*
 * --- sets of topics ---
 *
 * Owns:      the words of topics from 128 on.
 */

static uint32_t word_count(const struct topic_set *set)
{
	return 2 + set->more_count;
}

static uint64_t word_of(const struct topic_set *set, uint32_t word)
{
	return word < 2 ? set->few[word] : set->more[word - 2];
}

/* Room for at least `count` words beyond the first two. */
static void grow(struct topic_set *set, uint32_t count)
{
	if (count <= set->more_count)
		return;
	set->more = memory_resize(set->more, count * sizeof(*set->more));
	memset(set->more + set->more_count, 0, (count - set->more_count) * sizeof(*set->more));
	set->more_count = count;
}

void topic_set_add(struct topic_set *set, int topic)
{
	uint32_t word = (uint32_t)topic / TOPIC_SET_WORD;
	uint64_t bit = UINT64_C(1) << ((uint32_t)topic % TOPIC_SET_WORD);

	if (topic < TOPIC_SET_FEW) {
		set->few[word] |= bit;
		return;
	}
	grow(set, word - 1);
	set->more[word - 2] |= bit;
}

void topic_set_add_all(struct topic_set *set, const struct topic_set *other)
{
	set->few[0] |= other->few[0];
	set->few[1] |= other->few[1];
	grow(set, other->more_count);
	for (uint32_t i = 0; i < other->more_count; i++)
		set->more[i] |= other->more[i];
}

void topic_set_clear(struct topic_set *set)
{
	free(set->more);
	*set = (struct topic_set){ 0 };
}

bool topic_set_any_more(const struct topic_set *set)
{
	for (uint32_t i = 0; i < set->more_count; i++)
		if (set->more[i] != 0)
			return true;
	return false;
}

bool topic_set_meet_more(const struct topic_set *one, const struct topic_set *other)
{
	for (uint32_t i = 0; i < one->more_count && i < other->more_count; i++)
		if ((one->more[i] & other->more[i]) != 0)
			return true;
	return false;
}

int topic_set_next(const struct topic_set *set, int from)
{
	for (uint32_t word = (uint32_t)from / TOPIC_SET_WORD; word < word_count(set); word++) {
		uint64_t bits = word_of(set, word);

		if (word == (uint32_t)from / TOPIC_SET_WORD)
			bits &= UINT64_MAX << ((uint32_t)from % TOPIC_SET_WORD);
		if (bits != 0)
			return (int)(word * TOPIC_SET_WORD) + __builtin_ctzll(bits);
	}
	return -1;
}
