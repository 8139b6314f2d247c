/* test_language.c: which of the languages we have somebody reads */
#include "services/kit/locale/language.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static const char *const offered[] = { "en", "de", "fr", "pt", "ja", "ar", NULL };

static const char *choose(const char *accept, const char *locale)
{
	return language_choose(accept, locale, offered);
}

static void the_readers_own_order_counts(void **state)
{
	(void)state;
	assert_string_equal(choose("de", "fr-FR"), "de");
	assert_string_equal(choose("de-CH,de;q=0.9,en;q=0.5", "fr-FR"), "de");
	assert_string_equal(choose("en;q=0.3, fr;q=0.8", "de-DE"), "fr");
	assert_string_equal(choose("zh-CN, ja;q=0.7", "de-DE"), "ja");
	assert_string_equal(choose("pt-BR", "de-DE"), "pt");
	assert_string_equal(choose("ar-EG", "de-DE"), "ar");
}

static void who_reads_none_of_ours_gets_the_shops_language_and_then_the_first(void **state)
{
	(void)state;
	assert_string_equal(choose(NULL, "de-AT"), "de");
	assert_string_equal(choose("", "de-AT"), "de");
	assert_string_equal(choose("ko-KR", "fr-CA"), "fr");
	assert_string_equal(choose("ko-KR", "tr-TR"), "en");
	assert_string_equal(choose(NULL, ""), "en");
	assert_string_equal(choose(NULL, NULL), "en");
}

static void garbage_is_no_language(void **state)
{
	static const char *const garbage[] = { ";", ",,,,", ";q=1", "q=", "de;q=xyz,,", "*", "-", "\xff\xfe\x01", "de-",
		"<script>", "de\x1b[31m", "x-klingon;q=9999999999999999999999" };
	char longest[20000];

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++)
		assert_non_null(choose(garbage[i], "de-DE"));
	memset(longest, 'd', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_string_equal(choose(longest, "de-DE"), "de");
	assert_string_equal(choose(longest, longest), "en");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_readers_own_order_counts),
		cmocka_unit_test(who_reads_none_of_ours_gets_the_shops_language_and_then_the_first),
		cmocka_unit_test(garbage_is_no_language),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
