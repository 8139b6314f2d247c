/*
 * What owners write, in ten languages (tests/fixtures/owners): how much of it is taken, and that none of it is taken for something
 * else. `CARTBUS_OWNERS=held` prints the sentences that were not taken, or were misread, of the part that is named.
 */
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/rules.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SMALL "Small carts (under 40 EUR): 4 hours, then 24. "
#define OTHERS "Medium carts: 2 hours, then 22. Big carts (over 150 EUR): 1 hour, then 20.\n"
#define SMALL_MEANS "..39.99 4h/24h"
#define OTHERS_MEAN "40.00..150.00 2h/22h; 150.01.. 1h/20h"

enum { TAKEN_LEAST_PERCENT = 70 };

static const char *const languages[] = { "en", "de", "fr", "es", "it", "nl", "pt", "ja", "ar", "hi" };
static const char *const parts[] = { "known", "fresh", "held", "wrong" };

struct score {
	int good, taken, wrong, misread;
};

static void add_span(struct buffer *to, int64_t us)
{
	if (us % US_PER_DAY == 0 && us > US_PER_DAY)
		buffer_printf(to, "%" PRId64 "d", us / US_PER_DAY);
	else if (us % US_PER_HOUR == 0)
		buffer_printf(to, "%" PRId64 "h", us / US_PER_HOUR);
	else
		buffer_printf(to, "%" PRId64 "m", us / US_PER_MINUTE);
}

static void add_amount(struct buffer *to, const struct rules *rules, int64_t minor)
{
	char shown[48];

	money_plain(minor, rules->edges[0].currency, shown, sizeof(shown));
	buffer_add_text(to, shown);
}

static void add_size(struct buffer *to, const struct rules *rules, int i)
{
	const struct rules_waits *waits = &rules->sizes[i].waits;

	if (rules->edge_count == 0)
		buffer_add_text(to, "all");
	if (i > 0)
		add_amount(to, rules, rules->edges[0].from[i]);
	if (rules->edge_count)
		buffer_add_text(to, "..");
	if (i + 1 < rules->size_count)
		add_amount(to, rules, rules->edges[0].from[i + 1] - 1);
	buffer_add_text(to, waits->mails ? " " : " none");
	if (waits->mails)
		add_span(to, waits->first_us);
	if (waits->mails == 2)
		buffer_add_text(to, "/");
	if (waits->mails == 2)
		add_span(to, waits->second_us);
}

