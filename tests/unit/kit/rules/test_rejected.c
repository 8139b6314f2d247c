/*
 * What owners may not write: near-misses, each with the place (marked @ in the text) and a word of what was expected there.
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/rules/rules.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SMALL "Small carts (under $40): 4 hours, then 24. "
#define MEDIUM "Medium carts: 2 hours, then 22. "
#define BIG "Big carts (over $150): 1 hour, then 20. "
#define CARTS SMALL MEDIUM BIG

static const struct rejected {
	const char *text, *expectation;
} rejected[] = {
	/* a size is missing, twice, or unknown */
	{ "Medium carts@: 2 hours, then 22.", "where medium carts begin and end" },
	{ "Small carts (under $40): never.@", "when carts are reminded" },
	{ "@", "small carts" },
	{ "@# all of it is a comment\n", "small carts" },
	{ SMALL MEDIUM "@Small carts (under $20): 3 hours, then 12. " BIG,
		"each size once; small carts are at line 1, column 1 already" },
	{ SMALL MEDIUM BIG "@Huge carts (over $900): 1 hour, then 20.",
		"each size once; big carts are at line 1, column 76" },
	/* where sizes begin and end */
	{ "Small carts@: 4 hours, then 24. " MEDIUM BIG, "under $40" },
	{ SMALL MEDIUM "Big carts@: 1 hour, then 20.", "over $150" },
	{ "Small carts (@over $40): 4 hours, then 24. " MEDIUM BIG, "\"under\"" },
	{ "Small carts (@at least $40): 4 hours, then 24. " MEDIUM BIG, "\"under\"" },
	{ SMALL MEDIUM "Big carts (@up to $150): 1 hour, then 20.", "\"over\"" },
	{ "Small carts (under $40@: 4 hours, then 24. " MEDIUM BIG, "\")\"" },
	{ "Small carts (under 40@): 4 hours, then 24. " MEDIUM BIG, "currency" },
	{ "Small carts (under 40 @XYZ): 4 hours, then 24. " MEDIUM BIG, "currency that is known" },
	{ "Small carts (under 40 @bucks): 4 hours, then 24. " MEDIUM BIG, "currency that is known" },
	{ "Small carts (under 400 @kr): 4 hours, then 24. " MEDIUM BIG, "clear" },
	{ "Small carts (under $@0): 4 hours, then 24. " MEDIUM BIG, "above zero" },
	{ "Small carts (under @-$40): 4 hours, then 24. " MEDIUM BIG, "an amount" },
	{ "Small carts (under $@40.005): 4 hours, then 24. " MEDIUM BIG, "at most 2 decimals" },
	{ "Small carts (under $40): 4 hours, then 24. " MEDIUM "Big carts (over $@1.500): 1 hour, then 20.", "1,000" },
	{ "Small carts (under $@40,50): 4 hours, then 24. " MEDIUM BIG, "point" },
	{ "Small carts (under $40 or ¥@6000.50): 4 hours, then 24. " MEDIUM BIG, "at most 0 decimals in JPY" },
	{ "Small carts (under $@9999999999999999): 4 hours, then 24. " MEDIUM BIG, "smaller amount" },
	{ "Small carts (under $40 or $@30): 4 hours, then 24. " MEDIUM BIG, "another currency" },
	{ "Small carts (under $40 or €@35): 4 hours, then 24. " MEDIUM BIG, "EUR for big carts" },
	{ SMALL MEDIUM "Big carts (over $150 or €@140): 1 hour, then 20.", "EUR for small carts" },
	{ SMALL MEDIUM "Big carts (over $@39.99): 1 hour, then 20.", "at least 40.00 USD" },
	{ "Big carts (over $150): 1 hour, then 20. Small carts (under $@151): 4 hours, then 24. " MEDIUM,
		"at most 150.00 USD" },
	{ SMALL "Medium carts ($@50 to $150): 2 hours, then 22. " BIG, "40.00 USD" },
	{ SMALL "Medium carts (between $40 and $@149): 2 hours, then 22. " BIG, "150.00 USD" },
	{ SMALL "Medium carts (between €@40 and €150): 2 hours, then 22. " BIG, "no amount in EUR" },
	/* waits */
	{ "Small carts (under $40): remind after 4 @bananas, then after 24. " MEDIUM BIG, "hours, minutes, days" },
	{ "Small carts (under $40): remind after 4@, then after 24. " MEDIUM BIG, "time unit" },
	{ "Small carts (under $40): remind after @soon, then after 24. " MEDIUM BIG, "an exact time" },
	{ "Small carts (under $40): one reminder only, 4 hours, then @24. " MEDIUM BIG, "not both" },
	{ "Small carts (under $40): 24 hours, then @4. " MEDIUM BIG, "longer than the first" },
	{ "Small carts (under $40): 4 hours, then @4 hours. " MEDIUM BIG, "longer than the first" },
	{ "Small carts (under $40): 4 hours, then @7. " MEDIUM BIG, "8 hours or more" },
	{ "Small carts (under $40): 4 hours, then @7 hours 59 minutes. " MEDIUM BIG, "8 hours or more" },
	{ "Small carts (under $40): 4 hours, then 24@, then 48. " MEDIUM BIG, "two mails are the whole budget" },
	{ "Small carts (under $40): 4 hours, then 24 @and again after 48. " MEDIUM BIG,
		"two mails are the whole budget" },
	{ "Small carts (under $40): 4 hours after, then 20 hours @later. " MEDIUM BIG, "both waits count" },
	{ "Small carts (under $40): 4 hours, then @again 24 hours. " MEDIUM BIG, "both waits count" },
	{ "Small carts (under $40): 4 hours @after the order. " MEDIUM BIG, "when the cart was left" },
	{ "Small carts (under $40): @0 hours, then 24. " MEDIUM BIG, "more than zero" },
	{ "Small carts (under $40): @-4 hours, then 24. " MEDIUM BIG, "a time" },
	{ "Small carts (under $40): 4 hours, then @31 days. " MEDIUM BIG, "at most 30 days" },
	{ "Small carts (under $40): 4 hours, then @99999999999999999999 hours. " MEDIUM BIG, "smaller number" },
	{ "Small carts (under $40): @0.001 hours, then 24. " MEDIUM BIG, "whole number of minutes" },
	{ "Small carts (under $40): 30 @seconds, then 24 hours. " MEDIUM BIG, "time unit" },
	/* words and ends */
	{ SMALL MEDIUM "Big carts (over $150): 1 hour, then 20@", "\".\"" },
	{ "Small carts (under $40): 4 hours, then 24\n@" MEDIUM BIG, "\".\" at the end" },
	{ SMALL MEDIUM BIG "@Be nice.", "a sentence about" },
	{ SMALL MEDIUM BIG "\n\n  @Güte zählt.", "a sentence about" },
	{ "Small carts (under $40): @gently remind after 4 hours, then 24. " MEDIUM BIG, "a time" },
	/* rates */
	{ CARTS "1 EUR is 1.08@.", "currency" },
	{ CARTS "1 EUR is @1.08 EUR.", "another currency" },
	{ CARTS "1 EUR is @0 USD.", "above zero" },
	{ CARTS "1 EUR @makes 1.08 USD.", "\"is\"" },
	{ CARTS "Count 1 EUR @is 1.08 USD.", "\"as\"" },
	{ CARTS "1 EUR is 1.08 USD. @1 USD is 0.93 EUR.", "one rate" },
	{ CARTS "@1 EUR is 0.86 GBP.", "carts are sized in" },
	/* quiet hours */
	{ CARTS "No mail between 9 @and 8 am.", "am, pm" },
	{ CARTS "Quiet hours: 9 @to 8.", "am, pm" },
	{ CARTS "No mail between 9 @and 8.", "am, pm" },
	{ CARTS "No mail from 9 @to 8.", "am, pm" },
	{ CARTS "Only between 9 @and 6.", "am, pm" },
	{ CARTS "Keine Mails zwischen 9 @und 8.", "am, pm" },
	{ CARTS "Nichts von 9 @bis 8.", "am, pm" },
	{ CARTS "Aucun mail entre 9 @et 8.", "am, pm" },
	{ CARTS "Ningún correo entre 9 @y 8.", "am, pm" },
	{ CARTS "Nessuna mail tra 9 @e 8.", "am, pm" },
	{ CARTS "Geen mails tussen 9 @en 8.", "am, pm" },
	{ CARTS "Nenhum e-mail entre 9 @e 8.", "am, pm" },
	{ CARTS "9@から8まで送信しない。", "am, pm" },
	{ CARTS "لا رسائل بين 9 @و 8.", "am, pm" },
	{ CARTS "9 @और 8 के बीच कोई मेल नहीं।", "am, pm" },
	{ CARTS "No mail between 9 @and 3 pm.", "am, pm" },
	{ CARTS "No mail between 9 pm and 8@.", "am, pm" },
	{ CARTS "No mail between 21:00 and 8@.", "am, pm" },
	{ CARTS "No mail between 9 pm and @25:00.", "0:00 to 23:59" },
	{ CARTS "No mail between 13 @pm and 8 am.", "24-hour clock" },
	{ CARTS "No mail between @9 pm and 21:00.", "two different times" },
	{ CARTS "No mail on @public holidays.", "public holidays" },
	{ CARTS "No mail on Sundays. @No mail from Monday to Saturday.", "no mail would ever go" },
	{ CARTS "Quiet hours: 21:00 @8:00.", "second time" },
	{ CARTS "@Quiet hours: not 21:00 to 8:00.", "one \"no\"" },
	{ CARTS "Quiet hours: 21:00 to 8:00@", "\".\"" },
	{ CARTS "No mails on Sundays, and on Saturdays @after 18:00.", "two sentences" },
	{ CARTS "No mails on Sundays and on Mondays @before 10:00.", "two sentences" },
	{ CARTS "No mails between @13:00 and 14:00 on Mondays and on Fridays.", "two sentences" },
	/* the window */
	{ CARTS "@At most eleven mails per shopper every 24 hours.", "1 to 10 mails" },
	{ CARTS "At most one mail per @cart every 24 hours.", "\"every\"" },
	{ CARTS "At most one mail per shopper every @0 hours.", "more than zero" },
	{ CARTS "At most one mail per shopper every 24 @moons.", "time unit" },
	{ CARTS "At most one mail per shopper@.", "\"every\"" },
	{ CARTS "@At least one mail per shopper every 24 hours.", "most" },
	{ CARTS "One mail per shopper every 24 hours@.", "at most" },
	{ CARTS "At least @0 hours between two mails to the same shopper.", "more than zero" },
	{ CARTS "At least @31 days between two mails to the same shopper.", "at most 30 days" },
	{ CARTS "At least @24 hours between two carts.", "an amount" },
	{ CARTS "At most one mail per shopper every day. @At most one mail per shopper every 2 days.",
		"only once; it is at line 1, column 116 already" },
};

