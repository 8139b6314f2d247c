/*
 * test_wals_check.c: which rows of write-ahead logs are whole, and what is said of the others; of logs that are made here
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/store/rocks/wals.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/store/wal.h"
#include <errno.h>
#include <string.h>

enum { RECORD_HEAD = 12 }; /* the number of the first operation, eight bytes, and how many there are, four */

static void put_little(uint8_t *at, uint64_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(number >> (8 * i));
}

static void record(uint8_t ret[200], uint64_t first, uint32_t count)
{
	memset(ret, 'v', 200);
	put_little(ret, first, 8);
	put_little(ret + 8, count, 4);
}

/* Whole, in one fragment. */
static void add_record(struct buffer *log, uint64_t first, uint32_t count)
{
	uint8_t body[200];

	record(body, first, count);
	wal_add(log, WAL_FULL, BYTES(body, sizeof(body)));
}

/* One that fills its block but for `left` bytes. */
static void add_record_up_to(struct buffer *log, uint64_t first, uint32_t count, size_t left)
{
	uint8_t body[WAL_BLOCK];
	size_t len = WAL_BLOCK - log->len - WAL_HEADER - left;

	memset(body, 'v', len);
	put_little(body, first, 8);
	put_little(body + 8, count, 4);
	wal_add(log, WAL_FULL, BYTES(body, len));
}

static void put_record(const struct folder *folder, const char *name, uint64_t first, uint32_t count)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };

	add_record(&log, first, count);
	wal_put(folder, name, buffer_bytes(&log));
}

static const struct wals nobody_knows;

static void expect_whole(const struct folder *folder, const struct wals *known, uint64_t needed_from)
{
	char why[512] = "as it was";

	if (wals_check(folder->path, known, needed_from, why) != 0)
		fail_msg("%s", why);
	assert_string_equal(why, "as it was");
}

/* `words`: behind "Corruption: FOLDER/" */
static void expect_refused(
	const struct folder *folder, const struct wals *known, uint64_t needed_from, const char *words)
{
	char why[512] = "", wanted[512];

	snprintf(wanted, sizeof(wanted), "Corruption: %s/%s", folder->path, words);
	assert_int_equal(wals_check(folder->path, known, needed_from, why), -EUCLEAN);
	assert_string_equal(why, wanted);
}

/* Between these two logs operations are missing. */
static void expect_gap(const struct folder *folder, uint64_t needed_from, const char *log, uint64_t ends,
	const char *next, uint64_t begins)
{
	char words[300];

	snprintf(words, sizeof(words),
		"%s ends with operation %llu, and %s begins with %llu: the end of the first is cut off, or one in "
		"between is missing",
		log, (unsigned long long)ends, next, (unsigned long long)begins);
	expect_refused(folder, &nobody_knows, needed_from, words);
}

static void a_log_may_begin_where_the_one_before_it_ends_or_sooner(void **state)
{
	static const uint64_t begins[] = { 104, 103, 1 };
	_cleanup_(folder_remove) struct folder folder = folder_new();

	(void)state;
	expect_whole(&folder, &nobody_knows, 0);
	put_record(&folder, "000003.log", 100, 4); /* 100 to 103 */
	expect_whole(&folder, &nobody_knows, 0);
	for (size_t i = 0; i < 3; i++) {
		put_record(&folder, "000005.log", begins[i], 1);
		expect_whole(&folder, &nobody_knows, 0);
	}
	put_record(&folder, "000005.log", 105, 1);
	expect_gap(&folder, 0, "000003.log", 103, "000005.log", 105);
}

static void of_many_records_the_first_and_the_last_count(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer log = { 0 };

	(void)state;
	add_record(&log, 10, 5);
	add_record(&log, 15, 1);
	add_record(&log, 16, 4);
	wal_put(&folder, "000001.log", buffer_bytes(&log));
	buffer_clear(&log);
	add_record(&log, 20, 1);
	add_record(&log, 21, 9);
	wal_put(&folder, "000002.log", buffer_bytes(&log));
	put_record(&folder, "000003.log", 30, 1);
	expect_whole(&folder, &nobody_knows, 0);
	put_record(&folder, "000003.log", 31, 1);
	expect_gap(&folder, 0, "000002.log", 29, "000003.log", 31);
}

