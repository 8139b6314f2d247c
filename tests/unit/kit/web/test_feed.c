/*
 * test_feed.c: answers without an end, over real connections and in virtual time
 *
 * Its owner answers /feed with a feed that begins with "hello", /late with one when the test says so, and all else as web_served.h does.
 */
#include "tests/unit/descriptors.h"
#include "web_served.h"

enum { FEEDS = 100, EVENTS = 1000, ROOM = 16 * 1024, NETWORK = 20 };

static const struct web_limits wide = { .head_most = 2000,
	.body_most = 1000,
	.sources = { .connections_each = 130,
		.connections_all = 130,
		.bytes_each = 1024 * 1024,
		.bytes_all = 1024 * 1024,
		.work_percent_each = 100,
		.work_percent_all = 100,
		.work_burst_us = US_PER_S,
		.sources_most = 200 },
	.feeds_each = FEEDS,
	.feeds_all = FEEDS,
	.feed_bytes = ROOM };

static struct web_request *feeding[FEEDS];
static int feeds, ended, refills, next_event;

/* ---- the owner ---- */

static bool decide(void *context, struct web_request *asked)
{
	const char *path = asked->request.path;

	if (strcmp(path, "/feed") != 0 && strcmp(path, "/late") != 0)
		return answer_metrics(context, asked);
	asked->answer.status = 200;
	asked->answer.feed = true;
	asked->answer.content_type = "text/event-stream";
	buffer_add_text(&asked->answer.body, "hello\n\n");
	if (feeds < FEEDS)
		feeding[feeds++] = asked;
	return strcmp(path, "/feed") == 0;
}

static void end(void *context, struct web_request *asked)
{
	(void)context;
	for (int i = 0; i < feeds; i++) {
		if (feeding[i] != asked)
			continue;
		feeding[i] = NULL;
		ended++;
	}
}

/* Adds further events until the feed is full. */
static void add_events(struct web_request *asked)
{
	char event[40];

	while (next_event < EVENTS) {
		snprintf(event, sizeof(event), "id: %d\ndata: %020d\n\n", next_event, next_event);
		if (web_feed(asked, bytes_of(event)) < 0)
			return;
		next_event++;
	}
}

static void refill(void *context, struct web_request *asked)
{
	(void)context;
	refills++;
	add_events(asked);
}

static void begin_feeds(const struct web_limits *limits)
{
	const struct web_owner owner = { .judge_head = judge_head, .decide = decide, .refill = refill, .end = end };

	feeds = ended = refills = 0;
	next_event = EVENTS;
	begin_owned(limits, "", &owner);
}

/* ---- its clients ---- */

static int open_feed(const char *head)
{
	int who = connect_from("127.0.0.1");

	send_text(who, head);
	await(who, "hello\n\n");
	return who;
}

static int open_feed_1_1(void)
{
	return open_feed("GET /feed HTTP/1.1\r\nHost: x\r\n\r\n");
}

static void hang_up(int who)
{
	close(client[who]);
	client[who] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); /* teardown closes it */
	work();
}

/* When there is no server any more. */
static void await_end(int who)
{
	struct pollfd ready = { .fd = client[who], .events = POLLIN };

	for (int i = 0; i < PATIENCE_MS / QUIET_MS && !strstr(heard(who), "<end>"); i++)
		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
}

/* The chunks of an answer in `text`, put together. true: the last one is among them. */
static bool join_chunks(char *text, size_t len, char *ret)
{
	char *at = memmem(text, len, "\r\n\r\n", 4), *stop = text + len;
	size_t size;

	for (at += 4; at < stop; at += size + 2) {
		size = strtoul(at, &at, 16);
		at += 2;
		if (size == 0)
			return true;
		memcpy(ret, at, size);
		ret += size;
		*ret = '\0';
	}
	return false;
}

/* ---- what they get ---- */

