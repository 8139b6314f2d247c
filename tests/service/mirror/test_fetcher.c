/* test_fetcher.c: a document's export becomes the same bytes as a file of the owner's */
#include "services/platform/mirror/fetcher.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static void an_export_is_text_with_plain_line_ends(void **state)
{
	static const struct {
		const char *body, *text;
	} cases[] = { { "", "" }, { "a", "a" }, { "a\n", "a\n" }, { "a\r\nb\r\n", "a\nb\n" }, { "\xef\xbb\xbf", "" },
		{ "\xef\xbb\xbf"
		  "a\r\n",
			"a\n" },
		{ "\xef\xbb", "\xef\xbb" }, { "a\xef\xbb\xbf", "a\xef\xbb\xbf" },
		{ "\xef\xbb\xbf\xef\xbb\xbf", "\xef\xbb\xbf" }, { "a\rb", "a\rb" }, { "a\r", "a\r" },
		{ "\r\r\n", "\r\n" }, { "\n\r", "\n\r" } };
	struct buffer text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buffer_clear(&text);
		fetcher_text(bytes_of(cases[i].body), &text);
		assert_string_equal(buffer_text(&text), cases[i].text);
	}
	fetcher_text(bytes_of("b\r\n"), &text); /* appended */
	assert_string_equal(buffer_text(&text), "\n\rb\n");
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_export_is_text_with_plain_line_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
