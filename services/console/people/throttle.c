/*
 * throttle.c: counts failed tries to sign in, and tells how long to wait
 *
 * Owns:      a table of names and one of networks, of fixed size, and their file.
 * Promises:  a wait is 15 minutes at most, also after the clock was set. A million names do not take more memory than the
 *            tables, and at 200 failures a minute it takes hours until they push out one name's count.
 * Fails by:  a negative errno of writing; a file that cannot be read starts without failures.
 * Read next: throttle_file.c
 */
#include "services/console/people/throttle.h"

#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "services/console/people/throttle_file.h"
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 16384, NETWORKS_MOST = 16384 };

/* Of a name: five are free, then 2 s, 4 s, 8 s ... 15 min; one is forgiven each hour. */
enum { NAME_FREE = 5, NAME_MOST = NAME_FREE + 10 };
#define NAME_FORGIVEN_US US_PER_HOUR
#define NAME_WAIT_MOST_US (15 * US_PER_MINUTE)

/* Of a network 20 in 10 minutes, of all together 200 a minute. */
enum { NETWORK_FREE = 20, TOGETHER_FREE = 200 };
#define NETWORK_FORGIVEN_US (10 * US_PER_MINUTE / NETWORK_FREE)
#define TOGETHER_FORGIVEN_US (US_PER_MINUTE / TOGETHER_FREE)

#define WRITE_EACH_US (10 * US_PER_S)

struct throttle {
	char *path;
	struct throttle_counts counts;
	bool is_changed;
	int64_t written_us;
};

static void empty(struct throttle *throttle)
{
	throttle->counts.names.count = throttle->counts.networks.count = 0;
	throttle->counts.together = (struct throttle_count){ 0 };
	throttle->counts.key = hash_key_new();
}

struct throttle *throttle_open(const char *path, int64_t now_us)
{
	struct throttle *throttle = memory_new(sizeof(*throttle));
	struct throttle_counts *counts = &throttle->counts;

	throttle->path = memory_copy_text(path);
	throttle->written_us = now_us;
	counts->names =
		(struct throttle_table){ memory_new(NAMES_MOST * sizeof(struct throttle_count)), 0, NAMES_MOST };
	counts->networks =
		(struct throttle_table){ memory_new(NETWORKS_MOST * sizeof(struct throttle_count)), 0, NETWORKS_MOST };
	if (!throttle_file_read(path, counts))
		empty(throttle);
	return throttle;
}

void throttle_free(struct throttle *throttle)
{
	if (!throttle)
		return;
	free(throttle->counts.names.all);
	free(throttle->counts.networks.all);
	free(throttle->path);
	free(throttle);
}

/* ---- one count ---- */

static int failures(const struct throttle_count *count, int64_t forgiven_us, int64_t now_us)
{
	int64_t left_us = count->until_us - now_us;

	return left_us > 0 ? (int)((left_us + forgiven_us - 1) / forgiven_us) : 0;
}

/* Brings it to what it can be at most, if the clock was set back. */
static void keep_within(struct throttle_count *count, int64_t most_us, int64_t now_us)
{
	if (count->until_us > now_us + most_us)
		count->until_us = now_us + most_us;
	if (count->last_us > now_us)
		count->last_us = now_us;
}

static void add_failure(struct throttle_count *count, int64_t forgiven_us, int64_t most_us, int64_t now_us)
{
	if (count->until_us < now_us)
		count->until_us = now_us;
	count->until_us += forgiven_us;
	count->last_us = now_us;
	keep_within(count, most_us, now_us);
}

static int64_t name_wait_us(struct throttle_count *count, int64_t now_us)
{
	int over;
	int64_t wait_us;

	keep_within(count, NAME_MOST * NAME_FORGIVEN_US, now_us);
	over = failures(count, NAME_FORGIVEN_US, now_us) - NAME_FREE;
	if (over <= 0)
		return 0;
	wait_us = US_PER_S << over;
	if (wait_us > NAME_WAIT_MOST_US)
		wait_us = NAME_WAIT_MOST_US;
	wait_us -= now_us - count->last_us;
	return wait_us > 0 ? wait_us : 0;
}

