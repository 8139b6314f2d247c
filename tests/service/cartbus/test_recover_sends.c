/*
 * test_recover_sends.c: what a restore learns from the states and side logs that survived, row by row: promises 3, 4 and 12
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/policy/stops.h"
#include "tests/service/cartbus/recalled.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static const char HASH[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/* What was noted under this name: about what it is told; the message goes to `ret`, of the topic. */
static const json_t *noted(const struct recover_sends *recovery, const char *name, const struct topic *topic, void *ret)
{
	const json_t *one = json_object_get(recovery->said, name);

	if (!one)
		fail_msg("nothing is noted as %s", name);
	recalled_read(one, topic, ret);
	return one;
}

static void expect_noted(const json_t *one, const char *key, const char *idem, int64_t at_us)
{
	assert_string_equal(recalled_text(one, "shop"), "demo");
	assert_string_equal(recalled_text(one, "key"), key);
	assert_string_equal(recalled_text(one, "idem"), idem);
	assert_int_equal(json_integer_value(json_object_get(one, "at_us")), at_us);
}

/* ---- a service's state ---- */

static struct state *state_of(const char *log)
{
	struct store *store = NULL;
	struct state *state;

	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	state = state_new(&store);
	state_meet(state, log, 1, RECALLED_HEAD);
	state_write_projected(state);
	return state;
}

static struct message_meta said_at(const char *topic, uint64_t seq)
{
	return (struct message_meta){ .topic = topic,
		.shop = "demo",
		.key = "",
		.idem = "",
		.trace = "",
		.said_by = "",
		.seq = seq,
		.version = seq,
		.time_us = RECALLED_FROM_US + (int64_t)seq };
}

static void fold_optout(struct state *state, uint64_t seq, const char *hash, OptoutSource source)
{
	const struct message_meta said = said_at("optout.request", seq);
	OptoutRequest asked = { .source = source, .heard_us = RECALLED_FROM_US + 5 };

	TEXT_COPY(asked.address_hash, hash);
	stops_remember_optout(state, &said, &asked);
}

static void fold_feedback(struct state *state, uint64_t seq, const char *hash, FeedbackKind kind)
{
	const struct message_meta said = said_at("mail.feedback", seq);
	MailFeedback feedback = { .kind = kind, .heard_us = RECALLED_FROM_US + 6 };

	TEXT_COPY(feedback.address_hash, hash);
	stops_remember_feedback(state, &said, &feedback);
}

static void fold_listing(struct state *state, uint64_t seq, const char *hash, bool lifted)
{
	const struct message_meta said = said_at("suppression", seq);
	Suppression row = { .source = OPTOUT_IMPORT, .since_us = RECALLED_FROM_US + 7, .lifted = lifted };

	TEXT_COPY(row.address_hash, hash);
	stops_remember_suppression(state, &said, &row);
}

static void each_way_onto_the_list_becomes_an_opt_out_that_stops_again(void **state)
{
	static const struct {
		const char *hash;
		OptoutSource source;
	} wanted[] = {
		{ "1", OPTOUT_ONE_CLICK },
		{ "2", OPTOUT_PAGE },
		{ "3", OPTOUT_COMPLAINT },
		{ "4", OPTOUT_BOUNCE },
		{ "5", OPTOUT_OWNER },
	};
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);

	(void)state;
	fold_optout(folded, RECALLED_HEAD + 1, "1", OPTOUT_ONE_CLICK);
	fold_optout(folded, RECALLED_HEAD + 2, "2", OPTOUT_PAGE);
	fold_feedback(folded, RECALLED_HEAD + 3, "3", FEEDBACK_COMPLAINT);
	fold_feedback(folded, RECALLED_HEAD + 4, "4", FEEDBACK_BOUNCE_PERMANENT);
	fold_feedback(folded, RECALLED_HEAD + 5, "6", FEEDBACK_BOUNCE_TRANSIENT); /* no stop */
	fold_listing(folded, RECALLED_HEAD + 6, "5", false);
	fold_listing(folded, RECALLED_HEAD + 7, "7", true);
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said), 5);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		OptoutRequest asked;
		char name[80], idem[80];
		const json_t *one;

		snprintf(name, sizeof(name), "optout/demo/%s/%d", wanted[i].hash, (int)wanted[i].source);
		snprintf(idem, sizeof(idem), "restored/%s/%d", wanted[i].hash, (int)wanted[i].source);
		one = noted(&recovery, name, &topic_optout_request, &asked);
		assert_string_equal(asked.address_hash, wanted[i].hash);
		assert_int_equal(asked.source, wanted[i].source);
		assert_true(asked.heard_us > RECALLED_FROM_US);
		expect_noted(one, wanted[i].hash, idem, asked.heard_us);
		assert_string_equal(recalled_text(one, "subject"), wanted[i].hash);
	}
	state_free(folded);
	recalled_drop(&recovery);
}

