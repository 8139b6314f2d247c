/* test_registry.c: who may come, as what, and with which rights; a registry that does not add up is not used at all */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/wire/bus_keys.h"
#include "bus/wire/registry.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>

#define KEY_1 "1111111111111111111111111111111111111111111111111111111111111111"
#define KEY_2 "2222222222222222222222222222222222222222222222222222222222222222"
#define KEY_3 "3333333333333333333333333333333333333333333333333333333333333333"
#define KEY_4 "4444444444444444444444444444444444444444444444444444444444444444"

DEFINE_CLEANUP(struct registry *, registry_free)
DEFINE_CLEANUP(struct config *, config_free)

static struct registry *peers(const char *text)
{
	struct registry *registry = NULL;
	struct config_error error = { "" };

	if (registry_parse_peers(text, "peers.conf", &registry, &error) < 0)
		fail_msg("%s", error.text);
	return registry;
}

static void refuses(const char *text, const char *why)
{
	struct registry *registry = NULL;
	struct config_error error = { "" };

	assert_int_equal(registry_parse_peers(text, "peers.conf", &registry, &error), -EINVAL);
	assert_null(registry);
	assert_string_equal(error.text, why);
}

static void rights_are_read_as_they_are_printed(void **state)
{
	static const struct {
		const char *text;
		unsigned rights; /* 0: refused */
		const char *printed;
	} cases[] = {
		{ "all", RIGHTS_ALL, "publish hear fold claim tap clear ask operate" },
		{ "default", RIGHTS_DEFAULT, "publish hear fold claim tap ask operate" },
		{ "publish", RIGHT_PUBLISH, "publish" },
		{ "  hear   operate ", RIGHT_HEAR | RIGHT_OPERATE, "hear operate" },
		{ "tap tap", RIGHT_TAP, "tap" },
		{ "", 0, "" },
		{ "  ", 0, "" },
		{ "all publish", 0, "" },
		{ "hea", 0, "" },
		{ "hears", 0, "" },
		{ "hear,tap", 0, "" },
		{ "hear nothing", 0, "" },
	};
	char printed[96];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned rights;

		assert_int_equal(rights_parse(cases[i].text, &rights), cases[i].rights ? 0 : -EINVAL);
		rights_print(cases[i].rights, printed);
		assert_string_equal(printed, cases[i].printed);
		if (cases[i].rights)
			assert_int_equal(rights, cases[i].rights);
	}
}

static void a_key_stands_for_what_its_section_says(void **state)
{
	_cleanup_(registry_freep) struct registry *registry = peers(
		"[key far]\nservice = sender intake\ninstance = far*\nnames = 7\nrights = publish hear\npublic = " KEY_1
		"\npublic = " KEY_2 "\n[key near]\nservice = *\npublic = " KEY_3 "\n");
	const struct identity *far = registry_find(registry, "key:" KEY_1), *near;

	(void)state;
	assert_string_equal(far->name, "far");
	assert_string_equal(far->service, "sender intake");
	assert_string_equal(far->instance, "far*");
	assert_int_equal(far->names, 7);
	assert_int_equal(far->rights, RIGHT_PUBLISH | RIGHT_HEAR);
	assert_false(far->is_user);
	assert_int_equal(far->key_count, 2);
	assert_int_equal(far->keys[0][0], 0x11);
	assert_int_equal(far->keys[1][CURVE_KEY - 1], 0x22);
	assert_ptr_equal(registry_find(registry, "key:" KEY_2), far);
	near = registry_find(registry, "key:" KEY_3);
	assert_string_equal(near->instance, "*");
	assert_int_equal(near->rights, RIGHTS_DEFAULT);
	assert_int_equal(near->names, 0);
	assert_null(registry_find(registry, "key:" KEY_4));
	assert_null(registry_find(registry, "uid:0"));
	assert_ptr_equal(registry_at(registry, 0), far);
	assert_ptr_equal(registry_at(registry, 1), near);
	assert_null(registry_at(registry, 2));
	registry_free(NULL);
}

