/*
 * test_torn.c: which damages of write-ahead logs a power cut leaves behind, byte by byte, in logs that are made here
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/store/rocks/wals.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/store/wal.h"
#include <string.h>

static bool torn_in(const struct folder *folder, char where[128])
{
	strcpy(where, "what was there before");
	return torn_tail(folder->path, where);
}

/* Of a folder with this log alone; `at`: where the first damage is. */
static void expect(const struct buffer *log, bool is_torn, size_t at)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char where[128], wanted[128];

	wal_put(&folder, "000007.log", buffer_bytes(log));
	snprintf(wanted, sizeof(wanted), "000007.log, byte %zu", at);
	if (torn_in(&folder, where) != is_torn)
		fail_msg("a log of %zu bytes is %storn: %s", log->len, is_torn ? "not " : "", where);
	assert_string_equal(where, wanted);
}

static void expect_whole(const struct buffer *log)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char where[128];

	wal_put(&folder, "000007.log", buffer_bytes(log));
	assert_false(torn_in(&folder, where));
	assert_string_equal(where, "");
}

static void where_no_log_is_nothing_is_torn(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char where[128];

	(void)state;
	assert_false(torn_in(&folder, where));
	assert_string_equal(where, "");
	assert_false(torn_tail("/no/such/folder", where));
}

static void whole_records_are_not_torn(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };

	(void)state;
	expect_whole(&log);
	wal_add_body(&log, WAL_FULL, 100);
	expect_whole(&log);
	wal_add_body(&log, WAL_FULL, 0);
	wal_add_body(&log, WAL_FULL, 1);
	wal_add(&log, WAL_FULL, BYTES("\0\0\0", 3));
	expect_whole(&log);
	wal_add_body(&log, WAL_FIRST, WAL_BLOCK - log.len - WAL_HEADER);
	wal_add_body(&log, WAL_MIDDLE, WAL_BLOCK - WAL_HEADER);
	wal_add_body(&log, WAL_LAST, 30);
	expect_whole(&log);
}

/* Less than a header is left of a block: zeros. A header fits: a fragment without a body, or a whole one. */
static void the_end_of_a_block_is_filled_up(void **state)
{
	(void)state;
	for (size_t left = 0; left <= WAL_HEADER + 1; left++) {
		_cleanup_(buffer_free) struct buffer log = { 0 };

		wal_add_body(&log, WAL_FULL, WAL_BLOCK - WAL_HEADER - left);
		if (left >= WAL_HEADER)
			wal_add_body(&log, WAL_FIRST, left - WAL_HEADER);
		else
			wal_add_zeros(&log, left);
		assert_int_equal(log.len, WAL_BLOCK);
		wal_add_body(&log, left >= WAL_HEADER ? WAL_LAST : WAL_FULL, 50);
		expect_whole(&log);
	}
}

static void a_last_record_is_torn_wherever_it_is_cut_off(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	size_t at, end;

	(void)state;
	wal_add_body(&log, WAL_FULL, 200);
	at = wal_add_body(&log, WAL_FULL, 30);
	end = log.len;
	for (log.len = at + 1; log.len < end; log.len++)
		expect(&log, true, at);
	log.len = at;
	expect_whole(&log);
}

static void a_record_that_only_began_is_torn(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };

	(void)state;
	wal_add_body(&log, WAL_FULL, 10);
	wal_add_body(&log, WAL_FIRST, WAL_BLOCK - log.len - WAL_HEADER);
	expect(&log, true, WAL_BLOCK);
	wal_add_body(&log, WAL_MIDDLE, WAL_BLOCK - WAL_HEADER);
	expect(&log, true, 2 * WAL_BLOCK);
	wal_add_zeros(&log, 3); /* and the power went while its last part's header was written */
	expect(&log, true, 2 * WAL_BLOCK);
}

/* A file grows before it is filled. */
static void zeros_behind_the_last_record_are_a_torn_one(void **state)
{
	(void)state;
	for (size_t zeros = 1; zeros < (size_t)3 * WAL_SECTOR; zeros += 100) {
		_cleanup_(buffer_free) struct buffer log = { 0 };
		size_t at;

		wal_add_body(&log, WAL_FULL, 200);
		at = log.len;
		wal_add_zeros(&log, zeros);
		expect(&log, true, at);
	}
}

enum { BEFORE = 300, BODY = 3 * WAL_SECTOR }; /* the last record lies in four sectors: from byte 307 to 1850 */

static size_t log_of_four_sectors(struct buffer *log)
{
	size_t at;

	wal_add_body(log, WAL_FULL, BEFORE);
	at = wal_add_body(log, WAL_FULL, BODY);
	for (size_t i = at; i < at + WAL_HEADER; i++) /* or the first sector's share would have zeros at its end */
		if (i != at + 4)
			assert_int_not_equal(log->data[i], 0);
	return at;
}

