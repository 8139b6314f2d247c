/* test_keyring.c: which keys verify, and until when */
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "services/kit/keys/keyring.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define FIRST_OF_2027_US (INT64_C(1798761600) * US_PER_S)

static char folder[100];

static void put(const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	if (text)
		assert_int_equal(file_write_new(path, bytes_of(text), 0600), 0);
}

static void must_verify(const struct keyring *keys, int64_t now_us, const char *expected)
{
	char found[10] = "";
	struct bytes key;
	for (int at = 0; (key = keyring_next(keys, now_us, &at)).len;)
		strncat(found, key.data, 1);
	assert_string_equal(found, expected);
}

static void a_key_verifies_to_the_end_of_its_day(void **state)
{
	struct keyring keys;
	(void)state;
	put("link.key", A "\n");
	put("link.key.previous",
		B " until 2026-12-31\nno line\n" C " until 2027-01-31\n" C
		  " until yesterday\nshort until 2030-01-01\n");
	assert_int_equal(keyring_read(folder, LINK_KEY, &keys), 0);
	assert_int_equal(keys.before_error, -EBADMSG);
	must_verify(&keys, FIRST_OF_2027_US - 1, "abc");
	must_verify(&keys, FIRST_OF_2027_US, "ac");
	must_verify(&keys, FIRST_OF_2027_US + 31 * US_PER_DAY, "a");
	keyring_clear(&keys);
}

static void what_is_printed_is_read_again(void **state)
{
	struct keyring keys;
	struct buffer text = { 0 };
	(void)state;
	put("link.key", A);
	put("link.key.previous", B " until 2026-12-31\n" C " until 2027-01-31\n");
	assert_int_equal(keyring_read(folder, LINK_KEY, &keys), 0);
	assert_int_equal(keys.before_error, 0);
	keyring_print_before(&keys, FIRST_OF_2027_US - 1, &text);
	assert_string_equal(buffer_text(&text), B " until 2026-12-31\n" C " until 2027-01-31\n");
	buffer_clear(&text);
	keyring_print_before(&keys, FIRST_OF_2027_US, &text);
	assert_string_equal(buffer_text(&text), C " until 2027-01-31\n");
	buffer_free(&text);
	keyring_clear(&keys);
}

static void without_a_bounce_key_it_follows_from_the_link_key_and_leads_back_to_nothing(void **state)
{
	struct keyring keys;
	char path[256], derived[65];
	(void)state;
	put("link.key", A);
	put("link.key.previous", NULL);
	assert_int_equal(keyring_read_bounce(folder, &keys, path), 0);
	bounce_key_derive(bytes_of(A), derived);
	assert_int_equal(bytes_compare(buffer_bytes(&keys.current), bytes_of(derived)), 0);
	assert_string_not_equal(derived, A);
	assert_int_equal(keys.count, 1);
	keyring_clear(&keys);
	put("bounce.key", B);
	assert_int_equal(keyring_read_bounce(folder, &keys, path), 0);
	must_verify(&keys, FIRST_OF_2027_US, "b");
	keyring_clear(&keys);
	put("bounce.key", NULL);
	put("link.key", NULL);
	assert_int_equal(keyring_read_bounce(folder, &keys, path), -ENOENT);
	assert_non_null(strstr(path, "bounce.key"));
}

static void others_may_not_read_the_key_and_more_than_eight_before_it_are_too_many(void **state)
{
	struct keyring keys;
	char path[200];
	(void)state;
	put("link.key", A);
	snprintf(path, sizeof(path), "%s/link.key", folder);
	chmod(path, 0644);
	assert_int_equal(keyring_read(folder, LINK_KEY, &keys), -EPERM);
	chmod(path, 0600);
	assert_int_equal(keyring_read(folder, LINK_KEY, &keys), 0);
	for (int i = 0; i < KEYRING_BEFORE_MOST; i++)
		assert_int_equal(keyring_add_before(&keys, bytes_of(B), KEYRING_FOR_EVER), 0);
	assert_int_equal(keyring_add_before(&keys, bytes_of(B), KEYRING_FOR_EVER), -ENOSPC);
	keyring_clear(&keys);
}

static void a_key_that_could_be_guessed_is_read_and_refused_and_none_follows_from_it(void **state)
{
	struct keyring keys;
	char path[256];
	(void)state;
	put("link.key", "0123456789abcdef0123456789abcde\n");
	put("link.key.previous", B " until 2030-01-01\n");
	assert_int_equal(keyring_read(folder, LINK_KEY, &keys), -ERANGE);
	must_verify(&keys, FIRST_OF_2027_US, "0b");
	keyring_clear(&keys);
	put("bounce.key", NULL);
	assert_int_equal(keyring_read_bounce(folder, &keys, path), -ENOENT);
	keyring_clear(&keys);
	put("bounce.key", "short\n");
	assert_int_equal(keyring_read_bounce(folder, &keys, path), -ERANGE);
	keyring_clear(&keys);
}

static int begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/cartbus-keyring-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	put("link.key", NULL);
	put("link.key.previous", NULL);
	put("bounce.key", NULL);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_verifies_to_the_end_of_its_day),
		cmocka_unit_test(what_is_printed_is_read_again),
		cmocka_unit_test(without_a_bounce_key_it_follows_from_the_link_key_and_leads_back_to_nothing),
		cmocka_unit_test(others_may_not_read_the_key_and_more_than_eight_before_it_are_too_many),
		cmocka_unit_test(a_key_that_could_be_guessed_is_read_and_refused_and_none_follows_from_it),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