/* The text without its mark, and where the mark was, in characters. */
static char *without_mark(const char *marked, int *ret_line, int *ret_column)
{
	const char *mark = strchr(marked, '@');
	char *text = calloc(1, strlen(marked) + 1);

	assert_non_null(mark);
	memcpy(text, marked, (size_t)(mark - marked));
	strcpy(text + (mark - marked), mark + 1);
	*ret_line = *ret_column = 1;
	for (const char *c = marked; c < mark; c++) {
		if (*c == '\n')
			*ret_line += 1, *ret_column = 1;
		else if (((unsigned char)*c & 0xc0) != 0x80)
			*ret_column += 1;
	}
	return text;
}

static void each_near_miss_is_refused_where_it_misses(void **state)
{
	int wrong = 0;

	(void)state;
	assert_true(sizeof(rejected) / sizeof(*rejected) >= 40);
	for (size_t i = 0; i < sizeof(rejected) / sizeof(*rejected); i++) {
		struct rules rules;
		struct rules_error error;
		int line, column;
		char *text = without_mark(rejected[i].text, &line, &column), place[64];
		if (rules_parse(text, "USD", &rules, &error) != -EINVAL) {
			print_error("accepted: %s\n", text);
			wrong++;
			free(text);
			continue;
		}
		snprintf(place, sizeof(place), "line %d, column %d: expected ", line, column);
		if (error.line != line || error.column != column || strncmp(error.text, place, strlen(place)) != 0)
			wrong++, print_error("%s\nrefused with: %s\nexpected at:  %s\n", text, error.text, place);
		if (!strstr(error.text, rejected[i].expectation))
			wrong++,
				print_error("%s\nrefused with: %s\nwhich does not say %s\n", text, error.text,
					rejected[i].expectation);
		free(text);
	}
	assert_int_equal(wrong, 0);
}