static void add_days(struct buffer *to, int days)
{
	static const char *const names[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

	for (int i = 1; i <= 7; i++)
		if (days & 1 << i % 7)
			buffer_printf(to, " %s", names[i % 7]);
}

/* In the words of the fixtures. */
static void describe(const struct rules *rules, struct buffer *to)
{
	for (int i = 0; i < rules->size_count; i++) {
		buffer_add_text(to, i ? "; " : "");
		add_size(to, rules, i);
	}
	for (int i = 0; i < rules->quiet_count; i++) {
		const struct rules_quiet *quiet = &rules->quiets[i];
		bool closed = quiet->to_minute - quiet->from_minute == 1440;
		buffer_add_text(to, closed ? "; closed" : "; quiet");
		if (quiet->days != RULES_EVERY_DAY || closed)
			add_days(to, quiet->days);
		if (!closed)
			buffer_printf(to, " %02d:%02d-%02d:%02d", quiet->from_minute / 60, quiet->from_minute % 60,
				quiet->to_minute / 60, quiet->to_minute % 60);
	}
	for (int i = 0; i < rules->cap_count; i++) {
		buffer_printf(to, "; cap %d/", rules->caps[i].mails);
		add_span(to, rules->caps[i].period_us);
	}
	if (rules->window_us) {
		buffer_add_text(to, "; cap 1/");
		add_span(to, rules->window_us);
	}
}

/* The sentence in a document that is otherwise right, and what the whole means. */
static void put_into_context(
	const char *context, const char *sentence, const char *meaning, struct buffer *text, struct buffer *whole)
{
	if (strcmp(context, "with") == 0) {
		buffer_printf(text, SMALL OTHERS "%s\n", sentence);
		buffer_printf(whole, SMALL_MEANS "; " OTHERS_MEAN "; %s", meaning);
	} else if (strcmp(context, "small") == 0) {
		buffer_printf(text, "%s " OTHERS, sentence);
		buffer_printf(whole, "%s; " OTHERS_MEAN, meaning);
	} else {
		buffer_printf(text, "%s\n", sentence);
		buffer_add_text(whole, meaning);
	}
}

static void must_read_back(const struct rules *rules, const char *locale, const char *meaning)
{
	struct buffer printed = { 0 }, again = { 0 };
	struct rules_error error;
	struct rules reread;

	rules_print(rules, locale, &printed);
	if (rules_parse(buffer_text(&printed), "EUR", &reread, &error) < 0)
		fail_msg("what is said back is refused: %s\n%s", error.text, buffer_text(&printed));
	describe(&reread, &again);
	if (strcmp(buffer_text(&again), meaning) != 0)
		fail_msg("%s\nreads back as %s\ninstead of    %s", buffer_text(&printed), buffer_text(&again), meaning);
	buffer_free(&printed);
	buffer_free(&again);
}

/* Alone, or where another sentence says when carts are reminded. */
static void must_do_instead(const char *sentence)
{
	struct buffer text = { 0 };
	struct rules_error error;
	struct rules rules;

	buffer_printf(&text, "All carts: 4 hours.\n%s", sentence);
	if (rules_parse(sentence, "EUR", &rules, &error) < 0 &&
		rules_parse(buffer_text(&text), "EUR", &rules, &error) < 0)
		fail_msg("the sentence that would do is refused: %s\n%s", sentence, error.text);
	buffer_free(&text);
}

static void judge(const char *context, const char *sentence, const char *meaning, struct score *score, bool is_shown)
{
	struct buffer text = { 0 }, whole = { 0 }, means = { 0 };
	struct rules_error error;
	struct rules rules;
	bool is_wrong = strcmp(meaning, "refused") == 0;

	put_into_context(context, sentence, meaning, &text, &whole);
	bool is_taken = rules_parse(buffer_text(&text), "EUR", &rules, &error) == 0;
	if (is_taken)
		describe(&rules, &means);
	bool is_misread = is_taken && (is_wrong || strcmp(buffer_text(&means), buffer_text(&whole)) != 0);
	score->good += !is_wrong;
	score->wrong += is_wrong;
	score->taken += !is_wrong && is_taken && !is_misread;
	score->misread += is_misread;
	if (is_taken)
		for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
			must_read_back(&rules, languages[i], buffer_text(&means));
	else
		assert_true(error.line >= 1 && error.column >= 1 && *error.text && *error.shown);
	if (!is_taken && *error.instead)
		must_do_instead(error.instead);
	if (is_misread)
		print_message(
			"misread: %s\n   means %s\nexpected %s\n", sentence, buffer_text(&means), buffer_text(&whole));
	else if (is_shown && !is_wrong && !is_taken)
		print_message("refused: %s\n   %s\n   instead: %s\n", sentence, error.text, error.instead);
	else if (is_shown && is_wrong)
		print_message("rightly: %s\n   %s\n   instead: %s\n", sentence, error.text, error.instead);
	buffer_free(&text);
	buffer_free(&whole);
	buffer_free(&means);
}

static char *cut(char **line)
{
	char *start = *line, *bar = start ? strstr(start, " | ") : NULL;

	if (bar)
		*bar = '\0';
	*line = bar ? bar + 3 : NULL;
	return start;
}

static void judge_language(const char *language, struct score scores[4])
{
	const char *shown = getenv("CARTBUS_OWNERS");
	struct buffer text = { 0 };
	char path[512], *rest = NULL;
	int part = 0;

	snprintf(path, sizeof(path), OWNERS_FOLDER "/%s.txt", language);
	assert_int_equal(file_read(path, 1 << 20, &text), 0);
	char *lines = memory_copy_text(buffer_text(&text));
	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		for (int i = 0; *line == '[' && i < 4; i++)
			if (strncmp(line + 1, parts[i], strlen(parts[i])) == 0)
				part = i;
		if (*line == '[')
			continue;
		char *context = cut(&line), *sentence = cut(&line);
		assert_true(context && sentence && line);
		judge(context, sentence, line, &scores[part], shown && strcmp(shown, parts[part]) == 0);
	}
	free(lines);
	buffer_free(&text);
}

static int percent(int part, int whole)
{
	return whole ? part * 100 / whole : 0;
}

static void what_owners_write_is_taken_and_never_misread(void **state)
{
	struct score all = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		struct score scores[4] = { 0 }, whole = { 0 };
		judge_language(languages[i], scores);
		for (int j = 0; j < 4; j++) {
			whole.good += scores[j].good;
			whole.taken += scores[j].taken;
			whole.wrong += scores[j].wrong;
			whole.misread += scores[j].misread;
		}
		print_message("rules.taken.%s %d %% of %d (known %d of %d, fresh %d of %d, held %d of %d); of %d wrong "
			      "ones %d misread\n",
			languages[i], percent(whole.taken, whole.good), whole.good, scores[0].taken, scores[0].good,
			scores[1].taken, scores[1].good, scores[2].taken, scores[2].good, whole.wrong, whole.misread);
		all.good += whole.good;
		all.taken += whole.taken;
		all.wrong += whole.wrong;
		all.misread += whole.misread;
		assert_true(percent(whole.taken, whole.good) >= TAKEN_LEAST_PERCENT);
	}
	print_message("rules.taken %d %% of %d\nrules.misread %d (%d sentences had to be refused)\n",
		percent(all.taken, all.good), all.good, all.misread, all.wrong);
	assert_int_equal(all.misread, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_owners_write_is_taken_and_never_misread) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
