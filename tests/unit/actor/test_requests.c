/* requests: what was said and is not settled yet outlives what refuses it, and is seen by whatever is decided meanwhile */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/turns.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static const int64_t START_US = INT64_C(1767225600) * US_PER_S;

#define SHOP "demo"
static const char ODD_CART[] = "odd", BABBLING_CART[] = "babbling", CHATTY_CART[] = "chatty", ERRAND[] = "cart/1",
		  LAST_CART[] = "last";

/* --- an office: a postman who decides on a few things in his own way, and somebody who says all of it --- */

static const struct service crier = { .name = "crier",
	.says = SAYING(SAYS(cart_wake), SAYS(link_clicked), SAYS(cart_closed)) };

struct office {
	struct sim *sim;
	struct ledger ledger;
	struct effect_driver *const *drivers;
	uint64_t turns;
	char errand[80];
	bool behind; /* the outcome was said behind a turn that is to be refused */
	int early;   /* so often the new session had begun, and the log did not hold the outcome yet ... */
	int blind;   /* ... nor did what it decides by */
};

static struct office office;
static struct service odd_postman, granted_postman; /* as it is, and as the broker was told that it is */
static struct effect_kind babbling;

static void count_sent(const struct message_meta *said, struct bytes payload, void *context)
{
	(void)payload;
	*(int *)context += strcmp(said->topic, topic_reminder_sent.name) == 0 && strcmp(said->key, ODD_CART) != 0;
}

static int sent(void)
{
	int count = 0;

	sim_log(office.sim, count_sent, &count);
	return count;
}

static void say_nonsense(struct turn *turn)
{
	ReminderOutcome outcome = { .step = 1 };

	SAY(turn, reminder_sent, &outcome, .shop = "", .key = ODD_CART, .version = 1); /* a shop is required */
}

/*
 * Says what became of the errand, and a second fact behind it. Of the babbling cart the broker gives this service no right to say that
 * fact; of the chatty cart this service does not remember it.
 */
static enum verdict babble(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	enum verdict verdict = postman.effects[0]->decide(state, message, request, result, claimed, turn);
	const LinkClicked *clicked = message;
	CartClosed closed = { .cart_id = "cart" };
	CartWake wake = { .cart_id = "till" };

	if (strcmp(clicked->cart_id, CHATTY_CART) == 0)
		SAY(turn, cart_wake, &wake, .shop = SHOP, .key = "till", .version = 1);
	else
		SAY(turn, cart_closed, &closed, .shop = SHOP, .key = "cart", .version = 1);
	return verdict;
}

static enum verdict hear_click(const struct state *state, const LinkClicked *clicked, struct turn *turn)
{
	enum verdict verdict;

	if (strcmp(clicked->cart_id, ODD_CART) == 0) {
		say_nonsense(turn);
		return TURN_DONE;
	}
	verdict = postman.hears[0].topic->hear(postman.hears[0].hear, state, clicked, turn);
	if (verdict == TURN_PENDING &&
		(strcmp(clicked->cart_id, BABBLING_CART) == 0 || strcmp(clicked->cart_id, CHATTY_CART) == 0))
		turn->kind = &babbling;
	return verdict;
}

static void open_office(uint64_t seed)
{
	static const struct service *const services[] = { &granted_postman, &clerk, &crier, NULL };
	static const struct topic *const wake[] = { &topic_cart_wake, NULL },
					 *const closed[] = { &topic_cart_closed, NULL };
	static const struct topic *const *const granted[] = { wake, NULL },
						*const *const asked[] = { wake, closed, NULL };
	static const struct hears hears[] = { HEARS(link_clicked, hear_click), { .topic = NULL } };
	static const struct effect_kind *effects[] = { NULL, &babbling, NULL };

	babbling = *postman.effects[0];
	babbling.decide = babble;
	granted_postman = odd_postman = postman;
	granted_postman.says_also = granted;
	effects[0] = postman.effects[0];
	odd_postman.says_also = asked;
	odd_postman.effects = effects;
	odd_postman.hears = hears;
	office = (struct office){ .sim = sim_new(services, START_US, seed), .ledger = { .hold_answer = true } };
	office.drivers = courier_new(&office.ledger);
	sim_start(office.sim, "crier", &crier, NULL);
	sim_start(office.sim, "postman", &odd_postman, office.drivers);
}

