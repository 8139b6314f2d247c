/* test_blobs.c: blobs in a backup and back, what is said of damaged and missing ones, and what an erasure takes */

#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "platform.pb.h"
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/people/erase.h"
#include "services/kit/blobs/blob_places.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>

static const size_t names[] = { offsetof(Document, digest), TOPIC_NOWHERE };
TOPIC_DECLARE(raw_mail, Document);
TOPIC_DEFINE_NAMING(raw_mail, "test.mail", Document, RETAIN_RAW, NULL, names);

static char heard[4000];

static void hear(const char *words, void *context)
{
	size_t len = strlen(heard);

	(void)context;
	snprintf(heard + len, sizeof(heard) - len, "%s\n", words);
}

static struct world {
	struct folder folder;
	struct command command;
	char state[PATH_MAX], root[PATH_MAX], backup[PATH_MAX], copied[PATH_MAX];
	char first[BLOB_NAME_SIZE], second[BLOB_NAME_SIZE];
} world;

static void put(const char *shop, const char *content, const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	static const struct blob_limits no_limits;
	struct blob_store *store = NULL;
	struct blob_writer *writer = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.2000s/mailin/forms/%s", world.root, shop);
	assert_int_equal(blob_store_open(path, &no_limits, &store), 0);
	assert_int_equal(blob_begin(store, &writer), 0);
	assert_int_equal(blob_add(writer, bytes_of(content)), 0);
	assert_int_equal(blob_commit(&writer, owner, ret_name), 0);
	blob_store_close(store);
}

static int setup(void **state)
{
	char path[PATH_MAX], text[PATH_MAX];
	struct config_error error;

	(void)state;
	world = (struct world){ .folder = folder_new() };
	*heard = '\0';
	FOLDER_PATH(world.state, world.folder, "state");
	FOLDER_PATH(world.backup, world.folder, "backup");
	FOLDER_PATH(path, world.folder, "cartbus.conf");
	blob_places_root(world.state, world.root);
	blob_places_root(world.backup, world.copied);
	assert_int_equal(file_make_folders(world.state, 0700), 0);
	snprintf(text, sizeof(text), "[paths]\nstate = %.1000s\n", world.state);
	assert_int_equal(file_write_new(path, bytes_of(text), 0600), 0);
	world.command = (struct command){ .name = "backup", .hear = hear };
	assert_int_equal(config_load(path, settings_keys, &world.command.config, &error), 0);
	put("demo", "the first mail", "test.mail a", world.first);
	put("demo", "the first mail", "test.mail b", world.first);
	put("other", "the second mail", "test.mail a", world.second);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	config_free(world.command.config);
	return 0;
}

static void path_of(const char *root, const char *shop, const char *name, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%.2000s/mailin/forms/%s/blobs/%.2s/%s", root, shop, name, name);
}

static int open_named(const char *shop, const char *name)
{
	struct blob_reader *reader = NULL;
	int r = blob_places_open(world.root, shop, name, &reader);

	blob_reader_free(reader);
	return r;
}

static json_t *copy(void)
{
	struct backup_sum sum;
	json_t *note = json_object();

	assert_int_equal(backup_blobs_copy(&world.command, world.backup, &sum), EXIT_FINE);
	assert_int_equal(sum.files, 2);
	backup_blobs_note(note, &sum);
	return note;
}

static void expect_verified(const char *root, const json_t *note, int ended, const char *words)
{
	struct backup_sum sum;

	*heard = '\0';
	assert_int_equal(backup_blobs_verify(&world.command, root, note, &sum), ended);
	if (words)
		assert_non_null(strstr(heard, words));
	else
		assert_string_equal(heard, "");
}

static void what_was_backed_up_is_verified_and_put_back(void **state)
{
	struct backup_sum sum;
	char path[PATH_MAX];
	json_t *note = copy();

	(void)state;
	expect_verified(world.copied, note, EXIT_FINE, NULL);
	path_of(world.root, "demo", world.first, path);
	assert_int_equal(unlink(path), 0);
	path_of(world.root, "other", world.second, path);
	assert_int_equal(truncate(path, 3), 0);
	expect_verified(world.root, NULL, EXIT_NO, "it is not there");
	expect_verified(world.root, NULL, EXIT_NO, "it is damaged");
	assert_int_equal(backup_blobs_put_back(&world.command, world.backup, &sum), EXIT_FINE);
	assert_int_equal(sum.files, 2);
	expect_verified(world.root, NULL, EXIT_FINE, NULL);
	assert_int_equal(backup_blobs_put_back(&world.command, world.backup, &sum), EXIT_FINE); /* run again */
	expect_verified(world.root, NULL, EXIT_FINE, NULL);
	json_decref(note);
}