static void what_does_not_add_up_is_refused_with_its_section(void **state)
{
	(void)state;
	refuses("[key a]\npublic = " KEY_1 "\n",
		"peers.conf: [key a]: service says what it may be, as in \"service = sender\"");
	refuses("[key a]\nservice = x\n", "peers.conf: [key a]: it has no public key");
	refuses("[key a]\nservice = x\npublic = " KEY_1 "\npublic = " KEY_1 "\n",
		"peers.conf: [key a]: this public key is there already");
	refuses("[key a]\nservice = x\npublic = " KEY_1 "\n[key b]\nservice = x\npublic = " KEY_1 "\n",
		"peers.conf: [key b]: this public key is there already");
	refuses("[key a/b]\nservice = x\npublic = " KEY_1 "\n",
		"peers.conf: [key a/b]: a name has 1 to 63 characters and no slash");
	refuses("[key a]\nservice = x\nrights = nothing\npublic = " KEY_1 "\n",
		"peers.conf:3: [key a] rights: expected " RIGHTS_EXPECTED ", found \"nothing\"");
	refuses("[key a]\nservice = x\npublic = " KEY_1 "0\n",
		"peers.conf:3: [key a] public: expected a public key of 64 hex digits, found \"" KEY_1 "0\"");
	refuses("[key a]\nservice = x\npublic = " KEY_1 "\npublic = " KEY_2 "\npublic = " KEY_3 "\npublic = " KEY_4
		"\npublic = 5" KEY_1 "\n",
		"peers.conf:7: [key a] public: expected a public key of 64 hex digits, found \"5" KEY_1 "\"");
}

