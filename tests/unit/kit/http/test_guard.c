/* What http/guard.h calls public: by the bits of the address, in whatever form it comes. */
#include "services/kit/http/guard.h"
#include "services/kit/http/public_address.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <netinet/in.h>

static bool is_public(const char *text)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	if (inet_pton(AF_INET, text, &in4.sin_addr) == 1)
		return http_address_is_public((const struct sockaddr *)(const void *)&in4);
	assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return http_address_is_public((const struct sockaddr *)(const void *)&in6);
}

static void public_addresses_are_public(void **unused)
{
	static const char *const texts[] = { "1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0",
		"100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
		"198.20.0.0", "223.255.255.255", "2606:2800:220:1:248:1893:25c8:1946", "2001:200::1", "2003::1",
		"2a00:1450:4001::1" };
	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!is_public(texts[i]))
			fail_msg("%s is public", texts[i]);
}

static void what_leads_inside_is_not_public_in_any_form(void **unused)
{
	static const char *const texts[] = { "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1",
		"100.127.255.255", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1",
		"::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:2::1", "2001:10::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::", "3fff::1",
		"4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1" };
	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (is_public(texts[i]))
			fail_msg("%s is not public", texts[i]);
}

static void plain_http_stays_inside(void **unused)
{
	struct sockaddr_in outside = { .sin_family = AF_INET }, inside = { .sin_family = AF_INET };
	const struct sockaddr *out = (const struct sockaddr *)(const void *)&outside;
	const struct sockaddr *in = (const struct sockaddr *)(const void *)&inside;
	(void)unused;
	inet_pton(AF_INET, "8.8.8.8", &outside.sin_addr);
	inet_pton(AF_INET, "192.168.1.2", &inside.sin_addr);
	assert_true(http_address_allowed(HTTP_REACH_ADMIN, true, in));
	assert_false(http_address_allowed(HTTP_REACH_ADMIN, true, out));
	assert_true(http_address_allowed(HTTP_REACH_ADMIN, false, out));
	assert_true(http_address_allowed(HTTP_REACH_PUBLIC, false, out));
	assert_false(http_address_allowed(HTTP_REACH_PUBLIC, true, out));
	assert_false(http_address_allowed(HTTP_REACH_PUBLIC, false, in));
}

static void a_header_carries_no_second_one(void **unused)
{
	struct http_request request;
	(void)unused;
	assert_int_equal(http_request_init(&request, "GET", "https://%s/", "shop.example"), 0);
	assert_true(http_request_header(&request, "X-A", "b\r\nX-C: d") < 0);
	assert_true(http_request_header(&request, "X-A:", "b") < 0);
	assert_true(http_request_header(&request, "", "b") < 0);
	assert_int_equal(request.headers.len, 0);
	http_request_clear(&request);
	assert_true(http_request_init(&request, "GE T", "https://shop.example/") < 0);
	assert_true(http_request_init(&request, "GET", "https://%2048d/", 1) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(public_addresses_are_public),
		cmocka_unit_test(what_leads_inside_is_not_public_in_any_form),
		cmocka_unit_test(plain_http_stays_inside),
		cmocka_unit_test(a_header_carries_no_second_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
