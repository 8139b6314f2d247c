/* test_privacy.c: what storefronts ask for on behalf of a person's rights */
#include "bus/actor/sim/harness.h"
#include "proto/platform_topics.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static struct harness *fresh(void)
{
	return harness_new(&unsub, 1000);
}

static enum verdict ask(struct harness *h, const char *id, PrivacyKind kind, const char *address_hash)
{
	PrivacyRequest request = {
		.kind = kind, .customer_id = "7", .platform_topic = "customers/redact", .heard_us = 900
	};

	strcpy(request.request_id, id);
	strcpy(request.address_hash, address_hash);
	return WHEN(h, privacy_request, &request, .shop = "demo", .key = id);
}

static enum verdict settle(struct harness *h, const char *id, const char *address_hash)
{
	AdminAction action = { .verb = ADMIN_SETTLE_PRIVACY, .who = "anna", .reason = "erased", .at_us = 950 };

	strcpy(action.request_id, id);
	strcpy(action.address_hash, address_hash);
	return WHEN(h, admin_action, &action, .shop = "demo", .key = "k");
}

static void assert_alarm(struct harness *h, bool raised, const char *begins)
{
	struct message_meta said;
	Alarm alarm;

	assert_true(harness_said(h, &topic_alarm, 0, &alarm, &said));
	assert_int_equal(alarm.raised, raised);
	assert_string_equal(alarm.kind, "privacy");
	assert_string_equal(said.shop, "demo");
	assert_int_equal(strncmp(alarm.text, begins, strlen(begins)), 0);
}

static void a_request_to_erase_lists_the_person_and_stands_with_an_alarm(void **state)
{
	struct harness *h = fresh();
	Suppression listed;
	PrivacyState row;
	struct message_meta said;
	Audit audit;

	(void)state;
	assert_int_equal(ask(h, "p1", PRIVACY_REDACT_CUSTOMER, "h"), TURN_DONE);
	assert_true(harness_said(h, &topic_suppression, 0, &listed, NULL));
	assert_int_equal(listed.source, OPTOUT_PRIVACY);
	assert_true(harness_said(h, &topic_privacy_state, 0, &row, &said));
	assert_false(row.settled);
	assert_string_equal(row.request.customer_id, "7");
	assert_int_equal(said.version, 1);
	assert_false(said.tombstone);
	assert_true(harness_said(h, &topic_audit, 1, &audit, NULL));
	assert_string_equal(audit.action, "erasure_asked");
	assert_string_equal(audit.who, "storefront");
	assert_string_equal(audit.address_hash, "h");
	assert_alarm(h, true, "1 request of shop demo");
	harness_free(h);
}

static void the_same_request_twice_is_one(void **state)
{
	struct harness *h = fresh();

	(void)state;
	ask(h, "p1", PRIVACY_REDACT_CUSTOMER, "h");
	assert_int_equal(ask(h, "p1", PRIVACY_REDACT_CUSTOMER, "h"), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	settle(h, "p1", "");
	assert_int_equal(ask(h, "p1", PRIVACY_REDACT_CUSTOMER, "h"), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0); /* repeated late, when it was done */
	harness_free(h);
}

static void who_asks_for_his_data_stays_off_the_list(void **state)
{
	struct harness *h = fresh();
	Audit audit;

	(void)state;
	assert_int_equal(ask(h, "p1", PRIVACY_DATA_REQUEST, "h"), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_suppression), 0);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "data_asked");
	assert_alarm(h, true, "1 request");
	harness_free(h);
}

static void a_request_without_an_address_is_open_all_the_same(void **state)
{
	struct harness *h = fresh();

	(void)state;
	assert_int_equal(ask(h, "p1", PRIVACY_REDACT_CUSTOMER, ""), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_suppression), 0);
	assert_int_equal(harness_count(h, &topic_privacy_state), 1);
	assert_int_equal(ask(h, "p2", PRIVACY_REDACT_SHOP, ""), TURN_DONE);
	assert_alarm(h, true, "2 requests");
	assert_int_equal(ask(h, "", PRIVACY_REDACT_CUSTOMER, "h"), TURN_DEAD_LETTER);
	harness_free(h);
}

static void the_alarm_ends_with_the_last_of_them(void **state)
{
	struct harness *h = fresh();
	PrivacyState row;
	struct message_meta said;
	Audit audit;

	(void)state;
	ask(h, "p1", PRIVACY_REDACT_CUSTOMER, "h");
	ask(h, "p2", PRIVACY_DATA_REQUEST, "h");
	ask(h, "p3", PRIVACY_DATA_REQUEST, "other");
	assert_int_equal(settle(h, "p3", ""), TURN_DONE);
	assert_true(harness_said(h, &topic_privacy_state, 0, &row, &said));
	assert_true(row.settled && said.tombstone);
	assert_string_equal(row.who, "anna");
	assert_int_equal(said.version, 2);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "privacy_settled");
	assert_string_equal(audit.who, "anna");
	assert_string_equal(audit.before, "open");
	assert_alarm(h, true, "2 requests");
	assert_int_equal(settle(h, "p3", ""), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(settle(h, "", "h"), TURN_DONE); /* an erasure settles all requests of the person */
	assert_int_equal(harness_count(h, &topic_privacy_state), 2);
	assert_alarm(h, false, "all privacy requests");
	harness_free(h);
}

