/* test_monitor.c: what is noticed and what is not */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/platform/monitor/check.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/rows.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static const char STATUS[] =
	"{\"side_log\":{\"damaged\":%s},\"disk\":{%s},\"clock\":{%s},\"connections\":{%s},\"parked_claims\":%s,"
	"\"sessions\":[{\"service\":\"waiter\"}"
	",{\"service\":\"sender\"}],\"gateways\":"
	"[{\"name\":\"gateway\",\"alive\":%s}],\"queues\":["
	"{\"name\":\"waiter\",\"ready\":%s,\"leased\":0,\"delayed\":0,\"dead\":%s,\"oldest_us\":%lld,\"failures\":%s},"
	"{\"name\":\"sender\",\"ready\":0,\"leased\":0,\"delayed\":0,\"dead\":0,\"oldest_us\":1,\"failures\":0}%s]}";

struct status {
	const char *parked, *alive, *ready, *dead, *failures, *more, *disk, *clock, *connections, *damaged;
	int64_t oldest_us;
};

static struct view view_of(struct status status)
{
	char json[1000];
	struct view view;
	snprintf(json, sizeof(json), STATUS, status.damaged ? status.damaged : "0",
		status.disk ? status.disk : "\"free_bytes\":99999999999,\"headroom_bytes\":134217728",
		status.clock ? status.clock : "\"jump_us\":0,\"why\":\"behind the log\"",
		status.connections ? status.connections : "\"last_us\":0,\"last\":\"\"",
		status.parked ? status.parked : "0", status.alive ? status.alive : "true",
		status.ready ? status.ready : "0", status.dead ? status.dead : "0", (long long)status.oldest_us,
		status.failures ? status.failures : "0", status.more ? status.more : "");
	assert_int_equal(view_read(json, &view), 0);
	view_clear(&view);
	return view;
}

/* Connections were turned away that long ago. */
static struct view turned_away(int64_t ago_us)
{
	char connections[120];

	snprintf(connections, sizeof(connections),
		"\"turned_away\":7,\"last_us\":%lld,\"last\":\"10.9.9.9, tcp: too many\"",
		(long long)(NOW_US - ago_us));
	return view_of((struct status){ .connections = connections });
}

static const struct budget budget = { .nano_usd = 15000000000, .nano_usd_per_mail = 100000, .tokens = 1000 };

static bool is_so(const struct harness *h, enum condition condition, struct view view, const char *words)
{
	Alarm alarm;
	struct circumstances now = { .state = harness_state(h),
		.view = &view,
		.now_us = NOW_US,
		.clock_rate = 1,
		.sender_failures_least = 3,
		.budget = budget };
	bool so = check(condition, &now, &alarm);
	if (so && !strstr(alarm.text, words))
		fail_msg("\"%s\" does not say \"%s\"", alarm.text, words);
	if (so)
		assert_true(alarm.remedy[0] && alarm.kind[0]);
	return so;
}

static void a_healthy_system_raises_nothing(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	for (int condition = 0; condition < CONDITION_COUNT; condition++)
		assert_false(is_so(h, (enum condition)condition, view_of((struct status){ 0 }), ""));
	harness_free(h);
}

static void the_brokers_account_is_judged(void **state)
{
	const struct {
		enum condition condition;
		struct status status;
		const char *words;
	} cases[] = {
		{ CONDITION_DEAD_LETTERS, { .dead = "3" }, "3 dead letters: waiter (3)" },
		{ CONDITION_QUEUE_STUCK, { .ready = "1", .oldest_us = NOW_US - 31 * US_PER_MINUTE },
			"waiter has waited for 31" },
		{ CONDITION_QUEUE_PAUSED, { .more = ",{\"name\":\"sender\",\"paused_us\":7}" },
			"one message at a time: sender" },
		{ CONDITION_SERVICE_MISSING, { .more = ",{\"name\":\"unsub\"}" }, "not running: unsub" },
		{ CONDITION_GATEWAY_AWAY, { .alive = "false" }, "gateway" },
		{ CONDITION_CLAIMS_PARKED, { .parked = "2" }, "2 mails wait" },
		{ CONDITION_DISK, { .disk = "\"free_bytes\":400000000,\"headroom_bytes\":134217728" },
			"381 MiB are free" },
		{ CONDITION_CLOCK, { .clock = "\"jump_us\":-7200000000,\"why\":\"the wall clock was set back\"" },
			"was set back" },
		{ CONDITION_SIDE_LOG, { .damaged = "1" }, "beside it lies 1 damaged file" },
		{ CONDITION_SIDE_LOG, { .damaged = "2" }, "beside it lie 2 damaged files" },
	};
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int condition = 0; condition < CONDITION_COUNT; condition++)
			assert_int_equal(is_so(h, (enum condition)condition, view_of(cases[i].status), cases[i].words),
				condition == (int)cases[i].condition);
	assert_false(is_so(h, CONDITION_QUEUE_STUCK,
		view_of((struct status){ .ready = "1", .oldest_us = NOW_US - 29 * US_PER_MINUTE }), ""));
	harness_free(h);
}

