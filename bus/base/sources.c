/*
 * sources.c: limits the cost of unproven peers, per network and in all
 *
 * Owns:      one entry for each source that holds something, owes work, or has proven itself, up to
 *            sources_most.
 * Promises:  the sums are those of the entries; a borrowed entry stays; a lookup, an entry and a leave cost
 *            the same however many sources there are, even if strangers choose addresses that collide in a
 *            hash without a key.
 * Fails by:  a verdict.
 */
#include "bus/base/sources.h"
#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t PROVEN_FOR_US = US_PER_HOUR;
static const int64_t REST_MOST_US = 10 * US_PER_S; /* a debt does not grow past this, however long the flood was */
enum { KIND_IPV4 = 1, KIND_IPV6, KIND_USER, IPV6_NETWORK_BYTES = 8, TOLD_MOST = 64 };

struct source {
	struct list idle; /* in the list of sources that hold nothing, the longest unseen first */
	struct source_key key;
	unsigned connections, attached;
	size_t bytes;
	int64_t paid_at_us;      /* when its work will have been paid back */
	int64_t proven_until_us; /* 0: the source never proved itself */
};

struct told {
	struct source_key key; /* of kind 0: the source is not known */
	enum source_verdict why;
	uint64_t count;
};

struct sources {
	struct source_limits limits;
	struct hash_key hash_key;
	struct map *entries;
	struct list idle_unproven, idle_proven;
	unsigned connections;
	size_t bytes, bytes_peak;
	int64_t paid_at_us;
	uint64_t turned_away[SOURCE_WITHOUT_DESCRIPTOR + 1];
	struct told told[TOLD_MOST]; /* the oldest first */
	unsigned told_count;
};

/* ---- keys ---- */

static struct source_key make_key(uint8_t kind, const void *bytes, size_t len)
{
	struct source_key key = { .bytes = { kind } };

	memcpy(key.bytes + 1, bytes, len);
	return key;
}

bool source_key_of_address(const struct sockaddr *address, struct source_key *ret)
{
	if (address->sa_family == AF_INET) {
		*ret = make_key(KIND_IPV4, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
		return true;
	}
	if (address->sa_family == AF_INET6) {
		const struct in6_addr *ip = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;

		*ret = IN6_IS_ADDR_V4MAPPED(ip) ? make_key(KIND_IPV4, ip->s6_addr + 12, 4)
						: make_key(KIND_IPV6, ip->s6_addr, IPV6_NETWORK_BYTES);
		return true;
	}
	return false;
}

bool source_key_of_text(const char *address, struct source_key *ret)
{
	struct sockaddr_in ipv4 = { .sin_family = AF_INET };
	struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, address, &ipv4.sin_addr) == 1)
		return source_key_of_address((const struct sockaddr *)&ipv4, ret);
	return inet_pton(AF_INET6, address, &ipv6.sin6_addr) == 1 &&
		source_key_of_address((const struct sockaddr *)&ipv6, ret);
}

struct source_key source_key_of_user(uint32_t uid)
{
	return make_key(KIND_USER, &uid, sizeof(uid));
}

void source_key_text(const struct source_key *key, char ret[64])
{
	char address[INET6_ADDRSTRLEN] = "";
	uint32_t uid;

	ret[0] = '\0';
	switch (key->bytes[0]) {
	case KIND_IPV4:
		inet_ntop(AF_INET, key->bytes + 1, ret, 64);
		break;
	case KIND_IPV6:
		inet_ntop(AF_INET6, key->bytes + 1, address, sizeof(address));
		snprintf(ret, 64, "%s/64", address);
		break;
	case KIND_USER:
		memcpy(&uid, key->bytes + 1, sizeof(uid));
		snprintf(ret, 64, "uid:%lu", (unsigned long)uid);
		break;
	}
}

/* ---- entries ---- */

struct sources *sources_new(const struct source_limits *limits)
{
	struct sources *sources = memory_new(sizeof(*sources));

	sources->hash_key = hash_key_new();
	sources->entries = map_new();
	list_init(&sources->idle_unproven);
	list_init(&sources->idle_proven);
	sources_set_limits(sources, limits);
	return sources;
}

void sources_set_limits(struct sources *sources, const struct source_limits *limits)
{
	assert(limits->work_percent_each > 0 && limits->work_percent_all > 0);
	sources->limits = *limits;
}

static void free_entry(struct bytes key, void *source, void *context)
{
	(void)key;
	(void)context;
	free(source);
}

void sources_free(struct sources *sources)
{
	if (!sources)
		return;
	map_each(sources->entries, free_entry, NULL);
	map_free(sources->entries);
	free(sources);
}

/* The map hashes a number first that no peer can foresee. */
struct map_key {
	uint8_t bytes[sizeof(uint64_t) + sizeof(struct source_key)];
};

static struct map_key map_key_of(const struct sources *sources, const struct source_key *key)
{
	uint64_t hash = keyed_hash(&sources->hash_key, BYTES(key->bytes, sizeof(key->bytes)));
	struct map_key made;

	memcpy(made.bytes, &hash, sizeof(hash));
	memcpy(made.bytes + sizeof(hash), key, sizeof(*key));
	return made;
}

