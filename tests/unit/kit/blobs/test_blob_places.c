/* test_blob_places.c: the stores of an installation, the messages that name blobs, and what an erasure of one of them leaves */
#include "bus/actor/topic.h"
#include "platform.pb.h"
#include "services/kit/blobs/blob_places.h"
#include "services/kit/blobs/blob_uses.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>

static const size_t names[] = { offsetof(Document, digest), offsetof(Document, google), TOPIC_NOWHERE };
TOPIC_DECLARE(two_files, Document);
TOPIC_DEFINE_NAMING(two_files, "test.files", Document, RETAIN_RAW, NULL, names);
TOPIC_DECLARE(plain, Document);
TOPIC_DEFINE(plain, "test.plain", Document, RETAIN_RAW, NULL);

static const struct blob_use forms = { .name = "forms", .blob_bytes = 100, .kept_us = 30 * US_PER_DAY };
static const struct blob_use refunds = { .name = "refunds", .blob_bytes = 100, .kept_us = US_PER_DAY };

static bool reading_fails;

struct dirent *__real_readdir(DIR *folder);
struct dirent *__wrap_readdir(DIR *folder);
struct dirent *__wrap_readdir(DIR *folder)
{
	if (!reading_fails)
		return __real_readdir(folder);
	errno = EIO;
	return NULL;
}

static struct blob_uses *uses_in(const char *root, uint64_t shop_bytes)
{
	static struct clock clock;

	clock = clock_system();
	struct blob_uses *uses = blob_uses_new(&(struct blob_uses_settings){
		.root = root, .process = "mailin", .shop_bytes = shop_bytes, .clock = &clock });
	assert_int_equal(blob_uses_add(uses, &forms, US_PER_DAY), 0);
	assert_int_equal(blob_uses_add(uses, &refunds, 5 * US_PER_DAY), 0);
	return uses;
}

static int put(struct blob_uses *uses, const struct blob_use *use, const char *shop, const char *content,
	const char *idem, char ret_name[BLOB_NAME_SIZE])
{
	struct blob_writer *writer = NULL;
	char owner[BLOB_OWNER_MAX + 1];
	int r = blob_uses_begin(uses, use, shop, &writer);

	if (r < 0)
		return r;
	assert_int_equal(blob_owner_text("test.files", idem, owner), 0);
	blob_add(writer, bytes_of(content));
	return blob_commit(&writer, owner, ret_name);
}

static int open_named(const char *root, const char *shop, const char *name)
{
	struct blob_reader *reader = NULL;
	int r = blob_places_open(root, shop, name, &reader);

	blob_reader_free(reader);
	return r;
}

static void a_message_tells_which_blobs_it_names(void **state)
{
	Document message = { .digest = "first", .google = "" };

	(void)state;
	assert_string_equal(topic_blob(&topic_two_files, &message, 0), "first");
	assert_null(topic_blob(&topic_two_files, &message, 1));
	strcpy(message.google, "second");
	assert_string_equal(topic_blob(&topic_two_files, &message, 1), "second");
	message.digest[0] = '\0';
	assert_string_equal(topic_blob(&topic_two_files, &message, 0), "second");
	assert_null(topic_blob(&topic_plain, &message, 0));
}

static void no_message_without_a_key_can_own_a_blob(void **state)
{
	char owner[BLOB_OWNER_MAX + 1], longest[BLOB_OWNER_MAX + 1];

	(void)state;
	assert_int_equal(blob_owner_text("test.files", "", owner), -EINVAL);
	assert_int_equal(blob_owner_text("", "key", owner), -EINVAL);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(blob_owner_text("test.files", longest, owner), -EINVAL);
}