static void a_sector_that_was_not_written_tears_the_last_record(void **state)
{
	static const struct {
		size_t from, to;
		bool is_torn;
	} holes[] = {
		{ WAL_SECTOR, 2 * WAL_SECTOR, true },      /* a sector of it */
		{ WAL_SECTOR + 1, 2 * WAL_SECTOR, false }, /* all but a byte: something else zeroed it */
		{ WAL_SECTOR, 2 * WAL_SECTOR - 1, false },
		{ 2 * WAL_SECTOR, 3 * WAL_SECTOR, true },
		{ WAL_SECTOR, 3 * WAL_SECTOR, true },
		{ 3 * WAL_SECTOR, BEFORE + BODY + 2 * WAL_HEADER, true }, /* what it has of the last sector */
		{ 3 * WAL_SECTOR, BEFORE + BODY + 2 * WAL_HEADER - 1, false },
		{ 3 * WAL_SECTOR + 1, BEFORE + BODY + 2 * WAL_HEADER, false },
		{ BEFORE + WAL_HEADER + WAL_HEADER, WAL_SECTOR, false }, /* the first sector, but for its header */
		{ WAL_SECTOR + 200, WAL_SECTOR + 300, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		_cleanup_(buffer_free) struct buffer log = { 0 };
		size_t at = log_of_four_sectors(&log);

		memset(log.data + holes[i].from, 0, holes[i].to - holes[i].from);
		expect(&log, holes[i].is_torn, at);
	}
}

static void the_share_of_its_first_sector_tears_it_too(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	size_t at = log_of_four_sectors(&log), end = log.len;

	(void)state;
	memset(log.data + at, 0, WAL_SECTOR - at);
	while (log.len < WAL_BLOCK) /* how long it was is not known then: all to the end of the block is looked at */
		buffer_add(&log, "v", 1);
	expect(&log, true, at);
	log.data[at] = 1;
	expect(&log, false, at);
	log.len = end;
	expect(&log, true, at); /* so much of the block is not there */
}

static void a_record_with_all_its_sectors_and_the_wrong_sum_is_not_torn(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	size_t at;

	(void)state;
	wal_add_body(&log, WAL_FULL, 200);
	at = wal_add_body(&log, WAL_FULL, 30);
	for (size_t i = at; i < log.len; i++) {
		if (i == at + 4 || i == at + 5 || i == at + 6)
			continue; /* what says how much of it there must be */
		log.data[i] ^= 0x40;
		expect(&log, false, at);
		log.data[i] ^= 0x40;
	}
	log.data[at + 6] = WAL_LAST; /* the sum is of the type as well */
	expect(&log, false, at);
	log.data[at + 6] = WAL_FULL;
	expect_whole(&log);
}

/* A header is all there is of it. */
static void an_empty_record_may_be_damaged_as_well(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 }, filled = { 0 };
	size_t at;

	(void)state;
	wal_add_body(&log, WAL_FULL, 100);
	at = wal_add_body(&log, WAL_FULL, 0);
	log.data[at] ^= 0x40;
	expect(&log, false, at);
	wal_add_body(&filled, WAL_FULL, WAL_BLOCK - 2 * WAL_HEADER);
	at = wal_add_body(&filled, WAL_FIRST, 0); /* the end of a block takes no more */
	filled.data[at] ^= 0x40;
	expect(&filled, false, at);
}

/* It says to be longer than its block: all of the block is looked at. */
static void a_record_that_leaves_its_block_is_damaged(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	size_t at;

	(void)state;
	at = wal_add_body(&log, WAL_FULL, WAL_BLOCK - WAL_HEADER);
	log.data[at + 4]++;
	expect(&log, false, at);
	memset(log.data + 10 * WAL_SECTOR, 0, WAL_SECTOR);
	expect(&log, true, at);
}

static size_t torn_record(struct buffer *log)
{
	size_t at = log_of_four_sectors(log);

	memset(log->data + WAL_SECTOR, 0, WAL_SECTOR);
	return at;
}

/* What lies behind was begun only when the damaged one had been synced. */
static void a_record_that_begins_behind_the_damage_shows_that_it_was_synced(void **state)
{
	static const struct {
		enum wal_type type;
		size_t len;
		bool is_torn;
	} behind[] = {
		{ WAL_FULL, 0, false },
		{ WAL_FULL, 20, false },
		{ WAL_FIRST, 20, false },
		{ WAL_MIDDLE, 20, true }, /* of the torn record, or of nothing */
		{ WAL_LAST, 20, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		for (size_t between = 0; between < 3; between++) {
			_cleanup_(buffer_free) struct buffer log = { 0 };
			size_t at = torn_record(&log);

			for (size_t j = 0; j < between; j++)
				buffer_add(&log, "?", 1);
			wal_add_body(&log, behind[i].type, behind[i].len);
			expect(&log, behind[i].is_torn, at);
		}
	}
}

static void a_record_that_is_damaged_too_shows_nothing(void **state)
{
	_cleanup_(buffer_free) struct buffer log = { 0 };
	size_t at = torn_record(&log);

	(void)state;
	wal_add_body(&log, WAL_FULL, 20);
	log.len--;
	expect(&log, true, at);
}

static void expect_of_two(const struct buffer *first, const struct buffer *second, bool is_torn, const char *wanted)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char where[128];

	wal_put(&folder, "000009.log", buffer_bytes(first));
	wal_put(&folder, "000010.log", buffer_bytes(second));
	assert_int_equal(torn_in(&folder, where), is_torn);
	assert_string_equal(where, wanted);
}

