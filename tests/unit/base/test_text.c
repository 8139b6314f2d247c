#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static void a_copy_fits_or_says_that_it_does_not(void **state)
{
	(void)state;
	char to[5];
	assert_true(TEXT_COPY(to, "cart"));
	assert_string_equal(to, "cart");
	assert_false(TEXT_COPY(to, "carts"));
	assert_string_equal(to, "cart");
	assert_true(TEXT_COPY(to, ""));
	assert_string_equal(to, "");
	assert_false(text_copy(to, 1, "x"));
	assert_string_equal(to, "");
}

static void a_cut_never_splits_a_letter(void **state)
{
	(void)state;
	char to[8];
	assert_false(text_copy(to, 4,
		"ab\xc3\xa9"
		"c"));
	assert_string_equal(to, "ab");
	assert_false(text_copy(to, 5,
		"ab\xc3\xa9"
		"c"));
	assert_string_equal(to, "ab\xc3\xa9");
	for (size_t room = 1; room <= 4; room++) {
		assert_false(text_copy(to, room, "\xf0\x9f\x9b\x92"));
		assert_string_equal(to, "");
	}
	assert_true(text_copy(to, 5, "\xf0\x9f\x9b\x92"));
}

static void bytes_with_a_nul_inside_do_not_pass_as_whole(void **state)
{
	(void)state;
	char to[8];
	assert_false(text_copy_bytes(to, sizeof(to), BYTES("a\0b", 3)));
	assert_string_equal(to, "a");
	assert_true(text_copy_bytes(to, sizeof(to), BYTES(NULL, 0)));
	assert_string_equal(to, "");
}

static void only_utf8_is_utf8(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
		{ "", true },
		{ "plain", true },
		{ "\xc3\xa9", true },
		{ "\xe2\x82\xac", true },
		{ "\xf0\x9f\x9b\x92", true },
		{ "\xf4\x8f\xbf\xbf", true },
		{ "\xef\xbf\xbf", true },
		{ "\xed\x9f\xbf", true },
		{ "\x80", false },
		{ "a\xc3", false },
		{ "\xc3z", false },
		{ "\xe2\x82", false },
		{ "\xff", false },
		{ "\xc0\x80", false },             /* overlong */
		{ "\xc1\xbf", false },             /* overlong */
		{ "\xe0\x9f\xbf", false },         /* overlong */
		{ "\xf0\x8f\xbf\xbf", false },     /* overlong */
		{ "\xed\xa0\x80", false },         /* a surrogate */
		{ "\xf4\x90\x80\x80", false },     /* past U+10FFFF */
		{ "\xf8\x88\x80\x80\x80", false }, /* five bytes */
		{ "\xc2\x80", true },
		{ "\xdf\xbf", true },
		{ "\xe0\xa0\x80", true },
		{ "\xee\x80\x80", true },
		{ "\xf0\x90\x80\x80", true },
		{ "\xf1\x80\x80\x80", true },
		{ "\xf5\x80\x80\x80", false },
		{ "\xe2\x82z", false },
		{ "\xf0\x90\x80z", false },
		{ "\xc3\xc3", false },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (int before = 0; before < 18; before++) {
			char text[40];
			snprintf(text, sizeof(text), "%.*s%s", before, "eight bytes a step", texts[i].text);
			assert_int_equal(text_is_utf8(bytes_of(text)), texts[i].valid);
		}
}

static void control_characters_are_found(void **state)
{
	(void)state;
	assert_false(text_has_control("Ana\tMar\xc3\xad"
				      "a"));
	assert_true(text_has_control("a\rb"));
	assert_true(text_has_control("a\n"));
	assert_true(text_has_control("\x1b[31m"));
	assert_true(text_has_control("\x7f"));
	assert_true(text_has_control("\x1f"));
	assert_false(text_has_control(" ~"));
}

