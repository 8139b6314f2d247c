/* test_changed.c: what a cart.changed makes of the list of carts */
#include "bus/base/text.h"
#include "given.h"
#include "services/carts/intake/cart.h"
#include <stdio.h>

static void a_new_cart_gets_a_row_and_a_timer(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	assert_int_equal(when_changed(h, &changed), TURN_DONE);
	assert_string_equal(said_row(h)->ids.cart_id, "t1");
	assert_int_equal(said_row(h)->revision, 1);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	assert_int_equal(said_row(h)->abandoned_us, MINUTE(0));
	assert_int_equal(said_row(h)->items_count, 1);
	assert_int_equal(said_row(h)->total_minor, 3500);
	assert_string_equal(said_row(h)->currency, "EUR");
	assert_string_equal(said_row(h)->ids.email, "ann@buyer.example");
	assert_string_equal(said_timer(h)->name, "cart/t1");
	assert_int_equal(said_timer(h)->version, 1);
	assert_int_equal(said_timer(h)->due_us, MINUTE(60)); /* no rules yet: an hour, the waiter knows better */
	assert_string_equal(said_audit(h, 0)->action, "opened");
	harness_free(h);
}

static void the_first_wait_is_that_of_the_rules(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);
	Document rules = { .kind = "rules", .version = 1, .digest = "first-wait" };
	Document shop = { .kind = "shop", .version = 1, .digest = "first-wait-shop" };

	(void)state;
	TEXT_COPY(rules.text,
		"Small carts (under €40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big "
		"carts (over €150): 1 hour, then 20.");
	TEXT_COPY(shop.text,
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\n"
		"url = https://demo.example\n[mail]\nfrom = Demo <shop@demo.example>\n");
	GIVEN(h, document, &shop, .shop = "demo", .key = "shop", .version = 1);
	GIVEN(h, document, &rules, .shop = "demo", .key = "rules", .version = 1);
	when_changed(h, &changed);
	assert_int_equal(said_timer(h)->due_us, MINUTE(4 * 60));
	harness_free(h);
}

static void an_address_that_cannot_be_mailed_is_told_as_such_until_another_comes(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_at(0);

	(void)state;
	changed.has_ids = true;
	changed.ids.email_unusable = true;
	when_changed(h, &changed);
	assert_true(said_row(h)->ids.email_unusable);
	assert_string_equal(said_audit(h, 0)->action, "waiting_for_address");
	assert_non_null(strstr(said_audit(h, 0)->grounds, "its address cannot be mailed"));
	assert_null(strstr(said_audit(h, 0)->grounds, "no address yet"));
	changed = mug_of_ann_at(10);
	when_changed(h, &changed);
	assert_false(said_row(h)->ids.email_unusable);
	assert_non_null(strstr(said_audit(h, 0)->before, "open with an address that cannot be mailed"));
	harness_free(h);
}

static void a_change_by_the_shopper_restarts_the_clock(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);
	uint64_t version;

	(void)state;
	when_changed(h, &changed);
	version = said_row(h)->state_version;
	changed = mug_of_ann_at(30);
	changed.items[0].quantity = 2;
	changed.total_minor = 7000;
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->revision, 2);
	assert_int_equal(said_row(h)->abandoned_us, MINUTE(30));
	assert_int_equal(said_row(h)->items[0].quantity, 2);
	assert_true(said_row(h)->state_version > version);
	assert_int_equal(said_timer(h)->version, 2);
	assert_int_equal(said_timer(h)->due_us, MINUTE(90));
	assert_string_equal(said_audit(h, 0)->action, "changed");
	assert_non_null(strstr(said_audit(h, 0)->before, "35.00 EUR"));
	assert_non_null(strstr(said_audit(h, 0)->after, "70.00 EUR"));
	harness_free(h);
}

static void what_the_shopper_did_not_do_is_kept_and_restarts_nothing(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	when_changed(h, &changed);
	changed = mug_of_ann_at(30);
	changed.items[0].price_minor = 3400; /* the shop's own program changed a price, not the total */
	TEXT_COPY(changed.first_name, "Ann");
	changed.consent = CONSENT_YES;
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->revision, 1);
	assert_int_equal(said_row(h)->abandoned_us, MINUTE(0));
	assert_int_equal(said_row(h)->changed_us, MINUTE(30));
	assert_string_equal(said_row(h)->first_name, "Ann");
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	assert_int_equal(harness_count(h, &topic_timer_cancel), 0);
	harness_free(h);
}