static void what_names_no_request_is_not_settled(void **state)
{
	struct harness *h = fresh();

	(void)state;
	assert_int_equal(settle(h, "", ""), TURN_DEAD_LETTER);
	assert_int_equal(settle(h, "unheard-of", ""), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* The record of a privacy request names the person or shop it is about, the webhook or command that brought it, and what was asked. */
static void each_request_is_in_the_record_with_what_it_came_by(void **state)
{
	static const struct {
		PrivacyKind kind;
		const char *topic, *address_hash, *action, *grounds, *key;
	} cases[] = {
		{ PRIVACY_REDACT_CUSTOMER, "customers/redact", "h", "erasure_asked", "request p1 by customers/redact",
			"h" },
		{ PRIVACY_REDACT_CUSTOMER, "", "", "erasure_asked",
			"request p1 by the storefront; it names no mail address", "demo" },
		{ PRIVACY_REDACT_SHOP, "shop/redact", "", "shop_erasure_asked", "request p1 by shop/redact", "demo" },
		{ PRIVACY_DATA_REQUEST, "customers/data_request", "", "data_asked",
			"request p1 by customers/data_request; it names no mail address", "demo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = fresh();
		PrivacyRequest request = { .kind = cases[i].kind, .request_id = "p1", .heard_us = 900 };
		struct message_meta said;
		Audit audit;
		size_t nth;

		strcpy(request.platform_topic, cases[i].topic);
		strcpy(request.address_hash, cases[i].address_hash);
		assert_int_equal(WHEN(h, privacy_request, &request, .shop = "demo", .key = "p1"), TURN_DONE);
		nth = harness_count(h, &topic_audit) - 1; /* in front of it, that the person was listed */
		assert_int_equal(nth, harness_count(h, &topic_suppression));
		assert_true(harness_said(h, &topic_audit, nth, &audit, &said));
		assert_string_equal(said.key, cases[i].key);
		assert_string_equal(audit.action, cases[i].action);
		assert_string_equal(audit.who, "storefront");
		assert_string_equal(audit.grounds, cases[i].grounds);
		assert_string_equal(audit.address_hash, cases[i].address_hash);
		assert_string_equal(audit.before, "not asked");
		assert_string_equal(audit.after, "open");
		assert_int_equal(audit.at_us, 1000);
		assert_int_equal(settle(h, "p1", ""), TURN_DONE);
		assert_true(harness_said(h, &topic_audit, 0, &audit, &said));
		assert_string_equal(audit.grounds, "erased");
		assert_string_equal(audit.before, "open");
		assert_string_equal(audit.after, "settled");
		assert_string_equal(said.key, cases[i].key);
		harness_free(h);
	}
}

static void what_is_settled_says_when_and_why_and_stays_so(void **state)
{
	struct harness *h = fresh();
	PrivacyState row, late;
	struct message_meta said;

	(void)state;
	ask(h, "p1", PRIVACY_DATA_REQUEST, "h");
	assert_true(harness_said(h, &topic_privacy_state, 0, &late, &said));
	assert_int_equal(late.version, 1);
	assert_int_equal(said.version, 1);
	assert_false(late.settled || said.tombstone);
	assert_string_equal(said.key, "p1");
	harness_now(h, 2000);
	assert_int_equal(settle(h, "p1", "other"), TURN_DONE); /* its id says which */
	assert_true(harness_said(h, &topic_privacy_state, 0, &row, &said));
	assert_int_equal(row.settled_us, 2000);
	assert_string_equal(row.reason, "erased");
	assert_int_equal(row.version, 2);
	assert_string_equal(row.request.address_hash, "h");
	GIVEN(h, privacy_state, &late, .shop = "demo", .key = "p1", .version = 1); /* what was so before */
	assert_int_equal(settle(h, "p1", ""), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void requests_of_others_stay_open(void **state)
{
	struct harness *h = fresh();
	PrivacyState row;

	(void)state;
	ask(h, "p1", PRIVACY_DATA_REQUEST, "h");
	ask(h, "p2", PRIVACY_DATA_REQUEST, "other");
	assert_int_equal(settle(h, "", "h"), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_privacy_state), 1);
	assert_true(harness_said(h, &topic_privacy_state, 0, &row, NULL));
	assert_string_equal(row.request.request_id, "p1");
	assert_alarm(h, true, "1 request");
	assert_int_equal(settle(h, "", "h"), TURN_DONE); /* there is none any more */
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* A storefront may ask again and again for one person, under another id each time. */
static void all_requests_of_a_person_are_counted_and_settled(void **state)
{
	enum { OTHERS = 1100, HIS = 100 };
	struct harness *h = fresh();
	char id[20], begin[40];

	(void)state;
	for (int i = 0; i < OTHERS + HIS; i++) {
		snprintf(id, sizeof(id), "p%04d", i);
		ask(h, id, PRIVACY_DATA_REQUEST, i < OTHERS ? "other" : "h");
	}
	snprintf(begin, sizeof(begin), "%d requests", OTHERS + HIS);
	assert_alarm(h, true, begin);
	assert_int_equal(settle(h, "", "h"), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_privacy_state), HIS);
	snprintf(begin, sizeof(begin), "%d requests", OTHERS);
	assert_alarm(h, true, begin);
	assert_int_equal(settle(h, "", "other"), TURN_DONE);
	assert_alarm(h, false, "all privacy requests");
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_to_erase_lists_the_person_and_stands_with_an_alarm),
		cmocka_unit_test(the_same_request_twice_is_one),
		cmocka_unit_test(who_asks_for_his_data_stays_off_the_list),
		cmocka_unit_test(a_request_without_an_address_is_open_all_the_same),
		cmocka_unit_test(the_alarm_ends_with_the_last_of_them),
		cmocka_unit_test(what_names_no_request_is_not_settled),
		cmocka_unit_test(each_request_is_in_the_record_with_what_it_came_by),
		cmocka_unit_test(what_is_settled_says_when_and_why_and_stays_so),
		cmocka_unit_test(requests_of_others_stay_open),
		cmocka_unit_test(all_requests_of_a_person_are_counted_and_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
