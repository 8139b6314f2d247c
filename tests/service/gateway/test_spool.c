/*
 * test_spool.c: what was synced comes back, in order, until it is confirmed; what was promised is never dropped silently
 *
 * fsync and fdatasync are this file's own here: they are counted, and can be made to fail.
 */
#include "bus/base/file.h"
#include "given.h"
#include "services/platform/gateway/spool.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[64];
static int file_syncs, folder_syncs;
static bool syncs_fail;

static int sync_by(long call, int fd, int *count)
{
	(*count)++;
	if (!syncs_fail)
		return (int)syscall(call, fd);
	errno = EIO;
	return -1;
}

int fdatasync(int fd)
{
	return sync_by(SYS_fdatasync, fd, &file_syncs);
}

int fsync(int fd)
{
	return sync_by(SYS_fsync, fd, &folder_syncs);
}

static mode_t usual_umask;

static int setup(void **state)
{
	(void)state;
	usual_umask = umask(0);
	umask(usual_umask);
	snprintf(folder, sizeof(folder), "%s", fresh_folder());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	umask(usual_umask);
	remove_folder(folder);
	return 0;
}

static struct spool *opened(void)
{
	struct spool *spool = NULL;
	char why[400] = "";

	if (spool_open(folder, &spool, why) < 0)
		fail_msg("%s", why);
	return spool;
}

static void add_synced(struct spool *spool, int from, int to)
{
	for (int i = from; i < to; i++) {
		char text[32];

		snprintf(text, sizeof(text), "message %d", i);
		spool_add(spool, bytes_of(text));
	}
	assert_int_equal(spool_sync(spool), 0);
}

/* The next message must be number `n`. */
static uint64_t expect_next(struct spool *spool, int n)
{
	struct buffer message = { 0 };
	uint64_t ticket;
	char text[32];
	int error;

	snprintf(text, sizeof(text), "message %d", n);
	assert_true(spool_next(spool, &message, &ticket, &error));
	assert_string_equal(buffer_text(&message), text);
	buffer_free(&message);
	return ticket;
}

static void expect_end(struct spool *spool)
{
	struct buffer message = { 0 };
	uint64_t ticket;
	int error;

	assert_false(spool_next(spool, &message, &ticket, &error));
	assert_int_equal(error, 0);
	buffer_free(&message);
}

static void what_was_synced_comes_back_in_order_after_a_kill(void **state)
{
	struct spool *spool = opened();

	(void)state;
	add_synced(spool, 0, 3);
	add_synced(spool, 3, 4);
	spool_add(spool, bytes_of("never synced"));
	spool_close(spool);

	spool = opened();
	assert_int_equal(spool_count(spool), 4);
	for (int i = 0; i < 4; i++)
		expect_next(spool, i);
	expect_end(spool);
	spool_close(spool);
}

static void messages_that_come_while_it_drains_come_out_behind(void **state)
{
	struct spool *spool = opened();
	uint64_t tickets[6];

	(void)state;
	add_synced(spool, 0, 2);
	tickets[0] = expect_next(spool, 0);
	add_synced(spool, 2, 4);
	for (int i = 1; i < 4; i++)
		tickets[i] = expect_next(spool, i);
	expect_end(spool);
	add_synced(spool, 4, 6);
	assert_int_equal(spool_confirmed(spool, tickets[1]), 0);
	for (int i = 4; i < 6; i++)
		tickets[i] = expect_next(spool, i);
	assert_int_equal(spool_on_its_way(spool), 5);
	assert_int_equal(spool_count(spool), 5);
	spool_close(spool);
}

