/* Links that nobody can forge. */
#include "services/kit/web/signed_link.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const struct signed_link sample = { .purpose = LINK_UNSUBSCRIBE,
	.shop = "demo",
	.address_hash = "00112233445566778899aabbccddeeff",
	.cart_id = "c1/ä",
	.step = 2 };

static struct bytes key(void)
{
	return bytes_of("0123456789abcdef0123456789abcdef");
}

static void a_link_carries_all_that_was_signed(void **state)
{
	struct signed_link link;
	char token[400];

	(void)state;
	assert_int_equal(signed_link_make(key(), &sample, token), 0);
	assert_int_equal(strspn(token, alphabet), strlen(token));
	assert_int_equal(signed_link_read(key(), token, LINK_UNSUBSCRIBE, &link), 0);
	assert_int_equal(link.purpose, LINK_UNSUBSCRIBE);
	assert_string_equal(link.shop, sample.shop);
	assert_string_equal(link.address_hash, sample.address_hash);
	assert_string_equal(link.cart_id, sample.cart_id);
	assert_int_equal(link.step, 2);
}

static void the_longest_link_fits(void **state)
{
	struct signed_link longest = sample, link;
	char token[400];

	(void)state;
	memset(longest.shop, 's', 40);
	memset(longest.cart_id, 'c', 71);
	assert_int_equal(signed_link_make(key(), &longest, token), 0);
	assert_true(strlen(token) <= 300);
	assert_int_equal(signed_link_read(key(), token, LINK_UNSUBSCRIBE, &link), 0);
	assert_string_equal(link.cart_id, longest.cart_id);
}

static void a_link_for_one_purpose_is_none_for_another(void **state)
{
	struct signed_link link;
	char token[400];

	(void)state;
	assert_int_equal(signed_link_make(key(), &sample, token), 0);
	assert_int_equal(signed_link_read(key(), token, LINK_RETURN, &link), -EKEYREJECTED);
	assert_string_equal(link.shop, "");
}

static void another_key_signs_other_links(void **state)
{
	struct signed_link link;
	char token[400];

	(void)state;
	assert_int_equal(signed_link_make(bytes_of("another key"), &sample, token), 0);
	assert_int_equal(signed_link_read(key(), token, LINK_UNSUBSCRIBE, &link), -EKEYREJECTED);
	assert_int_equal(signed_link_make(BYTES("", 0), &sample, token), -EINVAL);
}

static void every_changed_character_is_refused(void **state)
{
	char token[400], changed[400];
	struct signed_link link;

	(void)state;
	assert_int_equal(signed_link_make(key(), &sample, token), 0);
	for (size_t at = 0; at < strlen(token); at++)
		for (size_t i = 0; i < strlen(alphabet); i++) {
			strcpy(changed, token);
			changed[at] = alphabet[i];
			if (strcmp(changed, token) == 0)
				continue;
			int err = signed_link_read(key(), changed, LINK_UNSUBSCRIBE, &link);
			assert_true(err == -EKEYREJECTED || err == -EBADMSG);
		}
}

static void every_cut_or_longer_token_is_refused(void **state)
{
	char token[400], changed[400];
	struct signed_link link;

	(void)state;
	assert_int_equal(signed_link_make(key(), &sample, token), 0);
	for (size_t len = 0; len < strlen(token); len++) {
		memcpy(changed, token, len);
		changed[len] = '\0';
		assert_true(signed_link_read(key(), changed, LINK_UNSUBSCRIBE, &link) < 0);
	}
	for (size_t i = 0; i < strlen(alphabet); i++) {
		snprintf(changed, sizeof(changed), "%.398s%c", token, alphabet[i]);
		assert_true(signed_link_read(key(), changed, LINK_UNSUBSCRIBE, &link) < 0);
	}
	memset(changed, 'A', 399);
	changed[399] = '\0';
	assert_int_equal(signed_link_read(key(), changed, LINK_UNSUBSCRIBE, &link), -EBADMSG);
	assert_int_equal(signed_link_read(key(), "<script>", LINK_UNSUBSCRIBE, &link), -EBADMSG);
	strcpy(changed, token);
	strcat(changed, "=");
	assert_int_equal(signed_link_read(key(), changed, LINK_UNSUBSCRIBE, &link), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_carries_all_that_was_signed),
		cmocka_unit_test(the_longest_link_fits),
		cmocka_unit_test(a_link_for_one_purpose_is_none_for_another),
		cmocka_unit_test(another_key_signs_other_links),
		cmocka_unit_test(every_changed_character_is_refused),
		cmocka_unit_test(every_cut_or_longer_token_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
