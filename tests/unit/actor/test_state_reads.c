/*
 * test_state_reads.c: whatever is remembered of the store, every read is what a plain table of each layer gives
 *
 * Thousands of steps in an order that is random and the same each time: folds, turns, turns dropped, flushes, what the log forgets,
 * a walk within a walk. One table after the other gets its first row, long after it was asked for. Over the store on disk, whose
 * cursors see it as it was, and over its twin in memory.
 */
#include "bus.pb.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/state_rows.h"
#include "bus/base/map.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <pb_encode.h>

enum { KEYS = 24, TABLES = 6, KEYS_OF_TABLE = KEYS / TABLES, STEPS = 6000 };

struct row {
	uint64_t value; /* 0: none */
	uint64_t seq;   /* of the raw fact that wrote it */
};

struct world {
	struct state *state;
	struct row folded[KEYS];
	struct over {
		uint64_t turn, value; /* turn 0: nothing over it */
	} over[KEYS];
	uint64_t turn, oldest, seq, forgotten_before, random;
	uint64_t used; /* so many keys were ever written */
	bool projects;
};

static uint64_t below(struct world *world, uint64_t most)
{
	world->random ^= world->random << 13;
	world->random ^= world->random >> 7;
	world->random ^= world->random << 17;
	return world->random % most;
}

/* Two prefixes, of which one is in the other's way when a walk's end stands wrong. */
static const char *key_of(uint64_t n)
{
	static char key[16];

	snprintf(key, sizeof(key), "%c%02d", n % 2 ? 'a' : 'b', (int)n);
	return key;
}

static const char *table_of(uint64_t n)
{
	static const char *const tables[TABLES] = { "t", "t.a", "t.b", "ta", "tb", "u" };

	return tables[n / KEYS_OF_TABLE];
}

static uint64_t expected(const struct world *world, uint64_t n)
{
	const struct row *row = &world->folded[n];

	if (!world->projects && world->over[n].turn > 0)
		return world->over[n].value;
	return row->seq < world->forgotten_before ? 0 : row->value;
}

static void write_one(struct world *world, bool gone)
{
	uint64_t n = below(world, world->used), value = gone ? 0 : ++world->seq;

	state_write_fact(world->state, ROW_RAW, ++world->seq);
	if (gone)
		state_delete(world->state, table_of(n), "shop", key_of(n));
	else
		state_put_number(world->state, table_of(n), "shop", key_of(n), value);
	if (world->projects)
		world->folded[n] = (struct row){ value, world->seq };
	else
		world->over[n] = (struct over){ world->turn, value };
}

static void next_turn(struct world *world)
{
	world->projects = below(world, 2) == 0;
	if (world->projects)
		state_write_projected(world->state);
	else
		state_write_turn(world->state, ++world->turn);
}

static void drop_oldest(struct world *world)
{
	if (world->oldest >= world->turn)
		return;
	state_drop_turn(world->state, ++world->oldest);
	for (int n = 0; n < KEYS; n++)
		if (world->over[n].turn == world->oldest)
			world->over[n].turn = 0;
}

static void drop_all(struct world *world)
{
	state_drop_turns(world->state);
	memset(world->over, 0, sizeof(world->over));
	world->oldest = world->turn;
	world->projects = true;
}

static void forget_some(struct world *world)
{
	Forgotten forgotten = { .raw_before = world->forgotten_before + below(world, 8) };
	uint8_t payload[64];
	pb_ostream_t stream = pb_ostream_from_buffer(payload, sizeof(payload));

	if (forgotten.raw_before > world->seq)
		return;
	assert_true(pb_encode(&stream, Forgotten_fields, &forgotten));
	assert_int_equal(state_hear_forgotten(world->state, BYTES(payload, stream.bytes_written)), 0);
	world->forgotten_before = forgotten.raw_before;
}

static void flush(struct world *world)
{
	state_pass(world->state, ++world->seq);
	assert_int_equal(state_flush(world->state), 0);
	while (state_is_sweeping(world->state))
		assert_int_equal(state_sweep(world->state), 0);
}

struct walk {
	const struct world *world;
	const char *table;
	int rows;
	bool inner;
};