static void the_same_event_again_says_nothing(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	when_changed(h, &changed);
	assert_int_equal(when_changed(h, &changed), TURN_DONE);
	said_nothing(h);
	harness_free(h);
}

static void a_late_event_overwrites_nothing_newer(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged newer = mug_of_ann_at(30), older = mug_of_ann_at(10);

	(void)state;
	when_changed(h, &newer);
	older.items[0].quantity = 9;
	older.total_minor = 31500;
	TEXT_COPY(older.ids.email, "old@buyer.example");
	TEXT_COPY(older.ids.email_hash, "old");
	TEXT_COPY(older.ids.checkout_token, "k1");
	TEXT_COPY(older.recovery_url, "https://demo.example/recover");
	when_changed(h, &older);
	assert_int_equal(said_row(h)->revision, 1);
	assert_int_equal(said_row(h)->abandoned_us, MINUTE(30));
	assert_int_equal(said_row(h)->changed_us, MINUTE(30));
	assert_int_equal(said_row(h)->items[0].quantity, 1);
	assert_int_equal(said_row(h)->total_minor, 3500);
	assert_string_equal(said_row(h)->ids.email, "ann@buyer.example");
	assert_string_equal(said_row(h)->ids.checkout_token, "k1"); /* what it adds is taken */
	assert_string_equal(said_row(h)->recovery_url, "https://demo.example/recover");
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	harness_free(h);
}

/* What was said when, in the order of arrival, and what holds then. */
struct word {
	int minute;
	Consent said, holds;
};

static void must_hold(const struct word *words, size_t count)
{
	struct harness *h = harness_new(&intake, NOON_US);
	Consent holds = CONSENT_UNKNOWN;

	for (size_t i = 0; i < count; i++) {
		CartChanged changed = mug_of_ann_at(words[i].minute);

		changed.consent = words[i].said;
		when_changed(h, &changed);
		if (harness_count(h, &topic_cart_state) > 0)
			holds = said_row(h)->consent;
		assert_int_equal(holds, words[i].holds);
	}
	harness_free(h);
}

/* A no that came last stays a no, whatever is delivered late; what says nothing about it takes nothing back. */
static void the_newest_word_about_consent_holds(void **state)
{
	static const struct word words[] = { { 30, CONSENT_UNKNOWN, CONSENT_UNKNOWN }, { 10, CONSENT_YES, CONSENT_YES },
		{ 40, CONSENT_NO, CONSENT_NO }, { 20, CONSENT_YES, CONSENT_NO }, { 50, CONSENT_UNKNOWN, CONSENT_NO },
		{ 60, CONSENT_YES, CONSENT_YES } };

	(void)state;
	must_hold(words, sizeof(words) / sizeof(words[0]));
}

/* The row's newest change says nothing about consent: a no between the yes and it counts, however late it is delivered. */
static void a_no_that_is_delivered_late_counts_against_an_older_yes(void **state)
{
	static const struct word words[] = { { 10, CONSENT_YES, CONSENT_YES }, { 30, CONSENT_UNKNOWN, CONSENT_YES },
		{ 20, CONSENT_NO, CONSENT_NO }, { 15, CONSENT_YES, CONSENT_NO }, { 20, CONSENT_YES, CONSENT_NO },
		{ 25, CONSENT_YES, CONSENT_YES }, { 25, CONSENT_NO, CONSENT_NO } };

	(void)state;
	must_hold(words, sizeof(words) / sizeof(words[0]));
}

/* It has no time of its consent: that is the time of its newest change then, and stays so. */
static void the_consent_in_a_row_of_an_older_release_grows_no_younger(void **state)
{
	CartState row = { .consent = CONSENT_YES, .changed_us = MINUTE(10) };
	CartChanged silent = mug_of_ann_at(30), no = mug_of_ann_at(20);

	(void)state;
	no.consent = CONSENT_NO;
	cart_upsert(&row, &silent, NOON_US);
	assert_int_equal(row.consent, CONSENT_YES);
	cart_upsert(&row, &no, NOON_US);
	assert_int_equal(row.consent, CONSENT_NO);
	assert_int_equal(row.changed_us, MINUTE(30));
}

