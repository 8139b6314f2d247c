/* test_signed_token.c: one set of fields, one token; and no other is believed */
#include "bus/base/cleanup.h"
#include "services/kit/keys/signed_token.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAC = 32, FIELDS_MOST = 192 }; /* so many bytes fit beside the MAC */
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static const struct bytes key = { "0123456789abcdef", 16 };

static int read_token(const char *token, struct buffer *fields)
{
	int r = signed_token_read(key, "test", token, fields);

	if (r < 0)
		assert_int_equal(fields->len, 0); /* nothing of it is believed */
	return r;
}

static void what_was_made_is_read_whatever_its_length(void **state)
{
	_cleanup_(buffer_free) struct buffer read = { 0 };
	char token[SIGNED_TOKEN_MAX + 1], fields[FIELDS_MOST + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(fields); i++)
		fields[i] = (char)(i * 37);
	for (size_t len = 0; len <= FIELDS_MOST; len++) {
		assert_int_equal(signed_token_make(key, "test", BYTES(fields, len), token), 0);
		assert_int_equal(strlen(token), ((len + MAC) * 8 + 5) / 6);
		assert_int_equal(strspn(token, alphabet), strlen(token));
		assert_int_equal(read_token(token, &read), 0);
		assert_true(bytes_equal(buffer_bytes(&read), BYTES(fields, len)));
	}
	assert_int_equal(signed_token_make(key, "test", BYTES(fields, FIELDS_MOST + 1), token), -EMSGSIZE);
	assert_string_equal(token, "");
}

static void a_token_is_for_one_key_and_one_purpose(void **state)
{
	_cleanup_(buffer_free) struct buffer read = { 0 };
	char token[SIGNED_TOKEN_MAX + 1];

	(void)state;
	assert_int_equal(signed_token_make(key, "test", bytes_of("fields"), token), 0);
	assert_int_equal(signed_token_read(bytes_of("another key"), "test", token, &read), -EKEYREJECTED);
	assert_int_equal(read.len, 0);
	assert_int_equal(signed_token_read(key, "tes", token, &read), -EKEYREJECTED);
	assert_int_equal(signed_token_read(key, "test2", token, &read), -EKEYREJECTED);
	/* what ends the purpose is no part of the fields */
	assert_int_equal(signed_token_make(key, "tes", bytes_of("tfields"), token), 0);
	assert_int_equal(read_token(token, &read), -EKEYREJECTED);
}

/* Each change of one character, each cut, each character more. */
static void nothing_else_is_a_token(void **state)
{
	_cleanup_(buffer_free) struct buffer read = { 0 };
	char token[SIGNED_TOKEN_MAX + 2], changed[SIGNED_TOKEN_MAX + 2];

	(void)state;
	for (size_t len = 0; len < 3; len++) { /* each number of bits that are left over at its end */
		assert_int_equal(signed_token_make(key, "test", BYTES("ab", len), token), 0);
		for (size_t i = 0; token[i]; i++) {
			for (const char *c = alphabet; *c; c++) {
				strcpy(changed, token);
				changed[i] = *c;
				assert_int_equal(read_token(changed, &read) == 0, *c == token[i]);
			}
			strcpy(changed, token);
			changed[i] = "=.+/ \n"[i % 6];
			assert_int_equal(read_token(changed, &read), -EBADMSG);
			changed[i] = '\0';
			assert_true(read_token(changed, &read) < 0);
		}
		for (const char *c = alphabet; *c; c++) {
			snprintf(changed, sizeof(changed), "%.300s%c", token, *c);
			assert_true(read_token(changed, &read) < 0);
		}
	}
}

static void what_is_shorter_than_its_mac_or_too_long_is_no_token(void **state)
{
	_cleanup_(buffer_free) struct buffer read = { 0 };
	char text[SIGNED_TOKEN_MAX + 2];

	(void)state;
	assert_int_equal(read_token("", &read), -EBADMSG);
	memset(text, 'A', sizeof(text));
	text[42] = '\0'; /* 31 bytes */
	assert_int_equal(read_token(text, &read), -EBADMSG);
	text[42] = 'A';
	text[43] = '\0'; /* 32 bytes: a MAC and no fields */
	assert_int_equal(read_token(text, &read), -EKEYREJECTED);
	text[43] = 'A';
	text[SIGNED_TOKEN_MAX] = '\0';
	assert_int_equal(read_token(text, &read), -EKEYREJECTED);
	text[SIGNED_TOKEN_MAX] = 'A';
	text[SIGNED_TOKEN_MAX + 1] = '\0';
	assert_int_equal(read_token(text, &read), -EBADMSG);
}

static void texts_are_taken_one_behind_the_other(void **state)
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };
	char text[8];

	(void)state;
	signed_token_add_text(&fields, "demo");
	signed_token_add_text(&fields, "");
	signed_token_add_text(&fields, "1234567");
	struct bytes rest = buffer_bytes(&fields);
	assert_int_equal(signed_token_take_text(&rest, text, sizeof(text)), 0);
	assert_string_equal(text, "demo");
	assert_int_equal(signed_token_take_text(&rest, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	struct bytes again = rest;
	assert_int_equal(signed_token_take_text(&again, text, 7), -EBADMSG); /* it would be cut */
	assert_int_equal(signed_token_take_text(&rest, text, sizeof(text)), 0);
	assert_string_equal(text, "1234567");
	assert_int_equal(rest.len, 0);
	assert_int_equal(signed_token_take_text(&rest, text, sizeof(text)), -EBADMSG);
	rest = BYTES("\3ab", 3); /* it ends before the text does */
	assert_int_equal(signed_token_take_text(&rest, text, sizeof(text)), -EBADMSG);
	rest = BYTES("\2a\0", 3); /* two texts that read the same */
	assert_int_equal(signed_token_take_text(&rest, text, sizeof(text)), -EBADMSG);
}

static void a_text_is_added_up_to_its_255th_byte(void **state)
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };
	char text[300];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[255] = '\0';
	signed_token_add_text(&fields, text);
	assert_int_equal(fields.len, 256);
	text[255] = 'x';
	text[256] = '\0';
	buffer_clear(&fields);
	signed_token_add_text(&fields, text);
	assert_int_equal(fields.len, 256);
}

static void keys_are_told_apart_by_purpose_too(void **state)
{
	uint8_t one[SIGNED_TOKEN_KEY_ID], again[SIGNED_TOKEN_KEY_ID], other[SIGNED_TOKEN_KEY_ID];

	(void)state;
	signed_token_key_id(key, "test", one);
	signed_token_key_id(key, "test", again);
	assert_memory_equal(one, again, sizeof(one));
	signed_token_key_id(bytes_of("another key"), "test", other);
	assert_memory_not_equal(one, other, sizeof(one));
	signed_token_key_id(key, "other", other);
	assert_memory_not_equal(one, other, sizeof(one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_made_is_read_whatever_its_length),
		cmocka_unit_test(a_token_is_for_one_key_and_one_purpose),
		cmocka_unit_test(nothing_else_is_a_token),
		cmocka_unit_test(what_is_shorter_than_its_mac_or_too_long_is_no_token),
		cmocka_unit_test(texts_are_taken_one_behind_the_other),
		cmocka_unit_test(a_text_is_added_up_to_its_255th_byte),
		cmocka_unit_test(keys_are_told_apart_by_purpose_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
