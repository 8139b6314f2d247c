/* Which line of a model may be mailed: given the template's line and what the model was told, when it proposes this. */
#include "services/kit/model.h"
#include "tests/unit/cmocka_all.h"

static const char own[] = "Hello {first name}, your basket at Blumen-Huber.de is still here.";
static const char data[] = "Rose 40 cm, USB-C hub 7-in-1, Vase 12 €, ギフト３点";

static const char *fault(const char *line)
{
	return model_line_fault(line, own, data);
}

static void a_plain_line_may_go_in_any_language(void **state)
{
	static const char *const lines[] = {
		"Hello {first name}, your roses are still waiting for you.",
		"Your 40 cm roses (and the hub) are still here!",
		"Blumen-Huber.de has kept your basket: come back when it suits you.",
		"Deine Rosen warten noch – schön, dass du da warst…",
		"カゴの中の花が、まだお待ちしています。",
		"カゴのギフト3点がお待ちしています。", /* the same number in other digits */
		"سلتك ما زالت في انتظارك.",
		"आपकी टोकरी अभी भी यहाँ है।",
		"می‌توانید سبد خود را ببینید", /* with a joiner that belongs to the word */
		"Your vase for 12 € is still here.",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (fault(lines[i]))
			fail_msg("\"%s\" is refused: %s", lines[i], fault(lines[i]));
}

static void nothing_is_promised_that_was_not_there(void **state)
{
	static const char *const lines[] = {
		"",
		"Come back and save 10 today.",
		"Come back within ٢٤ hours.",
		"Nur noch ½ Preis!",
		"Only Ⅳ left.",
		"Save 4 now.", /* 40 was there, 4 was not */
		"Get 12 $ off.",
		"Yours for 12 USD.",
		"Everything 40% off",
		"Visit https://evil.example now.",
		"Visit evil.example now.",
		"Visit shop.evil.example/x",
		"www.evil",
		"Write to us: me@evil",
		"Your <b>basket</b>",
		"Your *basket* is here",
		"[basket](here)",
		"Hello {name}, hello {first name} | bye",
		"Two lines\nof text",
		"a\ttab",
		"reversed \xe2\x80\xae txt",
		"zero width \xe2\x80\x8b space",
		"byte order \xef\xbb\xbf mark",
		"private \xee\x80\x80 use",
		"broken \xc3 text",
		"over\xe2\x80\xa8line",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!fault(lines[i]))
			fail_msg("\"%s\" is believed", lines[i]);
}

static void what_an_items_title_says_is_no_address_to_go_to(void **state)
{
	(void)state;
	assert_non_null(model_line_fault("See evil.example for more.", own, "Rose evil.example"));
	assert_null(model_line_fault("Your 40 roses wait.", own, "40 roses"));
}

static void a_line_is_at_most_160_characters_and_not_bytes(void **state)
{
	char line[4 * MODEL_LINE_MAX + 1] = "";

	(void)state;
	for (int i = 0; i < MODEL_LINE_MAX; i++)
		strcat(line, "ä");
	assert_null(fault(line));
	strcat(line, "ä");
	assert_non_null(fault(line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_line_may_go_in_any_language),
		cmocka_unit_test(nothing_is_promised_that_was_not_there),
		cmocka_unit_test(what_an_items_title_says_is_no_address_to_go_to),
		cmocka_unit_test(a_line_is_at_most_160_characters_and_not_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