static void close_office(void)
{
	sim_free(office.sim);
	courier_free(office.drivers);
}

static void pass(int64_t us)
{
	sim_run_until(office.sim, sim_now_us(office.sim) + us);
}

static void click(const char *cart, const char *key)
{
	LinkClicked clicked = { .step = 1 };

	TEXT_COPY(clicked.cart_id, cart);
	assert_int_equal(SIM_SAY(office.sim, link_clicked, &clicked, .shop = SHOP, .key = key), SAID_FRESH);
}

/* --- what was decided is decided anew; what has happened has happened --- */

/* The answer comes when the odd one was decided on and is on its way to be refused, and what is said behind it with it. */
static void answer_behind_the_odd_one(struct ledger *ledger, void *context)
{
	(void)context;
	struct runtime *here = sim_runtime(office.sim, "postman");

	if (!ledger->hold_answer || runtime_metrics(here).turns == office.turns)
		return;
	ledger->hold_answer = false;
	office.behind = runtime_metrics(here).sessions == 1 && runtime_phase(here) == RUNTIME_READY;
}

static bool outcome_behind_the_odd_one(uint64_t seed)
{
	open_office(seed);
	click("cart", "cart");
	pass(US_PER_S);
	assert_int_equal(office.ledger.went, 1);
	office.turns = runtime_metrics(sim_runtime(office.sim, "postman")).turns;
	office.ledger.at_work = answer_behind_the_odd_one;
	click(ODD_CART, ODD_CART);
	pass(US_PER_MINUTE);
	assert_int_equal(sent(), 1);
	assert_int_equal(ledger_times(&office.ledger, ERRAND), 1);
	close_office();
	return office.behind;
}

static void an_outcome_that_is_refused_with_a_turn_before_it_is_said_again(void **state)
{
	int behind = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		behind += outcome_behind_the_odd_one(seed);
	assert_true(behind > 0);
}

/* All or nothing is for what was decided. What can be told of it is, and then its process stops: somebody has to look. */
static void what_went_is_recorded_though_the_turn_that_says_so_is_refused(void **state)
{
	(void)state;
	open_office(3);
	office.ledger.hold_answer = false;
	click(BABBLING_CART, "cart");
	pass(US_PER_MINUTE);
	assert_int_equal(office.ledger.went, 1);
	assert_int_equal(sent(), 1);
	assert_int_equal(runtime_phase(sim_runtime(office.sim, "postman")), RUNTIME_REFUSED);
	close_office();
}

static void look_at_the_new_session(struct ledger *ledger, void *context)
{
	struct runtime *here = sim_runtime(office.sim, "postman");

	(void)ledger;
	(void)context;
	if (runtime_metrics(here).sessions < 2 || runtime_phase(here) != RUNTIME_READY || sent() > 0)
		return;
	office.early++;
	office.blind += !state_has(runtime_state(here), "ended", SHOP, ERRAND);
}

static void decisions_of_a_new_session_see_outcomes_that_the_log_does_not_have_yet(void **state)
{
	(void)state;
	open_office(3);
	click("cart", "cart");
	pass(US_PER_S);
	assert_int_equal(office.ledger.went, 1);
	sim_kill_broker(office.sim);
	office.ledger.hold_answer = false;
	pass(200 * US_PER_MS);
	office.ledger.at_work = look_at_the_new_session;
	sim_restart_broker(office.sim);
	pass(US_PER_MINUTE);
	assert_int_equal(sent(), 1);
	assert_true(office.early > 0);
	assert_int_equal(office.blind, 0);
	close_office();
}