/* Half a sentence is never rules. Of half a text what is not there yet is not mailed: a size that no sentence names gets none. */
static void every_beginning_that_ends_in_a_sentence_is_refused(void **state)
{
	static const char whole[] =
		"Small carts (under $40 or €35): remind after 4 hours, then after 24. Quiet hours: 21:00 to 8:00. "
		"1 GBP is 1.27 USD. At most one mail per shopper every 24 hours. Medium carts: 2 hours, then "
		"22.\nBig carts (over $150 or €140): 1 hour, then twenty-two.";
	struct rules rules;
	struct rules_error error;

	(void)state;
	assert_int_equal(rules_parse(whole, "USD", &rules, &error), 0);
	for (size_t len = 0; len < strlen(whole); len++) {
		char *text = calloc(1, len + 1);
		memcpy(text, whole, len);
		size_t end = len;
		while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\n'))
			end--;
		bool is_whole = end > 0 && text[end - 1] == '.' && strncmp(whole + end - 3, "1.2", 3) != 0;
		if (rules_parse(text, "USD", &rules, &error) == 0) {
			if (!is_whole ||
				rules.sizes[rules.size_count - 1].waits.mails != (strstr(text, "Medium") ? 2 : 0))
				fail_msg("accepted: %s", text);
			free(text);
			continue;
		}
		assert_true(error.line >= 1 && error.column >= 1);
		assert_true(strlen(error.text) > strlen("line 1, column 1: expected "));
		free(text);
	}
}

