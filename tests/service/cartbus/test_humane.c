/* test_humane.c: numbers as people read them, and what a message knows a cart and its shopper by */
#include "services/cartbus/humane.h"

#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/cartbus/ids.h"
#include "services/cartbus/room.h"
#include "services/cartbus/who.h"
#include "services/kit/settings.h"
#include "tests/unit/cmocka_all.h"
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void counts_are_whole_up_to_ten_thousand(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { 0, "0" }, { 1, "1" }, { 312, "312" }, { 9999, "9999" }, { 10000, "10.0k" }, { 12345, "12.3k" },
		{ 99949, "99.9k" }, { 99950, "100k" }, { 999999, "1000k" }, { 1000000, "1.0M" }, { 4100000, "4.1M" },
		{ 1e9, "1.0G" }, { 1e12, "1.0T" }, { 1e15, "1000T" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_count(cases[i].number, words), cases[i].words);
}

/* Little is not nothing. */
static void a_rate_has_a_place_behind_the_point_while_it_is_small(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { -1, "-" }, { 0, "0" }, { 0.001, "0.1" }, { 0.05, "0.1" }, { 0.3, "0.3" }, { 1, "1.0" },
		{ 9.94, "9.9" }, { 9.95, "10" }, { 312, "312" }, { 12345, "12.3k" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_rate(cases[i].number, words), cases[i].words);
}

static void bytes_are_told_in_powers_of_1024(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { 0, "0.0B" }, { 1023, "1023B" }, { 1024, "1.0K" }, { 812 * 1024, "812K" },
		{ 41.2 * (1 << 30), "41.2G" }, { 1024.0 * 1024, "1.0M" }, { 5e15, "4547T" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_bytes(cases[i].number, words), cases[i].words);
}

