/* test_bounce_tag.c: envelope senders that a bounce proves itself with */
#include "services/kit/mail/bounce_tag.h"
#include "tests/unit/cmocka_all.h"
#include <ctype.h>
#include <errno.h>

static const char bounce[] = "bounces+*@shop.example", id[] = "2.0123456789abcdef0123456789abcdef@shop.example",
		  hash[] = "00112233445566778899aabbccddeeff";

static struct bytes key(void)
{
	return bytes_of("0123456789abcdef0123456789abcdef");
}

static void made(char ret[ADDRESS_MAX + 1])
{
	assert_int_equal(bounce_address_make(key(), bounce, "demo", id, hash, ret), 0);
}

static void a_tag_that_we_made_tells_the_shopper_and_the_mail_in_any_case_of_letters(void **state)
{
	char address[ADDRESS_MAX + 1];
	struct bounce_tag tag;

	(void)state;
	made(address);
	assert_int_equal(strcspn(address, "@"), 64);
	for (int upper = 0; upper < 2; upper++) {
		for (char *c = address; upper && *c; c++)
			*c = (char)toupper((unsigned char)*c);
		assert_int_equal(bounce_address_read(key(), bounce, "demo", address, &tag), 0);
		assert_int_equal(tag.step, 2);
		assert_string_equal(tag.mail, "01234567");
		assert_string_equal(tag.address_hash, hash);
	}
}

static void no_digit_of_it_can_be_another(void **state)
{
	char address[ADDRESS_MAX + 1];
	struct bounce_tag tag;

	(void)state;
	made(address);
	for (size_t i = strlen("bounces+"); address[i] != '@'; i++) {
		char was = address[i];
		address[i] = was == '0' ? '1' : '0';
		assert_true(bounce_address_read(key(), bounce, "demo", address, &tag) < 0);
		address[i] = was;
	}
}

static void another_shop_key_or_address_reads_nothing(void **state)
{
	char address[ADDRESS_MAX + 1];
	struct bounce_tag tag;

	(void)state;
	made(address);
	assert_int_equal(bounce_address_read(key(), bounce, "other", address, &tag), -EKEYREJECTED);
	assert_int_equal(bounce_address_read(bytes_of("another"), bounce, "demo", address, &tag), -EKEYREJECTED);
	assert_int_equal(bounce_address_read(key(), "b+*@shop.example", "demo", address, &tag), -EBADMSG);
	assert_int_equal(bounce_address_read(key(), "bounces@shop.example", "demo", address, &tag), -EBADMSG);
	assert_int_equal(bounce_address_read(key(), bounce, "demo", "bounces+owner@shop.example", &tag), -EBADMSG);
	assert_int_equal(bounce_address_read(key(), bounce, "demo", "", &tag), -EBADMSG);
}

static void a_tag_tells_what_it_says_without_a_key_and_nothing_of_another_shape(void **state)
{
	char address[ADDRESS_MAX + 1];
	struct bounce_tag tag;

	(void)state;
	made(address);
	address[60] = address[60] == '0' ? '1' : '0'; /* of the signature, which is not looked at */
	assert_true(bounce_address_read_unverified(bounce, address, &tag));
	assert_int_equal(tag.step, 2);
	assert_string_equal(tag.mail, "01234567");
	assert_string_equal(tag.address_hash, hash);
	assert_false(bounce_address_read_unverified("returns+*@shop.example", address, &tag));
	address[60] = 'x';
	assert_false(bounce_address_read_unverified(bounce, address, &tag));
	assert_string_equal(tag.address_hash, "");
}

static void an_address_without_a_star_stays_as_it_is(void **state)
{
	char address[ADDRESS_MAX + 1];

	(void)state;
	assert_int_equal(bounce_address_make(key(), "back@shop.example", "demo", id, hash, address), 0);
	assert_string_equal(address, "back@shop.example");
	bounce_address_plain(bounce, address);
	assert_string_equal(address, "bounces+owner@shop.example");
}

static void a_template_leaves_room_for_the_tag(void **state)
{
	(void)state;
	assert_true(bounce_template_valid("bounces+*@shop.example"));
	assert_true(bounce_template_valid("*@bounces.shop.example"));
	assert_false(bounce_template_valid("returned+*@shop.example"));
	assert_false(bounce_template_valid("b*c*@shop.example"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tag_that_we_made_tells_the_shopper_and_the_mail_in_any_case_of_letters),
		cmocka_unit_test(no_digit_of_it_can_be_another),
		cmocka_unit_test(another_shop_key_or_address_reads_nothing),
		cmocka_unit_test(a_tag_tells_what_it_says_without_a_key_and_nothing_of_another_shape),
		cmocka_unit_test(an_address_without_a_star_stays_as_it_is),
		cmocka_unit_test(a_template_leaves_room_for_the_tag),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
