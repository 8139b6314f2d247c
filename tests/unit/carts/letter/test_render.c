/*
 * test_render.c: a reminder's mail, as a shopper would get it
 *
 * The goldens are whole mails in golden/ (golden.h).
 */
#include "bus/base/cleanup.h"
#include "rendered.h"
#include "tests/unit/golden.h"
#include <errno.h>

#define DIGITS "0123456789abcdef0123456789abcdef"

static void same_as_golden(const char *name, const struct mail *mail)
{
	char file[80];

	snprintf(file, sizeof(file), "%s.eml", name);
	golden_compare(file, buffer_bytes(&mail->mime));
}

static void golden_of(const char *name, const char *currency, const char *locale, int64_t unit, int step)
{
	fill_cart(currency, locale, unit);
	struct reminder reminder = reminder_of(step);
	struct mail *mail = render(&reminder);
	same_as_golden(name, mail);
	mail_free(mail);
}

static void amounts_follow_the_carts_currency_and_locale(void **state)
{
	(void)state;
	golden_of("en_usd", "USD", "en-US", 1250, 1);
	golden_of("de_eur", "EUR", "de-DE", 123456, 2);
	golden_of("ja_jpy", "JPY", "ja", 1980, 1);
	golden_of("ar_kwd", "KWD", "ar", 12500, 1);
	golden_of("fr_cad", "CAD", "fr-CA", 123456, 2);
	golden_of("hi_inr", "INR", "hi-IN", 12345600, 2);
	golden_end();
}

static void a_cart_without_locale_speaks_the_shops(void **state)
{
	(void)state;
	fill_cart("EUR", "", 123456);
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "3.703,68"));
	mail_free(mail);
}

static void the_same_reminder_makes_the_same_bytes(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	struct mail *a = render(&reminder), *b = render(&reminder);
	assert_true(bytes_equal(buffer_bytes(&a->mime), buffer_bytes(&b->mime)));
	reminder.step = 2;
	struct mail *c = render(&reminder);
	assert_string_not_equal(a->message_id, c->message_id);
	mail_free(a);
	mail_free(b);
	mail_free(c);
}

static void two_shops_with_the_same_cart_id_have_different_message_ids(void **state)
{
	(void)state;
	char a[200], b[200];
	struct shop other = shop;
	TEXT_COPY(other.name, "other");
	mail_reminder_id(BYTES("", 0), &shop, "c1", 1, a);
	mail_reminder_id(BYTES("", 0), &other, "c1", 1, b);
	assert_string_not_equal(a, b);
	assert_non_null(strstr(a, "@shop.example"));
}

static void nobody_without_the_key_can_compute_a_message_id(void **state)
{
	(void)state;
	struct bytes key = bytes_of("a key"), other = bytes_of("another");
	char local[MAIL_LOCAL_MAX], read[MAIL_LOCAL_MAX], a[200], b[200];
	mail_local_make("demo", "c1", 1, local);
	mail_reminder_id(key, &shop, "c1", 1, a);
	assert_true(mail_local_read(a, read));
	assert_string_not_equal(read, local);
	mail_reminder_id(key, &shop, "c1", 1, b);
	assert_string_equal(a, b);
	mail_reminder_id(other, &shop, "c1", 1, b);
	assert_string_not_equal(a, b);
	mail_reminder_id(key, &shop, "c1", 2, b);
	assert_string_not_equal(a + 1, b + 1);
}

static void a_message_id_and_its_tag_name_the_reminder_and_nothing_else_does(void **state)
{
	(void)state;
	static const char *const others[] = { "", "<", "1", "1.", "x", "<a@b>", "0." DIGITS, "1_" DIGITS, "11." DIGITS,
		"1." DIGITS "0", "1." DIGITS ".news@shop.example", "1." DIGITS ">", " 1." DIGITS, "<<1." DIGITS,
		"test.1." DIGITS, "1.0123456789ABCDEF0123456789abcdef", "1.0123456789abcdef0123456789abcde@" };
	static const char *const ours[] = { "2." DIGITS, "2-" DIGITS, "<2." DIGITS "@shop.example>",
		"2." DIGITS "@shop.example" };
	char local[MAIL_LOCAL_MAX], read[MAIL_LOCAL_MAX], id[200];
	mail_local_make("demo", "c1", 2, local);
	mail_reminder_id(BYTES("", 0), &shop, "c1", 2, id);
	assert_true(mail_local_read(id, read));
	assert_string_equal(read, local);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		assert_true(mail_local_read(ours[i], read));
		assert_string_equal(read, "2." DIGITS);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (mail_local_read(others[i], read) || read[0])
			fail_msg("%s names %s", others[i], read);
	}
}

