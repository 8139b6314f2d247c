/* test_alarm.c: what the admin is told of a storefront, when, and how often */
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/clock.h"
#include "services/kit/storefront/alarm.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/document.h"
#include <string.h>

#define NOW_US (INT64_C(1795176000) * US_PER_S)

/* Any message will do: its after is the end that is told. */
static enum verdict hear(const struct state *state, const StorefrontTask *task, struct turn *turn)
{
	storefront_alarm_say(state, turn, (enum storefront_end)task->after, task->id);
	return TURN_DONE;
}

static const struct service asker = { .name = "asker",
	.hears = HEARING(HEARS(storefront_task, hear)),
	.remembers = REMEMBERING(REMEMBERS(alarm, storefront_alarm_remember)),
	.says = SAYING(SAYS(alarm)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&asker, NOW_US);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void when_of(const char *shop, enum storefront_end end)
{
	StorefrontTask task = { .after = end, .id = "HTTP 500" };

	assert_int_equal(WHEN(h, storefront_task, &task, .shop = shop, .key = "k"), TURN_DONE);
}

static void assert_said(size_t nth, const char *kind, bool raised)
{
	Alarm alarm;
	struct message_meta how;

	assert_true(harness_said(h, &topic_alarm, nth, &alarm, &how));
	assert_string_equal(alarm.kind, kind);
	assert_int_equal(alarm.raised, raised);
	assert_int_equal(alarm.at_us, NOW_US);
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, kind);
	assert_int_equal(how.version, NOW_US);
	assert_int_equal(*alarm.remedy != '\0', raised); /* of what is over nothing is to be done */
	assert_int_equal(strstr(alarm.text, "HTTP 500") != NULL, raised);
	assert_non_null(strstr(alarm.text, "the storefront of demo "));
	if (raised)
		assert_non_null(strstr(alarm.remedy, "demo"));
}

/* Each row goes on where the one before ended: S and R are the two alarms; large, raised; small, over. */
static void each_is_told_once_and_once_that_it_is_over(void **state)
{
	static const struct {
		enum storefront_end end;
		const char *said;
	} course[] = { { STOREFRONT_END_ANSWERED, "" }, { STOREFRONT_END_SILENT, "S" }, { STOREFRONT_END_SILENT, "" },
		{ STOREFRONT_END_ANSWERED, "s" }, { STOREFRONT_END_ANSWERED, "" }, { STOREFRONT_END_REFUSED, "R" },
		{ STOREFRONT_END_REFUSED, "" }, { STOREFRONT_END_SILENT, "S" }, /* of the key that says nothing */
		{ STOREFRONT_END_REFUSED, "s" }, { STOREFRONT_END_SILENT, "S" }, { STOREFRONT_END_ANSWERED, "sr" },
		{ STOREFRONT_END_ANSWERED, "" } };

	(void)state;
	for (size_t i = 0; i < sizeof(course) / sizeof(course[0]); i++) {
		when_of("demo", course[i].end);
		assert_int_equal(harness_count(h, NULL), strlen(course[i].said));
		for (size_t k = 0; course[i].said[k]; k++)
			assert_said(k, strchr("Ss", course[i].said[k]) ? "storefront" : "storefront-key",
				strchr("SR", course[i].said[k]) != NULL);
	}
}

static void each_shop_has_its_own(void **state)
{
	(void)state;
	when_of("demo", STOREFRONT_END_SILENT);
	when_of("other", STOREFRONT_END_SILENT);
	assert_int_equal(harness_count(h, &topic_alarm), 1);
	when_of("other", STOREFRONT_END_ANSWERED);
	when_of("demo", STOREFRONT_END_ANSWERED);
	assert_int_equal(harness_count(h, &topic_alarm), 1);
	assert_said(0, "storefront", false);
}

static void alarms_of_others_are_none_of_its(void **state)
{
	Alarm alarm = { .kind = "disk", .raised = true };

	(void)state;
	GIVEN(h, alarm, &alarm, .shop = "demo", .key = "disk", .version = 1);
	assert_int_equal(state_number(harness_state(h), "storefront.alarm", "demo", "disk"), 0);
	strcpy(alarm.kind, "storefront-key");
	GIVEN(h, alarm, &alarm, .shop = "demo", .key = "storefront-key", .version = 2);
	when_of("demo", STOREFRONT_END_ANSWERED);
	assert_int_equal(harness_count(h, NULL), 1);
	assert_said(0, "storefront-key", false);
}

static void only_401_and_403_refuse_our_key(void **state)
{
	struct http_answer answer = { .end = HTTP_ANSWERED };

	(void)state;
	assert_false(storefront_refuses(NULL));
	for (answer.status = 0; answer.status < 600; answer.status++)
		assert_int_equal(storefront_refuses(&answer), answer.status == 401 || answer.status == 403);
	for (answer.status = 401; answer.status <= 403; answer.status += 2) {
		answer.end = HTTP_UNKNOWN;
		assert_false(storefront_refuses(&answer));
		answer.end = HTTP_ANSWERED;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_is_told_once_and_once_that_it_is_over, fresh, gone),
		cmocka_unit_test_setup_teardown(each_shop_has_its_own, fresh, gone),
		cmocka_unit_test_setup_teardown(alarms_of_others_are_none_of_its, fresh, gone),
		cmocka_unit_test(only_401_and_403_refuse_our_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
