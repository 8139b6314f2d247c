/*
 * test_week.c: a week of carts through the real services, the real broker core and the real runtime, in virtual time
 *
 * Judged from outside: by the mailbox, and by what the log says, in its own order.
 */
#include "bus/base/memory.h"
#include "judge.h"
#include "services/carts/intake/intake.h"
#include "services/carts/sender/sender.h"
#include "services/carts/waiter/waiter.h"
#include "services/platform/timer/timer.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/part.h"
#include <stdlib.h>
#include <string.h>

enum { FEW_CARTS = WEEK_CARTS < 400 ? WEEK_CARTS : 400, SENDERS = 2 };

static const struct service *const services[] = { &intake, &timer, &waiter, &unsub, &sender, NULL };
static const char *const instances[] = { "intake", "timer", "waiter", "unsub", "sender-1", "sender-2" };
enum { INSTANCES = sizeof(instances) / sizeof(instances[0]), BROKER = INSTANCES };

enum trouble { PEACE, KILLS, FORGETS };

struct week {
	struct sim *sim;
	struct sender senders[SENDERS];
	struct plan *plan;
	struct mailbox *mailbox;
	struct postman *postmen[SENDERS];
	struct judged *judged;
	enum trouble trouble;
	int64_t trouble_us; /* when the next one comes */
	size_t troubles;
};

/* ---- one week ---- */

static void start(struct week *week, enum weather weather, uint64_t seed)
{
	const struct sender_setup setup = { .public_url = "https://mail.example",
		.link_key = bytes_of("0123456789abcdef0123456789abcdef") };

	week->sim = sim_new(services, WEEK_START_US - US_PER_HOUR, seed);
	week->mailbox = mailbox_new();
	for (int i = 0; i < SENDERS; i++)
		sender_set_up(&week->senders[i], &setup);
	for (int i = 0; i < SENDERS; i++)
		week->postmen[i] = postman_new(sim_clock(week->sim), week->mailbox, weather);
	sim_start(week->sim, "intake", &intake, NULL);
	sim_start(week->sim, "timer", &timer, NULL);
	sim_start(week->sim, "waiter", &waiter, NULL);
	sim_start(week->sim, "unsub", &unsub, NULL);
	sim_start_in(week->sim, "sender-1", sender_in(&week->senders[0]), postman_drivers(week->postmen[0]));
	sim_start_in(week->sim, "sender-2", sender_in(&week->senders[1]), postman_drivers(week->postmen[1]));
	plan_open_shops(week->sim);
}

/* Mails go shortly after full minutes: so that is when trouble comes, and in between. */
static void plan_trouble(struct week *week)
{
	const int64_t every_us = week->trouble == KILLS ? 30 * US_PER_MINUTE : 8 * US_PER_HOUR;
	int64_t minute_us = sim_now_us(week->sim) / US_PER_MINUTE * US_PER_MINUTE;

	week->trouble_us = minute_us + every_us + (int64_t)(sim_random(week->sim) % 30) * US_PER_MINUTE +
		(int64_t)(sim_random(week->sim) % (2 * US_PER_S));
}

static void trouble(struct week *week)
{
	size_t victim = week->trouble == KILLS ? sim_random(week->sim) % (INSTANCES + 1) : week->troubles % INSTANCES;
	int64_t back_us = sim_now_us(week->sim) + (int64_t)(sim_random(week->sim) % (5 * US_PER_S));

	week->troubles++;
	if (victim == BROKER) {
		sim_kill_broker(week->sim);
		sim_run_until(week->sim, back_us);
		sim_restart_broker(week->sim);
		return;
	}
	sim_kill(week->sim, instances[victim]);
	if (week->trouble == FORGETS)
		sim_forget(week->sim, instances[victim]);
	sim_run_until(week->sim, back_us);
	sim_restart(week->sim, instances[victim]);
}

static void pass_time(struct week *week, int64_t until_us)
{
	while (week->trouble != PEACE && week->trouble_us < until_us) {
		if (week->trouble_us > sim_now_us(week->sim))
			sim_run_until(week->sim, week->trouble_us);
		trouble(week);
		plan_trouble(week);
	}
	if (until_us > sim_now_us(week->sim))
		sim_run_until(week->sim, until_us);
}

static struct week *live_a_week(int carts, uint64_t seed, enum weather weather, enum trouble how)
{
	struct week *week = memory_new(sizeof(*week));