static void every_header_stands_once(void **state)
{
	(void)state;
	static const char *const names[] = { "\r\nFrom: ", "\r\nTo: ", "Date: ", "\r\nMessage-ID: ", "\r\nReply-To: ",
		"\r\nSubject: ", "\r\nList-Unsubscribe: <https://bus.example/u/AbC-123_x>\r\n",
		"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n", "\r\nAuto-Submitted: auto-generated\r\n",
		"\r\nMIME-Version: 1.0\r\n", "\r\nList-Id: <reminders.demo.shop.example>\r\n" };
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (occurrences(buffer_text(&mail->mime), names[i]) != 1)
			fail_msg("%s: %d times", names[i], occurrences(buffer_text(&mail->mime), names[i]));
	assert_string_equal(mail->envelope_from, "bounce@shop.example");
	assert_string_equal(mail->envelope_to, "anna@mail.example");
	mail_free(mail);
}

static void the_owners_copy_unsubscribes_nobody(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	reminder.to = shop.owner;
	reminder.to_owner = true;
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_null(strstr(text, "List-Unsubscribe"));
	assert_null(strstr(text, reminder.unsubscribe_url));
	assert_int_equal(occurrences(text, "nothing to anna@mail.example"), 2);
	assert_non_null(strstr(text, "Subject: =?UTF-8?B?W21haWwgbWVdI")); /* "[mail me] " */
	assert_string_equal(mail->envelope_to, "owner@shop.example");
	mail_free(mail);
}

static void a_test_says_so_and_is_no_reminder(void **state)
{
	(void)state;
	char id[200];
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	reminder.test_id = "0123abcd";
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_null(strstr(text, "List-Unsubscribe"));
	assert_null(strstr(text, "List-Id"));
	assert_null(strstr(text, reminder.unsubscribe_url));
	assert_int_equal(occurrences(text, "This is a test of demo"), 2);
	assert_non_null(strstr(text, "Subject: =?UTF-8?B?W1Rlc3Rd")); /* "[Test]" */
	mail_reminder_id(BYTES("", 0), &shop, "c1", 1, id);
	assert_string_not_equal(mail->message_id, id);
	assert_string_equal(mail->message_id, "test.0123abcd@shop.example");
	mail_free(mail);
}