static void numbers_are_as_long_as_they_may_be(void **state)
{
	const uint64_t large = (uint64_t)0x01020304 << 32 | 0x05060708;
	_cleanup_(folder_remove) struct folder folder = folder_new();

	(void)state;
	put_record(&folder, "1000001.log", large, 0x11223344);
	put_record(&folder, "1000002.log", large + 0x11223344, 1);
	expect_whole(&folder, &nobody_knows, 0);
	put_record(&folder, "1000002.log", large + 0x11223345, 1);
	expect_gap(&folder, 0, "1000001.log", large + 0x11223343, "1000002.log", large + 0x11223345);
}

/* `left`: so many bytes of a block are there for the record's first part, without its header. */
static void put_record_over_blocks(const struct folder *folder, const char *name, size_t left, bool is_of_three)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	uint8_t body[200];

	add_record(&log, 1, 1);
	wal_add_body(&log, WAL_FULL, 0); /* says nothing: it is too short for a number */
	record(body, 2, 7);
	add_record_up_to(&log, 2, 0, WAL_HEADER + left);
	wal_add(&log, WAL_FIRST, BYTES(body, left));
	assert_int_equal(log.len, WAL_BLOCK);
	if (is_of_three) {
		wal_add(&log, WAL_MIDDLE, BYTES(body + left, 3));
		left += 3;
	}
	wal_add(&log, WAL_LAST, BYTES(body + left, sizeof(body) - left));
	wal_put(folder, name, buffer_bytes(&log));
}

static void a_records_head_may_lie_in_several_blocks(void **state)
{
	(void)state;
	for (size_t left = 0; left <= RECORD_HEAD + 1; left++) {
		for (int three = 0; three < 2; three++) {
			_cleanup_(folder_remove) struct folder folder = folder_new();

			put_record_over_blocks(&folder, "000001.log", left, three);
			put_record(&folder, "000002.log", 9, 1); /* 2 and six more */
			expect_whole(&folder, &nobody_knows, 0);
			put_record(&folder, "000002.log", 10, 1);
			expect_gap(&folder, 0, "000001.log", 8, "000002.log", 10);
		}
	}
}

static void the_filled_up_end_of_a_block_is_passed_over(void **state)
{
	(void)state;
	for (size_t left = 1; left < WAL_HEADER; left++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer log = { 0 };

		add_record_up_to(&log, 1, 3, left);
		wal_add_zeros(&log, left);
		add_record(&log, 4, 2);
		wal_put(&folder, "000001.log", buffer_bytes(&log));
		put_record(&folder, "000002.log", 6, 1);
		expect_whole(&folder, &nobody_knows, 0);
		put_record(&folder, "000002.log", 7, 1);
		expect_gap(&folder, 0, "000001.log", 5, "000002.log", 7);
	}
}

/* Up to it the records count, and nothing behind it does. */
static void expect_end_of(const struct buffer *log)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();

	wal_put(&folder, "000001.log", buffer_bytes(log));
	put_record(&folder, "000002.log", 3, 1);
	expect_whole(&folder, &nobody_knows, 0);
	put_record(&folder, "000002.log", 4, 1);
	expect_gap(&folder, 0, "000001.log", 2, "000002.log", 4);
}

static void a_log_ends_at_its_first_unfinished_fragment(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	size_t at, end;

	(void)state;
	add_record(&log, 1, 2);
	at = log.len;
	add_record(&log, 3, 5);
	end = log.len;
	for (log.len = at; log.len < end; log.len += 9)
		expect_end_of(&log);
	log.len = end - 1;
	expect_end_of(&log);
	log.len = end;
	add_record(&log, 8, 2);
	log.data[at + 6] = 0; /* of no kind */
	expect_end_of(&log);
	log.data[at + 6] = WAL_LAST + 1;
	expect_end_of(&log);
}

/* A record that was begun and has no end says nothing; the next one begins afresh. */
static void a_record_without_an_end_does_not_count(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	uint8_t body[200];

	(void)state;
	add_record(&log, 1, 2);
	record(body, 50, 50);
	wal_add(&log, WAL_FIRST, BYTES(body, 100));
	expect_end_of(&log);
	wal_add(&log, WAL_MIDDLE, BYTES(body, 100));
	expect_end_of(&log);
	add_record(&log, 2, 1);
	expect_end_of(&log);
	wal_add(&log, WAL_FIRST, BYTES(body, 5));
	record(body, 2, 1);
	wal_add(&log, WAL_FIRST, BYTES(body, 6));
	wal_add(&log, WAL_LAST, BYTES(body + 6, 100));
	expect_end_of(&log);
}

