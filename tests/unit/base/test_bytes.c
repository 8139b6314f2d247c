#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "tests/unit/cmocka_all.h"

static void a_prefix_sorts_before_what_it_begins(void **state)
{
	(void)state;
	assert_true(bytes_compare(bytes_of("cart"), bytes_of("cart1")) < 0);
	assert_true(bytes_compare(bytes_of("cart1"), bytes_of("cart")) > 0);
	assert_true(bytes_compare(bytes_of(""), bytes_of("a")) < 0);
	assert_int_equal(bytes_compare(bytes_of("cart"), bytes_of("cart")), 0);
	assert_int_equal(bytes_compare(BYTES(NULL, 0), bytes_of("")), 0);
}

static void bytes_sort_unsigned(void **state)
{
	(void)state;
	assert_true(bytes_compare(bytes_of("\x7f"), bytes_of("\x80")) < 0);
}

static void no_bytes_are_equal_to_no_bytes(void **state)
{
	(void)state;
	assert_true(bytes_equal(BYTES(NULL, 0), bytes_of("")));
	assert_false(bytes_equal(BYTES(NULL, 0), bytes_of("a")));
}

static void a_buffer_keeps_what_was_added_while_it_grows(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer buffer = { 0 };
	for (int i = 0; i < 10000; i++)
		buffer_printf(&buffer, "%04d", i);
	assert_int_equal(buffer.len, 40000);
	assert_memory_equal(buffer.data, "00000001", 8);
	assert_memory_equal(buffer.data + 39996, "9999", 4);
}

static void what_is_printed_is_whole_however_long_it_is(void **state)
{
	(void)state;
	for (int len = 0; len < 200; len++) {
		_cleanup_(buffer_free) struct buffer buffer = { 0 };
		buffer_printf(&buffer, "<%*d>", len, 7);
		assert_int_equal(buffer.len, (size_t)(len > 0 ? len : 1) + 2);
		assert_string_equal(buffer_text(&buffer) + buffer.len - 2, "7>");
	}
}

static void growing_alone_changes_no_length(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer buffer = { 0 };
	buffer_add_text(&buffer, "abc");
	memcpy(buffer_grow(&buffer, 1000), "defg", 4);
	assert_int_equal(buffer.len, 3);
	buffer.len += 4;
	assert_string_equal(buffer_text(&buffer), "abcdefg");
	assert_int_equal(buffer.len, 7);
}

static void an_empty_buffer_is_an_empty_text(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer buffer = { 0 };
	assert_string_equal(buffer_text(&buffer), "");
	buffer_add(&buffer, NULL, 0);
	assert_int_equal(buffer.len, 0);
}

static void numbers_come_back_as_they_went_in(void **state)
{
	(void)state;
	_cleanup_(buffer_free) struct buffer buffer = { 0 };
	buffer_add_u16(&buffer, 0xfedc);
	buffer_add_u32(&buffer, 0xfedcba98);
	buffer_add_be64(&buffer, UINT64_C(0xfedcba9876543210));
	assert_int_equal(buffer.len, 14);
	assert_int_equal(get_u16(buffer.data), 0xfedc);
	assert_int_equal(get_u32(buffer.data + 2), 0xfedcba98);
	assert_true(get_be64(buffer.data + 6) == UINT64_C(0xfedcba9876543210));
	assert_int_equal(buffer.data[0], 0xdc); /* little endian on the wire, whatever the machine */
	assert_int_equal(buffer.data[6], 0xfe);
}

static void big_endian_numbers_sort_as_numbers(void **state)
{
	(void)state;
	const uint64_t numbers[] = { 0, 1, 255, 256, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX };
	for (size_t i = 1; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint8_t small[8], large[8];
		put_be64(small, numbers[i - 1]);
		put_be64(large, numbers[i]);
		assert_true(bytes_compare(BYTES(small, 8), BYTES(large, 8)) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_sorts_before_what_it_begins),
		cmocka_unit_test(bytes_sort_unsigned),
		cmocka_unit_test(no_bytes_are_equal_to_no_bytes),
		cmocka_unit_test(a_buffer_keeps_what_was_added_while_it_grows),
		cmocka_unit_test(what_is_printed_is_whole_however_long_it_is),
		cmocka_unit_test(growing_alone_changes_no_length),
		cmocka_unit_test(an_empty_buffer_is_an_empty_text),
		cmocka_unit_test(numbers_come_back_as_they_went_in),
		cmocka_unit_test(big_endian_numbers_sort_as_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
