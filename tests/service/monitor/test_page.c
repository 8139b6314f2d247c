/* test_page.c: GET /metrics over real connections, in virtual time: who may read it, and when it listens */
#include "bus/actor/process/loop.h"
#include "bus/actor/process/watchdog.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/zmq_link.h"
#include "services/kit/settings/settings.h"
#include "services/platform/monitor/page.h"
#include "tests/unit/cmocka_all.h"
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE = 3000, HEARD_MOST = 4000, CONNECTIONS_EACH = 16 };

static struct clock now;
static struct link *no_broker;
static struct activity activity;
static struct loop *loop;
static struct config *config;
static int taken = -1; /* its port, by somebody else */
static uint16_t port;
static char heard[HEARD_MOST];

static void write_page(struct buffer *to)
{
	buffer_add_text(to, "cartbus_up 1\n");
}

static int begin(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct broker_endpoint nobody = broker_endpoint_local("/tmp");
	socklen_t len = sizeof(at);
	struct config_error error;
	char text[200];

	(void)state;
	taken = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(taken, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(taken, 1), 0);
	assert_int_equal(getsockname(taken, (struct sockaddr *)&at, &len), 0);
	port = ntohs(at.sin_port);
	snprintf(text, sizeof(text), "[monitor]\nport = %d\nhost = metrics.example\n", (int)port);
	assert_int_equal(config_parse(text, "cartbus.conf", settings_keys, &config, &error), 0);
	assert_int_equal(zmq_link_new(&nobody, &no_broker), 0);
	loop = loop_new(no_broker, NULL, &activity);
	now = clock_virtual(US_PER_HOUR);
	page_start(loop, config, &now, write_page);
	return 0;
}

static int end(void **state)
{
	(void)state;
	page_stop();
	loop_free(loop);
	no_broker->close(no_broker);
	config_free(config);
	return 0;
}

static void turn(void)
{
	loop_prepare(loop);
	loop_wait(loop, 0);
}

static int come(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* The whole answer. `host` NULL: the request says none. */
static const char *ask(const char *method, const char *path, const char *host)
{
	struct pollfd ready = { .fd = come(), .events = POLLIN };
	char head[600];
	size_t len = 0;
	ssize_t n = -1;

	snprintf(head, sizeof(head), "%s %s HTTP/1.%d\r\n%s%s%sContent-Length: 0\r\n\r\n", method, path, host != NULL,
		host ? "Host: " : "", host ? host : "", host ? "\r\n" : "");
	assert_int_equal(send(ready.fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (int i = 0; i < PATIENCE && n != 0; i++) {
		turn();
		poll(&ready, 1, 1);
		n = recv(ready.fd, heard + len, sizeof(heard) - len - 1, MSG_DONTWAIT);
		len += n > 0 ? (size_t)n : 0;
	}
	heard[len] = '\0';
	close(ready.fd);
	return heard;
}

static void must_answer(const char *answer, int status, const char *words)
{
	char line[60];

	snprintf(line, sizeof(line), "HTTP/1.1 %d ", status);
	if (!strstr(answer, line) || !strstr(answer, words))
		fail_msg("no %d with \"%s\" in %s", status, words, answer);
}

/* ---- tests, in this order: it is one page ---- */

static void a_port_that_somebody_has_is_tried_again_after_ten_seconds(void **state)
{
	(void)state;
	assert_int_equal(loop_prepare(loop), 10 * US_PER_S);
	close(taken);
	now.virtual_us += 10 * US_PER_S - 1;
	assert_int_equal(loop_prepare(loop), 1);
	assert_int_equal(page_turned_away(), 0);
	now.virtual_us += 1;
	loop_prepare(loop);
	must_answer(ask("GET", "/metrics", "127.0.0.1"), 200, "\r\n\r\ncartbus_up 1\n");
}

static void only_the_metrics_are_there_and_only_to_be_read(void **state)
{
	const char *answer = ask("HEAD", "/metrics", "127.0.0.1");

	(void)state;
	must_answer(answer, 200, "Content-Length: 13\r\n");
	assert_null(strstr(answer, "cartbus_up"));
	must_answer(ask("GET", "/", "127.0.0.1"), 404, "/metrics");
	must_answer(ask("GET", "/metrics/", "127.0.0.1"), 404, "/metrics");
	must_answer(ask("POST", "/metrics", "127.0.0.1"), 405, "\r\nAllow: GET, HEAD\r\n");
}

/* A page of somebody else's, which a browser of this machine shows, may come by any name that leads here. */
static void it_is_told_by_an_address_or_a_name_of_ours_alone(void **state)
{
	static const char *const ours[] = { "127.0.0.1", "127.0.0.1:9895", "[::1]", "[::1]:9895", "192.0.2.7",
		"localhost", "LOCALHOST:1", "metrics.example", "Metrics.Example:80" };
	static const char *const others[] = { "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
		"metrics.example.evil", "etrics.example" };
	char longest[300], name[100];

	(void)state;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		must_answer(ask("GET", "/metrics", ours[i]), 200, "cartbus_up 1\n");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		must_answer(ask("GET", "/metrics", others[i]), 421, "[monitor] host");
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	must_answer(ask("GET", "/metrics", name), 200, "cartbus_up 1\n");
	must_answer(ask("GET", "/metrics", NULL), 200, "cartbus_up 1\n");
	memset(longest, 'a', sizeof(longest));
	longest[255] = '\0';
	must_answer(ask("GET", "/metrics", longest), 421, "[monitor] host");
}

/* On this machine nobody is told from another by an address: one who holds many connections keeps nobody out. */
static void who_comes_when_all_places_are_taken_gets_one(void **state)
{
	int idle[2 * CONNECTIONS_EACH];

	(void)state;
	for (int i = 0; i < 2 * CONNECTIONS_EACH; i++) {
		idle[i] = come();
		turn();
		now.virtual_us += US_PER_MS;
	}
	turn();
	must_answer(ask("GET", "/metrics", "127.0.0.1"), 200, "cartbus_up 1\n");
	for (int i = 0; i < 2 * CONNECTIONS_EACH; i++)
		close(idle[i]);
}

static void after_its_end_nobody_is_turned_away(void **state)
{
	(void)state;
	page_stop();
	assert_int_equal(page_turned_away(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_somebody_has_is_tried_again_after_ten_seconds),
		cmocka_unit_test(only_the_metrics_are_there_and_only_to_be_read),
		cmocka_unit_test(it_is_told_by_an_address_or_a_name_of_ours_alone),
		cmocka_unit_test(who_comes_when_all_places_are_taken_gets_one),
		cmocka_unit_test(after_its_end_nobody_is_turned_away),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
