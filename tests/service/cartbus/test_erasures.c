/* test_erasures.c: the list of who was erased: read, merged, held against messages, and ended */
#include "services/cartbus/people/erasures.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/cartbus/core/naming.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>

static const char KEY[] = "0123456789abcdef0123456789abcdef";

static struct scene {
	struct folder folder;
	struct command command;
	char heard[1000];
} scene;

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(scene.heard, sizeof(scene.heard), "%s", words);
}

static void put(const char *name, const char *text)
{
	char path[160];

	FOLDER_PATH(path, scene.folder, name);
	assert_int_equal(file_write_durably(path, bytes_of(text), 0600), 0);
}

static int begin(void **state)
{
	struct config_error error;
	char text[300];

	(void)state;
	scene = (struct scene){ .folder = folder_new(), .command = { .name = "erase", .hear = hear } };
	snprintf(text, sizeof(text), "[paths]\nstate = %s\nsecrets = %s\n", scene.folder.path, scene.folder.path);
	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &scene.command.config, &error), 0);
	put("address.key", KEY);
	return 0;
}

static int end(void **state)
{
	(void)state;
	config_free(scene.command.config);
	folder_remove(&scene.folder);
	return 0;
}

static json_t *read_it(void)
{
	char path[PATH_ROOM];

	erasures_path(&scene.command, path);
	return erasures_read(&scene.command, path);
}

static json_t *parsed(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	if (!json)
		fail_msg("no JSON: %s", text);
	return json;
}

static void expect(json_t *found, const char *wanted)
{
	json_t *json = parsed(wanted);

	if (!json_equal(found, json))
		fail_msg("%s and not %s", json_dumps(found, 0), wanted);
	json_decref(json);
	json_decref(found);
}

/* Without it nothing may be erased or restored: a list that cannot be read is not an empty one. */
static void a_list_that_is_not_there_is_empty_and_one_that_is_broken_is_told(void **state)
{
	char path[PATH_ROOM];

	(void)state;
	erasures_path(&scene.command, path);
	assert_true(text_starts(path, scene.folder.path));
	assert_string_equal(path + strlen(scene.folder.path), "/erasures.json");
	expect(read_it(), "[]");
	snprintf(path, sizeof(path), "%s/address.key/none", scene.folder.path);
	expect(erasures_read(&scene.command, path), "[]");
	put("erasures.json", "[{\"id\": \"1\"}]");
	expect(read_it(), "[{\"id\": \"1\"}]");
	put("erasures.json", "[");
	assert_null(read_it());
	assert_non_null(
		strstr(scene.heard, "erasures.json: it is no whole JSON: who was erased is not known without it"));
	put("erasures.json", "{}");
	assert_null(read_it());
	assert_non_null(strstr(scene.heard, "it is no list of erasures"));
}

static void a_list_that_was_written_is_read_again_and_nobody_elses_to_read(void **state)
{
	json_t *list = parsed("[{\"id\": \"1\"}, {\"id\": \"2\"}]");
	char path[PATH_ROOM];
	struct stat found;

	(void)state;
	erasures_path(&scene.command, path);
	assert_int_equal(erasures_write(&scene.command, path, list), EXIT_FINE);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 07777, 0600);
	assert_int_equal(erasures_write(&scene.command, "/no/such/folder/x", list), EXIT_NO);
	assert_non_null(strstr(scene.heard, "/no/such/folder/x: "));
	expect(read_it(), "[{\"id\": \"1\"}, {\"id\": \"2\"}]");
	json_decref(list);
}

