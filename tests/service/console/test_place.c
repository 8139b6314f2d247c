/* where browsers find the console */
#include "services/console/place.h"
#include "services/kit/web/request.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>

static struct console_place place_of(const char *url)
{
	struct console_place place;

	assert_int_equal(console_place_read(url, &place), 0);
	return place;
}

static unsigned ask(const struct console_place *place, const char *host, char ret_origin[CONSOLE_ORIGIN_ROOM])
{
	static char head[1024];
	struct request request;
	const char *why;

	snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
	assert_int_equal(request_parse(head, strlen(head), &request, &why), 0);
	return console_place_answers(place, &request, ret_origin, &why);
}

static void a_url_gives_origin_prefix_and_cookie(void **state)
{
	struct console_place here = place_of("http://127.0.0.1:8410"), there = place_of("https://cartbus.example/a/b/"),
			     plain = place_of("http://cartbus.example:8410");

	(void)state;
	assert_string_equal(here.origin, "http://127.0.0.1:8410");
	assert_string_equal(here.prefix, "");
	assert_true(here.is_local && here.is_secure);
	assert_memory_equal(here.cookie, "__Host-cartbus-", 15);
	assert_string_equal(there.origin, "https://cartbus.example");
	assert_string_equal(there.prefix, "/a/b");
	assert_true(there.is_secure && !there.is_local);
	assert_memory_equal(there.cookie, "__Secure-cartbus-", 17);
	assert_false(plain.is_secure || plain.is_local);
	assert_memory_equal(plain.cookie, "cartbus-", 8);
}

static void two_installations_of_one_host_have_two_cookies(void **state)
{
	(void)state;
	assert_string_not_equal(place_of("http://127.0.0.1:8410").cookie, place_of("http://127.0.0.1:8411").cookie);
}

static void what_would_need_an_escape_is_refused(void **state)
{
	static const char *const wrong[] = { "cartbus.example", "https://", "https://cartbus.example/?x",
		"https://cartbus.example/#x", "https://cartbus.example/a%20b", "https://cartbus.example/a\"b",
		"https://user@cartbus.example/" };
	struct console_place place;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(console_place_read(wrong[i], &place), -EINVAL);
}

static void only_its_own_names_are_answered(void **state)
{
	struct console_place here = place_of("http://127.0.0.1:8410"), there = place_of("https://cartbus.example");
	char origin[CONSOLE_ORIGIN_ROOM];

	(void)state;
	assert_int_equal(ask(&here, "127.0.0.1:8410", origin), 0);
	assert_string_equal(origin, "http://127.0.0.1:8410");
	assert_int_equal(ask(&here, "LOCALHOST:8410", origin), 0);
	assert_string_equal(origin, "http://localhost:8410");
	assert_int_equal(ask(&here, "[::1]:8410", origin), 0);
	assert_string_equal(origin, "http://[::1]:8410");
	assert_int_equal(ask(&here, "127.0.0.1", origin), 421);
	assert_int_equal(ask(&here, "127.0.0.1:8411", origin), 421);
	assert_int_equal(ask(&here, "evil.test:8410", origin), 421);
	assert_int_equal(ask(&there, "cartbus.example", origin), 0);
	assert_int_equal(ask(&there, "Cartbus.Example.:443", origin), 0);
	assert_string_equal(origin, "https://cartbus.example");
	assert_int_equal(ask(&there, "localhost:443", origin), 421);
	assert_int_equal(ask(&there, "cartbus.example.evil.test", origin), 421);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_url_gives_origin_prefix_and_cookie),
		cmocka_unit_test(two_installations_of_one_host_have_two_cookies),
		cmocka_unit_test(what_would_need_an_escape_is_refused),
		cmocka_unit_test(only_its_own_names_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
