/* test_attribution.c: three classes of orders that do not flatter, and what was kept of them */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/report/attribution.h"
#include "tests/unit/cmocka_all.h"

#define H US_PER_HOUR
#define D US_PER_DAY
#define TURN_DEAD_LETTER 0

static const struct shop_windows windows = { .clicked_us = 7 * US_PER_DAY, .mailed_us = 3 * US_PER_DAY };

struct mailed {
	enum send_phase phase;
	int64_t at_us;
	bool to_owner;
};

struct given {
	const char *story;
	struct mailed first, second;
	struct ledger_click click;
	int64_t bought_us; /* TURN_DEAD_LETTER: not bought */
	enum attribution expected;
};

static const struct given table[] = {
	{ "nothing was bought", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, TURN_DEAD_LETTER, ATTRIBUTION_NONE },
	{ "no mail at all", { 0 }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "mailed, then bought", { SEND_SENT, 1 * H, false }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_MAILED },
	{ "bought in the very moment of the mail", { SEND_SENT, 9 * H, false }, { 0 }, { 0 }, 9 * H,
		ATTRIBUTION_MAILED },
	{ "bought before the mail", { SEND_SENT, 10 * H, false }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "the last moment of the window", { SEND_SENT, 1 * H, false }, { 0 }, { 0 }, 1 * H + 3 * D,
		ATTRIBUTION_MAILED },
	{ "a moment later", { SEND_SENT, 1 * H, false }, { 0 }, { 0 }, 1 * H + 3 * D + 1, ATTRIBUTION_ANYWAY },
	{ "the second mail opens a window of its own", { SEND_SENT, 1 * H, false }, { SEND_SENT, 25 * H, false }, { 0 },
		1 * H + 3 * D + 1, ATTRIBUTION_MAILED },
	{ "clicked, then bought", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, 9 * H, ATTRIBUTION_CLICKED },
	{ "clicked after buying", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 10 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "clicked, and the mail's window is over", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, 6 * D,
		ATTRIBUTION_CLICKED },
	{ "clicked, and its window is over too", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, 2 * H + 7 * D + 1,
		ATTRIBUTION_ANYWAY },
	{ "a click of a mail that never went", { SEND_SKIPPED, 1 * H, false }, { 0 }, { 1, 2 * H }, 9 * H,
		ATTRIBUTION_ANYWAY },
	{ "a click from before the mail", { SEND_SENT, 3 * H, false }, { 0 }, { 1, 2 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "a mail scanner's click", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 1 * H + 59 * US_PER_S }, 9 * H,
		ATTRIBUTION_MAILED },
	{ "the first click that may be a person's", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 1 * H + 60 * US_PER_S },
		9 * H, ATTRIBUTION_CLICKED },
	{ "a click of the other mail", { SEND_SENT, 1 * H, false }, { 0 }, { 2, 2 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "a click of no mail", { SEND_SENT, 1 * H, false }, { 0 }, { 3, 2 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "the owner got the mail", { SEND_SENT, 1 * H, true }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "the owner tried the link", { SEND_SENT, 1 * H, true }, { 0 }, { 1, 2 * H }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "a refused mail", { SEND_REFUSED, 1 * H, false }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "nobody knows whether it arrived", { SEND_AMBIGUOUS, 1 * H, false }, { 0 }, { 0 }, 9 * H,
		ATTRIBUTION_ANYWAY },
	{ "a click tells that it did", { SEND_AMBIGUOUS, 1 * H, false }, { 0 }, { 1, 2 * H }, 9 * H,
		ATTRIBUTION_CLICKED },
};

static struct ledger_row row_of(const struct given *given)
{
	const struct mailed *mails[] = { &given->first, &given->second };
	struct ledger_row row = { .status = given->bought_us ? CART_BOUGHT : CART_OPEN, .bought_us = given->bought_us };

	for (int i = 0; i < 2; i++)
		row.mails[i] = (struct ledger_mail){ mails[i]->phase, mails[i]->at_us, mails[i]->to_owner };
	row.clicks[0] = given->click;
	row.click_count = given->click.at_us != 0;
	return row;
}

static void an_order_is_credited_only_with_what_can_have_led_to_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ledger_row row = row_of(&table[i]);

		if (attribution_of(&row, &windows) != table[i].expected)
			fail_msg("%s: %d", table[i].story, (int)attribution_of(&row, &windows));
	}
}

static void the_windows_are_the_shops(void **state)
{
	struct ledger_row row = row_of(&table[2]);
	const struct shop_windows none = { .clicked_us = US_PER_DAY, .mailed_us = US_PER_HOUR };

	(void)state;
	assert_int_equal(attribution_of(&row, &none), ATTRIBUTION_ANYWAY);
}

static void what_went_back_is_no_money_won(void **state)
{
	const struct {
		const char *story;
		int64_t total, refunded, cancelled_us, kept;
		bool taken_back;
	} orders[] = {
		{ "kept", 2000, 0, 0, 2000, false },
		{ "some went back", 2000, 500, 0, 1500, false },
		{ "all went back", 2000, 2000, 0, 0, true },
		{ "more than there was", 2000, 2500, 0, 0, true },
		{ "cancelled", 2000, 0, 7, 0, true },
		{ "cancelled after a refund", 2000, 500, 7, 0, true },
		{ "an order for nothing", 0, 0, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct ledger_row row = { .status = CART_BOUGHT,
			.total_minor = 9999,
			.currency = "USD",
			.order_total_minor = orders[i].total,
			.order_currency = "EUR",
			.order_refunded_minor = orders[i].refunded,
			.order_cancelled_us = orders[i].cancelled_us };
		struct attribution_money money = attribution_money(&row);

		assert_string_equal(money.currency, "EUR");
		if (money.total_minor - money.back_minor != orders[i].kept ||
			attribution_taken_back(&row) != orders[i].taken_back)
			fail_msg("%s: %lld", orders[i].story, (long long)(money.total_minor - money.back_minor));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_is_credited_only_with_what_can_have_led_to_it),
		cmocka_unit_test(the_windows_are_the_shops),
		cmocka_unit_test(what_went_back_is_no_money_won),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
