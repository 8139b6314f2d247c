/*
 * test_merges.c: carts with different addresses turn out to be one while their reminders are on the way, in foul weather
 *
 * Each pair is left at the same moment, so both are mailed in the same one; a checkout ties them together around it. Judged from the
 * log alone: what was claimed before they were one are two chases; of the one that goes on, no step is mailed that was mailed.
 */
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "plan.h"
#include "postman.h"
#include "services/carts/intake/intake.h"
#include "services/carts/sender/sender.h"
#include "services/carts/waiter/waiter.h"
#include "services/platform/timer/timer.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/cmocka_all.h"
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = WEEK_CARTS < 400 ? 120 : 400, SENDERS = 2, EVENTS = 3 };

static const struct service *const services[] = { &intake, &timer, &waiter, &unsub, &sender, NULL };

/* ---- the plan: two carts, and what ties them; the first of them is the older one, and stays ---- */

struct event {
	int64_t at_us;
	int pair, what; /* 0, 1: a cart is left; 2: they are tied */
};

static const char *letter_of(const struct event *event)
{
	return event->pair % 2 == event->what ? "a" : "b"; /* either order of their ids */
}

static int64_t left_us(int pair)
{
	return WEEK_START_US + pair * 2 * US_PER_MINUTE;
}

/* Mails are due an hour after a cart was left: half of the ties come within seconds of that, half while a mail is put off. */
static int64_t tied_us(int pair)
{
	uint64_t drawn = text_hash(BYTES(&pair, sizeof(pair)));
	int64_t due_us = left_us(pair) + US_PER_HOUR;

	if (pair % 4 < 2)
		return due_us + (int64_t)(drawn % (4 * US_PER_S));
	return due_us + (int64_t)(drawn % (12 * US_PER_MINUTE));
}

static int earlier(const void *a, const void *b)
{
	const struct event *first = a, *second = b;

	return first->at_us < second->at_us ? -1 : first->at_us > second->at_us;
}

static void plan_events(struct event events[PAIRS * EVENTS])
{
	for (int i = 0; i < PAIRS; i++) {
		events[i * EVENTS] = (struct event){ left_us(i) + US_PER_S, i, 0 };
		events[i * EVENTS + 1] = (struct event){ left_us(i) + 2 * US_PER_S, i, 1 };
		events[i * EVENTS + 2] = (struct event){ tied_us(i), i, 2 };
	}
	qsort(events, PAIRS * EVENTS, sizeof(*events), earlier);
}

static void play(struct sim *sim, const struct event *event)
{
	CartChanged changed = { .has_ids = true,
		.platform = PLATFORM_SHOPIFY,
		.platform_topic = "carts/update",
		.changed_us = left_us(event->pair),
		.heard_us = event->at_us,
		.has_items = true,
		.items_count = 1,
		.items = { { .title = "Thing", .variant_id = "v1", .quantity = 1, .price_minor = 20000 } },
		.has_total = true,
		.total_minor = 20000,
		.currency = "EUR",
		.recovery_url = "https://south.example/cart" };
	const char *letter = letter_of(event);
	char idem[48];

	if (event->what == 2 || *letter == 'a')
		snprintf(changed.ids.cart_token, sizeof(changed.ids.cart_token), "a%d", event->pair);
	if (event->what == 2 || *letter == 'b')
		snprintf(changed.ids.checkout_token, sizeof(changed.ids.checkout_token), "b%d", event->pair);
	if (event->what < 2) {
		snprintf(changed.ids.email, sizeof(changed.ids.email), "%s%d@buyer.example", letter, event->pair);
		snprintf(changed.ids.email_hash, sizeof(changed.ids.email_hash), "h%s%d", letter, event->pair);
	}
	snprintf(idem, sizeof(idem), "%d/%d", event->pair, event->what);
	assert_int_equal(SIM_SAY(sim, cart_changed, &changed, .shop = "south", .key = idem, .idem = idem), SAID_FRESH);
}