static void a_control_character_at_the_beginning_says_how_long_it_is(void **state)
{
	static const struct {
		const char *text;
		size_t len, len_with_marks;
	} texts[] = { { "", 0, 0 }, { "\x01", 1, 1 }, { "\t", 1, 1 }, { "\x1f", 1, 1 }, { " ", 0, 0 }, { "~", 0, 0 },
		{ "\x7f", 1, 1 }, { "\x80", 0, 0 }, { "\xc2", 0, 0 }, { "\xc2\x7f", 0, 0 }, { "\xc2\x80", 2, 2 },
		{ "\xc2\x9f", 2, 2 }, { "\xc2\xa0", 0, 0 }, { "\xc3\x80", 0, 0 }, { "\xe2\x80\xa7", 0, 0 },
		{ "\xe2\x80\xa8", 0, 3 }, { "\xe2\x80\xae", 0, 3 }, { "\xe2\x80\xaf", 0, 0 }, { "\xe2\x81\xa5", 0, 0 },
		{ "\xe2\x81\xa6", 0, 3 }, { "\xe2\x81\xa9", 0, 3 }, { "\xe2\x81\xaa", 0, 0 }, { "\xe2\x82\xa8", 0, 0 },
		{ "\xe3\x80\xa8", 0, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(text_control(bytes_of(texts[i].text), false), texts[i].len);
		assert_int_equal(text_control(bytes_of(texts[i].text), true), texts[i].len_with_marks);
	}
}

static void a_start_is_compared_whole(void **state)
{
	(void)state;
	assert_true(text_starts("cart.state", "cart."));
	assert_true(text_starts("x", ""));
	assert_false(text_starts("car", "cart."));
}

static void hex_and_crc_are_the_usual_ones(void **state)
{
	(void)state;
	char hex[9];
	text_hex("\x00\x9f\xab\xff", 4, hex);
	assert_string_equal(hex, "009fabff");
	assert_int_equal(text_crc(bytes_of("123456789")), 0xcbf43926); /* the check value of CRC-32/ISO-HDLC */
	assert_int_equal(text_crc(BYTES(NULL, 0)), 0);
}

static void hex_is_read_whole_or_not_at_all(void **state)
{
	static const char *const wrong[] = { "", "009fab", "009fabf", "009fabff0", "009fabff00", "009fabfF", "009fabf/",
		"009fabf:", "009fabf`", "009fabfg", "/09fabff", "g09fabff", "0 9fabff" };
	uint8_t bytes[4];

	(void)state;
	assert_true(text_unhex("009fabff", bytes, sizeof(bytes)));
	assert_memory_equal(bytes, "\x00\x9f\xab\xff", sizeof(bytes));
	assert_true(text_unhex("", bytes, 0));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(text_unhex(wrong[i], bytes, sizeof(bytes)));
	for (const char *digits = "0123456789abcdef", *at = digits; *at; at++)
		assert_int_equal(text_hex_digit(*at), at - digits);
	assert_int_equal(text_hex_digit('A'), 10);
	assert_int_equal(text_hex_digit('F'), 15);
	for (const char *at = "/:@G`g \x7f\xff"; *at; at++)
		assert_int_equal(text_hex_digit(*at), -1);
	assert_int_equal(text_hex_digit('\0'), -1);
}

/* These numbers are on people's disks. A change here loses their data. */
static void hashes_are_the_same_for_ever(void **state)
{
	(void)state;
	assert_true(text_hash(BYTES(NULL, 0)) == text_hash(bytes_of("")));
	assert_true(text_hash(bytes_of("cart")) == UINT64_C(0x1f75139104926874));
	assert_true(text_hash(bytes_of("a longer key with several words")) == UINT64_C(0x914d16903ac22dd3));
	assert_true(text_hash(bytes_of("cart/123")) == UINT64_C(0xb2c4f93e250ac189)); /* eight bytes */
}

static void close_keys_hash_far_apart(void **state)
{
	(void)state;
	static unsigned low[1024], high[1024];
	for (uint64_t i = 0; i < 102400; i++) {
		uint64_t hash = text_hash(BYTES(&i, sizeof(i)));
		low[hash & 1023]++;
		high[hash >> 54]++;
	}
	for (int i = 0; i < 1024; i++) {
		assert_in_range(low[i], 40, 180); /* 100 expected; six standard deviations are 60 */
		assert_in_range(high[i], 40, 180);
	}
}

static void words_with_an_at_are_hidden(void **state)
{
	char text[] = "550 5.1.1 <ada@example.com>: unknown, ask b@c@d or @ at most";
	char whole[] = "ada@example.com", none[] = "nobody here", empty[] = "";

	(void)state;
	text_hide_addresses(text);
	assert_string_equal(text, "550 5.1.1 ****************** unknown, ask ***** or * at most");
	text_hide_addresses(whole);
	assert_string_equal(whole, "***************");
	text_hide_addresses(none);
	assert_string_equal(none, "nobody here");
	text_hide_addresses(empty);
	assert_string_equal(empty, "");
}

static void random_names_differ(void **state)
{
	(void)state;
	char a[33], b[33];
	text_random_name(a);
	text_random_name(b);
	assert_int_equal(strlen(a), 32);
	assert_int_equal(strspn(a, "0123456789abcdef"), 32);
	assert_string_not_equal(a, b);
}

static void what_is_made_plain_is_one_line_of_text(void **state)
{
	char letters[] = "gr\xc3\xbc\xc3\x9f\n\tdich\x7f", bytes[] = "a\xff\xc3\xbc\r";

	(void)state;
	text_make_plain(letters);
	assert_string_equal(letters, "gr\xc3\xbc\xc3\x9f  dich ");
	text_make_plain(bytes);
	assert_string_equal(bytes, "a??? ");
}

static void what_a_terminal_obeys_does_not_stay_in_plain_text(void **state)
{
	char c1[] = "a\xc2\x9b"
		    "2J\xc2\x80\xc2\x9f\xc2\xa0\xc2\xbb",
	     marks[] = "b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8"
		       "c\xe2\x80\x93\xe2\x80\x8f";
	char cut[] = "d\xc2", no_utf8[] = "e\xff\xc2\x9b\xe2\x80\xae\n";

	(void)state;
	text_make_plain(c1);
	assert_string_equal(c1, "a  2J    \xc2\xa0\xc2\xbb");
	text_make_plain(marks);
	assert_string_equal(marks, "b         c\xe2\x80\x93\xe2\x80\x8f");
	text_make_plain(cut);
	assert_string_equal(cut, "d?");
	text_make_plain(no_utf8);
	assert_string_equal(no_utf8, "e?????? ");
	assert_int_equal(text_control(bytes_of("\xc2\x9b"), false), 2);
	assert_int_equal(text_control(bytes_of("\xe2\x80\xae"), false), 0);
	assert_int_equal(text_control(BYTES("\xe2\x80\xae", 2), true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_fits_or_says_that_it_does_not),
		cmocka_unit_test(a_cut_never_splits_a_letter),
		cmocka_unit_test(what_is_made_plain_is_one_line_of_text),
		cmocka_unit_test(what_a_terminal_obeys_does_not_stay_in_plain_text),
		cmocka_unit_test(bytes_with_a_nul_inside_do_not_pass_as_whole),
		cmocka_unit_test(only_utf8_is_utf8),
		cmocka_unit_test(control_characters_are_found),
		cmocka_unit_test(a_control_character_at_the_beginning_says_how_long_it_is),
		cmocka_unit_test(a_start_is_compared_whole),
		cmocka_unit_test(hex_and_crc_are_the_usual_ones),
		cmocka_unit_test(hex_is_read_whole_or_not_at_all),
		cmocka_unit_test(hashes_are_the_same_for_ever),
		cmocka_unit_test(close_keys_hash_far_apart),
		cmocka_unit_test(words_with_an_at_are_hidden),
		cmocka_unit_test(random_names_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
