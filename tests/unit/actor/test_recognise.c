/* a peer knows its log again, whatever the broker says of itself */
#include "bus/actor/layers.h"
#include "bus/actor/runtime.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "cast.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define OPENING(n) ((UINT64_C(n) << 32) + 5)

/* A broker that answers every hello with this welcome, and judges nothing. */
struct naive_broker {
	struct link link;
	Welcome welcome;
	Hello heard;
	bool asked;
};

static int say(struct link *link, struct bytes frame)
{
	(void)link;
	(void)frame;
	return 0;
}

static int control(struct link *link, struct bytes message)
{
	struct naive_broker *broker = (struct naive_broker *)link;
	Control *said = memory_new(sizeof(*said));

	assert_int_equal(control_decode(message, said), 0);
	if (said->which_what == Control_hello_tag) {
		broker->heard = said->what.hello;
		broker->asked = true;
	}
	free(said);
	return 0;
}

static int hear_control(struct link *link, struct buffer *ret)
{
	struct naive_broker *broker = (struct naive_broker *)link;
	Control *answer;

	if (!broker->asked)
		return -EAGAIN;
	broker->asked = false;
	answer = memory_new(sizeof(*answer));
	answer->which_what = Control_welcome_tag;
	answer->what.welcome = broker->welcome;
	buffer_clear(ret);
	assert_int_equal(control_encode(answer, ret), 0);
	free(answer);
	return 0;
}

static int open_lane(struct link *link, const char *endpoint)
{
	(void)link;
	(void)endpoint;
	return 0;
}

static int hear_lane(struct link *link, struct buffer *ret)
{
	(void)link;
	(void)ret;
	return -EAGAIN;
}

static void close_link(struct link *link)
{
	(void)link;
}

/* A door that met `before`, ended, and now meets `after`. */
static enum runtime_phase meets(const Welcome *before, const Welcome *after, char ret_why[256])
{
	static struct effect_driver *const no_drivers[] = { NULL };
	const struct runtime_settings settings = { .instance = "door" };
	const Welcome *welcomes[] = { before, after };
	struct clock clock = clock_virtual(INT64_C(1700000000) * US_PER_S);
	struct store *kept;
	enum runtime_phase phase = RUNTIME_AWAY;

	assert_int_equal(store_open_memory(&runtime_store_options, &kept), 0);
	for (int i = 0; i < 2; i++) {
		struct naive_broker broker = { .link = { say, control, hear_control, open_lane, hear_lane, close_link,
						       NULL, NULL } };
		struct store *store = store_share_memory(kept);
		struct runtime *runtime;

		broker.welcome = *welcomes[i];
		broker.welcome.epoch = i + 1;
		broker.welcome.active = true;
		assert_int_equal(runtime_new(&door, &settings, &broker.link, &store, &clock, no_drivers, &runtime), 0);
		for (int j = 0; j < 3; j++)
			runtime_work(runtime);
		phase = runtime_phase(runtime);
		text_copy(ret_why, 256, runtime_why(runtime));
		if (i == 1) {
			assert_string_equal(broker.heard.log, before->log);
			assert_int_equal(broker.heard.remembered, before->head);
			assert_int_equal(broker.heard.opening, before->opening);
		}
		if (phase != RUNTIME_REFUSED)
			runtime_goodbye(runtime);
		runtime_free(runtime);
	}
	store_close(kept);
	return phase;
}

static const Welcome met = { .log = "one", .head = 100, .opening = OPENING(7) };

static void the_log_it_knows_may_have_grown_and_been_opened_again(void **state)
{
	char why[256];

	(void)state;
	assert_int_equal(meets(&met, &met, why), RUNTIME_READY);
	assert_int_equal(
		meets(&met, &(Welcome){ .log = "one", .head = 200, .opening = OPENING(9) }, why), RUNTIME_READY);
}

static void another_log_is_refused_with_what_to_do(void **state)
{
	char why[256];

	(void)state;
	assert_int_equal(
		meets(&met, &(Welcome){ .log = "two", .head = 200, .opening = OPENING(9) }, why), RUNTIME_REFUSED);
	assert_non_null(strstr(why, "log is two"));
	assert_non_null(strstr(why, "log one"));
	assert_non_null(strstr(why, "delete the state folder of door, but not a spool in it"));
}

static void a_log_that_has_forgotten_is_refused(void **state)
{
	char why[256];

	(void)state;
	assert_int_equal(
		meets(&met, &(Welcome){ .log = "one", .head = 99, .opening = OPENING(8) }, why), RUNTIME_REFUSED);
	assert_non_null(strstr(why, "ends at message 99, and message 100"));
	assert_int_equal(
		meets(&met, &(Welcome){ .log = "one", .head = 300, .opening = OPENING(6) }, why), RUNTIME_REFUSED);
	assert_int_equal(
		meets(&met, &(Welcome){ .log = "one", .head = 300, .opening = OPENING(7) + 1 }, why), RUNTIME_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_log_it_knows_may_have_grown_and_been_opened_again),
		cmocka_unit_test(another_log_is_refused_with_what_to_do),
		cmocka_unit_test(a_log_that_has_forgotten_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