/* The language of the words says which way they run; numbers and amounts are the shopper's. */
static void the_language_of_the_words_is_told_to_whoever_shows_or_reads_them_aloud(void **state)
{
	(void)state;
	static const struct {
		const char *locale, *html, *align;
	} cases[] = {
		{ "ar-EG", "<html lang=\"ar\" dir=\"rtl\">", "text-align:right" },
		{ "de-CH", "<html lang=\"de\" dir=\"ltr\">", "text-align:left" },
		{ "sv-SE", "<html lang=\"de\" dir=\"ltr\">", "text-align:left" },
		{ "ja_JP", "<html lang=\"ja\" dir=\"ltr\">", "text-align:left" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill_cart("EUR", cases[i].locale, 999);
		struct reminder reminder = reminder_of(1);
		struct mail *mail = render(&reminder);
		_cleanup_free_ char *text = decoded(mail);
		assert_non_null(strstr(text, cases[i].html));
		assert_non_null(strstr(text, cases[i].align));
		mail_free(mail);
	}
}

static struct mail *render_voice(const char *words, struct reminder *reminder)
{
	static struct voice *voice;
	struct text_error error;
	char text[1000];
	voice_free(voice);
	snprintf(text, sizeof(text),
		"First reminder\nSubject: s\nBody:\n%s\n{return link}\nSecond reminder\nSubject: s\nBody:\n{return "
		"link}\n",
		words);
	if (voice_parse(text, &voice, &error) < 0)
		fail_msg("%s", error.text);
	reminder->speech.voice = voice;
	return render(reminder);
}

static void days_are_the_shops_and_speak_the_language_of_the_words(void **state)
{
	(void)state;
	static const struct {
		const char *locale, *says;
	} cases[] = {
		{ "de-AT", "<Montag, 30. November>" }, { "en-US", "<Monday, November 30>" },
		{ "en-GB", "<Monday, 30 November>" }, { "fr", "<lundi, 30 novembre>" }, { "ja", "<月曜日, 11月30日>" },
		{ "sv-SE", "<Montag, 30. November>" }, /* no Swedish words: the shop's */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill_cart("EUR", cases[i].locale, 999);
		cart.abandoned_us = INT64_C(1795993200000000); /* 23:00 UTC of the 29th: midnight in Berlin */
		struct reminder reminder = reminder_of(1);
		struct mail *mail = render_voice("<{weekday}, {date}>", &reminder);
		_cleanup_free_ char *text = decoded(mail);
		if (!strstr(text, cases[i].says))
			fail_msg("%s: %s", cases[i].locale, text);
		mail_free(mail);
	}
}

/* Days are filled in for the words that mention them: to ask whether there is one is to mention it. */
static void a_day_is_there_wherever_the_words_ask_for_it(void **state)
{
	(void)state;
	static const struct {
		const char *words, *says;
	} cases[] = {
		{ "<{if date}a day{else}no day{end}>", "<a day>" },
		{ "<{if weekday}{weekday}{end}>", "<Montag>" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill_cart("EUR", "de", 999);
		cart.abandoned_us = INT64_C(1795993200000000);
		struct reminder reminder = reminder_of(1);
		struct mail *mail = render_voice(cases[i].words, &reminder);
		_cleanup_free_ char *text = decoded(mail);
		if (!strstr(text, cases[i].says))
			fail_msg("%s: %s", cases[i].words, text);
		mail_free(mail);
	}
}

static void words_by_number_follow_the_languages_grammar(void **state)
{
	(void)state;
	static const struct {
		const char *language, *words, *says;
		uint32_t pieces;
	} cases[] = {
		{ "en", "<{item count: one \"one\", other \"# things\"}>", "<one>", 1 },
		{ "en", "<{item count: one \"one\", other \"# things\"}>", "<1,234 things>", 1234 },
		{ "pl", "<{item count: one \"rzecz\", few \"# rzeczy\", other \"# rzeczy.\"}>", "<3 rzeczy>", 3 },
		{ "ar-EG", "<{item count: two \"اثنان\", few \"# أشياء\", other \"-\"}>", "<٣ أشياء>", 3 },
		{ "ar-EG", "<{item count: two \"اثنان\", few \"# أشياء\", other \"-\"}>", "<اثنان>", 2 },
		{ "hi-u-nu-deva", "<{item count}>", "<१,२३४>", 1234 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill_cart("EUR", cases[i].language, 1);
		cart.items_count = 1;
		cart.items[0].quantity = cases[i].pieces;
		struct reminder reminder = reminder_of(1);
		locale_canonical(cases[i].language, reminder.speech.language);
		struct mail *mail = render_voice(cases[i].words, &reminder);
		_cleanup_free_ char *text = decoded(mail);
		*strstr(text, "--=_") = 0; /* what is before the parts has no words */
		_cleanup_free_ char *plain = strdup(text + strlen(text) + 1);
		*strstr(plain, "<!DOCTYPE") = 0;
		_cleanup_(buffer_free) struct buffer bare = { 0 };
		for (const char *at = plain; *at; at++)
			if (!text_starts(at, "\u2068") && !text_starts(at, "\u2069"))
				buffer_add(&bare, at, 1);
			else
				at += 2;
		if (!strstr(buffer_text(&bare), cases[i].says))
			fail_msg("%zu: %s", i, buffer_text(&bare));
		mail_free(mail);
	}
}

static void the_logo_stands_in_place_of_the_title_and_only_https_does(void **state)
{
	(void)state;
	struct shop with_logo = shop;
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	reminder.shop = &with_logo;
	with_logo.logo_width = 120;
	TEXT_COPY(with_logo.logo, "https://shop.example/logo.png?a=1&b=2");
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "<img width=\"120\""));
	assert_non_null(strstr(text, "src=\"https://shop.example/logo.png?a=1&amp;b=2\" alt=\"Blumen Hüber\">"));
	mail_free(mail);
	TEXT_COPY(with_logo.logo, "http://shop.example/logo.png");
	mail = render(&reminder);
	_cleanup_free_ char *plain = decoded(mail);
	assert_null(strstr(plain, "logo.png"));
	assert_non_null(strstr(plain, "<bdi>Blumen Hüber</bdi>"));
	mail_free(mail);
}

static void bold_words_and_links_are_in_both_parts(void **state)
{
	(void)state;
	struct shop own = shop;
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	reminder.shop = &own;
	TEXT_COPY(own.url, "https://shop.example");
	struct mail *mail = render_voice("Only **today & {total}**: [hours <x>](https://shop.example/h?a=1&b=2), "
					 "[rival](https://rival.example/).",
		&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "Only *today & "));
	assert_non_null(strstr(text, "hours <x> <https://shop.example/h?a=1&b=2>, rival."));
	assert_non_null(strstr(text, "Only <b>today &amp; <bdi"));
	assert_non_null(strstr(text,
		"</bdi></b>: <a style=\"color:inherit\" "
		"href=\"https://shop.example/h?a=1&amp;b=2\">hours &lt;x&gt;</a>, rival."));
	assert_null(strstr(text, "rival.example"));
	mail_free(mail);
}

