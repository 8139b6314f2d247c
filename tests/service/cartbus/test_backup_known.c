/* test_backup_known.c: which backups were made here, what became of them, and those that lie in [backup] folder */
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/backup_shelf.h"
#include "services/cartbus/people/erase_copy.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

static struct scene {
	struct folder folder;
	struct command command;
	char heard[1000], found[1000];
} scene;

static unsigned long disk_id; /* of whatever is asked for; 0: the real one */
static int access_fails;      /* with this errno; 0: it does not */
int __real_statvfs(const char *path, struct statvfs *ret);
int __wrap_statvfs(const char *path, struct statvfs *ret);
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);

int __wrap_statvfs(const char *path, struct statvfs *ret)
{
	int r = __real_statvfs(path, ret);

	if (disk_id)
		ret->f_fsid = disk_id;
	return r;
}

int __wrap_access(const char *path, int mode)
{
	errno = access_fails;
	return access_fails ? -1 : __real_access(path, mode);
}

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(scene.heard, sizeof(scene.heard), "%s", words);
}

static void make(const char *name)
{
	char path[160];

	FOLDER_PATH(path, scene.folder, name);
	assert_int_equal(file_make_folders(path, 0700), 0);
}

static void put(const char *name, const char *text)
{
	char path[160];

	FOLDER_PATH(path, scene.folder, name);
	assert_int_equal(file_write_durably(path, bytes_of(text), 0600), 0);
}

static bool is_there(const char *name)
{
	char path[160];

	FOLDER_PATH(path, scene.folder, name);
	return access(path, F_OK) == 0;
}

static int begin(void **state)
{
	struct config_error error;
	char text[300];

	(void)state;
	scene = (struct scene){ .folder = folder_new(), .command = { .name = "backup", .hear = hear } };
	make("state");
	snprintf(text, sizeof(text), "[paths]\nstate = %s/state\n[backup]\nfolder = %s/shelf\nkeep = 5\n",
		scene.folder.path, scene.folder.path);
	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &scene.command.config, &error), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	config_free(scene.command.config);
	folder_remove(&scene.folder);
	return 0;
}

/* ---- one at a time ---- */

static void only_one_may_work_on_backups(void **state)
{
	int first = -1, second = -1;

	(void)state;
	assert_int_equal(backup_lock(&scene.command, &first), EXIT_FINE);
	assert_int_equal(backup_lock(&scene.command, &second), EXIT_NO);
	assert_non_null(strstr(scene.heard, "/state/.backup.lock: another backup or erasure is running"));
	assert_int_equal(close(first), 0);
	assert_int_equal(backup_lock(&scene.command, &second), EXIT_FINE);
	close(second);
}

static void snapshots_that_a_kill_left_are_removed_and_nothing_else(void **state)
{
	(void)state;
	backup_remove_snapshots(&scene.command); /* there is no broker's folder yet */
	make("state/broker/snapshot-1");
	put("state/broker/snapshot-1/1.sst", "one");
	make("state/broker/snapshot-2");
	make("state/broker/other");
	put("state/broker/CURRENT", "MANIFEST-000001\n");
	backup_remove_snapshots(&scene.command);
	assert_false(is_there("state/broker/snapshot-1"));
	assert_false(is_there("state/broker/snapshot-2"));
	assert_true(is_there("state/broker/other"));
	assert_true(is_there("state/broker/CURRENT"));
}

/* ---- those that are known ---- */

static void note(const char *folder, enum backup_found found, void *context)
{
	static const char *const words[] = { [BACKUP_THERE] = "there", [BACKUP_GONE] = "gone", [BACKUP_AWAY] = "away" };
	size_t len = strlen(scene.found);

	(void)context;
	assert_memory_equal(folder, scene.folder.path, strlen(scene.folder.path));
	snprintf(scene.found + len, sizeof(scene.found) - len, "%s %s\n", folder + strlen(scene.folder.path) + 1,
		words[found]);
}

static void expect_known(const char *wanted)
{
	scene.found[0] = '\0';
	assert_int_equal(backup_each_known(&scene.command, note, NULL), EXIT_FINE);
	assert_string_equal(scene.found, wanted);
}

static void forget_gone(void)
{
	assert_int_equal(backup_forget_gone(&scene.command), EXIT_FINE);
}

static void remember(const char *name)
{
	char path[160];

	make(name);
	FOLDER_PATH(path, scene.folder, name);
	assert_int_equal(backup_remember(&scene.command, path), EXIT_FINE);
}

static void rename_to(const char *from, const char *to)
{
	char before[160], after[160];

	FOLDER_PATH(before, scene.folder, from);
	FOLDER_PATH(after, scene.folder, to);
	assert_int_equal(rename(before, after), 0);
}