/* Of the same erasure the one that has come to its end knows more. */
static void lists_are_merged_by_their_ids(void **state)
{
	static const struct {
		const char *list, *other, *wanted;
	} cases[] = {
		{ "[]", "[{\"id\": \"1\"}]", "[{\"id\": \"1\"}]" },
		{ "[{\"id\": \"1\"}]", "[]", "[{\"id\": \"1\"}]" },
		{ "[{\"id\": \"1\"}]", "[{\"id\": \"2\"}, {\"id\": \"3\"}]",
			"[{\"id\": \"1\"}, {\"id\": \"2\"}, {\"id\": \"3\"}]" },
		{ "[{\"id\": \"1\", \"at_us\": 1, \"done\": false}]", "[{\"id\": \"1\", \"at_us\": 2, \"done\": true}]",
			"[{\"id\": \"1\", \"at_us\": 2, \"done\": true}]" },
		{ "[{\"id\": \"1\", \"at_us\": 1, \"done\": true}]", "[{\"id\": \"1\", \"at_us\": 2, \"done\": false}]",
			"[{\"id\": \"1\", \"at_us\": 1, \"done\": true}]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *list = parsed(cases[i].list), *other = parsed(cases[i].other);

		erasures_merge(list, other);
		expect(list, cases[i].wanted);
		json_decref(other);
	}
}

#define THREE "[{\"id\": \"1\", \"done\": true}, {\"id\": \"2\", \"done\": false}, {\"id\": \"3\", \"done\": true}]"

static void what_a_copy_has_lost_already_is_left_out(void **state)
{
	json_t *list = parsed(THREE), *ids;

	(void)state;
	expect(erasures_ids(list, false), "[\"1\", \"2\", \"3\"]");
	ids = erasures_ids(list, true);
	expect(erasures_but(list, ids), "[{\"id\": \"2\", \"done\": false}]");
	expect(ids, "[\"1\", \"3\"]");
	expect(erasures_but(list, NULL), THREE);
	json_decref(list);
}

static void one_is_found_and_ended_by_its_id(void **state)
{
	(void)state;
	put("erasures.json", THREE);
	expect(erasures_one(&scene.command, "2"), "[{\"id\": \"2\", \"done\": false}]");
	assert_int_equal(erasures_done(&scene.command, "2"), EXIT_FINE);
	expect(read_it(),
		"[{\"id\": \"1\", \"done\": true}, {\"id\": \"2\", \"done\": true}, {\"id\": \"3\", \"done\": true}]");
	assert_int_equal(erasures_done(&scene.command, "4"), EXIT_NO);
	put("erasures.json", "[");
	assert_int_equal(erasures_done(&scene.command, "2"), EXIT_NO);
}

/* Who came back after the erasure is somebody new. */
static void the_list_names_a_person_by_address_or_number_in_his_shop_up_to_then(void **state)
{
	static const struct {
		const char *shop, *hash, *customer;
		int64_t heard_us;
		bool is_named;
	} cases[] = {
		{ "demo", "h-2", "", 1000, true },
		{ "demo", "h-2", "", 1001, false },
		{ "demo", "h-1", "44", 999, true },
		{ "other", "h-1", "", 1000, false },
		{ "demo", "h-3", "", 1000, false },
		{ "demo", "", "44", 1000, true },
		{ "demo", "", "44", 1001, false },
		{ "demo", "", "45", 1000, false },
		{ "demo", "h-3", "44", 1000, true },
		{ "demo", "", "", 1000, false },
	};
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char hash[ADDRESS_HASH_LEN + 1], text[300];
	json_t *list, *empty = json_array();

	(void)state;
	assert_int_equal(name_key(&scene.command, &key), 0);
	name_customer(buffer_bytes(&key), "demo", "44", hash);
	snprintf(text, sizeof(text),
		"[{\"shop\": \"demo\", \"at_us\": 5, \"addresses\": [\"h-3\"]}, {\"shop\": \"demo\", \"at_us\": 1000, "
		"\"addresses\": [\"h-1\", \"h-2\"], \"customers\": [\"%s\"]}]",
		hash);
	list = parsed(text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CartIds ids = { 0 };

		TEXT_COPY(ids.email_hash, cases[i].hash);
		TEXT_COPY(ids.customer_id, cases[i].customer);
		assert_int_equal(
			erasures_name(&scene.command, list, cases[i].shop, &ids, cases[i].heard_us), cases[i].is_named);
		assert_false(erasures_name(&scene.command, empty, cases[i].shop, &ids, cases[i].heard_us));
	}
	json_decref(list);
	json_decref(empty);
}

/* ---- the names ---- */

static void a_shopper_is_named_by_the_key_of_this_installation(void **state)
{
	char normalised[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1], other[ADDRESS_HASH_LEN + 1], path[160];

	(void)state;
	assert_int_equal(name_address(&scene.command, "demo", "Ada@Example.com", normalised, hash), 0);
	address_hash(bytes_of(KEY), "demo", normalised, other);
	assert_string_equal(hash, other);
	assert_int_equal(name_address(&scene.command, "other", "Ada@Example.com", normalised, other), 0);
	assert_string_not_equal(hash, other);
	assert_int_equal(name_address(&scene.command, "demo", "nobody", normalised, hash), -EINVAL);
	FOLDER_PATH(path, scene.folder, "address.key");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(name_address(&scene.command, "demo", "ada@example.com", normalised, hash), -ENOENT);
}

int main(void)
{
#define SCENE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		SCENE(a_list_that_is_not_there_is_empty_and_one_that_is_broken_is_told),
		SCENE(a_list_that_was_written_is_read_again_and_nobody_elses_to_read),
		SCENE(lists_are_merged_by_their_ids),
		SCENE(what_a_copy_has_lost_already_is_left_out),
		SCENE(one_is_found_and_ended_by_its_id),
		SCENE(the_list_names_a_person_by_address_or_number_in_his_shop_up_to_then),
		SCENE(a_shopper_is_named_by_the_key_of_this_installation),
	};

	return cmocka_run_group_tests_name("cartbus.erasures", tests, NULL, NULL);
}