static void fold_owners(struct state *state, uint64_t seq, const char *cart)
{
	const struct message_meta said = said_at("admin.action", seq);
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART, .at_us = RECALLED_FROM_US + 8 };

	TEXT_COPY(action.cart_id, cart);
	stops_remember_action(state, &said, &action);
}

static void fold_mode(struct state *state, uint64_t seq, ShopMode mode)
{
	const struct message_meta said = said_at("shop.status", seq);
	ShopStatus status = { .mode = mode, .priority = 50, .version = seq, .at_us = RECALLED_FROM_US + 9 };

	stops_remember_status(state, &said, &status);
}

static void fold_order(struct state *state, uint64_t seq, const char *order, const char *token)
{
	const struct message_meta said = said_at("cart.checkout", seq);
	CartCheckout checkout = {
		.has_ids = true, .bought_us = RECALLED_FROM_US + 10, .heard_us = RECALLED_FROM_US + 11
	};

	TEXT_COPY(checkout.ids.order_id, order);
	TEXT_COPY(checkout.ids.cart_token, token);
	TEXT_COPY(checkout.ids.email_hash, HASH);
	stops_remember_checkout(state, &said, &checkout);
}

static void fold_one_of_each(struct state *state, uint64_t seq)
{
	fold_optout(state, seq, "1", OPTOUT_ONE_CLICK);
	fold_owners(state, seq, "c-1");
	fold_mode(state, seq, MODE_PAUSED);
	fold_order(state, seq, "o-1", "t-1");
}

/* Numbers up to the backup's head are in the backup, if they are of its log. */
static void what_the_backup_has_is_not_learnt_again(void **state)
{
	static const struct {
		const char *log;
		uint64_t seq;
		bool is_learnt;
	} cases[] = {
		{ RECALLED_LOG, RECALLED_HEAD - 1, false },
		{ RECALLED_LOG, RECALLED_HEAD, false },
		{ RECALLED_LOG, RECALLED_HEAD + 1, true },
		{ RECALLED_OTHER_LOG, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recover_sends recovery = recalled_new();
		struct state *folded = state_of(cases[i].log);

		fold_one_of_each(folded, cases[i].seq);
		recover_sends_stops(&recovery, folded, strcmp(cases[i].log, RECALLED_LOG) == 0);
		assert_int_equal(json_object_size(recovery.said), cases[i].is_learnt ? 3 : 0);
		assert_int_equal(json_object_size(recovery.modes), cases[i].is_learnt ? 1 : 0);
		state_free(folded);
		recalled_drop(&recovery);
	}
}

/* Word for word is more than a row knows. */
static void with_a_whole_side_log_only_carts_are_learnt_from_a_state(void **state)
{
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);
	CartState cart = { .has_ids = true, .consent = CONSENT_NO, .changed_us = RECALLED_FROM_US };
	Suppression row = { .since_us = RECALLED_FROM_US };
	PrivacyState privacy = { .has_request = true, .request.heard_us = RECALLED_FROM_US };

	(void)state;
	fold_one_of_each(folded, RECALLED_HEAD + 1);
	TEXT_COPY(cart.ids.cart_id, "c-2");
	state_put(folded, "cart", "demo", "c-2", &CartState_msg, &cart);
	TEXT_COPY(row.address_hash, HASH);
	state_put(folded, "suppressed", "demo", HASH, &Suppression_msg, &row);
	TEXT_COPY(privacy.request.request_id, "r-1");
	state_put(folded, "privacy", "demo", "r-1", &PrivacyState_msg, &privacy);
	recovery.has_sidelog = true;
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said), 1);
	assert_non_null(json_object_get(recovery.said, "owner/demo/c-2"));
	assert_int_equal(json_object_size(recovery.modes), 0);
	recovery.has_sidelog = false;
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said), 6);
	assert_int_equal(json_object_size(recovery.modes), 1);
	state_free(folded);
	recalled_drop(&recovery);
}

