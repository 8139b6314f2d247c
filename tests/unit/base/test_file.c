#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* fsync is this file's own here: it notes what was synced, and can be made to fail. */
enum { SYNCED_MOST = 16 };
static struct stat synced[SYNCED_MOST];
static int syncs, sync_that_fails;

int fsync(int fd)
{
	if (syncs < SYNCED_MOST)
		assert_int_equal(fstat(fd, &synced[syncs]), 0);
	if (++syncs != sync_that_fails)
		return (int)syscall(SYS_fsync, fd);
	errno = EIO;
	return -1;
}

/* The nth that is synced from here on fails; 0: none. */
static void forget_syncs(int that_fails)
{
	syncs = 0;
	sync_that_fails = that_fails;
}

static bool was_synced(const char *path)
{
	struct stat there;
	bool was = false;
	assert_int_equal(stat(path, &there), 0);
	for (int i = 0; i < syncs && i < SYNCED_MOST; i++)
		was = was || (synced[i].st_dev == there.st_dev && synced[i].st_ino == there.st_ino);
	return was;
}

static size_t entries_in(const char *path)
{
	size_t count = 0;
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[128];
	FOLDER_PATH(path, folder, "a");
	assert_int_equal(file_write_durably(path, bytes_of("old and long"), 0640), 0);
	assert_int_equal(file_write_durably(path, bytes_of("new"), 0640), 0);
	buffer_add_text(&content, "before ");
	assert_int_equal(file_read(path, 3, &content), 0);
	assert_string_equal(buffer_text(&content), "before new");
	assert_int_equal(entries_in(folder.path), 1); /* no temporary file is left */
}

static void leave_behind(const char *path, const char *half, mode_t mode)
{
	int fd = -1;
	assert_int_equal(file_create(path, bytes_of(half), mode, &fd), 0);
	close(fd);
}

static void assert_holds(const char *path, const char *content)
{
	_cleanup_(buffer_free) struct buffer found = { 0 };
	assert_int_equal(file_read(path, 100, &found), 0);
	assert_string_equal(buffer_text(&found), content);
}

static void what_is_written_is_synced_and_its_folder_too(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	FOLDER_PATH(path, folder, "a");
	forget_syncs(0);
	assert_int_equal(file_write_durably(path, bytes_of("old"), 0640), 0);
	assert_true(was_synced(path) && was_synced(folder.path));
	_cleanup_close_ int inside = open(folder.path, O_RDONLY | O_DIRECTORY);
	forget_syncs(0);
	assert_int_equal(file_write_durably_in(inside, "a", bytes_of("older"), 0640, NULL), 0);
	assert_true(was_synced(path) && was_synced(folder.path));
	forget_syncs(0);
	FOLDER_PATH(path, folder, "new");
	assert_int_equal(file_write_new(path, bytes_of("new"), 0640), 0);
	assert_true(was_synced(path));
	assert_holds(path, "new");
	assert_int_equal(file_write_new(path, bytes_of("newer"), 0640), -EEXIST);
	assert_holds(path, "new");
	forget_syncs(0);
	FOLDER_PATH(path, folder, "made");
	assert_int_equal(file_make_folders(path, 0750), 0);
	assert_true(was_synced(folder.path));
	forget_syncs(0);
	assert_int_equal(file_sync_folder(path), 0);
	assert_true(was_synced(path));
	assert_int_equal(file_sync_folder("/nonexistent"), -ENOENT);
}

static void a_name_without_a_folder_is_of_the_one_where_the_process_is(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_close_ int before = open(".", O_RDONLY | O_DIRECTORY);
	assert_int_equal(chdir(folder.path), 0);
	forget_syncs(0);
	assert_int_equal(file_write_durably("a", bytes_of("x"), 0640), 0);
	assert_true(was_synced(folder.path));
	assert_holds("a", "x");
	assert_int_equal(fchdir(before), 0);
}