static void a_record_in_a_later_log_shows_it_as_well(void **state)
{
	_cleanup_(buffer_free) struct buffer torn = { 0 }, whole = { 0 }, nothing = { 0 }, cut = { 0 };

	(void)state;
	torn_record(&torn);
	wal_add_body(&whole, WAL_FULL, 20);
	wal_add_body(&cut, WAL_FULL, 20);
	cut.len--;
	expect_of_two(&torn, &whole, false, "000009.log, byte 307");
	expect_of_two(&torn, &nothing, true, "000009.log, byte 307");
	expect_of_two(&torn, &cut, true, "000009.log, byte 307");
	expect_of_two(&whole, &torn, true, "000010.log, byte 307");
	expect_of_two(&whole, &cut, true, "000010.log, byte 0");
	expect_of_two(&whole, &nothing, false, "");
}

/* Whole records behind it, in a log that is not the last, are not forgotten over those behind that have none. */
static void one_record_behind_is_enough(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer torn = { 0 }, whole = { 0 };
	char where[128];

	(void)state;
	torn_record(&torn);
	wal_add_body(&torn, WAL_FULL, 20);
	wal_put(&folder, "000009.log", buffer_bytes(&torn));
	wal_put(&folder, "000010.log", bytes_of("?"));
	assert_false(torn_in(&folder, where));
	torn.len = 0;
	torn_record(&torn);
	wal_add_body(&whole, WAL_FULL, 20);
	wal_put(&folder, "000009.log", buffer_bytes(&torn));
	assert_true(torn_in(&folder, where));
	wal_put(&folder, "000010.log", buffer_bytes(&whole));
	wal_put(&folder, "000011.log", bytes_of("?"));
	assert_false(torn_in(&folder, where));
}

static void only_logs_are_looked_at(void **state)
{
	static const char *const behind[] = { "000011.log.old", "000011.sst", "000011log" },
				 *const in_front[] = { ".log", "000001.LOG", "0.lo" };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer torn = { 0 }, whole = { 0 };
	char where[128];

	(void)state;
	torn_record(&torn);
	wal_add_body(&whole, WAL_FULL, 20);
	wal_put(&folder, "000009.log", buffer_bytes(&torn));
	for (size_t i = 0; i < 3; i++) {
		wal_put(&folder, behind[i], buffer_bytes(&whole));
		wal_put(&folder, in_front[i], buffer_bytes(&torn));
	}
	assert_true(torn_in(&folder, where));
	assert_string_equal(where, "000009.log, byte 307");
	wal_put(&folder, "000001.log", buffer_bytes(&torn));
	assert_false(torn_in(&folder, where));
	assert_string_equal(where, "000001.log, byte 307");
}

static void where_a_log_cannot_be_read_nothing_is_said_to_be_torn(void **state)
{
	static const char *const unreadable[] = { "000001.log", "000010.log" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer torn = { 0 };
		char path[128], where[128];

		torn_record(&torn);
		wal_put(&folder, "000009.log", buffer_bytes(&torn));
		FOLDER_PATH(path, folder, unreadable[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_false(torn_in(&folder, where));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_no_log_is_nothing_is_torn),
		cmocka_unit_test(whole_records_are_not_torn),
		cmocka_unit_test(the_end_of_a_block_is_filled_up),
		cmocka_unit_test(a_last_record_is_torn_wherever_it_is_cut_off),
		cmocka_unit_test(a_record_that_only_began_is_torn),
		cmocka_unit_test(zeros_behind_the_last_record_are_a_torn_one),
		cmocka_unit_test(a_sector_that_was_not_written_tears_the_last_record),
		cmocka_unit_test(the_share_of_its_first_sector_tears_it_too),
		cmocka_unit_test(a_record_with_all_its_sectors_and_the_wrong_sum_is_not_torn),
		cmocka_unit_test(an_empty_record_may_be_damaged_as_well),
		cmocka_unit_test(a_record_that_leaves_its_block_is_damaged),
		cmocka_unit_test(a_record_that_begins_behind_the_damage_shows_that_it_was_synced),
		cmocka_unit_test(a_record_that_is_damaged_too_shows_nothing),
		cmocka_unit_test(a_record_in_a_later_log_shows_it_as_well),
		cmocka_unit_test(one_record_behind_is_enough),
		cmocka_unit_test(only_logs_are_looked_at),
		cmocka_unit_test(where_a_log_cannot_be_read_nothing_is_said_to_be_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
