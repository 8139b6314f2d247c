/* Amounts: exactly, or not at all. */
#include "services/kit/money/money.h"
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

static void decimal_text_is_read_exactly(void **state)
{
	static const struct {
		const char *text, *currency;
		int64_t minor;
	} good[] = { { "12.5", "EUR", 1250 }, { "12.50", "USD", 1250 }, { "12.500", "USD", 1250 }, { "0", "EUR", 0 },
		{ "-0.01", "EUR", -1 }, { "-3.00", "USD", -300 }, { "1200", "JPY", 1200 }, { "1200.00", "JPY", 1200 },
		{ "1.234", "KWD", 1234 }, { "1.2", "KWD", 1200 }, { "0.07", "USD", 7 }, { "007", "USD", 700 },
		{ "9999999999999.99", "USD", INT64_C(999999999999999) },
		{ "999999999999999", "JPY", INT64_C(999999999999999) }, { "0000000000000000000001.00", "USD", 100 },
		{ "1234.50", "RSD", 123450 }, { "1.5", "HUF", 150 } };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		int64_t minor = 42;
		if (money_parse(good[i].text, good[i].currency, &minor) != 0 || minor != good[i].minor)
			fail_msg("%s %s: %lld", good[i].text, good[i].currency, (long long)minor);
	}
}

static void what_is_no_plain_decimal_number_is_refused(void **state)
{
	static const char *const bad[] = { "", "-", ".", "1.", ".5", "1e3", "1E3", "0x10", "+1", " 1", "1 ", "1,5",
		"1.5.0", "--1", "1-", "NaN", "inf", "1_000", "1'000", "١٢", "1.5e-1", "12.5 EUR", "$1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int64_t minor = 42;
		if (money_parse(bad[i], "USD", &minor) != -EINVAL)
			fail_msg("accepted \"%s\"", bad[i]);
		assert_int_equal(minor, 42);
	}
}

static void what_would_be_rounded_or_is_nobodys_cart_is_refused(void **state)
{
	int64_t minor = 42;

	(void)state;
	assert_int_equal(money_parse("12.345", "USD", &minor), -ERANGE);
	assert_int_equal(money_parse("1200.5", "JPY", &minor), -ERANGE);
	assert_int_equal(money_parse("1.2345", "KWD", &minor), -ERANGE);
	assert_int_equal(money_parse("10000000000000.00", "USD", &minor), -ERANGE);
	assert_int_equal(money_parse("-10000000000000.00", "USD", &minor), -ERANGE);
	assert_int_equal(money_parse("99999999999999999999999999999999999999", "JPY", &minor), -ERANGE);
	assert_int_equal(minor, 42);
}