static struct view locked_out(const char *one, const char *other)
{
	struct view view;
	char text[300];

	snprintf(text, sizeof(text),
		"{\"queues\":[],\"sessions\":[{\"service\":\"gateway\",\"counts\":{%s}},"
		"{\"service\":\"gateway\",\"counts\":{%s}}]}",
		one, other);
	assert_int_equal(view_read(text, &view), 0);
	view_clear(&view);
	return view;
}

static void shops_whose_webhook_secret_cannot_be_used_are_counted(void **state)
{
	static const char two[] = "\"secrets_unusable\":2", one[] = "\"secrets_unusable\":1";
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	assert_true(is_so(
		h, CONDITION_WEBHOOK_SECRETS, locked_out("", one), "the webhook secret of 1 shop: what comes for it"));
	assert_true(is_so(h, CONDITION_WEBHOOK_SECRETS, locked_out(two, one),
		"the webhook secrets of 2 shops: what comes for them"));
	assert_false(is_so(h, CONDITION_WEBHOOK_SECRETS, locked_out("", ""), ""));
	harness_free(h);
}

static void a_blob_without_room_is_told_of_for_an_hour(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct view view = { .blobs_refused_us = NOW_US - 59 * US_PER_MINUTE, .blobs_refused = "mailin" };

	(void)state;
	assert_true(is_so(h, CONDITION_BLOBS_REFUSED, view, "mailin could not keep a mail"));
	snprintf(view.blobs_refused, sizeof(view.blobs_refused), "gateway");
	assert_true(is_so(h, CONDITION_BLOBS_REFUSED, view, "gateway could not keep a file"));
	view.blobs_refused_us = NOW_US - US_PER_HOUR;
	assert_false(is_so(h, CONDITION_BLOBS_REFUSED, view, ""));
	view.blobs_refused_us = 0;
	assert_false(is_so(h, CONDITION_BLOBS_REFUSED, view, ""));
	harness_free(h);
}

static struct view besieged(int64_t ago_us)
{
	struct view view;
	char text[400];

	snprintf(text, sizeof(text),
		"{\"queues\":[],\"sessions\":[{\"service\":\"gateway\",\"counts\":{\"turned_away\":3,\"turned_away_"
		"us\":%lld}},{\"service\":\"gateway\",\"counts\":{}},"
		"{\"service\":\"mailin\",\"counts\":{\"turned_away\":1,\"turned_away_us\":%lld}}]}",
		(long long)(NOW_US - ago_us), (long long)(NOW_US - 2 * ago_us));
	assert_int_equal(view_read(text, &view), 0);
	view_clear(&view);
	return view;
}

static void strangers_who_are_turned_away_are_told_of_for_ten_minutes_with_the_place(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	assert_true(is_so(
		h, CONDITION_STRANGERS, besieged(US_PER_S), "of the gateway, LMTP, and what is more is turned away"));
	assert_true(is_so(h, CONDITION_STRANGERS, besieged(9 * US_PER_MINUTE), "of the gateway, and what"));
	assert_false(is_so(h, CONDITION_STRANGERS, besieged(10 * US_PER_MINUTE), ""));
	assert_false(is_so(h, CONDITION_STRANGERS, turned_away(US_PER_S), "")); /* the broker's are another matter */
	harness_free(h);
}

static void connections_that_are_turned_away_are_told_with_whose_they_are_for_ten_minutes(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	assert_true(is_so(h, CONDITION_CONNECTIONS, turned_away(US_PER_S), "10.9.9.9, tcp: too many"));
	assert_true(is_so(h, CONDITION_CONNECTIONS, turned_away(US_PER_S),
		"of the broker's sockets, and what is more is turned away: "));
	assert_true(is_so(h, CONDITION_CONNECTIONS, turned_away(9 * US_PER_MINUTE), "10.9.9.9"));
	assert_false(is_so(h, CONDITION_CONNECTIONS, turned_away(10 * US_PER_MINUTE), ""));
	harness_free(h);
}

