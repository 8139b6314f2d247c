/* test_form.c: urlencoded forms are read in one way or refused */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/kit/web/form.h"
#include "services/kit/web/request.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdlib.h>

/* Reads a copy of its own, behind which the address sanitizer allows no byte. */
static int read_bytes(const char *text, size_t len, struct form *ret)
{
	char *copy = malloc(len + (len == 0));
	int r;

	memcpy(copy, text, len);
	r = form_read(BYTES(copy, len), ret);
	free(copy);
	return r;
}

static void every_field_is_decoded_and_kept_in_order(void **state)
{
	static const char text[] =
		"t=abc&&shop=Blumen+%26+mehr&w%C3%B6rter=a%3Db%20c&empty=&bare&shop=zwei&=x&a=b=c\r\n";
	static const struct form_field wanted[] = { { "t", "abc" }, { "shop", "Blumen & mehr" },
		{ "w\xc3\xb6rter", "a=b c" }, { "empty", "" }, { "bare", "" }, { "shop", "zwei" }, { "", "x" },
		{ "a", "b=c" } };
	_cleanup_(form_free) struct form form = { 0 };

	(void)state;
	assert_int_equal(read_bytes(text, strlen(text), &form), 0);
	assert_int_equal(form.count, sizeof(wanted) / sizeof(wanted[0]));
	for (int i = 0; i < form.count; i++) {
		assert_string_equal(form.fields[i].name, wanted[i].name);
		assert_string_equal(form.fields[i].value, wanted[i].value);
	}
}

static void a_name_that_is_given_twice_has_its_first_value_and_both_can_be_read(void **state)
{
	_cleanup_(form_free) struct form form = { 0 };
	int at = 0;

	(void)state;
	assert_int_equal(form_read(bytes_of("id=1&no=x&id=2&ID=3&id"), &form), 0);
	assert_string_equal(form_value(&form, "id"), "1");
	assert_null(form_value(&form, "i"));
	assert_null(form_value(&form, "id2"));
	assert_string_equal(form_each(&form, "id", &at), "1");
	assert_string_equal(form_each(&form, "id", &at), "2");
	assert_string_equal(form_each(&form, "id", &at), "");
	assert_null(form_each(&form, "id", &at));
	assert_null(form_each(&form, "id", &at));
}

static void what_is_no_text_is_refused_wherever_it_stands(void **state)
{
	static const char *const rows[] = { "a=%", "a=%4", "a=%4g", "a=%g4", "a=% 4", "a=%-1", "a=%+4", "%=a", "%4",
		"a=%00", "%00=a", "a=%C3", "a=%c3%28", "a=\xff", "\xff=a", "a=%ED%A0%80", "a=%C0%80", "a=%F5%80%80%80",
		"a=%%41" };
	char text[60];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int place = 0; place < 4; place++) {
			struct form form;

			snprintf(text, sizeof(text), "%s%s%s", place & 1 ? "first=1&" : "", rows[i],
				place & 2 ? "&last=1" : "");
			if (read_bytes(text, strlen(text), &form) != -EBADMSG)
				fail_msg("taken: %s", text);
			assert_int_equal(form.count, 0);
			assert_null(form.fields);
		}
	}
	for (size_t i = 0; i < 5; i++) {
		struct form form;

		memcpy(text, "a=b&c", 5);
		text[i] = '\0';
		assert_int_equal(read_bytes(text, 5, &form), -EBADMSG);
	}
}

static void no_bytes_are_a_form_without_fields(void **state)
{
	static const char *const rows[] = { "", "&", "&&&", "\r\n", "&\r\n&" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_(form_free) struct form form = { 0 };

		assert_int_equal(read_bytes(rows[i], strlen(rows[i]), &form), 0);
		assert_int_equal(form.count, 0);
		assert_null(form_value(&form, ""));
	}
}

static void as_many_fields_as_are_taken_have_room_and_one_more_is_refused(void **state)
{
	static char text[2 * PARTS_MOST + 4];
	struct form form;

	(void)state;
	for (int i = 0; i < PARTS_MOST; i++)
		memcpy(text + 2 * i, "a&", 2);
	assert_int_equal(read_bytes(text, 2 * PARTS_MOST, &form), 0);
	assert_int_equal(form.count, PARTS_MOST);
	form_free(&form);
	text[2 * PARTS_MOST] = 'a';
	assert_int_equal(read_bytes(text, 2 * PARTS_MOST + 1, &form), -E2BIG);
	form_free(&form);
}

static void one_field_is_found_without_judging_the_others(void **state)
{
	char value[8];

	(void)state;
	assert_true(form_find(bytes_of("x=%zz&a=one%21&a=two"), "a", value, sizeof(value)));
	assert_string_equal(value, "one!");
	assert_true(form_find(bytes_of("a=1234567"), "a", value, sizeof(value)));
	assert_false(form_find(bytes_of("a=12345678"), "a", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(form_find(bytes_of("aa=1&b=2"), "a", value, sizeof(value)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_decoded_and_kept_in_order),
		cmocka_unit_test(a_name_that_is_given_twice_has_its_first_value_and_both_can_be_read),
		cmocka_unit_test(what_is_no_text_is_refused_wherever_it_stands),
		cmocka_unit_test(no_bytes_are_a_form_without_fields),
		cmocka_unit_test(as_many_fields_as_are_taken_have_room_and_one_more_is_refused),
		cmocka_unit_test(one_field_is_found_without_judging_the_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
