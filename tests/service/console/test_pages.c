/* the rows of all pages: a new one cannot forget its right */
#include "services/kit/console/page.h"
#include "tests/unit/cmocka_all.h"

static unsigned query(struct page_call *call, json_t *ret)
{
	(void)call, (void)ret;
	return 0;
}

static unsigned act(struct page_call *call)
{
	(void)call;
	return 0;
}

static const struct page *find(enum page_method method, const char *path, struct page_call *call)
{
	static const struct page rows[] = { { "/s/<shop>/carts/<cart>", PAGE_READS, RIGHT_SEE, .query = query },
		{ "/s/<shop>/stop", PAGE_ACTS, RIGHT_MODE, .act = act }, { .path = NULL } };
	static const struct page *const tables[] = { rows, NULL };
	bool other;

	return page_find(tables, method, path, call, &other) ? call->page : NULL;
}

static const char *fault_of(const struct page *row)
{
	static char why[200];
	struct page rows[2] = { *row, { .path = NULL } };
	const struct page *const tables[] = { rows, NULL };

	return pages_fault(tables, why);
}

static void every_row_of_the_console_names_its_right_and_does_one_thing(void **state)
{
	char why[200];

	(void)state;
	assert_null(pages_fault(registered_pages, why));
	assert_non_null(fault_of(&(struct page){ .path = "/x", .method = PAGE_READS, .query = query }));
	assert_non_null(fault_of(&(struct page){ .path = "/x", .method = PAGE_READS, .right = RIGHT_SEE }));
	assert_non_null(fault_of(
		&(struct page){ .path = "/x", .method = PAGE_READS, .right = RIGHT_SEE, .query = query, .act = act }));
	assert_non_null(
		fault_of(&(struct page){ .path = "/x", .method = PAGE_ACTS, .right = RIGHT_SEE, .query = query }));
	assert_non_null(
		fault_of(&(struct page){ .path = "x", .method = PAGE_READS, .right = RIGHT_SEE, .query = query }));
	assert_null(fault_of(&(struct page){ .path = "/x", .method = PAGE_READS, .right = RIGHT_SEE, .query = query }));
}

/* What reads without a session, or acts so, is listed here: a further one is a decision. */
static void only_the_sign_in_is_open_to_everybody(void **state)
{
	static const char *const open[] = { "/sign-in", "/sign-in/code", "/sign-in/factor", "/enter" };

	(void)state;
	for (const struct page *const *table = registered_pages; *table; table++)
		for (const struct page *row = *table; row->path; row++) {
			bool listed = false;

			for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
				listed |= strcmp(open[i], row->path) == 0;
			assert_int_equal(row->right == RIGHT_ANYBODY, listed);
		}
}

static void a_path_gives_its_names(void **state)
{
	struct page_call call = { 0 };

	(void)state;
	assert_non_null(find(PAGE_READS, "/s/demo/carts/9f2c41", &call));
	assert_string_equal(page_name(&call, "shop"), "demo");
	assert_string_equal(page_name(&call, "cart"), "9f2c41");
	assert_string_equal(page_name(&call, "queue"), "");
	assert_non_null(find(PAGE_ACTS, "/s/demo/stop", &call));
	assert_null(find(PAGE_READS, "/s/demo/stop", &call));
}

static void a_path_of_another_shape_has_no_row(void **state)
{
	static const char *const wrong[] = { "/s/demo/carts/", "/s/demo/carts", "/s//carts/1", "/s/De mo/carts/1",
		"/s/../carts/1", "/s/demo/carts/a%2fb", "/s/demo/carts/1/", "//s/demo/carts/1", "" };
	struct page_call call = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_null(find(PAGE_READS, wrong[i], &call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_console_names_its_right_and_does_one_thing),
		cmocka_unit_test(only_the_sign_in_is_open_to_everybody),
		cmocka_unit_test(a_path_gives_its_names),
		cmocka_unit_test(a_path_of_another_shape_has_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
