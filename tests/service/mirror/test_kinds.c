/* test_kinds.c: kinds of documents that another system brings by a table alone: the mirror reads, judges and says them */
#include "seen.h"

/* A letter that must not hold "bad"; `with` nothing. It depends on the shop's title. */
static void *parse_letter(const struct document_text *text, const char *with)
{
	(void)with;
	return memory_copy_text(text->text);
}

static void judge_letter(const struct document_text *text, struct document_opinion *ret)
{
	const char *bad = strstr(text->text, "bad");

	if (!bad)
		return;
	ret->line = 1;
	ret->column = (int)(bad - text->text) + 1;
	snprintf(ret->wrong, sizeof(ret->wrong), "line 1, column %d: \"bad\" beside %s%s", ret->column,
		text->conf->currency, text->conf_is_right ? "" : " of before");
}

static bool may_be_called(const char *kind, char ret_why[160])
{
	snprintf(ret_why, 160, "%s is in capitals", kind);
	return strcmp(kind, "letter.X") != 0;
}

static const char *google_id(const struct shop *conf)
{
	return conf->google.rules;
}

static bool depends_on(const struct shop *before, const struct shop *after)
{
	return strcmp(before->currency, after->currency) != 0;
}

static const struct document_kind form = { .name = "form",
	.ending = ".json",
	.bytes_max = 100,
	.without = "nobody can order",
	.reading = { parse_letter, free },
	.judge = judge_letter,
	.depends_on = depends_on,
	.google_id = google_id };
static const struct document_kind letter = { .name = "letter",
	.ending = ".txt",
	.bytes_max = DOCUMENT_BYTES_MAX,
	.further_max = 5,
	.is_optional = true,
	.without = "nobody is written to",
	.reading = { parse_letter, free },
	.judge = judge_letter,
	.may_be_called = may_be_called };
static const struct document_kind *const forms[] = { &form, &letter, NULL };

/* Instead of those that the build registers. */
const struct document_kind *const *const registered_documents[] = { forms, kit_documents, NULL };

static void sees_two(const char *conf, const char *json, const char *words)
{
	sees_kinds("demo", (const char *const[][2]){ { "shop", conf }, { "form", json }, { "letter", words } }, 3);
	ticks();
}

static void kinds_of_another_system_are_said_after_shop_conf(void **state)
{
	Audit audit;

	(void)state;
	sees_two(SHOP, "{}", "Hello");
	assert_int_equal(said(&topic_document), 3);
	assert_string_equal(said_document(0).kind, "shop");
	assert_string_equal(said_document(1).kind, "form");
	assert_string_equal(said_document(1).source, "demo/form.json");
	assert_string_equal(said_document(2).kind, "letter");
	for (size_t i = 0; i < 3; i++) {
		assert_true(harness_said(h, &topic_audit, i, &audit, NULL));
		assert_int_equal(audit.rules_version, 0); /* no decision is made on these */
	}
}

static void a_refused_text_leaves_the_one_before_it_in_use(void **state)
{
	(void)state;
	sees_two(SHOP, "a bad one", "Hello");
	assert_int_equal(said(&topic_document), 2);
	assert_string_equal(said_alarm(0).kind, "document.form");
	assert_string_equal(said_alarm(0).text, "demo/form.json: line 1, column 3: \"bad\" beside EUR");
	assert_string_equal(said_alarm(0).remedy, "write demo/form.json and save it; until then nobody can order");
	sees_two(SHOP, "{}", "Hello");
	assert_int_equal(said(&topic_document), 1);
	assert_false(said_alarm(0).raised);
	sees_two(SHOP, "bad", "Hello");
	assert_int_equal(said(&topic_document), 0);
	assert_string_equal(said_alarm(0).remedy, "mend demo/form.json and save it; until then version 1 stays in use");
}

