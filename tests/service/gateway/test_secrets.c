/* test_secrets.c: shops and secrets come and go without a restart, and one bad file harms no other shop */
#include "bus/base/file.h"
#include "given.h"
#include "services/kit/endpoint/secrets.h"
#include "tests/unit/stderr_of.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct secrets *secrets;

static void write_file(const char *name, const char *text, mode_t mode)
{
	write_below(folder, name, text, mode);
}

static int setup(void **state)
{
	char shops[128], keys[128];

	(void)state;
	snprintf(folder, sizeof(folder), "%s", fresh_folder());
	write_file("secrets/address.key", "0123456789abcdef0123456789abcdef\n", 0600);
	write_file("secrets/link.key", "fedcba9876543210fedcba9876543210\n", 0600);
	snprintf(shops, sizeof(shops), "%s/shops", folder);
	snprintf(keys, sizeof(keys), "%s/secrets", folder);
	secrets = secrets_open(shops, keys);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	secrets_close(secrets);
	remove_folder(folder);
	return 0;
}

static int look(const char *shop, const struct secrets_pair **ret)
{
	*ret = NULL;
	secrets_look_again(secrets);
	return secrets_of_shop(secrets, shop, ret);
}

static void a_shop_is_known_as_soon_as_its_files_are_there(void **state)
{
	const struct secrets_pair *pair;

	(void)state;
	assert_int_equal(look("demo", &pair), -ENOENT);
	write_file("shops/demo/shop.conf", "[shop]\n", 0640);
	assert_int_equal(look("demo", &pair), -ENOKEY);
	write_file("secrets/webhook/demo", "a-long-secret\n", 0600);
	assert_int_equal(look("demo", &pair), 0);
	assert_true(bytes_equal(buffer_bytes(&pair->current), bytes_of("a-long-secret")));
	assert_int_equal(pair->previous.len, 0);
}

static void a_rotation_holds_from_the_next_request_on(void **state)
{
	const struct secrets_pair *pair;

	(void)state;
	write_file("shops/demo/shop.conf", "", 0640);
	write_file("secrets/webhook/demo", "secret-one", 0600);
	assert_int_equal(look("demo", &pair), 0);
	write_file("secrets/webhook/demo.previous", "secret-one", 0600);
	write_file("secrets/webhook/demo", "secret-two", 0600);
	assert_int_equal(look("demo", &pair), 0);
	assert_true(bytes_equal(buffer_bytes(&pair->current), bytes_of("secret-two")));
	assert_true(bytes_equal(buffer_bytes(&pair->previous), bytes_of("secret-one")));
	write_file("secrets/webhook/demo.previous", "", 0600);
	assert_int_equal(look("demo", &pair), 0);
	assert_int_equal(pair->previous.len, 0);
}

static void requests_that_are_read_together_are_held_against_the_same_secret(void **state)
{
	const struct secrets_pair *pair;

	(void)state;
	write_file("shops/demo/shop.conf", "", 0640);
	write_file("secrets/webhook/demo", "secret-one", 0600);
	assert_int_equal(look("demo", &pair), 0);
	write_file("secrets/webhook/demo", "secret-two", 0600);
	assert_int_equal(secrets_of_shop(secrets, "demo", &pair), 0);
	assert_true(bytes_equal(buffer_bytes(&pair->current), bytes_of("secret-one")));
	assert_int_equal(look("demo", &pair), 0);
	assert_true(bytes_equal(buffer_bytes(&pair->current), bytes_of("secret-two")));
}

static void one_unusable_secret_harms_no_other_shop(void **state)
{
	const struct secrets_pair *pair;
	char path[128];

	(void)state;
	write_file("shops/a/shop.conf", "", 0640);
	write_file("shops/b/shop.conf", "", 0640);
	write_file("secrets/webhook/a", "secret-of-a", 0644);
	write_file("secrets/webhook/b", "secret-of-b", 0600);
	assert_int_equal(secrets_unusable(secrets), 0); /* nobody has asked for it */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(look("a", &pair), -EPERM);
		assert_int_equal(look("b", &pair), 0);
		assert_int_equal(secrets_unusable(secrets), 1);
	}
	write_file("secrets/webhook/a", "short", 0600);
	assert_int_equal(look("a", &pair), -ENOKEY);
	assert_int_equal(secrets_unusable(secrets), 1);
	write_file("secrets/webhook/a", "secret-of-a", 0600);
	assert_int_equal(secrets_unusable(secrets), 0); /* without another request */
	assert_int_equal(look("a", &pair), 0);
	write_file("secrets/webhook/a", "short", 0600);
	assert_int_equal(look("a", &pair), -ENOKEY);
	assert_int_equal(secrets_unusable(secrets), 1);
	snprintf(path, sizeof(path), "%s/shops/a/shop.conf", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(secrets_unusable(secrets), 0);
}

