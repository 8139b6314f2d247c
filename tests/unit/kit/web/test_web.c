/* test_web.c: the server, over real connections and in virtual time: who is served, who waits, who has to go */
#include "web_served.h"
#include <sys/resource.h>

/* ---- serving ---- */

static int count_of(const char *text, const char *part)
{
	int count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* However much comes behind, the connection ends in order: no reset takes the answer back. */
static void one_request_is_taken_on_a_connection_and_nothing_behind_it_is_read(void **state)
{
	static const char two[] =
		"POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /two HTTP/1.1\r\nHost: x\r\n\r\n";
	static char much[MEDIUM];
	const char *text;

	(void)state;
	begin(&few, "");
	connect_from("127.0.0.1");
	memcpy(much, two, sizeof(two));
	send_bytes(0, much, sizeof(much));
	text = await(0, "<end>");
	assert_int_equal(count_of(text, "HTTP/1.1 "), 1);
	assert_non_null(strstr(text, "/one 3"));
	assert_non_null(strstr(text, "Connection: close\r\n"));
	assert_null(strstr(text, "<reset>"));
	assert_int_equal(web_counters(web)->requests, 1);
	send_text(connect_from("127.0.0.1"), "HEAD /three HTTP/1.1\r\nHost: x\r\n\r\n");
	text = await(1, "<end>");
	assert_non_null(strstr(text, "Content-Length: 8\r\n"));
	assert_non_null(strstr(text, "\r\n\r\n<end>"));
	pass(3 * US_PER_S);
	assert_int_equal(web_connections(web), 0);
}

/* The library must read what has been judged: all of a head but its last byte lies there while it is looked at. */
static void a_head_may_come_in_any_pieces(void **state)
{
	static const char head[] = "POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n";

	(void)state;
	begin(&few, "127.0.0.0/8");
	for (size_t first = 1; first < sizeof(head) - 1; first += 7) {
		int who = connect_from("127.0.0.1");

		send_bytes(who, head, first);
		assert_string_equal(heard(who), "");
		send_text(who, head + first);
		send_text(who, "a");
		send_text(who, "bc");
		await(who, "/one 3");
	}
	connect_from("127.0.0.1");
	send_text(clients - 1, "\r\nGET /one HTTP/1.1\r\nHost: x\r\n\r\n"); /* RFC 9112 section 2.2 */
	await(clients - 1, "/one 0");
}

static void whatever_the_head_check_takes_the_library_takes_too(void **state)
{
	static const char *const heads[] = { "GET /one HTTP/1.0\r\n\r\n",
		"GET http://x/one HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"BREW /one?a&b=&=c&&%zz HTTP/1.1\r\nHost:\r\n\r\n", "GET /%00%2f%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /one HTTP/1.1\r\nHost: x\r\nX: caf\xc3\xa9\r\nX-Empty:\r\n\r\n",
		"GET /one HTTP/1.1\r\nHost: x\r\nCookie: ;,=\"a;b;=;\r\nCookie:\r\nCookie: a=\"b; c=\"d\"; \"\r\n\r\n",
		"POST /one HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /one HTTP/1.1\r\nHost: x\r\nConnection: upgrade, keep-alive\r\nUpgrade: h2c\r\n\r\n",
		"POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 0000\r\nExpect: something\r\n\r\n",
		"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /one HTTP/1.1\r\n!#$%&'*+-.^_`|~: y\r\nHost: x\r\n\r\n" };

	(void)state;
	begin(&few, "127.0.0.0/8");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		send_text(connect_from("127.0.0.1"), heads[i]);
		expect_status((int)i, "200");
	}
	assert_int_equal(web_counters(web)->requests, sizeof(heads) / sizeof(heads[0]));
}

