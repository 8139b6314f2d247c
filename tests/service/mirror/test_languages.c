/* test_languages.c: a voice per language comes and goes with its file */
#include "seen.h"
#include "services/carts/letter/voice.h"

#define WORDS(subject)                                                                                                 \
	"First reminder\nSubject: " subject                                                                            \
	"\nBody:\n{return link}\nSecond reminder\nSubject: x\nBody:\n{return link}\n"

static void speaks(const char *locale, const char *kind)
{
	assert_string_equal(speech_of(harness_state(h), "demo", locale).kind, kind);
}

static void a_new_language_is_picked_up_and_a_deleted_one_goes(void **state)
{
	Audit audit;

	(void)state;
	sees("demo", SHOP, RULES, WORDS("Hallo"));
	ticks();
	sees_also("demo", SHOP, RULES, WORDS("Hallo"), "voice.pt-BR", WORDS("Oi"));
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_string_equal(said_document(0).kind, "voice.pt-BR");
	assert_string_equal(said_document(0).source, "demo/voice.pt-BR.txt");
	speaks("pt-BR", "voice.pt-BR");
	sees("demo", SHOP, RULES, WORDS("Hallo"));
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_int_equal(said_document(0).version, 2);
	assert_string_equal(said_document(0).text, "");
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_non_null(
		strstr(audit.grounds, "voice.pt-BR version 2, empty, because there is no more demo/voice.pt-BR.txt"));
	assert_int_equal(said(&topic_alarm), 0);
	speaks("pt-BR", "voice");
	assert_true(mirror.next_due_us(harness_state(h)) == INT64_MAX);
}

static void a_language_that_was_deleted_while_nobody_looked_goes_too(void **state)
{
	(void)state;
	sees_also("demo", SHOP, RULES, NULL, "voice.fr", WORDS("Bonjour"));
	ticks();
	mirror_clear(&mirror_here); /* a restart */
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 1);
	assert_string_equal(said_document(0).kind, "voice.fr");
	assert_string_equal(said_document(0).text, "");
}

static void a_folder_that_seems_empty_takes_no_language_back(void **state)
{
	(void)state;
	sees_also("demo", SHOP, RULES, NULL, "voice.fr", WORDS("Bonjour"));
	ticks();
	sees("demo", NULL, NULL, NULL);
	ticks();
	assert_int_equal(said(&topic_document), 0);
	speaks("fr", "voice.fr");
}

static void a_bad_language_alarms_and_changes_nothing(void **state)
{
	(void)state;
	sees_also("demo", SHOP, RULES, NULL, "voice.fr", WORDS("Bonjour"));
	ticks();
	sees_also("demo", SHOP, RULES, NULL, "voice.fr", WORDS("Bonjour {nom}"));
	ticks();
	assert_int_equal(said(NULL), 1);
	assert_string_equal(said_alarm(0).kind, "document.voice.fr");
	assert_non_null(strstr(said_alarm(0).text, "demo/voice.fr.txt: line 2, column 18: unknown {nom}"));
	assert_non_null(strstr(said_alarm(0).remedy, "version 1 stays in use"));
	speaks("fr", "voice.fr");
	sees_also("demo", SHOP, RULES, NULL, "voice.fr", WORDS("Bonsoir"));
	ticks();
	assert_false(said_alarm(0).raised);
	assert_int_equal(said_document(0).version, 2);
}

static void a_name_that_is_no_language_is_told_until_it_is_gone(void **state)
{
	(void)state;
	sees_also("demo", SHOP, RULES, NULL, "voice.pt-br", WORDS("Oi"));
	ticks();
	assert_int_equal(said(&topic_document), 2);
	assert_non_null(strstr(said_alarm(0).text, "write the language as it is spelled: voice.pt-BR.txt"));
	sees("demo", SHOP, RULES, NULL);
	ticks();
	assert_int_equal(said(NULL), 1);
	assert_false(said_alarm(0).raised);
	assert_string_equal(said_alarm(0).text, "demo/voice.pt-br.txt is there no more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_language_is_picked_up_and_a_deleted_one_goes),
		TEST(a_language_that_was_deleted_while_nobody_looked_goes_too),
		TEST(a_folder_that_seems_empty_takes_no_language_back),
		TEST(a_bad_language_alarms_and_changes_nothing),
		TEST(a_name_that_is_no_language_is_told_until_it_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
