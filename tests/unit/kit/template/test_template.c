/* test_template.c: a template with the words of a system of its own */
#include "bus/base/text.h"
#include "services/kit/template/template.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>

enum { GUEST, TABLE, SEATS, NIGHTS, MENU, WORDS };

static const struct template_word rows[WORDS] = { [GUEST] = { "guest", .fits_line = true },
	[TABLE] = { "table", .fits_line = true },
	[SEATS] = { "seat count", TEMPLATE_NUMBER, .fits_line = true },
	[NIGHTS] = { "nights", .kind = TEMPLATE_NUMBER },
	[MENU] = { "menu link", .kind = TEMPLATE_LINK } };
static const struct template_words words = { rows, WORDS };
static const struct template_words no_numbers = { rows, 2 }, nothing = { NULL, 0 };
static const struct template_place body = { 1, 1, false }, line = { 3, 10, true };

/* --- what is walked, as a line of words --- */

struct walked {
	char text[400];
	unsigned there; /* a bit for each value */
};

__attribute__((format(printf, 2, 3))) static void add(struct walked *walked, const char *format, ...)
{
	size_t len = strlen(walked->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(walked->text + len, sizeof(walked->text) - len, format, arguments);
	va_end(arguments);
}

static bool has(void *context, int value)
{
	return ((struct walked *)context)->there >> value & 1;
}

static void add_words(void *context, const char *text)
{
	add(context, "%s", text);
}

static void add_value(void *context, int value, const char *label)
{
	add(context, "<%d%s%s>", value, label ? "=" : "", label ? label : "");
}

static void add_bold(void *context, bool on)
{
	add(context, on ? "<b>" : "</b>");
}

static void add_link(void *context, const char *text, const char *url)
{
	add(context, "<%s %s>", text, url);
}

static const char *plural(void *context, int value)
{
	return has(context, value) ? "one" : "other";
}

static void walks_as(const char *text, unsigned there, const char *expected)
{
	struct walked walked = { .there = there };
	struct template *template = NULL;
	struct text_error error;

	if (template_parse(text, body, &words, &template, &error) < 0)
		fail_msg("%s: %s", text, error.text);
	template_walk(template,
		&(struct template_sink){ .context = &walked,
			.has = has,
			.text = add_words,
			.value = add_value,
			.bold = add_bold,
			.link = add_link,
			.plural = plural });
	assert_string_equal(walked.text, expected);
	template_free(template);
}

static void values_are_the_rows_of_the_table(void **state)
{
	(void)state;
	walks_as("Dear {guest}, {Table or \"no table\"}", 0, "Dear <0>, <1=no table>");
	walks_as("{menu link \"the menu\"}", 0, "<4=the menu>");
	walks_as("{if table}yes{else}no{end}", 1u << TABLE, "yes");
	walks_as("{if table}yes{else}no{end}", 1u << GUEST, "no");
	walks_as("**bold** [a](https://a.example) {{}}", 0, "<b>bold</b> <a https://a.example> {}");
	walks_as("", 0, "");
}

static void each_number_has_words_of_its_own(void **state)
{
	(void)state;
	walks_as("{seat count: one \"a seat\", other \"# seats\"}", 0, "<2> seats");
	walks_as("{seat count: one \"a seat\", other \"# seats\"}", 1u << SEATS, "a seat");
	walks_as("{nights: other \"# nights\"}", 0, "<3> nights");
}

static void what_is_wrong_is_said_with_the_words_of_the_table(void **state)
{
	static const struct {
		const struct template_words *words;
		struct template_place place;
		const char *text, *error;
	} cases[] = {
		{ &words, { 1, 1, false }, "{gust}", "line 1, column 1: unknown {gust}; did you mean {guest}?" },
		{ &words, { 1, 1, false }, "\n {total}",
			"line 2, column 2: unknown {total}; expected one of {guest}, {table}, {seat count}, {nights}, "
			"{menu link}" },
		{ &nothing, { 1, 1, false }, "{guest}", "line 1, column 1: unknown {guest}; expected one of " },
		{ &words, { 3, 10, true }, "{menu link}",
			"line 3, column 10: {menu link} can only stand in a Body or Footer" },
		{ &words, { 1, 1, false }, "**{menu link}**",
			"line 1, column 3: {menu link} cannot be bold: expected ** before it" },
		{ &words, { 1, 1, false }, "{guest: other \"#\"}",
			"line 1, column 1: only {seat count: ...}, {nights: ...} has words by number" },
		{ &no_numbers, { 1, 1, false }, "{guest: other \"#\"}",
			"line 1, column 1: nothing here has words by number" },
		{ &words, { 1, 1, false }, "{if guest}a", "line 1, column 1: this {if} has no {end}" },
		{ &words, { 1, 1, false }, "{guest", "line 1, column 1: a { is not closed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct template *template = NULL;
		struct text_error error = { 0 };
		int r = template_parse(cases[i].text, cases[i].place, cases[i].words, &template, &error);
		if (r != -EINVAL || !text_starts(error.text, cases[i].error))
			fail_msg("%s: %d %s", cases[i].text, r, error.text);
		assert_null(template);
	}
}

static void many_words_are_not_all_named_and_nothing_overflows(void **state)
{
	static struct template_word many[60];
	struct template *template = NULL;
	struct text_error error;

	(void)state;
	for (int i = 0; i < 60; i++)
		many[i] = (struct template_word){ .name = "a word of thirty-nine bytes, not one m" };
	assert_int_equal(template_parse("{x}", line, &(struct template_words){ many, 60 }, &template, &error), -EINVAL);
	assert_true(strlen(error.text) < sizeof(error.text));
	assert_int_equal(error.line, 3);
	assert_int_equal(error.column, 10);
}

static void a_template_knows_what_it_uses_and_what_it_mentions(void **state)
{
	struct template *template = NULL;
	struct text_error error;

	(void)state;
	assert_int_equal(
		template_parse("{guest} {if table}x{end} {nights: other \"#\"}", body, &words, &template, &error), 0);
	assert_true(template_uses(template, GUEST));
	assert_false(template_uses(template, TABLE));
	assert_true(template_mentions(template, TABLE));
	assert_true(template_mentions(template, NIGHTS));
	assert_false(template_mentions(template, MENU));
	assert_false(template_mentions(NULL, GUEST));
	template_free(template);
	template_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_the_rows_of_the_table),
		cmocka_unit_test(each_number_has_words_of_its_own),
		cmocka_unit_test(what_is_wrong_is_said_with_the_words_of_the_table),
		cmocka_unit_test(many_words_are_not_all_named_and_nothing_overflows),
		cmocka_unit_test(a_template_knows_what_it_uses_and_what_it_mentions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