/* Three events of one cart in each of their six orders end in the same row. */
static void the_order_of_arrival_does_not_matter(void **state)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
		{ 2, 1, 0 } };

	(void)state;
	for (int o = 0; o < 6; o++) {
		struct harness *h = harness_new(&intake, NOON_US);
		CartChanged events[3] = { mug_at(0), mug_of_ann_at(10), mug_of_ann_at(20) };
		const CartState *row = NULL;

		TEXT_COPY(events[1].locale, "de");
		TEXT_COPY(events[2].ids.checkout_token, "k1");
		events[2].items[0].quantity = 3;
		events[2].total_minor = 10500;
		for (int i = 0; i < 3; i++) {
			events[orders[o][i]].heard_us = MINUTE(60 + i);
			when_changed(h, &events[orders[o][i]]);
			if (harness_count(h, &topic_cart_state) > 0)
				row = said_row(h);
		}
		assert_non_null(row);
		assert_string_equal(row->ids.cart_id, "t1");
		assert_int_equal(row->abandoned_us, MINUTE(20));
		assert_int_equal(row->changed_us, MINUTE(20));
		assert_int_equal(row->items[0].quantity, 3);
		assert_int_equal(row->total_minor, 10500);
		assert_string_equal(row->ids.email_hash, "ann");
		assert_string_equal(row->ids.checkout_token, "k1");
		assert_string_equal(row->locale, "de");
		harness_free(h);
	}
}

static void a_cart_without_an_address_waits_for_one(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_at(0);

	(void)state;
	when_changed(h, &changed);
	assert_string_equal(said_audit(h, 0)->action, "waiting_for_address");
	assert_int_equal(said_timer(h)->due_us, MINUTE(0) + 30 * US_PER_DAY);
	changed = (CartChanged){ .has_ids = true,
		.ids = { .cart_token = "t1", .email = "ann@buyer.example", .email_hash = "ann" },
		.changed_us = MINUTE(5),
		.heard_us = MINUTE(5) };
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->items_count, 1); /* the change does not speak of items */
	assert_int_equal(said_row(h)->revision, 2);    /* typing an address is the shopper's doing */
	assert_int_equal(said_timer(h)->due_us, MINUTE(65));
	harness_free(h);
}

static void an_older_event_may_bring_the_address_and_the_clock_goes_on(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_at(30), older = mug_of_ann_at(10);

	(void)state;
	when_changed(h, &changed);
	older.heard_us = MINUTE(35);
	when_changed(h, &older);
	assert_int_equal(said_row(h)->revision, 1);
	assert_int_equal(said_row(h)->abandoned_us, MINUTE(30));
	assert_int_equal(said_timer(h)->version, 1);
	assert_int_equal(said_timer(h)->due_us, MINUTE(90));
	harness_free(h);
}

static void an_emptied_cart_ends_the_chase_and_comes_back_with_goods_only(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0), emptied = mug_of_ann_at(10), named = mug_of_ann_at(20);

	(void)state;
	when_changed(h, &changed);
	emptied.items_count = 0;
	emptied.total_minor = 0;
	when_changed(h, &emptied);
	assert_int_equal(said_row(h)->status, CART_CLOSED);
	assert_int_equal(said_row(h)->closed_reason, CLOSED_EMPTIED);
	assert_string_equal(said_cancel(h)->name, "cart/t1");
	assert_string_equal(said_audit(h, 0)->action, "emptied");
	when_changed(h, &changed); /* a late one from before */
	said_nothing(h);
	named.has_items = named.has_total = false;
	TEXT_COPY(named.ids.email_hash, "bob");
	TEXT_COPY(named.ids.email, "bob@buyer.example");
	when_changed(h, &named);
	assert_int_equal(said_row(h)->status, CART_CLOSED);
	changed = mug_of_ann_at(40);
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	assert_int_equal(said_row(h)->revision, 2);
	assert_int_equal(said_timer(h)->due_us, MINUTE(100));
	harness_free(h);
}

static void a_cart_first_heard_of_when_it_was_emptied_is_not_opened_by_what_came_before(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged emptied = mug_of_ann_at(10), older = mug_of_ann_at(0);

	(void)state;
	emptied.items_count = 0;
	when_changed(h, &emptied);
	assert_int_equal(said_row(h)->closed_reason, CLOSED_EMPTIED);
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	older.heard_us = MINUTE(15);
	when_changed(h, &older);
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	harness_free(h);
}