static void confirmed_messages_are_gone_and_a_rewind_repeats_the_others(void **state)
{
	struct spool *spool = opened();
	uint64_t tickets[5];

	(void)state;
	add_synced(spool, 0, 5);
	for (int i = 0; i < 5; i++)
		tickets[i] = expect_next(spool, i);
	assert_int_equal(spool_confirmed(spool, tickets[0]), 0);
	assert_int_equal(spool_confirmed(spool, tickets[3]), 0);
	assert_int_equal(spool_confirmed(spool, tickets[3]), -ENOENT);
	spool_rewind(spool);
	assert_int_equal(spool_on_its_way(spool), 0);
	assert_int_equal(expect_next(spool, 1), tickets[1]);
	assert_int_equal(expect_next(spool, 2), tickets[2]);
	assert_int_equal(expect_next(spool, 4), tickets[4]);
	expect_end(spool);
	for (int i = 1; i < 5; i++)
		if (i != 3)
			assert_int_equal(spool_confirmed(spool, tickets[i]), 0);
	assert_int_equal(spool_count(spool), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing is left on the disk */
	assert_int_equal(mkdir(folder, 0700), 0);
	spool_close(spool);
}

static void after_a_file_could_not_be_read_it_goes_on_behind_what_was_given_out(void **state)
{
	struct spool *spool = opened();
	struct buffer message = { 0 };
	char away[80];
	uint64_t ticket;
	int error;

	(void)state;
	add_synced(spool, 0, 4);
	for (int i = 0; i < 4; i++)
		expect_next(spool, i);
	add_synced(spool, 4, 6);
	snprintf(away, sizeof(away), "%s.away", folder);
	assert_int_equal(rename(folder, away), 0);
	assert_false(spool_next(spool, &message, &ticket, &error));
	assert_int_equal(error, -ENOENT);
	assert_int_equal(rename(away, folder), 0);
	for (int i = 4; i < 6; i++)
		expect_next(spool, i);
	expect_end(spool);
	assert_int_equal(spool_on_its_way(spool), 6);
	spool_close(spool);
	buffer_free(&message);
}

/* It holds addresses. */
static void what_is_spooled_is_for_the_gateway_alone(void **state)
{
	(void)state;
	umask(0); /* teardown takes it back */
	struct spool *spool = opened();
	struct dirent *entry;
	int files = 0;
	DIR *dir;

	add_synced(spool, 0, 1);
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct stat file;

		assert_int_equal(fstatat(dirfd(dir), entry->d_name, &file, 0), 0);
		if (!S_ISREG(file.st_mode))
			continue;
		assert_int_equal(file.st_mode & 07777, 0600);
		files++;
	}
	closedir(dir);
	assert_int_equal(files, 1);
	spool_close(spool);
}

static void an_emptied_spool_begins_anew(void **state)
{
	struct spool *spool = opened();

	(void)state;
	for (int i = 0; i < 10; i++) {
		add_synced(spool, i, i + 1);
		assert_int_equal(spool_confirmed(spool, expect_next(spool, i)), 0);
		assert_int_equal(spool_count(spool), 0);
	}
	spool_close(spool);
	spool = opened();
	expect_end(spool);
	spool_close(spool);
}

