/* One spelling of a shopper's address, and a name for it that is not the address. */
#include "services/kit/mail/address.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static void different_spellings_become_one(void **state)
{
	static const struct {
		const char *from, *to;
	} good[] = { { "Ann@Shop.Example", "ann@shop.example" }, { "  ann@shop.example\r\n", "ann@shop.example" },
		{ "a.b+c@x.co", "a.b+c@x.co" }, { "o'hara@example.org", "o'hara@example.org" },
		{ "ann@b\xc3\xbc"
		  "cher.example",
			"ann@xn--bcher-kva.example" },
		{ "ann@B\xc3\x9c"
		  "CHER.EXAMPLE",
			"ann@xn--bcher-kva.example" },
		{ "ann@xn--bcher-kva.example", "ann@xn--bcher-kva.example" },
		{ "ann@stra\xc3\x9f"
		  "e.example",
			"ann@xn--strae-oqa.example" },
		{ "1@2.example", "1@2.example" } };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		char address[ADDRESS_MAX + 1];
		if (address_normalise(good[i].from, address) < 0)
			fail_msg("refused %s", good[i].from);
		assert_string_equal(address, good[i].to);
		char again[ADDRESS_MAX + 1];
		assert_int_equal(address_normalise(address, again), 0);
		assert_string_equal(again, address);
	}
}

static void what_cannot_stand_in_an_envelope_is_refused(void **state)
{
	static const char *const bad[] = { "", "@", "ann", "ann@", "@shop.example", "ann@localhost", "ann@shop",
		"ann@shop..example", "ann@.example", "ann@shop.example.", "ann@-shop.example", "ann@shop-.example",
		"ann@sh_op.example", "ann@1.2.3.4", "ann@[1.2.3.4]", ".ann@shop.example", "ann.@shop.example",
		"a..n@shop.example", "a n@shop.example", "\"a n\"@shop.example",
		"ann@shop.example\r\nRCPT TO:<x@y.example>", "ann\r\n@shop.example", "ann@shop.example\nx",
		"ann\x01@shop.example", "\xc3\xa4nn@shop.example", "ann@shop.example,bob@shop.example",
		"Ann <ann@shop.example>", "ann@@shop.example", "ann@shop.example bob", "ann@shop.exa\x7fmple",
		"ann@\xff\xfe.example", "ann@xn--\xc3\xbc.example",
		"ann@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@shop.example" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char address[ADDRESS_MAX + 1] = "left";
		if (address_normalise(bad[i], address) != -EINVAL)
			fail_msg("accepted %s as %s", bad[i], address);
		assert_string_equal(address, "");
	}
}

static void an_address_may_be_254_characters_and_no_more(void **state)
{
	char text[300], address[ADDRESS_MAX + 1];

	(void)state;
	for (int over = 0; over <= 1; over++) {
		memset(text, 'a', sizeof(text));
		text[64] = '@';
		for (int i = 64 + 64; i < 254 - 10; i += 64)
			text[i] = '.';
		strcpy(text + 254 + over - 8, ".example");
		assert_int_equal(strlen(text), 254 + over);
		assert_int_equal(address_normalise(text, address), over ? -EINVAL : 0);
	}
}

static void the_hash_depends_on_key_shop_and_address(void **state)
{
	char base[ADDRESS_HASH_LEN + 1], other[ADDRESS_HASH_LEN + 1];

	(void)state;
	/* printf 'demo\0ann@shop.example' | openssl dgst -sha256 -hmac key */
	address_hash(bytes_of("key"), "demo", "ann@shop.example", base);
	assert_string_equal(base, "90bef80265a52d489d216eec4bbf5ee1");
	address_hash(bytes_of("key2"), "demo", "ann@shop.example", other);
	assert_string_not_equal(base, other);
	address_hash(bytes_of("key"), "demo2", "ann@shop.example", other);
	assert_string_not_equal(base, other);
	address_hash(bytes_of("key"), "dem", "oann@shop.example", other);
	assert_string_not_equal(base, other);
}

static void the_domain_is_what_follows_the_at(void **state)
{
	(void)state;
	assert_string_equal(address_domain("ann@shop.example"), "shop.example");
	assert_string_equal(address_domain("ann"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_spellings_become_one),
		cmocka_unit_test(what_cannot_stand_in_an_envelope_is_refused),
		cmocka_unit_test(an_address_may_be_254_characters_and_no_more),
		cmocka_unit_test(the_hash_depends_on_key_shop_and_address),
		cmocka_unit_test(the_domain_is_what_follows_the_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