static void what_was_backed_up_is_known_once_the_latest_last(void **state)
{
	(void)state;
	expect_known("");
	remember("disk/one");
	remember("disk/two");
	expect_known("disk/one there\ndisk/two there\n");
	remember("disk/one");
	expect_known("disk/two there\ndisk/one there\n");
}

/* A disk that is not mounted comes back; what was deleted does not. */
static void one_that_was_deleted_is_forgotten_and_one_whose_disk_is_away_is_not(void **state)
{
	(void)state;
	remember("disk/one");
	remember("disk/two");
	rename_to("disk/one", "elsewhere");
	expect_known("disk/one gone\ndisk/two there\n");
	expect_known("disk/one gone\ndisk/two there\n"); /* who only looks has no lock, and changes nothing */
	forget_gone();
	expect_known("disk/two there\n");
	rename_to("disk", "away");
	expect_known("disk/two away\n");
	make("disk"); /* where it would be mounted */
	forget_gone();
	expect_known("disk/two away\n");
	rename_to("away", "disk");
	expect_known("disk/two there\n");
}

/* Two disks are mounted in turn at one path: the root of each has the same inode. */
static void one_whose_disk_is_another_than_the_one_that_is_there_is_away(void **state)
{
	(void)state;
	disk_id = 1;
	remember("disk/one");
	rename_to("disk/one", "elsewhere");
	disk_id = 2;
	expect_known("disk/one away\n");
	forget_gone();
	disk_id = 1;
	expect_known("disk/one gone\n");
	rename_to("elsewhere", "disk/one");
	disk_id = 3; /* the same disk, under the name that the machine gives it now */
	forget_gone();
	rename_to("disk/one", "elsewhere");
	expect_known("disk/one gone\n");
	disk_id = 0;
}

static void one_of_an_older_release_is_known_by_the_folder_above_alone(void **state)
{
	char text[300], path[160];
	struct stat found;

	(void)state;
	make("disk");
	FOLDER_PATH(path, scene.folder, "disk");
	assert_int_equal(stat(path, &found), 0);
	snprintf(text, sizeof(text), "[{\"folder\": \"%s/one\", \"inode\": %llu}]", path,
		(unsigned long long)found.st_ino);
	put("state/backups.json", text);
	expect_known("disk/one gone\n");
	make("disk/one");
	disk_id = 1;
	forget_gone();
	rename_to("disk/one", "elsewhere");
	disk_id = 2;
	expect_known("disk/one away\n");
	disk_id = 0;
}

static void one_that_may_not_be_looked_for_is_not_forgotten(void **state)
{
	(void)state;
	remember("disk/one");
	access_fails = EACCES;
	expect_known("disk/one away\n");
	forget_gone();
	access_fails = 0;
	expect_known("disk/one there\n");
}

static void a_list_that_cannot_be_read_or_a_folder_that_is_not_there_is_told(void **state)
{
	char path[160];

	(void)state;
	FOLDER_PATH(path, scene.folder, "nothing");
	assert_int_equal(backup_remember(&scene.command, path), EXIT_NO);
	assert_non_null(strstr(scene.heard, "/nothing: No such file or directory"));
	assert_false(is_there("state/backups.json"));
	put("state/backups.json", "[");
	assert_int_equal(backup_remember(&scene.command, scene.folder.path), EXIT_NO);
	assert_non_null(strstr(scene.heard, "backups.json: it is no whole JSON"));
	assert_int_equal(backup_each_known(&scene.command, note, NULL), EXIT_NO);
	assert_int_equal(backup_forget_gone(&scene.command), EXIT_NO);
	put("state/backups.json", "{}");
	assert_int_equal(backup_each_known(&scene.command, note, NULL), EXIT_NO);
	assert_non_null(strstr(scene.heard, "it is no list of backups"));
}

/* ---- erasures that are owed ---- */

/* Nothing can be erased from these backups: who tries is told so. */
static void make_owed(const char *name)
{
	char note[60];

	remember(name);
	snprintf(note, sizeof(note), "%s/backup.json", name);
	put(note, "{\"files\": [{\"name\": \"..\"}]}");
}

static bool is_erased_again(const char *within)
{
	char path[160], wanted[200];
	int ended;

	FOLDER_PATH(path, scene.folder, within);
	scene.heard[0] = '\0';
	ended = erase_copies_again(&scene.command, path);
	snprintf(
		wanted, sizeof(wanted), "%s/disk/shelf/one/backup.json names a file that cannot be", scene.folder.path);
	assert_int_equal(ended != EXIT_FINE, scene.heard[0] != '\0');
	return ended != EXIT_FINE && strcmp(scene.heard, wanted) == 0;
}

