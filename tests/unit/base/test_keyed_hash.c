/* test_keyed_hash.c: against the example of the paper (appendix A), and that the key counts */
#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"

static void it_is_siphash_2_4(void **state)
{
	const struct hash_key key = { { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) } };
	uint8_t in[15];

	(void)state;
	for (uint8_t i = 0; i < sizeof(in); i++)
		in[i] = i;
	assert_true(keyed_hash(&key, BYTES(in, sizeof(in))) == UINT64_C(0xa129ca6149be45e5));
}

static void each_key_is_another_and_gives_another_hash(void **state)
{
	struct hash_key one = hash_key_new(), other = hash_key_new();

	(void)state;
	assert_true(keyed_hash(&one, bytes_of("network")) != keyed_hash(&other, bytes_of("network")));
	assert_true(keyed_hash(&one, bytes_of("network")) == keyed_hash(&one, bytes_of("network")));
	assert_true(keyed_hash(&one, bytes_of("")) != keyed_hash(&one, BYTES("\0", 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_siphash_2_4),
		cmocka_unit_test(each_key_is_another_and_gives_another_hash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
