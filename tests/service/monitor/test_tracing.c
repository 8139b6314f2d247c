/* test_tracing.c: what the tap hears becomes spans, with a tap that says anything and a collector that never answers */
#include "bus/actor/process/loop.h"
#include "bus/actor/process/watchdog.h"
#include "bus/actor/tap.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/zmq_link.h"
#include "services/kit/settings/settings.h"
#include "services/platform/monitor/tracing.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
enum { ROOM = 2048, BATCH = 512 };

static struct clock now;
static struct link *no_broker;
static struct activity activity;
static struct loop *loop;
static struct config *config;
static int collector;

/* ---- a tap that stands in for the broker's ---- */

static struct {
	int messages, others; /* that it gives, in this order; the others are no messages */
	uint64_t seq;
	const char *said_by;
	int at; /* the descriptor */
} heard;

int tap_open(const struct config *unused, const char *service, bool is_clear, const char *topic, struct tap **ret)
{
	(void)unused, (void)service, (void)is_clear, (void)topic;
	*ret = NULL;
	return 0;
}

void tap_close(struct tap *tap)
{
	(void)tap;
}

int tap_fd(const struct tap *tap)
{
	(void)tap;
	return heard.at;
}

int tap_next(struct tap *tap, int64_t wait_us, struct message_meta *ret_said, struct bytes *ret_payload)
{
	(void)tap, (void)wait_us;
	if (heard.messages == 0)
		return heard.others > 0 && heard.others-- ? -EBADMSG : -EAGAIN;
	heard.messages--;
	*ret_said = (struct message_meta){ .topic = "cart.changed",
		.shop = "demo",
		.key = "k",
		.idem = "i",
		.trace = TRACE,
		.said_by = heard.said_by,
		.seq = ++heard.seq,
		.time_us = US_PER_HOUR };
	*ret_payload = BYTES("", 0);
	return 0;
}

/* ---- */

static int begin(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct broker_endpoint nobody = broker_endpoint_local("/tmp");
	socklen_t len = sizeof(at);
	struct config_error error;
	int ends[2];
	char text[200];

	(void)state;
	collector = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(collector, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(collector, 1), 0);
	assert_int_equal(getsockname(collector, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	memset(&heard, 0, sizeof(heard));
	heard.said_by = "gateway-1";
	heard.at = ends[0];
	snprintf(text, sizeof(text), "[trace]\ncollector = http://127.0.0.1:%d\n", (int)ntohs(at.sin_port));
	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &config, &error), 0);
	assert_int_equal(zmq_link_new(&nobody, &no_broker), 0);
	loop = loop_new(no_broker, NULL, &activity);
	now = clock_virtual(US_PER_HOUR);
	tracing_start(loop, config, &now);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tracing_stop();
	loop_free(loop);
	no_broker->close(no_broker);
	config_free(config);
	close(heard.at);
	close(collector);
	return 0;
}

static void hear(int messages, int others)
{
	heard.messages = messages;
	heard.others = others;
	do
		loop_prepare(loop);
	while (heard.messages > 0 || heard.others > 0);
}

/* The first batch is on its way, and the room for the spans that wait meanwhile is full: one more would be dropped. */
static void bytes_that_are_no_message_are_no_span(void **state)
{
	(void)state;
	hear(BATCH, 0);
	hear(ROOM, 0);
	assert_int_equal(tracing_counts().dropped, 0);
	hear(0, 3);
	assert_int_equal(tracing_counts().dropped, 0);
	hear(1, 0);
	assert_int_equal(tracing_counts().dropped, 1);
	assert_int_equal(tracing_counts().missed, 0);
}

/* Bytes that are no message may be the first that comes. */
static void a_tap_may_begin_with_bytes_that_are_no_message(void **state)
{
	(void)state;
	hear(0, 1);
	heard.seq = 7;
	hear(1, 0);
	assert_int_equal(tracing_counts().missed, 0);
	heard.seq++;
	hear(1, 0);
	assert_int_equal(tracing_counts().missed, 1);
}

static void a_name_that_is_not_utf8_is_dropped(void **state)
{
	(void)state;
	heard.said_by = "gateway-\xff";
	hear(2, 0);
	assert_int_equal(tracing_counts().dropped, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bytes_that_are_no_message_are_no_span, begin, end),
		cmocka_unit_test_setup_teardown(a_tap_may_begin_with_bytes_that_are_no_message, begin, end),
		cmocka_unit_test_setup_teardown(a_name_that_is_not_utf8_is_dropped, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
