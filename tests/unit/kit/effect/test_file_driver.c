/* test_file_driver.c: files that an effect writes: what is in them, and who may read them */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/effect/file_driver.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct effect {
	int ends, result;
};

/* It asks for no claim. */
void effect_claim(struct effect *effect)
{
	(void)effect;
	fail();
}

bool effect_may_go(const struct effect *effect)
{
	(void)effect;
	return true;
}

int64_t effect_until_us(const struct effect *effect)
{
	(void)effect;
	return INT64_MAX;
}

void effect_done(struct effect *effect, const void *result)
{
	effect->ends++;
	effect->result = *(const int *)result;
}

static struct folder folder;

static int fresh(void **state)
{
	(void)state;
	folder = folder_new();
	return 0;
}

static int gone(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static mode_t mode_of(const char *name)
{
	struct stat there;
	char path[200];

	FOLDER_PATH(path, folder, name);
	assert_int_equal(stat(path, &there), 0);
	return there.st_mode & 07777;
}

static void given_folder(const char *name, gid_t group, mode_t mode)
{
	char path[200];

	FOLDER_PATH(path, folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
	if (group != getegid())
		assert_int_equal(chown(path, geteuid(), group), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int when_written(const char *name, const char *text)
{
	struct effect_driver *driver = file_driver_new();
	struct file_request *request = memory_new(sizeof(*request));
	struct effect effect = { 0 };

	assert_string_equal(driver->name, "file");
	FOLDER_PATH(request->path, folder, name);
	buffer_add_text(&request->content, text);
	driver->start(driver->self, &effect, request);
	assert_int_equal(effect.ends, 0); /* not within the runtime's call */
	assert_int_equal(driver->wait_us(driver->self), 0);
	driver->work(driver->self);
	assert_int_equal(effect.ends, 1);
	assert_int_equal(driver->wait_us(driver->self), -1);
	driver->close(driver->self);
	file_request_free(request);
	return effect.result;
}

static void assert_holds(const char *name, const char *text)
{
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char path[200];

	FOLDER_PATH(path, folder, name);
	assert_int_equal(file_read(path, 1000, &content), 0);
	assert_string_equal(buffer_text(&content), text);
}

static void a_file_is_the_last_one_that_was_written(void **state)
{
	(void)state;
	assert_int_equal(when_written("day.csv", "a longer first text\n"), 0);
	assert_int_equal(when_written("day.csv", "second\n"), 0);
	assert_holds("day.csv", "second\n");
	assert_int_equal(when_written("empty.csv", ""), 0);
	assert_holds("empty.csv", "");
}

static void folders_that_are_missing_are_made_for_the_user_alone(void **state)
{
	(void)state;
	assert_int_equal(when_written("out/demo/day.csv", "x"), 0);
	assert_holds("out/demo/day.csv", "x");
	assert_int_equal(mode_of("out"), 0700);
	assert_int_equal(mode_of("out/demo"), 0700);
	assert_int_equal(mode_of("out/demo/day.csv"), 0600);
}

static void an_open_folder_of_its_own_is_closed(void **state)
{
	(void)state;
	given_folder("out", getegid(), 0755);
	assert_int_equal(when_written("out/day.csv", "x"), 0);
	assert_int_equal(mode_of("out"), 0700);
	assert_int_equal(mode_of("out/day.csv"), 0600);
}

/* A folder that gives its files to a group (setgid) does so for that group to read; also what lies deeper. */
static void what_lies_in_a_groups_folder_is_the_groups_to_read(void **state)
{
	static const mode_t modes[] = { 02750, 02770 };

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root gives a folder to a group that it is not in */
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		char out[20], day[40], below[20], deep[40];
		snprintf(out, sizeof(out), "out%zu", i);
		snprintf(day, sizeof(day), "%s/day.csv", out);
		snprintf(below, sizeof(below), "%s/demo", out);
		snprintf(deep, sizeof(deep), "%s/demo/day.csv", out);
		given_folder(out, getegid() + 1, modes[i]);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(when_written(day, "x"), 0);
			assert_int_equal(mode_of(out), modes[i]); /* it is not this process's to close */
			assert_int_equal(mode_of(day), 0640);
			assert_int_equal(when_written(deep, "x"), 0);
			assert_int_equal(mode_of(below), modes[i]);
			assert_int_equal(mode_of(deep), 0640);
		}
	}
}

/* The exporter and the summarizer are two users of one group, and write into a shop's folder that either of them made. */
static void a_folder_in_one_that_the_group_may_write_in_stays_the_groups(void **state)
{
	static const mode_t modes[] = { 0770, 02770, 0775 };

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		char out[20], below[20], day[40], path[200];
		snprintf(out, sizeof(out), "out%zu", i);
		snprintf(below, sizeof(below), "%s/demo", out);
		snprintf(day, sizeof(day), "%s/demo/day.csv", out);
		given_folder(out, getegid(), modes[i]);
		for (int night = 0; night < 3; night++) {
			assert_int_equal(when_written(day, "x"), 0);
			assert_int_equal(mode_of(below), 0770 | (modes[i] & S_ISGID));
			assert_int_equal(mode_of(day), 0600);
			if (night == 1) { /* as 0.2.0 left it */
				FOLDER_PATH(path, folder, below);
				assert_int_equal(chmod(path, 0700), 0);
			}
		}
	}
}

/* RestrictSUIDSGID= of the units (systemd/cartbus-.service.d/10-every.conf), as far as it is about chmod(2) and its kin. */
#define REFUSES_SETGID(call, argument)                                                                                 \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),                                         \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),                                                       \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),                     \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static bool refuse_setgid(void)
{
	struct sock_filter filter[] = {
#ifdef SYS_chmod
		REFUSES_SETGID(SYS_chmod, 1),
#endif
		REFUSES_SETGID(SYS_fchmod, 1),
		REFUSES_SETGID(SYS_fchmodat, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Without assertions: one that fails in a child would go on with the next test there. */
static int write_one(const char *name)
{
	struct effect_driver *driver = file_driver_new();
	struct file_request *request = memory_new(sizeof(*request));
	struct effect effect = { 0 };

	FOLDER_PATH(request->path, folder, name);
	buffer_add_text(&request->content, "x");
	driver->start(driver->self, &effect, request);
	driver->work(driver->self);
	driver->close(driver->self);
	file_request_free(request);
	return effect.ends == 1 ? effect.result : -ENOSYS;
}

static int when_written_by_a_unit(const char *name)
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(refuse_setgid() ? -write_one(name) : ENOTSUP);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* The package's export folder is 2770. */
static void a_unit_that_may_not_set_setgid_writes_all_the_same(void **state)
{
	char path[200];

	(void)state;
	given_folder("export", getegid(), 02770);
	for (int night = 0; night < 3; night++) {
		assert_int_equal(when_written_by_a_unit("export/demo/day.csv"), 0);
		assert_int_equal(mode_of("export/demo") & 0777, 0770);
		if (night == 1) { /* as 0.2.0 left it */
			FOLDER_PATH(path, folder, "export/demo");
			assert_int_equal(chmod(path, 0700), 0);
		}
	}
}

static void a_unit_writes_below_a_folder_of_another_group(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* only root gives a folder to a group that it is not in */
	given_folder("owners", getegid() + 1, 02750);
	assert_int_equal(when_written_by_a_unit("owners/demo/day.csv"), 0);
	assert_int_equal(mode_of("owners/demo") & 0777, 0750);
}

/* Whoever may write in a shared folder may put a link there: it must open nothing else of this user's. */
static void a_link_in_a_shared_folder_opens_no_folder_to_the_group(void **state)
{
	char path[200];

	(void)state;
	given_folder("state", getegid(), 0700);
	given_folder("export", getegid(), 0770);
	FOLDER_PATH(path, folder, "export/demo");
	assert_int_equal(symlink("../state", path), 0);
	assert_int_equal(when_written("export/demo/day.csv", "x"), 0);
	assert_int_equal(mode_of("state"), 0700);
}

static void a_folder_of_another_user_is_left_as_it_is(void **state)
{
	char path[200];

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root gives a folder away, and writes in it still */
	given_folder("out", getegid(), 0770);
	given_folder("out/demo", getegid(), 0750);
	FOLDER_PATH(path, folder, "out/demo");
	assert_int_equal(chown(path, 65534, getegid()), 0);
	assert_int_equal(when_written("out/demo/day.csv", "x"), 0);
	assert_int_equal(mode_of("out/demo"), 0750);
}

/* Where everybody may write, as in /tmp, nothing is said of a group. */
static void a_folder_in_one_that_everybody_may_write_in_is_the_users_alone(void **state)
{
	(void)state;
	given_folder("out", getegid(), 01777);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(when_written("out/demo/day.csv", "x"), 0);
		assert_int_equal(mode_of("out/demo"), 0700);
	}
}

static void what_cannot_be_written_says_why(void **state)
{
	char path[200];

	(void)state;
	assert_int_equal(when_written("file", "x"), 0);
	assert_int_equal(when_written("file/day.csv", "x"), -ENOTDIR);
	assert_int_equal(when_written("file/deeper/day.csv", "x"), -ENOTDIR);
	given_folder("day.csv", getegid(), 0700);
	assert_int_equal(when_written("day.csv", "x"), -EISDIR);
	FOLDER_PATH(path, folder, "day.csv");
	assert_int_equal(rmdir(path), 0); /* and left nothing in there */
	assert_holds("file", "x");
}

static void nothing_is_freed_harmlessly(void **state)
{
	(void)state;
	file_request_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_the_last_one_that_was_written, fresh, gone),
		cmocka_unit_test_setup_teardown(folders_that_are_missing_are_made_for_the_user_alone, fresh, gone),
		cmocka_unit_test_setup_teardown(an_open_folder_of_its_own_is_closed, fresh, gone),
		cmocka_unit_test_setup_teardown(what_lies_in_a_groups_folder_is_the_groups_to_read, fresh, gone),
		cmocka_unit_test_setup_teardown(
			a_folder_in_one_that_the_group_may_write_in_stays_the_groups, fresh, gone),
		cmocka_unit_test_setup_teardown(a_unit_that_may_not_set_setgid_writes_all_the_same, fresh, gone),
		cmocka_unit_test_setup_teardown(a_unit_writes_below_a_folder_of_another_group, fresh, gone),
		cmocka_unit_test_setup_teardown(a_link_in_a_shared_folder_opens_no_folder_to_the_group, fresh, gone),
		cmocka_unit_test_setup_teardown(a_folder_of_another_user_is_left_as_it_is, fresh, gone),
		cmocka_unit_test_setup_teardown(
			a_folder_in_one_that_everybody_may_write_in_is_the_users_alone, fresh, gone),
		cmocka_unit_test_setup_teardown(what_cannot_be_written_says_why, fresh, gone),
		cmocka_unit_test(nothing_is_freed_harmlessly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
