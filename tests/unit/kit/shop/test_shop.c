/* shop.conf: complete and right, or refused with its line. */
#include "services/kit/shop/shop.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const char good[] = "# a shop\n"
			   "[shop]\ntime-zone = Europe/Berlin\n"
			   "currency = EUR\nlocale = de-DE\n"
			   "title = Blumen Huber\n"
			   "url = https://shop.example\n"
			   "[mail]\nfrom = Blumen Huber <Shop@Shop.example>\n";

static struct shop parsed(const char *text)
{
	struct config_error error;
	struct shop shop;

	if (shop_parse(text, "demo", "demo/shop.conf", &shop, &error) < 0)
		fail_msg("%s", error.text);
	return shop;
}

static void the_least_that_a_shop_needs(void **state)
{
	struct shop shop = parsed(good);

	(void)state;
	assert_string_equal(shop.name, "demo");
	assert_string_equal(shop.zone, "Europe/Berlin");
	assert_string_equal(shop.currency, "EUR");
	assert_string_equal(shop.locale, "de-DE");
	assert_string_equal(shop.title, "Blumen Huber");
	assert_string_equal(shop.url, "https://shop.example");
	assert_string_equal(shop.from, "Blumen Huber <Shop@Shop.example>");
	assert_string_equal(shop.from_address, "shop@shop.example");
	assert_string_equal(shop.bounce, "shop@shop.example");
	assert_string_equal(shop.reply_to, shop.from);
	assert_string_equal(shop.owner, "");
	assert_int_equal(shop.consent, CONSENT_ALL);
	assert_int_equal(shop.never_count, 0);
	assert_true(shop.count_clicks);
}

static void a_colour_that_hides_its_words_is_refused_with_one_that_does_not(void **state)
{
	struct config_error error;
	struct shop shop;
	char text[1000];

	(void)state;
	assert_string_equal(parsed(good).accent, ACCENT_PLAIN);
	snprintf(text, sizeof(text), "%saccent = #A3284f\n", good);
	assert_string_equal(parsed(text).accent, "#A3284f");
	snprintf(text, sizeof(text), "%saccent = #e2738a\n", good);
	assert_int_equal(shop_parse(text, "demo", "demo/shop.conf", &shop, &error), -EINVAL);
	assert_non_null(strstr(
		error.text, "demo/shop.conf:10: [mail] accent: expected a colour on which white words can be read"));
	assert_non_null(strstr(error.text, "of #e2738a it is 2.9 to 1, and #b25a6d would do"));
	snprintf(text, sizeof(text), "%saccent = #777777\n", good); /* 4.48: never rounded up to what would be enough */
	assert_int_equal(shop_parse(text, "demo", "demo/shop.conf", &shop, &error), -EINVAL);
	assert_non_null(strstr(error.text, "of #777777 it is 4.4 to 1"));
	snprintf(text, sizeof(text), "%saccent = red\n", good);
	assert_int_equal(shop_parse(text, "demo", "demo/shop.conf", &shop, &error), -EINVAL);
	assert_non_null(strstr(error.text, "expected a colour as #1c5fb8"));
}