static struct source *look_up(const struct sources *sources, const struct source_key *key)
{
	struct map_key made = map_key_of(sources, key);

	return map_get(sources->entries, BYTES(made.bytes, sizeof(made.bytes)));
}

static bool is_held(const struct source *source)
{
	return source->connections > 0 || source->attached > 0 || source->bytes > 0;
}

static void forget(struct sources *sources, struct source *source)
{
	struct map_key key = map_key_of(sources, &source->key);

	list_remove(&source->idle);
	map_remove(sources->entries, BYTES(key.bytes, sizeof(key.bytes)));
	free(source);
}

/*
 * The entry whose loss matters least; NULL: all of them hold something. A debt counts even after its source's
 * proof has expired.
 */
static struct source *missed_least(const struct sources *sources, int64_t now_us)
{
	const struct list *unproven = &sources->idle_unproven, *proven = &sources->idle_proven;
	struct source *longest = list_empty(proven) ? NULL : LIST_ENTRY(proven->next, struct source, idle);

	if (longest && !source_is_proven(longest, now_us) && longest->paid_at_us <= now_us)
		return longest;
	return list_empty(unproven) ? longest : LIST_ENTRY(unproven->next, struct source, idle);
}

static bool has_room(const struct sources *sources)
{
	return map_count(sources->entries) < sources->limits.sources_most || !list_empty(&sources->idle_unproven) ||
		!list_empty(&sources->idle_proven);
}

static struct source *find(struct sources *sources, const struct source_key *key, int64_t now_us)
{
	struct source *source = look_up(sources, key);
	struct map_key made = map_key_of(sources, key);

	if (source)
		return source;
	if (!has_room(sources))
		return NULL;
	if (map_count(sources->entries) >= sources->limits.sources_most)
		forget(sources, missed_least(sources, now_us));
	source = memory_new(sizeof(*source));
	list_init(&source->idle);
	source->key = *key;
	map_put(sources->entries, BYTES(made.bytes, sizeof(made.bytes)), source);
	return source;
}

const struct source *source_find(const struct sources *sources, const struct source_key *key)
{
	return look_up(sources, key);
}

const struct source_key *source_key(const struct source *source)
{
	return source ? &source->key : NULL;
}

/* If the source holds nothing any more, it is forgotten, unless it owes work or has proven itself. */
static void settle(struct sources *sources, struct source *source, int64_t now_us)
{
	if (!source || is_held(source))
		return;
	if (source_is_proven(source, now_us))
		list_append(&sources->idle_proven, &source->idle);
	else if (source->paid_at_us > now_us)
		list_append(&sources->idle_unproven, &source->idle);
	else
		forget(sources, source);
}

/* ---- work ---- */

static void add_work(
	int64_t *paid_at_us, int64_t work_us, const struct source_limits *limits, int percent, int64_t now_us)
{
	int64_t from_us = *paid_at_us > now_us ? *paid_at_us : now_us;
	int64_t most_us = now_us + limits->work_burst_us * 100 / percent + REST_MOST_US;

	*paid_at_us = from_us + work_us * 100 / percent;
	if (*paid_at_us > most_us)
		*paid_at_us = most_us;
}

static int64_t rest_us(int64_t paid_at_us, int64_t burst_us, int percent, int64_t now_us)
{
	int64_t over_us = paid_at_us - now_us - burst_us * 100 / percent;

	return over_us > 0 ? over_us : 0;
}

void source_spend(struct sources *sources, struct source *source, int64_t work_us, int64_t now_us)
{
	add_work(&sources->paid_at_us, work_us, &sources->limits, sources->limits.work_percent_all, now_us);
	if (source)
		add_work(&source->paid_at_us, work_us, &sources->limits, sources->limits.work_percent_each, now_us);
}

void source_prove(struct sources *sources, struct source *source, int64_t work_us, int64_t now_us)
{
	sources->paid_at_us -= work_us * 100 / sources->limits.work_percent_all;
	if (!source)
		return;
	source->paid_at_us -= work_us * 100 / sources->limits.work_percent_each;
	source->proven_until_us = now_us + PROVEN_FOR_US;
}

int64_t source_rest_us(const struct sources *sources, const struct source *source, int64_t now_us)
{
	const struct source_limits *limits = &sources->limits;
	int64_t all_us = rest_us(sources->paid_at_us, limits->work_burst_us, limits->work_percent_all, now_us);
	int64_t own_us =
		!source ? 0 : rest_us(source->paid_at_us, limits->work_burst_us, limits->work_percent_each, now_us);

	if (source && source_is_proven(source, now_us))
		return own_us;
	return own_us > all_us ? own_us : all_us;
}

bool source_is_proven(const struct source *source, int64_t now_us)
{
	return source->proven_until_us > now_us;
}

/* ---- turned away ---- */

