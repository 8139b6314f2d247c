/* test_bounds.c: whatever stands in a cart, it breaks no mail, fetches nothing and says nothing else */
#include "bus/base/cleanup.h"
#include "rendered.h"
#include <errno.h>

static void an_item_title_cannot_become_html(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	TEXT_COPY(cart.items[0].title, "<script>alert('x')</script>\"><img src=x>");
	TEXT_COPY(cart.items[0].picture, "https://cdn.example/a.jpg\" onerror=\"x");
	TEXT_COPY(cart.items[0].link, "javascript:alert(1)");
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	const char *html = strstr(text, "<!DOCTYPE html>");
	assert_non_null(strstr(html, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&gt;&lt;img src=x&gt;"));
	assert_null(strstr(html, "<script"));
	assert_null(strstr(html, "onerror"));
	assert_null(strstr(html, "javascript:"));
	mail_free(mail);
}

static void a_title_with_line_breaks_stays_on_its_line(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	TEXT_COPY(cart.items[0].title, "Vase\r\n.\r\nBcc: x@y.example\x7f");
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "- 2 × Vase  .  Bcc: x@y.example"));
	assert_true(mail_lines_valid(buffer_bytes(&mail->mime)));
	assert_null(strstr(buffer_text(&mail->mime), "\r\n.\r\n"));
	mail_free(mail);
}

static void long_titles_emoji_and_right_to_left_survive(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	memset(cart.items[0].title, 'W', sizeof(cart.items[0].title) - 1);
	TEXT_COPY(cart.items[1].title, "🌷💐 مزهرية \u202eevil\u202c\u2067x");
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, cart.items[0].title));
	assert_non_null(strstr(text, "<bdi>🌷💐 مزهرية evilx</bdi>"));
	assert_true(mail_lines_valid(buffer_bytes(&mail->mime)));
	mail_free(mail);
}

/* Anybody can open a checkout under a stranger's address, with any name and code. */
static void what_a_shopper_typed_is_mailed_only_as_a_name_or_a_code(void **state)
{
	static const char *const typed[] = { "Anna\r\nBcc: x@y.example", "CONGRATS! claim at https://evil.example",
		"evil.example", "You won a big prize today" };

	(void)state;
	for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
		fill_cart("EUR", "de", 999);
		TEXT_COPY(cart.first_name, typed[i]);
		TEXT_COPY(cart.discount_codes[0], typed[i]);
		cart.discount_codes_count = 1;
		struct reminder reminder = reminder_of(1);
		struct mail *mail = render(&reminder);
		_cleanup_free_ char *text = decoded(mail);
		assert_null(strstr(text, "evil"));
		assert_null(strstr(text, "Bcc"));
		assert_null(strstr(text, "prize"));
		mail_free(mail);
	}
}

static void a_link_back_leads_to_the_shop_alone(void **state)
{
	static const struct {
		const char *url;
		Platform platform;
		bool goes;
	} table[] = { { "https://shop.example/cart", PLATFORM_GENERIC, true },
		{ "https://SHOP.example:443/cart", PLATFORM_GENERIC, true },
		{ "https://checkout.shop.example/c", PLATFORM_GENERIC, true },
		{ "https://pay.other.example/c", PLATFORM_GENERIC, true }, /* listed */
		{ "https://demo.myshopify.com/c", PLATFORM_SHOPIFY, true },
		{ "https://demo.myshopify.com/c", PLATFORM_GENERIC, false },
		{ "https://evil.example/c", PLATFORM_SHOPIFY, false },
		{ "https://evilshop.example/c", PLATFORM_GENERIC, false },
		{ "https://shop.example.evil.example/c", PLATFORM_GENERIC, false },
		{ "https://shop.example@evil.example/c", PLATFORM_GENERIC, false },
		{ "https://user:word@shop.example/c", PLATFORM_GENERIC, false },
		{ "https://evil.example/https://shop.example/", PLATFORM_GENERIC, false },
		{ "https://evil.example?shop.example", PLATFORM_GENERIC, false },
		{ "https://evil.example#@shop.example", PLATFORM_GENERIC, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char why[160] = "";
		struct mail *mail = NULL;
		struct shop own = shop;
		fill_cart("EUR", "de", 999);
		TEXT_COPY(cart.recovery_url, table[i].url);
		cart.platform = table[i].platform;
		TEXT_COPY(own.hosts[0], "other.example");
		own.host_count = 1;
		struct reminder reminder = reminder_of(1);
		reminder.shop = &own;
		int r = mail_reminder(&reminder, &mail, why);
		if ((r == 0) != table[i].goes)
			fail_msg("%s: %d %s", table[i].url, r, why);
		assert_true(r == 0 || strstr(why, "host"));
		mail_free(mail);
	}
}

static void a_line_break_in_an_address_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "anna@mail.example\r\nRCPT TO:<x@y.example>", "anna@mail.example>\nx", "",
		"anna", "anna@mail.example, x@y.example" };
	fill_cart("EUR", "de", 999);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char why[160];
		struct mail *mail = NULL;
		struct reminder reminder = reminder_of(1);
		reminder.to = bad[i];
		assert_int_equal(mail_reminder(&reminder, &mail, why), -EINVAL);
	}
}

static void a_cart_that_cannot_be_returned_to_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "http://shop.example/c", "https://", "https://shop.example/a b",
		"javascript:alert(1)", "https://shop.example/\r\nx" };
	fill_cart("EUR", "de", 999);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char why[160] = "";
		struct mail *mail = NULL;
		struct reminder reminder = reminder_of(1);
		TEXT_COPY(cart.recovery_url, bad[i]);
		assert_int_equal(mail_reminder(&reminder, &mail, why), -EINVAL);
		assert_true(strlen(why) > 10);
	}
}

