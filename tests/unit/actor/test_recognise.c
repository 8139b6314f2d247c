/* a peer knows its log again, whatever the broker says of itself; and beats when the others of its host do */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
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
	int beats; /* heartbeats heard */
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
	broker->beats += said->which_what == Control_heartbeat_tag;
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

static int open_mailbox(struct link *link, const char *endpoint)
{
	(void)link;
	(void)endpoint;
	return 0;
}

static int hear_mailbox(struct link *link, struct buffer *ret)
{
	(void)link;
	(void)ret;
	return -EAGAIN;
}

static void close_link(struct link *link)
{
	(void)link;
}

static struct naive_broker naive_broker(const Welcome *welcome, uint64_t epoch)
{
	struct naive_broker broker = { .link = { say, control, hear_control, open_mailbox, hear_mailbox, close_link,
					       NULL, NULL },
		.welcome = *welcome };

	broker.welcome.epoch = epoch;
	broker.welcome.active = true;
	return broker;
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
		struct naive_broker broker = naive_broker(welcomes[i], (uint64_t)i + 1);
		struct store *store = store_share_memory(kept);
		struct runtime *runtime;

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
	assert_non_null(strstr(why, "move the files in the state folder of door away, not the folders"));
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

enum { HEARTBEAT_MS = 300, STEP_MS = 20, STEPS = 60 };

/* The steps of the boot clock, of 20 ms each, in which a process beats that was started in the first. */
static void listen_to_beats(int64_t started_us, bool ret_beats[STEPS])
{
	static struct effect_driver *const no_drivers[] = { NULL };
	const struct runtime_settings settings = { .instance = "door" };
	struct clock clock = clock_virtual(started_us);
	Welcome welcome = met;
	struct naive_broker broker;
	struct runtime *runtime;
	struct store *store;

	welcome.heartbeat_ms = HEARTBEAT_MS;
	broker = naive_broker(&welcome, 1);
	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	assert_int_equal(runtime_new(&door, &settings, &broker.link, &store, &clock, no_drivers, &runtime), 0);
	for (int i = 0; i < 3; i++)
		runtime_work(runtime);
	assert_int_equal(runtime_phase(runtime), RUNTIME_READY);
	for (int i = 0; i < STEPS; i++) {
		int before = broker.beats;

		clock.virtual_us = started_us + (i + 1) * STEP_MS * US_PER_MS;
		runtime_work(runtime);
		ret_beats[i] = broker.beats > before;
	}
	runtime_goodbye(runtime);
	runtime_free(runtime);
}

static void processes_started_apart_beat_at_the_same_moments(void **state)
{
	const int64_t start_us = INT64_C(1700000000) * US_PER_S, apart_us = 100 * US_PER_MS;
	const int later = (int)(apart_us / US_PER_MS) / STEP_MS;
	bool one[STEPS], other[STEPS];
	int beats = 0;

	(void)state;
	listen_to_beats(start_us, one);
	listen_to_beats(start_us + apart_us, other);
	for (int i = HEARTBEAT_MS / STEP_MS; i < STEPS; i++) {
		assert_int_equal(one[i], other[i - later]);
		beats += one[i];
	}
	assert_int_equal(beats, (STEPS * STEP_MS - HEARTBEAT_MS) / HEARTBEAT_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_log_it_knows_may_have_grown_and_been_opened_again),
		cmocka_unit_test(another_log_is_refused_with_what_to_do),
		cmocka_unit_test(a_log_that_has_forgotten_is_refused),
		cmocka_unit_test(processes_started_apart_beat_at_the_same_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
