/* test_locale.c: tags of languages, and how they write numbers */
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include <string.h>

// clang-format off
#include "tests/unit/cmocka_all.h"
// clang-format on

static void every_spelling_of_a_language_is_one_tag(void **state)
{
	(void)state;
	static const char *const cases[][2] = { { "de", "de" }, { "de-DE", "de-DE" }, { "de_DE", "de-DE" },
		{ "DE-de", "de-DE" }, { "pt_br", "pt-BR" }, { "iw-IL", "he-IL" }, { "zh-hant-tw", "zh-Hant-TW" },
		{ "de_DE.UTF-8", "de-DE" }, { "es-419", "es-419" }, { "hi-u-nu-deva", "hi-u-nu-deva" }, { "", "" },
		{ "german", "" }, { "de de", "" }, { "../../etc", "" }, { "d", "" }, { "\xff\xfe", "" },
		{ "a-language-tag-that-has-no-end-at-all", "" } };
	for (int again = 0; again < 2; again++) /* what is remembered says the same */
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			char tag[LOCALE_ROOM];
			locale_canonical(cases[i][0], tag);
			if (strcmp(tag, cases[i][1]) != 0)
				fail_msg("%s: %s", cases[i][0], tag);
		}
}

static void a_tag_widens_to_its_language(void **state)
{
	(void)state;
	char tag[LOCALE_ROOM] = "zh-Hant-TW", private[LOCALE_ROOM] = "en-x-shop";
	assert_true(locale_widen(tag));
	assert_string_equal(tag, "zh-Hant");
	assert_true(locale_widen(tag));
	assert_string_equal(tag, "zh");
	assert_false(locale_widen(tag));
	assert_true(locale_widen(private));
	assert_string_equal(private, "en");
	assert_true(locale_same_language("de", "de-AT"));
	assert_false(locale_same_language("de", "den"));
	assert_false(locale_same_language("", ""));
}

static void words_keep_their_language_and_take_the_shoppers_place(void **state)
{
	(void)state;
	static const char *const cases[][3] = { { "de", "de-AT", "de-AT" }, { "de", "en-US", "de-US" },
		{ "de", "en", "de" }, { "de-DE", "fr-CA", "de-CA" }, { "de", "", "de" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char tag[LOCALE_ROOM];
		locale_blend(cases[i][0], cases[i][1], tag);
		assert_string_equal(tag, cases[i][2]);
	}
}

static void numbers_are_written_as_the_place_writes_them(void **state)
{
	(void)state;
	static const char *const cases[][2] = { { "en-US", "1,234,567" }, { "de-DE", "1.234.567" },
		{ "en-IN", "12,34,567" }, { "ar-EG", "١٬٢٣٤٬٥٦٧" }, { "hi-u-nu-deva", "१२,३४,५६७" },
		{ "ja", "1,234,567" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char shown[40];
		locale_number(1234567, cases[i][0], shown, sizeof(shown));
		assert_string_equal(shown, cases[i][1]);
	}
}

static void what_does_not_fit_with_its_end_is_a_plain_number_or_no_day(void **state)
{
	char shown[40];

	(void)state;
	for (int room = 8; room <= 10; room++) {
		memset(shown, 'x', sizeof(shown));
		locale_number(1234567, "en-US", shown, room);
		assert_string_equal(shown, room < 10 ? "1234567" : "1,234,567");
		memset(shown, 'x', sizeof(shown));
		locale_day(0, "UTC", "en-US", LOCALE_DATE, shown, room);
		assert_string_equal(shown, room < 10 ? "" : "January 1");
	}
}

/* More locales than are kept open: each still gets its own. */
static void what_was_closed_is_opened_again(void **state)
{
	(void)state;
	static const char *const tags[] = { "ar-EG", "de", "en", "es", "fr", "hi", "it", "ja", "nl", "pt", "sv", "da",
		"fi", "nb", "pl", "cs", "ru", "tr", "he", "ko" };
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
			char shown[40], day[80];
			locale_number(7, tags[i], shown, sizeof(shown));
			assert_string_equal(shown, i == 0 ? "٧" : "7");
			locale_day(0, "Europe/Berlin", tags[i], LOCALE_DATE, day, sizeof(day));
			assert_true(day[0] && text_is_utf8(bytes_of(day)));
			assert_string_equal(locale_plural(1, tags[i]),
				strcmp(tags[i], "ja") && strcmp(tags[i], "ko") ? "one" : "other");
		}
}

/* --- which of the languages we have somebody reads --- */

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
		cmocka_unit_test(every_spelling_of_a_language_is_one_tag),
		cmocka_unit_test(a_tag_widens_to_its_language),
		cmocka_unit_test(words_keep_their_language_and_take_the_shoppers_place),
		cmocka_unit_test(numbers_are_written_as_the_place_writes_them),
		cmocka_unit_test(what_does_not_fit_with_its_end_is_a_plain_number_or_no_day),
		cmocka_unit_test(what_was_closed_is_opened_again),
		cmocka_unit_test(the_readers_own_order_counts),
		cmocka_unit_test(who_reads_none_of_ours_gets_the_shops_language_and_then_the_first),
		cmocka_unit_test(garbage_is_no_language),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