static struct view put_aside(int a_day, bool is_full)
{
	struct view view;
	char text[300];

	snprintf(text, sizeof(text),
		"{\"queues\":[],\"sessions\":[{\"service\":\"mailin\",\"counts\":{\"aside_day\":%d,\"aside_full\":%d}}]"
		"}",
		a_day, is_full);
	assert_int_equal(view_read(text, &view), 0);
	view_clear(&view);
	return view;
}

static void mails_that_cannot_be_read_are_told_when_they_are_many_or_have_no_room(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	assert_false(is_so(h, CONDITION_MAILS_ASIDE, put_aside(19, false), ""));
	assert_true(is_so(h, CONDITION_MAILS_ASIDE, put_aside(20, false), "20 mails of the last 24 hours"));
	assert_true(is_so(h, CONDITION_MAILS_ASIDE, put_aside(1, true), "what comes now is not taken"));
	harness_free(h);
}

static void a_service_whose_clock_is_a_minute_off_is_named(void **state)
{
	static const char status[] =
		"{\"queues\":[],\"clock\":{\"jump_us\":%d,\"why\":\"the broker's own\"},\"sessions\":["
		"{\"service\":\"waiter\",\"instance\":\"waiter\",\"host\":\"a\",\"clock_off_us\":59000000},"
		"{\"service\":\"sender\",\"instance\":\"sender-2\",\"host\":\"b\",\"clock_off_us\":%lld}]}";
	const struct {
		int jump_us;
		int64_t off_us;
		const char *words; /* NULL: nothing is said */
	} cases[] = {
		{ 0, 59 * US_PER_S, NULL },
		{ 0, 61 * US_PER_S, "the clock of sender-2 on b is 61 s ahead of the log's" },
		{ 0, -2 * US_PER_HOUR, "sender-2 on b is 7200 s behind" },
		{ 5, -2 * US_PER_HOUR, "the broker's own" },
	};
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char json[sizeof(status) + 40];
		struct view view;

		snprintf(json, sizeof(json), status, cases[i].jump_us, (long long)cases[i].off_us);
		assert_int_equal(view_read(json, &view), 0);
		view_clear(&view);
		assert_int_equal(
			is_so(h, CONDITION_CLOCK, view, cases[i].words ? cases[i].words : ""), cases[i].words != NULL);
	}
	harness_free(h);
}

static void an_answer_that_is_none_is_refused(void **state)
{
	static const char *const bad[] = { "", "[]", "{}", "{\"queues\":1}", "{\"queues\":[" };
	struct view view;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(view_read(bad[i], &view), -EINVAL);
}

static void given_due_of(struct harness *h, const char *shop, const char *cart_id, uint32_t step, int64_t decided_us)
{
	ReminderDue due = { .has_cart = true, .cart = { .has_ids = true }, .step = step, .decided_us = decided_us };
	TEXT_COPY(due.cart.ids.cart_id, cart_id);
	GIVEN(h, reminder_due, &due, .shop = shop, .key = "hash");
}

static void given_due(struct harness *h, int64_t decided_us)
{
	given_due_of(h, "demo", "c1", 1, decided_us);
}

static bool nothing_sent(struct harness *h)
{
	return is_so(h, CONDITION_NOTHING_SENT, view_of((struct status){ 0 }), "shop demo, cart/reminder c1/1");
}

static void a_reminder_without_an_outcome_is_noticed_after_half_an_hour(void **state)
{
	const struct topic *const ends[] = { &topic_reminder_sent, &topic_reminder_refused, &topic_reminder_ambiguous,
		&topic_reminder_skipped };
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1 };
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct harness *h = harness_new(&monitor, NOW_US);
		given_due(h, NOW_US - 30 * US_PER_MINUTE);
		assert_false(nothing_sent(h));
		given_due(h, NOW_US - 31 * US_PER_MINUTE);
		assert_true(nothing_sent(h));
		harness_given(h, ends[i], &(struct publish_options){ .shop = "demo", .key = "c1/1" }, &outcome);
		assert_false(nothing_sent(h));
		harness_free(h);
	}
}