static void a_sync_that_fails_is_told(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	FOLDER_PATH(path, folder, "a");
	assert_int_equal(file_write_durably(path, bytes_of("old"), 0640), 0);
	_cleanup_close_ int inside = open(folder.path, O_RDONLY | O_DIRECTORY);
	forget_syncs(1);
	assert_int_equal(file_write_durably(path, bytes_of("new"), 0640), -EIO);
	assert_holds(path, "old");
	assert_int_equal(entries_in(folder.path), 1);
	forget_syncs(2);
	assert_int_equal(file_write_durably(path, bytes_of("new"), 0640), -EIO);
	forget_syncs(2);
	assert_int_equal(file_write_durably_in(inside, "a", bytes_of("new"), 0640, NULL), -EIO);
	forget_syncs(1);
	assert_int_equal(file_sync_folder(folder.path), -EIO);
	forget_syncs(1);
	FOLDER_PATH(path, folder, "new");
	assert_int_equal(file_write_new(path, bytes_of("new"), 0640), -EIO);
	forget_syncs(1);
	FOLDER_PATH(path, folder, "made");
	assert_int_equal(file_make_folders(path, 0750), -EIO);
	forget_syncs(0);
}

static void what_moves_to_another_folder_is_synced_in_both(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char from[128], to[128], file[160], other[160];
	FOLDER_PATH(from, folder, "from");
	FOLDER_PATH(to, folder, "to");
	assert_int_equal(file_make_folders(from, 0750), 0);
	assert_int_equal(file_make_folders(to, 0750), 0);
	_cleanup_close_ int in_from = file_open_folder_in(AT_FDCWD, from), in_to = file_open_folder_in(AT_FDCWD, to);
	snprintf(file, sizeof(file), "%s/a", from);
	snprintf(other, sizeof(other), "%s/a", to);
	leave_behind(file, "moved", 0600);
	forget_syncs(0);
	assert_int_equal(file_move_durably_in(in_from, "a", in_to), 0);
	assert_true(was_synced(from) && was_synced(to));
	assert_holds(other, "moved");
	assert_int_equal(entries_in(from), 0);
	assert_int_equal(file_move_durably_in(in_from, "a", in_to), -ENOENT);
	forget_syncs(0);
	assert_int_equal(file_rename_durably(other, file), 0);
	assert_true(was_synced(from) && was_synced(to));
	for (int failing = 1; failing <= 2; failing++) {
		forget_syncs(failing);
		assert_int_equal(file_move_durably_in(in_from, "a", in_to), -EIO);
		forget_syncs(failing);
		assert_int_equal(file_rename_durably(other, file), -EIO);
	}
	forget_syncs(0);
}

static void a_file_gets_the_mode_asked_for(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	struct stat there;
	FOLDER_PATH(path, folder, "secret");
	umask(027);
	assert_int_equal(file_write_durably(path, bytes_of("x"), 0600), 0);
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_mode & 0777, 0600);
}

static void a_write_that_fails_leaves_the_old_content_and_nothing_else(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	FOLDER_PATH(path, folder, "inner");
	assert_int_equal(file_make_folders(path, 0750), 0);
	assert_int_equal(file_write_durably(path, bytes_of("x"), 0640), -EISDIR); /* a folder is in its place */
	assert_int_equal(entries_in(folder.path), 1);
	assert_int_equal(file_write_durably("/nonexistent/a", bytes_of("x"), 0640), -ENOENT);
}

static void what_a_killed_writer_left_is_taken_away_by_the_next(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[128], beside[128];
	struct stat there;
	FOLDER_PATH(path, folder, "key");
	FOLDER_PATH(beside, folder, "key.writing");
	leave_behind(beside, "half of a longer sec", 0666);
	assert_int_equal(file_write_durably(path, bytes_of("whole"), 0600), 0);
	assert_int_equal(file_read(path, 100, &content), 0);
	assert_string_equal(buffer_text(&content), "whole");
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_mode & 0777, 0600); /* not that of what lay there */
	assert_int_equal(entries_in(folder.path), 1);
}

static mode_t mode_of(const char *path)
{
	struct stat there;

	assert_int_equal(lstat(path, &there), 0);
	return there.st_mode & 07777;
}

/* As an earlier release made it, under a mask that left everything to the group. */
static void make_open(const struct folder *folder, const char *name, mode_t mode)
{
	char path[128];

	FOLDER_PATH(path, *folder, name);
	if (mode & S_IXUSR)
		assert_int_equal(mkdir(path, mode), 0);
	else
		leave_behind(path, "names and addresses", mode);
	assert_int_equal(chmod(path, mode), 0);
}