const char *source_verdict_text(enum source_verdict verdict)
{
	switch (verdict) {
	case SOURCE_WELCOME:
		break;
	case SOURCE_CROWDED:
		return "it holds as much as one network or user may";
	case SOURCE_FULL:
		return "all together hold as much as they may";
	case SOURCE_RESTING:
		return "it has to rest after work that proved nothing";
	case SOURCE_WITHOUT_DESCRIPTOR:
		return "no descriptor is left: raise the limit of open files (LimitNOFILE=)";
	}
	return "it is welcome";
}

void source_turn_away(struct sources *sources, const struct source_key *key, enum source_verdict why)
{
	const struct source_key nobody = { 0 };
	unsigned i = 0;

	key = key ? key : &nobody;
	sources->turned_away[why]++;
	while (i < sources->told_count && memcmp(&sources->told[i].key, key, sizeof(*key)) != 0)
		i++;
	if (i == TOLD_MOST)
		return;
	if (i == sources->told_count)
		sources->told[sources->told_count++] = (struct told){ .key = *key };
	sources->told[i].why = why;
	sources->told[i].count++;
}

void sources_turned_away(struct sources *sources, enum source_verdict why)
{
	source_turn_away(sources, NULL, why);
}

bool sources_take_turned_away(struct sources *sources, struct source_turned_away *ret)
{
	const struct told *first = sources->told;

	if (sources->told_count == 0)
		return false;
	*ret = (struct source_turned_away){ .why = first->why, .count = first->count };
	source_key_text(&first->key, ret->who);
	sources->told_count--;
	memmove(sources->told, sources->told + 1, sources->told_count * sizeof(*first));
	return true;
}

/* ---- connections ---- */

/* A source at its own limit is crowded even when all are full: other sources must not make room for it. */
enum source_verdict source_may_enter(const struct sources *sources, const struct source_key *key)
{
	const struct source *source = key ? look_up(sources, key) : NULL;

	if (key && (source ? source->connections : 0) >= sources->limits.connections_each)
		return SOURCE_CROWDED;
	if (sources->connections >= sources->limits.connections_all || (key && !source && !has_room(sources)))
		return SOURCE_FULL;
	return SOURCE_WELCOME;
}

enum source_verdict source_enter(
	struct sources *sources, const struct source_key *key, int64_t now_us, struct source **ret)
{
	enum source_verdict verdict = source_may_enter(sources, key);

	*ret = NULL;
	if (verdict != SOURCE_WELCOME) {
		source_turn_away(sources, key, verdict);
		return verdict;
	}
	sources->connections++;
	if (!key)
		return SOURCE_WELCOME;
	*ret = find(sources, key, now_us);
	list_remove(&(*ret)->idle);
	(*ret)->connections++;
	return SOURCE_WELCOME;
}

void source_leave(struct sources *sources, struct source *source, int64_t now_us)
{
	sources->connections--;
	if (source)
		source->connections--;
	settle(sources, source, now_us);
}

struct source *source_attach(struct sources *sources, const struct source_key *key, int64_t now_us)
{
	struct source *source = find(sources, key, now_us);

	if (!source)
		return NULL;
	list_remove(&source->idle);
	source->attached++;
	return source;
}

void source_detach(struct sources *sources, struct source *source, int64_t now_us)
{
	if (!source)
		return;
	source->attached--;
	settle(sources, source, now_us);
}

/* ---- bytes ---- */

bool source_take_bytes(struct sources *sources, struct source *source, size_t bytes, enum source_verdict *ret_verdict)
{
	const struct source_limits *limits = &sources->limits;

	*ret_verdict = SOURCE_WELCOME;
	if (source &&
		bytes > limits->bytes_each - (source->bytes < limits->bytes_each ? source->bytes : limits->bytes_each))
		*ret_verdict = SOURCE_CROWDED;
	else if (bytes > limits->bytes_all - (sources->bytes < limits->bytes_all ? sources->bytes : limits->bytes_all))
		*ret_verdict = SOURCE_FULL;
	if (*ret_verdict != SOURCE_WELCOME)
		return false;
	if (source)
		source->bytes += bytes;
	sources->bytes += bytes;
	if (sources->bytes > sources->bytes_peak)
		sources->bytes_peak = sources->bytes;
	return true;
}

void source_give_bytes(struct sources *sources, struct source *source, size_t bytes)
{
	if (source)
		source->bytes -= bytes;
	sources->bytes -= bytes;
}

size_t source_bytes(const struct sources *sources, const struct source *source)
{
	return source ? source->bytes : sources->bytes;
}

void sources_figures(const struct sources *sources, struct source_figures *ret)
{
	uint64_t turned_away = 0;

	for (size_t i = 0; i < sizeof(sources->turned_away) / sizeof(sources->turned_away[0]); i++)
		turned_away += sources->turned_away[i];
	*ret = (struct source_figures){ .turned_away = turned_away,
		.crowded = sources->turned_away[SOURCE_CROWDED],
		.full = sources->turned_away[SOURCE_FULL],
		.resting = sources->turned_away[SOURCE_RESTING],
		.without_descriptor = sources->turned_away[SOURCE_WITHOUT_DESCRIPTOR],
		.connections = sources->connections,
		.remembered = (unsigned)map_count(sources->entries),
		.bytes = sources->bytes,
		.bytes_peak = sources->bytes_peak };
}