static void what_was_put_off_or_paused_is_not_missed(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	Audit audit = { .action = "deferred", .cart_id = "c1" };
	ShopStatus status = { .mode = MODE_PAUSED };
	(void)state;
	given_due(h, NOW_US - US_PER_HOUR);
	GIVEN(h, shop_status, &status, .shop = "demo", .key = "demo");
	assert_false(nothing_sent(h));
	status.mode = MODE_LIVE;
	GIVEN(h, shop_status, &status, .shop = "demo", .key = "demo");
	assert_true(nothing_sent(h));
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED }), .shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
	assert_false(nothing_sent(h));
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE }), .shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
	assert_true(nothing_sent(h));
	given_due_of(h, "demo", "c1", 2, NOW_US - US_PER_HOUR);
	GIVEN(h, audit, &audit, .shop = "demo", .key = "c1");
	assert_false(nothing_sent(h));
	harness_free(h);
}

static void given_timer(struct harness *h, const char *name, uint64_t version, int64_t due_us)
{
	TimerSet set = { .version = version, .due_us = due_us };
	TEXT_COPY(set.name, name);
	GIVEN(h, timer_set, &set, .shop = "demo", .key = name, .version = version);
}

static void a_timer_that_did_not_fire_is_noticed(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	TimerFired fired = { .name = "cart/a", .version = 1 };
	TimerCancel cancel = { .name = "cart/b", .version = 2 };
	struct view view = view_of((struct status){ 0 });
	(void)state;
	given_timer(h, "cart/a", 1, NOW_US - 10 * US_PER_MINUTE);
	given_timer(h, "cart/b", 2, NOW_US - 20 * US_PER_MINUTE);
	given_timer(h, "cart/c", 1, NOW_US + US_PER_HOUR);
	assert_true(is_so(h, CONDITION_TIMERS_LATE, view, "20 minutes"));
	GIVEN(h, timer_cancel, &cancel, .shop = "demo", .key = "cart/b", .version = 2, .tombstone = true);
	assert_true(is_so(h, CONDITION_TIMERS_LATE, view, "10 minutes"));
	GIVEN(h, timer_fired, &fired, .shop = "demo", .key = "cart/a", .version = 1, .tombstone = true);
	assert_false(is_so(h, CONDITION_TIMERS_LATE, view, ""));
	given_timer(h, "cart/b", 1, NOW_US - US_PER_HOUR); /* older than the cancel */
	GIVEN(h, timer_set, (&(TimerSet){ .name = "nightly", .cron = "0 2 * * *", .due_us = NOW_US - US_PER_DAY }),
		.shop = "demo", .key = "nightly"); /* set anew when it has fired, with the time that it fired at */
	assert_false(is_so(h, CONDITION_TIMERS_LATE, view, ""));
	harness_free(h);
}

static void every_reminder_that_waits_is_counted_and_the_oldest_is_named(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct view view = view_of((struct status){ 0 });
	(void)state;
	given_due_of(h, "demo", "c1", 1, NOW_US - 40 * US_PER_MINUTE);
	given_due_of(h, "demo", "c2", 1, NOW_US - 50 * US_PER_MINUTE);
	given_due_of(h, "demo", "c3", 1, NOW_US - US_PER_MINUTE); /* it has time */
	given_due_of(h, "other", "c1", 2, NOW_US - 35 * US_PER_MINUTE);
	assert_true(is_so(h, CONDITION_NOTHING_SENT, view,
		"3 reminders were due and nothing was sent, the oldest 50 minutes ago: shop demo, cart/reminder c2/1"));
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED }), .shop = "demo", .key = "demo");
	assert_true(is_so(h, CONDITION_NOTHING_SENT, view,
		"1 reminders were due and nothing was sent, the oldest 35 minutes ago: shop other, cart/reminder "
		"c1/2"));
	harness_free(h);
}

static void every_mail_of_the_day_of_which_nobody_knows_is_counted(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct view view = view_of((struct status){ 0 });
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1 };
	(void)state;
	for (outcome.step = 1; outcome.step <= 2; outcome.step++)
		for (int shop = 0; shop < 2; shop++) {
			outcome.at_us = NOW_US - (int64_t)outcome.step * US_PER_HOUR - shop;
			GIVEN(h, reminder_ambiguous, &outcome, .shop = shop ? "demo" : "other", .key = "c1");
		}
	outcome = (ReminderOutcome){ .cart_id = "a", .step = 1, .attempt = 1, .at_us = NOW_US - US_PER_DAY - 1 };
	GIVEN(h, reminder_ambiguous, &outcome, .shop = "demo", .key = "a");
	assert_true(is_so(h, CONDITION_AMBIGUOUS, view, "of 4 mails"));
	assert_true(is_so(h, CONDITION_AMBIGUOUS, view, ": shop demo, cart/reminder c1/2")); /* the oldest */
	harness_free(h);
}