/* Its last part may be a header alone. */
static void an_empty_end_ends_a_record(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	uint8_t body[200];

	(void)state;
	record(body, 1, 2);
	wal_add(&log, WAL_FIRST, BYTES(body, sizeof(body)));
	wal_add(&log, WAL_LAST, BYTES(body, 0));
	expect_end_of(&log);
}

static struct wals known_to_be(uint64_t one, uint64_t other)
{
	return (struct wals){ .count = 2, .numbers = { one, other } };
}

static void a_log_that_held_something_is_there_if_it_is_needed(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	const struct wals known = known_to_be(4, 6);
	static const char four[] = "000004.log is missing or empty: it held operations that were synced",
			  six[] = "000006.log is missing or empty: it held operations that were synced";

	(void)state;
	expect_refused(&folder, &known, 0, four);
	expect_refused(&folder, &known, 4, four);
	expect_refused(&folder, &known, 5, six);
	expect_refused(&folder, &known, 6, six);
	expect_whole(&folder, &known, 7);
	put_record(&folder, "000006.log", 1, 1);
	expect_refused(&folder, &known, 4, four);
	expect_whole(&folder, &known, 5);
	wal_put(&folder, "000004.log", bytes_of(""));
	expect_refused(&folder, &known, 4, four);
	put_record(&folder, "000004.log", 1, 1);
	expect_whole(&folder, &known, 0);
}

/* One that is not known may have been begun a moment before the end. */
static void a_log_without_a_record_is_refused_only_if_it_is_known(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	const struct wals known = known_to_be(4, 6);

	(void)state;
	put_record(&folder, "000004.log", 1, 1);
	wal_put(&folder, "000006.log", bytes_of("x"));
	expect_refused(&folder, &known, 0, "000006.log holds no whole record: it held operations that were synced");
	expect_whole(&folder, &known, 7);
	expect_whole(&folder, &nobody_knows, 0);
	put_record(&folder, "000007.log", 3, 1); /* and hides no gap */
	expect_gap(&folder, 0, "000004.log", 1, "000007.log", 3);
}

static void what_is_not_needed_may_have_gaps(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();

	(void)state;
	put_record(&folder, "000004.log", 1, 1);
	put_record(&folder, "000006.log", 5, 1);
	put_record(&folder, "000008.log", 6, 1);
	expect_whole(&folder, &nobody_knows, 6);
	expect_whole(&folder, &nobody_knows, 5);
	expect_gap(&folder, 4, "000004.log", 1, "000006.log", 5);
}

/* The database says why. */
static void a_log_that_cannot_be_read_is_left_to_the_database(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	const struct wals known = known_to_be(4, 6);
	char path[128];

	(void)state;
	put_record(&folder, "000004.log", 1, 1);
	FOLDER_PATH(path, folder, "000006.log");
	assert_int_equal(mkdir(path, 0700), 0);
	put_record(&folder, "000008.log", 2, 1);
	expect_whole(&folder, &known, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_may_begin_where_the_one_before_it_ends_or_sooner),
		cmocka_unit_test(of_many_records_the_first_and_the_last_count),
		cmocka_unit_test(numbers_are_as_long_as_they_may_be),
		cmocka_unit_test(a_records_head_may_lie_in_several_blocks),
		cmocka_unit_test(the_filled_up_end_of_a_block_is_passed_over),
		cmocka_unit_test(a_log_ends_at_its_first_unfinished_fragment),
		cmocka_unit_test(a_record_without_an_end_does_not_count),
		cmocka_unit_test(an_empty_end_ends_a_record),
		cmocka_unit_test(a_log_that_held_something_is_there_if_it_is_needed),
		cmocka_unit_test(a_log_without_a_record_is_refused_only_if_it_is_known),
		cmocka_unit_test(what_is_not_needed_may_have_gaps),
		cmocka_unit_test(a_log_that_cannot_be_read_is_left_to_the_database),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