/* Of the outcome and of the last closing: where they stand in the log. */
static void note_positions(const struct message_meta *said, struct bytes payload, void *context)
{
	uint64_t *positions = context;

	(void)payload;
	if (strcmp(said->topic, topic_reminder_sent.name) == 0)
		positions[0] = said->seq;
	if (strcmp(said->topic, topic_cart_closed.name) == 0)
		positions[1] = said->seq;
}

/* Several times what a session takes at once: what stands behind it in the log comes long after it was confirmed. */
static void close_many_carts(void)
{
	enum { MANY = 9000 };
	CartClosed closed = { .cart_id = "other" };

	for (int i = MANY; i >= 0; i--) {
		if (i == 0)
			TEXT_COPY(closed.cart_id, LAST_CART);
		assert_int_equal(
			runtime_publish(sim_runtime(office.sim, "crier"), &topic_cart_closed,
				&(struct publish_options){ .shop = SHOP, .key = "k" }, NULL, &closed, NULL, NULL),
			0);
	}
}

/* In a session after the one in which it went, and behind the closings, the answer comes. */
static void answer_behind_many_closings(struct ledger *ledger, void *context)
{
	struct runtime *here = sim_runtime(office.sim, "postman");
	uint64_t positions[2] = { 0 };

	(void)context;
	if (runtime_metrics(here).sessions < 2 || state_has(runtime_state(here), "stopped", SHOP, LAST_CART))
		return;
	sim_log(office.sim, note_positions, positions);
	if (positions[1] > 0)
		ledger->hold_answer = false;
	if (positions[0] == 0)
		return;
	office.early++;
	office.blind += !state_has(runtime_state(here), "ended", SHOP, office.errand);
}

static void outcome_behind_many_closings(const char *cart)
{
	open_office(3);
	snprintf(office.errand, sizeof(office.errand), "%s/1", cart);
	click(cart, "cart");
	pass(US_PER_S);
	assert_int_equal(office.ledger.went, 1);
	click(ODD_CART, ODD_CART); /* which ends the session */
	pass(US_PER_S);
	assert_in_range(runtime_metrics(sim_runtime(office.sim, "postman")).sessions, 2, 10);
	office.ledger.at_work = answer_behind_many_closings;
	close_many_carts();
	pass(US_PER_MINUTE);
	assert_int_equal(sent(), 1);
	assert_int_equal(ledger_times(&office.ledger, office.errand), 1);
	assert_true(office.early > 1);
	assert_int_equal(office.blind, 0);
	close_office();
}

static void decisions_see_an_outcome_that_is_confirmed_and_comes_back_late(void **state)
{
	(void)state;
	outcome_behind_many_closings("cart");
	outcome_behind_many_closings(CHATTY_CART); /* what is confirmed last never comes back */
}

/* So many keys in a row that the broker takes it for an outage, and hands them out again. */
static void what_was_refused_for_good_ends_one_session_and_not_one_each_time_it_comes(void **state)
{
	enum { MANY = 12 };
	CartWake wake = { .cart_id = "till", .due_us = 1, .revision = ODD_BAD_FACT };
	char key[20];

	(void)state;
	open_office(3);
	sim_start(office.sim, "clerk", &clerk, NULL);
	pass(US_PER_S);
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		assert_int_equal(SIM_SAY(office.sim, cart_wake, &wake, .shop = SHOP, .key = key), SAID_FRESH);
	}
	pass(10 * US_PER_MINUTE);
	assert_in_range(runtime_metrics(sim_runtime(office.sim, "clerk")).sessions, 2, 1 + MANY);
	close_office();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_outcome_that_is_refused_with_a_turn_before_it_is_said_again),
		cmocka_unit_test(what_went_is_recorded_though_the_turn_that_says_so_is_refused),
		cmocka_unit_test(decisions_of_a_new_session_see_outcomes_that_the_log_does_not_have_yet),
		cmocka_unit_test(decisions_see_an_outcome_that_is_confirmed_and_comes_back_late),
		cmocka_unit_test(what_was_refused_for_good_ends_one_session_and_not_one_each_time_it_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