/* A link to itself stands for all that stat() may refuse: root may look everywhere. */
static void a_secret_that_cannot_be_looked_at_is_not_called_missing(void **state)
{
	const struct secrets_pair *pair;
	char path[128];

	(void)state;
	write_file("shops/demo/shop.conf", "", 0640);
	write_file("secrets/webhook/demo", "secret-one", 0600);
	assert_int_equal(look("demo", &pair), 0);
	snprintf(path, sizeof(path), "%s/secrets/webhook/demo", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("demo", path), 0);
	assert_int_equal(look("demo", &pair), -ELOOP);
	assert_int_equal(pair->current.len, 0);
	assert_non_null(strstr(secrets_remedy(-ELOOP), "cannot be read"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(look("demo", &pair), -ENOKEY);
}

static void look_at_unreadable_previous(void)
{
	const struct secrets_pair *pair;

	for (int i = 0; i < 3; i++)
		assert_int_equal(look("demo", &pair), 0);
}

static void a_previous_secret_that_cannot_be_looked_at_is_warned_of_once(void **state)
{
	char path[128], said[8192], *warning;
	int status;

	(void)state;
	write_file("shops/demo/shop.conf", "", 0640);
	write_file("secrets/webhook/demo", "secret-one", 0600);
	snprintf(path, sizeof(path), "%s/secrets/webhook/demo.previous", folder);
	assert_int_equal(symlink("demo.previous", path), 0);
	stderr_of(look_at_unreadable_previous, said, &status);
	warning = strstr(said, "the secrets before this one cannot be read");
	assert_non_null(warning);
	assert_null(strstr(warning + 1, "the secrets before this one cannot be read"));
}

static void a_name_that_climbs_out_is_no_shop(void **state)
{
	const struct secrets_pair *pair;

	(void)state;
	write_file("shop.conf", "", 0640);
	assert_int_equal(look("..", &pair), -ENOENT);
	assert_int_equal(look("", &pair), -ENOENT);
	assert_int_equal(look("a/../b", &pair), -ENOENT);
}

static void what_a_unit_was_handed_is_read_without_folders(void **state)
{
	const struct secrets_pair *pair;
	char shops[128], handed[128];

	(void)state;
	snprintf(shops, sizeof(shops), "%s/shops", folder);
	snprintf(handed, sizeof(handed), "%s/handed", folder);
	write_file("shops/demo/shop.conf", "", 0640);
	write_file("secrets/webhook/demo", "what-lies-in-the-vault", 0600);
	write_file("handed/webhook_demo", "what-the-unit-was-handed", 0600);
	write_file("handed/address.key", "0123456789abcdef0123456789abcdef\n", 0600);
	write_file("handed/link.key", "fedcba9876543210fedcba9876543210\n", 0600);
	setenv("CREDENTIALS_DIRECTORY", handed, 1);
	assert_int_equal(look("demo", &pair), 0);
	assert_memory_equal(pair->current.data, "what-lies", strlen("what-lies"));
	secrets_close(secrets);
	secrets = secrets_open(shops, handed);
	assert_int_equal(look("demo", &pair), 0);
	assert_memory_equal(pair->current.data, "what-the-unit", strlen("what-the-unit"));
	unsetenv("CREDENTIALS_DIRECTORY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_shop_is_known_as_soon_as_its_files_are_there, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rotation_holds_from_the_next_request_on, setup, teardown),
		cmocka_unit_test_setup_teardown(
			requests_that_are_read_together_are_held_against_the_same_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(one_unusable_secret_harms_no_other_shop, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_secret_that_cannot_be_looked_at_is_not_called_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_previous_secret_that_cannot_be_looked_at_is_warned_of_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_that_climbs_out_is_no_shop, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_unit_was_handed_is_read_without_folders, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
