/* test_http.c: the gateway at the internet: real connections to the whole of it, in front of a simulated bus, in virtual time */
#include "served.h"

static const char *deliver(const char *id, struct bytes body)
{
	unsigned char digest[32], signature[64];
	char head[500];

	HMAC(EVP_sha256(), KEY, (int)strlen(KEY), body.data, body.len, digest, NULL);
	EVP_EncodeBlock(signature, digest, sizeof(digest));
	snprintf(head, sizeof(head),
		"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\nX-Shopify-Topic: checkouts/create\r\n"
		"X-Shopify-Webhook-Id: %s\r\nX-Shopify-Hmac-Sha256: %s\r\nContent-Length: %zu\r\n\r\n",
		id, signature, body.len);
	return ask(head, body);
}

static void count_cart(const struct message_meta *said, struct bytes payload, void *context)
{
	(void)payload;
	*(int *)context += strcmp(said->topic, topic_cart_changed.name) == 0;
}

static int carts_heard(void)
{
	int count = 0;

	sim_log(sim, count_cart, &count);
	return count;
}

/* ---- tests, in this order: it is one gateway ---- */

static void its_health_says_whether_it_lets_anything_in(void **state)
{
	const char *answer = get("GET", "/healthz");

	(void)state;
	must_answer(answer, "200", "\r\nContent-Type: application/json\r\n");
	must_answer(answer, "200", "{\"ready\":true,\"broker\":\"connected\",\"spooled\":0}\n");
	assert_null(strstr(answer, "Content-Security-Policy"));
	answer = get("HEAD", "/healthz");
	must_answer(answer, "200", "\r\n\r\n");
	assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	must_answer(get("POST", "/healthz"), "405", "");
	must_answer(get("GET", "/healthz/"), "404", "");
}

static void a_webhook_is_on_the_bus_when_it_is_answered_and_once(void **state)
{
	const struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);
	int before = carts_heard();

	(void)state;
	must_answer(deliver("w-1", cart), "200", "");
	assert_int_equal(carts_heard(), before + 1);
	must_answer(deliver("w-1", cart), "200", "");
	assert_int_equal(carts_heard(), before + 1);
}

static void a_page_loads_nothing_and_can_be_framed_by_nobody(void **state)
{
	const char *answer = get("GET", "/u/no-such-link");

	(void)state;
	must_answer(answer, "404", "\r\nContent-Type: text/html");
	must_answer(answer, "404", "\r\nReferrer-Policy: no-referrer\r\n");
	must_answer(answer, "404", "default-src 'none'");
	must_answer(answer, "404", "frame-ancestors 'none'");
	assert_null(strstr(get("GET", "/nothing"), "Referrer-Policy"));
}

static void so_does_the_page_that_the_bus_has_to_answer_first(void **state)
{
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE,
		.shop = "demo",
		.cart_id = "c1",
		.step = 1,
		.address_hash = "0123456789abcdef0123456789abcdef" };
	char token[400], head[800];
	const char *answer;

	(void)state;
	assert_int_equal(signed_link_make(bytes_of(KEY), &link, token), 0);
	snprintf(head, sizeof(head),
		"POST /u/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		"Content-Length: 15\r\n\r\n",
		token);
	answer = ask(head, bytes_of("unsubscribe=yes"));
	must_answer(answer, "200", "name=\"undo\"");
	must_answer(answer, "200", "\r\nReferrer-Policy: no-referrer\r\n");
	must_answer(answer, "200", "frame-ancestors 'none'");
}

static void a_body_has_its_bound(void **state)
{
	static char zeros[BODY_MOST + 1];

	(void)state;
	must_answer(deliver("w-2", BYTES(zeros, BODY_MOST + 1)), "413", "");
	must_answer(deliver("w-2", BYTES(zeros, BODY_MOST)), "200", "not valid JSON");
}

static void while_the_broker_is_away_a_webhook_is_kept_and_comes_later(void **state)
{
	const struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);
	int before = carts_heard();

	(void)state;
	sim_kill_broker(sim);
	pass(US_PER_MINUTE);
	must_answer(get("GET", "/healthz"), "200", "{\"ready\":true,\"broker\":\"away\",\"spooled\":0}\n");
	must_answer(deliver("w-3", cart), "200", "");
	must_answer(get("GET", "/healthz"), "200", "{\"ready\":true,\"broker\":\"away\",\"spooled\":1}\n");
	sim_restart_broker(sim);
	pass(US_PER_MINUTE);
	assert_int_equal(carts_heard(), before + 1);
	must_answer(get("GET", "/healthz"), "200", "{\"ready\":true,\"broker\":\"connected\",\"spooled\":0}\n");
}

/* All that a connection brings whose other end has been closed: the kernel may still have it on the way. */
static const char *rest_of(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n = -1;

	while (n != 0) {
		assert_int_equal(poll(&ready, 1, PATIENCE), 1);
		n = recv(fd, heard + len, sizeof(heard) - len - 1, MSG_DONTWAIT);
		assert_true(n >= 0);
		len += (size_t)n;
	}
	heard[len] = '\0';
	return heard;
}

static void who_is_there_when_it_leaves_is_answered_and_nobody_else(void **state)
{
	static const char head[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n", rest[] = "\r\n";
	struct pollfd late, there = { .fd = come(), .events = POLLIN };

	(void)state;
	assert_int_equal(send(there.fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
	for (int i = 0; i < 10; i++)
		turn();
	assert_false(http_left(http));
	http_leave(http);
	late = (struct pollfd){ .fd = come(), .events = POLLIN };
	for (int i = 0; i < 10; i++)
		turn();
	assert_false(http_left(http));
	assert_int_equal(send(there.fd, rest, strlen(rest), MSG_NOSIGNAL), strlen(rest));
	for (int i = 0; i < PATIENCE && !http_left(http); i++)
		turn();
	assert_true(http_left(http));
	must_answer(rest_of(there.fd), "200", "\"ready\":true");
	assert_int_equal(poll(&late, 1, 0), 0);
	close(there.fd);
	close(late.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_health_says_whether_it_lets_anything_in),
		cmocka_unit_test(a_webhook_is_on_the_bus_when_it_is_answered_and_once),
		cmocka_unit_test(a_page_loads_nothing_and_can_be_framed_by_nobody),
		cmocka_unit_test(so_does_the_page_that_the_bus_has_to_answer_first),
		cmocka_unit_test(a_body_has_its_bound),
		cmocka_unit_test(while_the_broker_is_away_a_webhook_is_kept_and_comes_later),
		cmocka_unit_test(who_is_there_when_it_leaves_is_answered_and_nobody_else),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
