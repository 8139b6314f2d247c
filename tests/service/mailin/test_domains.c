/* test_domains.c: to which domains mail servers may deliver: those that some shop's bounces go to */
#include "services/platform/mailin/mailin.h"
#include "services/platform/mailin/match.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/document.h"

static void given_shop(struct harness *h, const char *name, const char *bounce)
{
	char more[200] = "";

	if (bounce)
		snprintf(more, sizeof(more), "bounce = %s\n", bounce);
	given_text(h, name, "shop", DEMO_SHOP, more);
	given_text(h, name, "rules", "Small carts (under 40 EUR): 4 hours, then 24.\n", "");
	given_text(h, name, "voice", "", "");
}

static bool knows(const struct harness *h, const char *address)
{
	return match_knows(harness_state(h), address);
}

static void the_domains_of_every_shops_bounces_are_known_and_no_others(void **state)
{
	static const struct {
		const char *address;
		bool is_known;
	} cases[] = { { "bounces@a.example", true }, { "anybody@a.example", true }, { "x@A.Example", true },
		{ "x@b.example", true }, { "x@d.example", true }, { "x@shop.a.example", false }, { "x@example", false },
		{ "x@aa.example", false }, { "x@a.example.net", false },
		{ "x@demo.example",
			true } /* where nothing else is given, they go to the address that mails are from */ };
	struct harness *h = harness_new(&mailin, 1000);

	(void)state;
	assert_false(knows(h, "bounces@a.example")); /* before anything has come */
	given_shop(h, "a", "bounces+*@a.example");
	given_shop(h, "b", "bounces@b.example");
	given_shop(h, "c", NULL);
	given_shop(h, "d", "bounces@D.example");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(knows(h, cases[i].address), cases[i].is_known);
	given_shop(h, "a", "bounces@e.example"); /* it moves */
	assert_false(knows(h, "bounces@a.example"));
	assert_true(knows(h, "bounces@e.example"));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_domains_of_every_shops_bounces_are_known_and_no_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
