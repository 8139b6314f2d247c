/* test_signature.c: only the right secret over the very bytes opens the door. Expected values come from Python's hmac. */
#include "given.h"
#include "services/kit/endpoint/signature.h"
#include <stdio.h>

static const char body[] = "{\"id\":1}";
/* hmac.new(b"secret-of-the-shop", b'{"id":1}', sha256), base64 */
static const char right[] = "1qKuLq6Sc9JNZn6CGFRSV9XN2eBY7nP8Uf916wTTsyE=";
static const char under_nothing[] = "IIv9QCY8NMI98Pph0gih4FLJKFhas4NBxvbvW7t7EXA="; /* over no bytes at all */
/* the same over "1700000000." + body, hex and base64 */
static const char stamped_hex[] = "eb6ad381dba6f0aee8334074f18e685d919ebc5a264d9a2e64748c1f9ebce550";
static const char stamped_base64[] = "62rTgdum8K7oM0B08Y5oXZGevFomTZouZHSMH5685VA=";
static const int64_t stamp_us = 1700000000LL * 1000000;

static struct secrets_pair secrets;

static struct secrets_pair *given_secrets(const char *current, const char *previous)
{
	buffer_clear(&secrets.current);
	buffer_clear(&secrets.previous);
	buffer_add_text(&secrets.current, current);
	buffer_add_text(&secrets.previous, previous);
	return &secrets;
}

static enum signature check(const char *given)
{
	return signature_check_body(given_secrets("secret-of-the-shop", ""), bytes_of(body), given);
}

static void the_right_signature_is_right(void **state)
{
	(void)state;
	assert_int_equal(check(right), SIGNATURE_CURRENT);
}

static void two_secrets_hold_during_a_rotation_and_it_is_known_which(void **state)
{
	(void)state;
	assert_int_equal(
		signature_check_body(given_secrets("the-new-secret", "secret-of-the-shop"), bytes_of(body), right),
		SIGNATURE_PREVIOUS);
	assert_int_equal(
		signature_check_body(given_secrets("secret-of-the-shop", "the-old-one"), bytes_of(body), right),
		SIGNATURE_CURRENT);
	assert_int_equal(
		signature_check_body(given_secrets("the-new-secret", ""), bytes_of(body), right), SIGNATURE_WRONG);
}

static void each_of_several_secrets_before_holds_and_nothing_that_spans_their_lines(void **state)
{
	static const char *const befores[] = { "secret-of-the-shop\nanother-one", "another-one\nsecret-of-the-shop",
		"a-first-one\nsecret-of-the-shop\nanother-one", "secret-of-the-shop\r\nanother-one\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(befores) / sizeof(befores[0]); i++)
		assert_int_equal(
			signature_check_body(given_secrets("the-new-secret", befores[i]), bytes_of(body), right),
			SIGNATURE_PREVIOUS);
	assert_int_equal(
		signature_check_body(given_secrets("the-new-secret", "secret-of\n-the-shop"), bytes_of(body), right),
		SIGNATURE_WRONG);
	assert_int_equal(
		signature_check_body(given_secrets("the-new-secret", "another-one\n\n"), bytes_of(body), under_nothing),
		SIGNATURE_WRONG);
}

/* BigCommerce signs nothing: it repeats a word that it was given. */
static void a_word_that_is_repeated_is_known_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *current, *previous, *given;
		enum signature wanted;
	} cases[] = {
		{ "the-word", "", "the-word", SIGNATURE_CURRENT },
		{ "the-word", "old-word", "old-word", SIGNATURE_PREVIOUS },
		{ "the-word", "the-word", "the-word", SIGNATURE_CURRENT },
		{ "the-word", "first-word\nold-word", "old-word", SIGNATURE_PREVIOUS },
		{ "the-word", "first-word\nold-word", "first-word", SIGNATURE_PREVIOUS },
		{ "the-word", "first-word\nold-word", "first-word\nold-word", SIGNATURE_WRONG },
		{ "the-word", "old-word", "the-wors", SIGNATURE_WRONG },
		{ "the-word", "old-word", "the-wor", SIGNATURE_WRONG },
		{ "the-word", "old-word", "the-words", SIGNATURE_WRONG },
		{ "a-short", "", "a-short", SIGNATURE_WRONG },
		{ "the-word", "", NULL, SIGNATURE_MISSING },
		{ "the-word", "", "", SIGNATURE_MISSING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			signature_check_word(given_secrets(cases[i].current, cases[i].previous), cases[i].given),
			cases[i].wanted);
}

