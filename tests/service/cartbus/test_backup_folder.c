/* test_backup_folder.c: the files of a backup: what is copied and noted, and that they are on the disk before it is said */
#include "services/cartbus/backup/backup_folder.h"

#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/folder.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 2 };

int __real_fsync(int fd);
int __wrap_fsync(int fd);

static int syncs, fails_at; /* the sync that fails, from 1; 0: none does */
static bool is_folder_last; /* the last sync was that of a folder: the names, behind what they name */
static char heard[1000];

/* In the place of fsync(2) (the linker's --wrap). */
int __wrap_fsync(int fd)
{
	struct stat there;

	is_folder_last = fstat(fd, &there) == 0 && S_ISDIR(there.st_mode);
	if (++syncs != fails_at)
		return __real_fsync(fd);
	errno = EIO;
	return -1;
}

static int reads, read_fails_at; /* as of the syncs */
struct dirent *__real_readdir(DIR *listing);
struct dirent *__wrap_readdir(DIR *listing);

/* In the place of readdir(3) (the linker's --wrap). */
struct dirent *__wrap_readdir(DIR *listing)
{
	if (++reads != read_fails_at)
		return __real_readdir(listing);
	errno = EIO;
	return NULL;
}

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(heard, sizeof(heard), "%s", words);
}