static void a_hundred_feeds_get_what_is_added_and_ordinary_requests_are_answered_between(void **state)
{
	char word[20];

	(void)state;
	begin_feeds(&wide);
	for (int i = 0; i < FEEDS; i++)
		open_feed_1_1();
	assert_int_equal(web_feeds(web), FEEDS);
	for (int i = 0; i < FEEDS; i++) {
		snprintf(word, sizeof(word), "event %d\n\n", i);
		assert_int_equal(web_feed(feeding[i], bytes_of(word)), 0);
	}
	send_text(connect_from("127.0.0.1"), "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(FEEDS, "200");
	for (int i = 0; i < FEEDS; i++) {
		snprintf(word, sizeof(word), "\r\nevent %d\n\n", i);
		await(i, word);
	}
	assert_int_equal(ended, 0);
}

static void a_burst_of_a_thousand_events_arrives_whole_and_in_order(void **state)
{
	static char text[EVENTS * 100], joined[EVENTS * 100];
	char event[40], *at = joined + strlen("hello\n\n");
	struct pollfd ready = { .events = POLLIN };
	size_t len = 0;
	ssize_t n = -1;

	(void)state;
	begin_feeds(&wide);
	send_text(connect_from("127.0.0.1"), "GET /feed HTTP/1.1\r\nHost: x\r\n\r\n");
	next_event = 0;
	add_events(feeding[0]);
	assert_in_range(next_event, 1, EVENTS - 1); /* more than fits */
	ready.fd = client[0];
	for (int i = 0; i < PATIENCE_MS && n != 0; i++) {
		work();
		if (next_event == EVENTS && feeding[0])
			web_feed_end(feeding[0]);
		poll(&ready, 1, 1);
		n = recv(client[0], text + len, sizeof(text) - len, 0);
		len += n > 0 ? (size_t)n : 0;
	}
	assert_true(refills > 0);
	assert_true(join_chunks(text, len, joined));
	for (int i = 0; i < EVENTS; i++) {
		snprintf(event, sizeof(event), "id: %d\ndata: %020d\n\n", i, i);
		assert_memory_equal(at, event, strlen(event));
		at += strlen(event);
	}
	assert_string_equal(at, "");
	assert_int_equal(ended, 1);
}

static void a_feed_may_begin_later(void **state)
{
	(void)state;
	begin_feeds(&wide);
	send_text(connect_from("127.0.0.1"), "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(web_feed(feeding[0], bytes_of("too early")), -EPIPE);
	web_answer(feeding[0]);
	assert_int_equal(web_feed(feeding[0], bytes_of("more")), 0);
	await(0, "more\r\n");
	web_feed_end(feeding[0]);
	assert_int_equal(web_feed(feeding[0], bytes_of("too late")), -EPIPE);
	await(0, "0\r\n\r\n<end>");
	assert_int_equal(ended, 1);
}

static void a_client_of_http_1_0_gets_no_chunks(void **state)
{
	const char *text;

	(void)state;
	begin_feeds(&wide);
	send_text(connect_from("127.0.0.1"), "GET /feed HTTP/1.0\r\n\r\n");
	text = await(0, "\r\n\r\nhello\n\n");
	assert_null(strstr(text, "Transfer-Encoding"));
	assert_non_null(strstr(text, "Connection: close\r\n"));
	web_feed(feeding[0], bytes_of("more\n\n"));
	assert_string_equal(await(0, "more\n\n"), "more\n\n");
	web_feed_end(feeding[0]);
	assert_string_equal(await(0, "<end>"), "<end>");
}

static void what_only_asks_for_the_head_of_a_feed_gets_no_feed(void **state)
{
	(void)state;
	begin_feeds(&wide);
	send_text(connect_from("127.0.0.1"), "HEAD /feed HTTP/1.1\r\nHost: x\r\n\r\n");
	await(0, "\r\n\r\n<end>");
	assert_int_equal(ended, 1);
	assert_int_equal(web_feeds(web), 0);
}

/* ---- who has to go ---- */

static void a_client_that_goes_away_while_nothing_is_said_is_noticed_and_its_descriptor_is_free_again(void **state)
{
	int lowest;

	(void)state;
	begin_feeds(&wide);
	lowest = lowest_free_descriptor();
	for (int i = 0; i < 50; i++)
		open_feed_1_1();
	for (int i = 0; i < 50; i++) {
		close(client[i]);
		client[i] = -1;
	}
	work();
	assert_int_equal(ended, 50);
	assert_int_equal(web_feeds(web), 0);
	assert_int_equal(web_connections(web), 0);
	assert_int_equal(lowest_free_descriptor(), lowest);
}

/* Adds to the feed until it is full, and the kernel too. */
static void fill(struct web_request *asked)
{
	static char much[ROOM];
	int r = 0;

	memset(much, 'x', sizeof(much));
	for (int i = 0; i < ROUNDS_MOST && (r == 0 || i < 10); i++) {
		r = web_feed(asked, BYTES(much, sizeof(much)));
		for (int j = 0; j < 20; j++)
			web_work(web);
	}
	assert_int_equal(r, -ENOBUFS);
}

static void whoever_goes_away_in_another_way_is_noticed_too(void **state)
{
	const struct linger at_once = { .l_onoff = 1 };

	(void)state;
	begin_feeds(&wide);
	open_feed_1_1();
	setsockopt(client[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	hang_up(0);
	assert_int_equal(ended, 1);
	open_feed_1_1();
	send_text(1, "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(ended, 1);
	hang_up(1);
	assert_int_equal(ended, 2);
	open_feed_1_1();
	fill(feeding[2]);
	hang_up(2);
	assert_int_equal(ended, 3);
	pass(3 * US_PER_S);
	assert_int_equal(web_connections(web), 0);
}

/* The kernels may still move some bytes when the feed is full. */
static void a_client_that_does_not_read_is_cut_after_thirty_seconds_and_others_are_not(void **state)
{
	int seconds = 0;

	(void)state;
	begin_feeds(&wide);
	open_feed_1_1();
	open_feed_1_1();
	fill(feeding[0]);
	for (; ended == 0 && seconds < 100; seconds++)
		pass(US_PER_S);
	assert_in_range(seconds, 30, 50);
	assert_null(feeding[0]);
	assert_int_equal(web_counters(web)->cut_off, 1);
	for (int i = 0; i < 100; i++)
		pass(US_PER_MINUTE);
	assert_int_equal(web_feed(feeding[1], bytes_of("still here")), 0);
	await(1, "still here");
}

static void a_client_that_reads_slowly_stays_while_it_reads(void **state)
{
	static char some[200 * 1024];

	(void)state;
	begin_feeds(&wide);
	open_feed_1_1();
	for (int i = 0; i < 10; i++) {
		fill(feeding[0]);
		pass(20 * US_PER_S);
		assert_int_equal(ended, 0);
		assert_true(recv(client[0], some, sizeof(some), 0) > 0);
		work();
	}
	while (recv(client[0], some, sizeof(some), 0) > 0)
		work();
	for (int i = 0; i < 100; i++)
		pass(US_PER_S);
	assert_int_equal(ended, 0);
	assert_int_equal(web_counters(web)->cut_off, 0);
}

static void a_feed_that_ends_does_not_wait_for_a_client_for_ever(void **state)
{
	(void)state;
	begin_feeds(&wide);
	open_feed_1_1();
	fill(feeding[0]);
	web_feed_end(feeding[0]);
	pass(29 * US_PER_S);
	assert_int_equal(ended, 0);
	pass(6 * US_PER_S);
	assert_int_equal(ended, 1);
}

static void more_feeds_than_there_are_places_are_told_so(void **state)
{
	struct web_limits tight = wide;

	(void)state;
	tight.feeds_each = 2;
	tight.feeds_all = 3;
	begin_feeds(&tight);
	open_feed_1_1();
	open_feed_1_1();
	send_text(connect_from("127.0.0.1"), "GET /feed HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(2, "503");
	assert_int_equal(ended, 1);
	send_text(connect_from("127.0.0.2"), "GET /feed HTTP/1.1\r\nHost: x\r\n\r\n");
	await(3, "hello\n\n");
	send_text(connect_from("127.0.0.3"), "GET /feed HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(4, "503");
	assert_int_equal(web_counters(web)->turned_away, 2);
	hang_up(0);
	open_feed_1_1();
	send_text(connect_from("127.0.0.3"), "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(6, "200");
}

static void without_limits_for_feeds_there_are_none(void **state)
{
	(void)state;
	begin_feeds(&few);
	send_text(connect_from("127.0.0.1"), "GET /feed HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(0, "503");
	assert_int_equal(web_feeds(web), 0);
}

/* Strangers who ask for nothing go first; a feed goes when nobody else is left. */
static void a_feed_makes_room_last(void **state)
{
	struct web_limits tight = wide;

	(void)state;
	tight.sources.connections_each = tight.sources.connections_all = 4;
	begin_feeds(&tight);
	for (int i = 0; i < 2; i++)
		open_feed_1_1();
	for (int i = 0; i < 10; i++)
		connect_from("127.0.0.2");
	assert_int_equal(ended, 0);
	send_text(connect_from("127.0.0.1"), "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(12, "200");
	assert_int_equal(ended, 0);
	for (int i = 0; i < 2; i++)
		open_feed_1_1();
	assert_int_equal(ended, 0);
	send_text(connect_from("127.0.0.3"), "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(15, "200");
	assert_int_equal(ended, 1);
}

static void a_server_that_stops_ends_its_feeds(void **state)
{
	int lowest = lowest_free_descriptor();

	(void)state;
	begin_feeds(&wide);
	for (int i = 0; i < 20; i++)
		open_feed_1_1();
	fill(feeding[0]);
	web_leave(web);
	assert_int_equal(web_feed(feeding[1], bytes_of("still here")), 0);
	await(1, "still here");
	web_free(web);
	web = NULL;
	assert_int_equal(ended, 20);
	for (int i = 1; i < 20; i++)
		await_end(i);
	for (int i = 0; i < 20; i++)
		close(client[i]);
	clients = 0;
	assert_int_equal(lowest_free_descriptor(), lowest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_hundred_feeds_get_what_is_added_and_ordinary_requests_are_answered_between),
		TEST(a_burst_of_a_thousand_events_arrives_whole_and_in_order),
		TEST(a_feed_may_begin_later),
		TEST(a_client_of_http_1_0_gets_no_chunks),
		TEST(what_only_asks_for_the_head_of_a_feed_gets_no_feed),
		TEST(a_client_that_goes_away_while_nothing_is_said_is_noticed_and_its_descriptor_is_free_again),
		TEST(whoever_goes_away_in_another_way_is_noticed_too),
		TEST(a_client_that_does_not_read_is_cut_after_thirty_seconds_and_others_are_not),
		TEST(a_client_that_reads_slowly_stays_while_it_reads),
		TEST(a_feed_that_ends_does_not_wait_for_a_client_for_ever),
		TEST(more_feeds_than_there_are_places_are_told_so),
		TEST(without_limits_for_feeds_there_are_none),
		TEST(a_feed_makes_room_last),
		TEST(a_server_that_stops_ends_its_feeds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
