/* test_page.c: the unsubscribe page */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "given.h"
#include "services/kit/endpoint/page.h"
#include "services/kit/web/form.h"
#include "services/kit/web/html.h"
#include "services/platform/gateway/action_page.h"
#include <stdio.h>

static enum page_post posted(const char *type, const char *body)
{
	int64_t undo_us;

	return page_posted(type, bytes_of(body), &undo_us);
}

static void write_page(enum page page, const char *language, const char *shop, int64_t undo_us, struct buffer *ret)
{
	page_write(page,
		&(struct page_view){ .texts = page_texts_for(language, NULL), .shop = shop, .undo_us = undo_us }, ret);
}

static void a_mailbox_and_the_button_unsubscribe(void **state)
{
	static const char form[] = "application/x-www-form-urlencoded";

	(void)state;
	assert_int_equal(posted(form, "List-Unsubscribe=One-Click"), POST_ONE_CLICK);
	assert_int_equal(posted(form, "List-Unsubscribe=One-Click\r\n"), POST_ONE_CLICK);
	assert_int_equal(posted(NULL, "list-unsubscribe=one-click"), POST_ONE_CLICK);
	assert_int_equal(posted(form, "a=b&List-Unsubscribe=One-Click&c"), POST_ONE_CLICK);
	assert_int_equal(posted(form, "unsubscribe=yes"), POST_BUTTON);
	assert_int_equal(posted("multipart/form-data; boundary=xYz",
				 "--xYz\r\nContent-Disposition: form-data; "
				 "name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--xYz--\r\n"),
		POST_ONE_CLICK);
}

static void anything_else_posted_unsubscribes_nobody(void **state)
{
	(void)state;
	assert_int_equal(posted(NULL, ""), POST_NOTHING);
	assert_int_equal(posted(NULL, "List-Unsubscribe=One-Clicks"), POST_NOTHING);
	assert_int_equal(posted(NULL, "xList-Unsubscribe=One-Click"), POST_NOTHING);
	assert_int_equal(posted(NULL, "unsubscribe=no"), POST_NOTHING);
	assert_int_equal(posted("application/json", "{}"), POST_NOTHING);
	assert_int_equal(posted("multipart/form-data; boundary=x", "--x--\r\n"), POST_NOTHING);
	assert_int_equal(page_posted(NULL, BYTES(NULL, 0), &(int64_t){ 0 }), POST_NOTHING);
}

static void assert_shows(struct buffer *html, const char *text, size_t len)
{
	struct buffer shown = { 0 };
	char words[1000];

	snprintf(words, sizeof(words), "%.*s", (int)len, text);
	html_escape(words, &shown);
	if (!words[0] || !strstr(buffer_text(html), buffer_text(&shown)))
		fail_msg("\"%s\" is not on the page:\n%s", words, buffer_text(html));
	buffer_free(&shown);
}

/* Both what stands before and behind the hole of a sentence. */
static void assert_shows_sentence(struct buffer *html, const char *text)
{
	const char *hole = strchr(text, '{');

	assert_shows(html, text, hole ? (size_t)(hole - text) : strlen(text));
	if (hole && strchr(hole, '}')[1])
		assert_shows(html, strchr(hole, '}') + 1, 100);
}

