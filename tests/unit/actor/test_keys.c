/* test_keys.c: the folder of keys, as the operator's command changes it, and as the broker then reads it */
#include "bus/actor/process/keys.h"
#include "bus/base/file.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/bus_keys.h"
#include "bus/wire/registry.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct scene {
	struct folder folder;
	struct config *config;
	char why[512];
};

static const struct keys_peer sender = { .name = "sender-b", .service = "sender", .instance = "sender-b*" };

static void configure(struct scene *scene, const char *more)
{
	struct config_error error;
	char text[400];

	config_free(scene->config);
	snprintf(text, sizeof(text), "[paths]\nkeys = %s/keys\n%s", scene->folder.path, more);
	assert_int_equal(config_parse(text, "cartbus.conf", bus_keys, &scene->config, &error), 0);
}

static int begin(void **state)
{
	static struct scene scene;

	scene = (struct scene){ .folder = folder_new() };
	configure(&scene, "");
	*state = &scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	config_free(scene->config);
	folder_remove(&scene->folder);
	return 0;
}

/* What the broker makes of the secret that lies there: the identity, NULL if it is nobody's. */
static const struct identity *known(struct scene *scene, const struct curve_pair *pair, struct registry **ret)
{
	struct config_error error;
	char who[WHO_MAX] = "key:";

	assert_int_equal(registry_load(scene->config, ret, &error), 0);
	for (int i = 0; i < CURVE_KEY; i++)
		snprintf(who + 4 + 2 * i, 3, "%02x", pair->public_key[i]);
	return registry_find(*ret, who);
}

static bool is_good(struct scene *scene, const struct curve_pair *pair)
{
	struct registry *registry;
	bool good = known(scene, pair, &registry) != NULL;

	registry_free(registry);
	return good;
}

static struct curve_pair secret_of(struct scene *scene, const char *name)
{
	struct curve_pair pair = { 0 };
	char folder[96], why[256];

	FOLDER_PATH(folder, scene->folder, "keys");
	assert_int_equal(curve_read_pair(folder, name, &pair, why), 0);
	return pair;
}

static mode_t mode_of(struct scene *scene, const char *name)
{
	char path[128];
	struct stat there;

	FOLDER_PATH(path, scene->folder, name);
	assert_int_equal(stat(path, &there), 0);
	return there.st_mode & 07777;
}

static void a_key_that_was_made_is_what_it_was_made_for(void **state)
{
	struct scene *scene = *state;
	const struct identity *identity;
	struct registry *registry;
	struct curve_pair pair;

	assert_int_equal(keys_make(scene->config, &sender, "publish hear fold claim", scene->why), 0);
	pair = secret_of(scene, "sender-b");
	identity = known(scene, &pair, &registry);
	assert_non_null(identity);
	assert_true(identity_may_be(identity, "sender", "sender-b-1"));
	assert_false(identity_may_be(identity, "sender", "sender-a"));
	assert_false(identity_may_be(identity, "intake", "sender-b-1"));
	assert_int_equal(identity->rights, RIGHT_PUBLISH | RIGHT_HEAR | RIGHT_FOLD | RIGHT_CLAIM);
	registry_free(registry);
}

static void secrets_are_for_their_owner_alone(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	assert_int_equal(mode_of(scene, "keys"), 0700);
	assert_int_equal(mode_of(scene, "keys/sender-b.key"), 0600);
	assert_int_equal(mode_of(scene, "keys/broker.key"), 0600);
	assert_int_equal(mode_of(scene, "keys/broker.pub"), 0644);
}

static void the_brokers_key_stays_what_it_is(void **state)
{
	struct scene *scene = *state;
	struct curve_pair before, after;

	assert_int_equal(keys_prepare(scene->config, scene->why), 0);
	before = secret_of(scene, "broker");
	assert_int_equal(keys_prepare(scene->config, scene->why), 0);
	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	after = secret_of(scene, "broker");
	assert_memory_equal(&before, &after, sizeof(before));
}

static void a_name_is_given_once_and_is_none_of_a_path(void **state)
{
	static const char *const wrong[] = { "", "../x", "a/b", "broker", "A", "x y", "x\n[key y]" };
	struct scene *scene = *state;

	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), -EEXIST);
	assert_non_null(strstr(scene->why, "rotate or revoke"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct keys_peer peer = sender;

		peer.name = wrong[i];
		assert_int_equal(keys_make(scene->config, &peer, "default", scene->why), -EINVAL);
	}
}

static void rights_that_are_none_make_no_key(void **state)
{
	struct scene *scene = *state;
	char path[128];

	assert_int_equal(keys_make(scene->config, &sender, "publish everything", scene->why), -EINVAL);
	assert_non_null(strstr(scene->why, "are no rights"));
	FOLDER_PATH(path, scene->folder, "keys/sender-b.key");
	assert_int_equal(access(path, F_OK), -1);
}

