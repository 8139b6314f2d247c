/*
 * step.c: makes decisions, at history's place or alone
 *
 * Promises:  a decision that history made too is made on what history had seen, with history's clock, and is
 *            published at history's place. A decision about which history said nothing is made after those on
 *            the messages before it. A decision that follows from a difference is made at once, and so are
 *            its consequences.
 * Read next: rehearsal.c (incoming messages), schedule.c (timers and retries), history.c (history's
 *            decisions)
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/rehearsal/inside.h"
#include "services/kit/mail/message.h"
#include <stdlib.h>

/* --- a message that was said, kept until it has been decided on --- */

struct message *message_new(const struct message_meta *said, struct bytes payload, uint64_t seq, int64_t time_us)
{
	struct message *message = memory_new(sizeof(*message));

	TEXT_COPY(message->topic, said->topic);
	TEXT_COPY(message->shop, said->shop);
	TEXT_COPY(message->key, said->key);
	TEXT_COPY(message->said_by, said->said_by);
	buffer_add(&message->payload, payload.data, payload.len);
	message->said = (struct message_meta){ .topic = message->topic,
		.shop = message->shop,
		.key = message->key,
		.idem = "",
		.trace = "",
		.said_by = message->said_by,
		.seq = seq,
		.version = said->version,
		.tombstone = said->tombstone,
		.cause = said->cause,
		.time_us = time_us };
	return message;
}

/* Takes NULL. */
static void message_free(struct message *message)
{
	if (!message)
		return;
	buffer_free(&message->payload);
	free(message);
}

/* Takes ownership of the message. */
static struct pending *pending_new(struct message *message, enum role role, uint64_t past)
{
	struct pending *pending = memory_new(sizeof(*pending));

	list_init(&pending->hook);
	list_init(&pending->behind);
	pending->message = message;
	pending->role = role;
	pending->past = past;
	return pending;
}

void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	list_remove(&pending->hook);
	while (!list_empty(&pending->behind))
		pending_free(LIST_ENTRY(pending->behind.next, struct pending, hook));
	if (pending->running.request && pending->running.kind->request_free)
		pending->running.kind->request_free(pending->running.request);
	message_free(pending->message);
	free(pending);
}

struct unsaid { /* a fact that only the service that said it knows so far */
	struct message *message;
	enum role has_it;
	uint64_t past;
};

/* --- publishing --- */

static void note_timer(struct rehearsal *rehearsal, const struct message *message)
{
	TimerSet set;
	TimerCancel cancel;

	if (strcmp(message->topic, topic_timer_set.name) == 0 &&
		rehearsal_read(buffer_bytes(&message->payload), &TimerSet_msg, &set))
		schedule_replaces(rehearsal, set.name);
	if (strcmp(message->topic, topic_timer_cancel.name) == 0 &&
		rehearsal_read(buffer_bytes(&message->payload), &TimerCancel_msg, &cancel))
		schedule_replaces(rehearsal, cancel.name);
}

/* --- arriving --- */

struct looking {
	const struct pending *of;
	struct pending *found;
};

/*
 * The broker delivers a queue in the log's order; messages of one key keep it even across retries. So a
 * decision without facts was made after that on the message before it, perhaps hours later, if no process was
 * there to decide. The sender's mails run side by side.
 */
static void look_before(struct bytes key, void *value, void *context)
{
	struct looking *looking = context;
	struct pending *other = value;
	bool same_key = strcmp(other->message->key, looking->of->message->key) == 0;

	(void)key;
	if (other->role != looking->of->role || other->past >= looking->of->past || other->as_it_did_from ||
		(looking->found && looking->found->past > other->past))
		return;
	if (same_key || (other->role != ROLE_SENDER && !other->decided))
		looking->found = other;
}

static void decide_in_turn(struct rehearsal *rehearsal, struct pending *pending)
{
	struct looking looking = { .of = pending };

	if (pending->past)
		map_each(rehearsal->pending, look_before, &looking);
	if (looking.found)
		list_append(&looking.found->behind, &pending->hook);
	else
		step_replay(rehearsal, pending);
}

static void arrive(struct rehearsal *rehearsal, struct message *message, enum role role, uint64_t past)
{
	if (past && history_turns_about(rehearsal->history, past, 0) > 0) {
		step_keep(rehearsal, message, role, past);
	} else if (past &&
		(history_is_dead(rehearsal->history, past) ||
			history_is_fresh(rehearsal->history, message->said.time_us))) {
		message_free(message); /* a dead letter, or on its way when the log ends */
	} else {
		decide_in_turn(rehearsal, pending_new(message, role, past));
	}
}

