/* test_network.c: from which network a request comes */
#include "services/kit/web/network.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

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
	static const char *const bad[] = { "localhost", "10.0.0.0/33", "10.0.0.0/4294967200", "::/4294967296", "::/129",
		"10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1", "10.0.0/8", "1.2.3.4:80", "1 2 3", "::1/ 7",
		("1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 "
		 "1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1 1.1.1.1") };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(web_proxies_parse(bad[i], &proxies));
}

static enum web_named named(const struct request *request, const char *client)
{
	struct source_key key, wanted;
	enum web_named found = web_proxies_client(&proxies, request, &key);

	if (found == WEB_CLIENT_NAMED && client) {
		assert_true(source_key_of_text(client, &wanted));
		assert_memory_equal(&key, &wanted, sizeof(key));
	}
	return found;
}

/* `client` NULL: it does not say, or cannot be read. */
static void says(const char *forwarded, const char *also, const char *real, const char *client, enum web_named wanted)
{
	struct request request = { .header_count = 0 };

	if (forwarded)
		request.headers[request.header_count++] = (struct http_header){ "X-Forwarded-For", forwarded };
	if (also)
		request.headers[request.header_count++] = (struct http_header){ "x-forwarded-for", also };
	if (real)
		request.headers[request.header_count++] = (struct http_header){ "X-Real-IP", real };
	request.headers[request.header_count++] = (struct http_header){ "Forwarded", "for=198.51.100.9" };
	assert_int_equal(named(&request, client), wanted);
}

static void the_last_that_is_no_proxy_of_ours_is_the_client(void **state)
{
	(void)state;
	assert_true(web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies));
	says("192.0.2.1", NULL, NULL, "192.0.2.1", WEB_CLIENT_NAMED);
	says("203.0.113.9, 192.0.2.1", NULL, NULL, "192.0.2.1",
		WEB_CLIENT_NAMED); /* what stands before it is the client's own invention */
	says("nonsense \"<, 192.0.2.1", NULL, NULL, "192.0.2.1", WEB_CLIENT_NAMED);
	says("192.0.2.1, 10.0.0.2 , 127.0.0.1", NULL, NULL, "192.0.2.1", WEB_CLIENT_NAMED);
	says("203.0.113.9", "192.0.2.1", NULL, "192.0.2.1", WEB_CLIENT_NAMED);
	says("192.0.2.1", "10.0.0.1", NULL, "192.0.2.1", WEB_CLIENT_NAMED);
	says("[2001:db8::1]", NULL, NULL, "2001:db8::1", WEB_CLIENT_NAMED);
	says("[2001:db8::1]:443", NULL, NULL, "2001:db8::1", WEB_CLIENT_NAMED);
	says("2001:db8::1", NULL, NULL, "2001:db8::1", WEB_CLIENT_NAMED);
	says("192.0.2.1:443", NULL, NULL, "192.0.2.1", WEB_CLIENT_NAMED);
	says(NULL, NULL, "192.0.2.7", "192.0.2.7", WEB_CLIENT_NAMED);
	says("192.0.2.1", NULL, "192.0.2.7", "192.0.2.1", WEB_CLIENT_NAMED);
}

static void a_client_that_is_not_named_is_not_guessed_at(void **state)
{
	static const char *const nonsense[] = { "192.0.2.1, nonsense", "", ",,,", "192.0.2.1:", "192.0.2.1:x",
		"192.0.2.1:123456", "[2001:db8::1", "[2001:db8::1]x", "[2001:db8::1]:", "\"192.0.2.1\"", "1.2.3", "::g",
		"192.0.2.1," };

	(void)state;
	assert_true(web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies));
	says(NULL, NULL, NULL, NULL, WEB_CLIENT_UNNAMED);
	says("127.0.0.1", NULL, NULL, NULL, WEB_CLIENT_UNNAMED);
	says("10.0.0.7", NULL, "192.0.2.7", NULL, WEB_CLIENT_UNNAMED);
	says("192.0.2.1, unknown", NULL, NULL, NULL, WEB_CLIENT_UNNAMED);
	says(NULL, NULL, "somebody", NULL, WEB_CLIENT_MALFORMED);
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		says(nonsense[i], NULL, "192.0.2.7", NULL, WEB_CLIENT_MALFORMED);
}