	week->trouble = how;
	week->plan = plan_new(carts, 7);
	start(week, weather, seed);
	if (how != PEACE)
		plan_trouble(week);
	for (size_t i = 0; i < week->plan->event_count; i++) {
		pass_time(week, week->plan->events[i].at_us);
		plan_play(week->sim, week->plan, &week->plan->events[i]);
	}
	pass_time(week, WEEK_START_US + WEEK_US);
	print_message("%d carts, seed %llu, %s, %s: trace %016llx\n", carts, (unsigned long long)seed,
		weather == FAIR ? "fair" : "foul",
		how == PEACE           ? "peace"
			: how == KILLS ? "kills"
				       : "forgets",
		(unsigned long long)sim_trace_hash(week->sim));
	week->judged = judge_read(week->sim, week->plan);
	return week;
}

static void week_over(struct week *week)
{
	sim_free(week->sim);
	for (int i = 0; i < SENDERS; i++)
		postman_free(week->postmen[i]);
	mailbox_free(week->mailbox);
	judged_free(week->judged);
	plan_free(week->plan);
	free(week);
}

/* ---- what must hold ---- */

static void count_doubles(const char *message_id, size_t times, void *context)
{
	size_t *doubles = context;

	if (times > 1) {
		print_error("%s was delivered %zu times\n", message_id, times);
		(*doubles)++;
	}
}

static void no_mail_went_twice_or_after_a_stop(const struct week *week)
{
	size_t doubles = 0;

	mailbox_each(week->mailbox, count_doubles, &doubles);
	assert_int_equal(doubles, 0);
	assert_int_equal(judged_sends_after_stops(week->judged), 0);
	assert_int_equal(judged_dead(week->judged), 0);
	assert_true(judged_claims(week->judged) > 0);
}

/* A cart that is over for good says how; one that waits for an address, or whose fate it is to be bought, says so. */
static bool is_settled(const struct week *week, int i)
{
	const struct planned_cart *cart = &week->plan->carts[i];

	switch (judged_status(week->judged, i)) {
	case CART_BOUGHT:
		return true;
	case CART_OPEN:
		return cart->fate == FATE_NO_ADDRESS;
	case CART_CLOSED:
		return judged_reason(week->judged, i) != CLOSED_NOT;
	}
	return false;
}

static bool both_went(const struct week *week, int i)
{
	enum ended first = judged_step(week->judged, i, 1), second = judged_step(week->judged, i, 2);

	return (first == ENDED_SENT || first == ENDED_AMBIGUOUS) && (second == ENDED_SENT || second == ENDED_AMBIGUOUS);
}

static void complain(const struct week *week, int i, const char *what)
{
	const struct planned_cart *cart = &week->plan->carts[i];

	print_error("%s/%s, fate %d: %s; status %d, closed %d, steps %d and %d\n", cart->shop, cart->token,
		(int)cart->fate, what, (int)judged_status(week->judged, i), (int)judged_reason(week->judged, i),
		(int)judged_step(week->judged, i, 1), (int)judged_step(week->judged, i, 2));
}

