/*
 * schedule.c: runs what is due in virtual time: timers that history did not fire, and retries; and asks what
 * the waiter would say now about each waiting cart
 *
 * Promises:  a timer that history fired too fires at history's place, with its clock. Any other timer fires
 *            when it is due, or at the end of the time in which history's timers did not fire.
 * Read next: step.c, services/platform/timer/rows.h
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/rehearsal/inside.h"
#include "services/platform/timer/rows.h"
#include "services/platform/timer/timer.h"
#include <stdlib.h>

static const char CART[] = "cart/";

struct item {
	struct pending *again; /* NULL: a timer */
	int64_t now_us;        /* virtual time when it runs */
	uint64_t version;
	int64_t due_us;
	char name[TIMER_NAME_MAX];
};

static void add(struct rehearsal *rehearsal, int64_t at_us, const struct item *item)
{
	uint8_t key[16];

	put_be64(key, (uint64_t)at_us);
	put_be64(key + 8, ++rehearsal->counter);
	sorted_map_put(rehearsal->schedule, BYTES(key, sizeof(key)), BYTES(item, sizeof(*item)), 0);
}

static const struct state *timers(const struct rehearsal *rehearsal)
{
	return replay_state(services_under_test_replay(rehearsal->under_test, ROLE_TIMER));
}

void schedule_timer(struct rehearsal *rehearsal, const TimerSet *set)
{
	int64_t due_us = set->due_us > rehearsal->now_us ? set->due_us : rehearsal->now_us;
	struct item item = {
		.now_us = history_fires_us(rehearsal->history, due_us), .version = set->version, .due_us = set->due_us
	};

	if (!text_starts(set->name, CART))
		return;
	TEXT_COPY(item.name, set->name);
	add(rehearsal, item.now_us + history_grace_us(), &item);
}

void schedule_again(struct rehearsal *rehearsal, struct pending *pending, int64_t at_us)
{
	struct item item = { .again = pending, .now_us = at_us };

	add(rehearsal, at_us, &item);
}

void schedule_replaces(struct rehearsal *rehearsal, const char *name)
{
	TimerSet set;

	if (timers_get(timers(rehearsal), rehearsal->plan->shop, name, &set))
		rehearsal->replaced[rehearsal->replaced_count++ % REPLACED_MOST] = set;
}

static void say_fired(const struct state *state, struct turn *turn, void *context)
{
	const struct rehearsal *rehearsal = ((void **)context)[0];

	(void)state;
	timer_fire(turn, rehearsal->plan->shop, ((void **)context)[1]);
}

static void fire(struct rehearsal *rehearsal, TimerSet *set, int64_t now_us, uint64_t wake)
{
	void *context[] = { rehearsal, set };
	struct replay *replay = services_under_test_replay(rehearsal->under_test, ROLE_TIMER);
	struct replay_turn turn;

	rehearsal->now_us = now_us;
	turn = replay_run(replay, now_us, say_fired, context);
	step_facts(rehearsal, ROLE_TIMER, turn.facts, NULL, wake);
}

static bool is_it(const TimerSet *set, const TimerFired *fired)
{
	return strcmp(set->name, fired->name) == 0 && set->version == fired->version && set->due_us == fired->due_us;
}

/* The timer may have been set again while it was firing. Then the timer as it was before has fired. */
void schedule_fire_as_it_did(struct rehearsal *rehearsal, const TimerFired *fired)
{
	uint64_t wake = text_starts(fired->name, CART) && strcmp(rehearsal->wake_key, fired->name + strlen(CART)) == 0
		? rehearsal->wake_seq
		: 0;
	TimerSet set;

	if (!wake)
		return;
	if (timers_get(timers(rehearsal), rehearsal->plan->shop, fired->name, &set) && is_it(&set, fired)) {
		fire(rehearsal, &set, fired->fired_us, wake);
		return;
	}
	for (size_t i = 0; i < REPLACED_MOST && i < rehearsal->replaced_count; i++) {
		if (is_it(&rehearsal->replaced[i], fired)) {
			set = rehearsal->replaced[i];
			fire(rehearsal, &set, fired->fired_us, wake);
			return;
		}
	}
}

