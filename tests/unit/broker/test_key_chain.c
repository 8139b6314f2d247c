/* tests of the key chains in bus/broker/queue/queue.c */
#include "bus/base/map.h"
#include "bus/broker/queue/queue.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>

/* Beside a map from the same keys: many of them, so that it grows, and some that share their low bits. */
static void a_key_has_one_chain_until_it_is_dropped(void **state)
{
	struct key_chain *chains = key_chain_new();
	struct map *map = map_new();

	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		uint64_t key = (uint64_t)(rand() % 5000) << (rand() % 2 * 20);
		struct chain *known = map_get(map, map_number(&key));
		struct chain *chain = key_chain_get(chains, key);

		assert_true(!known || known == chain);
		assert_int_equal(chain->key_hash, key);
		assert_true(list_empty(&chain->items));
		if (rand() % 3 == 0) {
			map_remove(map, map_number(&key));
			key_chain_drop(chains, chain);
		} else {
			map_put(map, map_number(&key), chain);
		}
	}
	assert_true(map_count(map) > 1000);
	map_free(map);
	key_chain_free(chains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_one_chain_until_it_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
