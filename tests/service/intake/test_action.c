/* test_action.c: the waiter's word and the owner's */
#include "bus/base/text.h"
#include "given.h"
#include <pb_decode.h>

static struct harness *given_cart(void)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(0);

	when_changed(h, &cart);
	return h;
}

static enum verdict when_closed(struct harness *h, uint64_t revision, ClosedReason reason)
{
	CartClosed closed = { .cart_id = "t1", .revision = revision, .reason = reason };

	return WHEN(h, cart_closed, &closed, .shop = "demo", .key = "t1");
}

static enum verdict when_acted(struct harness *h, const AdminAction *action)
{
	return WHEN(h, admin_action, action, .shop = "demo", .key = "t1");
}

static void the_waiters_word_closes_the_cart(void **state)
{
	struct harness *h = given_cart();

	(void)state;
	assert_int_equal(when_closed(h, 1, CLOSED_OPTED_OUT), TURN_DONE);
	assert_int_equal(said_row(h)->status, CART_CLOSED);
	assert_int_equal(said_row(h)->closed_reason, CLOSED_OPTED_OUT);
	assert_string_equal(said_audit(h, 0)->action, "closed");
	assert_int_equal(when_closed(h, 1, CLOSED_OPTED_OUT), TURN_DONE);
	said_nothing(h);
	harness_free(h);
}

static void a_cart_that_changed_since_the_waiter_looked_stays_open(void **state)
{
	struct harness *h = given_cart();
	CartChanged changed = mug_of_ann_at(30);

	(void)state;
	changed.items[0].quantity = 2;
	when_changed(h, &changed);
	assert_int_equal(when_closed(h, 1, CLOSED_GAVE_UP), TURN_DONE);
	said_nothing(h);
	harness_free(h);
}

static void closing_a_cart_nobody_knows_is_settled(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);

	(void)state;
	assert_int_equal(when_closed(h, 1, CLOSED_GAVE_UP), TURN_DONE);
	said_nothing(h);
	harness_free(h);
}

static void which_closed_carts_a_shopper_opens_again(void **state)
{
	const struct {
		ClosedReason reason;
		bool opens;
	} table[] = { { CLOSED_GAVE_UP, false }, { CLOSED_NO_ADDRESS, true }, { CLOSED_OPTED_OUT, false },
		{ CLOSED_BY_OWNER, false }, { CLOSED_TOO_LATE, true }, { CLOSED_NOT_CHASED, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_cart();
		CartChanged changed = mug_of_ann_at(30);

		when_closed(h, 1, table[i].reason);
		changed.items[0].quantity = 2;
		when_changed(h, &changed);
		assert_int_equal(said_row(h)->status == CART_OPEN, table[i].opens);
		assert_int_equal(said_row(h)->revision, table[i].opens ? 2 : 1);
		assert_int_equal(harness_count(h, &topic_timer_set), table[i].opens);
		harness_free(h);
	}
}

static void the_owner_stops_a_cart(void **state)
{
	const struct {
		AdminVerb verb;
		const char *word;
	} table[] = { { ADMIN_SUPPRESS_CART, "suppressed_cart" }, { ADMIN_WRITE_OFF, "written_off" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = given_cart();
		AdminAction action = {
			.verb = table[i].verb, .cart_id = "t1", .who = "anna", .reason = "a friend of mine"
		};

		assert_int_equal(when_acted(h, &action), TURN_DONE);
		assert_int_equal(said_row(h)->closed_reason, CLOSED_BY_OWNER);
		assert_string_equal(said_cancel(h)->name, "cart/t1");
		assert_string_equal(said_audit(h, 0)->action, table[i].word);
		assert_string_equal(said_audit(h, 0)->who, "anna");
		assert_string_equal(said_audit(h, 0)->grounds, "a friend of mine");
		harness_free(h);
	}
}

static void the_owner_gives_a_cart_waits_of_its_own(void **state)
{
	struct harness *h = given_cart();
	AdminAction action = { .verb = ADMIN_OVERRIDE_WAIT,
		.cart_id = "t1",
		.who = "anna",
		.has_wait_override = true,
		.wait_override = { .first_us = 20 * US_PER_MINUTE, .second_us = US_PER_HOUR } };

	(void)state;
	assert_int_equal(when_acted(h, &action), TURN_DONE);
	assert_int_equal(said_row(h)->revision, 1);
	assert_int_equal(said_row(h)->wait_override.first_us, 20 * US_PER_MINUTE);
	assert_int_equal(said_timer(h)->due_us, MINUTE(20));
	assert_string_equal(said_audit(h, 0)->action, "override");
	harness_free(h);
}

static void waits_that_make_no_sense_are_refused(void **state)
{
	const WaitOverride table[] = { { 0, US_PER_HOUR }, { -5, US_PER_HOUR }, { 2 * US_PER_HOUR, US_PER_HOUR } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct harness *h = given_cart();
		AdminAction action = { .verb = ADMIN_OVERRIDE_WAIT,
			.cart_id = "t1",
			.has_wait_override = true,
			.wait_override = table[i] };

		assert_int_equal(when_acted(h, &action), TURN_DEAD_LETTER);
		said_nothing(h);
		harness_free(h);
	}
}

static void an_action_may_overtake_its_cart_and_is_tried_again(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART, .cart_id = "t1" };

	(void)state;
	assert_int_equal(when_acted(h, &action), TURN_RETRY);
	assert_true(harness_delay_us(h) > 0);
	harness_free(h);
}

static void what_concerns_a_person_is_not_intakes_business(void **state)
{
	const AdminVerb verbs[] = { ADMIN_UNSUBSCRIBE, ADMIN_LIFT_SUPPRESSION };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = given_cart();
		AdminAction action = { .verb = verbs[i], .cart_id = "t1", .address_hash = "ann" };

		assert_int_equal(when_acted(h, &action), TURN_DONE);
		said_nothing(h);
		harness_free(h);
	}
}

