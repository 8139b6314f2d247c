/* test_accent.c: which colours white words can be read on */
#include "services/kit/shop/accent.h"
#include <string.h>
// clang-format off
#include "tests/unit/cmocka_all.h"
// clang-format on

static void a_colour_is_six_hex_digits(void **state)
{
	(void)state;
	static const char *const wrong[] = { "", "#", "red", "1c5fb8", "#1c5fb", "#1c5fb80", "#1c5fbg", "#1c5fb8;",
		"#-1-1-1", "# 1 1 1" };
	assert_true(accent_valid(ACCENT_PLAIN));
	assert_true(accent_valid("#ABCdef"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(accent_valid(wrong[i]));
}

/* The figures are those of WCAG's own examples: black and white, and the greys just above and below 4.5. */
static void contrast_is_what_the_standard_says(void **state)
{
	(void)state;
	assert_true(accent_contrast("#ffffff") == 1.0);
	assert_true(accent_contrast("#000000") == 21.0);
	assert_true(accent_readable("#767676"));
	assert_false(accent_readable("#777777"));
	assert_true(accent_readable(ACCENT_PLAIN));
	assert_false(accent_readable("#e2738a"));
}

static void what_is_too_light_becomes_only_as_dark_as_it_must(void **state)
{
	(void)state;
	static const char *const light[] = { "#ffffff", "#ffff00", "#00ff00", "#e2738a", "#777777", "#f0b23f" };
	char darker[ACCENT_ROOM];
	for (size_t i = 0; i < sizeof(light) / sizeof(light[0]); i++) {
		accent_darken(light[i], darker);
		assert_true(accent_valid(darker));
		assert_true(accent_contrast(darker) >= 4.5 && accent_contrast(darker) < 4.9);
	}
	accent_darken("#A3284f", darker);
	assert_string_equal(darker, "#a3284f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_colour_is_six_hex_digits),
		cmocka_unit_test(contrast_is_what_the_standard_says),
		cmocka_unit_test(what_is_too_light_becomes_only_as_dark_as_it_must),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
