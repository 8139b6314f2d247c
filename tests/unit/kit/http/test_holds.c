/* test_holds.c: requests that hold before their last byte, and the bounds of answers, with a server of the test's */
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PATIENCE = 4000,
	QUIET_ROUNDS = 10,
	LOOK_MS = 2,
	ANSWER_MOST = 64,
	LONG_BODY = 30000,
	HEAD_LINES = 66,
	HEAD_LINE = 1024
};

static struct clock now;
static struct http_client *client;
static struct http_request request;
static struct http_call *call;
static struct http_answer answer;
static int listener, peer = -1, helds, answers;
static int64_t until_us;
static char heard[LONG_BODY + 2000];
static size_t heard_len;
static bool peer_ended;

static void on_held(void *context, struct http_call *held)
{
	(void)context;
	assert_ptr_equal(held, call);
	helds++;
}

static void on_done(void *context, const struct http_answer *told)
{
	(void)context;
	answer = *told;
	answers++;
}

static int64_t tell_until(void *context)
{
	(void)context;
	return until_us;
}

static const struct http_caller caller = { .held = on_held, .until_us = tell_until, .done = on_done };

static void begin_anew(void)
{
	if (peer >= 0)
		close(peer);
	peer = -1;
	heard_len = 0;
	heard[0] = '\0';
	helds = answers = 0;
	peer_ended = false;
}

static int setup(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	(void)state;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(listener, (struct sockaddr *)&at, len) < 0 || listen(listener, 5) < 0)
		return -1;
	getsockname(listener, (struct sockaddr *)&at, &len);
	now = clock_system();
	client = http_client_new(&(struct http_settings){ .clock = &now });
	assert_int_equal(http_request_init(&request, "POST", "http://127.0.0.1:%d/", (int)ntohs(at.sin_port)), 0);
	request.reach = HTTP_REACH_ADMIN;
	request.holds = true;
	buffer_add_text(&request.body, "a body!");
	begin_anew();
	until_us = INT64_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	http_client_free(client);
	http_request_clear(&request);
	close(listener);
	begin_anew();
	return 0;
}

static void listen_to_peer(void)
{
	if (peer < 0)
		peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	ssize_t n = peer < 0 ? -1 : recv(peer, heard + heard_len, sizeof(heard) - heard_len - 1, 0);
	heard_len += n > 0 ? (size_t)n : 0;
	heard[heard_len] = '\0';
	peer_ended = peer_ended || n == 0 || (peer >= 0 && n < 0 && errno == ECONNRESET);
}

/* As the loop does: the client works when it is due. */
static void work(void)
{
	struct pollfd ready = { .fd = http_client_fd(client), .events = POLLIN };
	int64_t wait_us = http_client_wait_us(client);
	bool is_due = wait_us >= 0 && wait_us <= LOOK_MS * US_PER_MS;

	if (poll(&ready, 1, is_due ? (int)(wait_us / US_PER_MS) : LOOK_MS) > 0 || is_due)
		http_client_work(client);
	listen_to_peer();
}

static void await(const int *what)
{
	for (int i = 0; i < PATIENCE && *what == 0; i++)
		work();
	assert_int_equal(*what, 1);
}

static void ask(void)
{
	call = http_call_new(client, &request, &caller, NULL);
}

static const char *body_heard(void)
{
	const char *end = strstr(heard, "\r\n\r\n");

	return end ? end + 4 : "";
}

static void ask_and_await_hold(const char *without_last)
{
	ask();
	await(&helds);
	for (int i = 0; i < QUIET_ROUNDS; i++)
		work();
	assert_string_equal(body_heard(), without_last);
	assert_int_equal(answers, 0);
}

