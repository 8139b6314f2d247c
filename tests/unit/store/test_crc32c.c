/* tests of bus/store/rocks/crc32c.c */
#include "bus/store/rocks/crc32c.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/store/numbers.h"
#include <dlfcn.h>
#include <string.h>

#ifdef __x86_64__

typedef uint32_t extend_fn(uint32_t crc, const char *data, size_t len);

/* RFC 3720, appendix B.4; the last one is the check value that catalogues of sums give. */
static void the_sum_is_that_of_the_standard(void **unused)
{
	char zeros[32] = { 0 }, ones[32], rising[32];

	(void)unused;
	memset(ones, 0xff, sizeof(ones));
	for (size_t i = 0; i < sizeof(rising); i++)
		rising[i] = (char)i;
	assert_int_equal(crc32c_extend(0, zeros, sizeof(zeros)), 0x8a9136aa);
	assert_int_equal(crc32c_extend(0, ones, sizeof(ones)), 0x62a8ab43);
	assert_int_equal(crc32c_extend(0, rising, sizeof(rising)), 0x46dd794e);
	assert_int_equal(crc32c_extend(0, "123456789", 9), 0xe3069283);
}

static void rocksdb_itself_would_take_the_same_sum_of_any_bytes(void **unused)
{
	static char bytes[5000];
	extend_fn *of_rocksdb;
	uint32_t random = 1;

	(void)unused;
	*(void **)&of_rocksdb = dlsym(RTLD_NEXT, CRC32C_SYMBOL);
	assert_non_null(of_rocksdb);
	assert_ptr_not_equal(of_rocksdb, crc32c_extend);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
	for (size_t len = 0, at = 0; len < sizeof(bytes) - 16; len += 1 + len / 7, at = (at + 5) % 16)
		assert_int_equal(crc32c_extend(random + (uint32_t)len, bytes + at, len),
			of_rocksdb(random + (uint32_t)len, bytes + at, len));
}

/* As the dynamic linker answers for all that RocksDB calls. */
static void rocksdb_sums_with_the_function_of_the_program(void **unused)
{
	struct folder folder = folder_new();
	struct store *store = opened(folder.path);
	extend_fn *named;

	(void)unused;
	*(void **)&named = dlsym(RTLD_DEFAULT, CRC32C_SYMBOL);
	assert_ptr_equal(named, crc32c_extend);
	assert_int_equal(put_number(store, 0, true), 0);
	store_close(store);
	store = opened(folder.path);
	assert_int_equal(count_numbers(store), 1);
	store_close(store);
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_is_that_of_the_standard),
		cmocka_unit_test(rocksdb_itself_would_take_the_same_sum_of_any_bytes),
		cmocka_unit_test(rocksdb_sums_with_the_function_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
