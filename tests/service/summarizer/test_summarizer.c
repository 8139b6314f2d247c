/* test_summarizer.c: the past month or week, counted, written once and mailed to each once */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/summarizer/summarizer.h"
#include "services/carts/summarizer/summary_mails.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/mail/message.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static int64_t berlin(int month, int day, int hour)
{
	const struct local_time local = { .year = 2026, .month = month, .day = day, .hour = hour };
	int64_t us;
	assert_int_equal(zone_moment("Europe/Berlin", &local, &us), 0);
	return us;
}

static struct summarizer summarizer_here; /* given_shop begins it anew */

static struct harness *given_shop(const char *more)
{
	static uint32_t version;
	static Document document;
	struct harness *h = harness_new_in(summarizer_in(&summarizer_here), berlin(11, 2, 9));
	document = (Document){ .version = ++version, .kind = "shop" };
	snprintf(document.digest, sizeof(document.digest), "d%u", (unsigned)version);
	snprintf(document.text, sizeof(document.text),
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = "
		"https://demo.example\n"
		"[mail]\nfrom = Demo <shop@demo.example>\nbounce = bounce@demo.example\nreply-to = shop@demo.example\n"
		"postal-address = 1 Main Street\n%s",
		more);
	summarizer_here = (struct summarizer){ .folder = "/exports" };
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = version);
	return h;
}

struct given {
	const char *id;
	CartStatus status;
	ClosedReason reason;
	int64_t seen_us, end_us, first_us, second_us;
	bool to_owner;
};

static void given_sent(struct harness *h, const struct given *given, uint32_t step, int64_t at_us)
{
	ReminderOutcome sent = { .step = step, .attempt = 1, .at_us = at_us, .to_owner = given->to_owner };
	TEXT_COPY(sent.cart_id, given->id);
	if (at_us)
		GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = given->id);
}

static void given_cart(struct harness *h, const struct given *given)
{
	CartState cart = { .has_ids = true,
		.status = given->status,
		.closed_reason = given->reason,
		.first_seen_us = given->seen_us,
		.abandoned_us = given->seen_us,
		.total_minor = 1250,
		.currency = "EUR",
		.order_total_minor = given->status == CART_BOUGHT ? 2000 : 0,
		.order_currency = "EUR" };
	cart.bought_us = given->status == CART_BOUGHT ? given->end_us : 0;
	cart.closed_us = given->status == CART_CLOSED ? given->end_us : 0;
	TEXT_COPY(cart.ids.cart_id, given->id);
	GIVEN(h, cart_state, &cart, .shop = "demo", .key = given->id, .version = 1);
	given_sent(h, given, 1, given->first_us);
	given_sent(h, given, 2, given->second_us);
}

static void given_october(struct harness *h)
{
	const struct given carts[] = {
		{ "recovered", CART_BOUGHT, CLOSED_NOT, berlin(10, 3, 9), berlin(10, 4, 9), berlin(10, 3, 13), 0,
			false },
		{ "anyway", CART_BOUGHT, CLOSED_NOT, berlin(10, 3, 9), berlin(10, 3, 10), 0, 0, false },
		{ "mailed-after", CART_BOUGHT, CLOSED_NOT, berlin(10, 3, 9), berlin(10, 3, 10), berlin(10, 3, 11), 0,
			false },
		{ "rehearsed", CART_BOUGHT, CLOSED_NOT, berlin(10, 3, 9), berlin(10, 4, 9), berlin(10, 3, 13), 0,
			true },
		{ "gave-up", CART_CLOSED, CLOSED_GAVE_UP, berlin(10, 5, 9), berlin(10, 8, 9), berlin(10, 5, 13),
			berlin(10, 6, 9), false },
		{ "opted-out", CART_CLOSED, CLOSED_OPTED_OUT, berlin(10, 5, 9), berlin(10, 6, 9), berlin(10, 5, 13), 0,
			false },
		{ "september", CART_CLOSED, CLOSED_GAVE_UP, berlin(9, 30, 23), berlin(9, 30, 23), berlin(9, 30, 23), 0,
			false },
		{ "clicked", CART_BOUGHT, CLOSED_NOT, berlin(10, 9, 9), berlin(10, 10, 9), berlin(10, 9, 13), 0,
			false },
		{ "september-bought", CART_BOUGHT, CLOSED_NOT, berlin(9, 3, 9), berlin(9, 4, 9), berlin(9, 3, 13), 0,
			false },
		{ "november", CART_OPEN, CLOSED_NOT, berlin(11, 1, 0), 0, 0, 0, false },
	};
	for (size_t i = 0; i < sizeof(carts) / sizeof(carts[0]); i++)
		given_cart(h, &carts[i]);
	LinkClicked click = { .cart_id = "clicked", .step = 1, .at_us = berlin(10, 9, 20) };
	GIVEN(h, link_clicked, &click, .shop = "demo", .key = "clicked");
	MailFeedback complaint = { .kind = FEEDBACK_COMPLAINT, .heard_us = berlin(10, 9, 20) };
	GIVEN(h, mail_feedback, &complaint, .shop = "demo", .key = "someone");
	Suppression optout = { .source = OPTOUT_ONE_CLICK, .since_us = berlin(10, 6, 9) };
	GIVEN(h, suppression, &optout, .shop = "demo", .key = "someone");
}

