/* test_files.c: files beside the log that cannot be looked at are told, because they may hold the person */
#include "services/cartbus/people/files.h"

#include "bus/base/file.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/folder.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>

static int reads, read_that_fails; /* from 1; 0: none does */
static bool fdopendir_fails, fstatat_fails;
static char heard[1000];

struct dirent *__real_readdir(DIR *listing);
struct dirent *__wrap_readdir(DIR *listing);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
int __real_fstatat(int folder, const char *name, struct stat *ret, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *ret, int flags);

/* These three are in the place of the system's (the linker's --wrap). */
struct dirent *__wrap_readdir(DIR *listing)
{
	if (++reads != read_that_fails)
		return __real_readdir(listing);
	errno = EIO;
	return NULL;
}

DIR *__wrap_fdopendir(int fd)
{
	errno = ENOMEM;
	return fdopendir_fails ? NULL : __real_fdopendir(fd);
}

int __wrap_fstatat(int folder, const char *name, struct stat *ret, int flags)
{
	errno = EIO;
	return fstatat_fails ? -1 : __real_fstatat(folder, name, ret, flags);
}

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(heard, sizeof(heard), "%s", words);
}

static void found(const struct found_file *file, void *context)
{
	(void)context;
	fail_msg("%s is empty", file->path);
}

struct scene {
	struct folder folder;
	struct command command;
};

static struct scene begin(void)
{
	struct scene scene = { .folder = folder_new(), .command = { .name = "erase", .hear = hear } };
	struct config_error error;
	char text[200], path[160];

	snprintf(text, sizeof(text), "[paths]\nstate = %s/state\n", scene.folder.path);
	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &scene.command.config, &error), 0);
	FOLDER_PATH(path, scene.folder, "state/gateway/rejected/demo");
	assert_int_equal(file_make_folders(path, 0700), 0);
	FOLDER_PATH(path, scene.folder, "state/mail/new");
	assert_int_equal(file_make_folders(path, 0700), 0);
	return scene;
}

static void end(struct scene *scene)
{
	config_free(scene->command.config);
	folder_remove(&scene->folder);
}

/* Nobody is looked for: no file is there to be read. */
static int look(const struct scene *scene)
{
	int before = lowest_free_descriptor(), ended;

	heard[0] = '\0';
	reads = 0;
	ended = files_each(&scene->command, NULL, found, NULL);
	assert_int_equal(lowest_free_descriptor(), before);
	assert_int_equal(ended != EXIT_FINE, heard[0] != '\0');
	return ended;
}

static void a_folder_that_is_not_there_holds_nothing(void **state)
{
	struct scene scene = begin();

	(void)state;
	assert_int_equal(look(&scene), EXIT_FINE);
	folder_remove(&scene.folder);
	assert_int_equal(look(&scene), EXIT_FINE);
	end(&scene);
}

static void whatever_cannot_be_listed_is_told(void **state)
{
	struct scene scene = begin();
	int all;

	(void)state;
	assert_int_equal(look(&scene), EXIT_FINE);
	all = reads;
	assert_true(all > 10);
	for (int i = 1; i <= all; i++) {
		read_that_fails = i;
		assert_int_equal(look(&scene), EXIT_NO);
	}
	read_that_fails = 0;
	fdopendir_fails = true;
	assert_int_equal(look(&scene), EXIT_NO);
	fdopendir_fails = false;
	fstatat_fails = true;
	assert_int_equal(look(&scene), EXIT_NO);
	fstatat_fails = false;
	end(&scene);
}

static void a_state_that_cannot_be_opened_is_told(void **state)
{
	struct scene scene = begin();
	char path[160];

	(void)state;
	folder_remove(&scene.folder);
	assert_int_equal(file_make_folders(scene.folder.path, 0700), 0);
	FOLDER_PATH(path, scene.folder, "state");
	assert_int_equal(symlink("state", path), 0);
	assert_int_equal(look(&scene), EXIT_NO);
	assert_int_equal(unlink(path), 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_that_is_not_there_holds_nothing),
		cmocka_unit_test(whatever_cannot_be_listed_is_told),
		cmocka_unit_test(a_state_that_cannot_be_opened_is_told),
	};

	return cmocka_run_group_tests_name("cartbus.files", tests, NULL, NULL);
}