/* ---- the judge ---- */

struct pair {
	uint64_t merged;                    /* where in the log the two became one */
	char winner;                        /* whose id stayed */
	uint64_t due, ended;                /* the last reminder.due, and the last outcome, of step 1 */
	int before[3], after[3];            /* by step: mails whose claim lies before that, behind it */
	uint64_t mails[3][EVENTS * EVENTS]; /* by step: the claims of those that went, or may have */
	int count[3];
};

struct judge {
	struct pair pairs[PAIRS];
	struct map *claims; /* cart/step/attempt -> position, as a pointer */
};

static bool read_as(struct bytes payload, const pb_msgdesc_t *fields, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, fields, ret);
}

/* Of the number in a cart's id, which is one of its tokens. */
static struct pair *pair_of(struct judge *judge, const char *cart_id)
{
	int number = *cart_id ? atoi(cart_id + 1) : -1;

	assert_true((*cart_id == 'a' || *cart_id == 'b') && number >= 0 && number < PAIRS);
	return &judge->pairs[number];
}

static struct bytes claim_name(const char *cart_id, unsigned step, unsigned attempt, char ret[120])
{
	snprintf(ret, 120, "%s/%u/%u", cart_id, step, attempt);
	return bytes_of(ret);
}

static void see_state(struct judge *judge, const struct message_meta *said, struct bytes payload)
{
	static CartState state;

	if (!read_as(payload, &CartState_msg, &state) || !*state.merged_into)
		return;
	struct pair *pair = pair_of(judge, state.ids.cart_id);
	if (pair->merged == 0)
		pair->merged = said->seq;
	pair->winner = *state.merged_into;
}

static void see_due(struct judge *judge, const struct message_meta *said, struct bytes payload)
{
	static ReminderDue due;

	if (read_as(payload, &ReminderDue_msg, &due) && due.step == 1)
		pair_of(judge, due.cart.ids.cart_id)->due = said->seq;
}

static void see_claim(struct judge *judge, const struct message_meta *said, struct bytes payload)
{
	SendClaim claim;
	char name[120];

	if (read_as(payload, &SendClaim_msg, &claim))
		map_put(judge->claims, claim_name(claim.cart_id, claim.step, claim.attempt, name),
			(void *)(uintptr_t)said->seq);
}

static void see_mail(struct judge *judge, const struct message_meta *said, struct bytes payload)
{
	ReminderOutcome outcome;
	char name[120];

	assert_true(read_as(payload, &ReminderOutcome_msg, &outcome) && outcome.step <= 2);
	struct pair *pair = pair_of(judge, outcome.cart_id);
	uint64_t claimed =
		(uintptr_t)map_get(judge->claims, claim_name(outcome.cart_id, outcome.step, outcome.attempt, name));
	assert_true(claimed > 0);
	if (outcome.step == 1)
		pair->ended = said->seq;
	for (int i = 0; i < pair->count[outcome.step]; i++)
		if (pair->mails[outcome.step][i] == claimed)
			return; /* ambiguous first, then known */
	pair->mails[outcome.step][pair->count[outcome.step]++] = claimed;
}

static void see(const struct message_meta *said, struct bytes payload, void *context)
{
	if (strcmp(said->topic, "cart.state") == 0)
		see_state(context, said, payload);
	else if (strcmp(said->topic, "reminder.due") == 0)
		see_due(context, said, payload);
	else if (strcmp(said->topic, "send.claim") == 0)
		see_claim(context, said, payload);
	else if (strcmp(said->topic, "reminder.sent") == 0 || strcmp(said->topic, "reminder.ambiguous") == 0)
		see_mail(context, said, payload);
}