static enum verdict when_month(struct harness *h)
{
	Tick tick = { .name = "monthly", .due_us = berlin(11, 2, 9) };
	return WHEN(h, tick_monthly, &tick, .shop = "demo", .key = "demo");
}

static const char october[] =
	"Demo: Warenkörbe, Oktober 2026\n\n"
	"7 Warenkörbe wurden gesehen, erinnert wurde an 5 (davor: 2 und 2). Eine Person hat geklickt und gekauft, nach "
	"einer Mail eine, ohne unser Zutun 3. Zurückgewonnen: 40,00\xc2\xa0€. Eine Person hat sich abgemeldet, "
	"beschwert hat sich eine.\n\n"
	"                                                   2026-10         davor\n"
	"Warenkörbe gesehen                                       7             2\n"
	"Warenkörbe erinnert                                      5             2\n"
	"Erste Erinnerungen                                       5             2\n"
	"Zweite Erinnerungen                                      1             0\n"
	"Warenkörbe, deren Link angeklickt wurde                  1             0\n"
	"Geklickt, dann gekauft                                   1             0\n"
	"Erinnert, dann gekauft                                   1             1\n"
	"Ohnehin gekauft                                          3             0\n"
	"Bestellungen storniert oder erstattet                    0             0\n"
	"Zweimal erinnert, nicht gekauft                          1             1\n"
	"Von Ihnen abgeschrieben                                  0             0\n"
	"Ohne Adresse geblieben                                   0             0\n"
	"Abmeldungen                                              1             0\n"
	"Beschwerden                                              1             0\n"
	"Unzustellbare Adressen                                   0             0\n"
	"Mails an Sie (Modus „mail me“)                           1             0\n"
	"Zurückgewonnen, netto                              40,00\xc2\xa0€       20,00\xc2\xa0€\n"
	"  davon nach einem Klick                           20,00\xc2\xa0€        0,00\xc2\xa0€\n"
	"\n„Erinnert, dann gekauft“ heißt: Die Bestellung kam nach der Mail, nicht unbedingt wegen ihr. Bis heute "
	"bekannte Erstattungen und Stornierungen sind abgezogen.\n";

static SummaryDone done; /* large */

static void when_written(struct harness *h)
{
	assert_int_equal(when_month(h), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_summary_done, 0, &done, NULL));
}