static void missing_truncated_and_foreign_encodings_are_told_apart(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(check(NULL), SIGNATURE_MISSING);
	assert_int_equal(check(""), SIGNATURE_MISSING);
	for (size_t len = 1; len < strlen(right); len++) {
		snprintf(text, sizeof(text), "%.*s", (int)len, right);
		assert_int_equal(check(text), SIGNATURE_MALFORMED);
	}
	snprintf(text, sizeof(text), "%s=", right);
	assert_int_equal(check(text), SIGNATURE_MALFORMED);
	snprintf(text, sizeof(text), " %s", right);
	assert_int_equal(check(text), SIGNATURE_MALFORMED);
	assert_int_equal(check("!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!="), SIGNATURE_MALFORMED);
	assert_int_equal(check("sha256=0000000000000000000000000000000000000"), SIGNATURE_MALFORMED);
}

static void one_changed_byte_anywhere_is_wrong(void **state)
{
	char changed[sizeof(body)], text[64];

	(void)state;
	for (size_t i = 0; i < strlen(body); i++) {
		memcpy(changed, body, sizeof(body));
		changed[i] ^= 1;
		assert_int_equal(
			signature_check_body(given_secrets("secret-of-the-shop", ""), bytes_of(changed), right),
			SIGNATURE_WRONG);
	}
	for (size_t i = 0; i + 2 < strlen(right); i++) {
		snprintf(text, sizeof(text), "%s", right);
		text[i] = text[i] == 'A' ? 'B' : 'A';
		assert_int_equal(check(text), SIGNATURE_WRONG);
	}
}

static void an_empty_or_short_secret_opens_nothing(void **state)
{
	/* hmac of the body under "" and under "short" */
	static const char under_empty[] = "OH4HrEMyI2Gyl0Nx9AtqhHOTI11vM8Vi/iDRBFu925g=",
			  under_short[] = "uKw5RTTUdyQMf8WbnQ5IjEiu1dAr+H+SsffWqUjMKaI=";

	(void)state;
	assert_int_equal(signature_check_body(given_secrets("", ""), bytes_of(body), under_empty), SIGNATURE_WRONG);
	assert_int_equal(
		signature_check_body(given_secrets("short", ""), bytes_of(body), under_short), SIGNATURE_WRONG);
	assert_int_equal(
		signature_check_body(given_secrets("secret-of-the-shop", "short"), bytes_of(body), under_short),
		SIGNATURE_WRONG);
}

static void an_empty_body_has_a_signature_like_any_other(void **state)
{
	(void)state;
	assert_int_equal(signature_check_body(given_secrets("secret-of-the-shop", ""), BYTES(NULL, 0), under_nothing),
		SIGNATURE_CURRENT);
	assert_int_equal(
		signature_check_body(given_secrets("secret-of-the-shop", ""), BYTES(NULL, 0), right), SIGNATURE_WRONG);
}

static enum signature check_stamped(const char *timestamp, const char *given, int64_t now_us)
{
	return signature_check_stamped(
		given_secrets("secret-of-the-shop", ""), bytes_of(body), timestamp, given, now_us);
}

static void our_own_signature_covers_the_timestamp(void **state)
{
	(void)state;
	assert_int_equal(check_stamped("1700000000", stamped_hex, stamp_us), SIGNATURE_CURRENT);
	assert_int_equal(check_stamped("1700000000", stamped_base64, stamp_us), SIGNATURE_CURRENT);
	assert_int_equal(check_stamped("1700000001", stamped_hex, stamp_us), SIGNATURE_WRONG);
	assert_int_equal(check_stamped("1700000000", right, stamp_us), SIGNATURE_WRONG);
	assert_int_equal(check_stamped(NULL, stamped_hex, stamp_us), SIGNATURE_MISSING);
	assert_int_equal(check_stamped("1700000000", NULL, stamp_us), SIGNATURE_MISSING);
}

static void a_stamp_holds_for_300_seconds_either_way(void **state)
{
	(void)state;
	assert_int_equal(check_stamped("1700000000", stamped_hex, stamp_us + 300 * 1000000LL), SIGNATURE_CURRENT);
	assert_int_equal(check_stamped("1700000000", stamped_hex, stamp_us - 300 * 1000000LL), SIGNATURE_CURRENT);
	assert_int_equal(check_stamped("1700000000", stamped_hex, stamp_us + 301 * 1000000LL), SIGNATURE_STALE);
	assert_int_equal(check_stamped("1700000000", stamped_hex, stamp_us - 301 * 1000000LL), SIGNATURE_STALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_signature_is_right),
		cmocka_unit_test(two_secrets_hold_during_a_rotation_and_it_is_known_which),
		cmocka_unit_test(each_of_several_secrets_before_holds_and_nothing_that_spans_their_lines),
		cmocka_unit_test(a_word_that_is_repeated_is_known_whole_or_not_at_all),
		cmocka_unit_test(missing_truncated_and_foreign_encodings_are_told_apart),
		cmocka_unit_test(one_changed_byte_anywhere_is_wrong),
		cmocka_unit_test(an_empty_or_short_secret_opens_nothing),
		cmocka_unit_test(an_empty_body_has_a_signature_like_any_other),
		cmocka_unit_test(our_own_signature_covers_the_timestamp),
		cmocka_unit_test(a_stamp_holds_for_300_seconds_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
