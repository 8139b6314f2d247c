/* Links that nobody can forge. */
#include "bus/base/cleanup.h"
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

/* --- The way back to the basket by way of the gateway: there and nowhere else. --- */

static const char basket[] = "https://shop.example/cart/1?key=a%20b&x=1#top";
static const struct signed_link of = { .shop = "demo", .cart_id = "c1/\xc3\xa4", .step = 2 };

static struct bytes return_key(void)
{
	return bytes_of("0123456789abcdef0123456789abcdef");
}

/* The token of a link, and whether what follows is the basket, escaped. */
static void made(char ret_token[400])
{
	_cleanup_(buffer_free) struct buffer link = { 0 };
	static const char begin[] = "https://mail.example/r/";
	const char *text, *query;

	assert_int_equal(return_link_make(return_key(), "https://mail.example", &of, basket, &link), 0);
	text = buffer_text(&link);
	query = strstr(text, "?to=");
	assert_memory_equal(text, begin, strlen(begin));
	assert_string_equal(query, "?to=https%3A%2F%2Fshop.example%2Fcart%2F1%3Fkey%3Da%2520b%26x%3D1%23top");
	snprintf(ret_token, 400, "%.*s", (int)(query - text - (ptrdiff_t)strlen(begin)), text + strlen(begin));
}

static void it_leads_back_and_says_whose_it_is(void **state)
{
	struct signed_link link;
	char token[400];

	(void)state;
	made(token);
	assert_int_equal(return_link_read(return_key(), token, basket, &link), 0);
	assert_string_equal(link.shop, "demo");
	assert_string_equal(link.cart_id, of.cart_id);
	assert_int_equal(link.step, 2);
}

static void it_leads_nowhere_else(void **state)
{
	struct signed_link link;
	char token[400];

	(void)state;
	made(token);
	assert_int_equal(return_link_read(return_key(), token, "https://evil.example/", &link), -EKEYREJECTED);
	assert_int_equal(return_link_read(return_key(), token, "", &link), -EKEYREJECTED);
	assert_int_equal(return_link_read(bytes_of("another"), token, basket, &link), -EKEYREJECTED);
	assert_int_equal(return_link_read(return_key(), "x", basket, &link), -EBADMSG);
	assert_int_equal(signed_link_read(return_key(), token, LINK_UNSUBSCRIBE, &link), -EKEYREJECTED);
}

static void without_https_there_is_no_detour(void **state)
{
	_cleanup_(buffer_free) struct buffer link = { 0 };

	(void)state;
	assert_int_equal(return_link_make(return_key(), "http://mail.example", &of, basket, &link), -EINVAL);
	assert_int_equal(
		return_link_make(return_key(), "https://mail.example", &of, "http://shop.example/", &link), -EINVAL);
	assert_int_equal(
		return_link_make(return_key(), "https://mail.example", &of, "https://a/\r\nX: y", &link), -EINVAL);
	assert_int_equal(
		return_link_make(return_key(), "https://mail.example", &of, "https://a/\xc3\xa4", &link), -EINVAL);
	assert_int_equal(link.len, 0);
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
		cmocka_unit_test(it_leads_back_and_says_whose_it_is),
		cmocka_unit_test(it_leads_nowhere_else),
		cmocka_unit_test(without_https_there_is_no_detour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
