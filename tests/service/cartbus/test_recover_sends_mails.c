/* test_recover_sends_mails.c: what a restore learns of mails, and of how far it knows what forbids them, from folders of services */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/policy/sends.h"
#include "tests/service/cartbus/recalled.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>

static struct message_meta said_of(const struct topic *topic)
{
	return (struct message_meta){ .topic = topic->name,
		.shop = "demo",
		.key = "",
		.idem = "",
		.trace = "",
		.said_by = "",
		.seq = RECALLED_HEAD + 1 };
}

static void fold_mail(struct state *state, const struct topic *topic, const char *cart, uint32_t attempt, int64_t at_us)
{
	const struct message_meta said = said_of(topic);
	ReminderOutcome outcome = { .step = 1, .attempt = attempt, .at_us = at_us, .due_seq = 77 };

	TEXT_COPY(outcome.cart_id, cart);
	sends_remember_outcome(state, &said, &outcome);
}

static void fold_claim(struct state *state, const char *cart, int64_t at_us)
{
	const struct message_meta said = said_of(&topic_send_claim);
	SendClaim claim = { .step = 2, .attempt = 3, .claimed_us = at_us, .due_seq = 78 };

	TEXT_COPY(claim.cart_id, cart);
	sends_remember_claim(state, &said, &claim);
}

/* A service's folder that has folded up to here; `fills` may be NULL. */
static void put_state(const struct folder *folder, const char *name, const char *log, uint64_t cursor,
	void (*fills)(struct state *state))
{
	struct store *store = NULL;
	char path[160], why[512];
	struct state *state;

	FOLDER_PATH(path, *folder, name);
	assert_int_equal(store_open(path, &runtime_store_options, &store, why), 0);
	state = state_new(&store);
	state_meet(state, log, 1, RECALLED_HEAD);
	state_write_projected(state);
	if (fills)
		fills(state);
	state_pass(state, cursor);
	assert_int_equal(state_flush(state), 0);
	state_free(state);
}

static int learn(struct recover_sends *recovery, const struct folder *folder, const char *name)
{
	char path[160];

	FOLDER_PATH(path, *folder, name);
	return recover_sends_folder(recovery, name, path);
}

static void fill_mails(struct state *state)
{
	fold_mail(state, &topic_reminder_sent, "sent", 2, RECALLED_FROM_US);
	fold_mail(state, &topic_reminder_sent, "old", 1, RECALLED_FROM_US - 1);
	fold_mail(state, &topic_reminder_released, "released", 1, RECALLED_FROM_US + 1);
	fold_mail(state, &topic_reminder_refused, "refused", 1, RECALLED_FROM_US + 1);
	fold_mail(state, &topic_reminder_ambiguous, "both", 1, RECALLED_FROM_US + 1);
	fold_claim(state, "claimed", RECALLED_FROM_US + 1);
}

static void fill_sent(struct state *state)
{
	fold_mail(state, &topic_reminder_sent, "both", 4, RECALLED_FROM_US + 2);
}

static void fill_skipped(struct state *state)
{
	fold_mail(state, &topic_reminder_skipped, "both", 5, RECALLED_FROM_US + 3);
}

static void expect_send(
	const struct recover_sends *recovery, const char *name, enum send_phase phase, int attempt, int due_seq)
{
	const json_t *one = json_object_get(recovery->sends, name);

	if (!one)
		fail_msg("nothing is known of %s", name);
	assert_int_equal(json_integer_value(json_object_get(one, "phase")), phase);
	assert_int_equal(json_integer_value(json_object_get(one, "attempt")), attempt);
	assert_int_equal(json_integer_value(json_object_get(one, "due_seq")), due_seq);
	assert_string_equal(recalled_text(one, "shop"), "demo");
}

static void every_spent_step_after_the_backup_is_learnt_and_sent_is_the_strongest_word(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct recover_sends recovery = recalled_new();
	const json_t *one;

	(void)state;
	put_state(&folder, "sender-1", RECALLED_LOG, RECALLED_HEAD + 1, fill_mails);
	put_state(&folder, "sender-2", RECALLED_LOG, RECALLED_HEAD + 1, fill_sent);
	put_state(&folder, "waiter", RECALLED_LOG, RECALLED_HEAD + 1, fill_skipped);
	assert_int_equal(learn(&recovery, &folder, "sender-1"), 0);
	assert_int_equal(json_object_size(recovery.sends), 4);
	expect_send(&recovery, "demo/sent/1", SEND_SENT, 2, 77);
	expect_send(&recovery, "demo/refused/1", SEND_REFUSED, 1, 77);
	expect_send(&recovery, "demo/claimed/2", SEND_CLAIMED, 3, 78);
	expect_send(&recovery, "demo/both/1", SEND_AMBIGUOUS, 1, 77);
	one = json_object_get(recovery.sends, "demo/claimed/2");
	assert_string_equal(recalled_text(one, "cart"), "claimed");
	assert_int_equal(json_integer_value(json_object_get(one, "step")), 2);
	assert_int_equal(json_integer_value(json_object_get(one, "at_us")), RECALLED_FROM_US + 1);
	assert_int_equal(learn(&recovery, &folder, "sender-2"), 0);
	expect_send(&recovery, "demo/both/1", SEND_SENT, 4, 77);
	assert_int_equal(learn(&recovery, &folder, "waiter"), 0);
	expect_send(&recovery, "demo/both/1", SEND_SENT, 4, 77);
	assert_int_equal(recovery.accounts, 3);
	recalled_drop(&recovery);
}