static void what_must_be_there_is_missed_and_what_may_be_there_is_not(void **state)
{
	(void)state;
	sees_two(SHOP, NULL, NULL);
	assert_int_equal(said(&topic_document), 1);
	assert_int_equal(said(&topic_alarm), 1);
	assert_string_equal(said_alarm(0).text, "demo/form.json: is missing");
	sees_two(SHOP, "{}", "Hello");
	sees_two(SHOP, "{}", NULL);
	assert_int_equal(said(&topic_document), 0);
	assert_string_equal(said_alarm(0).text, "letter.txt is gone");
}

static void a_further_text_is_taken_back_with_its_file(void **state)
{
	(void)state;
	sees_kinds("demo",
		(const char *const[][2]){
			{ "shop", SHOP }, { "form", "{}" }, { "letter.de", "Hallo" }, { "letter.X", "x" } },
		4);
	ticks();
	assert_int_equal(said(&topic_document), 3);
	assert_string_equal(said_document(2).kind, "letter.de");
	assert_string_equal(said_alarm(0).text, "demo/letter.X.txt: letter.X is in capitals");
	mirror_clear(&mirror_here); /* a restart: the file was taken away meanwhile */
	sees_two(SHOP, "{}", NULL);
	assert_int_equal(said(&topic_document), 1);
	assert_string_equal(said_document(0).kind, "letter.de");
	assert_true(bytes_equal(text_of(said_document(0)), bytes_of("")));
}

static void a_shop_conf_waits_that_a_text_in_use_would_be_lost_with(void **state)
{
	(void)state;
	sees_two(SHOP_IN("EUR"), "{}", NULL);
	sees_two(SHOP_IN("SEK"), "bad", NULL);
	assert_int_equal(said(&topic_document), 0);
	assert_string_equal(said_alarm(0).text, "demo/form.json: line 1, column 1: \"bad\" beside SEK");
	sees_two(SHOP_IN("SEK"), "{ }", NULL);
	assert_int_equal(said(&topic_document), 2);
}

static void what_shop_conf_said_outlives_a_wrong_one(void **state)
{
	(void)state;
	sees_two(SHOP "[documents]\nrules = 1AbCdEfGhIjKlMnOpQrStUvWxYz\n", "{}", NULL);
	assert_true(mirror_fetched(&mirror_here, "demo", "form", "1AbCdEfGhIjKlMnOpQrStUvWxYz", bytes_of("{ }")));
	ticks();
	assert_int_equal(said(&topic_document), 1);
	sees_two("nonsense", "{}", "bad");
	assert_string_equal(said_alarm(1).text, "demo/letter.txt: line 1, column 1: \"bad\" beside EUR of before");
	assert_true(mirror_fetched(
		&mirror_here, "demo", "form", "1AbCdEfGhIjKlMnOpQrStUvWxYz", bytes_of("{  }"))); /* it is still named */
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_string_equal(said_document(0).source, "Google document 1AbCdEfGhIjKlMnOpQrStUvWxYz");
}

static void each_kind_has_a_bound_of_its_own(void **state)
{
	struct buffer big = { 0 };

	(void)state;
	while (big.len < 101)
		buffer_add_text(&big, "#");
	sees_two(SHOP, buffer_text(&big), buffer_text(&big));
	assert_int_equal(said(&topic_document), 2);
	assert_string_equal(
		said_alarm(0).text, "demo/form.json: is longer than 1 KB: it has 101 bytes, and 100 is most");
	buffer_free(&big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kinds_of_another_system_are_said_after_shop_conf),
		TEST(a_refused_text_leaves_the_one_before_it_in_use),
		TEST(what_must_be_there_is_missed_and_what_may_be_there_is_not),
		TEST(a_further_text_is_taken_back_with_its_file),
		TEST(a_shop_conf_waits_that_a_text_in_use_would_be_lost_with),
		TEST(what_shop_conf_said_outlives_a_wrong_one),
		TEST(each_kind_has_a_bound_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