/* No font, no script, no style sheet, no pixel: whoever opens the mail is seen by nobody but the pictures' own hosts. */
static void nothing_is_fetched_but_the_carts_pictures_and_the_logo(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	TEXT_COPY(cart.items[1].picture, "http://cdn.example/plain.jpg");
	struct reminder reminder = reminder_of(2);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	const char *html = strstr(text, "<!DOCTYPE html>");
	assert_int_equal(occurrences(html, "src="), 1);
	assert_int_equal(occurrences(html, "src=\"https://cdn.example/vase.jpg\""), 1);
	static const char *const never[] = { "<script", "<link", "@import", "@font-face", "url(", "<iframe",
		"background=", "http://" };
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_null(strstr(html, never[i]));
	assert_int_equal(occurrences(html, "href=\"https://"), occurrences(html, "href="));
	mail_free(mail);
}

static void what_is_not_utf_8_becomes_a_question_mark(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	TEXT_COPY(cart.items[0].title, "x");
	memcpy(cart.items[0].title,
		"A\xff\xfe"
		"B\xc3(\xed\xa0\x80"
		"C\xf0\x9f\x92",
		14);
	memcpy(cart.items[0].link, "https://shop.example/\xff", 23);
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "A??B?("));
	assert_true(text_is_utf8(bytes_of(text)));
	mail_free(mail);
}

static void joined_emoji_stay_joined_and_marks_that_turn_text_go(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	TEXT_COPY(cart.items[0].title, "👩‍👩‍👧‍👦 क्‍ष \u061c\u202etxet\ufeff\u2066!\u2029end");
	TEXT_COPY(cart.items[0].variant_title, "");
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "<bdi>👩‍👩‍👧‍👦 क्‍ष txet! end</bdi>"));
	mail_free(mail);
}

static void more_items_than_fit_are_counted(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	cart.items_left_out = 7;
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_int_equal(occurrences(text, "… +7"), 2);
	mail_free(mail);
}

/* Each in its row, in the cart's order, with its own picture, link and price. */
static void a_cart_with_as_many_items_as_it_can_have_is_mailed_whole(void **state)
{
	(void)state;
	fill_cart("EUR", "de-DE", 999);
	cart.items_count = sizeof(cart.items) / sizeof(cart.items[0]);
	for (pb_size_t i = 0; i < cart.items_count; i++) {
		Item *item = &cart.items[i];
		snprintf(item->title, sizeof(item->title), "Vase %02u", i);
		snprintf(item->picture, sizeof(item->picture), "https://cdn.example/vase-%02u.jpg", i);
		snprintf(item->link, sizeof(item->link), "https://shop.example/vase-%02u", i);
		item->variant_title[0] = '\0';
		item->quantity = 1;
		item->price_minor = 1001 + i;
	}
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	const char *row = strstr(text, "<!DOCTYPE html>");
	for (pb_size_t i = 0; i < cart.items_count; i++) {
		char picture[60], link[60], title[40], price[20];
		snprintf(picture, sizeof(picture), "src=\"%s\"", cart.items[i].picture);
		snprintf(link, sizeof(link), "href=\"%s\"", cart.items[i].link);
		snprintf(title, sizeof(title), "<bdi>%s</bdi>", cart.items[i].title);
		snprintf(price, sizeof(price), "<bdi>10,%02u", 1 + i);
		assert_non_null(row = strstr(row, picture));
		assert_non_null(row = strstr(row, link));
		assert_non_null(row = strstr(row, title));
		assert_non_null(row = strstr(row, price));
	}
	assert_int_equal(occurrences(text, "<img class=\"tile\""), cart.items_count);
	mail_free(mail);
}

static void a_price_of_any_length_leaves_the_title_its_room(void **state)
{
	static const struct {
		int64_t unit;
		const char *price;
	} table[] = { { 4000, "</span></td><td" }, { INT64_C(123456789012), "</span><br><bdi>2.469.135.780,24" } };
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		fill_cart("EUR", "de-DE", table[i].unit);
		struct reminder reminder = reminder_of(1);
		struct mail *mail = render(&reminder);
		_cleanup_free_ char *text = decoded(mail);
		assert_non_null(strstr(text, table[i].price));
		assert_int_equal(strstr(text, "</span></td><td") != NULL, i == 0);
		mail_free(mail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_title_cannot_become_html),
		cmocka_unit_test(a_title_with_line_breaks_stays_on_its_line),
		cmocka_unit_test(long_titles_emoji_and_right_to_left_survive),
		cmocka_unit_test(a_link_back_leads_to_the_shop_alone),
		cmocka_unit_test(what_a_shopper_typed_is_mailed_only_as_a_name_or_a_code),
		cmocka_unit_test(a_line_break_in_an_address_is_refused),
		cmocka_unit_test(a_cart_that_cannot_be_returned_to_is_refused),
		cmocka_unit_test(a_price_of_any_length_leaves_the_title_its_room),
		cmocka_unit_test(nothing_is_fetched_but_the_carts_pictures_and_the_logo),
		cmocka_unit_test(what_is_not_utf_8_becomes_a_question_mark),
		cmocka_unit_test(joined_emoji_stay_joined_and_marks_that_turn_text_go),
		cmocka_unit_test(more_items_than_fit_are_counted),
		cmocka_unit_test(a_cart_with_as_many_items_as_it_can_have_is_mailed_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
