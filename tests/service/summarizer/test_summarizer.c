/* test_summarizer.c: the past month in sentences, written once and mailed to the owner */
#include "bus/actor/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/file_driver.h"
#include "services/kit/mail.h"
#include "services/kit/zone.h"
#include "services/summarizer/summarizer.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static int64_t berlin(int month, int day, int hour)
{
	const struct local_time local = { .year = 2026, .month = month, .day = day, .hour = hour };
	int64_t us;
	assert_int_equal(zone_moment("Europe/Berlin", &local, &us), 0);
	return us;
}

static struct harness *given_shop(const char *owner)
{
	static uint32_t version;
	static Document document;
	struct harness *h = harness_new(&summarizer, berlin(11, 2, 9));
	document = (Document){ .version = ++version, .kind = "shop" };
	snprintf(document.digest, sizeof(document.digest), "d%u", (unsigned)version);
	snprintf(document.text, sizeof(document.text),
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = "
		"https://demo.example\n"
		"[mail]\nfrom = Demo <shop@demo.example>\nbounce = bounce@demo.example\nreply-to = shop@demo.example\n"
		"postal-address = 1 Main Street\n%s",
		owner);
	summarizer_set_up("/exports");
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
		{ "november", CART_OPEN, CLOSED_NOT, berlin(11, 1, 0), 0, 0, 0, false },
	};
	for (size_t i = 0; i < sizeof(carts) / sizeof(carts[0]); i++)
		given_cart(h, &carts[i]);
}

static enum verdict when_month(struct harness *h)
{
	Tick tick = { .name = "monthly", .due_us = berlin(11, 2, 9) };
	return WHEN(h, tick_monthly, &tick, .shop = "demo", .key = "demo");
}

static const char october[] =
	"Demo, 2026-10\n\n"
	"carts seen:                                         6\n"
	"first reminders sent:                               4\n"
	"second reminders sent:                              1\n"
	"mails that went to you (mode \"mail me\"):            1\n\n"
	"bought after a reminder:                            1\n"
	"    20,00\xc2\xa0€ from 1 carts\n"
	"bought without one:                                 3\n"
	"reminded twice and not bought:                      1\n"
	"never gave an address:                              0\n"
	"opted out:                                          1\n"
	"written off by you:                                 0\n\n"
	"\"Bought after a reminder\" means that the order came after the mail, not that the mail was "
	"the reason.\n";

static void the_month_is_counted_written_and_mailed(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	SummaryDone done;
	(void)state;
	given_october(h);
	assert_int_equal(when_month(h), WORKING);
	const struct file_request *file = harness_effect_request(h);
	assert_string_equal(file->path, "/exports/demo/summary-2026-10.txt");
	assert_string_equal(buffer_text((struct buffer *)&file->content), october);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), WORKING);
	assert_string_equal(((const struct mail *)harness_effect_request(h))->envelope_to, "owner@demo.example");
	assert_false(((const struct mail *)harness_effect_request(h))->claim);
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_SENT }, CLAIM_NONE), DONE);
	assert_true(harness_said(h, &topic_summary_done, 0, &done, NULL));
	assert_string_equal(done.month, "2026-10");
	assert_string_equal(done.text, october);
	assert_int_equal(harness_count(h, &topic_audit), 1);
	assert_int_equal(when_month(h), DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void without_an_owner_it_is_only_written(void **state)
{
	struct harness *h = given_shop("");
	(void)state;
	assert_int_equal(when_month(h), WORKING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), DONE);
	assert_int_equal(harness_count(h, &topic_summary_done), 1);
	harness_free(h);
}

static void a_mail_that_did_not_go_is_tried_again_and_one_that_may_have_is_not(void **state)
{
	struct harness *h = given_shop("owner = owner@demo.example\n");
	(void)state;
	assert_int_equal(when_month(h), WORKING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), WORKING);
	assert_int_equal(harness_result(h, &(struct mail_result){ .end = MAIL_LATER }, CLAIM_NONE), LATER);
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(when_month(h), WORKING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), WORKING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), DONE);
	assert_int_equal(harness_count(h, &topic_summary_done), 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_month_is_counted_written_and_mailed),
		cmocka_unit_test(without_an_owner_it_is_only_written),
		cmocka_unit_test(a_mail_that_did_not_go_is_tried_again_and_one_that_may_have_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
