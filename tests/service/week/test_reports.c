/*
 * test_reports.c: the nightly file and the monthly mail, once each, whoever is killed at whatever moment
 *
 * The real timer, exporter and summarizer over the real broker core, in virtual time; the kill comes a few milliseconds later in each
 * run, so that it hits every step: the tick, the file, its word, the claim, the last byte, the outcome.
 */
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "postman.h"
#include "services/carts/exporter/exporter.h"
#include "services/carts/summarizer/summarizer.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/time/zone.h"
#include "services/platform/timer/timer.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <pb_decode.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct service *const services[] = { &timer, &exporter, &summarizer, NULL };

struct world {
	struct sim *sim;
	struct mailbox *mailbox;
	struct postman *postman;
	struct effect_driver *writing[2], *telling[3];
	struct folder folder;
	struct exporter exporter;
	struct summarizer summarizer;
};

static struct world the_world;

static int64_t berlin(int year, int month, int day, int hour, int minute)
{
	const struct local_time local = { .year = year, .month = month, .day = day, .hour = hour, .minute = minute };
	int64_t us;

	assert_int_equal(zone_moment("Europe/Berlin", &local, &us), 0);
	return us;
}

static void say_shop(struct sim *sim)
{
	static Document document = { .kind = "shop", .version = 1, .digest = "d1" };

	TEXT_COPY(document.text,
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = South\n"
		"url = https://south.example\n[mail]\nfrom = South <shop@south.example>\nowner = "
		"owner@south.example\n");
	assert_int_equal(SIM_SAY(sim, document, &document, .shop = "south", .key = "shop", .version = 1), SAID_FRESH);
}

/* Everything runs and knows its shop, south, which is in Berlin. */
static struct world *world_new(int64_t start_us)
{
	struct world *world = &the_world;

	world->folder = folder_new();
	world->sim = sim_new(services, start_us, 3);
	world->mailbox = mailbox_new();
	world->postman = postman_new(sim_clock(world->sim), world->mailbox, FAIR);
	world->writing[0] = world->telling[0] = world->writing[0] ? world->writing[0] : file_driver_new();
	world->telling[1] = postman_drivers(world->postman)[0];
	world->exporter =
		exporter_of(world->folder.path, "https://carts.example", bytes_of("0123456789abcdef0123456789abcdef"));
	TEXT_COPY(world->summarizer.folder, world->folder.path);
	sim_start(world->sim, "timer", &timer, NULL);
	sim_start_in(world->sim, "exporter", exporter_in(&world->exporter), world->writing);
	sim_start_in(world->sim, "summarizer", summarizer_in(&world->summarizer), world->telling);
	say_shop(world->sim);
	sim_run_until(world->sim, start_us + 10 * US_PER_S);
	return world;
}

static void world_end(struct world *world)
{
	sim_free(world->sim);
	postman_free(world->postman);
	mailbox_free(world->mailbox);
	folder_remove(&world->folder);
}

static void kill_at(struct world *world, const char *victim, int64_t us)
{
	sim_run_until(world->sim, us);
	if (strcmp(victim, "broker") == 0) {
		sim_kill_broker(world->sim);
		sim_run_until(world->sim, us + US_PER_S);
		sim_restart_broker(world->sim);
		return;
	}
	sim_kill(world->sim, victim);
	sim_run_until(world->sim, us + US_PER_S);
	sim_restart(world->sim, victim);
}

/* ---- what the log says ---- */

struct told {
	int exported, summarised, sent, ambiguous;
	char days[400];
};

static void note(const struct message_meta *said, struct bytes payload, void *context)
{
	struct told *told = context;
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	if (strcmp(said->shop, "south") != 0)
		return;
	if (strcmp(said->topic, topic_export_done.name) == 0) {
		ExportDone done = { 0 };
		assert_true(pb_decode(&stream, &ExportDone_msg, &done));
		told->exported++;
		snprintf(told->days + strlen(told->days), sizeof(told->days) - strlen(told->days), "%s ", done.day);
	}
	told->summarised += strcmp(said->topic, topic_summary_done.name) == 0;
	if (strcmp(said->topic, topic_summary_mailed.name) == 0) {
		SummaryMailed mailed = { 0 };
		assert_true(pb_decode(&stream, &SummaryMailed_msg, &mailed));
		told->sent += mailed.end == SUMMARY_SENT;
		told->ambiguous += mailed.end == SUMMARY_AMBIGUOUS;
	}
}