static void a_character_that_is_no_text_is_refused(void **state)
{
	struct rules rules;
	struct rules_error error;

	(void)state;
	assert_int_equal(rules_parse(CARTS "\x01", "USD", &rules, &error), -EINVAL);
	assert_non_null(strstr(error.text, "control character"));
	assert_int_equal(rules_parse(CARTS "\xff\xfe", "USD", &rules, &error), -EINVAL);
	assert_non_null(strstr(error.text, "UTF-8"));
}

/* Any byte changed into any other of a few: accepted or refused, never lost (the sanitizers watch). */
static void a_changed_byte_is_read_or_refused(void **state)
{
	static const char good[] =
		CARTS "1 EUR is 1.08 USD. No mail between 9 p.m. and 8 a.m. At most one mail per shopper per day.";
	static const char others[] = " .,:;()-$0a\n#\"'/\xe2\xc2\x80";
	struct rules rules;
	struct rules_error error;
	size_t read = 0;

	(void)state;
	for (size_t at = 0; at < strlen(good); at++)
		for (size_t i = 0; i < sizeof(others) - 1; i++) {
			char *text = strdup(good);
			text[at] = others[i];
			int err = rules_parse(text, "USD", &rules, &error);
			assert_true(
				err == 0 || (err == -EINVAL && error.line >= 1 && error.column >= 1 && error.text[0]));
			read += err == 0;
			free(text);
		}
	assert_true(read > 0 && read < strlen(good) * (sizeof(others) - 1));
}