static void an_import_is_recorded_and_never_chased_until_the_shopper_is_back(void **state)
{
	const struct {
		int64_t age_us;
		CartStatus status;
	} table[] = { { US_PER_DAY, CART_OPEN }, { US_PER_DAY + 1, CART_CLOSED }, { 40 * US_PER_DAY, CART_CLOSED } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct harness *h = harness_new(&intake, NOON_US);
		CartChanged changed = mug_of_ann_at(0);

		changed.heard_us = changed.changed_us + table[i].age_us;
		when_changed(h, &changed);
		assert_int_equal(said_row(h)->status, table[i].status);
		assert_int_equal(harness_count(h, &topic_timer_set), table[i].status == CART_OPEN);
		changed.changed_us += US_PER_MINUTE; /* imports tell of a cart's next change as well */
		changed.heard_us += table[i].age_us > US_PER_DAY ? US_PER_MINUTE : 0;
		changed.items[0].quantity = 3;
		when_changed(h, &changed);
		assert_int_equal(said_row(h)->status, table[i].status);
		changed.heard_us = changed.changed_us = MINUTE(60 * 24 * 60);
		changed.items[0].quantity = 4;
		when_changed(h, &changed);
		assert_int_equal(said_row(h)->status, CART_OPEN);
		harness_free(h);
	}
}

static void what_is_decided_on_days_after_it_was_heard_is_not_chased(void **state)
{
	const struct {
		int64_t late_us;
		CartStatus status;
	} table[] = { { 3 * US_PER_DAY - US_PER_S, CART_OPEN }, { 3 * US_PER_DAY + US_PER_S, CART_CLOSED } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = harness_new(&intake, NOON_US);
		CartChanged changed = mug_of_ann_at(0);

		harness_now(h, changed.changed_us + table[i].late_us);
		assert_int_equal(WHEN(h, cart_changed, &changed, .shop = "demo", .key = "t1"), TURN_DONE);
		assert_int_equal(said_row(h)->status, table[i].status);
		harness_free(h);
	}
}

static void a_platform_whose_clock_is_ahead_counts_from_when_we_heard(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	changed.changed_us = MINUTE(500);
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->abandoned_us, changed.heard_us);
	harness_free(h);
}

static void an_override_of_the_waits_moves_the_timer(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	when_changed(h, &changed);
	changed.has_wait_override = true;
	changed.wait_override = (WaitOverride){ .first_us = 10 * US_PER_MINUTE, .second_us = US_PER_HOUR };
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->revision, 1);
	assert_int_equal(said_timer(h)->due_us, MINUTE(10));
	harness_free(h);
}

/* A storefront repeats the waits that it wants with everything that it says of the cart. */
static void only_an_override_that_differs_from_the_one_before_counts_as_one(void **state)
{
	static const struct {
		WaitOverride waits;
		bool is_another;
	} rows[] = { { { 10 * US_PER_MINUTE, US_PER_HOUR }, true }, { { 10 * US_PER_MINUTE, US_PER_HOUR }, false },
		{ { 20 * US_PER_MINUTE, US_PER_HOUR }, true }, { { 20 * US_PER_MINUTE, 2 * US_PER_HOUR }, true },
		{ { 20 * US_PER_MINUTE, 2 * US_PER_HOUR }, false } };
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	when_changed(h, &changed);
	changed.has_wait_override = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(changed.first_name, sizeof(changed.first_name), "Ann the %zuth", i);
		changed.wait_override = rows[i].waits;
		when_changed(h, &changed);
		assert_string_equal(said_row(h)->first_name, changed.first_name);
		assert_int_equal(harness_count(h, &topic_timer_set), rows[i].is_another);
		assert_int_equal(
			strcmp(said_audit(h, 0)->grounds, "it has waits of its own now") == 0, rows[i].is_another);
	}
	harness_free(h);
}

static void saving_the_cart_is_the_shoppers_doing(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	when_changed(h, &changed);
	changed = mug_of_ann_at(10);
	changed.saved_link = true;
	when_changed(h, &changed);
	assert_true(said_row(h)->saved_link);
	assert_int_equal(said_row(h)->revision, 2);
	harness_free(h);
}

