/*
 * test_url.c: whose host a URL names, or none where two readers might differ
 */
#include "services/kit/http/guard.h"
#include "services/kit/http/url.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static void a_host_is_read_in_small_letters_without_its_final_dot(void **state)
{
	static const char *const rows[][2] = {
		{ "https://shop.example", "shop.example" },
		{ "https://Shop.Example./a/b?c#d", "shop.example" },
		{ "HTTPS://shop.example:8443/", "shop.example" },
		{ "http://127.0.0.1:8080", "127.0.0.1" },
		{ "https://shop.example:?x", "shop.example" },
		{ "https://shop.example#@evil.example", "shop.example" },
		{ "https://shop.example/@evil.example:99999999", "shop.example" },
		{ "https://blumen-m\xc3\xbcller.example/", "blumen-m\xc3\xbcller.example" },
		{ "https://a_b.example", "a_b.example" },
		{ "http://[::1]:80/", "[::1]" },
		{ "http://[2001:DB8::7]", "[2001:db8::7]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char host[URL_HOST_ROOM];

		assert_true(url_host(rows[i][0], host));
		assert_string_equal(host, rows[i][1]);
	}
}

static void what_two_readers_might_take_otherwise_has_no_host(void **state)
{
	static const char *const urls[] = { "", "shop.example", "//shop.example", "https:/shop.example",
		"https:shop.example", "https://", "https:///shop.example", "ftp://shop.example",
		"javascript://shop.example/%0a", "mailto:a@shop.example", "https://evil.example@shop.example",
		"https://shop.example@evil.example", "https://a:b@shop.example", "https://evil.example\\@shop.example",
		"https://evil.example\\.shop.example", "https://shop.example\\/",
		"https://evil.example%2f.shop.example", "https://evil.example .shop.example",
		"https://evil.example\t.shop.example", "https://evil.example\n.shop.example", " https://shop.example",
		"https://evil.example;.shop.example", "https://shop.example:80a/", "https://shop.example:65536/",
		"https://shop.example:123456/", "https://shop.example:-1/", "https://.", "https://.shop.example",
		"https://[]", "https://[::1", "https://[::1]x", "https://[::1%25eth0]/",
		"https://[evil.example].shop.example" };
	char host[URL_HOST_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		if (url_host(urls[i], host))
			fail_msg("%s has the host %s", urls[i], host);
		assert_string_equal(host, "");
	}
}

static void a_host_that_is_too_long_is_none(void **state)
{
	char url[8 + 2 * URL_HOST_ROOM] = "https://", host[URL_HOST_ROOM];

	(void)state;
	memset(url + 8, 'a', URL_HOST_ROOM - 1);
	assert_true(url_host(url, host));
	assert_int_equal(strlen(host), URL_HOST_ROOM - 1);
	url[8 + URL_HOST_ROOM - 1] = 'a';
	assert_false(url_host(url, host));
}

/* libcurl's reading is the one that counts where a URL is fetched. */
static void what_has_a_host_here_is_a_url_to_libcurl(void **state)
{
	static const char pieces[][12] = { "https://", "http://", "shop.example", "@", ":", "80", "/", "\\", "[", "]",
		"::1", ".", "?", "#", "%2f", "-", "_", "1", "a" };
	uint64_t random = 88172645463325252;
	int accepted = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char url[160] = "https://", host[URL_HOST_ROOM], why[160];
		bool is_plain;

		for (int j = 0; j < 6; j++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			strcat(url, pieces[random % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		if (!url_host(url, host) || host[0] == '[' || strstr(host, ".."))
			continue;
		accepted++;
		if (http_url_allowed(HTTP_REACH_ADMIN, url, &is_plain, why) < 0)
			fail_msg("%s: %s", url, why);
	}
	assert_true(accepted > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_read_in_small_letters_without_its_final_dot),
		cmocka_unit_test(what_two_readers_might_take_otherwise_has_no_host),
		cmocka_unit_test(a_host_that_is_too_long_is_none),
		cmocka_unit_test(what_has_a_host_here_is_a_url_to_libcurl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