static void they_are_made_up_for_in_one_folder_by_whatever_link_it_is_named(void **state)
{
	char link[160], target[160];

	(void)state;
	put("state/erasures.json", "[{\"id\": \"1\", \"shop\": \"demo\", \"done\": true}]");
	scene.command.json = true; /* no words on the way */
	make_owed("disk/shelf/one");
	FOLDER_PATH(link, scene.folder, "link");
	FOLDER_PATH(target, scene.folder, "disk/shelf");
	assert_int_equal(symlink(target, link), 0);
	assert_true(is_erased_again("disk/shelf"));
	assert_true(is_erased_again("link"));
	assert_true(is_erased_again("disk/"));
	assert_false(is_erased_again("disk/sh"));
	make("disk/sh");
	assert_false(is_erased_again("disk/sh"));
}

/* ---- the shelf ---- */

static void copies_are_named_after_their_moment_and_others_are_nobodys(void **state)
{
	static const char *const others[] = { "2026-11-21", "2026-11-21T033000Zx", "2026-11-21T253000Z",
		"2026-11-32T033000Z", "other", "2026-11-21T33000Z" };
	struct shelf shelf;
	char path[PATH_ROOM + SHELF_NAME], wanted[200];

	(void)state;
	assert_int_equal(shelf_read(&scene.command, &shelf), 0);
	assert_int_equal(shelf.count, 0);
	assert_null(shelf_newest(&shelf));
	assert_null(shelf_newest_proved(&shelf));
	shelf_free(&shelf);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(path, sizeof(path), "shelf/%s", others[i]);
		make(path);
	}
	make("shelf/2026-11-21T033000Z");
	make("shelf/2026-11-23T033000Z");
	make("shelf/2026-11-22T033000Z");
	make("shelf/2026-11-20T033000Z");
	put("shelf/2026-11-22T033000Z/backup.json", "{\"files\": [1], \"at_us\": 7}");
	put("shelf/2026-11-21T033000Z/backup.json", "{\"files\": [1], \"at_us\": 6, \"proved_us\": 9}");
	put("shelf/2026-11-20T033000Z/backup.json", "{\"files\": [1], \"at_us\": 5, \"proved_us\": 8}");
	assert_int_equal(shelf_read(&scene.command, &shelf), 0);
	assert_int_equal(shelf.count, 4);
	assert_string_equal(shelf.copies[0].name, "2026-11-23T033000Z");
	assert_false(shelf.copies[0].is_whole);
	assert_string_equal(shelf.copies[1].name, "2026-11-22T033000Z");
	assert_true(shelf.copies[1].is_whole);
	assert_int_equal(shelf.copies[1].at_us, 7);
	assert_int_equal(shelf.copies[1].proved_us, 0);
	assert_int_equal(shelf.copies[3].proved_us, 8);
	assert_ptr_equal(shelf_newest(&shelf), &shelf.copies[1]);
	assert_ptr_equal(shelf_newest_proved(&shelf), &shelf.copies[2]);
	shelf_free(&shelf);
	put("shelf/2026-11-23T033000Z/backup.json", "{\"files\": [1], \"at_us\": 8, \"proved_us\": 10}");
	assert_int_equal(shelf_read(&scene.command, &shelf), 0);
	assert_ptr_equal(shelf_newest(&shelf), &shelf.copies[0]);
	assert_ptr_equal(shelf_newest_proved(&shelf), &shelf.copies[0]);
	shelf_path(&shelf, "x", path);
	snprintf(wanted, sizeof(wanted), "%s/shelf/x", scene.folder.path);
	assert_string_equal(path, wanted);
	shelf_free(&shelf);
	assert_int_equal(shelf_keep(&scene.command), 5);
}

static void a_shelf_that_cannot_be_read_is_told(void **state)
{
	struct shelf shelf;

	(void)state;
	put("shelf", "a file");
	assert_int_equal(shelf_read(&scene.command, &shelf), -ENOTDIR);
	shelf_free(&shelf);
}

int main(void)
{
#define SCENE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		SCENE(only_one_may_work_on_backups),
		SCENE(snapshots_that_a_kill_left_are_removed_and_nothing_else),
		SCENE(what_was_backed_up_is_known_once_the_latest_last),
		SCENE(one_that_was_deleted_is_forgotten_and_one_whose_disk_is_away_is_not),
		SCENE(one_whose_disk_is_another_than_the_one_that_is_there_is_away),
		SCENE(one_of_an_older_release_is_known_by_the_folder_above_alone),
		SCENE(one_that_may_not_be_looked_for_is_not_forgotten),
		SCENE(a_list_that_cannot_be_read_or_a_folder_that_is_not_there_is_told),
		SCENE(they_are_made_up_for_in_one_folder_by_whatever_link_it_is_named),
		SCENE(copies_are_named_after_their_moment_and_others_are_nobodys),
		SCENE(a_shelf_that_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests_name("cartbus.backup_known", tests, NULL, NULL);
}
