/* test_network.c: from which network a request comes */
#include "services/kit/web/network.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <netinet/in.h>

static struct web_proxies proxies;

static bool trusts(const char *address)
{
	struct sockaddr_in ipv4 = { .sin_family = AF_INET };
	struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, address, &ipv4.sin_addr) == 1)
		return web_proxies_trust(&proxies, (const struct sockaddr *)&ipv4);
	assert_int_equal(inet_pton(AF_INET6, address, &ipv6.sin6_addr), 1);
	return web_proxies_trust(&proxies, (const struct sockaddr *)&ipv6);
}

static void a_proxy_is_an_address_or_a_network(void **state)
{
	(void)state;
	assert_true(web_proxies_parse("127.0.0.1 ::1,  10.1.0.0/16\t2001:db8::/33", &proxies));
	assert_true(trusts("127.0.0.1") && trusts("::1") && trusts("10.1.255.7") && trusts("::ffff:10.1.0.1") &&
		trusts("2001:db8:7fff::1"));
	assert_false(trusts("127.0.0.2") || trusts("10.2.0.1") || trusts("2001:db8:8000::1") || trusts("::2"));
	assert_true(web_proxies_parse("", &proxies));
	assert_false(trusts("127.0.0.1"));
	assert_true(web_proxies_parse("0.0.0.0/0", &proxies));
	assert_true(trusts("192.0.2.1"));
	assert_false(trusts("2001:db8::1"));
}

static void what_is_no_network_is_refused(void **state)
{
	static const char *const bad[] = { "localhost", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x",
		"10.0.0.0/-1", "10.0.0/8", "1.2.3.4:80", "1 2 3", "::1/ 7",
		"1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 "
		"1.1.1.1 "
		"1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(web_proxies_parse(bad[i], &proxies));
}

/* NULL: it does not say. */
static void says(const char *forwarded, const char *also, const char *real, const char *client)
{
	struct request request = { .header_count = 0 };
	struct source_key key, wanted;
	bool found;

	if (forwarded)
		request.headers[request.header_count++] = (struct http_header){ "X-Forwarded-For", forwarded };
	if (also)
		request.headers[request.header_count++] = (struct http_header){ "x-forwarded-for", also };
	if (real)
		request.headers[request.header_count++] = (struct http_header){ "X-Real-IP", real };
	found = web_proxies_client(&proxies, &request, &key);
	assert_int_equal(found, client != NULL);
	if (!client)
		return;
	assert_true(source_key_of_text(client, &wanted));
	assert_memory_equal(&key, &wanted, sizeof(key));
}

static void the_last_who_is_no_proxy_of_ours_is_who_asks(void **state)
{
	(void)state;
	assert_true(web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies));
	says("192.0.2.1", NULL, NULL, "192.0.2.1");
	says("203.0.113.9, 192.0.2.1", NULL, NULL,
		"192.0.2.1"); /* what stands before it is the client's own invention */
	says("192.0.2.1, 10.0.0.2 , 127.0.0.1", NULL, NULL, "192.0.2.1");
	says("203.0.113.9", "192.0.2.1", NULL, "192.0.2.1");
	says("192.0.2.1", "10.0.0.1", NULL, "192.0.2.1");
	says("[2001:db8::1]", NULL, NULL, "2001:db8::1");
	says(NULL, NULL, "192.0.2.7", "192.0.2.7");
	says("192.0.2.1", NULL, "192.0.2.7", "192.0.2.1");
}

static void who_is_not_named_is_not_guessed_at(void **state)
{
	(void)state;
	assert_true(web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies));
	says(NULL, NULL, NULL, NULL);
	says("127.0.0.1", NULL, NULL, NULL);
	says("unknown", NULL, NULL, NULL);
	says("192.0.2.1, nonsense", NULL, NULL, NULL);
	says("", NULL, NULL, NULL);
	says(",,,", NULL, NULL, NULL);
	says("192.0.2.1:443", NULL, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proxy_is_an_address_or_a_network),
		cmocka_unit_test(what_is_no_network_is_refused),
		cmocka_unit_test(the_last_who_is_no_proxy_of_ours_is_who_asks),
		cmocka_unit_test(who_is_not_named_is_not_guessed_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