static void what_lies_open_in_a_private_folder_is_closed(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char state_folder[128], path[128], elsewhere[128];

	(void)state;
	make_open(&folder, "elsewhere", 0644);
	make_open(&folder, "state", 0750);
	make_open(&folder, "state/spool", 0750);
	make_open(&folder, "state/spool/1", 0640);
	make_open(&folder, "state/CURRENT", 0644);
	FOLDER_PATH(elsewhere, folder, "elsewhere");
	FOLDER_PATH(path, folder, "state/link");
	assert_int_equal(symlink(elsewhere, path), 0);
	FOLDER_PATH(state_folder, folder, "state");
	for (int again = 0; again < 2; again++) {
		assert_int_equal(file_make_private_folder(state_folder), 0);
		assert_int_equal(mode_of(state_folder), 0700);
		FOLDER_PATH(path, folder, "state/CURRENT");
		assert_int_equal(mode_of(path), 0600);
		FOLDER_PATH(path, folder, "state/spool");
		assert_int_equal(mode_of(path), 0700);
		FOLDER_PATH(path, folder, "state/spool/1");
		assert_int_equal(mode_of(path), 0600);
		assert_int_equal(mode_of(elsewhere), 0644); /* what a link leads to is not ours to change */
		/* systemd closed the folder itself before the process came; inside it is as it was */
		assert_int_equal(chmod(path, 0640), 0);
		FOLDER_PATH(path, folder, "state/CURRENT");
		assert_int_equal(chmod(path, 0640), 0);
	}
}

static void only_a_folder_of_this_user_and_group_is_closed(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], file[128];
	make_open(&folder, "out", 0750);
	make_open(&folder, "out/1", 0640);
	FOLDER_PATH(path, folder, "out");
	FOLDER_PATH(file, folder, "out/1");
	assert_int_equal(file_let_group_read(file, 0644), 0);
	assert_int_equal(mode_of(file), 0640); /* the group is this process's own */
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 0, getegid() + 1), 0);
		assert_int_equal(chown(file, 0, getegid() + 1), 0);
		assert_int_equal(file_close_own_folder(path), 0);
		assert_int_equal(mode_of(path), 0750);
		assert_int_equal(file_let_group_read(file, 0644), 0);
		assert_int_equal(mode_of(file), 0644);
		assert_int_equal(chown(path, 65534, getegid()), 0);
		assert_int_equal(file_close_own_folder(path), 0);
		assert_int_equal(mode_of(path), 0750);
		assert_int_equal(chown(path, 0, getegid()), 0);
	}
	assert_int_equal(file_close_own_folder(path), 0);
	assert_int_equal(mode_of(path), 0700);
	assert_int_equal(mode_of(file), 0600);
	FOLDER_PATH(path, folder, "absent");
	assert_int_equal(file_close_own_folder(path), -ENOENT);
	assert_int_equal(file_let_group_read(path, 0644), -ENOENT);
}

static int next_descriptor(void)
{
	int fd = dup(STDERR_FILENO);
	close(fd);
	return fd;
}