static void all_that_a_shop_may_say(void **state)
{
	char text[2000];

	(void)state;
	snprintf(text, sizeof(text), "%s%s", good,
		"reply-to = Hello <hello@shop.example>\nbounce = bounces@mail.shop.example\n"
		"postal-address = Hauptstraße 1, Berlin\nowner = Anna@Shop.example\nconsent = marketing\n"
		"never = @Rival.example\nnever = bob@customer.example\n"
		"dkim-selector = mail2026\ndkim-selector = s1.eu\n");
	struct shop shop = parsed(text);
	assert_string_equal(shop.reply_to, "Hello <hello@shop.example>");
	assert_string_equal(shop.bounce, "bounces@mail.shop.example");
	assert_string_equal(shop.postal_address, "Hauptstraße 1, Berlin");
	assert_string_equal(shop.owner, "anna@shop.example");
	assert_int_equal(shop.consent, CONSENT_MARKETING);
	assert_int_equal(shop.never_count, 2);
	assert_int_equal(shop.dkim_selector_count, 2);
	assert_string_equal(shop.dkim_selectors[1], "s1.eu");
	assert_true(shop_never_mails(&shop, "anyone@rival.example"));
	assert_true(shop_never_mails(&shop, "anyone@mail.rival.example"));
	assert_true(shop_never_mails(&shop, "bob@customer.example"));
	assert_false(shop_never_mails(&shop, "ann@customer.example"));
	assert_false(shop_never_mails(&shop, "ann@arrival.example"));
	assert_false(shop_never_mails(&shop, "ann@rival.example.org"));
}

static void a_selector_that_cannot_be_one_is_refused(void **state)
{
	struct config_error error;
	struct shop shop;
	char text[2000];

	(void)state;
	snprintf(text, sizeof(text), "%s%s", good, "dkim-selector = a b\n");
	assert_int_equal(shop_parse(text, "demo", "demo/shop.conf", &shop, &error), -EINVAL);
	assert_non_null(strstr(error.text, "[mail] dkim-selector: expected a selector"));
}

static void whom_to_chase_and_how_much_to_send(void **state)
{
	char text[2000];

	(void)state;
	struct shop plain = parsed(good);
	assert_int_equal(plain.payment_count + plain.tag_count + plain.product_count + plain.staff_count, 0);
	assert_int_equal(plain.most_a_minute + plain.most_a_day, 0);
	assert_false(plain.chase_tests);
	snprintf(text, sizeof(text), "%s%s", good,
		"consent = customers\n[payment]\nbought = wc-preorder\nbought = deposit\nnot-yet = on-hold\n"
		"ignore = quote\n[exclude]\ntest-orders = no\ntag = Wholesale\nproduct = sku: GIFT-*\n"
		"product = title:*gutschein*\nstaff = @shop.example\n[send]\nper-minute = 30\nper-day = 500\n");
	struct shop shop = parsed(text);
	assert_int_equal(shop.consent, CONSENT_CUSTOMERS);
	assert_int_equal(shop.payment_count, 4);
	assert_string_equal(shop.payments[2].status, "on-hold");
	assert_int_equal(shop.payments[2].meaning, PAYMENT_NOT_YET);
	assert_true(shop.chase_tests);
	assert_string_equal(shop.tags[0], "Wholesale");
	assert_int_equal(shop.products[0].field, PRODUCT_SKU);
	assert_string_equal(shop.products[0].pattern, "GIFT-*");
	assert_true(shop_employs(&shop, "ann@office.shop.example"));
	assert_false(shop_employs(&shop, "ann@customer.example"));
	assert_int_equal(shop.most_a_minute, 30);
	assert_int_equal(shop.most_a_day, 500);
}

/* One line of the good file replaced (or, with nothing, left out). */
static void without(const char *key, const char *instead, char *ret, size_t room)
{
	const char *line = strstr(good, key);
	assert_non_null(line);
	const char *rest = strchr(line, '\n') + 1;
	snprintf(ret, room, "%.*s%s%s", (int)(line - good), good, instead, rest);
}