static void as_many_arguments_and_cookies_as_are_taken_have_room(void **state)
{
	static const char cookie[] = "Cookie: ";
	struct web_limits wide = few;
	char head[16 * 1024 + 1] = "GET /one?";
	size_t at = strlen(head);

	(void)state;
	wide.head_most = 16 * 1024;
	wide.sources.bytes_each = wide.sources.bytes_all = 10 * LARGE_HOLDS;
	begin(&wide, "");
	for (int i = 0; i < PARTS_MOST / 2 - 1; i++)
		head[at++] = '&';
	at += (size_t)sprintf(head + at, " HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < HEADERS_MAX - 2; i++)
		at += (size_t)sprintf(head + at, "X: y\r\n");
	at += (size_t)sprintf(head + at, "%s", cookie);
	for (int i = 0; i < PARTS_MOST / 2 - 1; i++)
		at += (size_t)sprintf(head + at, "a=b;");
	while (at < sizeof(head) - 5)
		head[at++] = 'x';
	strcpy(head + at, "\r\n\r\n");
	assert_int_equal(strlen(head), 16 * 1024);
	connect_from("127.0.0.1");
	send_text(0, head);
	expect_status(0, "200");
}

static void a_body_in_chunks_is_judged_whole_and_has_to_be_small(void **state)
{
	static const char post[] = "POST /one HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
	static char large[MEDIUM];

	(void)state;
	begin(&few, "127.0.0.0/8");
	connect_from("127.0.0.1");
	send_text(0, post);
	send_text(0, "\r\n3\r\nab");
	assert_string_equal(heard(0), "");
	send_text(0, "c\r\n10\r\n0123456789abcdef\r\n0\r\n\r");
	assert_string_equal(heard(0), "");
	send_text(0, "\n");
	await(0, "/one 19");
	connect_from("127.0.0.1");
	send_text(1, post);
	send_text(1, "\r\n3;x\nabc\r\n0\r\n\r\n");
	expect_status(1, "400");
	connect_from("127.0.0.1");
	send_text(2, post);
	send_text(2, "\r\nA000\r\n");
	memset(large, 'x', sizeof(large));
	send_bytes(2, large, sizeof(large));
	expect_status(2, "411");
	connect_from("127.0.0.1");
	send_text(3, post);
	send_text(3, "Expect: 100-continue\r\n\r\n");
	await(3, "HTTP/1.1 100 Continue\r\n\r\n");
	send_text(3, "3\r\nabc\r\n0\r\n\r\n");
	await(3, "/one 3");
	send_text(connect_from("127.0.0.1"),
		"POST /short HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n0\r\n\r\n");
	expect_status(4, "413");
}

static void who_says_that_nothing_more_comes_is_answered(void **state)
{
	(void)state;
	begin(&few, "");
	send_text(connect_from("127.0.0.1"), "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	shutdown(client[0], SHUT_WR);
	work();
	web_answer(pending[0]);
	pendings = 0;
	await(0, "/later 0<end>");
	send_text(connect_from("127.0.0.1"), "GET /later HTTP/1.1\r\nHo");
	shutdown(client[1], SHUT_WR);
	await(1, "<end>");
	assert_int_equal(web_connections(web), 0);
}

static void an_answer_may_come_later_and_nothing_overtakes_it(void **state)
{
	(void)state;
	begin(&few, "");
	send_text(connect_from("127.0.0.1"),
		"GET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
	pass(60 * US_PER_S);
	assert_string_equal(heard(0), "");
	assert_int_equal(pendings, 1);
	web_answer(pending[0]);
	pendings = 0;
	await(0, "/later 0<end>");
}

static void who_is_refused_while_sending_hears_it(void **state)
{
	(void)state;
	begin(&few, "");
	post(connect_from("127.0.0.1"), "/nowhere", LARGE, LARGE / 2, "");
	expect_status(0, "404");
	post(connect_from("127.0.0.1"), "/anywhere", 300 * 1024, 10, "");
	expect_status(1, "413");
	post(connect_from("127.0.0.1"), "/short", 11, 11, "");
	expect_status(2, "413");
	post(connect_from("127.0.0.1"), "/nowhere", 5, 5, "");
	expect_status(3, "404");
	assert_int_equal(web_connections(web), 2); /* it was all there: nothing to wait for */
	send_text(connect_from("127.0.0.1"),
		"POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	await(4, "HTTP/1.1 100 Continue\r\n\r\n");
	send_text(4, "ab");
	expect_status(4, "200");
	send_text(connect_from("127.0.0.1"),
		"POST /nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	expect_status(5, "404");
}

static void a_head_that_is_too_large_is_told_so(void **state)
{
	char long_line[3000];

	(void)state;
	begin(&few, "");
	connect_from("127.0.0.1");
	memset(long_line, 'a', sizeof(long_line));
	send_text(0, "GET /");
	send_bytes(0, long_line, sizeof(long_line));
	expect_status(0, "431");
	send_text(connect_from("127.0.0.1"), "GET / HTTP/1.1\nHost: x\n\n");
	expect_status(1, "400");
}

/* ---- time ---- */

static void who_is_too_slow_is_told_so_after_five_seconds_and_not_before(void **state)
{
	(void)state;
	begin(&few, "");
	send_text(connect_from("127.0.0.1"), "GET /");
	post(connect_from("127.0.0.1"), "/x", 10, 9, "");
	connect_from("127.0.0.1");
	send_text(connect_from("127.0.0.1"), "G");
	pass(4900 * US_PER_MS);
	for (int i = 0; i < 4; i++)
		assert_string_equal(heard(i), "");
	pass(200 * US_PER_MS);
	expect_status(0, "408");
	expect_status(1, "408");
	assert_string_equal(await(2, "<end>"), "<end>"); /* it asked for nothing */
	expect_status(3, "408");                         /* a byte is a beginning */
	assert_int_equal(web_counters(web)->cut_off, 4);
	pass(3 * US_PER_S);
	assert_int_equal(web_connections(web), 0);
}

/* ---- who has to go ---- */

static void who_is_the_longest_without_a_request_makes_room_for_a_newcomer(void **state)
{
	(void)state;
	begin(&few, "127.0.0.0/8");
	for (int i = 0; i < 10; i++)
		send_text(connect_from("127.0.0.1"), "GET /");
	connect_from("127.0.0.1");
	await(0, "<end>");
	connect_from("127.0.0.1");
	expect_status(1, "503");
	send_text(11, "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(11, "200");
	assert_int_equal(web_counters(web)->crowded_out, 2);
}

static void a_request_that_is_being_decided_is_never_crowded_out(void **state)
{
	(void)state;
	begin(&few, "127.0.0.0/8");
	for (int i = 0; i < 10; i++) {
		connect_from("127.0.0.1");
		send_text(i, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	connect_from("127.0.0.1");
	expect_status(10, "503");
	for (int i = 0; i < 10; i++)
		assert_string_equal(heard(i), "");
	assert_int_equal(web_counters(web)->turned_away, 1);
}

static void a_network_that_is_crowded_makes_room_among_its_own(void **state)
{
	(void)state;
	begin(&few, "");
	connect_from("127.0.0.1");
	for (int i = 0; i < 7; i++)
		connect_from("127.0.0.2");
	assert_string_equal(heard(0), "");
	await(1, "<end>");
	for (int i = 2; i < 8; i++)
		assert_string_equal(heard(i), "");
}

static void when_memory_is_short_the_oldest_large_body_goes_and_small_ones_are_taken(void **state)
{
	(void)state;
	begin(&few, "127.0.0.0/8");
	post(connect_from("127.0.0.1"), "/small", 100, 99, "");
	for (int i = 1; i <= 4; i++)
		post(connect_from("127.0.0.1"), "/large", LARGE + 1, LARGE, "");
	for (int i = 0; i <= 4; i++)
		assert_string_equal(heard(i), "");
	post(connect_from("127.0.0.1"), "/large", LARGE + 1, LARGE, "");
	expect_status(1, "503");
	assert_int_equal(web_counters(web)->turned_away, 1);
	post(connect_from("127.0.0.1"), "/small", 20 * 1024, 20 * 1024, "");
	expect_status(6, "200");
	send_text(0, "x");
	expect_status(0, "200");
	send_text(5, "x");
	expect_status(5, "200");
}

static void one_network_cannot_hold_all_of_the_memory(void **state)
{
	(void)state;
	begin(&few, "");
	post(connect_from("127.0.0.1"), "/large", LARGE + 1, LARGE, "");
	assert_in_range(source_bytes(web_sources(web), NULL), LARGE_HOLDS, LARGE_HOLDS + 1024);
	for (int i = 1; i <= 5; i++)
		post(connect_from("127.0.0.2"), "/large", LARGE + 1, LARGE, "");
	assert_string_equal(heard(0), ""); /* the oldest of all, and of another network */
	for (int i = 1; i <= 3; i++)
		expect_status(i, "503");
	assert_string_equal(heard(4), "");
	assert_string_equal(heard(5), "");
}

static void clients_of_a_proxy_are_told_apart_by_what_it_says(void **state)
{
	(void)state;
	begin(&few, "127.0.0.1");
	post(connect_from("127.0.0.1"), "/large", LARGE + 1, LARGE, "X-Forwarded-For: 192.0.2.1\r\n");
	for (int i = 1; i <= 5; i++)
		post(connect_from("127.0.0.1"), "/large", LARGE + 1, LARGE,
			"X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\n");
	assert_string_equal(heard(0), "");
	expect_status(1, "503");
	post(connect_from("127.0.0.2"), "/large", LARGE + 1, LARGE, "X-Forwarded-For: 192.0.2.1\r\n"); /* no proxy */
	assert_string_equal(heard(0), "");
	assert_string_equal(heard(6), "");
}

static void what_a_proxy_says_in_no_words_is_counted_and_names_nobody(void **state)
{
	struct source_key forged;

	(void)state;
	begin(&few, "127.0.0.1");
	assert_true(source_key_of_text("192.0.2.1", &forged));
	post(connect_from("127.0.0.1"), "/here", 0, 0, "X-Forwarded-For: 192.0.2.1, somebody\r\n");
	expect_status(0, "200");
	assert_int_equal(web_counters(web)->misnamed, 1);
	post(connect_from("127.0.0.1"), "/here", 0, 0, "");
	post(connect_from("127.0.0.2"), "/here", 0, 0, "X-Forwarded-For: somebody\r\n"); /* no proxy */
	post(connect_from("127.0.0.2"), "/here", 0, 0, "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\n");
	assert_int_equal(web_counters(web)->misnamed, 1);
	assert_null(source_find(web_sources(web), &forged));
	post(connect_from("127.0.0.1"), "/here", 0, 0, "X-Forwarded-For: 192.0.2.1:4711\r\n");
	assert_non_null(source_find(web_sources(web), &forged));
}

/* ---- work ---- */

static void large_bodies_wait_while_their_network_has_spent_its_work_and_small_ones_do_not(void **state)
{
	struct web_limits poor = few;

	(void)state;
	poor.sources.work_burst_us = 150; /* less than MEDIUM costs */
	poor.sources.work_percent_all = 500;
	begin(&poor, "");
	post(connect_from("127.0.0.1"), "/large", MEDIUM, MEDIUM, "");
	expect_status(0, "200");
	post(connect_from("127.0.0.1"), "/large", MEDIUM, MEDIUM, "");
	assert_string_equal(heard(1), "");
	post(connect_from("127.0.0.1"), "/small", 10, 10, "");
	expect_status(2, "200");
	post(connect_from("127.0.0.2"), "/large", MEDIUM, MEDIUM, ""); /* another network has its own */
	for (int i = 0; i < 4; i++)
		pass(50 * US_PER_MS);
	expect_status(3, "200");
	clock.virtual_us += US_PER_S;
	expect_status(1, "200");
}

static void a_large_body_waits_between_its_pieces_too(void **state)
{
	static char rest[MEDIUM];
	struct web_limits poor = few;

	(void)state;
	poor.sources.work_burst_us = 250; /* less than LARGE costs */
	begin(&poor, "");
	post(connect_from("127.0.0.1"), "/large", LARGE + MEDIUM, LARGE, "");
	send_bytes(0, rest, MEDIUM);
	assert_string_equal(heard(0), "");
	clock.virtual_us += US_PER_S;
	expect_status(0, "200");
}

/* Both by the library and without it. */
static bool answer_with_headers(void *context, struct web_request *asked)
{
	(void)context;
	asked->answer.status = 304;
	for (int i = 0; i < ANSWER_ADDED_MAX; i++)
		answer_add(&asked->answer, "Set-Cookie", "a=b");
	return false;
}

static bool decide_with_headers(void *context, struct web_request *asked)
{
	answer_with_headers(context, asked);
	return true;
}

static void every_header_of_an_answer_is_sent_also_those_with_the_same_name(void **state)
{
	struct web_owner owner = { .judge_head = judge_head, .decide = decide_with_headers };
	const char *text;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin_owned(&few, "", &owner);
		send_text(connect_from("127.0.0.1"), "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
		text = await(0, "<end>");
		assert_non_null(strstr(text, "HTTP/1.1 304 Not Modified\r\n"));
		assert_int_equal(count_of(text, "Set-Cookie: a=b\r\n"), ANSWER_ADDED_MAX);
		assert_null(strstr(text, "Content-Length"));
		owner.judge_head = answer_with_headers;
		if (i == 0)
			teardown(NULL);
	}
}

static void what_is_proven_costs_its_network_nothing(void **state)
{
	struct web_limits poor = few;

	(void)state;
	poor.sources.work_burst_us = 1000;
	begin(&poor, "");
	for (int i = 0; i < 20; i++) {
		post(connect_from("127.0.0.1"), "/proven", MEDIUM, MEDIUM, "Connection: close\r\n");
		expect_status(i, "200");
	}
}

static void without_descriptors_newcomers_are_told_so_and_it_goes_on(void **state)
{
	struct rlimit before, tight;
	int highest;

	(void)state;
	begin(&few, "127.0.0.0/8");
	connect_from("127.0.0.1");
	for (int i = 1; i <= 4; i++) { /* connected, not yet taken */
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		client[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(client[i], (struct sockaddr *)&to, sizeof(to)), 0);
		fcntl(client[i], F_SETFL, O_NONBLOCK);
		clients++;
	}
	highest = dup(0);
	close(highest);
	getrlimit(RLIMIT_NOFILE, &before);
	tight = before;
	tight.rlim_cur = (rlim_t)highest;
	setrlimit(RLIMIT_NOFILE, &tight);
	work();
	setrlimit(RLIMIT_NOFILE, &before);
	assert_true(web_counters(web)->turned_away >= 1);
	for (int i = 1; i <= 4; i++)
		await(i, "<end>"); /* told, or let in and made room for the next one */
	send_text(connect_from("127.0.0.1"), "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(5, "200");
}

static void who_leaves_serves_those_who_are_in_and_nobody_else(void **state)
{
	(void)state;
	begin(&few, "");
	send_text(connect_from("127.0.0.1"), "GET /one HT");
	web_leave(web);
	send_text(0, "TP/1.1\r\nHost: x\r\n\r\n");
	await(0, "Connection: close\r\n");
	assert_int_equal(web_connections(web), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_request_is_taken_on_a_connection_and_nothing_behind_it_is_read),
		TEST(a_head_may_come_in_any_pieces),
		TEST(whatever_the_head_check_takes_the_library_takes_too),
		TEST(as_many_arguments_and_cookies_as_are_taken_have_room),
		TEST(a_body_in_chunks_is_judged_whole_and_has_to_be_small),
		TEST(who_says_that_nothing_more_comes_is_answered),
		TEST(an_answer_may_come_later_and_nothing_overtakes_it),
		TEST(who_is_refused_while_sending_hears_it),
		TEST(a_head_that_is_too_large_is_told_so),
		TEST(who_is_too_slow_is_told_so_after_five_seconds_and_not_before),
		TEST(who_is_the_longest_without_a_request_makes_room_for_a_newcomer),
		TEST(a_request_that_is_being_decided_is_never_crowded_out),
		TEST(a_network_that_is_crowded_makes_room_among_its_own),
		TEST(when_memory_is_short_the_oldest_large_body_goes_and_small_ones_are_taken),
		TEST(one_network_cannot_hold_all_of_the_memory),
		TEST(clients_of_a_proxy_are_told_apart_by_what_it_says),
		TEST(what_a_proxy_says_in_no_words_is_counted_and_names_nobody),
		TEST(large_bodies_wait_while_their_network_has_spent_its_work_and_small_ones_do_not),
		TEST(a_large_body_waits_between_its_pieces_too),
		TEST(every_header_of_an_answer_is_sent_also_those_with_the_same_name),
		TEST(what_is_proven_costs_its_network_nothing),
		TEST(without_descriptors_newcomers_are_told_so_and_it_goes_on),
		TEST(who_leaves_serves_those_who_are_in_and_nobody_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