static void whatever_was_due_went_or_has_a_reason(const struct week *week, bool fair)
{
	size_t wrong = 0;

	for (int i = 0; i < week->plan->cart_count && wrong < 20; i++) {
		const struct planned_cart *cart = &week->plan->carts[i];
		bool chased = cart->fate == FATE_LEFT || cart->fate == FATE_DISORDERED || cart->fate == FATE_CHANGED ||
			cart->fate == FATE_LATE_ADDRESS;

		if (!is_settled(week, i)) {
			complain(week, i, "neither settled nor explained");
			wrong++;
		} else if (judged_reason(week->judged, i) == CLOSED_GAVE_UP && fair && !both_went(week, i)) {
			complain(week, i, "given up without both mails");
			wrong++;
		} else if (fair && chased && !cart->shares_address &&
			judged_reason(week->judged, i) != CLOSED_GAVE_UP) {
			complain(week, i, "should have been mailed twice, then given up");
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void every_sent_mail_is_in_the_mailbox(const struct week *week)
{
	for (int i = 0; i < week->plan->cart_count; i++) {
		for (int step = 1; step <= 2; step++) {
			if (judged_step(week->judged, i, step) == ENDED_SENT)
				assert_int_equal(
					mailbox_count(week->mailbox, judged_message_id(week->judged, i, step)), 1);
		}
	}
}

/* Each of the two went, or did not, in both weeks; a send that may have gone is listed as such. */
static void the_same_mails_went(const struct week *peace, const struct week *troubled)
{
	size_t wrong = 0;

	for (int i = 0; i < peace->plan->cart_count && wrong < 20; i++) {
		for (int step = 1; step <= 2; step++) {
			enum ended here = judged_step(peace->judged, i, step),
				   there = judged_step(troubled->judged, i, step);

			if (there == ENDED_AMBIGUOUS || (here == ENDED_SENT) == (there == ENDED_SENT))
				continue;
			complain(peace, i, "in peace");
			complain(troubled, i, "in trouble");
			wrong++;
		}
		if (judged_status(peace->judged, i) != judged_status(troubled->judged, i) ||
			judged_reason(peace->judged, i) != judged_reason(troubled->judged, i)) {
			complain(peace, i, "in peace");
			complain(troubled, i, "ended otherwise in trouble");
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* ---- the weeks: those that several tests look at are lived once ---- */

enum { FAIR_SEED = 1, KILLS_SEED = 10 };
static struct week *peaceful, *killed_once;

static const struct week *a_week_in_peace(void)
{
	if (!peaceful)
		peaceful = live_a_week(FEW_CARTS, FAIR_SEED, FAIR, PEACE);
	return peaceful;
}

static const struct week *a_week_of_kills(void)
{
	if (!killed_once)
		killed_once = live_a_week(FEW_CARTS, KILLS_SEED, FAIR, KILLS);
	return killed_once;
}

static int forget_the_weeks(void **state)
{
	(void)state;
	if (peaceful)
		week_over(peaceful);
	if (killed_once)
		week_over(killed_once);
	return 0;
}

static void ten_thousand_carts_of_two_shops_that_share_every_id(void **state)
{
	struct week *week = live_a_week(WEEK_CARTS, FAIR_SEED, FAIR, PEACE);

	(void)state;
	no_mail_went_twice_or_after_a_stop(week);
	whatever_was_due_went_or_has_a_reason(week, true);
	every_sent_mail_is_in_the_mailbox(week);
	week_over(week);
}

static void the_same_seed_gives_the_same_trace(void **state)
{
	struct week *again = live_a_week(FEW_CARTS, KILLS_SEED, FAIR, KILLS);

	(void)state;
	assert_true(sim_trace_hash(a_week_of_kills()->sim) == sim_trace_hash(again->sim));
	assert_true(sim_trace_hash(a_week_in_peace()->sim) != sim_trace_hash(again->sim));
	week_over(again);
}

static void a_mail_server_in_foul_weather_gets_no_mail_twice(void **state)
{
	struct week *week = live_a_week(FEW_CARTS, 2, FOUL, KILLS);

	(void)state;
	no_mail_went_twice_or_after_a_stop(week);
	whatever_was_due_went_or_has_a_reason(week, false);
	every_sent_mail_is_in_the_mailbox(week);
	week_over(week);
}

static void changed_nothing(const struct week *killed)
{
	assert_true(killed->troubles > 100);
	no_mail_went_twice_or_after_a_stop(killed);
	whatever_was_due_went_or_has_a_reason(killed, true);
	every_sent_mail_is_in_the_mailbox(killed);
	the_same_mails_went(a_week_in_peace(), killed);
}

static void kills_change_no_outcome(void **state)
{
	(void)state;
	changed_nothing(a_week_of_kills());
	for (uint64_t seed = KILLS_SEED + 1; seed < KILLS_SEED + WEEKS_OF_KILLS; seed++) {
		struct week *killed = live_a_week(FEW_CARTS, seed, FAIR, KILLS);

		changed_nothing(killed);
		week_over(killed);
	}
}

static void deleting_any_services_store_changes_no_outcome(void **state)
{
	struct week *forgetful = live_a_week(FEW_CARTS, 20, FAIR, FORGETS);

	(void)state;
	assert_true(forgetful->troubles >= 2 * INSTANCES);
	no_mail_went_twice_or_after_a_stop(forgetful);
	whatever_was_due_went_or_has_a_reason(forgetful, true);
	the_same_mails_went(a_week_in_peace(), forgetful);
	week_over(forgetful);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_carts_of_two_shops_that_share_every_id),
		cmocka_unit_test(the_same_seed_gives_the_same_trace),
		cmocka_unit_test(a_mail_server_in_foul_weather_gets_no_mail_twice),
		cmocka_unit_test(kills_change_no_outcome),
		cmocka_unit_test(deleting_any_services_store_changes_no_outcome),
	};

	take_part(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	return cmocka_run_group_tests(tests, NULL, forget_the_weeks);
}
