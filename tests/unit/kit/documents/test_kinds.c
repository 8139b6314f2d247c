/* test_kinds.c: which kind of document a name or a file is of, and which tables can be served */
#include "services/kit/documents/kinds.h"
#include "services/kit/shop/shop.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>

static void *parse_nothing(const struct document_text *text, const char *with)
{
	(void)text, (void)with;
	return NULL;
}

static void judge_right(const struct document_text *text, struct document_opinion *ret)
{
	(void)text, (void)ret;
}

/* The kind `name`, with one more thing said of it. */
#define KIND_IN(kind, file_ending, most, ...)                                                                          \
	{                                                                                                              \
		.name = (kind), .ending = (file_ending), .bytes_max = (most), .without = "the shop has none",          \
		.reading = { parse_nothing, free }, .judge = judge_right, __VA_ARGS__                                  \
	}
#define KIND(kind, ...) KIND_IN(kind, ".txt", 100, __VA_ARGS__)

static const struct document_kind form = KIND_IN("form", ".txt", DOCUMENT_BYTES_MAX),
				  note = KIND("note", .further_max = 5);
static const struct document_kind *const forms[] = { &form, NULL }, *const none[] = { NULL },
					 *const notes[] = { &note, NULL };
static const struct document_kind *const *const tables[] = { kit_documents, none, forms, notes, NULL };

static void the_kinds_of_all_systems_are_found_by_their_names(void **state)
{
	(void)state;
	assert_ptr_equal(document_kind_at(tables, 0), &shop_document);
	assert_ptr_equal(document_kind_at(tables, 1), &form);
	assert_ptr_equal(document_kind_at(tables, 2), &note);
	assert_null(document_kind_at(tables, 3));
	assert_ptr_equal(document_kind_named(tables, "shop"), &shop_document);
	assert_ptr_equal(document_kind_named(tables, "note.de"), &note);
	assert_null(document_kind_named(tables, "note."));
	assert_null(document_kind_named(tables, "form.de"));
	assert_null(document_kind_named(tables, "fork"));
}

static void only_files_of_a_kind_are_taken_for_one(void **state)
{
	static const struct {
		const char *file;
		const struct document_kind *kind;
		const char *name;
	} cases[] = {
		{ "shop.conf", &shop_document, "shop" },
		{ "shop.txt", NULL, "" },
		{ "form.txt", &form, "form" },
		{ "form.de.txt", NULL, "" },
		{ "note.txt", &note, "note" },
		{ "note.de.txt", &note, "note.de" },
		{ "note.abcde.txt", &note, "note.abcde" },
		{ "note.abcdef.txt", NULL, "" },
		{ "note..txt", NULL, "" },
		{ "note.d/e.txt", NULL, "" },
		{ "notes.txt", NULL, "" },
		{ "note.txt~", NULL, "" },
		{ "note", NULL, "" },
		{ "", NULL, "" },
	};
	char file[DOCUMENT_FILE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[DOCUMENT_KIND_ROOM] = "";
		if (document_kind_of_file(tables, cases[i].file, name) != cases[i].kind ||
			strcmp(name, cases[i].name) != 0)
			fail_msg("%s: %s", cases[i].file, name);
	}
	document_file_name(&note, "note.de", file);
	assert_string_equal(file, "note.de.txt");
}

static void a_table_that_cannot_be_served_is_refused_in_words(void **state)
{
	static const struct {
		struct document_kind kind;
		const char *why;
	} cases[] = {
		{ KIND(""), "a-z" },
		{ KIND("Note"), "a-z" },
		{ KIND("note.de"), "a-z" },
		{ KIND("a-name-that-is-much-longer-than-it-may"), "too long" },
		{ KIND("letter", .further_max = 25), "too long" },
		{ KIND_IN("letter", "txt", 100), "ending" },
		{ KIND_IN("letter", ".document", 100), "ending" },
		{ KIND_IN("letter", ".txt", 0), "so long" },
		{ KIND_IN("letter", ".txt", DOCUMENT_BYTES_MAX + 1), "so long" },
		{ { .name = "letter", .ending = ".txt", .bytes_max = 1, .without = "" }, "lacks" },
		{ KIND("form"), "has its name" },
		{ KIND("shop"), "has its name" },
	};
	char why[200] = "";

	(void)state;
	assert_true(document_kinds_valid(tables, why));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct document_kind *const more[] = { &cases[i].kind, NULL };
		const struct document_kind *const *const all[] = { kit_documents, forms, more, NULL };
		if (document_kinds_valid(all, why) || !strstr(why, cases[i].why) || !strstr(why, cases[i].kind.name))
			fail_msg("%zu: %s", i, why);
	}
}

static void one_kind_alone_numbers_the_decisions(void **state)
{
	static const struct document_kind one = KIND("one", .is_rules_version = true),
					  two = KIND("two", .is_rules_version = true);
	static const struct document_kind *const both[] = { &one, &two, NULL }, *const first[] = { &one, NULL };
	const struct document_kind *const *const wrong[] = { both, NULL },
						 *const *const right[] = { first, forms, NULL };
	char why[200];

	(void)state;
	assert_true(document_kinds_valid(right, why));
	assert_false(document_kinds_valid(wrong, why));
	assert_non_null(strstr(why, "\"two\""));
}

static void a_text_that_is_too_long_is_refused_with_both_numbers(void **state)
{
	struct buffer text = { 0 };
	char why[OWNER_TEXT_WHY];

	(void)state;
	while (text.len < DOCUMENT_BYTES_MAX)
		buffer_add_text(&text, "x");
	assert_true(owner_text_valid(buffer_bytes(&text), form.bytes_max, why));
	buffer_add_text(&text, "x");
	assert_false(owner_text_valid(buffer_bytes(&text), form.bytes_max, why));
	assert_string_equal(why, "is longer than 256 KB: it has 262145 bytes, and 262144 is most");
	assert_false(owner_text_valid(bytes_of("too long"), 7, why));
	assert_string_equal(why, "is longer than 1 KB: it has 8 bytes, and 7 is most");
	buffer_free(&text);
}

static void a_wrong_shop_conf_is_refused_with_its_line(void **state)
{
	struct document_opinion opinion = { 0 };

	(void)state;
	shop_document.judge(
		&(struct document_text){
			.shop = "demo", .kind = "shop", .source = "demo/shop.conf", .text = "[shop]\nx\n" },
		&opinion);
	assert_int_equal(opinion.line, 2);
	assert_true(opinion.names_source);
	assert_int_equal(strncmp(opinion.wrong, "demo/shop.conf:2: ", 18), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kinds_of_all_systems_are_found_by_their_names),
		cmocka_unit_test(only_files_of_a_kind_are_taken_for_one),
		cmocka_unit_test(a_table_that_cannot_be_served_is_refused_in_words),
		cmocka_unit_test(one_kind_alone_numbers_the_decisions),
		cmocka_unit_test(a_text_that_is_too_long_is_refused_with_both_numbers),
		cmocka_unit_test(a_wrong_shop_conf_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
