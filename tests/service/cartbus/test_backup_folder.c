/* test_backup_folder.c: the files of a backup are on the disk before it is said that they are: each sync fails once */
#include "services/cartbus/backup_folder.h"

#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_backup_is_done_when_each_file_and_the_folder_are_synced),
	};

	return cmocka_run_group_tests_name("cartbus.backup_folder", tests, NULL, NULL);
}
