/* test_page.c: the unsubscribe page */
#include "given.h"
#include "services/gateway/page.h"

static enum page_post posted(const char *type, const char *body)
{
	return page_posted(type, bytes_of(body));
}

static void a_mailbox_and_the_button_unsubscribe(void **state)
{
	static const char form[] = "application/x-www-form-urlencoded";

	(void)state;
	assert_int_equal(posted(form, "List-Unsubscribe=One-Click"), POST_ONE_CLICK);
	assert_int_equal(posted(form, "List-Unsubscribe=One-Click\r\n"), POST_ONE_CLICK);
	assert_int_equal(posted(NULL, "list-unsubscribe=one-click"), POST_ONE_CLICK);
	assert_int_equal(posted(form, "a=b&List-Unsubscribe=One-Click&c"), POST_ONE_CLICK);
	assert_int_equal(posted(form, "unsubscribe=yes"), POST_BUTTON);
	assert_int_equal(posted("multipart/form-data; boundary=xYz",
				 "--xYz\r\nContent-Disposition: form-data; "
				 "name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--xYz--\r\n"),
		POST_ONE_CLICK);
}

static void anything_else_posted_unsubscribes_nobody(void **state)
{
	(void)state;
	assert_int_equal(posted(NULL, ""), POST_NOTHING);
	assert_int_equal(posted(NULL, "List-Unsubscribe=One-Clicks"), POST_NOTHING);
	assert_int_equal(posted(NULL, "xList-Unsubscribe=One-Click"), POST_NOTHING);
	assert_int_equal(posted(NULL, "unsubscribe=no"), POST_NOTHING);
	assert_int_equal(posted("application/json", "{}"), POST_NOTHING);
	assert_int_equal(posted("multipart/form-data; boundary=x", "--x--\r\n"), POST_NOTHING);
	assert_int_equal(page_posted(NULL, BYTES(NULL, 0)), POST_NOTHING);
}

static void a_shops_name_cannot_become_markup(void **state)
{
	struct buffer html = { 0 };

	(void)state;
	page_write(PAGE_ASK, "<script>alert(\"1\")</script> & 'Söhne'", &html);
	assert_null(strstr(buffer_text(&html), "<script>"));
	assert_non_null(
		strstr(buffer_text(&html), "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;Söhne&#39;"));
	buffer_free(&html);
}

static void the_page_needs_no_scripts_and_loads_nothing(void **state)
{
	struct buffer html = { 0 };

	(void)state;
	for (int page = PAGE_ASK; page <= PAGE_BAD_RETURN; page++)
		page_write((enum page)page, "Demo", &html);
	assert_null(strstr(buffer_text(&html), "src="));
	assert_null(strstr(buffer_text(&html), "href="));
	assert_null(strstr(buffer_text(&html), "script"));
	assert_non_null(strstr(buffer_text(&html), "<form method=\"post\">"));
	buffer_free(&html);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mailbox_and_the_button_unsubscribe),
		cmocka_unit_test(anything_else_posted_unsubscribes_nobody),
		cmocka_unit_test(a_shops_name_cannot_become_markup),
		cmocka_unit_test(the_page_needs_no_scripts_and_loads_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