static void an_age_is_told_in_the_unit_of_which_there_are_two(void **state)
{
	static const struct {
		int64_t us;
		const char *words;
	} cases[] = { { -5 * US_PER_S, "0s" }, { 0, "0s" }, { US_PER_S - 1, "0s" }, { 3 * US_PER_S, "3s" },
		{ 2 * US_PER_MINUTE - 1, "119s" }, { 2 * US_PER_MINUTE, "2min" }, { 2 * US_PER_HOUR - 1, "119min" },
		{ 2 * US_PER_HOUR, "2h" }, { 2 * US_PER_DAY - 1, "47h" }, { 2 * US_PER_DAY, "2d" },
		{ 100 * US_PER_DAY, "100d" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_age(cases[i].us, words), cases[i].words);
}

/* ---- ids ---- */

static bool has_name(const struct ids *ids, const char *name)
{
	for (int i = 0; i < ids->count; i++)
		if (strcmp(ids->names[i], name) == 0)
			return true;
	return false;
}

static CartState cart_with_a_past(void)
{
	CartState cart = { .has_ids = true, .also_count = 2, .merged_from_count = 2 };

	TEXT_COPY(cart.ids.cart_id, "c-1");
	TEXT_COPY(cart.ids.customer_id, "44");
	TEXT_COPY(cart.also[0].cart_token, "t-2");
	TEXT_COPY(cart.also[0].email_hash, "hash");
	TEXT_COPY(cart.also[0].customer_id, "45");
	TEXT_COPY(cart.also[0].email, "ada@shop.example");
	TEXT_COPY(cart.also[1].email_hash, "later");
	TEXT_COPY(cart.also[1].email, "later@shop.example");
	TEXT_COPY(cart.merged_from[0], "c-3");
	TEXT_COPY(cart.merged_from[1], "c-4");
	return cart;
}

/* The first hash, number and address that are known count; each name does. */
static void expect_past(const struct ids *ids)
{
	static const char *const names[] = { "id:c-1", "ct:t-2", "id:c-3", "id:c-4" };

	assert_int_equal(ids->count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(has_name(ids, names[i]));
	assert_string_equal(ids->hash, "hash");
	assert_string_equal(ids->customer, "44");
	assert_string_equal(ids->email, "ada@shop.example");
}

static void a_cart_is_known_by_all_that_was_merged_into_it(void **state)
{
	ReminderDue due = { .has_cart = true, .cart = cart_with_a_past() };
	struct ids ids;

	(void)state;
	ids_of(&topic_cart_state, &due.cart, &ids);
	expect_past(&ids);
	ids_of(&topic_reminder_due, &due, &ids);
	expect_past(&ids);
}

static void a_change_and_an_order_are_known_by_their_own_ids_and_others_by_none(void **state)
{
	CartChanged changed = { .has_ids = true };
	CartCheckout order = { .has_ids = true };
	Audit audit = { .cart_id = "c-1" };
	struct ids ids;

	(void)state;
	TEXT_COPY(changed.ids.cart_token, "t-1");
	TEXT_COPY(changed.ids.email_hash, "hash");
	ids_of(&topic_cart_changed, &changed, &ids);
	assert_int_equal(ids.count, 1);
	assert_true(has_name(&ids, "ct:t-1"));
	assert_string_equal(ids.hash, "hash");
	assert_string_equal(ids.customer, "");
	assert_string_equal(ids.email, "");
	TEXT_COPY(order.ids.order_id, "o-1");
	TEXT_COPY(order.ids.customer_id, "44");
	ids_of(&topic_cart_checkout, &order, &ids);
	assert_int_equal(ids.count, 1);
	assert_true(has_name(&ids, "oi:o-1"));
	assert_string_equal(ids.hash, "");
	assert_string_equal(ids.customer, "44");
	ids_of(&topic_audit, &audit, &ids);
	assert_int_equal(ids.count, 0);
	assert_string_equal(ids.hash, "");
	assert_string_equal(ids.customer, "");
}

/* ---- the disk, and who asks ---- */

static void the_headroom_is_the_larger_of_a_size_and_a_part(void **state)
{
	static const struct {
		const char *text;
		uint64_t disk_bytes, wanted;
	} cases[] = {
		{ "", UINT64_C(1) << 30, UINT64_C(128) << 20 },
		{ "", UINT64_C(128) << 20, UINT64_C(128) << 20 },
		{ "", UINT64_C(100) << 30, UINT64_C(1) << 30 },
		{ "headroom = 256\n", UINT64_C(10) << 30, UINT64_C(256) << 20 },
		{ "headroom-percent = 10\n", UINT64_C(10) << 30, UINT64_C(1) << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config *config = NULL;
		struct config_error error;
		char text[100];
		uint64_t found;

		snprintf(text, sizeof(text), "[broker]\n%s", cases[i].text);
		assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &config, &error), 0);
		found = room_headroom(config, cases[i].disk_bytes);
		assert_in_range(found, cases[i].wanted - 200, cases[i].wanted);
		config_free(config);
	}
}

/* Behind sudo everybody is root. */
static void on_record_is_who_called_sudo_else_the_user(void **state)
{
	const struct passwd *user = getpwuid(getuid());

	(void)state;
	setenv("SUDO_USER", "ada", 1);
	assert_string_equal(who_am_i(), "ada");
	setenv("SUDO_USER", "", 1);
	assert_string_equal(who_am_i(), user ? user->pw_name : "unknown");
	unsetenv("SUDO_USER");
	assert_string_equal(who_am_i(), user ? user->pw_name : "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_whole_up_to_ten_thousand),
		cmocka_unit_test(a_rate_has_a_place_behind_the_point_while_it_is_small),
		cmocka_unit_test(bytes_are_told_in_powers_of_1024),
		cmocka_unit_test(an_age_is_told_in_the_unit_of_which_there_are_two),
		cmocka_unit_test(a_cart_is_known_by_all_that_was_merged_into_it),
		cmocka_unit_test(a_change_and_an_order_are_known_by_their_own_ids_and_others_by_none),
		cmocka_unit_test(the_headroom_is_the_larger_of_a_size_and_a_part),
		cmocka_unit_test(on_record_is_who_called_sudo_else_the_user),
	};

	return cmocka_run_group_tests_name("cartbus.humane", tests, NULL, NULL);
}