/* A storefront's stamps have whole seconds. */
static void of_two_changes_in_one_moment_the_one_that_came_later_holds(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	when_changed(h, &changed);
	changed.items[0].quantity = 7;
	TEXT_COPY(changed.first_name, "Ann");
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->items[0].quantity, 7);
	assert_string_equal(said_row(h)->first_name, "Ann");
	harness_free(h);
}

/* A test cart is mailed to nobody, and who saved a basket saved it, whatever is said of it later. */
static void a_test_and_a_saved_link_are_never_taken_back(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged changed = mug_of_ann_at(0);

	(void)state;
	changed.test = changed.saved_link = true;
	when_changed(h, &changed);
	changed = mug_of_ann_at(10);
	changed.items[0].quantity = 3;
	when_changed(h, &changed);
	assert_int_equal(said_row(h)->items[0].quantity, 3);
	assert_true(said_row(h)->test && said_row(h)->saved_link);
	harness_free(h);
}

static void two_carts_that_share_a_number_of_another_kind_stay_two(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(0), other = mug_of_ann_at(5);

	(void)state;
	when_changed(h, &cart);
	other.ids.cart_token[0] = '\0';
	TEXT_COPY(other.ids.checkout_id, "t1");
	when_changed(h, &other);
	assert_string_equal(said_row(h)->ids.cart_id, "ci:t1");
	harness_free(h);
}

static void two_shops_share_every_id_and_no_cart(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(0);
	CartState row;
	struct message_meta said;

	(void)state;
	when_changed(h, &cart);
	assert_int_equal(WHEN(h, cart_changed, &cart, .shop = "other", .key = "t1"), TURN_DONE);
	assert_true(harness_said(h, &topic_cart_state, 0, &row, &said));
	assert_string_equal(said.shop, "other");
	assert_int_equal(row.revision, 1);
	harness_free(h);
}

static void a_change_that_names_no_cart_goes_to_the_dead_letters(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(0);

	(void)state;
	cart.ids.cart_token[0] = '\0';
	assert_int_equal(when_changed(h, &cart), TURN_DEAD_LETTER);
	said_nothing(h);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_cart_gets_a_row_and_a_timer),
		cmocka_unit_test(of_two_changes_in_one_moment_the_one_that_came_later_holds),
		cmocka_unit_test(a_test_and_a_saved_link_are_never_taken_back),
		cmocka_unit_test(the_first_wait_is_that_of_the_rules),
		cmocka_unit_test(an_address_that_cannot_be_mailed_is_told_as_such_until_another_comes),
		cmocka_unit_test(a_change_by_the_shopper_restarts_the_clock),
		cmocka_unit_test(what_the_shopper_did_not_do_is_kept_and_restarts_nothing),
		cmocka_unit_test(the_same_event_again_says_nothing),
		cmocka_unit_test(a_late_event_overwrites_nothing_newer),
		cmocka_unit_test(the_newest_word_about_consent_holds),
		cmocka_unit_test(a_no_that_is_delivered_late_counts_against_an_older_yes),
		cmocka_unit_test(the_consent_in_a_row_of_an_older_release_grows_no_younger),
		cmocka_unit_test(the_order_of_arrival_does_not_matter),
		cmocka_unit_test(a_cart_without_an_address_waits_for_one),
		cmocka_unit_test(an_older_event_may_bring_the_address_and_the_clock_goes_on),
		cmocka_unit_test(an_emptied_cart_ends_the_chase_and_comes_back_with_goods_only),
		cmocka_unit_test(a_cart_first_heard_of_when_it_was_emptied_is_not_opened_by_what_came_before),
		cmocka_unit_test(an_import_is_recorded_and_never_chased_until_the_shopper_is_back),
		cmocka_unit_test(what_is_decided_on_days_after_it_was_heard_is_not_chased),
		cmocka_unit_test(a_platform_whose_clock_is_ahead_counts_from_when_we_heard),
		cmocka_unit_test(an_override_of_the_waits_moves_the_timer),
		cmocka_unit_test(only_an_override_that_differs_from_the_one_before_counts_as_one),
		cmocka_unit_test(saving_the_cart_is_the_shoppers_doing),
		cmocka_unit_test(two_carts_that_share_a_number_of_another_kind_stay_two),
		cmocka_unit_test(two_shops_share_every_id_and_no_cart),
		cmocka_unit_test(a_change_that_names_no_cart_goes_to_the_dead_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
