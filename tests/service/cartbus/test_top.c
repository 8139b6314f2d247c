/* test_top.c: what `cartbus top` makes of the broker's answers, and that it fits every terminal */
#include "services/cartbus/watch/top_draw.h"

#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/cartbus/watch/top_figures.h"
#include "tests/unit/cmocka_all.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char STATUS[] =
	"{\"log\":\"l\",\"head\":%d,\"wall_us\":100000000,\"uptime_us\":7200000000,\"disk\":{\"free_bytes\":44023414784},"
	"\"queues\":[{\"name\":\"intake\",\"ready\":12345,\"leased\":2,\"delayed\":0,\"dead\":2,\"oldest_us\":97000000,"
	"\"failures\":10,\"paused_us\":0,\"outage\":\"\",\"unread\":0},{\"name\":\"waiter\",\"ready\":0,\"leased\":0,"
	"\"delayed\":0,\"dead\":0,\"oldest_us\":0}],"
	"\"sessions\":[{\"service\":\"gateway\",\"instance\":\"gateway-1\",\"run\":\"g\",\"counts\":{\"requests\":%d}},"
	"{\"service\":\"intake\",\"instance\":\"intake\",\"run\":\"%s\",\"lag\":7,\"counts\":{%s}},"
	"{\"service\":\"monitor\",\"instance\":\"monitor\",\"run\":\"m\",\"counts\":{\"mails_day\":1200,\"next_cart_"
	"us\":160000000}},{\"service\":\"cartbus\",\"instance\":\"cartbus-1\",\"run\":\"c\"}]}";

struct world {
	struct looks looks;
	struct health health;
	struct top_figures figures;
};

static void look(struct world *world, int64_t at_s, int head, int requests, const char *run, const char *counts)
{
	char text[2000];
	json_t *status;

	snprintf(text, sizeof(text), STATUS, head, requests, run, counts);
	status = json_loads(text, 0, NULL);
	assert_non_null(status);
	looks_add(&world->looks, status, at_s * US_PER_S);
	json_decref(status);
	top_figures_of(&world->health, &world->looks, TOP_BY_TURNS, &world->figures);
}

static struct world *world_new(void)
{
	struct world *world = calloc(1, sizeof(*world));

	world->health.red = json_array();
	world->health.stopped = json_array();
	return world;
}

static void world_free(struct world *world)
{
	looks_forget(&world->looks);
	json_decref(world->health.red);
	json_decref(world->health.stopped);
	free(world);
}

static const struct top_process *process(const struct world *world, const char *instance)
{
	for (int i = 0; i < world->figures.process_count; i++)
		if (strcmp(world->figures.processes[i].instance, instance) == 0)
			return &world->figures.processes[i];
	fail_msg("no process %s", instance);
	return NULL;
}

static bool is(double number, double expected)
{
	return fabs(number - expected) < 1e-9;
}

static void rates_are_what_changed_between_looks(void **state)
{
	struct world *world = world_new();

	(void)state;
	look(world, 10, 1000, 50, "i", "\"turns\":100");
	assert_true(world->figures.messages_s < 0 && world->figures.webhooks_s < 0 &&
		process(world, "intake")->turns_s < 0);
	look(world, 12, 1500, 60, "i", "\"turns\":400");
	assert_true(is(world->figures.messages_s, 250) && is(world->figures.webhooks_s, 5));
	assert_true(is(process(world, "intake")->turns_s, 150));
	assert_string_equal(world->figures.processes[0].instance, "intake");
	assert_int_equal(world->figures.process_count, 3);
	look(world, 22, 1500, 60, "i", "\"turns\":400");
	assert_true(is(world->figures.messages_s, 0) && process(world, "intake")->turns_s < 0);
	world_free(world);
}