static void run(struct rehearsal *rehearsal, const struct item *item)
{
	TimerSet set;

	if (item->again) {
		if (item->now_us > rehearsal->now_us)
			rehearsal->now_us = item->now_us;
		step_replay(rehearsal, item->again);
		return;
	}
	if (timers_get(timers(rehearsal), rehearsal->plan->shop, item->name, &set) && set.version == item->version &&
		set.due_us == item->due_us)
		fire(rehearsal, &set, item->now_us, 0);
}

void schedule_run(struct rehearsal *rehearsal, int64_t before_us)
{
	const struct sorted_map_entry *first;

	while ((first = sorted_map_first(rehearsal->schedule)) &&
		(int64_t)get_be64(sorted_map_key(first).data) < before_us) {
		struct item item;
		uint8_t key[16];

		memcpy(&item, sorted_map_value(first).data, sizeof(item));
		memcpy(key, sorted_map_key(first).data, sizeof(key));
		sorted_map_remove(rehearsal->schedule, BYTES(key, sizeof(key)));
		run(rehearsal, &item);
	}
}

static bool open_one(const char *shop, const char *key, const TimerSet *set, void *context)
{
	(void)shop, (void)key;
	schedule_timer(context, set);
	return true;
}

void schedule_open(struct rehearsal *rehearsal)
{
	STATE_EACH(timers(rehearsal), timers, rehearsal->plan->shop, CART, open_one, rehearsal);
}

void schedule_free(struct rehearsal *rehearsal)
{
	for (struct sorted_map_entry *entry = sorted_map_first(rehearsal->schedule); entry;
		entry = sorted_map_next(entry)) {
		struct item item;

		memcpy(&item, sorted_map_value(entry).data, sizeof(item));
		pending_free(item.again);
	}
	sorted_map_free(rehearsal->schedule);
}

/*
 * What the waiter would say if it looked at every waiting cart now
 *
 * Promises:  it is the waiter's own decision. The facts of a look are not folded, so each cart is looked at
 *            as the log has it.
 */

struct looking {
	struct rehearsal *rehearsal;
	int64_t now_us;
	rehearsed_look_fn *each;
	void *context;
};

static void read_fact(const struct message_meta *said, struct bytes payload, struct rehearsed_look *look, Audit *audit)
{
	TimerSet next;

	if (strcmp(said->topic, topic_reminder_due.name) == 0)
		look->mails = true;
	else if (strcmp(said->topic, topic_timer_set.name) == 0 && rehearsal_read(payload, &TimerSet_msg, &next))
		look->next_us = next.due_us;
	else if (strcmp(said->topic, topic_audit.name) == 0 && rehearsal_read(payload, &Audit_msg, audit))
		look->action = audit->action;
}

static void look_at(const struct looking *looking, const TimerSet *set, const CartWake *wake)
{
	struct replay *waiter = services_under_test_replay(looking->rehearsal->under_test, ROLE_WAITER);
	const struct message_meta said = { .topic = topic_cart_wake.name,
		.shop = looking->rehearsal->plan->shop,
		.key = wake->cart_id,
		.idem = "",
		.trace = "",
		.said_by = "rehearsal" };
	struct rehearsed_look look = { .cart_id = wake->cart_id,
		.action = "",
		.revision = wake->revision,
		.due_us = set->due_us,
		.would_step = wake->would_step,
		.would_us = wake->would_us };
	struct replay_turn turn =
		replay_decide(waiter, &said, BYTES(set->payload.bytes, set->payload.size), looking->now_us);
	Audit audit;

	for (uint32_t i = 0; i < turn.facts; i++) {
		struct message_meta fact;
		struct bytes payload = replay_fact(waiter, i, &fact);

		read_fact(&fact, payload, &look, &audit);
	}
	if (turn.facts > 0) /* without facts the timer belongs to another revision of the cart */
		looking->each(&look, looking->context);
}

static bool each_timer(const char *shop, const char *key, const TimerSet *set, void *context)
{
	CartWake wake;

	(void)shop, (void)key;
	if (rehearsal_read(BYTES(set->payload.bytes, set->payload.size), &CartWake_msg, &wake))
		look_at(context, set, &wake);
	return true;
}

void rehearsal_view(struct rehearsal *rehearsal, int64_t now_us, rehearsed_look_fn *each, void *context)
{
	struct looking looking = { rehearsal, now_us, each, context };
	const struct state *timers = replay_state(services_under_test_replay(rehearsal->under_test, ROLE_TIMER));

	STATE_EACH(timers, timers, rehearsal->plan->shop, "cart/", each_timer, &looking);
}