static void what_the_owner_stopped_is_stopped_again(void **state)
{
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);
	AdminAction action;
	const json_t *one;

	(void)state;
	fold_owners(folded, RECALLED_HEAD + 1, "c-1");
	recover_sends_stops(&recovery, folded, true);
	one = noted(&recovery, "owner/demo/c-1", &topic_admin_action, &action);
	expect_noted(one, "c-1", "restored/c-1", RECALLED_FROM_US + 8);
	assert_string_equal(recalled_text(one, "subject"), "c-1");
	assert_int_equal(action.verb, ADMIN_SUPPRESS_CART);
	assert_string_equal(action.cart_id, "c-1");
	assert_string_equal(action.who, "system");
	assert_string_equal(action.reason, "stopped before the log was restored");
	assert_int_equal(action.at_us, RECALLED_FROM_US + 8);
	state_free(folded);
	recalled_drop(&recovery);
}

static void expect_mode(
	const struct recover_sends *recovery, const char *shop, ShopMode mode, int priority, const char *reason)
{
	const json_t *one = json_object_get(recovery->modes, shop);

	assert_non_null(one);
	assert_int_equal(json_integer_value(json_object_get(one, "mode")), mode);
	assert_int_equal(json_integer_value(json_object_get(one, "priority")), priority);
	assert_string_equal(recalled_text(one, "reason"), reason);
}

static void a_shops_mode_is_what_it_was_and_one_that_is_gone_is_paused(void **state)
{
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);
	const struct message_meta said = said_at("privacy.request", RECALLED_HEAD + 2);
	PrivacyRequest gone = { .kind = PRIVACY_REDACT_SHOP, .heard_us = RECALLED_FROM_US + 20 };

	(void)state;
	fold_mode(folded, RECALLED_HEAD + 1, MODE_MAIL_ME);
	recover_sends_stops(&recovery, folded, true);
	expect_mode(&recovery, "demo", MODE_MAIL_ME, 50, "as it was before the log was restored");
	TEXT_COPY(gone.request_id, "r-1");
	stops_remember_privacy(folded, &said, &gone);
	json_object_clear(recovery.modes);
	recover_sends_stops(&recovery, folded, true);
	expect_mode(&recovery, "demo", MODE_PAUSED, 100, "the storefront asked to erase this shop");
	state_free(folded);
	recalled_drop(&recovery);
}

static void the_latest_word_of_a_mode_counts(void **state)
{
	static const struct {
		int64_t at_us;
		uint64_t version; /* 0: of none, as of a shop that is to be erased */
		ShopMode mode, counts;
	} words[] = {
		{ 10, 2, MODE_LIVE, MODE_LIVE },
		{ 9, 1, MODE_PAUSED, MODE_LIVE },
		{ 10, 2, MODE_OBSERVE, MODE_OBSERVE },
		{ 11, 3, MODE_MAIL_ME, MODE_MAIL_ME },
		{ 10, 0, MODE_PAUSED, MODE_MAIL_ME },
		/* the clock was set back in between */
		{ 9, 4, MODE_LIVE, MODE_MAIL_ME },
		{ 9, 4, MODE_PAUSED, MODE_PAUSED },
		{ 12, 0, MODE_LIVE, MODE_LIVE },
	};
	struct recover_sends recovery = recalled_new();

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ShopStatus status = { .mode = words[i].mode,
			.version = words[i].version,
			.at_us = words[i].at_us,
			.resumes_to = MODE_LIVE,
			.priority = 7 };
		const json_t *one;

		TEXT_COPY(status.who, "ada");
		TEXT_COPY(status.reason, "why");
		recover_sends_note_mode(&recovery, "demo", &status);
		expect_mode(&recovery, "demo", words[i].counts, 7, "why");
		one = json_object_get(recovery.modes, "demo");
		assert_string_equal(recalled_text(one, "who"), "ada");
		assert_int_equal(json_integer_value(json_object_get(one, "resumes_to")), MODE_LIVE);
	}
	assert_null(json_object_get(recovery.modes, "other"));
	recalled_drop(&recovery);
}