static struct told told_by(const struct world *world)
{
	struct told told = { 0 };

	sim_log(world->sim, note, &told);
	return told;
}

static bool is_there(const struct world *world, const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/south/%s", world->folder.path, name);
	return access(path, R_OK) == 0;
}

/* ---- the nights ---- */

static void a_night_has_one_file_whoever_dies_also_when_two_oclock_is_skipped_or_comes_twice(void **state)
{
	static const struct {
		int year, month, day;
		const char *ended;
	} nights[] = { { 2026, 3, 29, "2026-03-28 " }, { 2026, 10, 25, "2026-10-24 " },
		{ 2026, 11, 20, "2026-11-19 " } };
	static const char *const victims[] = { "exporter", "broker", "timer" };

	(void)state;
	for (size_t n = 0; n < sizeof(nights) / sizeof(nights[0]); n++)
		for (int step = 0; step < 9; step++) {
			int64_t two_us = berlin(nights[n].year, nights[n].month, nights[n].day, 2, 0);
			struct world *world = world_new(two_us - 20 * US_PER_MINUTE);
			char name[40];

			kill_at(world, victims[step % 3], two_us + step / 3 * 6 * US_PER_MS);
			sim_run_until(world->sim, two_us + 3 * US_PER_HOUR);
			struct told told = told_by(world);
			snprintf(name, sizeof(name), "%.10s.csv", nights[n].ended);
			assert_string_equal(told.days, nights[n].ended);
			assert_true(is_there(world, name));
			world_end(world);
		}
}

static void nights_that_nobody_saw_are_made_up_for(void **state)
{
	int64_t start_us = berlin(2026, 10, 23, 12, 0);
	struct world *world = world_new(start_us);

	(void)state;
	sim_freeze(world->sim, 3 * US_PER_DAY + 2 * US_PER_HOUR); /* all were stopped, over the change of clocks */
	sim_run_until(world->sim, start_us + 3 * US_PER_DAY + 3 * US_PER_HOUR);
	struct told told = told_by(world);
	assert_string_equal(told.days, "2026-10-23 2026-10-24 2026-10-25 ");
	assert_true(is_there(world, "2026-10-24.csv"));
	sim_run_until(world->sim, berlin(2026, 10, 27, 3, 0));
	told = told_by(world);
	assert_string_equal(told.days, "2026-10-23 2026-10-24 2026-10-25 2026-10-26 ");
	world_end(world);
}

/* ---- the month ---- */

static void count_mail(const char *message_id, size_t times, void *context)
{
	int *delivered = context;

	if (strncmp(message_id, "summary.2026-10.south.", 22) == 0)
		*delivered += (int)times;
}

static void a_summary_is_mailed_once_whoever_dies_and_if_it_may_be_lost_it_is_told(void **state)
{
	static const char *const victims[] = { "summarizer", "broker" };
	int certain = 0, uncertain = 0;

	(void)state;
	for (int step = 0; step < 36; step++) {
		int64_t nine_us = berlin(2026, 11, 2, 9, 0);
		struct world *world = world_new(nine_us - 20 * US_PER_MINUTE);
		int delivered = 0;

		kill_at(world, victims[step % 2], nine_us + step / 2 * 50 * US_PER_MS);
		sim_run_until(world->sim, nine_us + 20 * US_PER_MINUTE);
		struct told told = told_by(world);
		mailbox_each(world->mailbox, count_mail, &delivered);
		assert_int_equal(told.summarised, 1);
		assert_int_equal(told.sent + told.ambiguous, 1);
		if (delivered > 1 || (told.sent && delivered != 1))
			fail_msg("%s killed %d ms after: %d mails, %d sent, %d ambiguous", victims[step % 2],
				step / 2 * 50, delivered, told.sent, told.ambiguous);
		certain += told.sent;
		uncertain += told.ambiguous;
		assert_true(is_there(world, "summary-2026-10.txt"));
		world_end(world);
	}
	assert_true(certain > 10 && uncertain > 0); /* both were hit */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_night_has_one_file_whoever_dies_also_when_two_oclock_is_skipped_or_comes_twice),
		cmocka_unit_test(nights_that_nobody_saw_are_made_up_for),
		cmocka_unit_test(a_summary_is_mailed_once_whoever_dies_and_if_it_may_be_lost_it_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