static void during_a_rotation_two_are_good_and_then_one(void **state)
{
	struct scene *scene = *state;
	struct curve_pair old, new;

	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	old = secret_of(scene, "sender-b");
	assert_int_equal(keys_rotate(scene->config, "sender-b", scene->why), 0);
	new = secret_of(scene, "sender-b");
	assert_true(is_good(scene, &old) && is_good(scene, &new));
	scene->why[0] = '\0';
	assert_int_equal(keys_rotate(scene->config, "sender-b", scene->why), -EBUSY);
	assert_non_null(strstr(scene->why, "sender-b is being rotated"));
	assert_non_null(strstr(scene->why, "cartbus keys rotate sender-b --finish"));
	assert_int_equal(keys_finish(scene->config, "sender-b", scene->why), 0);
	assert_true(is_good(scene, &new));
	assert_false(is_good(scene, &old));
}

static void a_revoked_key_is_nobodys_and_others_stay(void **state)
{
	struct keys_peer other = sender;
	struct scene *scene = *state;
	struct curve_pair gone, stays;
	char path[128];

	other.name = "sender-c";
	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	assert_int_equal(keys_make(scene->config, &other, "default", scene->why), 0);
	gone = secret_of(scene, "sender-b");
	stays = secret_of(scene, "sender-c");
	assert_int_equal(keys_revoke(scene->config, "sender-b", scene->why), 0);
	assert_false(is_good(scene, &gone));
	assert_true(is_good(scene, &stays));
	FOLDER_PATH(path, scene->folder, "keys/sender-b.key");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(keys_revoke(scene->config, "sender-b", scene->why), -ENOENT);
}

static void who_is_not_registered_is_named_and_so_is_the_command_that_lists_who_is(void **state)
{
	int (*const changes[])(
		const struct config *, const char *, char[512]) = { keys_rotate, keys_finish, keys_revoke };
	struct scene *scene = *state;

	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		scene->why[0] = '\0';
		assert_int_equal(changes[i](scene->config, "sender-x", scene->why), -ENOENT);
		assert_non_null(strstr(scene->why, "no key \"sender-x\" is registered"));
		assert_non_null(strstr(scene->why, "cartbus keys list"));
	}
}

static void a_list_that_does_not_add_up_is_not_written_over(void **state)
{
	static const char broken[] = "[key sender-b]\nservice = sender\npublic = 12\n";
	struct scene *scene = *state;
	struct buffer text = { 0 };
	char path[128];

	assert_int_equal(keys_prepare(scene->config, scene->why), 0);
	FOLDER_PATH(path, scene->folder, "keys/peers.conf");
	assert_int_equal(file_write_durably(path, bytes_of(broken), 0640), 0);
	assert_true(keys_make(scene->config, &sender, "default", scene->why) < 0);
	assert_true(keys_revoke(scene->config, "sender-b", scene->why) < 0);
	assert_non_null(strstr(scene->why, "64 hex digits"));
	assert_int_equal(file_read(path, 4096, &text), 0);
	assert_string_equal(buffer_text(&text), broken);
	buffer_free(&text);
}

static void note_last(const char *what, int error, void *context)
{
	(void)error;
	snprintf(context, 512, "%s", what);
}

static void a_check_names_the_key_that_others_may_read(void **state)
{
	struct scene *scene = *state;
	struct config_error error;
	struct config *wrong;
	char path[128];

	assert_int_equal(keys_make(scene->config, &sender, "default", scene->why), 0);
	assert_int_equal(keys_check(scene->config, note_last, scene->why), 0);
	FOLDER_PATH(path, scene->folder, "keys/sender-b.key");
	chmod(path, 0644);
	assert_int_equal(keys_check(scene->config, note_last, scene->why), 1);
	assert_non_null(strstr(scene->why, "sender-b.key may be read"));
	chmod(path, 0600);
	assert_int_equal(
		config_parse("[broker]\nlisten = everywhere\n", "cartbus.conf", bus_keys, &wrong, &error), -EINVAL);
	assert_non_null(strstr(error.text, "cartbus.conf:2: [broker] listen: expected host:port"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_key_that_was_made_is_what_it_was_made_for, begin, end),
		cmocka_unit_test_setup_teardown(secrets_are_for_their_owner_alone, begin, end),
		cmocka_unit_test_setup_teardown(the_brokers_key_stays_what_it_is, begin, end),
		cmocka_unit_test_setup_teardown(a_name_is_given_once_and_is_none_of_a_path, begin, end),
		cmocka_unit_test_setup_teardown(rights_that_are_none_make_no_key, begin, end),
		cmocka_unit_test_setup_teardown(during_a_rotation_two_are_good_and_then_one, begin, end),
		cmocka_unit_test_setup_teardown(
			who_is_not_registered_is_named_and_so_is_the_command_that_lists_who_is, begin, end),
		cmocka_unit_test_setup_teardown(a_revoked_key_is_nobodys_and_others_stay, begin, end),
		cmocka_unit_test_setup_teardown(a_list_that_does_not_add_up_is_not_written_over, begin, end),
		cmocka_unit_test_setup_teardown(a_check_names_the_key_that_others_may_read, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
