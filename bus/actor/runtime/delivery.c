/*
 * delivery.c: decides on messages delivered to this service, and on the clock
 *
 * Owns:      the deliveries that wait for the projections; the message that was refused for good.
 * Promises:  in order; no decision before the projections have passed the number that the delivery names;
 *            turns on the clock only when the state holds everything that the log held when the session
 *            began; a lease that is held is renewed.
 * Read next: requests.c (how a turn is committed), effects.c (what TURN_PENDING starts)
 */
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include <stdlib.h>

static const int64_t RENEW_US = 5 * US_PER_S; /* leases usually last 30 s */
enum { RENEWALS_OF_SHORT_LEASE = 4 };
static const int64_t CLOCK_HOLD_US = 1 * US_PER_S;
enum {
	CLOCK_TURNS_AT_ONCE = 64,
	TURNS_UNCONFIRMED_MOST = 512,
	CLOCK_TURNS_OUT_MOST = 16, /* each looks for the next due row, past those that earlier turns have taken */
};

void delivery_free(struct runtime *runtime, struct delivery *delivery)
{
	if (!delivery)
		return;
	if (delivery->message.data != delivery->small)
		free((void *)delivery->message.data);
	pool_give(&runtime->deliveries.pool, delivery);
}

void delivery_hear(struct runtime *runtime, const Delivery *head, struct bytes message)
{
	struct delivery *delivery = pool_take(&runtime->deliveries.pool);
	uint8_t *copy = message.len <= DELIVERY_SMALL ? delivery->small : memory_resize(NULL, message.len);

	delivery->head = *head;
	delivery->renewed_us = runtime->heard_us;
	memcpy(copy, message.data, message.len);
	delivery->message = BYTES(copy, message.len);
	list_append(&runtime->deliveries.waiting, &delivery->hook);
	runtime->deliveries.count++;
}

void delivery_credit(struct runtime *runtime, const struct delivery *delivery)
{
	runtime->credit.now.delivery_messages++;
	runtime->credit.now.delivery_bytes += delivery->message.len;
}

bool delivery_read(const struct delivery *delivery, Envelope *ret_envelope, struct message_meta *ret_said,
	struct bytes *ret_payload)
{
	if (message_read(delivery->message, ret_envelope, ret_payload) < 0)
		return false;
	*ret_said = said_from(ret_envelope, delivery->head.receipt.seq, delivery->head.time_us, delivery->head.said_by);
	return true;
}

struct turn runtime_open_turn(struct runtime *runtime, const struct message_meta *message)
{
	runtime->turns++;
	state_write_turn(runtime->state, runtime->turns);
	return (struct turn){ .table = runtime->table,
		.state = runtime->state,
		.message = *message,
		.now_us = monotonic_wall_us(&runtime->monotonic_wall),
		.run = runtime->run,
		.began_us = runtime->began_us,
		.folds = true };
}

/* --- poison --- */

void delivery_poisoned(struct runtime *runtime, const Receipt *receipt, const char *reason)
{
	struct poisoned *poisoned =
		&runtime->deliveries.poisoned[runtime->deliveries.poisoned_next++ % POISONED_REMEMBERED];

	poisoned->seq = receipt->seq;
	TEXT_COPY(poisoned->queue, receipt->queue);
	TEXT_COPY(poisoned->reason, reason);
}

static const char *why_poisoned(const struct runtime *runtime, const Receipt *receipt)
{
	for (int i = 0; i < POISONED_REMEMBERED; i++) {
		const struct poisoned *poisoned = &runtime->deliveries.poisoned[i];

		if (poisoned->seq == receipt->seq && receipt->seq > 0 && strcmp(poisoned->queue, receipt->queue) == 0)
			return poisoned->reason;
	}
	return NULL;
}

/* --- deciding --- */

/* The turn borrows from the envelope. */
static enum verdict decide_delivery(
	struct runtime *runtime, const struct delivery *delivery, Envelope *envelope, struct turn *ret_turn)
{
	const char *poison = why_poisoned(runtime, &delivery->head.receipt);
	struct message_meta said = { .topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = "" };
	struct bytes payload;
	bool reads = delivery_read(delivery, envelope, &said, &payload);

	*ret_turn = runtime_open_turn(runtime, &said);
	ret_turn->failures = delivery->head.failures;
	if (!reads)
		return turn_dead_letter(ret_turn, "the message does not add up");
	if (poison)
		return turn_dead_letter(ret_turn, poison);
	return turn_decide(ret_turn, payload);
}

static void count_times(struct runtime *runtime, const Delivery *head, int64_t began_us)
{
	metrics_took(&runtime->counts.deciding, boot_us(runtime) - began_us);
	if (head->failures == 0 && head->redriven_from == 0 && !head->replayed)
		metrics_took(&runtime->counts.waiting, monotonic_wall_us(&runtime->monotonic_wall) - head->time_us);
}

static void deliver(struct runtime *runtime, struct delivery *delivery)
{
	int64_t began_us = boot_us(runtime);
	Envelope envelope;
	struct turn turn;
	enum verdict verdict = decide_delivery(runtime, delivery, &envelope, &turn);

	count_times(runtime, &delivery->head, began_us);
	if (verdict == TURN_PENDING) {
		effect_new(runtime, &delivery, turn.kind, &turn.request);
		turn_end(&turn);
		return;
	}
	turn_commit(runtime, &turn, verdict, &delivery->head, false);
	delivery_credit(runtime, delivery);
	delivery_free(runtime, delivery);
}

