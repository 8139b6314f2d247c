/* test_voice.c: what voice.txt may say, and what is refused with line and column */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/kit/shop/shop.h"
#include "services/kit/template/template.h"
#include <errno.h>
#include <stdlib.h>
// clang-format off
#include "tests/unit/cmocka_all.h"
// clang-format on

#define SECOND "Second reminder\nSubject: s\nBody:\n{return link}\n"
#define FIRST "First reminder\nSubject: s\nBody:\n{return link}\n"

static void accept(const char *text)
{
	struct voice *voice = NULL;
	struct text_error error = { 0 };
	if (voice_parse(text, &voice, &error) < 0)
		fail_msg("%s", error.text);
	assert_non_null(voice_mail(voice, 1)->body);
	assert_non_null(voice_mail(voice, 2)->body);
	voice_free(voice);
}

static void every_builtin_voice_is_complete(void **state)
{
	(void)state;
	static const char *const languages[] = { "ar", "de", "en", "es", "fr", "hi", "it", "ja", "nl", "pt" };
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		const struct voice *voice = voice_builtin(languages[i]);
		assert_non_null(voice);
		accept(voice_builtin_text(languages[i]));
		for (int step = 1; step <= 2; step++) {
			const struct voice_mail *mail = voice_mail(voice, step);
			assert_true(mail->preview && mail->opening && mail->footer);
			assert_true(template_uses(mail->footer, VALUE_UNSUBSCRIBE_LINK));
			assert_true(template_uses(mail->footer, VALUE_POSTAL_ADDRESS));
			assert_true(template_uses(mail->body, VALUE_ITEMS) && template_uses(mail->body, VALUE_TOTAL));
		}
	}
	assert_ptr_equal(voice_builtin("pt-BR"), voice_builtin("pt"));
	assert_null(voice_builtin("sv"));
	assert_null(voice_builtin(""));
}

static void only_the_owners_own_words_count_as_his(void **state)
{
	(void)state;
	assert_false(voice_is_own(""));
	assert_false(voice_is_own(" \n\t"));
	assert_false(voice_is_own(voice_builtin_text("fr")));
	assert_true(voice_is_own("First reminder\n"));
}

/* What of the owner's words there is, each standing for a voice of its own. */
struct written {
	const char *kinds;
};

static const struct voice *find_written(void *context, const char *kind)
{
	struct written *written = context;
	char word[VOICE_KIND_ROOM + 2];
	snprintf(word, sizeof(word), " %s ", kind);
	return strstr(written->kinds, word) ? voice_builtin("en") : NULL;
}