/* RFC 7239; its own examples among them. */
static void forwarded_is_read_as_its_rfc_says(void **state)
{
	static const struct {
		const char *first, *last; /* two headers; NULL: it is not there */
		const char *client;
		enum web_named named;
	} cases[] = {
		{ NULL, "for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60", WEB_CLIENT_NAMED },
		{ NULL, "For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17", WEB_CLIENT_NAMED },
		{ NULL, "proto=https; FOR=192.0.2.43:80", "192.0.2.43", WEB_CLIENT_NAMED },
		{ NULL, "for=203.0.113.9, for=192.0.2.43, for=10.0.0.7", "192.0.2.43", WEB_CLIENT_NAMED },
		{ "for=192.0.2.43", "for=127.0.0.1", "192.0.2.43", WEB_CLIENT_NAMED },
		{ "for=203.0.113.9", "for=192.0.2.43", "192.0.2.43", WEB_CLIENT_NAMED },
		{ NULL, "for=\"unclosed, for=192.0.2.43", "192.0.2.43",
			WEB_CLIENT_NAMED }, /* a client's own words in front */
		{ NULL, "for=192.0.2.43;by=\"a,b;c\"", "192.0.2.43", WEB_CLIENT_NAMED },
		{ NULL, "for=192.0.2.43, for=unknown", NULL, WEB_CLIENT_UNNAMED },
		{ NULL, "for=_hidden", NULL, WEB_CLIENT_UNNAMED },
		{ NULL, "for=\"_SEVKISEK\"", NULL, WEB_CLIENT_UNNAMED },
		{ NULL, "for=10.0.0.1", NULL, WEB_CLIENT_UNNAMED },
		{ NULL, NULL, NULL, WEB_CLIENT_UNNAMED },
		{ NULL, "", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "192.0.2.43", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "proto=https", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "for=", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "for=\"192.0.2.43", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "for=192.0.2.43\"", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "for=\"192\\.0.2.43\"", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "for=nobody.example", NULL, WEB_CLIENT_MALFORMED },
		{ NULL, "for=192.0.2.43,", NULL, WEB_CLIENT_MALFORMED },
	};

	(void)state;
	assert_true(web_proxies_parse("127.0.0.1 10.0.0.0/8", &proxies));
	proxies.header = WEB_FORWARDED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct request request = { .header_count = 2,
			.headers = { { "X-Forwarded-For", "198.51.100.9" }, { "X-Real-IP", "198.51.100.9" } } };

		if (cases[i].first)
			request.headers[request.header_count++] = (struct http_header){ "Forwarded", cases[i].first };
		if (cases[i].last)
			request.headers[request.header_count++] = (struct http_header){ "forwarded", cases[i].last };
		if (named(&request, cases[i].client) != cases[i].named)
			fail_msg("case %zu: %s", i, cases[i].last);
	}
}

/* However long: what a proxy adds stands at the end. */
static void a_long_header_is_read_from_its_end(void **state)
{
	char value[8000] = "";
	struct request request = { .header_count = 1, .headers = { { "X-Forwarded-For", value } } };

	(void)state;
	assert_true(web_proxies_parse("127.0.0.1", &proxies));
	while (strlen(value) < sizeof(value) - 100)
		strcat(value, "203.0.113.9, ");
	strcat(value, "192.0.2.1");
	assert_int_equal(named(&request, "192.0.2.1"), WEB_CLIENT_NAMED);
}

/* --- what a process tells of the strangers that it turned away --- */

/* What bus/actor/runtime/metrics.c does, for who tells. */
struct metrics_sink {
	uint64_t count, last_us;
};

void metrics_add(struct metrics_sink *told, const char *name, uint64_t value)
{
	if (strcmp(name, "turned_away") == 0)
		told->count = value;
	else if (strcmp(name, "turned_away_us") == 0)
		told->last_us = value;
	else
		fail_msg("%s", name);
}

static void the_time_is_that_of_the_last_that_came(void **state)
{
	static const struct {
		int64_t at_us;
		uint64_t count, last_us;
	} course[] = { { 100, 0, 0 }, { 200, 3, 200 }, { 300, 3, 200 }, { 400, 4, 400 }, { 500, 4, 400 } };
	struct clock clock = clock_virtual(0);
	struct turned_away noted = { .clock = &clock };

	(void)state;
	for (size_t i = 0; i < sizeof(course) / sizeof(course[0]); i++) {
		struct metrics_sink told = { 99, 99 };
		clock.virtual_us = course[i].at_us;
		turned_away_tell(&noted, course[i].count, &told);
		assert_int_equal(told.count, course[i].count);
		assert_int_equal(told.last_us, course[i].last_us);
	}
}

/* --- who reaches an address, by its bits --- */

static void an_address_is_judged_by_who_reaches_it(void **state)
{
	static const struct {
		const char *host;
		enum page_reach reach;
	} cases[] = {
		{ "127.0.0.1", PAGE_HERE },
		{ "127.9.9.9", PAGE_HERE },
		{ "::1", PAGE_HERE },
		{ "10.0.0.7", PAGE_NEAR },
		{ "192.168.1.1", PAGE_NEAR },
		{ "172.16.0.1", PAGE_NEAR },
		{ "fd00::7", PAGE_NEAR },
		{ "fe80::1", PAGE_NEAR },
		{ "0.0.0.0", PAGE_OPEN },
		{ "::", PAGE_OPEN },
		{ "::ffff:127.0.0.1", PAGE_OPEN },
		{ "172.32.0.1", PAGE_OPEN },
		{ "93.184.216.34", PAGE_OPEN },
		{ "2606:2800:220:1::1", PAGE_OPEN },
		{ "localhost", PAGE_UNCLEAR },
		{ "127.1", PAGE_UNCLEAR },
		{ "", PAGE_UNCLEAR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (page_reach_of(cases[i].host) != cases[i].reach)
			fail_msg("%s is %d", cases[i].host, page_reach_of(cases[i].host));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proxy_is_an_address_or_a_network),
		cmocka_unit_test(what_is_no_network_is_refused),
		cmocka_unit_test(the_last_that_is_no_proxy_of_ours_is_the_client),
		cmocka_unit_test(a_client_that_is_not_named_is_not_guessed_at),
		cmocka_unit_test(forwarded_is_read_as_its_rfc_says),
		cmocka_unit_test(a_long_header_is_read_from_its_end),
		cmocka_unit_test(the_time_is_that_of_the_last_that_came),
		cmocka_unit_test(an_address_is_judged_by_who_reaches_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
