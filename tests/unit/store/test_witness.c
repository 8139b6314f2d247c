/*
 * test_witness.c: what the witness of a store says, from which files it knows it, and what it says of one that is shorter
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/store/rocks/witness.h"
#include "bus/store/store.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

DEFINE_CLEANUP(struct witness *, witness_close)

/* The file of this name holds these bytes from now on. */
static void put_bytes(const struct folder *folder, const char *name, struct bytes bytes)
{
	char path[128];

	FOLDER_PATH(path, *folder, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(file_write(fd, bytes), 0);
}

static void put(const struct folder *folder, const char *name, const char *text)
{
	put_bytes(folder, name, bytes_of(text));
}

/* Seconds since a file was changed. A moment that lies ahead stays recent, however slow the machine is. */
enum { JUST_NOW = -3600, LONG_AGO = 3600 };

/* So many bytes of the file are left; it was changed so many seconds ago. */
static void make(const struct folder *folder, const char *name, off_t len, time_t seconds_ago)
{
	const struct timespec then = { .tv_sec = time(NULL) - seconds_ago };
	char path[128];

	FOLDER_PATH(path, *folder, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, len), 0);
	assert_int_equal(futimens(fd, (struct timespec[]){ then, then }), 0);
}

static struct witness *opened(const struct folder *folder)
{
	struct witness *witness = NULL;
	char why[512] = "";

	assert_int_equal(witness_open(folder->path, &witness, why), 0);
	return witness;
}

static void write_it(struct witness *witness, uint64_t sequence)
{
	char why[512] = "";

	if (witness_write(witness, sequence, why) != 0)
		fail_msg("%s", why);
}

static void expect_synced(const struct folder *folder, uint64_t sequence)
{
	char why[512] = "as it was", wanted[512];

	assert_int_equal(witness_check(folder->path, sequence, why), 0);
	assert_int_equal(witness_check(folder->path, sequence + 1, why), 0);
	assert_string_equal(why, "as it was");
	if (sequence == 0)
		return;
	assert_int_equal(witness_check(folder->path, sequence - 1, why), -EUCLEAN);
	snprintf(wanted, sizeof(wanted),
		"Corruption: %s: the write-ahead log (*.log) ends at operation %llu, and %llu were synced: its end is "
		"cut off or missing",
		folder->path, (unsigned long long)sequence - 1, (unsigned long long)sequence);
	assert_string_equal(why, wanted);
}

/* It knows nothing, and nothing is wrong with it. */
static void expect_silent(const struct folder *folder)
{
	struct wals logs = { .count = 7 };
	char why[512] = "as it was";

	assert_int_equal(witness_check(folder->path, 0, why), 0);
	assert_int_equal(witness_check_manifest(folder->path, why), 0);
	assert_string_equal(why, "as it was");
	witness_read(folder->path, &logs);
	assert_int_equal(logs.count, 0);
}

static void expect_logs(const struct folder *folder, const char *wanted)
{
	char found[256] = "";
	struct wals logs = { .count = 7 };

	witness_read(folder->path, &logs);
	for (uint32_t i = 0; i < logs.count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%llu", i ? " " : "",
			(unsigned long long)logs.numbers[i]);
	assert_string_equal(found, wanted);
}

static void what_was_synced_is_a_lower_bound(void **state)
{
	static const uint64_t sequences[] = { 0, 1, 255, 0x0102030405060708 };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = NULL;

	(void)state;
	expect_silent(&folder);
	witness = opened(&folder);
	expect_silent(&folder); /* made, and not written yet */
	for (size_t i = 0; i < 4; i++) {
		write_it(witness, sequences[i]);
		expect_synced(&folder, sequences[i]);
	}
}

/* It is overwritten in place: what no sector's border divides is there whole or not at all. */
static void it_is_less_than_a_sector_and_its_owners_alone(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = opened(&folder);
	char path[128], log[32];
	struct stat file;

	(void)state;
	for (int i = 0; i < WALS_MAX + 5; i++) {
		snprintf(log, sizeof(log), "%06d.log", i + 1);
		put(&folder, log, "x");
	}
	write_it(witness, 1);
	write_it(witness, 2);
	FOLDER_PATH(path, folder, "witness");
	assert_int_equal(stat(path, &file), 0);
	assert_in_range(file.st_size, 1, 511);
	assert_int_equal(file.st_mode & 07777, 0600);
}

