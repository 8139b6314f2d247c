/*
 * history.c: collects from the log how history made its decisions
 *
 * Owns:      a row for each turn of the window, the times in which no timer fired, and the mail server's
 *            answers other than "sent".
 * Promises:  a turn is all that one process said about one message in one unit of the log; a claim is a turn
 *            of its own.
 * Read next: rehearsal.c
 */
#include "services/carts/rehearsal/history.h"
#include "bus/base/clock.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>

/* A timer that fires later than this after its time was held up. */
#define GRACE_US (2 * US_PER_S)
/* A message from this last part of the log may still be on its way through the services. */
#define FRESH_US (2 * US_PER_MINUTE)

static const char DEAD_LETTER[] = "dead.letter"; /* the broker's own */

struct outage {
	int64_t from_us, until_us;
};

struct history {
	struct past_turn *turns;  /* sorted by cause and place when closed */
	struct past_turn **order; /* in the order of the decisions */
	size_t count, room;
	uint64_t last_seq;
	char said_by[64]; /* the process of the last turn */
	struct outage *outages;
	size_t outage_count, outage_room;
	struct map *overdue; /* timer -> when it was set, if it was due before that */
	struct map *dead;    /* messages that became dead letters */
	struct map *answers; /* cart/step/attempt -> enum mail_end + 1 */
	int64_t end_us;
};

struct history *history_new(void)
{
	struct history *history = memory_new(sizeof(*history));

	history->answers = map_new();
	history->overdue = map_new();
	history->dead = map_new();
	return history;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	map_free(history->answers);
	map_free(history->overdue);
	map_free(history->dead);
	free(history->turns);
	free(history->order);
	free(history->outages);
	free(history);
}

static bool read_as(struct bytes payload, const pb_msgdesc_t *fields, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, fields, ret);
}

/* --- turns --- */

static struct past_turn *begin_turn(struct history *history, const struct message_meta *said)
{
	struct past_turn *turn;

	if (history->count == history->room) {
		history->room = history->room ? 2 * history->room : 1024;
		history->turns = memory_resize(history->turns, history->room * sizeof(*history->turns));
	}
	turn = &history->turns[history->count++];
	*turn = (struct past_turn){
		.cause = said->cause, .first = said->seq, .decided_on = said->seq - 1, .now_us = said->time_us
	};
	TEXT_COPY(history->said_by, said->said_by);
	return turn;
}

/* The facts of a turn stand together in the log, and a claim stands alone. */
static struct past_turn *turn_of(struct history *history, const struct message_meta *said, bool claim)
{
	struct past_turn *last = history->count ? &history->turns[history->count - 1] : NULL;

	if (!last || claim || last->claims || last->cause != said->cause || said->seq != history->last_seq + 1 ||
		strcmp(history->said_by, said->said_by) != 0)
		last = begin_turn(history, said);
	return last;
}

static void hear_audit(struct past_turn *turn, struct bytes payload)
{
	Audit audit;

	if (!read_as(payload, &Audit_msg, &audit))
		return;
	turn->now_us = audit.at_us;
	/*
	 * A decision also knows the fact that was said right after its message: a firing says first the
	 * wake-up, then the end of the timer.
	 */
	if (audit.decided_on > turn->cause && audit.decided_on < turn->first)
		turn->decided_on = audit.decided_on;
	else if (turn->cause + 1 < turn->first)
		turn->decided_on = turn->cause + 1;
}

static void hear_claim(struct past_turn *turn, struct bytes payload)
{
	SendClaim claim;

	turn->claims = true;
	if (read_as(payload, &SendClaim_msg, &claim))
		turn->now_us = claim.claimed_us;
}

static const char *answer_key(char to[120], const char *cart_id, uint32_t step, uint32_t attempt)
{
	snprintf(to, 120, "%s/%u/%u", cart_id, (unsigned)step, (unsigned)attempt);
	return to;
}

static void hear_end(struct history *history, struct past_turn *turn, struct bytes payload, enum mail_end end)
{
	ReminderOutcome outcome;
	char key[120];

	if (!read_as(payload, &ReminderOutcome_msg, &outcome))
		return;
	if (!turn->ended) { /* after "released" and "skipped" in one turn, the first is the mail server's answer */
		turn->ended = true;
		turn->end = end;
	}
	if (end != MAIL_SENT)
		map_put(history->answers, bytes_of(answer_key(key, outcome.cart_id, outcome.step, outcome.attempt)),
			(void *)(uintptr_t)(end + 1));
}

static void hear_fact(struct history *history, const struct message_meta *said, struct bytes payload)
{
	static const struct {
		const struct topic *topic;
		enum mail_end end;
	} ends[] = { { &topic_reminder_sent, MAIL_SENT }, { &topic_reminder_released, MAIL_LATER },
		{ &topic_reminder_refused, MAIL_REFUSED }, { &topic_reminder_ambiguous, MAIL_UNKNOWN } };
	bool claim = strcmp(said->topic, topic_send_claim.name) == 0;
	struct past_turn *turn = turn_of(history, said, claim);

	if (claim)
		hear_claim(turn, payload);
	else if (strcmp(said->topic, topic_audit.name) == 0)
		hear_audit(turn, payload);
	else if (strcmp(said->topic, topic_reminder_due.name) == 0)
		turn->due_seq = said->seq;
	else if (strcmp(said->topic, topic_cart_closed.name) == 0)
		turn->closed_seq = said->seq;
	else if (strcmp(said->topic, topic_cart_checkout.name) == 0)
		turn->finds_order = true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (strcmp(said->topic, ends[i].topic->name) == 0)
			hear_end(history, turn, payload, ends[i].end);
	}
}