void step_publish(struct rehearsal *rehearsal, struct message *message, enum role has_it, uint64_t past)
{
	enum role role = services_under_test_hears(rehearsal->under_test, message->topic);
	struct bytes payload = buffer_bytes(&message->payload);
	TimerSet set;

	note_timer(rehearsal, message);
	services_under_test_fold(rehearsal->under_test, &message->said, payload, has_it);
	totals_hear(rehearsal->totals, &message->said, payload, false);
	if (strcmp(message->topic, topic_timer_set.name) == 0 && rehearsal_read(payload, &TimerSet_msg, &set))
		schedule_timer(rehearsal, &set);
	if (role == ROLE_NONE)
		message_free(message);
	else
		arrive(rehearsal, message, role, past);
}

static void say_later(struct rehearsal *rehearsal, uint64_t place, const struct unsaid *unsaid)
{
	uint8_t key[16];

	put_be64(key, place);
	put_be64(key + 8, ++rehearsal->counter);
	sorted_map_put(rehearsal->unsaid, BYTES(key, sizeof(key)), BYTES(unsaid, sizeof(*unsaid)), 0);
}

/* false: there is none up to this place; takes it out of the map */
static bool take_unsaid(struct rehearsal *rehearsal, uint64_t until, struct unsaid *ret)
{
	const struct sorted_map_entry *first = sorted_map_first(rehearsal->unsaid);
	uint8_t key[16];

	if (!first || get_be64(sorted_map_key(first).data) > until)
		return false;
	memcpy(ret, sorted_map_value(first).data, sizeof(*ret));
	memcpy(key, sorted_map_key(first).data, sizeof(key));
	sorted_map_remove(rehearsal->unsaid, BYTES(key, sizeof(key)));
	return true;
}

void step_unsaid(struct rehearsal *rehearsal, uint64_t until)
{
	struct unsaid unsaid;

	while (take_unsaid(rehearsal, until, &unsaid))
		step_publish(rehearsal, unsaid.message, unsaid.has_it, unsaid.past);
}

void step_free_unsaid(struct rehearsal *rehearsal)
{
	struct unsaid unsaid;

	while (take_unsaid(rehearsal, UINT64_MAX, &unsaid))
		message_free(unsaid.message);
	sorted_map_free(rehearsal->unsaid);
}

static uint64_t past_of(const char *topic, const struct past_turn *turn, uint64_t wake)
{
	if (strcmp(topic, topic_cart_wake.name) == 0)
		return wake;
	if (turn && strcmp(topic, topic_reminder_due.name) == 0)
		return turn->due_seq;
	return turn && strcmp(topic, topic_cart_closed.name) == 0 ? turn->closed_seq : 0;
}

void step_facts(
	struct rehearsal *rehearsal, enum role role, uint32_t count, const struct past_turn *turn, uint64_t wake)
{
	struct replay *replay = services_under_test_replay(rehearsal->under_test, role);
	struct message **messages = memory_new((count + 1) * sizeof(struct message *));

	for (uint32_t i = 0; i < count; i++) {
		struct message_meta said;
		struct bytes payload = replay_fact(replay, i, &said);

		messages[i] = message_new(&said, payload, turn ? turn->first + i : rehearsal->seq, rehearsal->now_us);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct unsaid unsaid = { messages[i], role, past_of(messages[i]->topic, turn, wake) };

		if (turn) {
			replay_fold(replay, &messages[i]->said, buffer_bytes(&messages[i]->payload));
			say_later(rehearsal, turn->first, &unsaid);
		} else {
			step_publish(rehearsal, messages[i], ROLE_NONE, unsaid.past);
		}
	}
	free(messages);
}

/* --- deciding --- */

/* Says the claim of the mail; from now on the effect runs. */
static void claim(struct rehearsal *rehearsal, struct pending *pending, const struct replay_turn *working,
	const struct past_turn *turn)
{
	struct replay *replay = services_under_test_replay(rehearsal->under_test, pending->role);
	struct replay_turn claimed = replay_claim(
		replay, &pending->message->said, buffer_bytes(&pending->message->payload), working, rehearsal->now_us);
	struct message_meta said;

	rehearsal_read(replay_fact(replay, 0, &said), &SendClaim_msg, &pending->claim);
	pending->running = *working;
	step_facts(rehearsal, pending->role, claimed.facts, turn, 0);
}

static struct replay_turn end_effect(struct rehearsal *rehearsal, struct pending *pending, const struct past_turn *turn)
{
	const SendClaim *claimed = &pending->claim;
	struct mail_result result = { .end = turn && turn->ended
			? turn->end
			: history_answer(rehearsal->history, claimed->cart_id, claimed->step, claimed->attempt),
		.transport = "rehearsal" };
	struct replay_turn working = pending->running;