static void it_names_the_logs_that_hold_something_and_those_that_come_at_once(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = opened(&folder);

	(void)state;
	put(&folder, "000003.log", "x");
	put(&folder, "000007.log", "");
	write_it(witness, 1);
	expect_logs(&folder, "3");
	put(&folder, "000009.log", "x"); /* in the same moment as far as the folder's time goes */
	write_it(witness, 2);
	expect_logs(&folder, "3 9");
	char path[128];
	FOLDER_PATH(path, folder, "000003.log");
	assert_int_equal(unlink(path), 0);
	write_it(witness, 3);
	expect_logs(&folder, "9");
}

/* A folder that has been left alone for longer than its clock's tick is not read for each commit: listing it is what costs. */
static void a_folder_that_did_not_change_is_not_read_again(void **state)
{
	const struct timespec long_ago[] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	const struct timespec later[] = { { .tv_sec = 1000000001 }, { .tv_sec = 1000000001 } };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = opened(&folder);

	(void)state;
	put(&folder, "000003.log", "x");
	assert_int_equal(utimensat(AT_FDCWD, folder.path, long_ago, 0), 0);
	write_it(witness, 1);
	put(&folder, "000009.log", "x");
	assert_int_equal(utimensat(AT_FDCWD, folder.path, long_ago, 0), 0);
	write_it(witness, 2);
	expect_logs(&folder, "3");
	assert_int_equal(utimensat(AT_FDCWD, folder.path, later, 0), 0);
	write_it(witness, 3);
	expect_logs(&folder, "3 9");
}

/* ---- the MANIFEST ---- */

static void expect_manifest(const struct folder *folder, const char *name, off_t len)
{
	char why[512] = "as it was", wanted[512];

	make(folder, name, len, 0);
	assert_int_equal(witness_check_manifest(folder->path, why), 0);
	make(folder, name, len + 1, 0);
	assert_int_equal(witness_check_manifest(folder->path, why), 0);
	assert_string_equal(why, "as it was");
	if (len == 0)
		return;
	make(folder, name, len - 1, 0);
	assert_int_equal(witness_check_manifest(folder->path, why), -EUCLEAN);
	snprintf(wanted, sizeof(wanted), "Corruption: %s/%s has %lld bytes and had %lld: its end is cut off",
		folder->path, name, (long long)len - 1, (long long)len);
	assert_string_equal(why, wanted);
}

static void a_manifest_counts_when_it_was_left_alone_for_a_second(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = opened(&folder);

	(void)state;
	put(&folder, "CURRENT", "MANIFEST-000005\n");
	make(&folder, "MANIFEST-000005", 100, JUST_NOW); /* what was added may not be on the disk yet */
	write_it(witness, 1);
	expect_manifest(&folder, "MANIFEST-000005", 0);
	make(&folder, "MANIFEST-000005", 100, LONG_AGO);
	write_it(witness, 2);
	expect_manifest(&folder, "MANIFEST-000005", 100);
	make(&folder, "MANIFEST-000005", 200, JUST_NOW);
	write_it(witness, 3);
	expect_manifest(&folder, "MANIFEST-000005", 100); /* so many are on the disk, whatever came since */
	make(&folder, "MANIFEST-000005", 200, LONG_AGO);
	write_it(witness, 4);
	expect_manifest(&folder, "MANIFEST-000005", 200);
}

static void a_new_manifest_begins_anew(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = opened(&folder);

	(void)state;
	put(&folder, "CURRENT", "MANIFEST-000005\n");
	make(&folder, "MANIFEST-000005", 100, LONG_AGO);
	write_it(witness, 1);
	make(&folder, "MANIFEST-1000006", 50, JUST_NOW);
	put(&folder, "CURRENT", "MANIFEST-1000006\n");
	write_it(witness, 2);
	expect_manifest(&folder, "MANIFEST-1000006", 0);
	make(&folder, "MANIFEST-1000006", 50, LONG_AGO);
	write_it(witness, 3);
	expect_manifest(&folder, "MANIFEST-1000006", 50);
}