/* How far what is known reaches, and whether that is all. */
static void who_keeps_account_says_how_far_stops_are_known(void **state)
{
	static const struct {
		const char *name, *log;
		uint64_t cursor;
		void (*fills)(struct state *state);
		int accounts;
		uint64_t known_to, stops_to;
		bool is_covered;
	} cases[] = {
		{ "sender-1", RECALLED_LOG, RECALLED_HEAD + 5, NULL, 1, RECALLED_HEAD + 5, RECALLED_HEAD + 5, true },
		{ "waiter", RECALLED_LOG, RECALLED_HEAD + 5, NULL, 1, RECALLED_HEAD + 5, RECALLED_HEAD + 5, true },
		{ "waiter", RECALLED_LOG, RECALLED_HEAD, NULL, 1, RECALLED_HEAD, RECALLED_HEAD, true },
		{ "waiter", RECALLED_LOG, RECALLED_HEAD - 1, NULL, 1, RECALLED_HEAD, RECALLED_HEAD - 1, false },
		{ "unsub", RECALLED_LOG, RECALLED_HEAD + 5, NULL, 0, RECALLED_HEAD + 5, 0,
			false }, /* knows a part of them */
		{ "exporter", RECALLED_LOG, RECALLED_HEAD - 1, NULL, 0, RECALLED_HEAD, 0, false },
		{ "exporter", RECALLED_LOG, RECALLED_HEAD + 1, fill_sent, 1, RECALLED_HEAD + 1, 0,
			false }, /* and which mails went */
		{ "sender-1", RECALLED_OTHER_LOG, RECALLED_HEAD + 5, fill_sent, 0, RECALLED_HEAD, 0,
			false }, /* nobody's of this log */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		struct recover_sends recovery = recalled_new();

		put_state(&folder, cases[i].name, cases[i].log, cases[i].cursor, cases[i].fills);
		assert_int_equal(learn(&recovery, &folder, cases[i].name), 0);
		assert_int_equal(recovery.accounts, cases[i].accounts);
		assert_int_equal(recovery.known_to, cases[i].known_to);
		assert_int_equal(recovery.stops_to, cases[i].stops_to);
		assert_int_equal(recover_sends_is_covered(&recovery), cases[i].is_covered);
		recalled_drop(&recovery);
	}
}

static void a_state_of_the_side_logs_log_is_kin_but_its_numbers_are_its_own(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct recover_sends recovery = recalled_new();

	(void)state;
	TEXT_COPY(recovery.sidelog_id, RECALLED_OTHER_LOG);
	put_state(&folder, "sender-1", RECALLED_OTHER_LOG, RECALLED_HEAD + 5, fill_sent);
	assert_int_equal(learn(&recovery, &folder, "sender-1"), 0);
	assert_int_equal(json_object_size(recovery.sends), 1);
	assert_int_equal(recovery.accounts, 1);
	assert_int_equal(recovery.known_to, RECALLED_HEAD);
	assert_int_equal(recovery.stops_to, 0);
	assert_true(recover_sends_is_kin(&recovery, RECALLED_LOG));
	assert_true(recover_sends_is_kin(&recovery, RECALLED_OTHER_LOG));
	assert_false(recover_sends_is_kin(&recovery, RECALLED_ORIGIN));
	recovery.sidelog_id[0] = '\0';
	assert_false(recover_sends_is_kin(&recovery, "")); /* a state that never met a broker */
	recalled_drop(&recovery);
}

static void a_damaged_state_is_told_and_so_is_one_that_cannot_be_read(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct recover_sends recovery = recalled_new();
	char path[160];

	(void)state;
	FOLDER_PATH(path, folder, "sender-1");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(learn(&recovery, &folder, "sender-1"), -EUCLEAN);
	assert_non_null(strstr(recalled_heard(), "sender-1 is damaged, and what it knew is not learnt"));
	assert_int_equal(recovery.accounts, 0);
	recalled_drop(&recovery);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spent_step_after_the_backup_is_learnt_and_sent_is_the_strongest_word),
		cmocka_unit_test(who_keeps_account_says_how_far_stops_are_known),
		cmocka_unit_test(a_state_of_the_side_logs_log_is_kin_but_its_numbers_are_its_own),
		cmocka_unit_test(a_damaged_state_is_told_and_so_is_one_that_cannot_be_read),
	};

	return cmocka_run_group_tests_name("cartbus.recover_sends_mails", tests, NULL, NULL);
}