static void write_log(const struct folder *folder)
{
	char path[100];

	FOLDER_PATH(path, *folder, "log/1.sst");
	assert_int_equal(file_make_folders(path, 0700), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(file_write_new(path, bytes_of("one"), 0600), 0);
	FOLDER_PATH(path, *folder, "log/2.sst");
	assert_int_equal(file_write_new(path, bytes_of("twice"), 0600), 0);
	FOLDER_PATH(path, *folder, "log/LOCK");
	assert_int_equal(file_write_new(path, bytes_of(""), 0600), 0);
}

/* A copy, or the sums of what is in place, while this sync fails. */
static int run(bool copies, int failing, json_t *files, struct backup_sum *ret_sum)
{
	const struct command command = { .name = "backup", .hear = hear };
	struct folder folder = folder_new();
	char from[100], to[100];
	int ended;

	write_log(&folder);
	FOLDER_PATH(from, folder, "log");
	FOLDER_PATH(to, folder, "copy");
	heard[0] = '\0';
	syncs = 0;
	fails_at = failing;
	ended = copies ? backup_copy(&command, from, to, files, ret_sum)
		       : backup_sum_files(&command, from, files, ret_sum);
	fails_at = 0;
	folder_remove(&folder);
	return ended;
}

static void a_backup_is_done_when_each_file_and_the_folder_are_synced(void **state)
{
	(void)state;
	for (int copies = 0; copies < 2; copies++) {
		for (int failing = 0; failing <= FILES + 1; failing++) {
			json_t *files = json_array();
			struct backup_sum sum;

			assert_int_equal(run(copies, failing, files, &sum), failing ? EXIT_NO : EXIT_FINE);
			assert_int_equal(heard[0] != '\0', failing > 0);
			if (!failing) {
				assert_int_equal(syncs, FILES + 1);
				assert_true(is_folder_last);
				assert_int_equal(sum.files, FILES);
				assert_int_equal(sum.bytes, strlen("one") + strlen("twice"));
				assert_int_equal(json_array_size(files), FILES);
			}
			json_decref(files);
		}
	}
}

/* ---- what is where ---- */

static const struct command backup = { .name = "backup", .hear = hear };

#define SHA_ONE "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
#define SHA_TWICE "dc8ffdbf2736dbdf39508017ac594e0d069f3eee9b0f29ece256aa7d831f9ef6"

static void each_file_is_copied_with_its_size_and_its_sum(void **state)
{
	struct folder folder = folder_new();
	char from[100], to[100], path[140];
	json_t *files = json_array(), *wanted;
	struct buffer copied = { 0 };
	struct backup_sum sum;
	struct stat found;
	int lowest = lowest_free_descriptor();

	(void)state;
	write_log(&folder);
	FOLDER_PATH(from, folder, "log");
	FOLDER_PATH(to, folder, "copy");
	FOLDER_PATH(path, folder, "log/.hidden");
	assert_int_equal(file_write_new(path, bytes_of("none of the log's"), 0600), 0);
	assert_int_equal(backup_copy(&backup, from, to, files, &sum), EXIT_FINE);
	assert_int_equal(lowest_free_descriptor(), lowest);
	wanted = json_pack("{s:s,s:i,s:s}", "name", "1.sst", "bytes", 3, "sha256", SHA_ONE);
	if (strcmp(json_string_value(json_object_get(json_array_get(files, 0), "name")), "1.sst") != 0)
		json_array_insert_new(files, 0, json_incref(json_array_get(files, 1)));
	assert_true(json_equal(json_array_get(files, 0), wanted));
	json_decref(wanted);
	wanted = json_pack("{s:s,s:i,s:s}", "name", "2.sst", "bytes", 5, "sha256", SHA_TWICE);
	assert_true(json_equal(json_array_get(files, 1), wanted));
	json_decref(wanted);
	FOLDER_PATH(path, folder, "copy/2.sst");
	assert_int_equal(file_read(path, 100, &copied), 0);
	assert_string_equal(buffer_text(&copied), "twice");
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0600);
	assert_int_equal(stat(to, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0700);
	FOLDER_PATH(path, folder, "copy/LOCK");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(backup_copy(&backup, from, to, files, &sum), EXIT_NO); /* it is there already */
	assert_true(strstr(heard, "/copy: File exists"));
	FOLDER_PATH(from, folder, "nothing");
	assert_int_equal(backup_sum_files(&backup, from, files, &sum), EXIT_NO);
	assert_true(strstr(heard, "/nothing: No such file or directory"));
	assert_int_equal(lowest_free_descriptor(), lowest);
	json_decref(files);
	buffer_free(&copied);
	folder_remove(&folder);
}

/* It would lack files, and name only those that it has: no check of it would find that. */
static void a_log_that_cannot_be_listed_to_its_end_is_not_copied(void **state)
{
	struct backup_sum sum;
	int all;

	(void)state;
	for (int copies = 0; copies < 2; copies++) {
		json_t *files = json_array();

		read_fails_at = reads = 0;
		assert_int_equal(run(copies, 0, files, &sum), EXIT_FINE);
		all = reads;
		assert_true(all > 3);
		for (read_fails_at = 1; read_fails_at <= all; read_fails_at++) {
			reads = 0;
			assert_int_equal(run(copies, 0, files, &sum), EXIT_NO);
			assert_non_null(strstr(heard, "/log could not be listed: Input/output error"));
		}
		read_fails_at = 0;
		json_decref(files);
	}
}

static void a_backup_goes_into_an_empty_folder_of_its_own(void **state)
{
	struct folder folder = folder_new();
	char path[100], inside[140];
	struct stat found;

	(void)state;
	FOLDER_PATH(path, folder, "new/one");
	assert_int_equal(backup_folder_make(path), 0);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0700);
	assert_int_equal(backup_folder_make(path), 0);
	snprintf(inside, sizeof(inside), "%s/.x", path);
	assert_int_equal(file_write_new(inside, bytes_of(""), 0600), 0);
	assert_int_equal(backup_folder_make(path), -ENOTEMPTY);
	assert_int_equal(backup_folder_make(inside), -ENOTDIR);
	reads = 0;
	read_fails_at = 1;
	assert_int_equal(backup_folder_make(path), -EIO);
	read_fails_at = 0;
	backup_remove_folder(path);
	assert_int_equal(access(path, F_OK), -1);
	folder_remove(&folder);
}

static void a_tree_is_removed_with_all_that_is_in_it(void **state)
{
	struct folder folder = folder_new();
	char path[100];

	(void)state;
	write_log(&folder);
	FOLDER_PATH(path, folder, "log");
	backup_remove_folder("/no/such/folder");
	backup_remove_tree(folder.path);
	assert_int_equal(access(folder.path, F_OK), -1);
	backup_remove_tree(path);
}

/* ---- beside the log ---- */

static void put(const struct folder *folder, const char *name, const char *text)
{
	char path[100];

	FOLDER_PATH(path, *folder, name);
	assert_int_equal(file_write_durably(path, bytes_of(text), 0600), 0);
}

