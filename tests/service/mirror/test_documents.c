/* test_documents.c: rules in a Google document, and the file beside it */
#include "seen.h"

#define ID "1DocumentOfTheRules"
#define SHOP_WITH_DOCUMENT SHOP "[documents]\nrules = " ID "\n"

static void the_document_counts_from_its_first_good_text_on(void **state)
{
	(void)state;
	sees("demo", SHOP_WITH_DOCUMENT, RULES, NULL);
	ticks();
	assert_string_equal(said_document(1).source, "demo/rules.txt");
	assert_true(mirror_not_fetched(&mirror_here, "demo", "rules", ID, "HTTP 404"));
	ticks();
	assert_string_equal(said_alarm(0).kind, "document.google.rules");
	assert_int_equal(said(&topic_document), 0);
	mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 21:00 to 8:00. " RULES));
	ticks();
	assert_string_equal(said_document(0).source, "Google document " ID);
	assert_false(said_alarm(0).raised);
	assert_false(mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 21:00 to 8:00. " RULES)));
	assert_false(mirror_fetched(&mirror_here, "demo", "rules", "1AnotherDocument", bytes_of("x")));
	/* after a restart the file does not come back, nor what was fetched before as something new */
	mirror_clear(&mirror_here);
	sees("demo", SHOP_WITH_DOCUMENT, RULES, NULL);
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
	mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 21:00 to 8:00. " RULES));
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
	/* and without it in shop.conf the file counts again */
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_string_equal(said_document(1).source, "demo/rules.txt");
}

static void a_shop_whose_rules_are_only_in_a_document_may_change_its_currency(void **state)
{
	(void)state;
	sees("demo", SHOP_WITH_DOCUMENT, NULL, NULL);
	mirror_fetched(&mirror_here, "demo", "rules", ID,
		bytes_of("Small carts (under $40): remind after 4 hours, then after 24. Medium "
			 "carts: 2 hours, then 22. Big carts (over $150): 1 hour, then 20."));
	ticks();
	assert_int_equal(said(&topic_document), 2);
	assert_int_equal(said(&topic_alarm), 0); /* that there is no rules.txt is as it should be */
	sees("demo", SHOP_IN("USD") "[documents]\nrules = " ID "\n", NULL, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_string_equal(said_document(0).kind, "shop");
}

static void a_file_edited_after_the_document_counts_until_that_changes(void **state)
{
	(void)state;
	sees("demo", SHOP_WITH_DOCUMENT, RULES, NULL);
	mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 21:00 to 8:00. " RULES));
	ticks();
	assert_int_equal(said_document(1).version, 1);
	sees("demo", SHOP_WITH_DOCUMENT, "Quiet hours: 22:00 to 8:00. " RULES, NULL);
	ticks();
	assert_string_equal(said_document(0).source, "demo/rules.txt");
	mirror_clear(&mirror_here);
	sees("demo", SHOP_WITH_DOCUMENT, "Quiet hours: 22:00 to 8:00. " RULES, NULL);
	mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 21:00 to 8:00. " RULES));
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
	mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 2 bananas. " RULES));
	ticks();
	assert_true(said_alarm(0).raised);
	assert_int_equal(said(&topic_document), 0);
	mirror_fetched(&mirror_here, "demo", "rules", ID, bytes_of("Quiet hours: 23:00 to 8:00. " RULES));
	ticks();
	assert_int_equal(said_document(0).version, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_document_counts_from_its_first_good_text_on),
		TEST(a_shop_whose_rules_are_only_in_a_document_may_change_its_currency),
		TEST(a_file_edited_after_the_document_counts_until_that_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
