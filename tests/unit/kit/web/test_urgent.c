/* test_urgent.c: urgent bytes (MSG_OOB), in a head, in a body and behind it */
#include "web_served.h"

/* They are no less part of what is judged, and looking ends at them: what lies behind is neither judged nor handed over. */
static void urgent_bytes_cannot_part_what_is_judged_from_what_is_read(void **state)
{
	(void)state;
	begin(&few, "");
	connect_from("127.0.0.1");
	assert_int_equal(send(client[0], "\n", 1, MSG_OOB | MSG_NOSIGNAL), 1);
	send_text(0, "GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(0, "400");
	send_text(connect_from("127.0.0.1"), "GET /one HTTP/1.1\r\nHost: x\r\nX: ");
	assert_int_equal(send(client[1], "\n", 1, MSG_OOB | MSG_NOSIGNAL), 1);
	send_text(1, "y\r\n\r\n");
	assert_string_equal(heard(1), "");
	pass(5 * US_PER_S);
	expect_status(1, "408");
	assert_int_equal(web_counters(web)->requests, web_counters(web)->malformed);
}

static void send_urgent(int who)
{
	assert_int_equal(send(client[who], "!", 1, MSG_OOB | MSG_NOSIGNAL), 1);
	await_taken(who);
	work();
}

/* libmicrohttpd ends a connection that has any. */
static void urgent_bytes_in_a_body_or_behind_it_leave_nobody_without_an_answer(void **state)
{
	(void)state;
	begin(&few, "");
	post(connect_from("127.0.0.1"), "/small", 10, 4, "");
	send_urgent(0);
	send_text(0, "abcde");
	expect_status(0, "400");
	post(connect_from("127.0.0.1"), "/large", LARGE, LARGE / 2, "");
	send_urgent(1);
	expect_status(1, "400");
	post(connect_from("127.0.0.1"), "/none", 10, 0, "");
	send_urgent(2);
	send_text(2, "abcdefghi");
	expect_status(2, "400");
	post(connect_from("127.0.0.1"), "/later", 4, 4, "");
	send_urgent(3);
	web_answer(pending[0]);
	pendings = 0;
	expect_status(3, "200");
	send_text(connect_from("127.0.0.1"), "POST /once HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcd");
	send_urgent(4);
	await(4, "HTTP/1.1 ");
	pass(3 * US_PER_S);
	assert_int_equal(web_connections(web), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(urgent_bytes_cannot_part_what_is_judged_from_what_is_read),
		TEST(urgent_bytes_in_a_body_or_behind_it_leave_nobody_without_an_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