static void what_does_not_fit_on_the_disk_changes_nothing_and_keeps_no_descriptor(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct rlimit small, before;
	char path[128], other[128];
	int fd = -1, free_before = next_descriptor();
	FOLDER_PATH(path, folder, "a");
	FOLDER_PATH(other, folder, "b");
	assert_int_equal(file_write_durably(path, bytes_of("old"), 0640), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 10, .rlim_max = before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int created = file_create(other, bytes_of("eleven byte"), 0640, &fd);
	int written = file_write_durably(path, bytes_of("eleven byte"), 0640);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(created, -EFBIG);
	assert_int_equal(fd, -1);
	assert_int_equal(written, -EFBIG);
	assert_holds(path, "old");
	assert_int_equal(entries_in(folder.path), 2); /* what was begun by file_create is for its caller to remove */
	assert_int_equal(next_descriptor(), free_before);
}

/* Then the first that is opened has the number 0. */
static void a_process_without_stdin_reads_and_writes_all_the_same(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[128], lock[128];
	int input = dup(STDIN_FILENO), fd = -1;
	FOLDER_PATH(path, folder, "key");
	FOLDER_PATH(lock, folder, "lock");
	close(STDIN_FILENO);
	assert_int_equal(file_write_durably(path, bytes_of("hush"), 0600), 0);
	assert_int_equal(file_read(path, 4, &content), 0);
	assert_int_equal(file_read_secret(path, &content), 0);
	assert_int_equal(file_read_in(AT_FDCWD, path, 4, &content), 0);
	assert_string_equal(buffer_text(&content), "hushhushhush");
	assert_int_equal(file_sync_folder(folder.path), 0);
	assert_int_equal(file_open_folder_in(AT_FDCWD, folder.path), STDIN_FILENO);
	close(STDIN_FILENO);
	assert_int_equal(file_lock(lock, &fd), 0);
	assert_int_equal(fd, STDIN_FILENO);
	dup2(input, STDIN_FILENO);
	close(input);
}

static void what_another_one_is_writing_is_left_to_it(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], beside[128];
	int fd = -1;
	FOLDER_PATH(path, folder, "a");
	FOLDER_PATH(beside, folder, "a.writing");
	assert_int_equal(file_create(beside, bytes_of("mine"), 0640, &fd), 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(file_write_durably(path, bytes_of("x"), 0640), -EBUSY);
	assert_int_equal(access(beside, F_OK), 0);
	assert_int_equal(access(path, F_OK), -1);
	close(fd);
	assert_int_equal(file_write_durably(path, bytes_of("x"), 0640), 0);
	assert_int_equal(entries_in(folder.path), 1);
}

static void what_is_no_file_beside_it_is_not_followed(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], beside[128], other[128];
	FOLDER_PATH(path, folder, "a");
	FOLDER_PATH(beside, folder, "a.writing");
	FOLDER_PATH(other, folder, "other");
	leave_behind(other, "untouched", 0640);
	assert_int_equal(symlink(other, beside), 0);
	assert_int_equal(file_write_durably(path, bytes_of("x"), 0640), -ELOOP);
	assert_int_equal(access(other, F_OK), 0);
}

static void what_another_user_planted_leads_nowhere_else(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[128], elsewhere[128];
	FOLDER_PATH(elsewhere, folder, "elsewhere");
	assert_int_equal(file_make_folders(elsewhere, 0700), 0);
	FOLDER_PATH(elsewhere, folder, "elsewhere/file");
	leave_behind(elsewhere, "of others", 0600);
	FOLDER_PATH(path, folder, "inner");
	assert_int_equal(file_make_folders(path, 0700), 0);
	_cleanup_close_ int inner = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(symlinkat("../elsewhere", inner, "folder"), 0);
	assert_int_equal(symlinkat("../elsewhere/file", inner, "file"), 0);
	assert_int_equal(mkfifoat(inner, "pipe", 0600), 0);
	assert_int_equal(file_open_folder_in(inner, "folder"), -ENOTDIR);
	assert_int_equal(file_read_in(inner, "file", 100, &content), -ELOOP);
	assert_int_equal(file_read_in(inner, "pipe", 100, &content), -EINVAL);
	assert_int_equal(file_write_durably_in(inner, "file", bytes_of("mine"), 0600, NULL), 0);
	assert_int_equal(file_read_in(inner, "file", 100, &content), 0);
	assert_string_equal(buffer_text(&content), "mine");
	buffer_clear(&content);
	assert_int_equal(file_read(elsewhere, 100, &content), 0);
	assert_string_equal(buffer_text(&content), "of others");
}

static void a_file_that_is_written_for_somebody_is_his(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	const struct file_owner somebody = { .uid = 65534, .gid = 65534 };
	char path[128];
	struct stat there;
	FOLDER_PATH(path, folder, "a");
	int r = file_write_durably_for(path, bytes_of("x"), 0600, &somebody);
	if (geteuid() != 0) { /* then nothing was written at all, instead of a file that he cannot read */
		assert_int_equal(r, -EPERM);
		assert_int_equal(entries_in(folder.path), 0);
		return;
	}
	assert_int_equal(r, 0);
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_uid, somebody.uid);
	assert_int_equal(there.st_gid, somebody.gid);
}

static void a_file_past_the_limit_is_refused_and_not_read(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 }, large = { 0 };
	char path[128];
	FOLDER_PATH(path, folder, "a");
	for (int i = 0; i < 40000; i++)
		buffer_add_text(&large, "x");
	assert_int_equal(file_write_durably(path, buffer_bytes(&large), 0640), 0);
	assert_int_equal(file_read(path, 39999, &content), -EFBIG);
	assert_int_equal(content.len, 0);
	assert_int_equal(file_read(path, 40000, &content), 0);
	assert_int_equal(content.len, 40000);
	assert_int_equal(file_read("/nonexistent", 1, &content), -ENOENT);
}