static bool step_of_walk(const char *shop, const char *key, struct bytes value, void *context)
{
	struct walk *walk = context;

	assert_string_equal(shop, "shop");
	assert_int_equal(get_be64(value.data), expected(walk->world, strtoul(key + 1, NULL, 10)));
	walk->rows++;
	if (!walk->inner) {
		struct walk inner = { .world = walk->world, .inner = true };

		state_each(walk->world->state, walk->table, "shop", *key == 'a' ? "b" : "a", step_of_walk, &inner);
	}
	return true;
}

/* `shop` NULL: over all shops. */
static void check_walk(const struct world *world, uint64_t first, const char *shop, const char *prefix)
{
	struct walk walk = { .world = world, .table = table_of(first) };
	int rows = 0;

	for (uint64_t n = first; n < first + KEYS_OF_TABLE; n++)
		rows += *key_of(n) == *prefix && expected(world, n) > 0;
	state_each(world->state, walk.table, shop, prefix, step_of_walk, &walk);
	assert_int_equal(walk.rows, rows);
}

static void check(struct world *world)
{
	for (uint64_t n = 0; n < KEYS; n++) {
		assert_int_equal(state_number(world->state, table_of(n), "shop", key_of(n)), expected(world, n));
		assert_int_equal(state_has(world->state, table_of(n), "shop", key_of(n)), expected(world, n) > 0);
	}
	check_walk(world, below(world, TABLES) * KEYS_OF_TABLE, below(world, 2) ? "shop" : NULL,
		below(world, 2) ? "a" : "b");
}

static void step(struct world *world)
{
	switch (below(world, 16)) {
	case 0:
		flush(world);
		break;
	case 1:
		drop_oldest(world);
		break;
	case 2:
		if (below(world, 4) == 0)
			drop_all(world);
		break;
	case 3:
		forget_some(world);
		break;
	case 4:
	case 5:
		next_turn(world);
		break;
	default:
		write_one(world, below(world, 3) == 0);
	}
	if (below(world, 3) == 0)
		check(world);
}

static void live(struct store *store)
{
	struct world world = { .random = 88172645463325252, .projects = true };

	world.state = state_new(&store);
	state_write_projected(world.state);
	for (int i = 0; i < STEPS; i++) {
		world.used = 1 + (uint64_t)i * KEYS / STEPS;
		step(&world);
	}
	assert_int_equal(state_forget(world.state), 0);
	memset(world.folded, 0, sizeof(world.folded));
	memset(world.over, 0, sizeof(world.over));
	check(&world);
	state_free(world.state);
}

static void every_read_is_that_of_a_plain_table_in_memory(void **context)
{
	struct store *store = NULL;

	(void)context;
	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	live(store);
}

static void every_read_is_that_of_a_plain_table_on_disk(void **context)
{
	struct folder folder = folder_new();
	struct store *store = NULL;

	(void)context;
	assert_int_equal(store_open(folder.path, &runtime_store_options, &store, NULL), 0);
	live(store);
	folder_remove(&folder);
}

/* Who may name shops must not grow a process for ever by it. */
static void what_is_remembered_of_empty_tables_is_bounded_and_right(void **context)
{
	enum { SHOPS = 10000, MOST = 4096 };
	struct store *store = NULL;
	char shop[16];

	(void)context;
	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	struct state *state = state_new(&store);
	state_write_projected(state);
	for (int i = 0; i < SHOPS; i++) {
		snprintf(shop, sizeof(shop), "shop-%d", i);
		assert_false(state_has(state, "t", shop, "k"));
		if (i % 100 == 0)
			state_put_bytes(state, "t", shop, "k", BYTES("", 0));
		assert_true(map_count(state->tables) <= MOST);
	}
	for (int i = 0; i < SHOPS; i++) {
		snprintf(shop, sizeof(shop), "shop-%d", i);
		assert_int_equal(state_has(state, "t", shop, "k"), i % 100 == 0);
	}
	state_free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_remembered_of_empty_tables_is_bounded_and_right),
		cmocka_unit_test(every_read_is_that_of_a_plain_table_in_memory),
		cmocka_unit_test(every_read_is_that_of_a_plain_table_on_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