static void a_backup_tells_what_it_lost(void **state)
{
	json_t *note = copy();
	char path[PATH_MAX], away[PATH_MAX];

	(void)state;
	path_of(world.copied, "demo", world.first, path);
	assert_int_equal(unlink(path), 0);
	expect_verified(world.copied, note, EXIT_NO, world.first);
	/* With its references nothing but the number tells of it. */
	snprintf(path, sizeof(path), "%.2000s/mailin/forms/demo", world.copied);
	snprintf(away, sizeof(away), "%.2000s/away", world.folder.path);
	assert_int_equal(rename(path, away), 0);
	expect_verified(world.copied, note, EXIT_NO, "1 blobs, and 2 were backed up");
	json_decref(note);
}

static void a_damaged_blob_does_not_become_a_backup(void **state)
{
	struct backup_sum sum;
	char path[PATH_MAX];

	(void)state;
	path_of(world.root, "other", world.second, path);
	assert_int_equal(truncate(path, 3), 0);
	assert_int_equal(backup_blobs_copy(&world.command, world.backup, &sum), EXIT_NO);
	assert_non_null(strstr(heard, world.second));
	assert_int_equal(sum.files, 1);
}

static void where_there_are_no_blobs_nothing_is_said(void **state)
{
	const struct folder empty = folder_new();
	struct backup_sum sum;
	json_t *note = json_object(); /* of a backup of an older release */

	(void)state;
	assert_int_equal(backup_blobs_put_back(&world.command, empty.path, &sum), EXIT_FINE);
	expect_verified(empty.path, note, EXIT_FINE, NULL);
	json_decref(note);
}

/* --- an erasure --- */

static int erase(const char *shop, const char *idem, const char *name, const char *blobs_root, struct erasure *ret)
{
	Document message = { 0 };

	*ret = (struct erasure){
		.command = &world.command, .shop = shop, .blobs = json_array(), .blobs_root = blobs_root
	};
	snprintf(message.digest, sizeof(message.digest), "%s", name);
	erase_note_blobs(ret, &topic_raw_mail, idem, &message);
	int ended = erase_blobs(ret);
	json_decref(ret->blobs);
	return ended;
}

static void an_erasure_takes_what_only_the_erased_messages_name(void **state)
{
	struct erasure erasure;

	(void)state;
	assert_int_equal(erase("demo", "a", world.first, NULL, &erasure), EXIT_FINE);
	assert_int_equal(erasure.blobs_kept, 1);
	assert_int_equal(erasure.blobs_removed, 0);
	assert_int_equal(open_named("demo", world.first), 0);
	assert_int_equal(erase("demo", "b", world.first, NULL, &erasure), EXIT_FINE);
	assert_int_equal(erasure.blobs_removed, 1);
	assert_int_equal(open_named("demo", world.first), -ENOENT);
	assert_int_equal(open_named("other", world.second), 0);
	expect_verified(world.root, NULL, EXIT_FINE, NULL);
}

static void an_erasure_reaches_the_blobs_of_a_backup(void **state)
{
	struct erasure erasure;
	struct backup_sum sum;
	json_t *note = copy();

	(void)state;
	assert_int_equal(erase("other", "a", world.second, world.backup, &erasure), EXIT_FINE);
	assert_int_equal(erasure.blobs_removed, 1);
	assert_int_equal(open_named("other", world.second), 0);
	expect_verified(world.copied, note, EXIT_NO, "1 blobs, and 2 were backed up");
	assert_int_equal(backup_blobs_note_anew(&world.command, world.backup, note), EXIT_FINE);
	assert_int_equal(backup_blobs_verify(&world.command, world.copied, note, &sum), EXIT_FINE);
	json_decref(note);
}

static void tell(const char *name, int r, void *context)
{
	assert_string_equal(name, context);
	assert_int_equal(r, -ENOENT);
}

static void a_blob_that_a_message_names_is_looked_for(void **state)
{
	Document message = { 0 };

	(void)state;
	snprintf(message.digest, sizeof(message.digest), "%s", world.second);
	assert_int_equal(blobs_look_for(world.root, &topic_raw_mail, "other", &message, tell, world.second), 0);
	assert_int_equal(blobs_look_for(world.root, &topic_raw_mail, "demo", &message, tell, world.second), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(what_was_backed_up_is_verified_and_put_back),
		TEST(a_backup_tells_what_it_lost), TEST(a_damaged_blob_does_not_become_a_backup),
		TEST(where_there_are_no_blobs_nothing_is_said),
		TEST(an_erasure_takes_what_only_the_erased_messages_name),
		TEST(an_erasure_reaches_the_blobs_of_a_backup), TEST(a_blob_that_a_message_names_is_looked_for) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