static void say(const char *text)
{
	assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void must_end(enum http_end end, bool went, const char *words)
{
	await(&answers);
	assert_int_equal(answer.end, end);
	assert_int_equal(answer.went, went);
	assert_string_equal(answer.words, words);
	assert_int_equal(answer.status, end == HTTP_ANSWERED ? strtol(words + strlen("HTTP "), NULL, 10) : 0);
	assert_int_equal(http_client_wait_us(client), -1);
}

static void must_have_kept_the_last_byte(const char *without_last)
{
	for (int i = 0; i < PATIENCE && !peer_ended; i++)
		work();
	assert_true(peer_ended);
	assert_string_equal(body_heard(), without_last);
}

/* ---- holding ---- */

static void the_last_byte_goes_after_a_yes(void **state)
{
	(void)state;
	ask_and_await_hold("a body");
	assert_int_equal(helds, 1);
	until_us = clock_boot_us(&now) + US_PER_MINUTE;
	http_call_proceed(call, true);
	for (int i = 0; i < PATIENCE && strcmp(body_heard(), "a body!") != 0; i++)
		work();
	assert_string_equal(body_heard(), "a body!");
	say("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
	must_end(HTTP_ANSWERED, true, "HTTP 202");
	must_have_kept_the_last_byte("a body!"); /* a connection of its own: nobody else uses it */
}

static void after_a_no_it_never_goes(void **state)
{
	(void)state;
	ask_and_await_hold("a body");
	http_call_proceed(call, false);
	must_end(HTTP_NOT_SENT, false, "stopped before the last byte");
	must_have_kept_the_last_byte("a body");
}

static void after_its_time_it_never_goes(void **state)
{
	(void)state;
	ask_and_await_hold("a body");
	until_us = clock_boot_us(&now) - 1;
	http_call_proceed(call, true);
	await(&answers);
	assert_int_equal(answer.end, HTTP_NOT_SENT);
	assert_false(answer.went);
	must_have_kept_the_last_byte("a body");
}

/* The client's end has it that the peer hung up: its kernel has acknowledged that. */
static void await_heard_end(void)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	for (int i = 0; i < PATIENCE && info.tcpi_state != TCP_FIN_WAIT2; i++) {
		assert_int_equal(getsockopt(peer, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
		poll(NULL, 0, info.tcpi_state == TCP_FIN_WAIT2 ? 0 : 1);
	}
	assert_int_equal(info.tcpi_state, TCP_FIN_WAIT2);
}

/* Sent after that, nobody would know what became of it. */
static void it_does_not_go_to_a_server_that_has_hung_up(void **state)
{
	(void)state;
	ask_and_await_hold("a body");
	shutdown(peer, SHUT_WR);
	await_heard_end();
	http_call_proceed(call, true);
	must_end(HTTP_NOT_SENT, false, "the server hung up before the last byte");
	must_have_kept_the_last_byte("a body");
}

static void what_is_refused_before_it_is_whole_is_answered_and_a_success_of_it_is_none(void **state)
{
	static const struct {
		const char *says;
		enum http_end end;
		const char *words;
	} cases[] = { { "HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\n", HTTP_ANSWERED, "HTTP 400" },
		{ "HTTP/1.1 503 No\r\n\r\n", HTTP_ANSWERED, "HTTP 503" },
		{ "HTTP/1.1 399 Well\r\nContent-Length: 0\r\n\r\n", HTTP_NOT_SENT,
			"it answered before it had the whole request" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", HTTP_NOT_SENT,
			"it answered before it had the whole request" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ask_and_await_hold("a body");
		say(cases[i].says);
		must_end(cases[i].end, false, cases[i].words);
		must_have_kept_the_last_byte("a body");
		begin_anew();
	}
}

static void a_call_that_is_stopped_or_whose_client_goes_keeps_its_last_byte_and_tells_nobody(void **state)
{
	(void)state;
	http_call_stop(NULL);
	ask_and_await_hold("a body");
	http_call_stop(call);
	assert_int_equal(http_client_wait_us(client), -1);
	must_have_kept_the_last_byte("a body");
	begin_anew();
	ask_and_await_hold("a body");
	http_client_free(client);
	client = http_client_new(&(struct http_settings){ .clock = &now });
	must_have_kept_the_last_byte("a body");
	assert_int_equal(answers, 0);
}

static void bodies_of_any_length_hold_before_their_last_byte_and_come_whole(void **state)
{
	static const size_t lengths[] = { 1, 2, 3, 4, 5, LONG_BODY };
	char whole[LONG_BODY + 1], without_last[LONG_BODY + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		buffer_clear(&request.body);
		for (size_t at = 0; at < lengths[i]; at++)
			buffer_add(&request.body, &"abcdefg"[at % 7], 1);
		snprintf(whole, sizeof(whole), "%s", buffer_text(&request.body));
		snprintf(without_last, sizeof(without_last), "%.*s", (int)lengths[i] - 1, whole);
		ask_and_await_hold(without_last);
		http_call_proceed(call, true);
		http_call_proceed(call, false); /* answered already */
		for (int round = 0; round < PATIENCE && strcmp(body_heard(), whole) != 0; round++)
			work();
		assert_string_equal(body_heard(), whole);
		shutdown(peer, SHUT_WR);
		await(&answers);
		assert_int_equal(answer.end, HTTP_UNKNOWN);
		assert_true(answer.went);
		begin_anew();
	}
	buffer_clear(&request.body);
	ask();
	must_end(HTTP_BARRED, false, "a request without a body cannot hold before its end");
}

/* ---- answers ---- */

static void answer_with(const char *head, const char *body)
{
	request.holds = false;
	begin_anew();
	ask();
	for (int i = 0; i < PATIENCE && strcmp(body_heard(), "a body!") != 0; i++)
		work();
	say(head);
	say(body);
	shutdown(peer, SHUT_WR);
	await(&answers);
}

static void an_answer_is_taken_up_to_its_bound(void **state)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
	char body[ANSWER_MOST + 2];
	static char lines[HEAD_LINES * HEAD_LINE + 1];

	(void)state;
	memset(body, 'x', sizeof(body));
	body[ANSWER_MOST + 1] = '\0';
	request.most_bytes = ANSWER_MOST;
	answer_with(head, body + 1);
	assert_int_equal(answer.end, HTTP_ANSWERED);
	assert_int_equal(answer.body.len, ANSWER_MOST);
	answer_with(head, body);
	assert_int_equal(answer.end, HTTP_UNKNOWN);
	assert_string_equal(answer.words, "the answer is longer than 64 bytes");
	assert_int_equal(answer.status, 0);
	assert_true(answer.went);

	memset(lines, 'x', sizeof(lines) - 1);
	for (size_t i = 0; i < HEAD_LINES; i++) {
		memcpy(lines + i * HEAD_LINE, "X: ", 3);
		memcpy(lines + (i + 1) * HEAD_LINE - 2, "\r\n", 2);
	}
	answer_with("HTTP/1.1 200 OK\r\n", lines);
	assert_int_equal(answer.end, HTTP_UNKNOWN);
	assert_string_equal(answer.words, "the answer's head is too long");
}

static void an_answer_has_until_the_deadline(void **state)
{
	(void)state;
	request.holds = false;
	request.deadline_us = 20 * US_PER_MS;
	ask();
	await(&answers);
	assert_int_not_equal(answer.end, HTTP_ANSWERED);
	assert_int_equal(answer.status, 0);
	begin_anew();
	request.holds = true; /* nobody says yes in time */
	ask();
	await(&answers);
	assert_int_equal(answer.end, HTTP_NOT_SENT);
	assert_false(answer.went);
}

static void a_wanted_header_is_told_if_it_fits(void **state)
{
	char head[600], value[129];

	(void)state;
	request.wanted[0] = "X-Fits";
	request.wanted[1] = "X-Longer";
	request.wanted[2] = "X-Missing";
	memset(value, 'v', 128);
	value[128] = '\0';
	snprintf(head, sizeof(head),
		"HTTP/1.1 200 OK\r\nX-Other: 1\r\nx-fits: %s\r\nX-Longer: %s\r\nConnection: close\r\n\r\n", value + 1,
		value);
	answer_with(head, "");
	assert_string_equal(http_answer_header(&answer, "X-Fits"), value + 1);
	assert_null(http_answer_header(&answer, "X-Longer"));
	assert_null(http_answer_header(&answer, "X-Missing"));
	assert_null(http_answer_header(&answer, "X-Other"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_byte_goes_after_a_yes),
		TEST(after_a_no_it_never_goes),
		TEST(after_its_time_it_never_goes),
		TEST(it_does_not_go_to_a_server_that_has_hung_up),
		TEST(what_is_refused_before_it_is_whole_is_answered_and_a_success_of_it_is_none),
		TEST(a_call_that_is_stopped_or_whose_client_goes_keeps_its_last_byte_and_tells_nobody),
		TEST(bodies_of_any_length_hold_before_their_last_byte_and_come_whole),
		TEST(an_answer_is_taken_up_to_its_bound),
		TEST(an_answer_has_until_the_deadline),
		TEST(a_wanted_header_is_told_if_it_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