static void it_may_be_what_is_written_and_nothing_that_only_begins_so(void **state)
{
	static const struct {
		const char *services, *pattern, *service, *instance;
		bool may;
	} cases[] = {
		{ "sender", "*", "sender", "any", true },
		{ "sender", "*", "sende", "any", false },
		{ "sender", "*", "senders", "any", false },
		{ "intake  sender", "*", "sender", "any", true },
		{ "intake sender", "*", "intake", "any", true },
		{ "intake sender", "*", "timer", "any", false },
		{ "*", "*", "timer", "any", true },
		{ "*x", "*", "timer", "any", false },
		{ "a", "*", "b", "any", false },
		{ "sender", "far-*", "sender", "far-1", true },
		{ "sender", "far-*", "sender", "near-1", false },
		{ "sender", "far", "sender", "far-1", false },
		{ "", "*", "sender", "any", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity identity = { 0 };

		snprintf(identity.service, sizeof(identity.service), "%s", cases[i].services);
		snprintf(identity.instance, sizeof(identity.instance), "%s", cases[i].pattern);
		assert_int_equal(identity_may_be(&identity, cases[i].service, cases[i].instance), cases[i].may);
	}
}

static void a_pattern_without_wildcards_is_one_name(void **state)
{
	static const struct {
		const char *pattern;
		uint32_t names, sessions, gateways;
	} cases[] = { { "far", 0, 1, 1 }, { "far*", 0, 64, 4 }, { "fa?", 0, 64, 4 }, { "fa[rt]", 0, 64, 4 },
		{ "far", 3, 3, 3 }, { "far*", 100, 100, 100 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity identity = { .names = cases[i].names };

		snprintf(identity.instance, sizeof(identity.instance), "%s", cases[i].pattern);
		assert_int_equal(identity_sessions_most(&identity), cases[i].sessions);
		assert_int_equal(identity_gateways_most(&identity), cases[i].gateways);
	}
}

/* cartbus.conf says `words` besides where the keys lie: in `folder`. */
static int load(const struct folder *folder, const char *words, struct registry **ret, struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = NULL;
	char text[600];

	snprintf(text, sizeof(text), "[paths]\nkeys = %s\n%s", folder->path, words);
	assert_int_equal(config_parse(text, "cartbus.conf", bus_keys, &config, ret_error), 0);
	return registry_load(config, ret, ret_error);
}

static void refuses_users(const char *words, const char *why)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct registry *registry = NULL;
	struct config_error error = { "" };

	assert_int_equal(load(&folder, words, &registry, &error), -EINVAL);
	assert_null(registry);
	assert_string_equal(error.text, why);
}

static void the_brokers_own_user_and_root_share_unless_only_the_listed_may_come(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(registry_freep) struct registry *shared = NULL, *listed = NULL;
	const struct identity *user;
	struct config_error error;
	char own[32];

	(void)state;
	snprintf(own, sizeof(own), "uid:%lu", (unsigned long)geteuid());
	assert_int_equal(load(&folder, "", &shared, &error), 0);
	user = registry_find(shared, own);
	assert_string_equal(user->service, "*");
	assert_int_equal(user->rights, RIGHTS_ALL);
	assert_int_equal(user->names, IDENTITY_NAMES_MOST);
	assert_true(user->is_user);
	assert_int_equal(user->uid, geteuid());
	assert_ptr_equal(registry_find(shared, "uid:0"), user);
	assert_null(registry_find(shared, "uid:4711"));
	assert_int_equal(
		load(&folder, "[broker]\nusers = listed\n[user 4711]\nservice = intake\n", &listed, &error), 0);
	assert_null(registry_find(listed, own));
	assert_null(registry_find(listed, "uid:0"));
	user = registry_find(listed, "uid:4711");
	assert_string_equal(user->name, "4711");
	assert_true(user->is_user);
	assert_int_equal(user->uid, 4711);
	assert_null(registry_at(listed, 1));
}

static void a_section_of_root_stands_where_users_are_shared(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(registry_freep) struct registry *registry = NULL;
	struct config_error error;

	(void)state;
	assert_int_equal(load(&folder, "[user root]\nservice = timer\n", &registry, &error), 0);
	assert_string_equal(registry_find(registry, "uid:0")->service, "timer");
}

static void a_user_stands_for_one_and_is_on_this_machine(void **state)
{
	(void)state;
	refuses_users("[user root]\nservice = a\n[user 0]\nservice = b\n",
		"cartbus.conf: [user 0]: another section stands for this user");
	refuses_users("[user no-such-user]\nservice = a\n",
		"cartbus.conf: [user no-such-user]: there is no such user on this machine");
	refuses_users("[user root]\ninstance = a\n",
		"cartbus.conf: [user root]: service says what it may be, as in \"service = sender\"");
}

static void without_peers_nobody_is_known_over_tcp_and_what_cannot_be_read_is_told(void **state)
{
	enum { LARGEST = 1 << 20 };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(registry_freep) struct registry *registry = NULL;
	static char large[LARGEST + 1];
	struct registry *none = NULL;
	struct config_error error = { "" };
	char path[128];

	(void)state;
	FOLDER_PATH(path, folder, "peers.conf");
	assert_int_equal(file_make_folders(path, 0750), 0);
	assert_int_equal(load(&folder, "", &none, &error), -EISDIR);
	assert_non_null(strstr(error.text, "/peers.conf cannot be read: Is a directory"));
	assert_int_equal(rmdir(path), 0);
	memset(large, '\n', sizeof(large));
	assert_int_equal(file_write_durably(path, BYTES(large, LARGEST + 1), 0640), 0);
	assert_int_equal(load(&folder, "", &none, &error), -EFBIG);
	assert_null(none);
	assert_int_equal(file_write_durably(path, bytes_of("[key a]\nservice = x\npublic = " KEY_1 "\n"), 0640), 0);
	assert_int_equal(load(&folder, "", &registry, &error), 0);
	assert_string_equal(registry_find(registry, "key:" KEY_1)->name, "a");
	assert_non_null(registry_find(registry, "uid:0"));
}

static void the_rights_of_a_user_are_judged_with_the_configuration(void **state)
{
	struct config *config = NULL;
	struct config_error error = { "" };

	(void)state;
	assert_int_equal(config_parse("[user a]\nservice = x\nrights = hear\n", "c", bus_keys, &config, &error), 0);
	config_free(config);
	assert_int_equal(
		config_parse("[user a]\nservice = x\nrights = hearing\n", "c", bus_keys, &config, &error), -EINVAL);
	assert_string_equal(error.text, "c:3: [user a] rights: expected " RIGHTS_EXPECTED ", found \"hearing\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_are_read_as_they_are_printed),
		cmocka_unit_test(a_key_stands_for_what_its_section_says),
		cmocka_unit_test(what_does_not_add_up_is_refused_with_its_section),
		cmocka_unit_test(it_may_be_what_is_written_and_nothing_that_only_begins_so),
		cmocka_unit_test(a_pattern_without_wildcards_is_one_name),
		cmocka_unit_test(the_brokers_own_user_and_root_share_unless_only_the_listed_may_come),
		cmocka_unit_test(a_section_of_root_stands_where_users_are_shared),
		cmocka_unit_test(a_user_stands_for_one_and_is_on_this_machine),
		cmocka_unit_test(without_peers_nobody_is_known_over_tcp_and_what_cannot_be_read_is_told),
		cmocka_unit_test(the_rights_of_a_user_are_judged_with_the_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