/* A suggestion leaves out a third wait, and nothing else; no example stands in for it. */
static void a_suggestion_drops_nothing_but_what_was_wrong(void **state)
{
	static const struct {
		const char *text, *instead;
	} cases[] = { { "All carts: 4 hours, then 24, then 48.", "All carts: 4 hours, then 24." },
		{ "All carts: 4 hours, then 24,\nthen 48.", "All carts: 4 hours, then 24." },
		{ "2 hours after and 24 hours after.", "" }, { "Remind after 4 hours, not on Sundays.", "" },
		{ "Remind after 4 hours, then again 24 hours.", "" },
		{ "Remind after 24 hours, then after bananas.", "" }, { "No mails on Sundays mornings.", "" },
		{ "No mails except on Sundays.", "" }, { "Mails are allowed on Sundays.", "" },
		{ "No quiet hours.", "" }, { "No mail between 9 and 8 am.", "" },
		{ "No mails on Sundays, and on Saturdays after 18:00.", "" },
		{ "Herinner na 4 uur, daarna na 24 uur.", "" },
		{ "All carts: 4 hours, then 24", "All carts: 4 hours, then 24." }, { "All carts: 4 hours, then", "" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rules rules;
		struct rules_error error;
		assert_int_equal(rules_parse(cases[i].text, "EUR", &rules, &error), -EINVAL);
		assert_string_equal(error.instead, cases[i].instead);
	}
}

/* What was not exact is said exactly, or nothing is offered. */
static void an_offer_is_the_sentence_with_one_thing_said_exactly(void **state)
{
	static const struct {
		const char *text, *instead;
	} cases[] = {
		{ "Only on working days.", "Only Monday to Friday." },
		{ "Keine Mails an Werktagen.", "Keine Mails Montag bis Freitag." },
		{ "Aucun mail les jours ouvrables.", "Aucun mail du lundi au vendredi." },
		{ "Ningún correo los días laborables.", "Ningún correo de lunes a viernes." },
		{ "Nessuna mail nei giorni lavorativi.", "Nessuna mail dal lunedì al venerdì." },
		{ "Alleen op werkdagen.", "Alleen maandag tot en met vrijdag." },
		{ "Apenas em dias úteis.", "Apenas de segunda a sexta." },
		{ "平日のみ送信。", "月曜日から金曜日のみ送信。" },
		{ "केवल कार्यदिवस।", "केवल सोमवार से शुक्रवार।" },
		{ "No mail on a working day.", "" },
		{ "All carts: the next day.", "All carts: after 24 hours." },
		{ "Erinnern am nächsten Tag!", "Erinnern nach 24 Stunden!" },
		{ "Rappel après 4 heures, puis le lendemain.", "Rappel après 4 heures, puis après 24 heures." },
		{ "Recordar al día siguiente.", "Recordar después de 24 horas." },
		{ "Ricordare il giorno dopo.", "Ricordare dopo 24 ore." },
		{ "Herinneren de volgende dag.", "Herinneren na 24 uur." },
		{ "Lembrar no dia seguinte.", "Lembrar após 24 horas." },
		{ "翌日にリマインドする。", "24時間後にリマインドする。" },
		{ "ذكّر في اليوم التالي.", "ذكّر بعد 24 ساعة." },
		{ "अगले दिन याद दिलाएं।", "24 घंटे बाद याद दिलाएं।" },
		{ "Remind after the next day.", "" },
		{ "Carts under 40: 4 hours.", "Carts under 40 EUR: 4 hours." },
		{ "Carts between 20 and 80: 4 hours.", "Carts between 20 and 80 EUR: 4 hours." },
		{ "Small carts (under 40): never.", "Small carts (under 40 EUR): never." },
		{ "Carts under 40 or over 80: 4 hours.", "" },
		{ "5000未満のカート: 4時間後。", "5000 EUR未満のカート: 4時間後。" },
		{ "No mail between 9 and 20.", "" },
		{ "Smal carts (under $40): never.", "Small carts (under $40): never." },
		{ "Small carts (undr $40): never.", "Small carts (under $40): never." },
		{ "Großse Warenkörbe (über 80 EUR): nach 1 Stunde.",
			"Grosse Warenkörbe (über 80 EUR): nach 1 Stunde." },
		{ "Smart carts (under $40): never.", "" },
		{ "Smal carts (undr 40): never.", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rules rules;
		struct rules_error error;
		assert_int_equal(rules_parse(cases[i].text, "EUR", &rules, &error), -EINVAL);
		assert_string_equal(error.instead, cases[i].instead);
		if (*error.instead)
			assert_string_not_equal(error.shown, "");
	}
	struct rules rules;
	struct rules_error error;
	assert_int_equal(rules_parse("Carts under 40: 4 hours.", NULL, &rules, &error), -EINVAL);
	assert_string_equal(error.instead, "");
}

/* Two bare hours may be of the morning or of the evening: what is likely is offered, and nothing is taken. */
static void of_two_bare_hours_the_night_and_the_day_are_offered(void **state)
{
	static const struct {
		const char *text, *instead, *or_instead;
	} cases[] = {
		{ "No mail between 9 and 8.", "No mail between 21:00 and 8:00.", "No mail between 9:00 and 20:00." },
		{ "Quiet hours: 10 to 7.", "Quiet hours: 22:00 to 7:00.", "Quiet hours: 10:00 to 19:00." },
		{ "Only between 9 and 6.", "Only between 21:00 and 6:00.", "Only between 9:00 and 18:00." },
		{ "Keine Mails zwischen 9 und 8.", "Keine Mails zwischen 21:00 und 8:00.",
			"Keine Mails zwischen 9:00 und 20:00." },
		{ "Aucun mail entre 9 et 8.", "Aucun mail entre 21:00 et 8:00.", "Aucun mail entre 9:00 et 20:00." },
		{ "Ningún correo entre 9 y 8.", "Ningún correo entre 21:00 y 8:00.",
			"Ningún correo entre 9:00 y 20:00." },
		{ "Nessuna mail tra 9 e 8.", "Nessuna mail tra 21:00 e 8:00.", "Nessuna mail tra 9:00 e 20:00." },
		{ "Geen mails tussen 9 en 8.", "Geen mails tussen 21:00 en 8:00.", "Geen mails tussen 9:00 en 20:00." },
		{ "Nenhum e-mail entre 9 e 8.", "Nenhum e-mail entre 21:00 e 8:00.",
			"Nenhum e-mail entre 9:00 e 20:00." },
		{ "9から8まで送信しない。", "21:00から8:00まで送信しない。", "9:00から20:00まで送信しない。" },
		{ "لا رسائل بين 9 و 8.", "لا رسائل بين 21:00 و 8:00.", "لا رسائل بين 9:00 و 20:00." },
		{ "9 और 8 के बीच कोई मेल नहीं।", "21:00 और 8:00 के बीच कोई मेल नहीं।", "9:00 और 20:00 के बीच कोई मेल नहीं।" },
		{ "No mail between 8 and 9.", "", "" },
		{ "No mail between 12 and 8.", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rules rules;
		struct rules_error error;

		assert_int_equal(rules_parse(cases[i].text, "EUR", &rules, &error), -EINVAL);
		assert_string_equal(error.instead, cases[i].instead);
		assert_string_equal(error.or_instead, cases[i].or_instead);
	}
}

/* More digits than any time has, up to where a scanner's room could end. */
static void a_time_of_many_digits_is_refused(void **state)
{
	struct rules rules;
	struct rules_error error;
	char text[200];

	(void)state;
	for (int digits = 3; digits < 70; digits++) {
		snprintf(text, sizeof(text), CARTS "No mail between %0*d:30 and 8:00.", digits, 9);
		assert_int_equal(rules_parse(text, "USD", &rules, &error), -EINVAL);
	}
}

/* Public holidays move from year to year: no language may take days that depend on them for days of the week. */
static void days_that_depend_on_holidays_are_refused_in_every_language(void **state)
{
	static const char *const said[] = { "No mail on business days.", "Keine Mails an Werktagen.",
		"Aucun mail les jours ouvrables.", "Ningún correo los días laborables.",
		"Nessuna mail nei giorni lavorativi.", "Geen mails op werkdagen.", "Nenhum e-mail em dias úteis.",
		"土日祝以外はメールを送らない。", "営業日はメールを送らない。" };
	struct rules rules;
	struct rules_error error;
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		snprintf(text, sizeof(text), CARTS "%s", said[i]);
		if (rules_parse(text, "USD", &rules, &error) == 0)
			fail_msg("accepted: %s", said[i]);
	}
}

/* A control of C1, which terminals obey, and marks that turn a line around are blanks where the line is shown. */
static void the_line_that_is_shown_moves_no_cursor(void **state)
{
	struct rules rules;
	struct rules_error error;

	(void)state;
	assert_int_equal(rules_parse("Carts \xc2\x9b"
				     "2J \xe2\x80\xae \xe2\x80\xa8 \033[2J",
				 "EUR", &rules, &error),
		-EINVAL);
	assert_non_null(strstr(error.shown, "    Carts  2J      [2J\n"));
}

/* A first word of up to 50 letters with 1 to 4 bytes each. */
static void a_long_word_is_quoted_in_whole_characters(void **state)
{
	static const char *const letters[] = { "x", "\u0436", "\u10d0", "\U00010330" };
	struct rules rules;
	struct rules_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		for (int count = 1; count <= 50; count++) {
			_cleanup_(buffer_free) struct buffer text = { 0 };

			for (int j = 0; j < count; j++)
				buffer_add_text(&text, letters[i]);
			buffer_add_text(&text, " is no sentence.");
			assert_int_equal(rules_parse(buffer_text(&text), "EUR", &rules, &error), -EINVAL);
			if (!text_is_utf8(bytes_of(error.text)) || error.text[strlen(error.text) - 1] != '"')
				fail_msg("%d letters \"%s\": %s", count, letters[i], error.text);
		}
}

static void add_times(const char *letter, int count, struct buffer *ret)
{
	for (int i = 0; i < count; i++)
		buffer_add_text(ret, letter);
}

/* The caret has to stand below the blank that is shown for the control character; all of it in 80 columns. */
static void must_show_the_place(const char *letter, int columns, int count)
{
	_cleanup_(buffer_free) struct buffer text = { 0 }, line = { 0 };
	struct rules rules;
	struct rules_error error;
	int before = count < 50 / columns ? count : 50 / columns, behind;

	add_times(letter, count, &text);
	buffer_add_text(&text, "\001");
	add_times(letter, 30, &text);
	assert_int_equal(rules_parse(buffer_text(&text), "EUR", &rules, &error), -EINVAL);
	buffer_add_text(&line, "    ");
	add_times(letter, before, &line);
	buffer_add_text(&line, " ");
	if (!text_starts(error.shown, buffer_text(&line)))
		fail_msg("%d times \"%s\" is shown as\n%s", count, letter, error.shown);
	behind = (int)(strcspn(error.shown, "\n") - line.len) / (int)strlen(letter);
	assert_in_range(4 + before * columns + 1 + behind * columns, 4 + before * columns + 20, 79);
	buffer_clear(&line);
	buffer_printf(&line, "\n%*s^", 4 + before * columns, "");
	assert_string_equal(strchr(error.shown, '\n'), buffer_text(&line));
}

static void the_caret_stands_below_the_error_of_a_long_line(void **state)
{
	(void)state;
	for (int count = 0; count <= 150; count++) {
		must_show_the_place("x", 1, count);
		must_show_the_place("\u0436", 1, count);
		must_show_the_place("\u30ab", 2, count);
		must_show_the_place("\U00020000", 2, count);
		must_show_the_place("\U00010330", 1, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_near_miss_is_refused_where_it_misses),
		cmocka_unit_test(a_suggestion_drops_nothing_but_what_was_wrong),
		cmocka_unit_test(every_beginning_that_ends_in_a_sentence_is_refused),
		cmocka_unit_test(a_character_that_is_no_text_is_refused),
		cmocka_unit_test(a_changed_byte_is_read_or_refused),
		cmocka_unit_test(of_two_bare_hours_the_night_and_the_day_are_offered),
		cmocka_unit_test(an_offer_is_the_sentence_with_one_thing_said_exactly),
		cmocka_unit_test(a_time_of_many_digits_is_refused),
		cmocka_unit_test(days_that_depend_on_holidays_are_refused_in_every_language),
		cmocka_unit_test(the_line_that_is_shown_moves_no_cursor),
		cmocka_unit_test(a_long_word_is_quoted_in_whole_characters),
		cmocka_unit_test(the_caret_stands_below_the_error_of_a_long_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
