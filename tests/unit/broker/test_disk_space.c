/* the disk is filling up: what is new waits outside, what is there comes to its end */
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "bus/wire/bus_keys.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* More than any disk has. */
static void make_short(struct desk *desk, bool is_short)
{
	desk->broker->settings.headroom_bytes = is_short ? UINT64_C(1) << 62 : 0;
	desk->broker->settings.headroom_percent = 0;
	desk_pass(desk, 200 * US_PER_MS);
}

static void new_messages_are_refused_for_now_with_the_reason(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *door = peer_new(desk, "door", "d");
	char why[256];
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(door, "run", 0);
	SAID(talker, .topic = "work", .idem = "before");
	make_short(desk, true);
	assert_true(broker_is_short(desk->broker, why));
	confirm = SAID(door, .topic = "work");
	assert_int_equal(confirm.kind, CONFIRM_REFUSED);
	assert_false(confirm.poisoned);
	assert_true(text_starts(confirm.reason, "disk: "));
	assert_string_equal(confirm.reason, why);
	assert_int_equal(SAID(talker, .topic = "work", .idem = "before").kind, CONFIRM_DUPLICATE);
	assert_int_equal(SAID(talker, .topic = "work", .idem = "after").kind, CONFIRM_REFUSED);
	assert_int_equal(broker_head(desk->broker), 1);
	assert_int_equal(status_refused(desk, "room"), 2);
	make_short(desk, false);
	assert_false(broker_is_short(desk->broker, why));
	assert_int_equal(SAID(talker, .topic = "work", .idem = "after").kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void what_is_there_comes_to_its_end(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	const struct words fact = { .topic = "fact" };
	Receipt receipts[3];

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 3; i++)
		SAID(talker, .topic = "work", .key = i == 0 ? "a" : i == 1 ? "b" : "c");
	for (int i = 0; i < 3; i++)
		receipts[i] = peer_delivery(worker)->down.what.delivery.receipt;
	make_short(desk, true);
	assert_int_equal(TURN(worker, &receipts[0], .facts = &fact, .fact_count = 1).kind, CONFIRM_FRESH);
	assert_int_equal(TURN(worker, &receipts[1], .kind = VERDICT_RETURN, .delay_us = US_PER_S).kind, CONFIRM_FRESH);
	assert_int_equal(TURN(worker, &receipts[2], .kind = VERDICT_DEAD, .reason = "bad").kind, CONFIRM_FRESH);
	assert_int_equal(SAID(worker, .topic = "claim", .claim = true).kind, CONFIRM_FRESH);
	assert_int_equal(SAID(worker, .topic = "fact", .idem = "outcome").kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void a_share_of_the_file_system_counts_too(void **state)
{
	struct desk *desk = desk_open_disk();
	char why[256];

	(void)state;
	desk->broker->settings.headroom_bytes = 0;
	desk->broker->settings.headroom_percent = 100;
	desk_pass(desk, 200 * US_PER_MS);
	assert_true(broker_is_short(desk->broker, why));
	desk->broker->settings.headroom_percent = 0;
	desk_pass(desk, 200 * US_PER_MS);
	assert_false(broker_is_short(desk->broker, why));
	desk_close(desk);
}

static void what_is_configured_holds_in_its_own_units(void **state)
{
	static const char text[] = "[broker]\nheadroom = 60\nheadroom-percent = 7\nheartbeat = 250\n"
				   "[retention]\nraw = 21d\nfacts = 1000d\n";
	struct broker_settings settings;
	struct config *config = NULL;
	struct config_error error;

	(void)state;
	assert_int_equal(config_parse(text, "cartbus.conf", bus_keys, &config, &error), 0);
	settings = broker_settings_read(config);
	config_free(config);
	assert_int_equal(settings.headroom_bytes, 60 * 1024 * 1024);
	assert_int_equal(settings.headroom_percent, 7);
	assert_int_equal(settings.heartbeat_us, 250 * US_PER_MS);
	assert_int_equal(settings.retention.raw_us, 21 * US_PER_DAY);
	assert_int_equal(settings.retention.facts_us, 1000 * US_PER_DAY);
	assert_int_equal(settings.idem_window_us, broker_settings_default.idem_window_us);
	assert_int_equal(settings.backfill_bytes, broker_settings_default.backfill_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_messages_are_refused_for_now_with_the_reason),
		cmocka_unit_test(what_is_there_comes_to_its_end),
		cmocka_unit_test(a_share_of_the_file_system_counts_too),
		cmocka_unit_test(what_is_configured_holds_in_its_own_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