static void a_process_that_was_started_anew_has_done_nothing_yet(void **state)
{
	struct world *world = world_new();

	(void)state;
	look(world, 10, 1, 1, "first", "\"turns\":100000");
	look(world, 12, 1, 1, "second", "");
	assert_true(process(world, "intake")->turns_s < 0);
	look(world, 13, 1, 1, "second", "\"turns\":30");
	assert_true(process(world, "intake")->turns_s < 0);
	look(world, 15, 1, 1, "second", "\"turns\":50");
	assert_true(is(process(world, "intake")->turns_s, 10));
	world_free(world);
}

static void the_slowest_of_a_hundred_is_told_by_the_bound_above_it(void **state)
{
	static const char before[] =
		"\"deciding_count\":1000,\"deciding_us_1000\":1000,\"deciding_us_10000\":1000,"
		"\"deciding_us_100000\":1000,\"deciding_us_1000000\":1000,\"deciding_us_10000000\":1000";
	const struct {
		const char *counts;
		double us;
	} cases[] = {
		{ "\"deciding_count\":1100,\"deciding_us_1000\":1099,\"deciding_us_10000\":1100", 1e3 },
		{ "\"deciding_count\":1100,\"deciding_us_1000\":1098,\"deciding_us_10000\":1099", 1e4 },
		{ "\"deciding_count\":1100,\"deciding_us_1000\":1000,\"deciding_us_10000\":1000,\"deciding_us_100000\":"
		  "1000,\"deciding_us_1000000\":1000,\"deciding_us_10000000\":1001",
			INFINITY },
		{ before, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *world = world_new();

		look(world, 10, 1, 1, "i", before);
		look(world, 40, 1, 1, "i", cases[i].counts);
		assert_true(isinf(cases[i].us) ? isinf(process(world, "intake")->p99_us)
					       : is(process(world, "intake")->p99_us, cases[i].us));
		world_free(world);
	}
}

static void what_is_older_than_a_minute_is_forgotten(void **state)
{
	struct world *world = world_new();

	(void)state;
	for (int i = 0; i < 1000; i++)
		look(world, i, i, i, "i", "\"turns\":1");
	assert_true(world->looks.count <= LOOKS_MAX && world->looks.each[0].at_us >= 938 * US_PER_S);
	world_free(world);
}

static char *text_of(const struct screen_buffer *screen_buffer)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	screen_buffer_write(screen_buffer, to);
	fclose(to);
	return text;
}

static char *drawn(const struct world *world, int width, int height, struct top_banner banner)
{
	struct screen_buffer screen_buffer = { 0 };
	char *text;

	screen_buffer_init(&screen_buffer, width, height);
	top_draw(&screen_buffer, &world->figures, &banner);
	text = text_of(&screen_buffer);
	screen_buffer_free(&screen_buffer);
	return text;
}

static void a_picture_says_what_is_so_in_every_size(void **state)
{
	static const struct {
		int width, height;
		const char *words[6];
	} cases[] = {
		{ 80, 24, { "RED", "! intake has 2 dead letters", "12.3k", "\n waiter ", "gateway-1", "LAG" } },
		{ 80, 13, { "RED", "! intake has 2 dead letters", "12.3k", "quiet: waiter", "gateway-1", "LAG" } },
		{ 160, 50, { "RED", "UNREAD", "TIMEOUTS", "\n waiter ", "gateway-1", "41.0G" } },
		{ 40, 24, { "RED", "intake", "12.3k", "gateway-1", "TURNS/S", "q quit" } },
		{ 20, 10, { "cartbus top", "alarms", "q quit", "", "", "" } },
		{ 1, 1, { "", "", "", "", "", "" } },
	};
	struct world *world = world_new();

	(void)state;
	look(world, 10, 1000, 50, "i", "\"turns\":100");
	look(world, 12, 1500, 60, "i", "\"turns\":400");
	json_array_append_new(world->health.red, json_string("intake has 2 dead letters: cartbus dlq list"));
	top_figures_of(&world->health, &world->looks, TOP_BY_NAME, &world->figures);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = drawn(world, cases[i].width, cases[i].height, (struct top_banner){ .interval_s = 2 });
		int lines = 0, longest = 0;

		for (const char *at = text; *at; at = strchr(at, '\n') + 1, lines++)
			longest = (int)strcspn(at, "\n") > longest ? (int)strcspn(at, "\n") : longest;
		assert_int_equal(lines, cases[i].height);
		assert_true(longest <= cases[i].width);
		for (int word = 0; word < 6 && cases[i].words[word]; word++)
			if (!strstr(text, cases[i].words[word]))
				fail_msg("no \"%s\" in\n%s", cases[i].words[word], text);
		free(text);
	}
	world_free(world);
}