/* --- when no timer fired --- */

static void hear_set(struct history *history, const struct message_meta *said, struct bytes payload)
{
	TimerSet set;

	if (!read_as(payload, &TimerSet_msg, &set) || *set.cron)
		return;
	if (set.due_us < said->time_us)
		map_put(history->overdue, bytes_of(set.name), (void *)(uintptr_t)said->time_us);
}

static void hear_fired(struct history *history, const struct message_meta *said, struct bytes payload)
{
	TimerFired fired;
	int64_t set_us;

	if (!read_as(payload, &TimerFired_msg, &fired))
		return;
	set_us = (int64_t)(uintptr_t)map_remove(history->overdue, bytes_of(fired.name));
	if (set_us > fired.due_us)
		fired.due_us = set_us;
	if (said->time_us - fired.due_us <= GRACE_US)
		return;
	if (history->outage_count == history->outage_room) {
		history->outage_room = history->outage_room ? 2 * history->outage_room : 64;
		history->outages = memory_resize(history->outages, history->outage_room * sizeof(*history->outages));
	}
	history->outages[history->outage_count++] =
		(struct outage){ .from_us = fired.due_us, .until_us = said->time_us };
}

/*
 * Every service says audits, so the name of the process decides about them. Other topics need no such test.
 */
static bool is_under_test(const struct message_meta *said)
{
	return strcmp(said->topic, topic_audit.name) != 0 || text_starts(said->said_by, "intake") ||
		text_starts(said->said_by, "waiter") || text_starts(said->said_by, "sender");
}

void history_hear(struct history *history, const struct message_meta *said, struct bytes payload, bool fact)
{
	history->end_us = said->time_us;
	if (strcmp(said->topic, topic_timer_fired.name) == 0)
		hear_fired(history, said, payload);
	else if (strcmp(said->topic, DEAD_LETTER) == 0)
		map_put(history->dead, map_number(&said->cause), history);
	if (strcmp(said->topic, topic_timer_set.name) == 0)
		hear_set(history, said, payload);
	if (fact && said->cause > 0 && is_under_test(said))
		hear_fact(history, said, payload);
	history->last_seq = said->seq;
}

/* --- when all is heard --- */

static int by_cause(const void *a, const void *b)
{
	const struct past_turn *left = a, *right = b;

	if (left->cause != right->cause)
		return left->cause < right->cause ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

static int by_decision(const void *a, const void *b)
{
	const struct past_turn *left = *(struct past_turn *const *)a, *right = *(struct past_turn *const *)b;

	if (left->decided_on != right->decided_on)
		return left->decided_on < right->decided_on ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

static int by_beginning(const void *a, const void *b)
{
	const struct outage *left = a, *right = b;

	return left->from_us < right->from_us ? -1 : left->from_us > right->from_us;
}

static void join_outages(struct history *history)
{
	size_t kept = 0;

	if (history->outage_count == 0)
		return;
	qsort(history->outages, history->outage_count, sizeof(*history->outages), by_beginning);
	for (size_t i = 1; i < history->outage_count; i++) {
		struct outage *last = &history->outages[kept], *next = &history->outages[i];

		if (next->from_us > last->until_us)
			history->outages[++kept] = *next;
		else if (next->until_us > last->until_us)
			last->until_us = next->until_us;
	}
	history->outage_count = kept + 1;
}

void history_close(struct history *history)
{
	if (history->count > 0)
		qsort(history->turns, history->count, sizeof(*history->turns), by_cause);
	history->order = memory_new((history->count + 1) * sizeof(struct past_turn *));
	for (size_t i = 0; i < history->count; i++)
		history->order[i] = &history->turns[i];
	if (history->count > 0)
		qsort(history->order, history->count, sizeof(struct past_turn *), by_decision);
	join_outages(history);
}

size_t history_turns(const struct history *history)
{
	return history->count;
}

const struct past_turn *history_turn(const struct history *history, size_t nth)
{
	return history->order[nth];
}

size_t history_turns_about(const struct history *history, uint64_t cause, uint64_t after)
{
	size_t low = 0, high = history->count, count = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (history->turns[middle].cause < cause)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < history->count && history->turns[low].cause == cause; low++)
		count += history->turns[low].first > after;
	return count;
}

int64_t history_fires_us(const struct history *history, int64_t due_us)
{
	size_t low = 0, high = history->outage_count;

	while (low < high) { /* the first that ends after it */
		size_t middle = low + (high - low) / 2;

		if (history->outages[middle].until_us <= due_us)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == history->outage_count || history->outages[low].from_us > due_us)
		return due_us;
	return history->outages[low].until_us;
}

size_t history_outages(const struct history *history)
{
	return history->outage_count;
}

enum mail_end history_answer(const struct history *history, const char *cart_id, uint32_t step, uint32_t attempt)
{
	char key[120];
	uintptr_t known = (uintptr_t)map_get(history->answers, bytes_of(answer_key(key, cart_id, step, attempt)));

	return known ? (enum mail_end)(known - 1) : MAIL_SENT;
}

bool history_is_dead(const struct history *history, uint64_t seq)
{
	return map_get(history->dead, map_number(&seq)) != NULL;
}

bool history_is_fresh(const struct history *history, int64_t said_us)
{
	return said_us > history->end_us - FRESH_US;
}

int64_t history_end_us(const struct history *history)
{
	return history->end_us;
}

int64_t history_grace_us(void)
{
	return GRACE_US;
}
