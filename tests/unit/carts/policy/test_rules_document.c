/* test_rules_document.c: the rules of a shop, as a service has folded them */
#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "services/carts/policy/rules_document.h"
#include "services/kit/documents/docs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static const struct service reader = { .name = "reader", .remembers = REMEMBERING(REMEMBERS(document, docs_remember)) };

#define SHOP(currency, locale)                                                                                         \
	"[shop]\ntime-zone = Europe/Berlin\ncurrency = " currency "\nlocale = " locale                                 \
	"\ntitle = A\nurl = https://a.example\n[mail]\nfrom = a@a.example\n"
#define RULES(small)                                                                                                   \
	"Small carts (under " small                                                                                    \
	"): 4 hours, then 24. Medium carts: 2 hours, then 22. Big carts (over $900): 1 hour, then 20."

static void given(struct harness *h, const char *shop, const char *kind, uint32_t version, const char *text)
{
	Document *document = calloc(1, sizeof(*document));

	document->version = version;
	TEXT_COPY(document->kind, kind);
	TEXT_COPY(document->text, text);
	snprintf(document->digest, sizeof(document->digest), "%016llx", (unsigned long long)text_hash(bytes_of(text)));
	GIVEN(h, document, document, .shop = shop, .key = kind, .version = version);
	free(document);
}

static void nothing_was_said_yet(void **state)
{
	struct harness *h = harness_new(&reader, 0);
	uint32_t version = 7;
	char digest[100];

	(void)state;
	assert_null(docs_shop(harness_state(h), "demo"));
	assert_null(rules_in_use(harness_state(h), "demo", &version));
	assert_int_equal(version, 0);
	assert_int_equal(docs_version(harness_state(h), "demo", "rules", digest), 0);
	harness_free(h);
}

static void a_newer_version_replaces_an_older_and_never_the_other_way(void **state)
{
	struct harness *h = harness_new(&reader, 0);
	uint32_t version;

	(void)state;
	given(h, "demo", "shop", 1, SHOP("USD", "en-US"));
	given(h, "demo", "rules", 1, RULES("$40"));
	assert_int_equal(rules_in_use(harness_state(h), "demo", &version)->edges[0].from[1], 4000);
	assert_int_equal(version, 1);
	given(h, "demo", "rules", 3, RULES("$60"));
	given(h, "demo", "rules", 2, RULES("$50"));
	assert_int_equal(rules_in_use(harness_state(h), "demo", &version)->edges[0].from[1], 6000);
	assert_int_equal(version, 3);
	harness_free(h);
}

static void two_shops_share_nothing(void **state)
{
	struct harness *h = harness_new(&reader, 0);

	(void)state;
	given(h, "one", "shop", 1, SHOP("USD", "en-US"));
	given(h, "two", "shop", 1, SHOP("CAD", "en-CA"));
	given(h, "one", "rules", 1, RULES("$40"));
	given(h, "two", "rules", 1, RULES("$40"));
	assert_string_equal(rules_in_use(harness_state(h), "one", NULL)->edges[0].currency, "USD");
	assert_string_equal(rules_in_use(harness_state(h), "two", NULL)->edges[0].currency, "CAD");
	assert_string_equal(docs_shop(harness_state(h), "one")->currency, "USD");
	assert_string_equal(docs_shop(harness_state(h), "two")->currency, "CAD");
	harness_free(h);
}

static void rules_are_read_anew_when_the_shops_currency_changes(void **state)
{
	struct harness *h = harness_new(&reader, 0);

	(void)state;
	given(h, "demo", "shop", 1, SHOP("USD", "en-US"));
	given(h, "demo", "rules", 1, RULES("$40"));
	assert_string_equal(rules_in_use(harness_state(h), "demo", NULL)->edges[0].currency, "USD");
	given(h, "demo", "shop", 2, SHOP("AUD", "en-AU"));
	assert_string_equal(rules_in_use(harness_state(h), "demo", NULL)->edges[0].currency, "AUD");
	harness_free(h);
}

/* Two services in one process (the simulator) know different versions at the same moment. */
static void each_state_sees_its_own_version(void **state)
{
	struct harness *early = harness_new(&reader, 0), *late = harness_new(&reader, 0);

	(void)state;
	given(early, "demo", "rules", 1, RULES("$40"));
	given(late, "demo", "rules", 2, RULES("$50"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rules_in_use(harness_state(early), "demo", NULL)->edges[0].from[1], 4000);
		assert_int_equal(rules_in_use(harness_state(late), "demo", NULL)->edges[0].from[1], 5000);
	}
	harness_free(early);
	harness_free(late);
}

static void a_text_that_an_older_program_accepted_is_no_document(void **state)
{
	struct harness *h = harness_new(&reader, 0);
	uint32_t version;

	(void)state;
	given(h, "demo", "rules", 4, "Remind everybody all the time.");
	assert_null(rules_in_use(harness_state(h), "demo", &version));
	assert_int_equal(version, 4);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_was_said_yet),
		cmocka_unit_test(a_newer_version_replaces_an_older_and_never_the_other_way),
		cmocka_unit_test(two_shops_share_nothing),
		cmocka_unit_test(rules_are_read_anew_when_the_shops_currency_changes),
		cmocka_unit_test(each_state_sees_its_own_version),
		cmocka_unit_test(a_text_that_an_older_program_accepted_is_no_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