static void what_is_missing_or_wrong_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *key, *instead, *says;
	} bad[] = {
		{ "time-zone", "", "time-zone is missing" },
		{ "time-zone", "time-zone = Europe/Berln\n",
			"demo/shop.conf:3: [shop] time-zone: expected a time zone" },
		{ "time-zone", "time-zone = GMT+2\n", "demo/shop.conf:3" },
		{ "time-zone", "time-zone =\n", "expected a time zone" },
		{ "currency", "", "currency is missing" },
		{ "currency", "currency = euro\n", "demo/shop.conf:4: [shop] currency: expected a currency code" },
		{ "locale", "locale = Deutsch!\n", "demo/shop.conf:5: [shop] locale: expected a language" },
		{ "locale", "locale = xx-YY\n", "demo/shop.conf:5" },
		{ "title", "", "title is missing" },
		{ "url", "url = shop.example\n", "demo/shop.conf:7: [shop] url: expected the storefront's URL" },
		{ "url", "url = javascript:alert(1)\n", "demo/shop.conf:7" },
		{ "url", "url = https://u:p@shop.example\n", "demo/shop.conf:7" },
		{ "from", "", "from is missing" },
		{ "from", "from = Blumen Huber\n", "demo/shop.conf:9: [mail] from: expected a mail address" },
		{ "from", "from = A <a@b.example> <c@d.example>\n", "demo/shop.conf:9" },
		{ "from", "from = a@b.example\nconsent = maybe\n",
			"demo/shop.conf:10: [mail] consent: expected all, customers or marketing" },
		{ "from", "from = a@b.example\n[payment]\nbought = paid\nnot-yet = PAID\n",
			"demo/shop.conf:12: [payment] not-yet: \"PAID\" was given a meaning already" },
		{ "from", "from = a@b.example\n[exclude]\nproduct = sku:A\nproduct = gift\n",
			"demo/shop.conf:12: [exclude] product: expected sku:, id:, vendor: or title:" },
		{ "from", "from = a@b.example\n[exclude]\nproduct = title:\n",
			"demo/shop.conf:11: [exclude] product: expected" },
		{ "from", "from = a@b.example\n[exclude]\ntest-orders = maybe\n",
			"demo/shop.conf:11: [exclude] test-orders: expected yes or no" },
		{ "from", "from = a@b.example\n[exclude]\nstaff = us\n",
			"demo/shop.conf:11: [exclude] staff: expected a mail address or @domain" },
		{ "from", "from = a@b.example\n[send]\nper-day = many\n",
			"demo/shop.conf:11: [send] per-day: expected a whole number of mails from 0" },
		{ "from", "from = a@b.example\nnever = x@y.example\nnever = rival\n",
			"demo/shop.conf:11: [mail] never: expected a mail" },
		{ "from", "from = a@b.example\nowner = nobody\n", "demo/shop.conf:10: [mail] owner" },
		{ "from", "form = a@b.example\n", "did you mean \"from\"" },
	};
	struct config_error error;
	struct shop shop;
	char text[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		without(bad[i].key, bad[i].instead, text, sizeof(text));
		if (shop_parse(text, "demo", "demo/shop.conf", &shop, &error) != -EINVAL)
			fail_msg("accepted %s", text);
		if (!strstr(error.text, bad[i].says))
			fail_msg("%s\nsays %s\nnot  %s", text, error.text, bad[i].says);
	}
}

static void a_shops_name_is_safe_in_paths_and_links(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "A", "a_b", "-a", "a-", "a b", "ä",
		"a1234567890123456789012345678901234567890" };
	struct config_error error;
	struct shop shop;

	(void)state;
	assert_true(shop_name_valid("demo") && shop_name_valid("blumen-huber-2"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(shop_name_valid(bad[i]));
		assert_int_equal(shop_parse(good, bad[i], "x/shop.conf", &shop, &error), -EINVAL);
		assert_non_null(strstr(error.text, "shop name"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_that_a_shop_needs),
		cmocka_unit_test(a_colour_that_hides_its_words_is_refused_with_one_that_does_not),
		cmocka_unit_test(all_that_a_shop_may_say),
		cmocka_unit_test(a_selector_that_cannot_be_one_is_refused),
		cmocka_unit_test(whom_to_chase_and_how_much_to_send),
		cmocka_unit_test(what_is_missing_or_wrong_is_refused_with_its_line),
		cmocka_unit_test(a_shops_name_is_safe_in_paths_and_links),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