static void only_currencies_that_exist_are_valid(void **state)
{
	static const char *const good[] = { "EUR", "USD", "JPY", "KWD", "RSD", "XOF", "INR" };
	static const char *const bad[] = { "", "EU", "EURO", "eur", "ZZZ", "XXX", "XTS", "XAU", "E\xc3\x9cR", "123" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(money_currency_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (money_currency_valid(bad[i]))
			fail_msg("accepted %s", bad[i]);
	assert_int_equal(money_digits("EUR"), 2);
	assert_int_equal(money_digits("JPY"), 0);
	assert_int_equal(money_digits("KWD"), 3);
}

static void plain_text_reads_back_as_the_same_amount(void **state)
{
	static const char *const currencies[] = { "EUR", "JPY", "KWD", "RSD" };

	(void)state;
	srandom(3);
	for (int i = 0; i < 4000; i++) {
		int64_t minor = (int64_t)(((uint64_t)random() << 31 ^ (uint64_t)random()) % UINT64_C(1000000000000000)),
			back;
		char text[40];
		minor = i % 2 ? minor : -minor;
		money_plain(minor, currencies[i % 4], text, sizeof(text));
		assert_int_equal(money_parse(text, currencies[i % 4], &back), 0);
		assert_int_equal(back, minor);
	}
}

static void assert_shown(int64_t minor, const char *currency, const char *locale, const char *expected)
{
	char shown[64];

	money_format(minor, currency, locale, shown, sizeof(shown));
	assert_string_equal(shown, expected);
}

static void shoppers_see_their_own_way_of_writing_money(void **state)
{
	(void)state;
	assert_shown(1250, "EUR", "de-DE", "12,50\u00a0€");
	assert_shown(123456, "USD", "en-US", "$1,234.56");
	assert_shown(-300, "USD", "en_US", "-$3.00");
	assert_shown(6000, "JPY", "ja-JP", "￥6,000");
	assert_shown(1234, "KWD", "en-US", "KWD\u00a01.234");
	assert_shown(123456, "EUR", "fr", "1\u202f234,56\u00a0€");
	assert_shown(123450, "RSD", "en-US", "RSD\u00a01,234.50");
	assert_shown(123405, "RSD", "en-US", "RSD\u00a01,234.05");
	assert_shown(123400, "RSD", "en-US",
		"RSD\u00a01,234"); /* where nobody writes paras, none are written that are none */
	assert_shown(1234, "KWD", "ar-EG", "\u200f١٫٢٣٤\u00a0د.ك.\u200f");
	assert_shown(6000, "JPY", "ar-EG", "\u200f٦٬٠٠٠\u00a0JP¥");
	assert_shown(1234500, "BHD", "de-DE", "1.234,500\u00a0BHD");
	assert_shown(123456789, "INR", "hi-IN", "₹12,34,567.89");
	assert_shown(123456789, "INR", "hi-u-nu-deva", "₹१२,३४,५६७.८९");
	assert_shown(6000, "JPY", "hi-IN", "JP¥6,000");
	assert_shown(INT64_C(999999999999999), "USD", "en-US", "$9,999,999,999,999.99");
}

static void something_readable_is_shown_whatever_is_asked(void **state)
{
	char small[16];

	(void)state;
	assert_shown(1250, "??", "de-DE", "12.50 ??");
	assert_shown(1250, "USD", "no such locale at all, and far too long to be one, I dare say, whoever made it up",
		"$12.50");
	assert_shown(1250, "USD", "", "US$\u00a012.50");
	/* ICU's own name of this locale has 62 bytes, and of the next 64, which is one more than there is room for */
	assert_shown(1250, "EUR", "de-DE-u-ca-gregory-nu-latn-hc-h23-ms-metric", "12,50\u00a0€");
	assert_shown(1250, "EUR", "de-DE-u-ca-gregory-nu-latn-hc-h23-fw-mon-lb-strict", "€12.50");
	for (int room = 1; room <= 10; room++) { /* "$1,234.56" takes ten */
		memset(small, 'x', sizeof(small));
		money_format(123456, "USD", "en-US", small, room);
		assert_true(memchr(small, '\0', (size_t)room));
	}
	assert_string_equal(small, "$1,234.56");
}

static void a_sum_is_as_large_as_an_amount_can_be(void **state)
{
	static const int64_t most = INT64_C(999999999999999);
	static const struct {
		int64_t sum, more;
		bool fits;
	} cases[] = { { 0, 0, true }, { 1, 2, true }, { most - 1, 1, true }, { most, 0, true }, { most, 1, false },
		{ most, most, false }, { most, -most, true }, { 1 - most, -1, true }, { -most, -1, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t sum = cases[i].sum;
		assert_int_equal(money_add(&sum, cases[i].more), cases[i].fits);
		assert_int_equal(sum, cases[i].sum + (cases[i].fits ? cases[i].more : 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_is_as_large_as_an_amount_can_be),
		cmocka_unit_test(decimal_text_is_read_exactly),
		cmocka_unit_test(what_is_no_plain_decimal_number_is_refused),
		cmocka_unit_test(what_would_be_rounded_or_is_nobodys_cart_is_refused),
		cmocka_unit_test(only_currencies_that_exist_are_valid),
		cmocka_unit_test(plain_text_reads_back_as_the_same_amount),
		cmocka_unit_test(shoppers_see_their_own_way_of_writing_money),
		cmocka_unit_test(something_readable_is_shown_whatever_is_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