/* Until there is room for one more of `free`. */
static int64_t full_wait_us(struct throttle_count *count, int64_t forgiven_us, int free_count, int64_t now_us)
{
	int64_t over_us;

	keep_within(count, free_count * forgiven_us, now_us);
	over_us = count->until_us - now_us - (free_count - 1) * forgiven_us;
	return over_us > 0 ? over_us : 0;
}

/* ---- tables ---- */

static uint64_t hash_name(const struct throttle *throttle, const char *name)
{
	return keyed_hash(&throttle->counts.key, bytes_of(name));
}

static uint64_t hash_network(const struct throttle *throttle, const struct source_key *network)
{
	return keyed_hash(&throttle->counts.key, BYTES(network->bytes, sizeof(network->bytes)));
}

/* The tables are small enough to be looked through: 16384 numbers take some microseconds, a password 20 milliseconds. */
static struct throttle_count *find(const struct throttle_table *table, uint64_t hash)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->all[i].hash == hash)
			return &table->all[i];
	return NULL;
}

/* What is forgiven first has the fewest failures, or has none any more. */
static struct throttle_count *first_forgiven(const struct throttle_table *table)
{
	struct throttle_count *first = &table->all[0];

	for (size_t i = 1; i < table->count; i++)
		if (table->all[i].until_us < first->until_us)
			first = &table->all[i];
	return first;
}

static struct throttle_count *find_or_add(struct throttle_table *table, uint64_t hash)
{
	struct throttle_count *count = find(table, hash);

	if (count)
		return count;
	count = table->count < table->most ? &table->all[table->count++] : first_forgiven(table);
	*count = (struct throttle_count){ .hash = hash };
	return count;
}

/* ---- the three together ---- */

static int64_t longer_us(int64_t a_us, int64_t b_us)
{
	return a_us > b_us ? a_us : b_us;
}

int64_t throttle_wait_us(struct throttle *throttle, const char *name, const struct source_key *network, int64_t now_us)
{
	struct throttle_counts *counts = &throttle->counts;
	struct throttle_count *of_name = name ? find(&counts->names, hash_name(throttle, name)) : NULL;
	struct throttle_count *of_network = network ? find(&counts->networks, hash_network(throttle, network)) : NULL;
	int64_t wait_us = full_wait_us(&counts->together, TOGETHER_FORGIVEN_US, TOGETHER_FREE, now_us);

	if (of_name)
		wait_us = longer_us(wait_us, name_wait_us(of_name, now_us));
	if (of_network)
		wait_us = longer_us(wait_us, full_wait_us(of_network, NETWORK_FORGIVEN_US, NETWORK_FREE, now_us));
	return wait_us;
}

void throttle_failed(struct throttle *throttle, const char *name, const struct source_key *network, int64_t now_us)
{
	struct throttle_counts *counts = &throttle->counts;

	if (name)
		add_failure(find_or_add(&counts->names, hash_name(throttle, name)), NAME_FORGIVEN_US,
			NAME_MOST * NAME_FORGIVEN_US, now_us);
	if (network)
		add_failure(find_or_add(&counts->networks, hash_network(throttle, network)), NETWORK_FORGIVEN_US,
			NETWORK_FREE * NETWORK_FORGIVEN_US, now_us);
	add_failure(&counts->together, TOGETHER_FORGIVEN_US, TOGETHER_FREE * TOGETHER_FORGIVEN_US, now_us);
	throttle->is_changed = true;
}

void throttle_succeeded(struct throttle *throttle, const char *name)
{
	struct throttle_count *count = find(&throttle->counts.names, hash_name(throttle, name));

	if (!count)
		return;
	count->until_us = 0;
	throttle->is_changed = true;
}

int throttle_write(struct throttle *throttle, int64_t now_us, bool is_last)
{
	_cleanup_free_ char *path = memory_copy_text(throttle->path);
	int64_t since_us = now_us - throttle->written_us;
	int r;

	if (!throttle->is_changed || (!is_last && since_us >= 0 && since_us < WRITE_EACH_US))
		return 0;
	r = file_make_private_folder(dirname(path));
	if (r == 0)
		r = throttle_file_write(throttle->path, &throttle->counts, now_us);
	if (r < 0)
		return r;
	throttle->is_changed = false;
	throttle->written_us = now_us;
	return 0;
}