/* The second restore may learn from an older copy of the side log than the one that was cut short. */
static void a_pause_that_an_older_restore_learnt_is_not_lost(void **state)
{
	struct recover_sends older = recalled_new(), recovery = recalled_new();
	ShopStatus status = { .mode = MODE_LIVE, .version = 1, .at_us = 5, .priority = 7 };

	(void)state;
	recover_sends_note_mode(&recovery, "demo", &status);
	status = (ShopStatus){ .mode = MODE_PAUSED, .version = 2, .at_us = 10, .priority = 7 };
	recover_sends_note_mode(&older, "demo", &status);
	recover_sends_note_mode(&older, "other", &status);
	recover_sends_add_modes(&recovery, older.modes);
	expect_mode(&recovery, "demo", MODE_PAUSED, 7, "");
	expect_mode(&recovery, "other", MODE_PAUSED, 7, "");
	json_object_clear(older.modes);
	status = (ShopStatus){ .mode = MODE_LIVE, .version = 1, .at_us = 5 };
	recover_sends_note_mode(&older, "demo", &status);
	recover_sends_add_modes(&recovery, older.modes);
	expect_mode(&recovery, "demo", MODE_PAUSED, 7, "");
	recalled_drop(&older);
	recalled_drop(&recovery);
}

/* It was folded under each of its names, and is one order again. */
static void an_order_is_one_message_with_all_its_names(void **state)
{
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);
	const json_t *one;
	const char *name;

	(void)state;
	fold_order(folded, RECALLED_HEAD + 1, "o-1", "t-1");
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said), 1);
	json_object_foreach(recovery.said, name, one)
	{
		CartCheckout order;

		noted(&recovery, name, &topic_cart_checkout, &order);
		assert_true(text_starts(name, "order/log-b/demo/000000000101/"));
		assert_true(text_starts(recalled_text(one, "idem"), "restored/order/log-b/demo/"));
		assert_string_equal(order.ids.order_id, "o-1");
		assert_string_equal(order.ids.cart_token, "t-1");
		assert_string_equal(order.ids.email_hash, HASH);
		assert_int_equal(order.bought_us, RECALLED_FROM_US + 10);
		assert_int_equal(order.heard_us, RECALLED_FROM_US + 10);
		assert_string_equal(recalled_text(one, "shop"), "demo");
		assert_string_equal(recalled_text(one, "subject"), "o-1");
		assert_int_equal(json_integer_value(json_object_get(one, "at_us")), RECALLED_FROM_US + 10);
	}
	fold_order(folded, RECALLED_HEAD + 2, "o-2", "t-2");
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said),
		2); /* the name that both have is the later one's, and makes no third */
	state_free(folded);
	recalled_drop(&recovery);
}

