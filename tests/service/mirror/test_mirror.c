/* test_mirror.c: what is said of the owner's files: given these documents, when these files are seen, then these facts. */
#include "seen.h"
#include "services/carts/letter/voice.h"
#include "services/carts/policy/rules_document.h"

static void a_new_shop_is_said_whole_and_audited(void **state)
{
	struct message_meta how;
	Document document;
	Audit audit;

	(void)state;
	sees("demo", SHOP, RULES, voice_builtin_text("de"));
	ticks();
	assert_int_equal(said(&topic_document), 3);
	assert_int_equal(said(&topic_audit), 3);
	assert_int_equal(said(&topic_alarm), 0);
	assert_true(harness_said(h, &topic_document, 1, &document, &how));
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "rules");
	assert_int_equal(how.version, 1);
	assert_string_equal(document.kind, "rules");
	assert_int_equal(document.version, 1);
	assert_string_equal(document.text, RULES);
	assert_string_equal(document.source, "demo/rules.txt");
	assert_int_equal(strlen(document.digest), 64);
	assert_true(harness_said(h, &topic_audit, 1, &audit, &how));
	assert_string_equal(audit.action, "document");
	assert_non_null(strstr(audit.grounds, "rules version 1"));
	assert_int_equal(audit.rules_version, 1);
	assert_non_null(rules_in_use(harness_state(h), "demo", NULL));
}

static void what_was_said_is_not_said_again(void **state)
{
	(void)state;
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 2);
	/* the same files again, as after a restart */
	mirror_clear(&mirror_here);
	sees("demo", SHOP, RULES, NULL);
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
}

static void an_edit_is_the_next_version(void **state)
{
	(void)state;
	sees("demo", SHOP, RULES, NULL);
	ticks();
	sees("demo", SHOP, "Quiet hours: 21:00 to 8:00. " RULES, NULL);
	ticks();
	assert_int_equal(said(NULL), 2);
	assert_int_equal(said_document(0).version, 2);
	/* and back: the newest counts, though the text was there before */
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said_document(0).version, 3);
	assert_int_equal(rules_in_use(harness_state(h), "demo", NULL)->quiet_count, 0);
}

static void a_bad_edit_leaves_the_old_rules_in_use_and_alarms_once(void **state)
{
	uint32_t version;

	(void)state;
	sees("demo", SHOP, RULES, NULL);
	ticks();
	sees("demo", SHOP, SMALL "\nMedium carts: 2 bananas, then 22. Big carts (over €150): 1 hour, then 20.", NULL);
	ticks();
	assert_int_equal(said(&topic_document), 0);
	assert_int_equal(said(&topic_alarm), 1);
	Alarm alarm = said_alarm(0);
	assert_true(alarm.raised);
	assert_string_equal(alarm.kind, "document.rules");
	assert_string_equal(alarm.text,
		"demo/rules.txt: line 2, column 17: expected a time unit (hours, minutes, days) but found \"bananas\"");
	assert_non_null(strstr(alarm.remedy, "version 1 stays in use"));
	assert_non_null(rules_in_use(harness_state(h), "demo", &version));
	assert_int_equal(version, 1);
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
}

static void another_mistake_is_told_too(void **state)
{
	(void)state;
	sees("demo", SHOP, "nonsense", NULL);
	ticks();
	sees("demo", SHOP, RULES " and so on.", NULL);
	ticks();
	assert_int_equal(said(NULL), 1);
	assert_non_null(strstr(said_alarm(0).text, "but found \"and\""));
}

static void mending_it_says_the_document_and_clears_the_alarm(void **state)
{
	(void)state;
	sees("demo", SHOP, "nonsense", NULL);
	ticks();
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_int_equal(said(&topic_alarm), 1);
	assert_false(said_alarm(0).raised);
}

static void going_back_to_what_is_in_use_only_clears_the_alarm(void **state)
{
	(void)state;
	sees("demo", SHOP, RULES, NULL);
	ticks();
	sees("demo", SHOP, "nonsense", NULL);
	ticks();
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(NULL), 1);
	assert_false(said_alarm(0).raised);
}

