/* test_voice.c: what voice.txt may say, and what is refused with line and column */
#include "bus/base/cleanup.h"
#include "services/kit/template.h"
#include "services/kit/voice.h"
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
	struct voice_error error = { 0 };
	if (voice_parse(text, &voice, &error) < 0)
		fail_msg("%s", error.text);
	assert_non_null(voice_mail(voice, 1)->footer);
	assert_non_null(voice_mail(voice, 2)->body);
	voice_free(voice);
}

static void the_builtin_voice_and_its_text_are_complete(void **state)
{
	(void)state;
	accept(voice_builtin_text());
	assert_non_null(voice_builtin());
	assert_true(template_uses(voice_mail(voice_builtin(), 1)->footer, VALUE_UNSUBSCRIBE_LINK));
	assert_true(template_uses(voice_mail(voice_builtin(), 2)->footer, VALUE_POSTAL_ADDRESS));
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
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		accept(texts[i]);
}

static void mistakes_are_named_with_line_and_column(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int line, column;
		const char *word;
	} bad[] = {
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
		{ "First reminder\nSubject: {items}\n", 2, 10, "only stand in a Body" },
		{ "First reminder\nSubject: {return link}\n", 2, 10, "only stand in a Body" },
		{ "First reminder\nSubject: {shop\n", 2, 10, "not closed" },
		{ "First reminder\nSubject: shop}\n", 2, 14, "} without {" },
		{ "First reminder\nSubject: {first name or \"x}\n", 2, 10, "not closed before }" },
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
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct voice *voice = NULL;
		struct voice_error error = { 0 };
		assert_int_equal(voice_parse(bad[i].text, &voice, &error), -EINVAL);
		assert_null(voice);
		if (error.line != bad[i].line || error.column != bad[i].column || !strstr(error.text, bad[i].word))
			fail_msg("case %zu: line %d, column %d: %s", i, error.line, error.column, error.text);
	}
}

struct heard {
	char text[200];
	bool has;
};

static bool heard_has(void *context, enum value value)
{
	return ((struct heard *)context)->has && value == VALUE_DISCOUNT_CODE;
}

static void heard_text(void *context, const char *text)
{
	strcat(((struct heard *)context)->text, text);
}

static void heard_value(void *context, enum value value, const char *label)
{
	struct heard *heard = context;
	strcat(heard->text, "<");
	strcat(heard->text, value_name(value));
	strcat(heard->text, label ? "|" : "");
	strcat(heard->text, label ? label : "");
	strcat(heard->text, ">");
}

static const char *walked(const char *text, bool has)
{
	static struct heard heard;
	struct template *template;
	struct voice_error error;
	heard = (struct heard){ .has = has };
	assert_int_equal(template_parse(text, (struct template_place){ 1, 1, false }, &template, &error), 0);
	template_walk(template,
		&(struct template_sink){
			.context = &heard, .has = heard_has, .text = heard_text, .value = heard_value });
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
		cmocka_unit_test(the_builtin_voice_and_its_text_are_complete),
		cmocka_unit_test(what_owners_write_is_accepted),
		cmocka_unit_test(mistakes_are_named_with_line_and_column),
		cmocka_unit_test(conditions_show_one_side),
		cmocka_unit_test(labels_and_plain_braces_reach_the_sink),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
