/* Which line of a model may be mailed: given the template's line and what the model was told, when it proposes this. */
#include "services/kit/model/model.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static const char own[] = "Hello {first name}, your basket at Blumen-Huber.de is still here.";
static const char data[] = "Rose 40 cm, USB-C hub 7-in-1, Vase 12 €, ギフト３点";

static const char *fault(const char *line)
{
	return model_line_fault(line, "en", own, data);
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

static void a_promise_in_words_is_refused_in_each_language(void **state)
{
	static const char *const lines[][2] = {
		{ "en", "Come back for fifty percent off." }, { "en", "Save ten today." },
		{ "en", "Only a few dollars more." }, { "en", "We keep a discount for you." },
		{ "en", "Come back: free shipping." }, { "de", "Nur noch zwei Tage." },
		{ "de", "Ein paar Euro sparen." }, { "de", "Wir haben einen Gutschein für dich." },
		{ "fr", "Une remise vous attend." }, { "fr", "Revenez: cinquante pour cent." },
		{ "es", "Te guardamos un descuento." }, { "it", "Uno sconto ti aspetta." },
		{ "nl", "Er wacht korting op je." }, { "pt", "Um desconto espera por você." },
		{ "pt-BR", "Um desconto espera por você." }, { "ja", "割引がございます。" }, { "ja", "半額％" },
		{ "ar", "لك خصم الآن." }, { "ar", "وفر الآن ٪" }, { "hi", "आपके लिए छूट है।" },
		{ "sv", "Bara dollars." }, /* a language that the rules do not know */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!model_line_fault(lines[i][1], lines[i][0], own, data))
			fail_msg("\"%s\" is believed", lines[i][1]);
}

static void words_that_were_there_before_may_be_said(void **state)
{
	static const char *const lines[][4] = {
		{ "en", "Your two roses wait.", "Two roses are in your basket.", "" },
		{ "en", "Your two roses wait.", "Your basket is here.", "Roses 2 x" },
		{ "en", "Your gift voucher waits.", "Your basket is here.", "Gift VOUCHER" },
		{ "en", "Your discount waits: 10% off.", "A #1 discount of 10% (ten % off) waits.", "" },
		{ "de", "Der Rabatt wartet.", "Dein Rabatt ist noch da.", "" },
		{ "it", "Se sei ancora interessata, torna.", "Ciao, sei ancora interessata?", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *why = model_line_fault(lines[i][1], lines[i][0], lines[i][2], lines[i][3]);

		if (why)
			fail_msg("\"%s\" is refused: %s", lines[i][1], why);
	}
}

static void what_an_items_title_says_is_no_address_to_go_to(void **state)
{
	(void)state;
	assert_non_null(model_line_fault("See evil.example for more.", "en", own, "Rose evil.example"));
	assert_null(model_line_fault("Your 40 roses wait.", "en", own, "40 roses"));
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

/* ---- a paragraph of figures ---- */

static const char figures[] =
	"October 2026, Huber's; 2026年10月\n"
	"Carts seen: 1,234; 1,102\nCarts reminded: 811; 705\nWon back, net: £6,621.50; £3,990.00\n"
	"Korb: 1.234; Panier: 1\u202f234; ca: 12'345; ar: ١٬٢٣٤٫٥٠ د.ك.; RLM: \u200f\u200e٦٫٠٠\u200f; 3; 2";

static const char *told(const char *language, const char *text)
{
	return model_paragraph_fault(text, language, figures);
}

static void a_paragraph_may_say_the_datas_numbers_as_they_stand(void **state)
{
	static const char *const texts[][2] = {
		{ "en",
			"In October 2026 1,234 carts were seen, after 1,102 before; 811 got a reminder. Won back: "
			"£6,621.50." },
		{ "en", "Two or three things: 1,234." },
		{ "de", "Es waren 1.234." },
		{ "fr", "1\u202f234 paniers, ou 1\u00a0234." },
		{ "ar", "كانت ١٬٢٣٤٫٥٠ ثم \u200f٦٫٠٠\u200f." },
		{ "ar", "د.ك. ١٬٢٣٤٫٥٠ د.ك.، ثم." },
		{ "ja", "2026年10月は1,234件でした。" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *fault = told(texts[i][0], texts[i][1]);

		if (fault)
			fail_msg("\"%s\" is refused: %s", texts[i][1], fault);
	}
}

static void a_number_that_is_not_one_of_the_datas_is_refused_however_it_is_written(void **state)
{
	static const char *const texts[][2] = {
		{ "en", "1,235 carts." },
		{ "en", "234 carts." },        /* a part of one */
		{ "en", "£6,621 was won." },   /* cut off */
		{ "en", "£6621.50 was won." }, /* not as it stands: who knows which it is */
		{ "en", "٨١٢ carts." },
		{ "en", "Twelve carts." },
		{ "en", "Some forty-two carts." },
		{ "de", "Zwölf Körbe, also zweiundvierzig." },
		{ "fr", "Quatre-vingt-dix paniers." },
		{ "hi", "बारह कार्ट।" },
		{ "en", "811 carts, \u00bd of them bought." },
		{ "en", "811 carts, 66% of them." },
		{ "en", "811 $" },
		{ "en", "811 carts. See evil.example for more." },
		{ "en", "811 carts.\nAnd more." },
		{ "en", "811 \u202etxet" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!told(texts[i][0], texts[i][1]))
			fail_msg("\"%s\" is believed", texts[i][1]);
	assert_null(model_paragraph_fault("1.234 Körbe.", "de", "1.234"));
	assert_non_null(model_paragraph_fault("1,234 Körbe.", "de", "1.234"));
}

/* As long as a paragraph may be: longer than any number of the data, and than the room that one is read into. */
static void a_number_of_any_length_is_refused_like_any_other(void **state)
{
	static const int lengths[] = { 100, 398, 399, 400, 401, 402, 599, 600 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char digits[MODEL_PARAGRAPH_MAX + 1] = "", line[MODEL_PARAGRAPH_MAX + 20];

		memset(digits, '7', (size_t)lengths[i]);
		if (!model_paragraph_fault(digits, "en", "Carts seen: 777"))
			fail_msg("%d digits are believed", lengths[i]);
		if (!model_paragraph_fault("778 carts.", "en", digits))
			fail_msg("a number is found in %d digits", lengths[i]);
		snprintf(line, sizeof(line), "Save %.150s now.", digits);
		assert_non_null(model_line_fault(line, "en", own, data));
		assert_non_null(model_line_fault("Save 8 now.", "en", own, digits));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_line_may_go_in_any_language),
		cmocka_unit_test(nothing_is_promised_that_was_not_there),
		cmocka_unit_test(a_promise_in_words_is_refused_in_each_language),
		cmocka_unit_test(words_that_were_there_before_may_be_said),
		cmocka_unit_test(what_an_items_title_says_is_no_address_to_go_to),
		cmocka_unit_test(a_line_is_at_most_160_characters_and_not_bytes),
		cmocka_unit_test(a_paragraph_may_say_the_datas_numbers_as_they_stand),
		cmocka_unit_test(a_number_that_is_not_one_of_the_datas_is_refused_however_it_is_written),
		cmocka_unit_test(a_number_of_any_length_is_refused_like_any_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