	pending->running = (struct replay_turn){ 0 };
	TEXT_COPY(result.words, "as it was answered then");
	return replay_result(services_under_test_replay(rehearsal->under_test, pending->role), &pending->message->said,
		buffer_bytes(&pending->message->payload), &working, &result, CLAIM_FRESH, rehearsal->now_us);
}

/*
 * An effect without a claim asks another system, which a rehearsal does not have. So the decision is made
 * without its answer.
 */
static struct replay_turn ask_nobody(struct rehearsal *rehearsal, struct pending *pending, struct replay_turn working)
{
	return replay_result(services_under_test_replay(rehearsal->under_test, pending->role), &pending->message->said,
		buffer_bytes(&pending->message->payload), &working, NULL, CLAIM_NONE, rehearsal->now_us);
}

/* true: the message is decided on, or must be tried again; false: its mail runs until history's answer. */
static bool decide_pending(
	struct rehearsal *rehearsal, struct pending *pending, const struct past_turn *turn, struct replay_turn *ret)
{
	if (pending->running.kind && turn && turn->claims)
		return false;
	if (pending->running.kind) {
		*ret = end_effect(rehearsal, pending, turn);
	} else {
		*ret = replay_decide(services_under_test_replay(rehearsal->under_test, pending->role),
			&pending->message->said, buffer_bytes(&pending->message->payload), rehearsal->now_us);
		while (ret->verdict == TURN_PENDING && !ret->kind->claim)
			*ret = ask_nobody(rehearsal, pending, *ret);
		if (ret->verdict == TURN_PENDING) {
			claim(rehearsal, pending, ret, turn);
			if (turn && turn->claims)
				return false;
			*ret = end_effect(rehearsal, pending, turn);
		}
	}
	step_facts(rehearsal, pending->role, ret->facts, turn, 0);
	return true;
}

/* Schedules a retry. The message is freed if it is done, or after as many failures as the broker allows. */
static void end(struct rehearsal *rehearsal, struct pending *pending, const struct replay_turn *ended)
{
	pending->failures += ended->verdict == TURN_RETRY && ended->failed;
	if (ended->verdict == TURN_RETRY && pending->failures < services_under_test_failures_max(pending->role))
		schedule_again(rehearsal, pending, rehearsal->now_us + (ended->delay_us > 0 ? ended->delay_us : 1));
	else
		pending_free(pending);
}

void step_replay(struct rehearsal *rehearsal, struct pending *pending)
{
	struct replay_turn ended;

	rehearsal->counts.anew++;
	decide_pending(rehearsal, pending, NULL, &ended);
	end(rehearsal, pending, &ended);
}

void step_keep(struct rehearsal *rehearsal, struct message *message, enum role role, uint64_t past)
{
	struct pending *pending = pending_new(message, role, past);

	pending->turns_left = history_turns_about(rehearsal->history, past, 0);
	pending_free(map_put(rehearsal->pending, map_number(&pending->past), pending));
}

static void step_turn(struct rehearsal *rehearsal, struct pending *pending, const struct past_turn *turn)
{
	struct replay_turn ended;

	pending->turns_left--;
	pending->decided = true;
	if (turn->finds_order && !pending->as_it_did_from)
		pending->as_it_did_from =
			turn->first; /* the storefront's answer is history's, and so are its consequences */
	if (pending->as_it_did_from)
		return;
	rehearsal->counts.as_it_was++;
	rehearsal->now_us = turn->now_us;
	if (!decide_pending(rehearsal, pending, turn, &ended))
		return;
	if (ended.verdict == TURN_RETRY && pending->turns_left > 0)
		return;
	if (ended.verdict != TURN_RETRY && turn->ended && pending->turns_left > 0) {
		pending->as_it_did_from = turn->first + 1; /* history said its outcome later, so it is history's */
		return;
	}
	map_remove(rehearsal->pending, map_number(&pending->past));
	end(rehearsal, pending, &ended);
}

void step_turns(struct rehearsal *rehearsal, uint64_t before)
{
	struct list behind;

	list_init(&behind);
	while (rehearsal->next_turn < history_turns(rehearsal->history)) {
		const struct past_turn *turn = history_turn(rehearsal->history, rehearsal->next_turn);
		struct pending *pending;

		if (turn->decided_on >= before)
			return;
		rehearsal->next_turn++;
		pending = map_get(rehearsal->pending, map_number(&turn->cause));
		if (!pending)
			continue;
		list_move_all(&behind, &pending->behind);
		step_turn(rehearsal, pending, turn);
		LIST_EACH_SAFE (hook, &behind) {
			list_remove(hook);
			decide_in_turn(rehearsal, LIST_ENTRY(hook, struct pending, hook));
		}
	}
}