static void an_ambiguous_mail_is_told_for_a_day_or_until_it_is_known(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1, .at_us = NOW_US - US_PER_HOUR };
	struct view view = view_of((struct status){ 0 });
	(void)state;
	GIVEN(h, reminder_ambiguous, &outcome, .shop = "demo", .key = "c1/1");
	assert_true(is_so(h, CONDITION_AMBIGUOUS, view, "of 1 mails"));
	GIVEN(h, reminder_sent, &outcome, .shop = "demo", .key = "c1/1");
	assert_false(is_so(h, CONDITION_AMBIGUOUS, view, ""));
	outcome.at_us = NOW_US - US_PER_DAY - 1;
	GIVEN(h, reminder_ambiguous, &outcome, .shop = "demo", .key = "c1/1");
	assert_false(is_so(h, CONDITION_AMBIGUOUS, view, ""));
	harness_free(h);
}

/* ---- a day's mails ---- */

static void given_mails(struct harness *h, const struct topic *topic, int count, int64_t at_us)
{
	ReminderOutcome outcome = { .step = 1, .attempt = 1, .at_us = at_us };
	for (int i = 0; i < count; i++) {
		snprintf(outcome.cart_id, sizeof(outcome.cart_id), "%s-%d", topic->name, i);
		harness_given(h, topic, &(struct publish_options){ .shop = "demo", .key = outcome.cart_id }, &outcome);
	}
}

static void more_than_one_mail_in_a_hundred_that_fails_within_a_day_is_told_from_the_third_on(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct view view = view_of((struct status){ 0 });
	(void)state;
	given_mails(h, &topic_reminder_sent, 18, NOW_US - US_PER_HOUR);
	given_mails(h, &topic_reminder_refused, 2, NOW_US - 23 * US_PER_HOUR);
	assert_false(is_so(h, CONDITION_SENDER_FAILURES, view, "")); /* a tenth of them, and no more than two */
	given_mails(h, &topic_reminder_refused, 1, NOW_US - 2 * US_PER_HOUR);
	assert_true(is_so(h, CONDITION_SENDER_FAILURES, view, "of 21 mails in the last 24 hours 3 were"));
	given_mails(h, &topic_reminder_sent, 279, NOW_US);
	assert_false(is_so(h, CONDITION_SENDER_FAILURES, view, ""));
	given_mails(h, &topic_reminder_refused, 5, NOW_US - 24 * US_PER_HOUR); /* of the day before */
	assert_false(is_so(h, CONDITION_SENDER_FAILURES, view, ""));
	harness_free(h);
}

/* By the hours of the clock: NOW_US is the beginning of one. */
static void a_mail_counts_for_its_hour_and_for_a_day(void **state)
{
	static const struct {
		int64_t ago_us;
		uint32_t hour, day;
	} rows[] = { { 0, 1, 1 }, { 1, 0, 1 }, { 23 * US_PER_HOUR, 0, 1 }, { 23 * US_PER_HOUR + 1, 0, 0 },
		{ 24 * US_PER_HOUR, 0, 0 } };
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct harness *h = harness_new(&monitor, NOW_US);
		given_mails(h, &topic_reminder_refused, 3, NOW_US - rows[i].ago_us);
		assert_int_equal(rows_mailing_hour(harness_state(h), NOW_US).tried, 3 * rows[i].hour);
		assert_int_equal(rows_mailing_hour(harness_state(h), NOW_US).failed, 3 * rows[i].hour);
		assert_int_equal(rows_mailing(harness_state(h), NOW_US).failed, 3 * rows[i].day);
		assert_int_equal(is_so(h, CONDITION_SENDER_FAILURES, view_of((struct status){ 0 }), ""), rows[i].day);
		harness_free(h);
	}
}

static void given_used(struct harness *h, uint32_t tokens, int64_t nano_usd)
{
	ModelUsed used = { .purpose = "opening", .tokens_in = tokens, .cost_nano_usd = nano_usd, .at_us = NOW_US };
	GIVEN(h, model_used, &used, .shop = "demo", .key = "c1");
}

