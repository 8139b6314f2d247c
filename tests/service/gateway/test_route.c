/* test_route.c: what a method and a path mean */
#include "given.h"
#include "services/platform/gateway/route.h"

static void every_door_has_one_path(void **state)
{
	static const struct {
		const char *method, *path;
		enum entrance entrance;
		const char *name;
	} rows[] = {
		{ "POST", "/hooks/demo/shopify", ENTRANCE_SHOPIFY, "demo" },
		{ "POST", "/hooks/demo-2/woocommerce", ENTRANCE_WOOCOMMERCE, "demo-2" },
		{ "POST", "/hooks/demo/cart", ENTRANCE_GENERIC, "demo" },
		{ "GET", "/u/abc_-9", ENTRANCE_PAGE, "abc_-9" },
		{ "HEAD", "/u/abc", ENTRANCE_PAGE, "abc" },
		{ "POST", "/u/abc", ENTRANCE_OPTOUT, "abc" },
		{ "GET", "/a/abc", ENTRANCE_ACTION_PAGE, "abc" },
		{ "POST", "/a/abc", ENTRANCE_ACTION, "abc" },
		{ "POST", "/feedback/demo/sns", ENTRANCE_FEEDBACK, "demo" },
		{ "GET", "/healthz", ENTRANCE_HEALTH, "" },
		{ "HEAD", "/healthz", ENTRANCE_HEALTH, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct route route = route_find(rows[i].method, rows[i].path);

		assert_int_equal(route.entrance, rows[i].entrance);
		assert_string_equal(route.name, rows[i].name);
	}
}

static void a_wrong_method_is_told_the_right_ones(void **state)
{
	(void)state;
	assert_string_equal(route_find("GET", "/hooks/demo/shopify").allow, "POST");
	assert_string_equal(route_find("PUT", "/u/abc").allow, "GET, HEAD, POST");
	assert_string_equal(route_find("POST", "/healthz").allow, "GET, HEAD");
	assert_int_equal(route_find("post", "/hooks/demo/cart").entrance, ENTRANCE_WRONG_METHOD);
}

static void everything_else_is_unknown(void **state)
{
	static const char *const paths[] = { "", "/", "/hooks", "/hooks/", "/hooks/demo", "/hooks/demo/",
		"/hooks/demo/shopify/", "/hooks//shopify", "/hooks/../shopify", "/hooks/Demo/shopify",
		"/hooks/a%2fb/shopify", "/hooks/demo/magento", "//hooks/demo/shopify", "/u/", "/u/a/b", "/u/a%00",
		"/healthz/", "/metrics", "*" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(route_find("POST", paths[i]).entrance, ENTRANCE_UNKNOWN);
}

static void a_name_that_does_not_fit_is_unknown(void **state)
{
	char path[1024] = "/u/";

	(void)state;
	memset(path + 3, 'a', 800);
	assert_int_equal(route_find("POST", path).entrance, ENTRANCE_UNKNOWN);
	memcpy(path, "/hooks/", 7);
	memcpy(path + 500, "/shopify", 9);
	assert_int_equal(route_find("POST", path).entrance, ENTRANCE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_door_has_one_path),
		cmocka_unit_test(a_wrong_method_is_told_the_right_ones),
		cmocka_unit_test(everything_else_is_unknown),
		cmocka_unit_test(a_name_that_does_not_fit_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