static void a_shop_without_a_valid_zone_is_not_started_and_others_go_on(void **state)
{
	static const char no_zone[] =
		"[shop]\ncurrency = EUR\nlocale = de-DE\ntitle = A\nurl = https://a.example\n[mail]\nfrom = "
		"a@a.example\n";
	(void)state;
	sees("bad", no_zone, RULES, NULL);
	sees("missing", NULL, RULES, NULL);
	sees("good", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 2);
	assert_int_equal(said(&topic_alarm), 2);
	assert_non_null(strstr(said_alarm(0).text, "bad/shop.conf"));
	assert_non_null(strstr(said_alarm(0).text, "time-zone is missing"));
	assert_non_null(strstr(said_alarm(0).remedy, "not started"));
	assert_non_null(strstr(said_alarm(1).text, "missing/shop.conf: is missing"));
	assert_null(docs_shop(harness_state(h), "bad"));
	assert_null(rules_in_use(harness_state(h), "bad", NULL));
	assert_non_null(docs_shop(harness_state(h), "good"));
}

static void a_shop_that_ran_keeps_running_when_its_conf_breaks(void **state)
{
	(void)state;
	sees("demo", SHOP, RULES, NULL);
	ticks();
	sees("demo", "[shop]\ntime-zone = Nowhere\n", RULES, NULL);
	ticks();
	assert_int_equal(said(NULL), 1);
	assert_true(said_alarm(0).raised);
	assert_string_equal(docs_shop(harness_state(h), "demo")->zone, "Europe/Berlin");
	/* its rules may still be changed */
	sees("demo", "[shop]\ntime-zone = Nowhere\n", "Quiet hours: 21:00 to 8:00. " RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_int_equal(said_document(0).version, 2);
}

static void a_file_that_vanishes_changes_nothing_but_is_told(void **state)
{
	(void)state;
	sees("demo", SHOP, RULES, voice_builtin_text("de"));
	ticks();
	sees("demo", NULL, NULL, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 0);
	assert_int_equal(said(&topic_alarm), 3);
	sees("demo", SHOP, RULES, voice_builtin_text("de"));
	ticks();
	assert_int_equal(said(&topic_document), 0);
	assert_int_equal(said(&topic_alarm), 3);
	assert_false(said_alarm(2).raised);
}

static void a_shop_needs_no_voice_of_its_own(void **state)
{
	(void)state;
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_alarm), 0);
	assert_ptr_equal(speech_of(harness_state(h), "demo", "").voice, voice_builtin("de"));
	sees("demo", SHOP, RULES, "What is this?");
	ticks();
	assert_int_equal(said(&topic_document), 0);
	assert_non_null(strstr(said_alarm(0).text, "demo/voice.txt: line 1"));
	/* blank: the built-in one, said as such */
	sees("demo", SHOP, RULES, "\n");
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_ptr_equal(speech_of(harness_state(h), "demo", "").voice, voice_builtin("de"));
}

static void warnings_are_in_the_audit(void **state)
{
	Audit audit;

	(void)state;
	sees("demo", SHOP, "Small carts (under €40): remind after 20 minutes, then after 24 hours. " REST, NULL);
	ticks();
	assert_true(harness_said(h, &topic_audit, 1, &audit, NULL));
	assert_non_null(strstr(audit.grounds, "20 minutes"));
	assert_null(strstr(audit.grounds, "own currency"));
	assert_int_equal(said(&topic_document), 2);
	sees("demo", SHOP, "Small carts (under $40): remind after 20 minutes, then after 24 hours. ", NULL);
	ticks();
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_non_null(strstr(audit.grounds, "no amount and no rate is in EUR, the shop's own currency"));
}