static void what_lies_beside_the_log_is_in_the_note(void **state)
{
	static const char *const names[] = { "erasures.json", "stops" };
	struct folder folder = folder_new();

	(void)state;
	put(&folder, "other", "twice");
	for (size_t count = 0; count <= 2; count++) {
		json_t *note = json_object(), *beside;

		if (count > 0)
			put(&folder, names[count - 1], "one");
		assert_int_equal(backup_note_beside(&backup, folder.path, note), EXIT_FINE);
		beside = json_object_get(note, "beside");
		assert_int_equal(json_array_size(beside), count);
		for (size_t i = 0; i < count; i++) {
			json_t *wanted = json_pack("{s:s,s:i,s:s}", "name", names[i], "bytes", 3, "sha256", SHA_ONE);

			assert_true(json_equal(json_array_get(beside, i), wanted));
			json_decref(wanted);
		}
		assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_FINE);
		if (count > 0) {
			put(&folder, names[count - 1], "onf");
			assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_NO);
			assert_true(strstr(heard, "who was erased or said no may not be known without that file"));
			put(&folder, names[count - 1], "one");
		}
		json_decref(note);
	}
	folder_remove(&folder);
}

/* A backup of 0.1.0 does not say what they must be: they have to be readable, if they are there. */
static void an_older_backups_files_are_read_instead(void **state)
{
	struct folder folder = folder_new();
	json_t *note = json_object();
	char path[100];

	(void)state;
	assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_FINE);
	put(&folder, "erasures.json", "[");
	assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_NO);
	put(&folder, "erasures.json", "{}");
	assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_NO);
	put(&folder, "erasures.json", "[]");
	assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_FINE);
	put(&folder, "stops", "no side log");
	assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_NO);
	FOLDER_PATH(path, folder, "stops");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(backup_verify_beside(&backup, folder.path, note), EXIT_FINE);
	json_decref(note);
	folder_remove(&folder);
}

static void a_note_is_written_for_the_next_to_read(void **state)
{
	struct folder folder = folder_new();
	json_t *note = json_pack("{s:[i]}", "files", 1), *found;

	(void)state;
	assert_null(backup_note_if_any(folder.path));
	assert_int_equal(backup_write_note(&backup, folder.path, note), EXIT_FINE);
	found = backup_note_if_any(folder.path);
	assert_true(json_equal(found, note));
	json_decref(found);
	heard[0] = '\0';
	assert_int_equal(backup_write_note(&backup, "/no/such/folder", note), EXIT_NO);
	assert_true(strstr(heard, "/no/such/folder/backup.json: "));
	json_decref(note);
	folder_remove(&folder);
}

static void the_headroom_is_the_larger_of_a_size_and_a_part(void **state)
{
	static const struct {
		const char *text;
		uint64_t disk_bytes, wanted;
	} cases[] = {
		{ "", UINT64_C(1) << 30, UINT64_C(128) << 20 },
		{ "", UINT64_C(128) << 20, UINT64_C(128) << 20 },
		{ "", UINT64_C(100) << 30, UINT64_C(1) << 30 },
		{ "headroom = 256\n", UINT64_C(10) << 30, UINT64_C(256) << 20 },
		{ "headroom-percent = 10\n", UINT64_C(100) << 30, UINT64_C(10) << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config *config = NULL;
		struct config_error error;
		char text[100];

		snprintf(text, sizeof(text), "[broker]\n%s", cases[i].text);
		assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &config, &error), 0);
		assert_int_equal(disk_headroom(config, cases[i].disk_bytes), cases[i].wanted);
		config_free(config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_backup_is_done_when_each_file_and_the_folder_are_synced),
		cmocka_unit_test(each_file_is_copied_with_its_size_and_its_sum),
		cmocka_unit_test(a_log_that_cannot_be_listed_to_its_end_is_not_copied),
		cmocka_unit_test(a_backup_goes_into_an_empty_folder_of_its_own),
		cmocka_unit_test(a_tree_is_removed_with_all_that_is_in_it),
		cmocka_unit_test(what_lies_beside_the_log_is_in_the_note),
		cmocka_unit_test(an_older_backups_files_are_read_instead),
		cmocka_unit_test(a_note_is_written_for_the_next_to_read),
		cmocka_unit_test(the_headroom_is_the_larger_of_a_size_and_a_part),
	};

	return cmocka_run_group_tests_name("cartbus.backup_folder", tests, NULL, NULL);
}