static void the_month_is_counted_and_written_beside_the_one_before(void **state)
{
	struct harness *h =
		given_shop("owner = owner@demo.example\n[report]\nto = partner@demo.example\nto = owner@demo.example\n"
			   "to = partner@demo.example\n");
	SummaryDue due;
	(void)state;
	given_october(h);
	assert_int_equal(when_month(h), TURN_PENDING);
	const struct file_request *file = harness_effect_request(h);
	assert_string_equal(file->path, "/exports/demo/summary-2026-10.txt");
	assert_string_equal(buffer_text((struct buffer *)&file->content), october);
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_summary_done, 0, &done, NULL));
	assert_string_equal(done.month, "2026-10");
	assert_string_equal(done.text, october);
	assert_non_null(strstr(done.html, "<bdi>40,00\xc2\xa0€</bdi>"));
	assert_int_equal(harness_count(h, &topic_summary_due), 2);
	assert_true(harness_said(h, &topic_summary_due, 1, &due, NULL));
	assert_string_equal(due.to, "partner@demo.example");
	assert_int_equal(harness_count(h, &topic_audit), 1);
	assert_int_equal(when_month(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void that_sums_are_missing_is_on_record(void **state)
{
	struct harness *h = given_shop("");
	Audit audit;
	(void)state;
	for (char i = 'A'; i < 'A' + 18; i++) {
		CartState cart = { .has_ids = true,
			.ids = { .cart_id = { i } },
			.status = CART_BOUGHT,
			.bought_us = berlin(10, 4, 9),
			.first_seen_us = berlin(10, 3, 9),
			.order_total_minor = 1,
			.order_currency = { 'X', 'A', i } };
		GIVEN(h, cart_state, &cart, .shop = "demo", .key = cart.ids.cart_id, .version = 1);
	}
	when_written(h);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_non_null(strstr(audit.grounds, "0 to mail; 2 orders are in no sum: "));
	harness_free(h);
}

static void without_a_recipient_it_is_only_written(void **state)
{
	struct harness *h = given_shop("");
	(void)state;
	when_written(h);
	assert_int_equal(harness_count(h, &topic_summary_due), 0);
	assert_null(strstr(done.text, "abgemeldet, beschwert hat sich eine"));
	harness_free(h);
}

static enum verdict when_week(struct harness *h, int64_t due_us)
{
	Tick tick = { .name = "weekly", .due_us = due_us };
	return WHEN(h, tick_weekly, &tick, .shop = "demo", .key = "demo");
}

static void a_week_is_told_to_a_shop_that_wants_it(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	(void)state;
	assert_int_equal(when_week(h, berlin(11, 2, 9)), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
	h = given_shop("owner = owner@demo.example\n[report]\nweekly = yes\n");
	assert_int_equal(when_week(h, berlin(11, 2, 9)), TURN_PENDING);
	assert_string_equal(
		((const struct file_request *)harness_effect_request(h))->path, "/exports/demo/summary-2026-W44.txt");
	harness_free(h);
}

static void what_was_missed_is_made_up_for_in_order(void **state)
{
	static const char *const months[] = { "2026-10", "2026-11", "2026-12" };
	struct harness *h = given_shop("");
	Tick tick = { .name = "monthly", .due_us = berlin(11, 2, 9) };
	(void)state;
	harness_now(h, berlin(13, 8, 9)); /* 8 January */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(i ? harness_again(h) : WHEN(h, tick_monthly, &tick, .shop = "demo", .key = "demo"),
			TURN_PENDING);
		assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), i < 2 ? TURN_RETRY : TURN_DONE);
		assert_true(harness_said(h, &topic_summary_done, 0, &done, NULL));
		assert_string_equal(done.month, months[i]);
	}
	assert_int_equal(harness_again(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* A month on the first of which nobody was there: its Monday has not come yet. */
static void a_month_is_not_told_before_its_monday(void **state)
{
	struct harness *h = given_shop("");
	Tick tick = { .name = "monthly", .due_us = berlin(11, 2, 9) };
	(void)state;
	harness_now(h, berlin(12, 3, 9));
	assert_int_equal(WHEN(h, tick_monthly, &tick, .shop = "demo", .key = "demo"), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	harness_free(h);
}

static void a_file_that_cannot_be_written_is_tried_again(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	(void)state;
	assert_int_equal(when_month(h), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ -28 }, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* ---- a model's paragraph ---- */

static const char narrated[] = "Im Oktober 2026 kamen 7 Warenkörbe; davor waren es 2. Zurück kamen 40,00\xc2\xa0€.";

static struct harness *given_model(const char *more)
{
	static char keys[200];
	snprintf(keys, sizeof(keys), "owner = owner@demo.example\n[report]\nnarrate = yes\n%s", more);
	struct harness *h = given_shop(keys);
	summarizer_here.model = (struct model_use){ .is_on = true,
		.nano_usd_per_token_in = 1000,
		.nano_usd_per_token_out = 5000,
		.budget = { .nano_usd = INT64_C(15000000000), .tokens = 10000 } };
	given_october(h);
	return h;
}

static ModelUsed said_used(struct harness *h)
{
	ModelUsed used;
	assert_int_equal(harness_count(h, &topic_model_used), 1);
	assert_true(harness_said(h, &topic_model_used, 0, &used, NULL));
	return used;
}

static enum verdict when_answered(struct harness *h, const char *text)
{
	struct model_answer answer = { .answered = text != NULL, .tokens_in = 500, .tokens_out = 60 };
	answer.text = (char *)text;
	TEXT_COPY(answer.words, text ? "" : "HTTP 500");
	return harness_result(h, &answer, CLAIM_NONE);
}

static void a_model_writes_the_paragraph_and_no_figure(void **state)
{
	struct harness *h = given_model("");
	const struct model_request *asked;
	Audit audit;
	(void)state;
	assert_int_equal(when_month(h), TURN_PENDING);
	asked = harness_effect_request(h);
	assert_non_null(strstr(asked->data, "\"now\":\"40,00\xc2\xa0€\""));
	assert_null(strstr(asked->data, "gave-up")); /* a cart's id */
	assert_null(strchr(asked->data, '@'));
	assert_int_equal(when_answered(h, narrated), TURN_PENDING); /* the file */
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_true(harness_said(h, &topic_summary_done, 0, &done, NULL));
	assert_non_null(strstr(done.text, narrated));
	assert_non_null(strstr(done.html, narrated));
	assert_null(strstr(done.text, "wurden gesehen"));
	assert_string_equal(strstr(done.text, "\n\n  "), strstr(october, "\n\n  ")); /* the figures are the ledger's */
	ModelUsed used = said_used(h);
	assert_string_equal(used.purpose, "summary");
	assert_string_equal(used.outcome, "used");
	assert_int_equal(used.cost_nano_usd, 500 * 1000 + 60 * 5000);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_non_null(strstr(audit.grounds, "a model wrote the paragraph"));
	harness_free(h);
}

static void whatever_goes_wrong_the_templates_paragraph_goes_and_says_why(void **state)
{
	static const char *const answers[] = {
		NULL,                                                     /* HTTP 500 */
		"Im Oktober kamen 8 Warenkörbe.",                         /* no figure of ours */
		"Im Oktober kamen 7 Warenkörbe, fast vier mal so viele.", /* nor in words */
		"Zurück kamen 40 €.",                                     /* 40,00 € it was */
		"Zurück kamen 40,00 $.",
		"40% mehr als davor.",
		"7 Warenkörbe.\nZweite Zeile.",
		"<b>7</b> Warenkörbe.",
		"7 Warenkörbe, mehr auf https://evil.example",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct harness *h = given_model("");
		assert_int_equal(when_month(h), TURN_PENDING);
		assert_int_equal(when_answered(h, answers[i]), TURN_PENDING);
		assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
		assert_true(harness_said(h, &topic_summary_done, 0, &done, NULL));
		assert_string_equal(done.text, october);
		ModelUsed used = said_used(h);
		assert_string_not_equal(used.outcome, "used");
		assert_int_equal(used.tokens_out, 60); /* it is paid for all the same */
		harness_free(h);
	}
}

static void a_model_that_never_answers_and_a_disk_that_is_full_cost_one_question(void **state)
{
	struct harness *h = given_model("");
	(void)state;
	assert_int_equal(when_month(h), TURN_PENDING);
	assert_int_equal(
		harness_result(h, NULL, CLAIM_NONE), TURN_PENDING); /* past the deadline: the file is written */
	assert_int_equal(harness_result(h, &(int){ -28 }, CLAIM_NONE), TURN_RETRY);
	assert_string_equal(said_used(h).outcome, "no answer within the deadline");
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_string_equal(
		((const struct file_request *)harness_effect_request(h))->path, "/exports/demo/summary-2026-10.txt");
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_model_used), 0);
	harness_free(h);
}

static void it_is_not_asked_past_the_budget_nor_of_a_shop_that_does_not_want_it(void **state)
{
	struct harness *h = given_model("");
	ModelUsed used = { .tokens_in = 10000, .at_us = berlin(11, 1, 9) };
	(void)state;
	GIVEN(h, model_used, &used, .shop = "other", .key = "c1");
	assert_int_equal(when_month(h), TURN_PENDING);
	assert_non_null(strstr(((const struct file_request *)harness_effect_request(h))->path, ".txt"));
	harness_free(h);
	h = given_shop("owner = owner@demo.example\n");
	assert_int_equal(when_month(h), TURN_PENDING);
	assert_non_null(strstr(((const struct file_request *)harness_effect_request(h))->path, ".txt"));
	harness_free(h);
}

/* Its owner may have taken it away, or written nonsense into it. */
static void given_no_shop(struct harness *h)
{
	static Document document;
	document = (Document){ .version = 1000000, .kind = "shop", .digest = "nonsense", .text = "[shop\n" };
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = document.version);
}

static void a_shop_that_is_gone_when_its_file_is_written_is_tried_again(void **state)
{
	struct harness *h = given_model("");
	(void)state;
	assert_int_equal(when_month(h), TURN_PENDING);
	assert_int_equal(when_answered(h, narrated), TURN_PENDING);
	given_no_shop(h);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(said_used(h).tokens_out, 60);
	assert_int_equal(harness_count(h, &topic_summary_done), 0);
	harness_free(h);
}

static void a_model_costs_something_even_if_its_shop_is_gone_when_it_answers(void **state)
{
	struct harness *h = given_model("");
	(void)state;
	assert_int_equal(when_month(h), TURN_PENDING);
	given_no_shop(h);
	assert_int_equal(when_answered(h, narrated), TURN_RETRY);
	assert_int_equal(said_used(h).tokens_out, 60);
	harness_free(h);
}

/* ---- the mail ---- */

static enum verdict when_due(struct harness *h)
{
	SummaryDue due = { .month = "2026-10", .to = "owner@demo.example" };
	return WHEN(h, summary_due, &due, .shop = "demo", .key = "2026-10/owner");
}

static struct harness *given_written(void)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	given_october(h);
	when_written(h);
	assert_int_equal(when_due(h), TURN_PENDING);
	return h;
}

static SummaryMailed said_mailed(struct harness *h)
{
	SummaryMailed mailed;
	assert_true(harness_said(h, &topic_summary_mailed, 0, &mailed, NULL));
	return mailed;
}

static void the_mail_says_what_the_file_says_and_claims_its_last_byte(void **state)
{
	struct harness *h = given_written();
	(void)state;
	const struct mail *mail = harness_effect_request(h);
	assert_string_equal(mail->envelope_to, "owner@demo.example");
	assert_true(mail->claim);
	assert_non_null(memmem(mail->mime.data, mail->mime.len, "multipart/alternative", 21));
	assert_non_null(summary_mails_effect.claim);
	assert_true(harness_may_proceed(h));
	assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_SENT }, CLAIM_FRESH), TURN_DONE);
	assert_int_equal(said_mailed(h).end, SUMMARY_SENT);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	assert_int_equal(when_due(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_mail_that_did_not_go_is_tried_again(void **state)
{
	const enum mail_end ends[] = { MAIL_LATER, MAIL_NOT_SENT };
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct harness *h = given_written();
		assert_int_equal(harness_result(h, &(struct mail_result){ .end = ends[i] }, CLAIM_FRESH), TURN_RETRY);
		assert_int_equal(said_mailed(h).end, SUMMARY_RELEASED);
		assert_int_equal(said_mailed(h).attempt, 1);
		assert_int_equal(when_due(h), TURN_PENDING);
		assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_SENT }, CLAIM_FRESH), TURN_DONE);
		assert_int_equal(said_mailed(h).attempt, 2);
		harness_free(h);
	}
}