static void what_is_no_text_is_refused(void **state)
{
	struct seen seen[] = { { &shop_document, "shop", .text = bytes_of(SHOP) },
		{ &rules_document, "rules", .text = BYTES("a\0b", 3) },
		{ &voice_document, "voice", .unreadable = "Permission denied" } };
	struct buffer big = { 0 };

	(void)state;
	mirror_see(&mirror_here, "demo", seen, 3);
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_non_null(strstr(said_alarm(0).text, "not a text in UTF-8"));
	assert_non_null(strstr(said_alarm(1).text, "Permission denied"));
	for (int i = 0; i <= (int)rules_document.bytes_max; i++)
		buffer_add_text(&big, "#");
	seen[1].text = buffer_bytes(&big);
	mirror_see(&mirror_here, "demo", seen, 3);
	ticks();
	assert_non_null(strstr(said_alarm(0).text, "is longer than 32 KB: it has 32768 bytes, and 32767 is most"));
	buffer_free(&big);
}

/* The longest text that may be said comes through whole. */
static void a_text_of_32_kb_is_said_whole(void **state)
{
	struct buffer big = { 0 };

	(void)state;
	buffer_add_text(&big, RULES "\n#");
	while (big.len < rules_document.bytes_max)
		buffer_add_text(&big, "x");
	sees("demo", SHOP, buffer_text(&big), NULL);
	ticks();
	assert_int_equal(said(&topic_document), 2);
	assert_string_equal(said_document(1).text, buffer_text(&big));
	buffer_free(&big);
}

static void a_new_currency_waits_for_rules_that_can_be_read_with_it(void **state)
{
	static const char kroner[] =
		"Small carts (under 400 kr): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big "
		"carts (over 1500 kr): 1 hour, then 20.";
	(void)state;
	sees("demo", SHOP_IN("SEK"), kroner, NULL);
	ticks();
	sees("demo", SHOP_IN("EUR"), kroner, NULL); /* what is a kr to a shop in euros? */
	ticks();
	assert_int_equal(said(&topic_document), 0);
	assert_non_null(strstr(said_alarm(0).text, "demo/rules.txt"));
	assert_non_null(rules_in_use(harness_state(h), "demo", NULL));
	sees("demo", SHOP_IN("EUR"), RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 2);
	assert_string_equal(docs_shop(harness_state(h), "demo")->currency, "EUR");
	assert_string_equal(rules_in_use(harness_state(h), "demo", NULL)->edges[0].currency, "EUR");
}

static void the_same_bad_file_after_a_restart_is_not_alarmed_again(void **state)
{
	(void)state;
	sees("demo", SHOP, "nonsense", NULL);
	ticks();
	mirror_clear(&mirror_here);
	sees("demo", SHOP, "nonsense", NULL);
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
}

static void alarms_of_others_are_left_alone(void **state)
{
	Alarm other = { .raised = true };

	(void)state;
	TEXT_COPY(other.kind, "dead-letters");
	GIVEN(h, alarm, &other, .shop = "demo", .key = "dead-letters");
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_alarm), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_shop_is_said_whole_and_audited),
		TEST(what_was_said_is_not_said_again),
		TEST(an_edit_is_the_next_version),
		TEST(a_bad_edit_leaves_the_old_rules_in_use_and_alarms_once),
		TEST(another_mistake_is_told_too),
		TEST(mending_it_says_the_document_and_clears_the_alarm),
		TEST(going_back_to_what_is_in_use_only_clears_the_alarm),
		TEST(a_shop_without_a_valid_zone_is_not_started_and_others_go_on),
		TEST(a_shop_that_ran_keeps_running_when_its_conf_breaks),
		TEST(a_file_that_vanishes_changes_nothing_but_is_told),
		TEST(a_shop_needs_no_voice_of_its_own),
		TEST(warnings_are_in_the_audit),
		TEST(what_is_no_text_is_refused),
		TEST(a_text_of_32_kb_is_said_whole),
		TEST(a_new_currency_waits_for_rules_that_can_be_read_with_it),
		TEST(the_same_bad_file_after_a_restart_is_not_alarmed_again),
		TEST(alarms_of_others_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