static void the_button_has_the_shops_colour(void **state)
{
	(void)state;
	struct shop own = shop;
	fill_cart("EUR", "de", 999);
	struct reminder reminder = reminder_of(1);
	reminder.shop = &own;
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *plain = decoded(mail);
	assert_non_null(strstr(plain, "background-color:" ACCENT_PLAIN ";color:#ffffff"));
	mail_free(mail);
	TEXT_COPY(own.accent, "#a3284f");
	mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "background-color:#a3284f;color:#ffffff"));
	assert_null(strstr(text, ACCENT_PLAIN));
	mail_free(mail);
}

/* In a mail with pictures an item that has none shows its first letter: there is no hole, and titles stand below one another. */
static void an_item_without_a_picture_shows_its_first_letter(void **state)
{
	(void)state;
	fill_cart("EUR", "de", 999);
	TEXT_COPY(cart.items[0].picture, "https://shop.example/p.png");
	TEXT_COPY(cart.items[1].picture, "");
	TEXT_COPY(cart.items[1].title, "„Ähre“ <b>");
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "src=\"https://shop.example/p.png\">"));
	assert_non_null(strstr(text, "\">Ä</div>"));
	mail_free(mail);
	TEXT_COPY(cart.items[0].picture, "http://shop.example/p.png");
	mail = render(&reminder);
	_cleanup_free_ char *bare = decoded(mail);
	assert_null(strstr(bare, "class=\"tile\""));
	mail_free(mail);
}

static void a_footer_that_the_owner_left_out_speaks_the_language_of_his_words(void **state)
{
	(void)state;
	fill_cart("EUR", "fr", 999);
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render_voice("Bonjour", &reminder);
	_cleanup_free_ char *text = decoded(mail);
	assert_non_null(strstr(text, "Ne plus recevoir ces e-mails: https://bus.example/u/AbC-123_x"));
	assert_non_null(strstr(text, "Marktplatz 1"));
	mail_free(mail);
}

static void an_amount_that_nobody_gave_is_left_out(void **state)
{
	static const char *const languages[] = { "en", "de", "fr", "ar" };

	(void)state;
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		for (int step = 1; step <= 2; step++) {
			fill_cart("USD", languages[i], 100);
			cart.total_minor = 0;
			cart.items[1].price_minor = 0;
			struct reminder reminder = reminder_of(step);
			struct mail *mail = render(&reminder);
			char *text = decoded(mail);
			assert_null(strstr(text, "0.00"));
			assert_null(strstr(text, "0,00\u00a0"));
			assert_null(strstr(text, "Total:"));
			assert_null(strstr(text, "Summe:"));
			assert_null(strstr(text, "</b>: "));
			free(text);
			mail_free(mail);
		}
}

static void without_a_currency_no_amount_is_written(void **state)
{
	(void)state;
	fill_cart("", "en", 100);
	struct reminder reminder = reminder_of(1);
	struct mail *mail = render(&reminder);
	char *text = decoded(mail);
	assert_null(strstr(text, "1.00"));
	assert_null(strstr(text, "2.00"));
	assert_null(strstr(text, "Total:"));
	free(text);
	mail_free(mail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_amount_that_nobody_gave_is_left_out),
		cmocka_unit_test(without_a_currency_no_amount_is_written),
		cmocka_unit_test(amounts_follow_the_carts_currency_and_locale),
		cmocka_unit_test(a_cart_without_locale_speaks_the_shops),
		cmocka_unit_test(the_same_reminder_makes_the_same_bytes),
		cmocka_unit_test(two_shops_with_the_same_cart_id_have_different_message_ids),
		cmocka_unit_test(nobody_without_the_key_can_compute_a_message_id),
		cmocka_unit_test(a_message_id_and_its_tag_name_the_reminder_and_nothing_else_does),
		cmocka_unit_test(every_header_stands_once),
		cmocka_unit_test(the_owners_copy_unsubscribes_nobody),
		cmocka_unit_test(a_test_says_so_and_is_no_reminder),
		cmocka_unit_test(the_language_of_the_words_is_told_to_whoever_shows_or_reads_them_aloud),
		cmocka_unit_test(days_are_the_shops_and_speak_the_language_of_the_words),
		cmocka_unit_test(a_day_is_there_wherever_the_words_ask_for_it),
		cmocka_unit_test(words_by_number_follow_the_languages_grammar),
		cmocka_unit_test(the_logo_stands_in_place_of_the_title_and_only_https_does),
		cmocka_unit_test(bold_words_and_links_are_in_both_parts),
		cmocka_unit_test(the_button_has_the_shops_colour),
		cmocka_unit_test(an_item_without_a_picture_shows_its_first_letter),
		cmocka_unit_test(a_footer_that_the_owner_left_out_speaks_the_language_of_his_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