static void a_mail_that_did_not_go_is_tried_again_with_longer_waits(void **state)
{
	static const int64_t minutes[] = { 1, 5, 15, 60, 60, 60 };
	struct harness *h = given_written();
	(void)state;
	for (uint32_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = MAIL_LATER }, CLAIM_FRESH), TURN_RETRY);
		assert_int_equal(harness_delay_us(h), minutes[i] * US_PER_MINUTE);
		assert_int_equal(said_mailed(h).attempt, i + 1);
		assert_int_equal(harness_count(h, NULL), 1);
		assert_int_equal(when_due(h), TURN_PENDING);
	}
	harness_free(h);
}

static void an_alarm_about_a_summary_is_over_when_one_is_mailed(void **state)
{
	struct harness *h = given_written();
	SummaryDue next = { .month = "2026-10", .to = "partner@demo.example" };
	Alarm alarm;
	(void)state;
	GIVEN(h, alarm, (&(Alarm){ .kind = "mail-server", .raised = true }), .shop = "demo", .key = "mail-server");
	assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_REFUSED }, CLAIM_FRESH), TURN_DONE);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_true(alarm.raised);
	assert_string_equal(alarm.text, "the summary 2026-10 of shop demo: a mail server refuses it");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(WHEN(h, summary_due, &next, .shop = "demo", .key = "k"), TURN_PENDING);
		assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_SENT }, CLAIM_FRESH), TURN_DONE);
		assert_int_equal(harness_count(h, &topic_alarm), i == 0);
		if (i == 0) {
			assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
			assert_false(alarm.raised);
			assert_string_equal(alarm.text, "the summary 2026-10 of shop demo: mailed");
		}
		TEXT_COPY(next.to, "another@demo.example");
	}
	harness_free(h);
}