static void many_megabytes_go_through_several_files(void **state)
{
	struct spool *spool = opened();
	struct buffer message = { 0 };
	char *large = malloc(100001);
	uint64_t ticket;
	int error;

	(void)state;
	for (int i = 0; i < 100; i++) {
		memset(large, 'a' + i % 26, 100000);
		spool_add(spool, BYTES(large, 100000 - (size_t)i));
		assert_int_equal(spool_sync(spool), 0);
	}
	spool_close(spool);
	spool = opened();
	assert_int_equal(spool_count(spool), 100);
	for (int i = 0; i < 100; i++) {
		assert_true(spool_next(spool, &message, &ticket, &error));
		assert_int_equal(message.len, 100000 - i);
		assert_int_equal(message.data[0], 'a' + i % 26);
		assert_int_equal(spool_confirmed(spool, ticket), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	buffer_free(&message);
	free(large);
	spool_close(spool);
}

static const char *first_file(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/00000000000000000001.spool", folder);
	return path;
}

static off_t file_size(void)
{
	struct stat there;

	assert_int_equal(stat(first_file(), &there), 0);
	return there.st_size;
}

/* At every length that a crash in the middle of a write can leave. */
static void a_torn_tail_that_was_never_acknowledged_is_dropped(void **state)
{
	struct spool *spool = opened();
	off_t acknowledged, whole;

	(void)state;
	add_synced(spool, 0, 2);
	acknowledged = file_size();
	add_synced(spool, 2, 4);
	whole = file_size();
	spool_close(spool);
	for (off_t len = whole - 1; len >= acknowledged; len--) {
		assert_int_equal(truncate(first_file(), len), 0);
		spool = opened();
		assert_int_equal(spool_count(spool), 2);
		assert_int_equal(file_size(), acknowledged);
		add_synced(spool, 2, 4);
		expect_next(spool, 0);
		spool_close(spool);
		spool = opened();
		assert_int_equal(spool_count(spool), 4);
		spool_close(spool);
		/* the second record lies in a file of its own now; put the torn one back together */
		remove_folder(folder);
		assert_int_equal(mkdir(folder, 0700), 0);
		spool = opened();
		add_synced(spool, 0, 2);
		add_synced(spool, 2, 4);
		spool_close(spool);
	}
}

/* Every byte of what was acknowledged, one after the other. */
static void damage_to_what_was_acknowledged_is_refused(void **state)
{
	struct spool *spool = opened();
	off_t acknowledged;
	char why[400] = "";

	(void)state;
	add_synced(spool, 0, 2);
	acknowledged = file_size();
	add_synced(spool, 2, 4);
	spool_close(spool);
	for (off_t at = 0; at < acknowledged; at++) {
		int fd = open(first_file(), O_RDWR);
		uint8_t byte;

		assert_true(fd >= 0);
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		spool = NULL;
		assert_int_equal(spool_open(folder, &spool, why), -EUCLEAN);
		assert_non_null(strstr(why, "00000000000000000001.spool"));
		assert_null(spool);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
	}
	spool = opened();
	assert_int_equal(spool_count(spool), 4);
	spool_close(spool);
}

/* A file size limit stands for the full disk: the write stops in the middle of the record. */
static void a_full_disk_refuses_keeps_what_it_has_and_recovers(void **state)
{
	struct spool *spool = opened();
	struct rlimit before, small;

	(void)state;
	add_synced(spool, 0, 2);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = (rlim_t)file_size() + 10, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	spool_add(spool, bytes_of("does not fit"));
	assert_true(spool_sync(spool) < 0);
	assert_non_null(strstr(spool_last_failure(spool), "cannot be written"));
	assert_null(spool_trouble(spool));
	assert_int_equal(spool_count(spool), 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	add_synced(spool, 2, 3);
	for (int i = 0; i < 3; i++)
		expect_next(spool, i);
	expect_end(spool);
	spool_close(spool);
	spool = opened();
	assert_int_equal(spool_count(spool), 3);
	spool_close(spool);
}

static void what_is_promised_was_synced_and_after_a_failed_sync_nothing_is(void **state)
{
	struct spool *spool = opened();

	(void)state;
	file_syncs = folder_syncs = 0;
	add_synced(spool, 0, 1);
	assert_int_equal(file_syncs, 1);
	assert_int_equal(folder_syncs, 1); /* the new file's name */
	add_synced(spool, 1, 2);
	assert_int_equal(file_syncs, 2);
	assert_int_equal(folder_syncs, 1);
	syncs_fail = true;
	spool_add(spool, bytes_of("message 2"));
	assert_true(spool_sync(spool) < 0);
	assert_non_null(strstr(spool_last_failure(spool), "cannot be synced"));
	assert_non_null(spool_trouble(spool));
	assert_int_equal(spool_count(spool), 2);
	syncs_fail = false; /* what the kernel has dropped does not come back by itself */
	spool_add(spool, bytes_of("message 2"));
	assert_int_equal(spool_sync(spool), -EIO);
	assert_int_equal(spool_count(spool), 2);
	spool_close(spool);
	spool = opened();
	for (int i = 0; i < 2; i++)
		expect_next(spool, i);
	add_synced(spool, 3, 4);
	spool_close(spool);
}

static void a_file_whose_name_cannot_be_synced_is_not_begun(void **state)
{
	struct spool *spool = opened();

	(void)state;
	syncs_fail = true;
	spool_add(spool, bytes_of("message 0"));
	assert_true(spool_sync(spool) < 0);
	assert_int_equal(spool_count(spool), 0);
	assert_int_equal(access(first_file(), F_OK), -1);
	syncs_fail = false;
	add_synced(spool, 0, 1);
	spool_close(spool);
	spool = opened();
	assert_int_equal(spool_count(spool), 1);
	expect_next(spool, 0);
	expect_end(spool);
	spool_close(spool);
}

/* The next start would take a larger record for damage to what was acknowledged. */
static void more_than_a_record_holds_is_refused_when_it_is_written(void **state)
{
	enum { MESSAGE = 1024 * 1024, MOST = 64 };
	struct buffer message = { 0 };
	struct spool *spool = opened();

	(void)state;
	memset(buffer_grow(&message, MESSAGE), 'x', MESSAGE);
	message.len = MESSAGE;
	for (int i = 0; i < MOST; i++)
		spool_add(spool, buffer_bytes(&message));
	assert_int_equal(spool_sync(spool), -EMSGSIZE); /* 64 MiB, and what belongs to them */
	assert_non_null(strstr(spool_last_failure(spool), "so much at once"));
	assert_null(spool_trouble(spool));
	assert_int_equal(spool_count(spool), 0);
	for (int i = 0; i < MOST - 1; i++)
		spool_add(spool, buffer_bytes(&message));
	assert_int_equal(spool_sync(spool), 0);
	spool_close(spool);
	spool = opened();
	assert_int_equal(spool_count(spool), MOST - 1);
	spool_close(spool);
	buffer_free(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_synced_comes_back_in_order_after_a_kill, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_that_come_while_it_drains_come_out_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(
			confirmed_messages_are_gone_and_a_rewind_repeats_the_others, setup, teardown),
		cmocka_unit_test_setup_teardown(
			after_a_file_could_not_be_read_it_goes_on_behind_what_was_given_out, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_spooled_is_for_the_gateway_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(an_emptied_spool_begins_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(many_megabytes_go_through_several_files, setup, teardown),
		cmocka_unit_test_setup_teardown(a_torn_tail_that_was_never_acknowledged_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_to_what_was_acknowledged_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_promised_was_synced_and_after_a_failed_sync_nothing_is, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_whose_name_cannot_be_synced_is_not_begun, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_refuses_keeps_what_it_has_and_recovers, setup, teardown),
		cmocka_unit_test_setup_teardown(
			more_than_a_record_holds_is_refused_when_it_is_written, setup, teardown),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