static void a_late_row_never_replaces_a_newer_one(void **state)
{
	struct harness *h = given_cart();
	CartState late = *said_row(h);
	CartChanged changed = mug_of_ann_at(30);
	CartCheckout order = order_at(40);

	(void)state;
	changed.items[0].quantity = 2;
	when_changed(h, &changed);
	GIVEN(h, cart_state, &late, .shop = "demo", .key = "t1", .version = late.state_version);
	when_bought(h, &order);
	assert_int_equal(said_row(h)->revision, 2);
	assert_int_equal(said_row(h)->items[0].quantity, 2);
	harness_free(h);
}

static AdminAction retime_at(uint64_t revision)
{
	return (AdminAction){ .verb = ADMIN_RETIME,
		.cart_id = "t1",
		.who = "root",
		.revision = revision,
		.due_us = MINUTE(240),
		.would_step = 1,
		.would_us = MINUTE(5) };
}

static void a_waiting_cart_is_looked_at_now_and_its_timer_forgets_nothing(void **state)
{
	struct harness *h = given_cart();
	const AdminAction action = retime_at(1);
	pb_istream_t stream;
	CartWake wake;

	(void)state;
	harness_now(h, MINUTE(30));
	assert_int_equal(when_acted(h, &action), TURN_DONE);
	assert_int_equal(said_timer(h)->due_us, MINUTE(30));
	assert_int_equal(said_timer(h)->version, 1);
	stream = pb_istream_from_buffer(said_timer(h)->payload.bytes, said_timer(h)->payload.size);
	assert_true(pb_decode(&stream, &CartWake_msg, &wake));
	assert_int_equal(wake.would_step, 1);
	assert_int_equal(wake.would_us, MINUTE(5));
	assert_string_equal(said_audit(h, 0)->action, "retimed");
	assert_string_equal(said_audit(h, 0)->who, "root");
	assert_non_null(strstr(said_audit(h, 0)->before, "looked at next"));
	harness_free(h);
}

/* The cart changed, or ended, while the owner's command was on its way: its timer is a newer one, or none. */
static void a_cart_that_changed_or_ended_since_is_not_looked_at(void **state)
{
	struct harness *h = given_cart();
	const AdminAction older = retime_at(1), newer = retime_at(2);
	CartChanged changed = mug_of_ann_at(30);

	(void)state;
	changed.items[0].quantity = 2;
	when_changed(h, &changed);
	assert_int_equal(when_acted(h, &older), TURN_DONE);
	said_nothing(h);
	when_closed(h, 2, CLOSED_GAVE_UP);
	assert_int_equal(when_acted(h, &newer), TURN_DONE);
	said_nothing(h);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiting_cart_is_looked_at_now_and_its_timer_forgets_nothing),
		cmocka_unit_test(a_cart_that_changed_or_ended_since_is_not_looked_at),
		cmocka_unit_test(the_waiters_word_closes_the_cart),
		cmocka_unit_test(a_cart_that_changed_since_the_waiter_looked_stays_open),
		cmocka_unit_test(closing_a_cart_nobody_knows_is_settled),
		cmocka_unit_test(which_closed_carts_a_shopper_opens_again),
		cmocka_unit_test(the_owner_stops_a_cart),
		cmocka_unit_test(the_owner_gives_a_cart_waits_of_its_own),
		cmocka_unit_test(waits_that_make_no_sense_are_refused),
		cmocka_unit_test(an_action_may_overtake_its_cart_and_is_tried_again),
		cmocka_unit_test(what_concerns_a_person_is_not_intakes_business),
		cmocka_unit_test(a_late_row_never_replaces_a_newer_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
