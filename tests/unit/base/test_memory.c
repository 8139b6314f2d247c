/* test_memory.c: memory that is there, and empty where that is promised */
#include "bus/base/memory.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
#include <unistd.h>

enum { MUCH = 32 << 20 };

static void what_is_new_is_empty(void **state)
{
	uint8_t *memory = memory_new(100), *none = memory_new(0);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(memory[i], 0);
	assert_non_null(none);
	free(none);
	free(memory);
}

static void what_is_resized_keeps_what_it_held(void **state)
{
	char *memory = memory_resize(NULL, 5);

	(void)state;
	memcpy(memory, "held", 5);
	memory = memory_resize(memory, 5000);
	assert_string_equal(memory, "held");
	memory = memory_resize(memory, 0);
	assert_non_null(memory);
	free(memory);
}

static void a_copy_is_whole_and_ends_as_a_text(void **state)
{
	char *bytes = memory_copy(BYTES("a\0bc", 3)), *none = memory_copy(BYTES(NULL, 0)),
	     *text = memory_copy_text("abc");

	(void)state;
	assert_memory_equal(bytes, "a\0b", 4);
	assert_string_equal(none, "");
	assert_string_equal(text, "abc");
	free(bytes);
	free(none);
	free(text);
}

static void what_the_process_takes_is_what_it_has_written_to(void **state)
{
	uint64_t before = memory_resident_bytes();
	volatile char *memory = malloc(MUCH); /* volatile: an optimizing compiler leaves out what nobody reads */

	(void)state;
	assert_true(before > 0);
	for (size_t at = 0; at < MUCH; at += 1024)
		memory[at] = 1;
	assert_in_range(
		memory_resident_bytes() - before, MUCH / 2, 16 * (uint64_t)MUCH); /* a sanitizer takes some too */
	free((void *)memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_new_is_empty),
		cmocka_unit_test(what_is_resized_keeps_what_it_held),
		cmocka_unit_test(a_copy_is_whole_and_ends_as_a_text),
		cmocka_unit_test(what_the_process_takes_is_what_it_has_written_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
