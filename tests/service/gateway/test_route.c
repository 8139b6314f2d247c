/* test_route.c: which endpoint a method and a path mean */
#include "given.h"
#include "services/carts/endpoints/endpoints.h"
#include "services/platform/gateway/route.h"

/* Two tables of two systems. */
static const struct endpoint carts[] = {
	{ .path = "/hooks/<shop>/shopify", .methods = ENDPOINT_POST },
	{ .path = "/u/<token>", .methods = ENDPOINT_READS, .own = "shows" },
	{ .path = "/u/<token>", .methods = ENDPOINT_POST, .own = "acts" },
	{ 0 },
};
static const struct endpoint others[] = {
	{ .path = "/f/<shop>/x/", .methods = ENDPOINT_READS | ENDPOINT_POST },
	{ .path = "/healthz", .methods = ENDPOINT_READS },
	{ .path = "/f/<token>", .methods = ENDPOINT_POST },
	{ .path = "/f/fixed", .methods = ENDPOINT_READS },
	{ .path = "/g/<shop>/<form>", .methods = ENDPOINT_POST },
	{ .path = "/g/<shop>/<form>/<part>/z", .methods = ENDPOINT_POST },
	{ 0 },
};
static const struct endpoint *const two_systems[] = { carts, others, NULL };

/* Borrowed until the next call. */
static const struct submission *find_in(const struct endpoint *const *tables, const char *method, const char *path)
{
	static struct submission found;

	memset(&found, 0x5a, sizeof(found));
	route_find(tables, method, path, &found);
	return &found;
}

static const struct submission *find(const char *method, const char *path)
{
	return find_in(registered_endpoints, method, path);
}

static void assert_unknown(const char *path)
{
	const struct submission *found = find("POST", path);

	assert_null(found->endpoint);
	assert_null(found->allow);
	for (int i = 0; i < SUBMISSION_NAMES_MAX; i++)
		assert_string_equal(found->names[i], "");
}