static void of_another_manifest_or_none_nothing_is_known(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = opened(&folder);
	char path[128], why[512] = "as it was";

	(void)state;
	put(&folder, "CURRENT", "MANIFEST-000005\n");
	make(&folder, "MANIFEST-000005", 100, LONG_AGO);
	write_it(witness, 1);
	make(&folder, "MANIFEST-000006", 10, LONG_AGO);
	put(&folder, "CURRENT", "MANIFEST-000006\n");
	assert_int_equal(witness_check_manifest(folder.path, why), 0);
	put(&folder, "CURRENT", "");
	assert_int_equal(witness_check_manifest(folder.path, why), 0);
	put(&folder, "CURRENT", "nothing\n");
	assert_int_equal(witness_check_manifest(folder.path, why), 0);
	put(&folder, "CURRENT", "MANIFEST-000005\n");
	FOLDER_PATH(path, folder, "MANIFEST-000005");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(witness_check_manifest(folder.path, why), 0);
	FOLDER_PATH(path, folder, "CURRENT");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(witness_check_manifest(folder.path, why), 0);
	assert_string_equal(why, "as it was");
}

/* ---- forms and damages ---- */

/* A record as some release wrote it: what it begins with, and its sum behind it. */
static void put_form(const struct folder *folder, const char *magic, uint64_t sequence, uint32_t count, size_t len)
{
	uint8_t record[600] = { 0 };
	uint32_t sum;

	memcpy(record, magic, 8);
	put_be64(record + 8, sequence);
	if (len > 20) {
		for (int i = 0; i < 4; i++)
			record[16 + i] = (uint8_t)(count >> (8 * i));
		for (uint32_t i = 0; i < WALS_MAX; i++)
			put_be64(record + 20 + (size_t)8 * i, i < count ? 3 + i : 0);
	}
	sum = text_crc(BYTES(record, len - 4));
	for (int i = 0; i < 4; i++)
		record[len - 4 + (size_t)i] = (uint8_t)(sum >> (8 * i));
	put_bytes(folder, "witness", BYTES(record, len));
}

enum { OF_0_1 = 20, OF_LOGS = 20 + 8 * WALS_MAX + 4, OF_MANIFEST = OF_LOGS + 16 };

static void what_earlier_releases_wrote_is_understood(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();

	(void)state;
	put_form(&folder, "cbwitnes", 77, 0, OF_0_1);
	expect_synced(&folder, 77);
	expect_logs(&folder, "");
	put_form(&folder, "cbwitne2", 78, 2, OF_LOGS);
	expect_synced(&folder, 78);
	expect_logs(&folder, "3 4");
	put_form(&folder, "cbwitne3", 79, 3, OF_MANIFEST);
	expect_synced(&folder, 79);
	expect_logs(&folder, "3 4 5");
}

static void expect_damaged(const struct folder *folder)
{
	char why[512] = "", wanted[512];
	struct wals logs = { .count = 7 };

	put(folder, "CURRENT", "MANIFEST-000005\n");
	make(folder, "MANIFEST-000005", 0, LONG_AGO);
	assert_int_equal(witness_check_manifest(folder->path, why), 0);
	assert_int_equal(witness_check(folder->path, 0, why), 0);
	snprintf(wanted, sizeof(wanted), "%s/witness was damaged; it is written anew", folder->path);
	assert_string_equal(why, wanted);
	strcpy(why, "the last record was cut short");
	assert_int_equal(witness_check(folder->path, 0, why), 0);
	snprintf(wanted, sizeof(wanted),
		"the last record was cut short; and %s/witness was damaged; it is written anew", folder->path);
	assert_string_equal(why, wanted);
	witness_read(folder->path, &logs);
	assert_int_equal(logs.count, 0);
}

static void one_that_is_damaged_anywhere_says_nothing_but_that(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer whole = { 0 };
	struct witness *witness = opened(&folder);
	char path[128];

	(void)state;
	put(&folder, "000003.log", "x");
	put(&folder, "CURRENT", "MANIFEST-000005\n");
	make(&folder, "MANIFEST-000005", 100, LONG_AGO);
	write_it(witness, 77);
	witness_close(witness);
	FOLDER_PATH(path, folder, "witness");
	assert_int_equal(file_read(path, 600, &whole), 0);
	for (size_t i = 0; i < whole.len; i++) {
		whole.data[i] ^= 0x40;
		put_bytes(&folder, "witness", buffer_bytes(&whole));
		expect_damaged(&folder);
		whole.data[i] ^= 0x40;
	}
	for (size_t len = 1; len < whole.len; len += 15) {
		put_bytes(&folder, "witness", BYTES(whole.data, len));
		expect_damaged(&folder);
	}
	put_bytes(&folder, "witness", buffer_bytes(&whole));
	expect_synced(&folder, 77);
	expect_logs(&folder, "3");
}