static void folders_are_made_with_their_parents(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct stat there;
	char path[128];
	FOLDER_PATH(path, folder, "a/b//c/");
	assert_int_equal(file_make_folders(path, 0750), 0);
	assert_int_equal(file_make_folders(path, 0750), 0);
	assert_int_equal(stat(path, &there), 0);
	assert_int_equal(there.st_mode & 0777, 0750);
	assert_int_equal(file_make_folders("", 0750), -ENOENT);
	assert_int_equal(file_make_folders("/", 0750), 0);

	FOLDER_PATH(path, folder, "file");
	assert_int_equal(file_write_durably(path, bytes_of("x"), 0640), 0);
	assert_int_equal(file_make_folders(path, 0750), -ENOTDIR);
	FOLDER_PATH(path, folder, "file/below");
	assert_int_equal(file_make_folders(path, 0750), -ENOTDIR);
}

static void a_file_that_is_renamed_has_its_new_name_alone(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char from[128], to[128];
	FOLDER_PATH(from, folder, "a");
	FOLDER_PATH(to, folder, "below");
	assert_int_equal(file_make_folders(to, 0750), 0);
	FOLDER_PATH(to, folder, "below/b");
	assert_int_equal(file_write_durably(from, bytes_of("new"), 0640), 0);
	assert_int_equal(file_write_durably(to, bytes_of("old"), 0640), 0);
	assert_int_equal(file_rename_durably(from, to), 0);
	assert_int_equal(file_read(to, 3, &content), 0);
	assert_string_equal(buffer_text(&content), "new");
	assert_int_equal(entries_in(folder.path), 1);
	assert_int_equal(file_rename_durably(from, to), -ENOENT);
}

static int read_secret_with_mode(const char *path, mode_t mode)
{
	_cleanup_(buffer_free) struct buffer secret = { 0 };
	assert_int_equal(chmod(path, mode), 0);
	int r = file_read_secret(path, &secret);
	if (r == 0)
		assert_string_equal(buffer_text(&secret), "hush");
	else
		assert_int_equal(secret.len, 0);
	return r;
}

static void a_secret_that_others_could_read_or_change_is_refused(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	FOLDER_PATH(path, folder, "key");
	assert_int_equal(file_write_durably(path, bytes_of("hush\n"), 0600), 0);
	assert_int_equal(read_secret_with_mode(path, 0600), 0);
	assert_int_equal(read_secret_with_mode(path, 0440), 0); /* systemd's credentials look like this */
	assert_int_equal(read_secret_with_mode(path, 0640), 0);
	assert_int_equal(read_secret_with_mode(path, 0644), -EPERM);
	assert_int_equal(read_secret_with_mode(path, 0604), -EPERM);
	assert_int_equal(read_secret_with_mode(path, 0602), -EPERM);
	assert_int_equal(read_secret_with_mode(path, 0660), -EPERM);
	assert_int_equal(read_secret_with_mode(path, 0620), -EPERM);
}

static void a_secret_loses_only_its_last_newline(void **state)
{
	(void)state;
	static const char *const contents[][2] = { { "a\n", "a" }, { "a\r\n", "a" }, { "a\n\n", "a\n" }, { "a", "a" },
		{ "a ", "a " }, { "\n", "" }, { "", "" } };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	FOLDER_PATH(path, folder, "key");
	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		_cleanup_(buffer_free) struct buffer secret = { 0 };
		assert_int_equal(file_write_durably(path, bytes_of(contents[i][0]), 0600), 0);
		assert_int_equal(file_read_secret(path, &secret), *contents[i][1] ? 0 : -ENODATA);
		assert_string_equal(buffer_text(&secret), contents[i][1]);
	}
}

static void what_is_no_file_is_no_secret(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer secret = { 0 };
	char path[128];
	FOLDER_PATH(path, folder, "pipe");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(file_read_secret(path, &secret), -EINVAL); /* and does not wait for a writer */
	assert_int_equal(file_read_secret(folder.path, &secret), -EINVAL);
	FOLDER_PATH(path, folder, "absent");
	assert_int_equal(file_read_secret(path, &secret), -ENOENT);
}

