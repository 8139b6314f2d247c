/* test_mask.c: what is not declared to be harmless is unreadable, and what remains still reads */
#include "bus/broker/admin/mask.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>

/* 1: "demo", 2: { 1: "anna@mail.example", 3: 7 }, 4: fixed32 */
static const char message[] = "\x0a\x04"
			      "demo\x12\x15\x0a\x11"
			      "anna@mail.example"
			      "\x18\x07\x25"
			      "abcd";
enum { LEN = sizeof(message) - 1 };

static int mask_with(const char *paths, char to[LEN])
{
	struct mask mask = { 0 };

	assert_int_equal(mask_add(&mask, paths), 0);
	memcpy(to, message, LEN);
	return mask_payload(&mask, to, LEN);
}

static void what_is_shown_stays_and_all_else_is_stars(void **state)
{
	char masked[LEN];

	(void)state;
	assert_int_equal(mask_with("2/ 1", masked), 0);
	assert_memory_equal(masked,
		"\x0a\x04"
		"demo\x12\x15\x0a\x11****@************"
		"\x18\x07\x25"
		"abcd",
		LEN);
	assert_int_equal(mask_with("2/ 2/1", masked), 0);
	assert_non_null(memmem(masked, LEN, "anna@", 5));
	assert_null(memmem(masked, LEN, "demo", 4));
}

static void a_path_of_another_level_shows_nothing(void **state)
{
	char masked[LEN];

	(void)state;
	assert_int_equal(mask_with("1/1 2/2/1 3", masked), 0);
	assert_null(memmem(masked, LEN, "demo", 4));
	assert_null(memmem(masked, LEN, "anna", 4));
}

static void a_message_that_is_not_looked_into_is_masked_whole(void **state)
{
	char masked[LEN];

	(void)state;
	assert_int_equal(mask_with("2 1", masked), 0); /* as a string it is shown: whoever lists it says so */
	assert_int_equal(mask_with("1", masked), 0);
	assert_null(memmem(masked, LEN, "anna", 4));
	assert_null(memmem(masked, LEN, "\x18\x07", 2));
}

/* Whatever its bytes, nothing is read behind the end. */
static void what_is_cut_short_is_refused(void **state)
{
	struct mask mask = { 0 };
	char part[LEN];

	(void)state;
	assert_int_equal(mask_add(&mask, "2/"), 0);
	for (size_t len = 1; len < LEN; len++) {
		char *exactly = test_malloc(len);
		int r;

		memcpy(exactly, message, len);
		r = mask_payload(&mask, exactly, len);
		assert_true(r == -EBADMSG || len == 6 || len == 29);
		test_free(exactly);
	}
	memcpy(part, "\x0b\x01\x01", 3); /* a group */
	assert_int_equal(mask_payload(&mask, part, 3), -EBADMSG);
	memset(part, 0xff, 12); /* a number without an end */
	assert_int_equal(mask_payload(&mask, part, 12), -EBADMSG);
	memcpy(part, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10); /* longer than everything */
	assert_int_equal(mask_payload(&mask, part, 10), -EBADMSG);
}

static void a_path_that_is_none_is_refused(void **state)
{
	static const char *const wrong[] = { "x", "0", "256", "-1", "1//2", "/1", "1/2/3/4/5", "1/2/3/4/", "1.2",
		"1/x" };
	struct mask mask = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(mask_add(&mask, wrong[i]), -EINVAL);
	assert_int_equal(mask_add(&mask, "1/2/3/4 7 7 7"), 0);
	assert_int_equal(mask.shown_count, 2);
	for (int i = 0; i < MASK_PATHS_MAX - 2; i++) {
		char path[8] = { '1', '/', (char)('1' + i / 10), (char)('0' + i % 10), 0 };

		assert_int_equal(mask_add(&mask, path), 0);
	}
	assert_int_equal(mask_add(&mask, "250"), -ENOSPC);
}

static struct bytes found(const char *word, const void *payload, size_t len)
{
	uint32_t path = 0;

	assert_int_equal(mask_path(word, &path), 0);
	return mask_find((struct bytes){ payload, len }, path);
}

static void assert_found(const char *word, const char *wanted)
{
	struct bytes text = found(word, message, LEN);

	assert_int_equal(text.len, strlen(wanted));
	assert_memory_equal(text.data, wanted, text.len);
}

static void a_string_is_found_by_its_path(void **state)
{
	(void)state;
	assert_found("1", "demo");
	assert_found("2/1", "anna@mail.example");
	assert_int_equal(found("2/3", message, LEN).len, 0); /* a number */
	assert_int_equal(found("2/2", message, LEN).len, 0); /* none of these is there */
	assert_int_equal(found("3", message, LEN).len, 0);
	assert_int_equal(found("4", message, LEN).len, 0);
	assert_int_equal(found("1", NULL, 0).len, 0);
}

/* What of the message is whole is found, and nothing is read behind the end. */
static void in_what_is_cut_short_what_is_whole_is_found(void **state)
{
	(void)state;
	for (size_t len = 1; len < LEN; len++) {
		char *exactly = test_malloc(len);

		memcpy(exactly, message, len);
		assert_int_equal(found("1", exactly, len).len, len >= 6 ? 4 : 0);
		assert_int_equal(found("2/1", exactly, len).len, len >= 29 ? 17 : 0);
		assert_int_equal(found("5", exactly, len).len, 0);
		test_free(exactly);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_shown_stays_and_all_else_is_stars),
		cmocka_unit_test(a_path_of_another_level_shows_nothing),
		cmocka_unit_test(a_message_that_is_not_looked_into_is_masked_whole),
		cmocka_unit_test(what_is_cut_short_is_refused),
		cmocka_unit_test(a_path_that_is_none_is_refused),
		cmocka_unit_test(a_string_is_found_by_its_path),
		cmocka_unit_test(in_what_is_cut_short_what_is_whole_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