static void check_owners_pages(const struct action_texts *texts, AdminVerb verb, const struct action_words *words)
{
	const struct admin_link link = { .verb = verb,
		.cart_id = "c-1",
		.address_hash = "00112233445566778899aabbccddeeff",
		.expires_us = INT64_C(1767225600000000) };
	const struct action_view view = {
		.link = &link, .shop = "Tea & Co", .zone = "UTC", .locale = texts->language, .used_us = 1767225600000000
	};
	const struct {
		enum action_page page;
		bool names_target;
		const char *sentences[5];
	} rows[] = {
		{ ACTION_ASK, true, { words->ask, words->button, texts->until } },
		{ ACTION_ASK_REASON, true, { words->ask, words->button, texts->reason_missing, texts->until } },
		{ ACTION_DONE, true, { texts->done_head, words->done } },
		{ ACTION_USED, true, { texts->used_head, words->done, texts->used_at } },
		{ ACTION_EXPIRED, true, { texts->expired_head, texts->expired, texts->expired_at } },
		{ ACTION_BAD_LINK, false, { texts->bad_head, texts->bad } },
		{ ACTION_NOT_NOW, false, { texts->later_head, texts->later } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer html = { 0 };

		action_page_write(rows[i].page, &view, &html);
		for (size_t at = 0; rows[i].sentences[at]; at++)
			assert_shows_sentence(&html, rows[i].sentences[at]);
		if (rows[i].names_target) {
			assert_shows(&html, "Tea & Co", 100);
			assert_shows(&html, "c-1", 100);
		}
		buffer_free(&html);
	}
}

static void each_of_the_owners_pages_says_all_its_words_in_each_language(void **state)
{
	(void)state;
	for (const struct action_texts *texts = action_texts; texts->language; texts++) {
		check_owners_pages(texts, ADMIN_SUPPRESS_CART, &texts->suppress);
		check_owners_pages(texts, ADMIN_WRITE_OFF, &texts->write_off);
		check_owners_pages(texts, ADMIN_UNSUBSCRIBE, &texts->unsubscribe);
		check_owners_pages(texts, ADMIN_LIFT_SUPPRESSION, &texts->lift);
	}
}

static void a_shops_name_cannot_become_markup(void **state)
{
	struct buffer html = { 0 };

	(void)state;
	write_page(PAGE_ASK, "en", "<script>alert(\"1\")</script> & 'Söhne'", 0, &html);
	assert_null(strstr(buffer_text(&html), "<script>"));
	assert_non_null(
		strstr(buffer_text(&html), "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;Söhne&#39;"));
	buffer_free(&html);
}

static void the_page_needs_no_scripts_and_loads_nothing(void **state)
{
	struct buffer html = { 0 };

	(void)state;
	for (int page = PAGE_ASK; page <= PAGE_BAD_RETURN; page++)
		write_page((enum page)page, "en", "Demo", 77, &html);
	assert_null(strstr(buffer_text(&html), "src="));
	assert_null(strstr(buffer_text(&html), "href="));
	assert_null(strstr(buffer_text(&html), "script"));
	assert_non_null(strstr(buffer_text(&html), "<form method=\"post\">"));
	buffer_free(&html);
}

static void the_page_that_says_done_offers_to_take_it_back(void **state)
{
	struct buffer html = { 0 };
	int64_t undo_us;

	(void)state;
	write_page(PAGE_DONE, "en", "Demo", 1763650800000000, &html);
	assert_non_null(strstr(buffer_text(&html), "name=\"undo\" value=\"1763650800000000\""));
	buffer_clear(&html);
	write_page(PAGE_DONE, "en", "Demo", 0, &html); /* listed for another reason */
	assert_null(strstr(buffer_text(&html), "<form"));
	buffer_free(&html);
	assert_int_equal(page_posted(NULL, bytes_of("undo=1763650800000000\r\n"), &undo_us), POST_UNDO);
	assert_int_equal(undo_us, 1763650800000000);
}

static void garbage_takes_nothing_back(void **state)
{
	static const char *const garbage[] = { "undo=", "undo", "undo=0", "undo=-5", "undo=+5", "undo=5x", "undo= 5",
		"undo=%", "undo=%3", "undo=%zz", "undo=%00", "xundo=5", "undo=99999999999999999999999999", "&&&&=&undo",
		"undo=\xff\xfe" };

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++)
		assert_int_equal(posted(NULL, garbage[i]), POST_NOTHING);
}

static void a_forms_value_is_decoded_or_refused(void **state)
{
	static const struct {
		const char *body, *value; /* NULL: none */
	} rows[] = { { "reason=asked+by+phone", "asked by phone" }, { "a=1&reason=%C3%A4%26b&c=2", "ä&b" },
		{ "reason=", "" }, { "reason", NULL }, { "reasons=x", NULL }, { "reason=%0", NULL },
		{ "reason=%00", NULL }, { "reason=0123456789012345678901234567890", NULL }, { "", NULL } };
	char value[30];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(
			form_find(bytes_of(rows[i].body), "reason", value, sizeof(value)), rows[i].value != NULL);
		assert_string_equal(value, rows[i].value ? rows[i].value : "");
	}
}