static void a_stranger_may_change_what_is_open_to_all_or_belongs_to_another(void **state)
{
	(void)state;
	const uid_t own = geteuid(), another = own + 1;
	const struct {
		uid_t uid;
		mode_t mode;
		enum file_trust trust;
	} cases[] = {
		{ own, 0600, FILE_TRUSTED },
		{ 0, 0644, FILE_TRUSTED },
		{ own, 0775, FILE_TRUSTED },
		{ 0, 01777, FILE_TRUSTED },
		{ own, 0777, FILE_OPEN_TO_ALL },
		{ another, 0777, FILE_OPEN_TO_ALL },
		{ another, 0700, FILE_OF_ANOTHER },
		{ another, 01777, FILE_OF_ANOTHER },
		{ own, S_IFLNK | 0777, FILE_TRUSTED },
		{ 0, S_IFLNK | 0777, FILE_TRUSTED },
		{ another, S_IFLNK | 0777, FILE_OF_ANOTHER },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct stat there = { .st_uid = cases[i].uid, .st_mode = cases[i].mode };
		assert_int_equal(file_trust(&there), cases[i].trust);
	}
}

/* And so is flock: the holder of a lock may take the file away before another one, which has it open already, asks for it. */
static const char *taken_away;

int flock(int fd, int operation)
{
	if (taken_away)
		assert_int_equal(unlink(taken_away), 0);
	return (int)syscall(SYS_flock, fd, operation);
}

static void a_lock_that_its_holder_took_away_is_not_held(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	int fd = -1, r;
	FOLDER_PATH(path, folder, "lock");
	taken_away = path;
	r = file_lock(path, &fd);
	taken_away = NULL;
	assert_int_equal(r, -EBUSY);
	assert_int_equal(file_lock(path, &fd), 0);
	close(fd);
}

static int lock_in_another_process(const char *path)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int fd = -1;
		_exit(-file_lock(path, &fd));
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void a_lock_has_one_holder_until_it_ends(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128];
	int fd = -1;
	FOLDER_PATH(path, folder, "lock");
	assert_int_equal(file_lock(path, &fd), 0);
	assert_true(fd >= 0);
	assert_int_equal(lock_in_another_process(path), -EBUSY);
	close(fd);
	assert_int_equal(lock_in_another_process(path), 0);
	assert_int_equal(lock_in_another_process(path), 0); /* the one before has exited */
	assert_int_equal(file_lock("/nonexistent/lock", &fd), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_that_its_holder_took_away_is_not_held),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(what_is_written_is_synced_and_its_folder_too),
		cmocka_unit_test(a_name_without_a_folder_is_of_the_one_where_the_process_is),
		cmocka_unit_test(a_sync_that_fails_is_told),
		cmocka_unit_test(what_moves_to_another_folder_is_synced_in_both),
		cmocka_unit_test(only_a_folder_of_this_user_and_group_is_closed),
		cmocka_unit_test(what_does_not_fit_on_the_disk_changes_nothing_and_keeps_no_descriptor),
		cmocka_unit_test(a_process_without_stdin_reads_and_writes_all_the_same),
		cmocka_unit_test(a_file_gets_the_mode_asked_for),
		cmocka_unit_test(a_write_that_fails_leaves_the_old_content_and_nothing_else),
		cmocka_unit_test(what_a_killed_writer_left_is_taken_away_by_the_next),
		cmocka_unit_test(what_lies_open_in_a_private_folder_is_closed),
		cmocka_unit_test(what_another_one_is_writing_is_left_to_it),
		cmocka_unit_test(what_is_no_file_beside_it_is_not_followed),
		cmocka_unit_test(what_another_user_planted_leads_nowhere_else),
		cmocka_unit_test(a_file_that_is_written_for_somebody_is_his),
		cmocka_unit_test(a_file_past_the_limit_is_refused_and_not_read),
		cmocka_unit_test(folders_are_made_with_their_parents),
		cmocka_unit_test(a_file_that_is_renamed_has_its_new_name_alone),
		cmocka_unit_test(a_secret_that_others_could_read_or_change_is_refused),
		cmocka_unit_test(a_secret_loses_only_its_last_newline),
		cmocka_unit_test(what_is_no_file_is_no_secret),
		cmocka_unit_test(a_stranger_may_change_what_is_open_to_all_or_belongs_to_another),
		cmocka_unit_test(a_lock_has_one_holder_until_it_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