static void an_alarm_of_another_kind_is_none_about_a_summary(void **state)
{
	struct harness *h = given_written();
	(void)state;
	GIVEN(h, alarm, (&(Alarm){ .kind = "mail-server", .raised = true }), .shop = "demo", .key = "mail-server");
	assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_SENT }, CLAIM_FRESH), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

static void what_may_have_gone_is_not_sent_again_and_somebody_is_told(void **state)
{
	struct harness *h = given_written();
	Alarm alarm;
	(void)state;
	assert_int_equal(harness_result(h, NULL, CLAIM_FRESH), TURN_DONE);
	assert_int_equal(said_mailed(h).end, SUMMARY_AMBIGUOUS);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_true(alarm.raised);
	assert_int_equal(when_due(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void recipient_of_owner(char ret[20])
{
	snprintf(ret, 20, "%016llx", (unsigned long long)text_hash(bytes_of("owner@demo.example")));
}

static void given_claim_of(struct harness *h, uint32_t attempt, const char *owner)
{
	SummaryClaim claim = { .month = "2026-10", .attempt = attempt, .claimed_us = berlin(11, 2, 9) };
	TEXT_COPY(claim.owner, owner);
	recipient_of_owner(claim.recipient);
	GIVEN(h, summary_claim, &claim, .shop = "demo", .key = "k");
}

static void given_claim(struct harness *h, uint32_t attempt)
{
	given_claim_of(h, attempt, "another");
}

static void given_mailed(struct harness *h, uint32_t attempt, SummaryEnd end)
{
	SummaryMailed mailed = { .month = "2026-10", .attempt = attempt, .end = end, .at_us = berlin(11, 2, 9) };
	recipient_of_owner(mailed.recipient);
	GIVEN(h, summary_mailed, &mailed, .shop = "demo", .key = "k");
}

/* What one process says of an earlier try may come behind what another has said of a later one. */
static void what_is_said_late_of_an_earlier_try_frees_no_claim(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	(void)state;
	given_october(h);
	when_written(h);
	given_claim(h, 1);
	given_mailed(h, 1, SUMMARY_RELEASED);
	given_claim(h, 2);
	given_mailed(h, 1, SUMMARY_RELEASED);
	assert_int_equal(when_due(h), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	given_mailed(h, 2, SUMMARY_RELEASED);
	assert_int_equal(when_due(h), TURN_PENDING);
	assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_SENT }, CLAIM_FRESH), TURN_DONE);
	assert_int_equal(said_mailed(h).attempt, 3);
	harness_free(h);
}

static void a_mail_that_is_settled_stays_so_whatever_is_said_of_it_later(void **state)
{
	static const SummaryEnd ends[] = { SUMMARY_SENT, SUMMARY_REFUSED, SUMMARY_AMBIGUOUS };
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct harness *h = given_shop("owner = owner@demo.example\n");
		given_october(h);
		when_written(h);
		given_claim(h, 1);
		given_mailed(h, 1, ends[i]);
		given_mailed(h, 1, SUMMARY_RELEASED);
		assert_int_equal(when_due(h), TURN_DONE);
		given_claim(h, 2);
		given_mailed(h, 2, SUMMARY_RELEASED);
		assert_int_equal(when_due(h), TURN_DONE);
		assert_int_equal(harness_count(h, NULL), 0);
		harness_free(h);
	}
}