static void the_shoppers_language_goes_before_the_shops_and_the_owners_words_before_ours(void **state)
{
	(void)state;
	static const struct {
		const char *locale, *shops, *written, *kind, *language;
	} cases[] = {
		{ "pt-BR", "de-DE", " voice voice.pt voice.pt-BR ", "voice.pt-BR", "pt-BR" },
		{ "pt_br", "de-DE", " voice voice.pt voice.pt-BR ", "voice.pt-BR", "pt-BR" },
		{ "pt-PT", "de-DE", " voice voice.pt voice.pt-BR ", "voice.pt", "pt" },
		{ "zh-Hant-TW", "de-DE", " voice voice.zh-Hant ", "voice.zh-Hant", "zh-Hant" },
		{ "fr", "de-DE", " voice voice.pt ", "voice", "de-DE" },
		{ "de-AT", "de-DE", " voice voice.de-DE ", "voice", "de-DE" },
		{ "", "de-DE", " voice voice.de ", "voice.de", "de" },
		{ "nonsense!", "de-DE", " voice ", "voice", "de-DE" },
		{ "iw", "de-DE", " voice voice.he ", "voice.he", "he" },
		{ "fr-CA", "de-DE", " voice.pt ", "", "fr" },
		{ "sv", "de-DE", " ", "", "de" },
		{ "sv", "fi-FI", " ", "", "en" },
		{ "", "ja-JP", " ", "", "ja" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct written written = { .kinds = cases[i].written };
		struct speech speech;
		voice_choose(cases[i].locale, cases[i].shops, find_written, &written, &speech);
		if (!speech.voice || strcmp(speech.kind, cases[i].kind) || strcmp(speech.language, cases[i].language))
			fail_msg("case %zu: \"%s\" in %s", i, speech.kind, speech.language);
		if (!cases[i].kind[0])
			assert_ptr_equal(speech.voice, voice_builtin(cases[i].language));
	}
}

static void only_names_of_voices_are_taken_for_voices(void **state)
{
	(void)state;
	static const struct {
		const char *file, *kind;
		bool valid;
	} cases[] = {
		{ "voice.txt", "voice", true },
		{ "voice.de.txt", "voice.de", true },
		{ "voice.pt-BR.txt", "voice.pt-BR", true },
		{ "voice.zh-Hant-TW.txt", "voice.zh-Hant-TW", true },
		{ "voice.pt-br.txt", "voice.pt-br", false },
		{ "voice.pt_BR.txt", "voice.pt_BR", false },
		{ "voice.german.txt", "voice.german", false },
		{ "voice..txt", NULL, false },
		{ "voice.de.txt~", NULL, false },
		{ ".voice.de.txt.swp", NULL, false },
		{ "voice.d e.txt", NULL, false },
		{ "voice.d\xc3\xa9.txt", NULL, false },
		{ "voice.a-language-tag-that-has-no-end.txt", NULL, false },
		{ "rules.txt", NULL, false },
		{ "voice", NULL, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char kind[VOICE_KIND_ROOM] = "", why[160] = "";
		bool is = voice_kind_of_file(cases[i].file, kind);
		if (is != (cases[i].kind != NULL) || (is && strcmp(kind, cases[i].kind) != 0))
			fail_msg("%s: %s", cases[i].file, kind);
		if (is && voice_kind_valid(kind, why) != cases[i].valid)
			fail_msg("%s: %s", cases[i].file, why);
	}
	char why[160];
	assert_false(voice_kind_valid("voice.pt-br", why));
	assert_non_null(strstr(why, "voice.pt-BR.txt"));
}

static void what_owners_write_is_accepted(void **state)
{
	(void)state;
	static const char *const texts[] = {
		FIRST SECOND,
		SECOND FIRST,
		"# a note\n\n" FIRST "\n\n" SECOND,
		"FIRST REMINDER:\nsubject: s\nbody: {return link}\n" SECOND,
		"First reminder\r\nSubject: s\r\nBody:\r\n{return link}\r\n" SECOND,
		"\xef\xbb\xbf" FIRST SECOND,
		"First reminder\nSubject: {First  Name or “du”}\nBody:\n{return link „zurück“}\n" SECOND,
		"First reminder\nSubject: s\nBody:\n{if first name}a{else}b{end}{return link}{{}}\n" SECOND,
		"First reminder\nSubject: s\nBody:\n{return link}\nFooter:\n{unsubscribe link \"no\"}\n" SECOND,
		"First reminder\nSubject: s\nOpening: Hi {item count} {total} {discount code or \"-\"}\nBody:\n{return "
		"link}\n" SECOND,
		"First reminder\nSubject: s\nPreview: {weekday} {date}\nBody:\n{return link}{shop link "
		"\"us\"}\n" SECOND,
		"First reminder\nSubject: {Item Count : One “ein Ding”, other \"# Dinge\"}\nBody:\n{return "
		"link}\n" SECOND,
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		accept(texts[i]);
}

struct mistake {
	const char *text;
	int line, column;
	const char *word;
};

static void refuses(const struct mistake *bad)
{
	struct voice *voice = NULL;
	struct text_error error = { 0 };
	assert_int_equal(voice_parse(bad->text, &voice, &error), -EINVAL);
	assert_null(voice);
	if (error.line != bad->line || error.column != bad->column || !strstr(error.text, bad->word))
		fail_msg("%s: line %d, column %d: %s", bad->text, error.line, error.column, error.text);
}

static void words_by_number_need_known_numbers_and_an_other(void **state)
{
	(void)state;
	static const struct mistake bad[] = {
		{ "First reminder\nSubject: {item count: one \"a\"}\n", 2, 10, "words for \"other\"" },
		{ "First reminder\nSubject: {item count: lots \"a\"}\n", 2, 10, "zero, one, two" },
		{ "First reminder\nSubject: {item count: one}\n", 2, 10, "words in quotes after \"one\"" },
		{ "First reminder\nSubject: {item count: one \"a}\n", 2, 10, "not closed before }" },
		{ "First reminder\nSubject: {item count: one \"a\", one \"b\"}\n", 2, 10, "given twice" },
		{ "First reminder\nSubject: {total: other \"#\"}\n", 2, 10, "only {item count" },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(&bad[i]);
}

static void mistakes_are_named_with_line_and_column(void **state)
{
	(void)state;
	static const struct mistake bad[] = {
		{ "", 1, 1, "First reminder" },
		{ FIRST, 5, 1, "Second reminder" },
		{ "Hello\n" FIRST SECOND, 1, 1, "expected \"First reminder\"" },
		{ "First reminder\nGreeting: x\n", 2, 1, "expected Subject:" },
		{ "First reminder\nBody:\n{return link}\n" SECOND, 1, 1, "no \"Subject:\"" },
		{ "First reminder\nSubject: s\n" SECOND, 1, 1, "no \"Body:\"" },
		{ "First reminder\nSubject: s\nBody:\nhello\n" SECOND, 1, 1, "no {return link}" },
		{ "First reminder\nSubject: s\nBody:\n{return link}\nFooter:\nx\n" SECOND, 1, 1,
			"no {unsubscribe link}" },
		{ "First reminder\nSubject:\nBody:\n{return link}\n" SECOND, 2, 9, "expected some words" },
		{ "First reminder\nSubject: a\nSubject: b\n", 3, 1, "given already" },
		{ FIRST FIRST SECOND, 5, 1, "given already" },
		{ "First reminder\nSubject: für {naem}\n", 2, 14, "unknown {naem}" },
		{ "First reminder\nSubject: s\nBody:\nline\nGrüße {nobody}\n", 5, 7, "unknown {nobody}" },
		{ "First reminder\nSubject: von {shopp}\n", 2, 14, "did you mean {shop}?" },
		{ "First reminder\nSubject: s\nBody:\n{retrun link}\n", 4, 1, "did you mean {return link}?" },
		{ "First reminder\nSubject: {items}\n", 2, 10, "only stand in a Body" },
		{ "First reminder\nSubject: {return link}\n", 2, 10, "only stand in a Body" },
		{ "First reminder\nSubject: {shop\n", 2, 10, "not closed" },
		{ "First reminder\nSubject: shop}\n", 2, 14, "} without {" },
		{ "First reminder\nSubject: {first name or \"x}\n", 2, 10, "not closed before }" },
		{ "First reminder\nSubject: s\nPreview: {items}\n", 3, 10, "only stand in a Body" },
		{ "First reminder\nSubject: s\nBody:\nFooter:\n{unsubscribe link}\n" SECOND, 4, 1,
			"expected some words" },
		{ "First reminder\nSubject: {first name \"x\"}\n", 2, 10, "expected {first name or" },
		{ "First reminder\nSubject: s\nBody: {return link or \"x\"}\n", 3, 7, "always exists" },
		{ "First reminder\nSubject: {shop or \"x\" y}\n", 2, 10, "expected } after" },
		{ "First reminder\nSubject: s\nBody:\n{if total}a\n{return link}\n" SECOND, 4, 1, "has no {end}" },
		{ "First reminder\nSubject: s\nBody:\n{if total}{if shop}{end}{end}\n", 4, 11, "inside another" },
		{ "First reminder\nSubject: s\nBody:\n{end}\n", 4, 1, "without an {if}" },
		{ "First reminder\nSubject: s\nBody:\n{else}\n", 4, 1, "without an {if}" },
		{ "First reminder\nSubject: s\x07\n", 2, 11, "control character" },
		{ "First reminder\nSubject: \xff\n", 1, 1, "UTF-8" },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(&bad[i]);
}

struct heard {
	char text[200];
	bool has;
};

static bool heard_has(void *context, int value)
{
	return ((struct heard *)context)->has && value == VALUE_DISCOUNT_CODE;
}

static void heard_text(void *context, const char *text)
{
	strcat(((struct heard *)context)->text, text);
}

static void heard_value(void *context, int value, const char *label)
{
	struct heard *heard = context;
	strcat(heard->text, "<");
	strcat(heard->text, voice_values.rows[value].name);
	strcat(heard->text, label ? "|" : "");
	strcat(heard->text, label ? label : "");
	strcat(heard->text, ">");
}

static void heard_bold(void *context, bool on)
{
	strcat(((struct heard *)context)->text, on ? "(" : ")");
}

static void heard_link(void *context, const char *words, const char *url)
{
	struct heard *heard = context;
	strcat(heard->text, "[");
	strcat(heard->text, words);
	strcat(heard->text, "=");
	strcat(heard->text, url);
	strcat(heard->text, "]");
}

static const char *heard_plural(void *context, int value)
{
	(void)value;
	return ((struct heard *)context)->has ? "one" : "few";
}

static const char *walked(const char *text, bool has)
{
	static struct heard heard;
	struct template *template;
	struct text_error error;
	heard = (struct heard){ .has = has };
	assert_int_equal(
		template_parse(text, (struct template_place){ 1, 1, false }, &voice_values, &template, &error), 0);
	template_walk(template,
		&(struct template_sink){ .context = &heard,
			.has = heard_has,
			.text = heard_text,
			.value = heard_value,
			.bold = heard_bold,
			.link = heard_link,
			.plural = heard_plural });
	template_free(template);
	return heard.text;
}

static void conditions_show_one_side(void **state)
{
	(void)state;
	const char *text = "a{if discount code}b{discount code}{else}c{end}d{if first name}e{end}f";
	assert_string_equal(walked(text, true), "ab<discount code>df");
	assert_string_equal(walked(text, false), "acdf");
}

static void marks_make_words_bold_and_links(void **state)
{
	(void)state;
	static const struct {
		const char *text, *heard;
	} cases[] = {
		{ "a **b {shop}** c", "a (b <shop>) c" },
		{ "**a**b**c**", "(a)b(c)" },
		{ "**a [b](https://shop.example/x) c**", "(a [b=https://shop.example/x] c)" },
		{ "**a\nb**\n\nc", "(a\nb)\n\nc" },
		{ "[our hours](https://shop.example/h?a=1&b=2).", "[our hours=https://shop.example/h?a=1&b=2]." },
		{ "{if discount code}**{discount code}**{end}", "(<discount code>)" },
		/* and what is only text */
		{ "2 * 3 ** 4 **** 5 **", "2 * 3 ** 4 **** 5 **" },
		{ "a [b] (c) [d [e]", "a [b] (c) [d [e]" },
		{ "\\**a\\** \\[b](https://x) c\\d", "**a** [b](https://x) c\\d" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(walked(cases[i].text, true), cases[i].heard);
}

static void a_wrong_mark_is_named_with_its_place(void **state)
{
	(void)state;
	static const struct mistake bad[] = {
		{ "First reminder\nSubject: s\nBody:\nso **bold\n\n{return link}\n" SECOND, 4, 4,
			"in their paragraph" },
		{ "First reminder\nSubject: s\nBody:\n{return link}\nso **bold\n" SECOND, 5, 4, "in their paragraph" },
		{ "First reminder\nSubject: s\nBody:\n**a {if shop}b**{end}\n{return link}\n" SECOND, 4, 1,
			"before the {if}" },
		{ "First reminder\nSubject: s\nBody:\n{if shop}**a{else}b**{end}\n" SECOND, 4, 10,
			"before the {else}" },
		{ "First reminder\nSubject: s\nBody:\n{if shop}**a{end}**\n" SECOND, 4, 10, "before the {end}" },
		{ "First reminder\nSubject: s\nBody:\n**{return link}**\n" SECOND, 4, 3, "cannot be bold" },
		{ "First reminder\nSubject: s\nBody:\n{return link \"**now**\"}\n" SECOND, 4, 1, "around the braces" },
		{ "First reminder\nSubject: **s**\n", 2, 10, "only stand in a Body" },
		{ "First reminder\nSubject: s\nOpening: [a](https://shop.example)\n", 3, 10, "only stand in a Body" },
		{ "First reminder\nSubject: s\nBody:\nGrüße [a](http://shop.example)\n" SECOND, 4, 11,
			"begins with https" },
		{ "First reminder\nSubject: s\nBody:\n[a](https://)\n" SECOND, 4, 5, "begins with https" },
		{ "First reminder\nSubject: s\nBody:\n[a](javascript:alert(1))\n" SECOND, 4, 5, "begins with https" },
		{ "First reminder\nSubject: s\nBody:\n[a](https://shop.example/ b)\n" SECOND, 4, 5, "ends with )" },
		{ "First reminder\nSubject: s\nBody:\n[a](https://shop.example/\"x)\n" SECOND, 4, 5,
			"begins with https" },
		{ "First reminder\nSubject: s\nBody:\n[{shop}](https://shop.example)\n" SECOND, 4, 1, "plain ones" },
		{ "First reminder\nSubject: s\nBody:\n[](https://shop.example)\n" SECOND, 4, 1, "plain ones" },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(&bad[i]);
}

static int check_link(const char *url, struct text_error *ret_error)
{
	static const struct shop shop = {
		.url = "https://www.shop.example", .host_count = 1, .hosts = { "other.example" }
	};
	struct voice *voice = NULL;
	char text[400];
	snprintf(text, sizeof(text), FIRST "Footer:\n{unsubscribe link}\n\nSee [us](%s).\n" SECOND, url);
	assert_int_equal(voice_parse(text, &voice, ret_error), 0);
	int r = voice_check_links(voice, &shop, ret_error);
	voice_free(voice);
	return r;
}

static void links_lead_to_the_shops_own_hosts_alone(void **state)
{
	(void)state;
	struct text_error error = { 0 };
	assert_int_equal(check_link("https://shop.example/hours", &error), 0);
	assert_int_equal(check_link("https://blog.shop.example", &error), 0);
	assert_int_equal(check_link("https://other.example/x?y#z", &error), 0);
	static const char *const foreign[] = { "https://rival.example/", "https://shop.example.rival.example",
		"https://shop.example@rival.example/", "https://a:b@shop.example/", "https://name.myshopify.com/" };
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		assert_int_equal(check_link(foreign[i], &error), -EINVAL);
		assert_int_equal(error.line, 8);
		assert_int_equal(error.column, 10);
		assert_non_null(strstr(error.text, "name it as host in [shop]"));
	}
}

static void a_long_link_is_cut_between_two_characters(void **state)
{
	(void)state;
	for (int odd = 0; odd < 2; odd++) {
		char url[200] = "https://rival.example/";
		struct text_error error = { 0 };
		if (odd)
			strcat(url, "x");
		while (strlen(url) + 2 < 150)
			strcat(url, "ö");
		assert_int_equal(check_link(url, &error), -EINVAL);
		assert_non_null(strstr(error.text, "öö"));
		assert_true(text_is_utf8(bytes_of(error.text)));
	}
}

static void words_follow_the_number(void **state)
{
	(void)state;
	const char *text = "{item count: one \"one thing\", other \"# of #s\"}.";
	assert_string_equal(walked(text, true), "one thing.");
	assert_string_equal(walked(text, false), "<item count> of <item count>s.");
}

static void labels_and_plain_braces_reach_the_sink(void **state)
{
	(void)state;
	assert_string_equal(walked("{{x}} {first name or \"du\"} {return link \"zur\xc3\xbc"
				   "ck\"}",
				    true),
		"{x} <first name|du> <return link|zurück>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_builtin_voice_is_complete),
		cmocka_unit_test(only_the_owners_own_words_count_as_his),
		cmocka_unit_test(the_shoppers_language_goes_before_the_shops_and_the_owners_words_before_ours),
		cmocka_unit_test(only_names_of_voices_are_taken_for_voices),
		cmocka_unit_test(marks_make_words_bold_and_links),
		cmocka_unit_test(a_wrong_mark_is_named_with_its_place),
		cmocka_unit_test(links_lead_to_the_shops_own_hosts_alone),
		cmocka_unit_test(a_long_link_is_cut_between_two_characters),
		cmocka_unit_test(words_follow_the_number),
		cmocka_unit_test(what_owners_write_is_accepted),
		cmocka_unit_test(mistakes_are_named_with_line_and_column),
		cmocka_unit_test(words_by_number_need_known_numbers_and_an_other),
		cmocka_unit_test(conditions_show_one_side),
		cmocka_unit_test(labels_and_plain_braces_reach_the_sink),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
