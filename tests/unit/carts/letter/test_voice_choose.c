/* test_voice_choose.c: which words a shopper hears, as a service knows them */
#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/kit/documents/docs.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/document.h"

static const struct service reader = { .name = "reader", .remembers = REMEMBERING(REMEMBERS(document, docs_remember)) };

#define SHOP(currency, locale)                                                                                         \
	"[shop]\ntime-zone = Europe/Berlin\ncurrency = " currency "\nlocale = " locale                                 \
	"\ntitle = A\nurl = https://a.example\n[mail]\nfrom = a@a.example\n"
static void where_nothing_was_said_the_built_in_words_are_heard(void **state)
{
	struct harness *h = harness_new(&reader, 0);

	(void)state;
	assert_ptr_equal(speech_of(harness_state(h), "demo", "").voice, voice_builtin("en"));
	harness_free(h);
}

#define VOICE(subject)                                                                                                 \
	"First reminder\nSubject: " subject                                                                            \
	"\nBody:\n{return link}\nSecond reminder\nSubject: x\nBody:\n{return link}\n"

static void hears(struct harness *h, const char *locale, const char *kind, const char *language)
{
	struct speech speech = speech_of(harness_state(h), "demo", locale);

	assert_string_equal(speech.kind, kind);
	assert_string_equal(speech.language, language);
}

static void a_shopper_hears_the_words_of_his_language_until_the_owner_takes_them_back(void **state)
{
	struct harness *h = harness_new(&reader, 0);

	(void)state;
	given_text(h, "demo", "shop", SHOP("EUR", "de-DE"), "");
	hears(h, "fr-CA", "", "fr");
	hears(h, "", "", "de");
	given_text(h, "demo", "voice", VOICE("Hallo"), "");
	hears(h, "fr-CA", "voice", "de-DE");
	given_text(h, "demo", "voice.fr", VOICE("Bonjour"), "");
	hears(h, "fr-CA", "voice.fr", "fr");
	given_text(h, "other", "voice.fr-CA", VOICE("Allo"), "");
	hears(h, "fr-CA", "voice.fr", "fr");
	given_text(h, "demo", "voice.fr", "", "");
	hears(h, "fr-CA", "voice", "de-DE");
	harness_free(h);
}

static void words_that_nobody_changed_are_nobodys_own(void **state)
{
	struct harness *h = harness_new(&reader, 0);

	(void)state;
	given_text(h, "demo", "shop", SHOP("EUR", "de-DE"), "");
	given_text(h, "demo", "voice", voice_builtin_text("de"), "");
	hears(h, "ja", "", "ja");
	given_text(h, "demo", "voice", VOICE("Hallo"), "");
	hears(h, "ja", "voice", "de-DE");
	given_text(h, "demo", "voice", " \n", "");
	hears(h, "ja", "", "ja");
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nothing_was_said_the_built_in_words_are_heard),
		cmocka_unit_test(a_shopper_hears_the_words_of_his_language_until_the_owner_takes_them_back),
		cmocka_unit_test(words_that_nobody_changed_are_nobodys_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
