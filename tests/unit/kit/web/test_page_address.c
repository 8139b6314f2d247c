/* test_page_address.c: who reaches an address, by its bits */
#include "services/kit/web/page_address.h"
#include "tests/unit/cmocka_all.h"

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
	const struct CMUnitTest tests[] = { cmocka_unit_test(an_address_is_judged_by_who_reaches_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