static void one_that_names_more_logs_than_it_has_room_for_is_damaged(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct wals logs;

	(void)state;
	put_form(&folder, "cbwitne2", 0, WALS_MAX, OF_LOGS);
	witness_read(folder.path, &logs);
	assert_int_equal(logs.count, WALS_MAX);
	assert_int_equal(logs.numbers[WALS_MAX - 1], 3 + WALS_MAX - 1);
	put_form(&folder, "cbwitne2", 0, WALS_MAX + 1, OF_LOGS);
	expect_damaged(&folder);
	put_form(&folder, "cbwitne3", 0, UINT32_MAX, OF_MANIFEST);
	expect_damaged(&folder);
}

static void a_form_of_another_length_is_damaged(void **state)
{
	static const struct {
		const char *magic;
		size_t len;
	} forms[] = {
		{ "cbwitnes", OF_LOGS },
		{ "cbwitne2", OF_0_1 },
		{ "cbwitne2", OF_MANIFEST },
		{ "cbwitne3", OF_LOGS },
		{ "cbwitne4", OF_MANIFEST },
	};
	_cleanup_(folder_remove) struct folder folder = folder_new();

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		put_form(&folder, forms[i].magic, 9, 1, forms[i].len);
		expect_damaged(&folder);
	}
}

/* ---- a disk that fails ---- */

static void what_the_disk_does_not_take_is_told(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(witness_closep) struct witness *witness = NULL;
	char path[128], why[512] = "", wanted[512];

	(void)state;
	FOLDER_PATH(path, folder, "witness");
	assert_int_equal(symlink("/dev/full", path), 0);
	witness = opened(&folder);
	assert_int_equal(witness_write(witness, 1, why), -EIO);
	snprintf(wanted, sizeof(wanted), "%s/witness: No space left on device", folder.path);
	assert_string_equal(why, wanted);
}

static void one_that_cannot_be_made_is_told(void **state)
{
	struct witness *witness = NULL;
	char why[512] = "";

	(void)state;
	assert_int_equal(witness_open("/no/such/folder", &witness, why), -ENOENT);
	assert_string_equal(why, "/no/such/folder/witness: No such file or directory");
	assert_null(witness);
	witness_close(NULL);
}

static void nothing_stays_open(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct witness *witness;
	char why[512] = "";
	struct wals logs;
	int lowest = lowest_free_descriptor();

	(void)state;
	put(&folder, "CURRENT", "MANIFEST-000005\n");
	make(&folder, "MANIFEST-000005", 100, LONG_AGO);
	witness = opened(&folder);
	write_it(witness, 1);
	witness_read(folder.path, &logs);
	assert_int_equal(witness_check(folder.path, 1, why), 0);
	assert_int_equal(witness_check_manifest(folder.path, why), 0);
	witness_close(witness);
	assert_int_equal(lowest_free_descriptor(), lowest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_synced_is_a_lower_bound),
		cmocka_unit_test(it_is_less_than_a_sector_and_its_owners_alone),
		cmocka_unit_test(it_names_the_logs_that_hold_something_and_those_that_come_at_once),
		cmocka_unit_test(a_folder_that_did_not_change_is_not_read_again),
		cmocka_unit_test(a_manifest_counts_when_it_was_left_alone_for_a_second),
		cmocka_unit_test(a_new_manifest_begins_anew),
		cmocka_unit_test(of_another_manifest_or_none_nothing_is_known),
		cmocka_unit_test(what_earlier_releases_wrote_is_understood),
		cmocka_unit_test(one_that_is_damaged_anywhere_says_nothing_but_that),
		cmocka_unit_test(one_that_names_more_logs_than_it_has_room_for_is_damaged),
		cmocka_unit_test(a_form_of_another_length_is_damaged),
		cmocka_unit_test(what_the_disk_does_not_take_is_told),
		cmocka_unit_test(one_that_cannot_be_made_is_told),
		cmocka_unit_test(nothing_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