void deliveries_decide(struct runtime *runtime)
{
	while (!list_empty(&runtime->deliveries.waiting) && session_is_open(runtime->session) &&
		runtime->requests.turns < TURNS_UNCONFIRMED_MOST) {
		struct delivery *delivery = LIST_ENTRY(runtime->deliveries.waiting.next, struct delivery, hook);

		if (!runtime_passed(runtime, delivery->head.after_seq))
			return;
		list_remove(&delivery->hook);
		runtime->deliveries.count--;
		begin_task(runtime, TASK_DECIDE, delivery->head.receipt.seq);
		deliver(runtime, delivery);
		begin_task(runtime, TASK_LOOP, 0);
	}
}

void deliveries_drop(struct runtime *runtime)
{
	LIST_EACH_SAFE (hook, &runtime->deliveries.waiting) {
		list_remove(hook);
		delivery_free(runtime, LIST_ENTRY(hook, struct delivery, hook));
	}
	runtime->deliveries.count = 0;
}

/* --- leases --- */

/* A lease that the service declares shorter is renewed more often. */
int64_t delivery_renew_due_us(const struct runtime *runtime, const struct delivery *delivery)
{
	int64_t lease_us = runtime->service->lease_ms * US_PER_MS;
	int64_t after_us = lease_us ? lease_us / RENEWALS_OF_SHORT_LEASE : RENEW_US;

	return delivery->renewed_us + (after_us < RENEW_US ? after_us : RENEW_US);
}

void delivery_renew(struct runtime *runtime, struct delivery *delivery)
{
	Up up = { .which_what = Up_renew_tag };

	if (runtime->heard_us < delivery_renew_due_us(runtime, delivery) || !session_is_open(runtime->session))
		return;
	up.what.renew.seq = delivery->head.receipt.seq;
	TEXT_COPY(up.what.renew.queue, delivery->head.receipt.queue);
	session_add(runtime->session, &up, BYTES("", 0), false);
	delivery->renewed_us = runtime->heard_us;
}

void deliveries_renew(struct runtime *runtime)
{
	LIST_EACH (hook, &runtime->deliveries.waiting)
		delivery_renew(runtime, LIST_ENTRY(hook, struct delivery, hook));
}

static int64_t until(const struct runtime *runtime, int64_t at_us)
{
	int64_t now = boot_us(runtime);

	return at_us > now ? at_us - now : 0;
}

int64_t deliveries_wait_us(const struct runtime *runtime)
{
	if (list_empty(&runtime->deliveries.waiting))
		return INT64_MAX;
	return until(runtime,
		delivery_renew_due_us(runtime, LIST_ENTRY(runtime->deliveries.waiting.next, struct delivery, hook)));
}

/* --- the clock --- */

static bool clock_may_decide(const struct runtime *runtime)
{
	return runtime->service->next_due_us && session_is_open(runtime->session) &&
		runtime_passed(runtime, runtime->must_pass) && runtime->requests.clock_turns < CLOCK_TURNS_OUT_MOST &&
		runtime->requests.turns < TURNS_UNCONFIRMED_MOST;
}

/*
 * The question before the wait was mostly asked just before: within one round of work only a turn since then
 * changes the answer.
 */
static int64_t ask_due_us(struct runtime *runtime)
{
	runtime->clock_turn.due_us = runtime->service->next_due_us(runtime->state);
	runtime->clock_turn.due_asked_at = runtime->turns;
	runtime->clock_turn.due_is_known = true;
	return runtime->clock_turn.due_us;
}

void clock_decide(struct runtime *runtime)
{
	static const struct message_meta clock = {
		.topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = ""
	};

	for (int i = 0; i < CLOCK_TURNS_AT_ONCE && clock_may_decide(runtime); i++) {
		char why[TURN_REASON_MAX];
		struct turn turn;
		int64_t began_us;

		state_write_turn(runtime->state, runtime->turns + 1);
		if (boot_us(runtime) < runtime->clock_turn.hold_us ||
			ask_due_us(runtime) > monotonic_wall_us(&runtime->monotonic_wall))
			return;
		began_us = boot_us(runtime);
		begin_task(runtime, TASK_CLOCK, 0);
		turn = runtime_open_turn(runtime, &clock);
		turn_tick(&turn);
		metrics_took(&runtime->counts.deciding, boot_us(runtime) - began_us);
		begin_task(runtime, TASK_LOOP, 0);
		if (turn_clear_too_large(runtime, &turn, why))
			runtime_tell_large_row(runtime, "a turn on the clock was not taken", why);
		if (turn.fact_count == 0) {
			turn_end(&turn);
			runtime->clock_turn.hold_us =
				boot_us(runtime) + CLOCK_HOLD_US; /* something is due, and yet the turn said nothing */
			return;
		}
		turn_commit(runtime, &turn, TURN_DONE, NULL, false);
	}
}

int64_t clock_wait_us(const struct runtime *runtime)
{
	int64_t due_us, wait_us;

	if (!clock_may_decide(runtime))
		return INT64_MAX;
	due_us = runtime->clock_turn.due_is_known && runtime->clock_turn.due_asked_at == runtime->turns
		? runtime->clock_turn.due_us
		: runtime->service->next_due_us(runtime->state);
	if (due_us == INT64_MAX)
		return INT64_MAX;
	wait_us = monotonic_wall_until_us(&runtime->monotonic_wall, due_us);
	return wait_us > until(runtime, runtime->clock_turn.hold_us) ? wait_us
								     : until(runtime, runtime->clock_turn.hold_us);
}
