/* The way back to the basket by way of the gateway: there and nowhere else. */
#include "bus/base/cleanup.h"
#include "services/kit/web/return_link.h"
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

static const char basket[] = "https://shop.example/cart/1?key=a%20b&x=1#top";
static const struct signed_link of = { .shop = "demo", .cart_id = "c1/\xc3\xa4", .step = 2 };

static struct bytes key(void)
{
	return bytes_of("0123456789abcdef0123456789abcdef");
}

/* The token of a link, and whether what follows is the basket, escaped. */
static void made(char ret_token[400])
{
	_cleanup_(buffer_free) struct buffer link = { 0 };
	static const char begin[] = "https://mail.example/r/";
	const char *text, *query;

	assert_int_equal(return_link_make(key(), "https://mail.example", &of, basket, &link), 0);
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
	assert_int_equal(return_link_read(key(), token, basket, &link), 0);
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
	assert_int_equal(return_link_read(key(), token, "https://evil.example/", &link), -EKEYREJECTED);
	assert_int_equal(return_link_read(key(), token, "", &link), -EKEYREJECTED);
	assert_int_equal(return_link_read(bytes_of("another"), token, basket, &link), -EKEYREJECTED);
	assert_int_equal(return_link_read(key(), "x", basket, &link), -EBADMSG);
	assert_int_equal(signed_link_read(key(), token, LINK_UNSUBSCRIBE, &link), -EKEYREJECTED);
}

static void without_https_there_is_no_detour(void **state)
{
	_cleanup_(buffer_free) struct buffer link = { 0 };

	(void)state;
	assert_int_equal(return_link_make(key(), "http://mail.example", &of, basket, &link), -EINVAL);
	assert_int_equal(return_link_make(key(), "https://mail.example", &of, "http://shop.example/", &link), -EINVAL);
	assert_int_equal(return_link_make(key(), "https://mail.example", &of, "https://a/\r\nX: y", &link), -EINVAL);
	assert_int_equal(return_link_make(key(), "https://mail.example", &of, "https://a/\xc3\xa4", &link), -EINVAL);
	assert_int_equal(link.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_leads_back_and_says_whose_it_is),
		cmocka_unit_test(it_leads_nowhere_else),
		cmocka_unit_test(without_https_there_is_no_detour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
