/* What owners may write: each text with the whole of what it means. */
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "services/kit/rules/rules.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SMALL "Small carts (under $40): 4 hours, then 24. "
#define MEDIUM "Medium carts: 2 hours, then 22. "
#define BIG "Big carts (over $150): 1 hour, then 20. "
#define CARTS SMALL MEDIUM BIG

/* minutes per size, then thresholds in minor units */
#define WAITS "240/1440 120/1320 60/1200"
#define USUAL WAITS " USD 4000 15000"

static const struct accepted {
	const char *currency, *text, *meaning;
} accepted[] = {
	{ "USD",
		"Small carts (under $40): remind after 4 hours, then after 24.\nMedium carts: 2 hours, then 22.\nBig "
		"carts (over $150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"Big carts (over $150): 1 hour, then 20. Small carts (under $40): 4 hours, then 24. Medium carts: 2 "
		"hours, then 22.",
		USUAL },
	{ "USD",
		"Small baskets (below $40): send after 4 hours, then after 24 hours. Medium baskets: wait 2 hours, "
		"then 22 hours. Large baskets (above $150): wait 1 hour, then 20 hours.",
		USUAL },
	{ "USD",
		"Small orders (less than $40): write after 240 minutes, then after 1440. Medium orders: 120 min, then "
		"22 h. Big orders (more than $150): 60 mins, then 20 hrs.",
		USUAL },
	{ "USD", "Small carts under $40: 4h, 24h. Medium carts: 2h, 22h. Big carts over $150: 1h, 20h.", USUAL },
	{ "USD",
		"Small carts (under $40): remind after four hours, then after twenty-four. Medium carts: two hours, "
		"then twenty-two. Big carts (over $150): one hour, then twenty.",
		USUAL },
	{ "USD",
		"Small carts (under $40): half a day, then one day. Medium carts: a day, then two. Big carts (over "
		"$150): an hour, then a day.",
		"720/1440 1440/2880 60/1440 USD 4000 15000" },
	{ "USD",
		"Small carts (under $40 or €35 or ¥6000): 4 hours, then 24. Medium carts: 2 hours, then 22. Big carts "
		"(over $150 or €140 or ¥22000): 1 hour, then 20.",
		WAITS " USD 4000 15000 EUR 3500 14000 JPY 6000 22000" },
	{ "USD",
		"Small carts (under 40 USD, 35 EUR or 6,000 JPY): 4 hours, then 24. Medium carts: 2 hours, then 22. "
		"Big carts (over USD 150, EUR 140 or JPY 22,000): 1 hour, then 20.",
		WAITS " USD 4000 15000 EUR 3500 14000 JPY 6000 22000" },
	{ "USD",
		"Small carts (under 40 dollars or 35 euros): 4 hours, then 24. Medium carts: 2 hours, then 22. Big "
		"carts (over 150 dollars or 140 euros): 1 hour, then 20.",
		WAITS " USD 4000 15000 EUR 3500 14000" },
	{ "USD", CARTS "1 EUR is 1.08 USD.", USUAL " EUR=1.08USD" },
	{ "USD", "Count 1 EUR as 1.08 USD. " CARTS, USUAL " EUR=1.08USD" },
	{ "USD", "€1 = $1.08. 100 yen are 0.62 dollars. " CARTS, USUAL " EUR=1.08USD JPY=0.0062USD" },
	{ "USD", "Count 1 EUR as 1.08 USD and 1 GBP as 1.27 USD. " CARTS, USUAL " EUR=1.08USD GBP=1.27USD" },
	{ "USD", "No mail between 9 pm and 8 am. " CARTS, USUAL " quiet 1260-480" },
	{ "USD", CARTS "Quiet hours: 21:00 to 8:00.", USUAL " quiet 1260-480" },
	{ "USD", CARTS "Quiet hours: 21 to 8.", USUAL " quiet 1260-480" },
	{ "USD", CARTS "Quiet hours: 8 to 21.", USUAL " quiet 480-1260" },
	{ "USD", CARTS "Quiet hours: 21 to 8:00.", USUAL " quiet 1260-480" },
	{ "USD", CARTS "Quiet hours are from 9:30 p.m. to 7:15 a.m.", USUAL " quiet 1290-435" },
	{ "USD", CARTS "Do not send anything between midnight and noon.", USUAL " quiet 0-720" },
	{ "USD", CARTS "Don't mail after 20:30 or before 7:00.", USUAL " quiet 1230-420" },
	{ "USD", CARTS "Send nothing from 1 pm to 2 pm.", USUAL " quiet 780-840" },
	{ "USD", CARTS "No emails are sent between 22:00 and 6:00.", USUAL " quiet 1320-360" },
	{ "USD", CARTS "No mails between 20:00 and 8:00 on Saturdays and Sundays.", USUAL " quiet 1200-480 Sun Sat" },
	{ "USD", CARTS "No mails on Saturdays and Sundays between 20:00 and 8:00.", USUAL " quiet 1200-480 Sun Sat" },
	{ "USD", CARTS "No mails between 13:00 and 14:00 on Mondays or\n  Fridays.", USUAL " quiet 780-840 Mon Fri" },
	{ "USD", CARTS "No mails after 18:00 on weekends.", USUAL " quiet 1080-0 Sun Sat" },
	{ "USD", CARTS "No mails on Sundays before 10:00.", USUAL " quiet 0-600 Sun" },
	{ "USD", CARTS "No mails on Sundays.", USUAL " quiet 0-1440 Sun" },
	{ "USD", "At most one mail per shopper every 24 hours. " CARTS, USUAL " window 1440 warnings 3" },
	{ "USD", "Send no more than one reminder to each customer in 2 days. " CARTS, USUAL " window 2880 warnings 3" },
	{ "USD", CARTS "One email per person per day at most.", USUAL " window 1440 warnings 3" },
	{ "USD", CARTS "At least 24 hours between two mails to the same shopper.", USUAL " window 1440 warnings 3" },
	{ "USD", CARTS "Send at least two days between two mails to one shopper.", USUAL " window 2880 warnings 3" },
	{ "USD", CARTS "At least 36 hours between two mails.", USUAL " window 2160 warnings 3" },
	{ "USD",
		"Small carts (under $40): 4 hours, then 24. Medium carts ($40 to $150): 2 hours, then 22. Big carts "
		"(over $150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"Small carts (under $40): 4 hours, then 24. Medium carts, between $40 and $150: 2 hours, then 22. Big "
		"carts (over $150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"Small carts (under $40): 4 hours, then 24. Medium carts (the rest): 2 hours, then 22. Big carts (over "
		"$150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"Small carts (under $40): 30 minutes, then 5 hours. Medium carts: 2 hours, then 22. Big carts (over "
		"$150): 45 min, then 20 hours.",
		"30/300 120/1320 45/1200 USD 4000 15000 warnings 2" },
	{ "USD",
		"# our rules\nSmall carts (under $40):     # they can wait\n  remind after 4 hours,\n  then after "
		"24.\n\nMedium carts: 2 hours, then 22.\nBig carts (over $150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"- Small carts (under $40): 4 hours, then 24.\n- Medium carts: 2 hours, then 22.\n- Big carts (over "
		"$150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"SMALL CARTS (UNDER $40): REMIND AFTER 4 HOURS, THEN AFTER 24. MEDIUM CARTS: 2 HOURS, THEN 22. BIG "
		"CARTS (OVER $150): 1 HOUR, THEN 20.",
		USUAL },
	{ "USD",
		"Remind small carts (under $40) after 4 hours and again after 24. Remind medium carts after 2 hours "
		"and again after 22. Remind big carts (over $150) after 1 hour and again after 20.",
		USUAL },
	{ "USD",
		"For small carts under $40, remind after 4 hours, and then after 24 hours. For medium carts, remind "
		"after 2 hours, and then after 22 hours. For big carts over $150, remind after 1 hour, and then after "
		"20 hours.",
		USUAL },
	{ "USD",
		"Small carts (under $40): first reminder after 4 hours, second reminder after 24 hours. Medium carts: "
		"first mail after 2 hours, the second after 22 hours. Big carts (over $150): the first after 1 hour, "
		"the last after 20 hours.",
		USUAL },
	{ "USD",
		"Small carts (under $39.99): 1.5 hours, then 5.5. Medium carts: 2 hours 30 minutes, then 22 hours. Big "
		"carts (over $1,500.50): 1 hour, then 20.",
		"90/330 150/1320 60/1200 USD 3999 150050" },
	{ "USD",
		"Please remind small carts (under $40) after 4 hours, then after 24. Mid-sized carts – 2 hours – 22 "
		"hours. Large carts (over $150) — 1 hour, then 20.",
		USUAL },
	{ "USD",
		"Small-sized carts (under $40): 4 hours, then 24. Medium size carts: 2 hours, then 22. Big - sized "
		"carts (over $150): 1 hour, then 20.",
		USUAL },
	{ "USD",
		"Small carts (under 40 $): 90 minutes, then 1 day. Medium carts: 2 hours, then 3 days. Big carts (over "
		"150 $): 1 hour, then 30 days.",
		"90/1440 120/4320 60/43200 USD 4000 15000" },
	{ "USD",
		"Small carts (under KWD 12.500): 4 hours, then 24. Medium carts: 2 hours, then 22. Big carts (over KWD "
		"45.750): 1 hour, then 20.",
		WAITS " KWD 12500 45750" },
	{ "USD",
		"Small carts (under £40): 4 hours, then 8 hours. Medium carts: 2 hours, then 6. Big carts (over £40): "
		"1 hour, then 5.",
		"240/480 120/360 60/300 GBP 4000 4000" },
	{ "USD",
		"Small carts (under CA$40 or US$30): remind the shopper once after 4 hours, then once more after 24 "
		"hours. Medium carts: send a reminder after 2 hours, then another after 22. Big carts (over CA$150 or "
		"US$110): nudge them after 1 hour, then again after 20.",
		WAITS " CAD 4000 15000 USD 3000 11000" },
	{ "USD",
		"At most one mail per shopper every 36 hours. Quiet hours: 20:00 - 9:00. 1 EUR is worth 1.08 USD. Big "
		"carts (over $150 / £120): 1 hour, then 20. Medium carts (everything else): 2 hours, then 22. Small "
		"carts (under $40 / £32): 4 hours, then 24.",
		WAITS " USD 4000 15000 GBP 3200 12000 EUR=1.08USD quiet 1200-540 window 2160 warnings 3" },
	{ "USD",
		"Small carts of under $40: mail after 4 hours; then after 24. Medium carts: 2 hours; 22. Big carts "
		"worth more than $150: mail after 1 hour; 20.",
		USUAL },
	/* amounts as one writes them elsewhere: the last sign is the decimal point, the others part thousands */
	{ "EUR",
		"Small carts (under €1.039,99): 4 hours, then 24. " MEDIUM
		"Big carts (over €1.500,50): 1 hour, then 20.",
		WAITS " EUR 103999 150050" },
	{ "CHF",
		"Small carts (under CHF 1'039.99): 4 hours, then 24. " MEDIUM
		"Big carts (over CHF 12.001.500,50): 1 hour, then 20.",
		WAITS " CHF 103999 1200150050" },
	{ "INR",
		"Small carts (under ₹1,039.99): 4 hours, then 24. " MEDIUM
		"Big carts (over ₹1,00,500.50): 1 hour, then 20.",
		WAITS " INR 103999 10050050" },
	{ "CAD", CARTS, WAITS " CAD 4000 15000" },
	{ "EUR", CARTS, WAITS " USD 4000 15000" },
	{ "CNY", "Small carts (under ¥40): 4 hours, then 24. " MEDIUM "Big carts (over ¥150): 1 hour, then 20.",
		WAITS " CNY 4000 15000" },
	{ "SEK", "Small carts (under 400 kr): 4 hours, then 24. " MEDIUM "Big carts (over 1500 kr): 1 hour, then 20.",
		WAITS " SEK 40000 150000" },
	{ "PLN", "Small carts (under 160 zł): 4 hours, then 24.\r\n" MEDIUM "Big carts (over 600 zł): 1 hour, then 20.",
		WAITS " PLN 16000 60000" },
};

/* Everything that is in struct rules, in one line. */
static void describe(const struct rules *rules, struct buffer *ret)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

	assert_int_equal(rules->size_count, 3);
	for (int i = 0; i < 3; i++) {
		const struct rules_waits *waits = &rules->sizes[i].waits;
		assert_true(rules->sizes[i].name == (enum cart_size)i && waits->mails == 2);
		buffer_printf(ret, "%s%" PRId64 "/%" PRId64, i ? " " : "", waits->first_us / US_PER_MINUTE,
			waits->second_us / US_PER_MINUTE);
	}
	for (int i = 0; i < rules->edge_count; i++)
		buffer_printf(ret, " %s %" PRId64 " %" PRId64, rules->edges[i].currency, rules->edges[i].from[1],
			rules->edges[i].from[2] - 1);
	for (int i = 0; i < rules->rate_count; i++)
		buffer_printf(ret, " %s=%.6g%s", rules->rates[i].from, rules->rates[i].rate, rules->rates[i].to);
	for (int i = 0; i < rules->quiet_count; i++) {
		buffer_printf(ret, " quiet %d-%d", rules->quiets[i].from_minute, rules->quiets[i].to_minute);
		for (int day = 0; day < 7 && rules->quiets[i].days != RULES_EVERY_DAY; day++)
			if (rules->quiets[i].days & 1 << day)
				buffer_printf(ret, " %s", days[day]);
	}
	if (rules->window_us)
		buffer_printf(ret, " window %" PRId64, rules->window_us / US_PER_MINUTE);
	if (rules->warning_count)
		buffer_printf(ret, " warnings %d", rules->warning_count);
}

static void assert_means(const char *text, const char *currency, const char *meaning)
{
	struct buffer described = { 0 };
	struct rules rules;
	struct rules_error error;

	if (rules_parse(text, currency, &rules, &error) < 0)
		fail_msg("refused: %s\n%s", text, error.text);
	describe(&rules, &described);
	if (strcmp(buffer_text(&described), meaning) != 0)
		fail_msg("%s\nmeans    %s\nexpected %s", text, buffer_text(&described), meaning);
	buffer_free(&described);
}

static void each_variant_means_exactly_this(void **state)
{
	(void)state;
	assert_true(sizeof(accepted) / sizeof(*accepted) >= 40);
	for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++)
		assert_means(accepted[i].text, accepted[i].currency, accepted[i].meaning);
}

static void what_is_printed_reads_back_as_the_same_rules(void **state)
{
	(void)state;
	static const char *const locales[] = { "en-US", "de-AT", "fr", "es-MX", "it", "nl", "pt-BR", "ja", "ar-EG",
		"hi" };
	for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++)
		for (size_t j = 0; j < sizeof(locales) / sizeof(*locales); j++) {
			struct buffer printed = { 0 }, before = { 0 };
			struct rules rules;
			struct rules_error error;
			assert_int_equal(rules_parse(accepted[i].text, accepted[i].currency, &rules, &error), 0);
			rules_print(&rules, locales[j], &printed);
			describe(&rules, &before);
			assert_means(buffer_text(&printed), "EUR", buffer_text(&before));
			buffer_free(&printed);
			buffer_free(&before);
		}
}