static size_t count_wrong(const struct pair *pair, int number)
{
	size_t wrong = 0;

	for (int step = 1; step <= 2; step++) {
		int before = 0, after = 0;

		for (int i = 0; i < pair->count[step]; i++)
			(pair->mails[step][i] < pair->merged ? &before : &after)[0]++;
		if (before > 2 || after > 1 || (after > 0 && before > 0)) {
			print_error("pair %d, step %d: %d mails before they were one, %d after\n", number, step, before,
				after);
			wrong++;
		}
	}
	return wrong;
}

/* ---- the weeks ---- */

struct troubled {
	struct sim *sim;
	int64_t next_us;
	int kills;
};

static void kill_now_and_then(struct troubled *week, int64_t until_us)
{
	static const char *const victims[] = { "sender-1", "intake", "sender-2", "waiter" };

	while (week->next_us < until_us) {
		const char *victim = victims[week->kills++ % 4];

		if (week->next_us > sim_now_us(week->sim))
			sim_run_until(week->sim, week->next_us);
		sim_kill(week->sim, victim);
		sim_run_until(week->sim, sim_now_us(week->sim) + US_PER_S);
		sim_restart(week->sim, victim);
		week->next_us += 9 * US_PER_MINUTE + (int64_t)(sim_random(week->sim) % US_PER_MINUTE);
	}
	if (until_us > sim_now_us(week->sim))
		sim_run_until(week->sim, until_us);
}

static void live(struct sim *sim)
{
	static struct event events[PAIRS * EVENTS];
	struct troubled week = { .sim = sim, .next_us = WEEK_START_US + US_PER_HOUR };

	plan_events(events);
	for (int i = 0; i < PAIRS * EVENTS; i++) {
		kill_now_and_then(&week, events[i].at_us);
		play(sim, &events[i]);
	}
	kill_now_and_then(&week, left_us(PAIRS) + US_PER_DAY);
}

static void carts_that_become_one_with_reminders_on_the_way_get_each_once(void **state)
{
	struct sim *sim = sim_new(services, WEEK_START_US - US_PER_HOUR, 5);
	struct mailbox *mailbox = mailbox_new();
	struct postman *postmen[SENDERS];
	static struct sender senders[SENDERS];
	const struct sender_setup setup = { .public_url = "https://mail.example",
		.link_key = bytes_of("0123456789abcdef0123456789abcdef") };
	struct judge *judge = memory_new(sizeof(*judge));
	size_t wrong = 0, pending[2] = { 0 };

	(void)state;
	sim_start(sim, "intake", &intake, NULL);
	sim_start(sim, "timer", &timer, NULL);
	sim_start(sim, "waiter", &waiter, NULL);
	sim_start(sim, "unsub", &unsub, NULL);
	for (int i = 0; i < SENDERS; i++) {
		postmen[i] = postman_new(sim_clock(sim), mailbox, FOUL);
		sender_set_up(&senders[i], &setup);
		sim_start_in(sim, i ? "sender-2" : "sender-1", sender_in(&senders[i]), postman_drivers(postmen[i]));
	}
	plan_open_shops(sim);
	live(sim);
	judge->claims = map_new();
	sim_log(sim, see, judge);
	for (int i = 0; i < PAIRS; i++) {
		const struct pair *pair = &judge->pairs[i];

		assert_true(pair->merged > 0);
		wrong += count_wrong(pair, i);
		pending[pair->winner == 'b'] += pair->due > 0 && pair->due < pair->merged && pair->merged < pair->ended;
	}
	print_message("%d pairs, %zu and %zu with a reminder on the way\n", PAIRS, pending[0], pending[1]);
	assert_int_equal(wrong, 0);
	assert_true(pending[0] > 3 && pending[1] > 3);
	map_free(judge->claims);
	free(judge);
	print_message("trace %016llx\n", (unsigned long long)sim_trace_hash(sim));
	sim_free(sim);
	for (int i = 0; i < SENDERS; i++)
		postman_free(postmen[i]);
	mailbox_free(mailbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carts_that_become_one_with_reminders_on_the_way_get_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
