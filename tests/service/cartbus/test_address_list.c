/* test_address_list.c: the mail addresses of a file that another tool wrote */
#include "services/cartbus/people/address_list.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct seen {
	uint64_t lines;
	int good, bad;
	uint64_t first, last;
	char text[600], why[100];
	char all[2000];
} seen;

static void note(void *context, uint64_t first, uint64_t last, const char *text, const char *why)
{
	(void)context;
	seen.first = first;
	seen.last = last;
	if (text) {
		seen.good++;
		snprintf(seen.text, sizeof(seen.text), "%s", text);
	} else {
		seen.bad++;
		snprintf(seen.why, sizeof(seen.why), "%s", why);
	}
	snprintf(seen.all + strlen(seen.all), sizeof(seen.all) - strlen(seen.all), "%llu:%s ",
		(unsigned long long)first, text ? text : "-");
}

static int read_bytes(const void *data, size_t len, const char *column)
{
	FILE *file = len ? fmemopen((void *)data, len, "r") : fopen("/dev/null", "r");
	int r;

	assert_non_null(file);
	memset(&seen, 0, sizeof(seen));
	r = address_list_read(file, column, note, NULL, &seen.lines);
	fclose(file);
	return r;
}

static int read_text(const char *text, const char *column)
{
	return read_bytes(text, strlen(text), column);
}

static void one_address_per_line(void **state)
{
	(void)state;
	assert_int_equal(read_text("a@x.example\n\nb@x.example\r\n c@x.example", NULL), 0);
	assert_string_equal(seen.all, "1:a@x.example 3:b@x.example 4:c@x.example ");
	assert_int_equal(seen.lines, 4);
	assert_int_equal(read_text("a@x.example\n", NULL), 0);
	assert_int_equal(seen.lines, 1);
	assert_int_equal(read_text("", NULL), 0);
	assert_int_equal(seen.lines, 0);
}

/* Else all but the first address of such a list would be lost without a word. */
static void a_lone_cr_ends_a_row_as_well(void **state)
{
	(void)state;
	assert_int_equal(read_text("a@x.example\rb@x.example\rc@x.example", NULL), 0);
	assert_string_equal(seen.all, "1:a@x.example 1:b@x.example 1:c@x.example ");
	assert_int_equal(seen.lines, 1);
	assert_int_equal(read_text("who,mail\rx,a@x.example\ry,b@x.example\r", NULL), 0);
	assert_string_equal(seen.all, "1:a@x.example 1:b@x.example ");
	assert_int_equal(seen.lines, 1);
}

static void a_header_says_which_column(void **state)
{
	(void)state;
	assert_int_equal(read_text("Name,E-Mail,Date\n\"@ada, L.\",a@x.example,1\nb,b@x.example,2\n", NULL), 0);
	assert_string_equal(seen.all, "2:a@x.example 3:b@x.example ");
	assert_int_equal(read_text("\xef\xbb\xbf"
				   "name;email\nx;a@x.example\n",
				 NULL),
		0);
	assert_string_equal(seen.all, "2:a@x.example ");
	assert_int_equal(read_text("who\tmail\nx\ta@x.example\n", NULL), 0);
	assert_string_equal(seen.all, "2:a@x.example ");
	assert_int_equal(read_text("a@x.example,who\nb@x.example,c\n", NULL), 0); /* none: the first with an @ */
	assert_string_equal(seen.all, "1:a@x.example 2:b@x.example ");
	assert_int_equal(read_text("one,two\na@x.example,b@x.example\n", "TWO"), 0);
	assert_string_equal(seen.all, "2:b@x.example ");
	assert_int_equal(read_text("one,two\na@x.example,b@x.example\n", "three"), -ENOENT);
	assert_int_equal(seen.good, 0);
}

static void a_row_may_span_lines_and_a_field_hold_quotes(void **state)
{
	(void)state;
	assert_int_equal(read_text("email,note\na@x.example,\"two\nlines, \"\"quoted\"\"\"\nb@x.example,\n", NULL), 0);
	assert_string_equal(seen.all, "2:a@x.example 4:b@x.example ");
	assert_int_equal(seen.lines, 4);
}