static void a_soon_reminder_is_warned_about_with_its_place(void **state)
{
	struct rules rules;
	struct rules_error error;

	(void)state;
	assert_int_equal(
		rules_parse("Small carts (under $40): 59 minutes, then 5 hours.\n" MEDIUM BIG, "USD", &rules, &error),
		0);
	assert_int_equal(rules.warning_count, 1);
	assert_non_null(strstr(rules.warnings[0], "line 1, column 26"));
	assert_non_null(strstr(rules.warnings[0], "59 minutes"));
	assert_int_equal(
		rules_parse("Small carts (under $40): 60 minutes, then 5 hours.\n" MEDIUM BIG, "USD", &rules, &error),
		0);
	assert_int_equal(rules.warning_count, 0);
}

/* What is said of each text, in its order; NULL ends them. */
static void what_will_surprise_is_warned_about(void **state)
{
	static const struct {
		const char *text, *warnings[4];
	} texts[] = {
		{ SMALL MEDIUM BIG "At most one mail per shopper every 24 hours.",
			{ "line 1, column 1: the second mail goes 4 hours later: one mail every 24 hours (line 1, "
			  "column ",
				"the second mail goes 4 hours later", "the second mail goes 5 hours later" } },
		{ SMALL MEDIUM BIG "At most one mail per shopper every 5 days.",
			{ "the second mail never goes: one mail every 5 days", "never goes", "never goes" } },
		{ SMALL MEDIUM BIG "At most one mail per shopper every 19 hours.", { NULL } },
		{ SMALL MEDIUM "Big carts (over $150): 1 hour, then 13. Quiet hours: 8:00 to 21:00.",
			{ "the second mail always falls in the quiet hours (line 1, column " } },
		{ SMALL MEDIUM "Big carts (over $150): 1 hour, then 25. Quiet hours: 8:00 to 21:00.", { NULL } },
		{ SMALL MEDIUM BIG "Quiet hours: 21:00 to 8:00.", { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct rules rules;
		struct rules_error error;
		int count = 0;

		assert_int_equal(rules_parse(texts[i].text, "USD", &rules, &error), 0);
		for (; texts[i].warnings[count]; count++) {
			assert_true(count < rules.warning_count);
			assert_non_null(strstr(rules.warnings[count], texts[i].warnings[count]));
		}
		assert_int_equal(rules.warning_count, count);
	}
}

/* NULL: nothing. */
static void a_shop_whose_own_currency_has_no_amounts_is_warned(void **state)
{
	static const struct {
		const char *text, *currency, *warning;
	} cases[] = {
		{ CARTS, "USD", NULL },
		{ CARTS, "CAD", NULL }, /* its dollar is meant */
		{ CARTS, "EUR", "is in EUR, the shop's own currency: carts in it all count as medium" },
		{ CARTS "1 EUR is 1.08 USD.", "EUR", NULL },
		{ CARTS "1 EUR is 1.08 USD.", "CHF", "is in CHF, " },
		{ "All carts: 4 hours.", "EUR", NULL },
		{ SMALL BIG "All other carts: 2 hours.", "EUR", "all count as other carts" },
		{ SMALL BIG "All other carts: never.", "EUR", "get no mail" },
		{ SMALL, "EUR", "get no mail" },
		{ "Carts over 100 EUR: 4 hours. Carts over 90 EUR and under 100 EUR: 10 minutes.", "USD",
			"get no mail" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rules rules;
		struct rules_error error;
		const char *warning;
		int before;

		assert_int_equal(rules_parse(cases[i].text, cases[i].currency, &rules, &error), 0);
		before = rules.warning_count;
		warning = rules_warn_of_currency(&rules, cases[i].currency);
		if (!warning != !cases[i].warning || (warning && !strstr(warning, cases[i].warning)))
			fail_msg("%s in %s: %s", cases[i].text, cases[i].currency, warning ? warning : "no warning");
		assert_int_equal(rules.warning_count, before + !!warning);
		for (int again = 0; warning && again < RULES_WARNINGS_MAX;
			again++) { /* it has room among many others */
			warning = rules_warn_of_currency(&rules, cases[i].currency);
			assert_ptr_equal(warning, rules.warnings[rules.warning_count - 1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_will_surprise_is_warned_about),
		cmocka_unit_test(a_shop_whose_own_currency_has_no_amounts_is_warned),
		cmocka_unit_test(each_variant_means_exactly_this),
		cmocka_unit_test(what_is_printed_reads_back_as_the_same_rules),
		cmocka_unit_test(a_soon_reminder_is_warned_about_with_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