static void a_budget_is_told_at_eighty_and_at_a_hundred_percent(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_used(h, 799, 1);
	assert_false(is_so(h, CONDITION_BUDGET, view_of((struct status){ 0 }), ""));
	given_used(h, 1, 1);
	assert_true(is_so(h, CONDITION_BUDGET, view_of((struct status){ 0 }), "80 %"));
	given_used(h, 0, 15000000000);
	assert_false(is_so(h, CONDITION_BUDGET, view_of((struct status){ 0 }), ""));
	assert_true(is_so(h, CONDITION_BUDGET_SPENT, view_of((struct status){ 0 }), "15.00 of 15.00 US dollars"));
	harness_free(h);
}

static void given_backup(struct harness *h, const char *action, const char *who, int64_t at_us)
{
	Audit audit = { .grounds = "the disk is full", .at_us = at_us };
	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, who);
	GIVEN(h, audit, &audit, .shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
}

static bool backup_wrong(struct harness *h, const char *words)
{
	return is_so(h, CONDITION_BACKUP, view_of((struct status){ 0 }), words);
}

static void a_backup_that_failed_is_told_until_one_is_made(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_backup(h, "backed_up", "system", NOW_US - US_PER_DAY);
	assert_false(backup_wrong(h, ""));
	given_backup(h, "backup_failed", "system", NOW_US - US_PER_HOUR);
	assert_true(backup_wrong(h, "failed: the disk is full"));
	given_backup(h, "backed_up", "system", NOW_US);
	assert_false(backup_wrong(h, ""));
	given_backup(h, "backup_damaged", "system", NOW_US);
	given_backup(h, "backed_up", "system", NOW_US); /* the log that it is copied from may be what is damaged */
	assert_true(backup_wrong(h, "not sound"));
	given_backup(h, "backup_verified", "system", NOW_US);
	assert_false(backup_wrong(h, ""));
	harness_free(h);
}

static void backups_that_do_not_come_any_more_are_told_after_two_days(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_backup(h, "backed_up", "root", NOW_US - 9 * US_PER_DAY);
	assert_false(backup_wrong(h, "")); /* nobody asked for one each day */
	given_backup(h, "backed_up", "system", NOW_US - 2 * US_PER_DAY);
	assert_false(backup_wrong(h, ""));
	given_backup(h, "backed_up", "system", NOW_US - 50 * US_PER_HOUR);
	assert_true(backup_wrong(h, "50 hours old"));
	given_backup(h, "backed_up", "root", NOW_US);
	assert_false(backup_wrong(h, ""));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_system_raises_nothing),
		cmocka_unit_test(the_brokers_account_is_judged),
		cmocka_unit_test(shops_whose_webhook_secret_cannot_be_used_are_counted),
		cmocka_unit_test(a_blob_without_room_is_told_of_for_an_hour),
		cmocka_unit_test(strangers_who_are_turned_away_are_told_of_for_ten_minutes_with_the_place),
		cmocka_unit_test(connections_that_are_turned_away_are_told_with_whose_they_are_for_ten_minutes),
		cmocka_unit_test(mails_that_cannot_be_read_are_told_when_they_are_many_or_have_no_room),
		cmocka_unit_test(a_service_whose_clock_is_a_minute_off_is_named),
		cmocka_unit_test(an_answer_that_is_none_is_refused),
		cmocka_unit_test(a_reminder_without_an_outcome_is_noticed_after_half_an_hour),
		cmocka_unit_test(what_was_put_off_or_paused_is_not_missed),
		cmocka_unit_test(a_timer_that_did_not_fire_is_noticed),
		cmocka_unit_test(every_reminder_that_waits_is_counted_and_the_oldest_is_named),
		cmocka_unit_test(every_mail_of_the_day_of_which_nobody_knows_is_counted),
		cmocka_unit_test(an_ambiguous_mail_is_told_for_a_day_or_until_it_is_known),
		cmocka_unit_test(more_than_one_mail_in_a_hundred_that_fails_within_a_day_is_told_from_the_third_on),
		cmocka_unit_test(a_mail_counts_for_its_hour_and_for_a_day),
		cmocka_unit_test(a_budget_is_told_at_eighty_and_at_a_hundred_percent),
		cmocka_unit_test(a_backup_that_failed_is_told_until_one_is_made),
		cmocka_unit_test(backups_that_do_not_come_any_more_are_told_after_two_days),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