static void a_broker_that_is_away_leaves_the_picture_and_says_so(void **state)
{
	struct world *world = world_new();
	char *text;

	(void)state;
	look(world, 10, 1000, 50, "i", "\"turns\":100");
	text = drawn(world, 80, 24,
		(struct top_banner){ .away = "nobody answers", .since_us = 3 * US_PER_S, .interval_s = 2 });
	assert_non_null(strstr(text, "BROKER AWAY"));
	assert_non_null(strstr(text, "has not answered for 3s: nobody answers"));
	assert_non_null(strstr(text, "gateway-1"));
	free(text);
	world_free(world);
}

static void nothing_that_a_message_holds_moves_the_cursor(void **state)
{
	struct screen_buffer screen_buffer = { 0 };
	char *text;

	(void)state;
	screen_buffer_init(&screen_buffer, 12, 3);
	screen_buffer_put(&screen_buffer, 0, 0, STYLE_PLAIN,
		"a\033[2J\r\n\xc2\x9b"
		"b");
	screen_buffer_put(&screen_buffer, 1, 0, STYLE_PLAIN, "\xff\xc3");
	screen_buffer_put(&screen_buffer, 2, 4, STYLE_PLAIN, "too long for it");
	screen_buffer_put(&screen_buffer, 5, 0, STYLE_PLAIN, "outside");
	screen_buffer_put(&screen_buffer, 0, 99, STYLE_PLAIN, "outside");
	text = text_of(&screen_buffer);
	for (const char *at = text; *at; at++)
		assert_true(*at == '\n' || (unsigned char)*at >= ' ');
	assert_non_null(strstr(text, "a?[2J??"));
	assert_non_null(strstr(text, "\n    too lon~\n"));
	free(text);
	screen_buffer_free(&screen_buffer);
}

static void a_wide_character_takes_two_columns(void **state)
{
	struct screen_buffer screen_buffer = { 0 };
	char *text;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	screen_buffer_init(&screen_buffer, 6, 1);
	assert_int_equal(screen_buffer_put(&screen_buffer, 0, 0, STYLE_PLAIN, "買い"), 4);
	screen_buffer_put(&screen_buffer, 0, 4, STYLE_PLAIN, "é!");
	text = text_of(&screen_buffer);
	assert_string_equal(text, "買いé!\n");
	free(text);
	screen_buffer_init(&screen_buffer, 5, 1);
	screen_buffer_put(&screen_buffer, 0, 0, STYLE_PLAIN, "買い物");
	text = text_of(&screen_buffer);
	assert_string_equal(text, "買い~\n");
	free(text);
	screen_buffer_free(&screen_buffer);
	setlocale(LC_CTYPE, "C");
}

static void numbers_are_short(void **state)
{
	char ret[HUMAN_FORMAT_ROOM];

	(void)state;
	assert_string_equal(human_format_count(9999, ret), "9999");
	assert_string_equal(human_format_count(12345, ret), "12.3k");
	assert_string_equal(human_format_count(4100000, ret), "4.1M");
	assert_string_equal(human_format_rate(-1, ret), "-");
	assert_string_equal(human_format_rate(0, ret), "0");
	assert_string_equal(human_format_rate(0.01, ret), "0.1");
	assert_string_equal(human_format_rate(312.4, ret), "312");
	assert_string_equal(human_format_bytes(44023414784, ret), "41.0G");
	assert_string_equal(human_format_age(-5, ret), "0s");
	assert_string_equal(human_format_age(119 * US_PER_S, ret), "119s");
	assert_string_equal(human_format_age(3 * US_PER_HOUR, ret), "3h");
	assert_string_equal(human_format_age(49 * US_PER_HOUR, ret), "2d");
}

