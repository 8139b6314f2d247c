/* test_cart_rows.c: which carts turned out to be one, whatever the order in which their rows come */
#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include "tests/unit/cmocka_all.h"

static const struct service remembers = { .name = "remembers-merges",
	.remembers = REMEMBERING(REMEMBERS(cart_state, merges_remember)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&remembers, 1000);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void given(const char *id, uint64_t version, const char *into, int count, ...)
{
	static CartState cart; /* large */
	va_list from;

	cart = (CartState){ .has_ids = true, .state_version = version, .merged_from_count = (pb_size_t)count };
	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.merged_into, into);
	va_start(from, count);
	for (int i = 0; i < count; i++)
		TEXT_COPY(cart.merged_from[i], va_arg(from, const char *));
	va_end(from);
	GIVEN(h, cart_state, &cart, .shop = "demo", .key = id, .version = version);
}

static struct merges of(const char *id)
{
	return merges_of(harness_state(h), "demo", id);
}

static void a_cart_names_what_was_merged_into_it(void **state)
{
	(void)state;
	given("c1", 3, "", 2, "c2", "c3");
	assert_int_equal(of("c1").count, 2);
	assert_false(of("c1").away);
	assert_string_equal(of("c1").from[0], "c2");
	assert_string_equal(of("c1").from[1], "c3");
	given("c1", 4, "", 4, "c2", "c3", "c4", "c5");
	assert_int_equal(of("c1").count, 4);
	assert_string_equal(of("c1").from[3], "c5");
}

static void a_cart_that_went_into_another_is_away(void **state)
{
	(void)state;
	given("c2", 5, "c1", 0);
	assert_true(of("c2").away);
	assert_int_equal(of("c2").count, 0);
	given("c2", 6, "c1", 1, "c9");
	assert_true(of("c2").away);
	assert_int_equal(of("c2").count, 1);
}

static void nothing_is_merged_as_far_as_is_known(void **state)
{
	(void)state;
	given("c1", 3, "", 0);
	assert_false(of("c1").away);
	assert_int_equal(of("c1").count, 0);
	assert_int_equal(of("never").count, 0);
	given("c1", 4, "", 1, "c2");
	assert_int_equal(merges_of(harness_state(h), "other", "c1").count, 0);
}

static void a_late_row_replaces_no_newer_one(void **state)
{
	(void)state;
	given("c1", 4, "", 2, "c2", "c3");
	given("c1", 3, "", 1, "c2");
	assert_int_equal(of("c1").count, 2);
	given("c1", 4, "", 1, "c4"); /* the same one again is the same; a log's last row holds */
	assert_string_equal(of("c1").from[0], "c4");
	given("c1", 5, "", 0); /* a merge is for good */
	assert_int_equal(of("c1").count, 1);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_cart_names_what_was_merged_into_it),
		SCENE(a_cart_that_went_into_another_is_away),
		SCENE(nothing_is_merged_as_far_as_is_known),
		SCENE(a_late_row_replaces_no_newer_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