/* Each of its names may be the one by which a cart is known for bought. */
static void no_name_of_an_order_is_lost(void **state)
{
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);
	const struct message_meta said = said_at("cart.checkout", RECALLED_HEAD + 1);
	CartCheckout checkout = { .has_ids = true,
		.platform = PLATFORM_WOOCOMMERCE,
		.kind = CHECKOUT_CANCELLED,
		.test = true,
		.bought_us = RECALLED_FROM_US + 10 };
	const char *name = NULL;
	const json_t *one;
	CartCheckout order;

	(void)state;
	TEXT_COPY(checkout.ids.cart_id, "c-1");
	TEXT_COPY(checkout.ids.cart_token, "t-1");
	TEXT_COPY(checkout.ids.checkout_token, "k-1");
	TEXT_COPY(checkout.ids.checkout_id, "i-1");
	TEXT_COPY(checkout.ids.order_id, "o-1");
	TEXT_COPY(checkout.ids.customer_id, "u-1");
	TEXT_COPY(checkout.ids.email_hash, HASH);
	TEXT_COPY(checkout.payment_status, "on-hold");
	stops_remember_checkout(folded, &said, &checkout);
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said), 1);
	json_object_foreach(recovery.said, name, one)
	{
		char wanted[100];

		snprintf(wanted, sizeof(wanted), "order/log-b/demo/000000000101/%d.%d.1.on-hold", PLATFORM_WOOCOMMERCE,
			CHECKOUT_CANCELLED);
		assert_string_equal(name, wanted);
		noted(&recovery, name, &topic_cart_checkout, &order);
	}
	assert_memory_equal(&order.ids, &checkout.ids, sizeof(order.ids));
	assert_int_equal(order.platform, PLATFORM_WOOCOMMERCE);
	assert_int_equal(order.kind, CHECKOUT_CANCELLED);
	assert_true(order.test);
	assert_string_equal(order.payment_status, "on-hold");
	state_free(folded);
	recalled_drop(&recovery);
}

/* A row that is passed over hides none behind it, nor does one that is taken. */
static void every_row_of_a_table_is_looked_at(void **state)
{
	struct recover_sends recovery = recalled_new();
	struct state *folded = state_of(RECALLED_LOG);

	(void)state;
	for (int i = 0; i < 4; i++) {
		CartState cart = {
			.has_ids = true, .consent = i % 2 ? CONSENT_NO : CONSENT_YES, .changed_us = RECALLED_FROM_US
		};
		Suppression row = { .since_us = RECALLED_FROM_US, .lifted = i % 2 == 0 };
		PrivacyState privacy = { .has_request = true, .settled = i % 2 == 0 };
		char key[8];

		snprintf(key, sizeof(key), "k-%d", i);
		TEXT_COPY(cart.ids.cart_id, key);
		TEXT_COPY(row.address_hash, key);
		TEXT_COPY(privacy.request.request_id, key);
		privacy.request.heard_us = RECALLED_FROM_US;
		state_put(folded, "cart", "demo", key, &CartState_msg, &cart);
		state_put(folded, "suppressed", "demo", key, &Suppression_msg, &row);
		state_put(folded, "privacy", "demo", key, &PrivacyState_msg, &privacy);
	}
	Suppression nobody = { .since_us = RECALLED_FROM_US };
	state_put(folded, "suppressed", "demo", "nobody", &Suppression_msg, &nobody);
	recover_sends_stops(&recovery, folded, true);
	assert_int_equal(json_object_size(recovery.said), 6);
	assert_non_null(json_object_get(recovery.said, "owner/demo/k-3"));
	assert_non_null(json_object_get(recovery.said, "optout/demo/k-3/0"));
	assert_non_null(json_object_get(recovery.said, "privacy/demo/k-3"));
	state_free(folded);
	recalled_drop(&recovery);
}