static void counts_are_whole_up_to_ten_thousand(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { 0, "0" }, { 1, "1" }, { 312, "312" }, { 9999, "9999" }, { 10000, "10.0k" }, { 12345, "12.3k" },
		{ 99949, "99.9k" }, { 99950, "100k" }, { 999999, "1000k" }, { 1000000, "1.0M" }, { 4100000, "4.1M" },
		{ 1e9, "1.0G" }, { 1e12, "1.0T" }, { 1e15, "1000T" } };
	char words[HUMAN_FORMAT_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(human_format_count(cases[i].number, words), cases[i].words);
}

/* Little is not nothing. */
static void a_rate_has_a_place_behind_the_point_while_it_is_small(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { -1, "-" }, { 0, "0" }, { 0.001, "0.1" }, { 0.05, "0.1" }, { 0.3, "0.3" }, { 1, "1.0" },
		{ 9.94, "9.9" }, { 9.95, "10" }, { 312, "312" }, { 12345, "12.3k" } };
	char words[HUMAN_FORMAT_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(human_format_rate(cases[i].number, words), cases[i].words);
}

static void bytes_are_told_in_powers_of_1024(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { 0, "0.0B" }, { 1023, "1023B" }, { 1024, "1.0K" }, { 812 * 1024, "812K" },
		{ 41.2 * (1 << 30), "41.2G" }, { 1024.0 * 1024, "1.0M" }, { 5e15, "4547T" } };
	char words[HUMAN_FORMAT_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(human_format_bytes(cases[i].number, words), cases[i].words);
}

static void an_age_is_told_in_the_unit_of_which_there_are_two(void **state)
{
	static const struct {
		int64_t us;
		const char *words;
	} cases[] = { { -5 * US_PER_S, "0s" }, { 0, "0s" }, { US_PER_S - 1, "0s" }, { 3 * US_PER_S, "3s" },
		{ 2 * US_PER_MINUTE - 1, "119s" }, { 2 * US_PER_MINUTE, "2min" }, { 2 * US_PER_HOUR - 1, "119min" },
		{ 2 * US_PER_HOUR, "2h" }, { 2 * US_PER_DAY - 1, "47h" }, { 2 * US_PER_DAY, "2d" },
		{ 100 * US_PER_DAY, "100d" } };
	char words[HUMAN_FORMAT_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(human_format_age(cases[i].us, words), cases[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_what_changed_between_looks),
		cmocka_unit_test(a_process_that_was_started_anew_has_done_nothing_yet),
		cmocka_unit_test(the_slowest_of_a_hundred_is_told_by_the_bound_above_it),
		cmocka_unit_test(what_is_older_than_a_minute_is_forgotten),
		cmocka_unit_test(a_picture_says_what_is_so_in_every_size),
		cmocka_unit_test(a_broker_that_is_away_leaves_the_picture_and_says_so),
		cmocka_unit_test(nothing_that_a_message_holds_moves_the_cursor),
		cmocka_unit_test(a_wide_character_takes_two_columns),
		cmocka_unit_test(numbers_are_short),
		cmocka_unit_test(counts_are_whole_up_to_ten_thousand),
		cmocka_unit_test(a_rate_has_a_place_behind_the_point_while_it_is_small),
		cmocka_unit_test(bytes_are_told_in_powers_of_1024),
		cmocka_unit_test(an_age_is_told_in_the_unit_of_which_there_are_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