static void every_bad_row_is_told_with_its_line(void **state)
{
	(void)state;
	assert_int_equal(read_text("a@x.example\nnothing here\nb@x.example\n", NULL), 0);
	assert_string_equal(seen.all, "1:a@x.example 2:- 3:b@x.example ");
	assert_int_equal(read_text("email,x\n,1\nb@x.example\n", NULL), 0);
	assert_string_equal(seen.all, "2:- 3:b@x.example ");
	assert_int_equal(
		read_text("email\nzz\nb@x.example\n", NULL), 0); /* no address, but that is the caller's to say */
	assert_string_equal(seen.all, "2:zz 3:b@x.example ");
}

static void a_line_of_many_megabytes_is_one_bad_row_and_what_follows_is_read(void **state)
{
	size_t len = 40 << 20;
	char *huge = malloc(len + 14);

	(void)state;
	memset(huge, 'x', len);
	huge[1000] = '@';
	memcpy(huge + len, "\nb@x.example\n", 13);
	assert_int_equal(read_bytes(huge, len + 13, NULL), 0);
	assert_string_equal(seen.all, "1:- 2:b@x.example ");
	assert_int_equal(seen.lines, 2);
	memset(huge, 'x', len);
	assert_int_equal(read_bytes(huge, len, NULL), 0); /* and no end at all */
	assert_int_equal(seen.bad, 1);
	assert_int_equal(seen.good, 0);
	free(huge);
}

static void a_quote_that_is_never_closed_costs_the_lines_that_are_named(void **state)
{
	size_t len = 0, room = 200 * 1024;
	char *text = malloc(room);
	int lines = 0;

	(void)state;
	len += (size_t)sprintf(text, "a@x.example\n\"b@x.example\n");
	for (; len + 32 < room; lines++)
		len += (size_t)sprintf(text + len, "c%d@x.example\n", lines);
	assert_int_equal(read_bytes(text, len, NULL), 0);
	assert_int_equal(strncmp(seen.all, "1:a@x.example 2:- ", 18), 0);
	assert_int_equal(seen.bad, 1);
	assert_true(seen.good > 1 && seen.good < lines);
	assert_int_equal(seen.last, lines + 2); /* the last line is read again as it stands */
	free(text);
}

static void what_is_no_text_is_told_apart(void **state)
{
	static const char utf16[] = "\xff\xfe"
				    "a\0@\0x\0";
	static const char program[] = "\x7f"
				      "ELF\0\0\0\0";
	static const char inner[] = "a@x.example\nb\0@x.example\nc@x.example\n";
	char long_field[1000] = "";

	(void)state;
	assert_int_equal(read_bytes(utf16, sizeof(utf16), NULL), -EILSEQ);
	assert_int_equal(read_bytes(program, sizeof(program), NULL), -EILSEQ);
	assert_int_equal(read_bytes(inner, sizeof(inner) - 1, NULL), -EILSEQ);
	memset(long_field, 'y', 900);
	long_field[5] = '@';
	assert_int_equal(read_text(long_field, NULL), 0);
	assert_string_equal(seen.why, "its address is too long");
	srand(7);
	for (int round = 0; round < 50; round++) {
		static unsigned char noise[100000];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (unsigned char)(i < 1024 ? 'a' + rand() % 20 : rand());
		assert_int_equal(read_bytes(noise, sizeof(noise), NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address_per_line),
		cmocka_unit_test(a_lone_cr_ends_a_row_as_well),
		cmocka_unit_test(a_header_says_which_column),
		cmocka_unit_test(a_row_may_span_lines_and_a_field_hold_quotes),
		cmocka_unit_test(every_bad_row_is_told_with_its_line),
		cmocka_unit_test(a_line_of_many_megabytes_is_one_bad_row_and_what_follows_is_read),
		cmocka_unit_test(a_quote_that_is_never_closed_costs_the_lines_that_are_named),
		cmocka_unit_test(what_is_no_text_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