static void every_endpoint_has_one_path(void **state)
{
	static const struct {
		const char *method, *path, *pattern;
		unsigned methods;
		const char *name;
	} rows[] = {
		{ "POST", "/hooks/demo/shopify", "/hooks/<shop>/shopify", ENDPOINT_POST, "demo" },
		{ "POST", "/hooks/demo-2/woocommerce", "/hooks/<shop>/woocommerce", ENDPOINT_POST, "demo-2" },
		{ "POST", "/hooks/demo/cart", "/hooks/<shop>/cart", ENDPOINT_POST, "demo" },
		{ "POST", "/hooks/demo/bigcommerce", "/hooks/<shop>/bigcommerce", ENDPOINT_POST, "demo" },
		{ "GET", "/u/abc_-9", "/u/<token>", ENDPOINT_READS, "abc_-9" },
		{ "HEAD", "/u/abc", "/u/<token>", ENDPOINT_READS, "abc" },
		{ "POST", "/u/abc", "/u/<token>", ENDPOINT_POST, "abc" },
		{ "GET", "/a/abc", "/a/<token>", ENDPOINT_READS, "abc" },
		{ "POST", "/a/abc", "/a/<token>", ENDPOINT_POST, "abc" },
		{ "GET", "/r/abc", "/r/<token>", ENDPOINT_READS, "abc" },
		{ "POST", "/feedback/demo/sns", "/feedback/<shop>/sns", ENDPOINT_POST, "demo" },
		{ "GET", "/healthz", "/healthz", ENDPOINT_READS, "" },
		{ "HEAD", "/healthz", "/healthz", ENDPOINT_READS, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct submission *found = find(rows[i].method, rows[i].path);

		assert_non_null(found->endpoint);
		assert_string_equal(found->endpoint->path, rows[i].pattern);
		assert_int_equal(found->endpoint->methods, rows[i].methods);
		assert_string_equal(found->names[0], rows[i].name);
		assert_string_equal(found->names[1], "");
	}
}

/* A page takes no more than a form. */
static void every_row_is_whole(void **state)
{
	(void)state;
	assert_null(route_check(registered_endpoints));
	for (const struct endpoint *const *table = registered_endpoints; *table; table++)
		for (const struct endpoint *row = *table; row->path; row++)
			assert_true(row->prove || row->body_most == FORM_MOST || strcmp(row->path, "/healthz") == 0);
}

static bool reads(struct submission *submission)
{
	(void)submission;
	return true;
}

static void answers(struct submission *submission)
{
	(void)submission;
}

static void a_row_that_is_not_whole_is_named(void **state)
{
	static const struct {
		struct endpoint row, other;
		const char *words; /* NULL: it is whole */
	} cases[] = {
		{ { "/x", ENDPOINT_POST, .read = reads, .answer = answers }, { 0 }, NULL },
		{ { "/x", ENDPOINT_READS, .read = reads }, { 0 }, NULL },
		{ { "x", ENDPOINT_READS, .read = reads }, { 0 }, "a slash" },
		{ { "/x", 0, .read = reads }, { 0 }, "no method" },
		{ { "/x", 8, .read = reads }, { 0 }, "no method" },
		{ { .path = "/x", .methods = ENDPOINT_READS }, { 0 }, "no `read`" },
		{ { "/x", ENDPOINT_POST, .read = reads }, { 0 }, "no `answer`" },
		{ { "/x", ENDPOINT_READS | ENDPOINT_POST, .read = reads }, { 0 }, "no `answer`" },
		{ { "/x", ENDPOINT_READS, .read = reads }, { "/x", ENDPOINT_POST, .read = reads, .answer = answers },
			NULL },
		{ { "/x", ENDPOINT_READS, .read = reads }, { "/x", ENDPOINT_READS, .read = reads }, "another row" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct endpoint one[] = { cases[i].row, { 0 } }, other[] = { cases[i].other, { 0 } };
		const struct endpoint *const tables[] = { one, other, NULL };
		const char *why = route_check(tables);

		if (!why != !cases[i].words || (why && !strstr(why, cases[i].words)))
			fail_msg("case %zu: %s", i, why ? why : "whole");
	}
}

static void an_unknown_path_is_told_the_addresses_that_are_listed(void **state)
{
	static const struct endpoint two[] = { { .path = "/a/<shop>/b", .listed = true },
		{ .path = "/c", .listed = true }, { .path = "/d" }, { 0 } };
	static const struct endpoint three[] = { { .path = "/e", .listed = true }, { 0 } };
	static const struct endpoint none[] = { { .path = "/d" }, { 0 } };
	static const struct {
		const struct endpoint *tables[3];
		const char *words;
	} cases[] = { { { none }, "" }, { { three, none }, "/e" }, { { none, two }, "/a/SHOP/b or /c" },
		{ { two, three }, "/a/SHOP/b, /c or /e" },
		{ { carts_webhook_endpoints },
			"/hooks/SHOP/shopify, /hooks/SHOP/woocommerce, /hooks/SHOP/bigcommerce or /hooks/SHOP/cart" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer words = { 0 };

		route_name_all(cases[i].tables, &words);
		assert_string_equal(buffer_text(&words), cases[i].words);
		buffer_free(&words);
	}
}

static void a_wrong_method_is_told_the_right_ones(void **state)
{
	(void)state;
	assert_string_equal(find("GET", "/hooks/demo/shopify")->allow, "POST");
	assert_string_equal(find("PUT", "/u/abc")->allow, "GET, HEAD, POST");
	assert_string_equal(find("POST", "/r/abc")->allow, "GET, HEAD");
	assert_string_equal(find("POST", "/healthz")->allow, "GET, HEAD");
	assert_null(find("post", "/hooks/demo/cart")->endpoint);
	assert_string_equal(find("post", "/hooks/demo/cart")->allow, "POST");
}

static void tables_of_several_systems_are_searched_in_turn(void **state)
{
	(void)state;
	assert_string_equal(find_in(two_systems, "POST", "/u/abc")->endpoint->own, "acts");
	assert_string_equal(find_in(two_systems, "HEAD", "/u/abc")->endpoint->own, "shows");
	assert_ptr_equal(find_in(two_systems, "GET", "/f/demo/x/")->endpoint, &others[0]);
	assert_string_equal(find_in(two_systems, "GET", "/f/demo/x/")->names[0], "demo");
	assert_null(find_in(two_systems, "GET", "/f/Demo/x/")->endpoint);
	assert_null(find_in(two_systems, "GET", "/f/demo/x")->endpoint);
	assert_string_equal(find_in(two_systems, "DELETE", "/f/demo/x/")->allow, "GET, HEAD, POST");
}

static void a_row_without_a_name_keeps_none_of_a_row_before_it(void **state)
{
	const struct submission *found = find_in(two_systems, "GET", "/f/fixed");

	(void)state;
	assert_ptr_equal(found->endpoint, &others[3]);
	assert_string_equal(found->names[0], "");
	assert_string_equal(find_in(two_systems, "PUT", "/f/fixed")->allow, "GET, HEAD, POST");
}

static void a_path_may_have_several_names(void **state)
{
	static const struct {
		const char *path, *names[SUBMISSION_NAMES_MAX]; /* the first NULL: it is unknown */
	} cases[] = { { "/g/demo/kontakt", { "demo", "kontakt", "" } }, { "/g/demo/a/b/z", { "demo", "a", "b" } },
		{ "/g/demo/", { NULL } }, { "/g//kontakt", { NULL } }, { "/g/Demo/kontakt", { NULL } },
		{ "/g/demo/a%2fb", { NULL } }, { "/g/demo/a/b", { NULL } }, { "/g/demo/kontakt/", { NULL } } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct submission *found = find_in(two_systems, "POST", cases[i].path);

		assert_int_equal(found->endpoint != NULL, cases[i].names[0] != NULL);
		for (int n = 0; n < SUBMISSION_NAMES_MAX; n++)
			assert_string_equal(found->names[n], cases[i].names[0] ? cases[i].names[n] : "");
	}
}

static void everything_else_is_unknown(void **state)
{
	static const char *const paths[] = { "", "/", "/hooks", "/hooks/", "/hooks/demo", "/hooks/demo/",
		"/hooks/demo/shopify/", "/hooks//shopify", "/hooks/../shopify", "/hooks/Demo/shopify",
		"/hooks/a%2fb/shopify", "/hooks/demo/magento", "//hooks/demo/shopify", "/u/", "/u/a/b", "/u/a%00",
		"/healthz/", "/healthz?", "/health", "/r/", "/a/", "/feedback/demo/sns/", "/feedback/Demo/sns",
		"/metrics", "*" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_unknown(paths[i]);
}

static void a_name_that_does_not_fit_is_unknown(void **state)
{
	char path[1024] = "/u/";

	(void)state;
	memset(path + 3, 'a', 800);
	assert_unknown(path);
	memcpy(path, "/hooks/", 7);
	memcpy(path + 500, "/shopify", 9);
	assert_unknown(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_endpoint_has_one_path),
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(a_row_that_is_not_whole_is_named),
		cmocka_unit_test(an_unknown_path_is_told_the_addresses_that_are_listed),
		cmocka_unit_test(a_path_may_have_several_names),
		cmocka_unit_test(tables_of_several_systems_are_searched_in_turn),
		cmocka_unit_test(a_row_without_a_name_keeps_none_of_a_row_before_it),
		cmocka_unit_test(a_wrong_method_is_told_the_right_ones),
		cmocka_unit_test(everything_else_is_unknown),
		cmocka_unit_test(a_name_that_does_not_fit_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