static void every_language_says_everything_and_names_the_shop(void **state)
{
	int languages = 0;

	(void)state;
	for (const struct page_texts *texts = page_texts; texts->language; texts++, languages++) {
		const char *const all[] = { texts->title, texts->ask_head, texts->ask, texts->ask_button,
			texts->done_head, texts->done, texts->undo, texts->undo_button, texts->back_head, texts->back,
			texts->fixed_head, texts->fixed, texts->later_head, texts->later, texts->later_button,
			texts->bad_head, texts->bad_link, texts->bad_return };
		const char *const naming[] = { texts->ask, texts->done, texts->back, texts->fixed };

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			assert_true(all[i] && all[i][0] && text_is_utf8(bytes_of(all[i])));
		for (size_t i = 0; i < sizeof(naming) / sizeof(*naming); i++)
			assert_non_null(strstr(naming[i], "{shop}"));
		assert_ptr_equal(page_texts_for(texts->language, "en-US"), texts);
	}
	assert_int_equal(languages, 10);
	assert_string_equal(page_texts_for(NULL, "ja-JP")->language, "ja");
	assert_string_equal(page_texts_for("ko", "ko-KR")->language, "en");
}

static void arabic_reads_from_right_to_left_and_the_shops_name_by_itself(void **state)
{
	struct buffer html = { 0 };

	(void)state;
	write_page(PAGE_ASK, "ar", "Blumen (Huber)", 0, &html);
	assert_non_null(strstr(buffer_text(&html), "<html lang=\"ar\" dir=\"rtl\">"));
	assert_non_null(strstr(buffer_text(&html), "<bdi>Blumen (Huber)</bdi>"));
	buffer_free(&html);
}

/* An owner in Germany reads German, on a page in the colour of the shop's mails. */
static void the_owners_page_speaks_the_shops_language_in_its_colour(void **state)
{
	struct admin_link link = {
		.verb = ADMIN_WRITE_OFF, .shop = "demo", .cart_id = "c-1", .expires_us = at_us("2026-12-07T01:04:00Z")
	};
	struct action_view view = {
		.link = &link, .shop = "Huber", .zone = "Europe/Berlin", .locale = "de-DE", .accent = "#123456"
	};
	_cleanup_(buffer_free) struct buffer page = { 0 };

	(void)state;
	action_page_write(ACTION_ASK, &view, &page);
	assert_non_null(strstr(buffer_text(&page), "lang=\"de\""));
	assert_non_null(strstr(buffer_text(&page), "Diesen Warenkorb abschreiben"));
	assert_non_null(strstr(buffer_text(&page), "--accent: #123456"));
	assert_null(strstr(buffer_text(&page), "This link"));
	assert_non_null(strstr(buffer_text(&page), "bis 7. Dezember 2026 um 02:04 MEZ."));
}

static void must_have_all(const struct action_texts *texts)
{
	const struct action_words *const words[] = { &texts->suppress, &texts->write_off, &texts->unsubscribe,
		&texts->lift };
	const char *const all[] = { texts->cart, texts->shopper, texts->why, texts->reason_missing, texts->until,
		texts->done_head, texts->used_head, texts->used_at, texts->expired_head, texts->expired,
		texts->expired_at, texts->bad_head, texts->bad, texts->later_head, texts->later };
	const char *const moments[] = { texts->until, texts->used_at, texts->expired_at };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_true(all[i] && all[i][0] && text_is_utf8(bytes_of(all[i])));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_true(words[i]->ask[0] && words[i]->button[0] && words[i]->done[0]);
	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++)
		assert_non_null(strstr(moments[i], "{moment}"));
}

static void the_owners_page_has_every_text_in_every_language(void **state)
{
	int languages = 0;

	(void)state;
	for (const struct action_texts *texts = action_texts; texts->language; texts++, languages++) {
		must_have_all(texts);
		assert_ptr_equal(action_texts_for(texts->language), texts);
	}
	assert_int_equal(languages, 10);
	assert_string_equal(action_texts_for("")->language, "en");
	assert_string_equal(action_texts_for("ko-KR")->language, "en");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mailbox_and_the_button_unsubscribe),
		cmocka_unit_test(anything_else_posted_unsubscribes_nobody),
		cmocka_unit_test(each_of_the_owners_pages_says_all_its_words_in_each_language),
		cmocka_unit_test(a_shops_name_cannot_become_markup),
		cmocka_unit_test(the_page_needs_no_scripts_and_loads_nothing),
		cmocka_unit_test(the_page_that_says_done_offers_to_take_it_back),
		cmocka_unit_test(garbage_takes_nothing_back),
		cmocka_unit_test(a_forms_value_is_decoded_or_refused),
		cmocka_unit_test(every_language_says_everything_and_names_the_shop),
		cmocka_unit_test(arabic_reads_from_right_to_left_and_the_shops_name_by_itself),
		cmocka_unit_test(the_owners_page_speaks_the_shops_language_in_its_colour),
		cmocka_unit_test(the_owners_page_has_every_text_in_every_language),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