static void a_mail_whose_claim_does_not_hold_any_more_is_not_sent(void **state)
{
	static const SummaryEnd ends[] = { SUMMARY_SENT, SUMMARY_RELEASED, SUMMARY_REFUSED, SUMMARY_AMBIGUOUS };
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct harness *h = given_written();
		given_mailed(h, 1, ends[i]);
		assert_false(harness_may_proceed(h));
		harness_free(h);
	}
}

static void an_end_that_a_newer_release_says_is_never_sent_again(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	(void)state;
	given_october(h);
	when_written(h);
	given_claim(h, 1);
	given_mailed(h, 1, (SummaryEnd)77);
	assert_int_equal(when_due(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_claim_whose_owner_is_gone_is_waited_for_and_then_told(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	SummaryMailed mailed;
	(void)state;
	given_october(h);
	when_written(h);
	given_claim(h, 1);
	harness_now(h, berlin(11, 2, 9) + 15 * US_PER_S - 1);
	assert_int_equal(when_due(h), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_now(h, berlin(11, 2, 9) + 15 * US_PER_S);
	assert_int_equal(when_due(h), TURN_DONE);
	mailed = said_mailed(h);
	assert_int_equal(mailed.end, SUMMARY_AMBIGUOUS);
	harness_free(h);
}

static void our_own_claim_has_until_its_deadline(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	(void)state;
	given_october(h);
	when_written(h);
	given_claim_of(h, 1, "harness");
	harness_now(h, berlin(11, 2, 9) + 15 * US_PER_MINUTE - 1);
	assert_int_equal(when_due(h), TURN_RETRY);
	harness_now(h, berlin(11, 2, 9) + 15 * US_PER_MINUTE);
	assert_int_equal(when_due(h), TURN_DONE);
	assert_int_equal(said_mailed(h).end, SUMMARY_AMBIGUOUS);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_month_is_counted_and_written_beside_the_one_before),
		cmocka_unit_test(that_sums_are_missing_is_on_record),
		cmocka_unit_test(without_a_recipient_it_is_only_written),
		cmocka_unit_test(a_week_is_told_to_a_shop_that_wants_it),
		cmocka_unit_test(what_was_missed_is_made_up_for_in_order),
		cmocka_unit_test(a_month_is_not_told_before_its_monday),
		cmocka_unit_test(a_file_that_cannot_be_written_is_tried_again),
		cmocka_unit_test(a_model_writes_the_paragraph_and_no_figure),
		cmocka_unit_test(whatever_goes_wrong_the_templates_paragraph_goes_and_says_why),
		cmocka_unit_test(a_model_that_never_answers_and_a_disk_that_is_full_cost_one_question),
		cmocka_unit_test(it_is_not_asked_past_the_budget_nor_of_a_shop_that_does_not_want_it),
		cmocka_unit_test(a_shop_that_is_gone_when_its_file_is_written_is_tried_again),
		cmocka_unit_test(a_model_costs_something_even_if_its_shop_is_gone_when_it_answers),
		cmocka_unit_test(the_mail_says_what_the_file_says_and_claims_its_last_byte),
		cmocka_unit_test(a_mail_that_did_not_go_is_tried_again),
		cmocka_unit_test(a_mail_that_did_not_go_is_tried_again_with_longer_waits),
		cmocka_unit_test(an_alarm_about_a_summary_is_over_when_one_is_mailed),
		cmocka_unit_test(an_alarm_of_another_kind_is_none_about_a_summary),
		cmocka_unit_test(what_may_have_gone_is_not_sent_again_and_somebody_is_told),
		cmocka_unit_test(what_is_said_late_of_an_earlier_try_frees_no_claim),
		cmocka_unit_test(a_mail_that_is_settled_stays_so_whatever_is_said_of_it_later),
		cmocka_unit_test(a_mail_whose_claim_does_not_hold_any_more_is_not_sent),
		cmocka_unit_test(an_end_that_a_newer_release_says_is_never_sent_again),
		cmocka_unit_test(a_claim_whose_owner_is_gone_is_waited_for_and_then_told),
		cmocka_unit_test(our_own_claim_has_until_its_deadline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