static void a_blob_of_two_messages_goes_with_the_second(void **state)
{
	struct folder folder = folder_new();
	struct blob_uses *uses = uses_in(folder.path, 0);
	char name[BLOB_NAME_SIZE];
	uint64_t removed, kept;

	(void)state;
	assert_int_equal(put(uses, &forms, "demo", "a mail", "first", name), 0);
	assert_int_equal(put(uses, &forms, "demo", "a mail", "second", name), 0);
	assert_int_equal(put(uses, &forms, "other", "a mail", "first", name), 0);
	assert_int_equal(blob_places_release(folder.path, "demo", name, "test.files first", &removed, &kept), 0);
	assert_int_equal(removed, 0);
	assert_int_equal(kept, 1);
	assert_int_equal(open_named(folder.path, "demo", name), 0);
	assert_int_equal(blob_places_release(folder.path, "demo", name, "test.files first", &removed, &kept), 0);
	assert_int_equal(removed + kept, 0); /* an erasure that is run again */
	assert_int_equal(blob_places_release(folder.path, "demo", name, "test.files second", &removed, &kept), 0);
	assert_int_equal(removed, 1);
	assert_int_equal(kept, 0);
	assert_int_equal(open_named(folder.path, "demo", name), -ENOENT);
	assert_int_equal(open_named(folder.path, "other", name), 0); /* another shop's own */
	blob_uses_free(uses);
}

static void a_shops_room_is_its_own_and_a_uses_own(void **state)
{
	struct folder folder = folder_new();
	struct blob_uses *uses = uses_in(folder.path, 10);
	struct blob_use stranger = { .name = "stranger" };
	char name[BLOB_NAME_SIZE];

	(void)state;
	assert_int_equal(put(uses, &forms, "demo", "12345678", "a", name), 0);
	assert_int_equal(put(uses, &forms, "demo", "abcdef", "b", name), -EDQUOT);
	assert_int_equal(put(uses, &forms, "other", "abcdef", "b", name), 0);
	assert_int_equal(put(uses, &refunds, "demo", "abcdef", "b", name), 0);
	assert_int_equal(put(uses, &stranger, "demo", "x", "a", name), -EINVAL);
	assert_int_equal(put(uses, &forms, "../demo", "x", "a", name), -EINVAL);
	assert_int_equal(put(uses, &forms, "", "x", "a", name), -EINVAL);
	blob_uses_free(uses);
	uses = uses_in(folder.path, 10); /* what is there counts after a restart */
	assert_int_equal(put(uses, &forms, "demo", "abcdef", "b", name), -EDQUOT);
	blob_uses_free(uses);
}

static void there_may_be_no_stores_at_all(void **state)
{
	struct folder folder = folder_new();
	char root[PATH_MAX];
	uint64_t removed, kept;

	(void)state;
	blob_places_root(folder.path, root);
	assert_int_equal(open_named(root, "demo", "x"), -ENOENT);
	assert_int_equal(blob_places_release(root, "demo", "x", "o", &removed, &kept), 0);
}

/* Else its blobs would be kept for ever. */
static void a_folder_of_stores_that_cannot_be_read_is_an_error(void **state)
{
	struct folder folder = folder_new();
	struct blob_uses *uses = uses_in(folder.path, 0);
	static const struct clock clock;
	char name[BLOB_NAME_SIZE];

	(void)state;
	assert_int_equal(put(uses, &forms, "demo", "a mail", "a", name), 0);
	blob_uses_free(uses);
	uses = blob_uses_new(&(struct blob_uses_settings){ .root = folder.path, .process = "mailin", .clock = &clock });
	reading_fails = true;
	assert_int_equal(blob_uses_add(uses, &forms, US_PER_DAY), -EIO);
	reading_fails = false;
	blob_uses_free(uses);
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_message_tells_which_blobs_it_names),
		cmocka_unit_test(no_message_without_a_key_can_own_a_blob),
		cmocka_unit_test(a_blob_of_two_messages_goes_with_the_second),
		cmocka_unit_test(a_shops_room_is_its_own_and_a_uses_own),
		cmocka_unit_test(there_may_be_no_stores_at_all),
		cmocka_unit_test(a_folder_of_stores_that_cannot_be_read_is_an_error) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