static void a_cart_that_said_no_or_was_emptied_stays_so(void **state)
{
	static const struct {
		Consent consent;
		ClosedReason closed;
		int64_t changed_us;
		const char *reason; /* NULL: nothing is learnt */
	} cases[] = {
		{ CONSENT_NO, 0, 1000, "said no before the log was restored" },
		{ CONSENT_NO, CLOSED_EMPTIED, 1001, "said no before the log was restored" },
		{ CONSENT_UNKNOWN, CLOSED_EMPTIED, 1000, "emptied before the log was restored" },
		{ CONSENT_NO, 0, 999, NULL },
		{ CONSENT_UNKNOWN, CLOSED_EMPTIED, 999, NULL },
		{ CONSENT_YES, 0, 1001, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recover_sends recovery = recalled_new();
		struct state *folded = state_of(RECALLED_LOG);
		CartState cart = { .has_ids = true,
			.consent = cases[i].consent,
			.closed_reason = cases[i].closed,
			.changed_us = cases[i].changed_us };
		AdminAction action;

		TEXT_COPY(cart.ids.cart_id, "c-1");
		state_put(folded, "cart", "demo", "c-1", &CartState_msg, &cart);
		recover_sends_stops(&recovery, folded, true);
		assert_int_equal(json_object_size(recovery.said), cases[i].reason ? 1 : 0);
		if (cases[i].reason) {
			expect_noted(noted(&recovery, "owner/demo/c-1", &topic_admin_action, &action), "c-1",
				"restored/c-1", cases[i].changed_us);
			assert_int_equal(action.verb, ADMIN_SUPPRESS_CART);
			assert_string_equal(action.cart_id, "c-1");
			assert_string_equal(action.who, "system");
			assert_string_equal(action.reason, cases[i].reason);
			assert_int_equal(action.at_us, cases[i].changed_us);
		}
		state_free(folded);
		recalled_drop(&recovery);
	}
}

static void unsubs_list_and_open_requests_are_learnt_with_their_way_and_time(void **state)
{
	static const struct {
		int64_t since_us;
		bool is_over;
		bool is_learnt;
	} cases[] = { { 1000, false, true }, { 999, false, false }, { 1001, true, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recover_sends recovery = recalled_new();
		struct state *folded = state_of(RECALLED_OTHER_LOG);
		Suppression row = {
			.source = OPTOUT_PRIVACY, .since_us = cases[i].since_us, .lifted = cases[i].is_over
		};
		PrivacyState privacy = { .has_request = true, .settled = cases[i].is_over };
		OptoutRequest asked;
		PrivacyRequest request;

		TEXT_COPY(row.address_hash, HASH);
		TEXT_COPY(privacy.request.request_id, "r-1");
		privacy.request.heard_us = cases[i].since_us;
		privacy.request.kind = PRIVACY_DATA_REQUEST;
		state_put(folded, "suppressed", "demo", HASH, &Suppression_msg, &row);
		state_put(folded, "privacy", "demo", "r-1", &PrivacyState_msg, &privacy);
		recover_sends_stops(&recovery, folded, false);
		assert_int_equal(json_object_size(recovery.said), cases[i].is_learnt ? 2 : 0);
		if (cases[i].is_learnt) {
			char name[80], idem[80];

			snprintf(name, sizeof(name), "optout/demo/%s/%d", HASH, OPTOUT_PRIVACY);
			snprintf(idem, sizeof(idem), "restored/%s/%d", HASH, OPTOUT_PRIVACY);
			expect_noted(noted(&recovery, name, &topic_optout_request, &asked), HASH, idem, 1000);
			assert_int_equal(asked.heard_us, 1000);
			expect_noted(noted(&recovery, "privacy/demo/r-1", &topic_privacy_request, &request), "r-1",
				"restored/r-1", 1000);
			assert_int_equal(request.kind, PRIVACY_DATA_REQUEST);
		}
		state_free(folded);
		recalled_drop(&recovery);
	}
}

/* ---- how it is counted ---- */

static void note_optout(struct recover_sends *recovery, const char *name, const char *shop, const char *hash)
{
	OptoutRequest asked = { .source = OPTOUT_PAGE };

	TEXT_COPY(asked.address_hash, hash);
	recover_sends_note(recovery, &(struct recalled){ .name = name, .shop = shop, .key = hash, .idem = name },
		&topic_optout_request, &asked);
}

static void expect_count(const struct recover_sends *recovery, const char *kind, int wanted)
{
	json_t *count = recover_sends_count(recovery->said, recovery->modes);

	assert_int_equal(json_integer_value(json_object_get(count, kind)), wanted);
	json_decref(count);
}

static void a_person_counts_once_in_a_shop_however_often_he_was_learnt(void **state)
{
	struct recover_sends recovery = recalled_new();
	MailFeedback feedback = { .kind = FEEDBACK_COMPLAINT };

	(void)state;
	expect_count(&recovery, "opt_outs", 0);
	note_optout(&recovery, "one", "demo", HASH);
	note_optout(&recovery, "two", "demo", HASH);
	TEXT_COPY(feedback.address_hash, HASH);
	recover_sends_note(&recovery,
		&(struct recalled){ .name = "three", .shop = "demo", .key = HASH, .idem = "three" },
		&topic_mail_feedback, &feedback);
	expect_count(&recovery, "opt_outs", 1);
	note_optout(&recovery, "four", "other", HASH);
	note_optout(&recovery, "five", "demo", "b");
	expect_count(&recovery, "opt_outs", 3);
	json_object_del(json_object_get(recovery.said, "two"), "subject"); /* as an older release noted it */
	expect_count(&recovery, "opt_outs", 4);
	expect_count(&recovery, "orders", 0);
	expect_count(&recovery, "actions", 0);
	expect_count(&recovery, "privacy_requests", 0);
	expect_count(&recovery, "modes", 0);
	recalled_drop(&recovery);
}

/* By the best name that it has. */
static void an_order_counts_by_its_number_or_its_cart_or_its_shopper(void **state)
{
	static const struct {
		const char *order, *token, *hash, *customer;
		int orders; /* so far */
	} notes[] = {
		{ "o-1", "t-1", "h-1", "k-1", 1 },
		{ "o-1", "t-2", "h-2", "k-2", 1 }, /* the same order */
		{ "o-2", "t-1", "h-1", "k-1", 2 },
		{ "", "t-1", "h-1", "k-1", 3 },
		{ "", "t-1", "h-2", "k-2", 3 },
		{ "", "t-3", "h-1", "k-1", 4 },
		{ "", "", "h-1", "k-1", 5 },
		{ "", "", "h-1", "k-2", 5 },
		{ "", "", "", "k-1", 6 },
		{ "", "", "", "k-1", 6 },
	};
	struct recover_sends recovery = recalled_new();

	(void)state;
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		CartCheckout order = { .has_ids = true };
		char name[20];

		TEXT_COPY(order.ids.order_id, notes[i].order);
		TEXT_COPY(order.ids.cart_token, notes[i].token);
		TEXT_COPY(order.ids.email_hash, notes[i].hash);
		TEXT_COPY(order.ids.customer_id, notes[i].customer);
		snprintf(name, sizeof(name), "%zu", i);
		recover_sends_note(&recovery,
			&(struct recalled){ .name = name, .shop = "demo", .key = "", .idem = name },
			&topic_cart_checkout, &order);
		expect_count(&recovery, "orders", notes[i].orders);
	}
	recalled_drop(&recovery);
}

static void of_one_name_the_first_note_stays(void **state)
{
	struct recover_sends recovery = recalled_new();
	OptoutRequest asked;

	(void)state;
	note_optout(&recovery, "one", "demo", "a");
	note_optout(&recovery, "one", "other", "b");
	assert_string_equal(recalled_text(noted(&recovery, "one", &topic_optout_request, &asked), "shop"), "demo");
	assert_string_equal(asked.address_hash, "a");
	recalled_drop(&recovery);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_onto_the_list_becomes_an_opt_out_that_stops_again),
		cmocka_unit_test(what_the_backup_has_is_not_learnt_again),
		cmocka_unit_test(with_a_whole_side_log_only_carts_are_learnt_from_a_state),
		cmocka_unit_test(what_the_owner_stopped_is_stopped_again),
		cmocka_unit_test(a_shops_mode_is_what_it_was_and_one_that_is_gone_is_paused),
		cmocka_unit_test(the_latest_word_of_a_mode_counts),
		cmocka_unit_test(a_pause_that_an_older_restore_learnt_is_not_lost),
		cmocka_unit_test(an_order_is_one_message_with_all_its_names),
		cmocka_unit_test(no_name_of_an_order_is_lost),
		cmocka_unit_test(every_row_of_a_table_is_looked_at),
		cmocka_unit_test(a_cart_that_said_no_or_was_emptied_stays_so),
		cmocka_unit_test(unsubs_list_and_open_requests_are_learnt_with_their_way_and_time),
		cmocka_unit_test(a_person_counts_once_in_a_shop_however_often_he_was_learnt),
		cmocka_unit_test(an_order_counts_by_its_number_or_its_cart_or_its_shopper),
		cmocka_unit_test(of_one_name_the_first_note_stays),
	};

	return cmocka_run_group_tests_name("cartbus.recover_sends", tests, NULL, NULL);
}
