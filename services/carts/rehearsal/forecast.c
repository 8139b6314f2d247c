/*
 * forecast.c: predicts from the log when the next mail of a cart is sent
 *
 * Owns:      the waiter's folded state, and the reminders that it decided on and that have no outcome yet.
 * Promises:  it uses the waiter's own folds and decision. The same question gives the same answer.
 * Read next: services/carts/waiter/waiter.c, services/carts/policy/plan.c
 */
#include "services/carts/rehearsal/forecast.h"
#include "bus/actor/runtime/replay.h"
#include "bus/base/memory.h"
#include "bus/base/sorted_map.h"
#include "bus/base/text.h"
#include "services/carts/waiter/waiter.h"
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>

struct forecast {
	struct replay *waiter;
	struct sorted_map *handed; /* shop, NUL, cart id -> struct handed; tag: the wake-up that it was decided on */
};

struct handed {
	int64_t at_us;
	uint32_t step;
};

enum { KEY_ROOM = 160 };

static const char timer_prefix[] = "cart/";

struct forecast *forecast_new(const char *folder, char ret_why[512])
{
	struct replay *replay = replay_new(&waiter, folder, ret_why);
	struct forecast *forecast;

	if (!replay)
		return NULL;
	forecast = memory_new(sizeof(*forecast));
	forecast->waiter = replay;
	forecast->handed = sorted_map_new();
	return forecast;
}

void forecast_free(struct forecast *forecast)
{
	if (!forecast)
		return;
	replay_free(forecast->waiter);
	sorted_map_free(forecast->handed);
	free(forecast);
}

static bool read_as(struct bytes payload, const pb_msgdesc_t *fields, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, fields, ret);
}

static struct bytes key_of(const char *shop, const char *cart_id, char room[KEY_ROOM])
{
	int len = snprintf(room, KEY_ROOM, "%.64s%c%.90s", shop, '\0', cart_id);

	return BYTES(room, (size_t)len);
}

/* ---- reminders at the sender ---- */

static void hear_due(struct forecast *forecast, const struct message_meta *said, const ReminderDue *due)
{
	struct handed handed = { .at_us = due->decided_us, .step = due->step };
	char room[KEY_ROOM];

	sorted_map_put(forecast->handed, key_of(said->shop, due->cart.ids.cart_id, room),
		BYTES(&handed, sizeof(handed)), said->cause);
}

static void hear_outcome(struct forecast *forecast, const struct message_meta *said, const ReminderOutcome *outcome)
{
	char room[KEY_ROOM];
	struct bytes key = key_of(said->shop, outcome->cart_id, room);
	struct sorted_map_entry *entry = sorted_map_find(forecast->handed, key);
	struct handed handed;

	if (!entry)
		return;
	memcpy(&handed, sorted_map_value(entry).data, sizeof(handed));
	if (handed.step == outcome->step)
		sorted_map_remove(forecast->handed, key);
}

/*
 * If another turn than the reminder's sets the timer, the sender has deferred the reminder, or the cart has
 * changed.
 */
static void hear_timer(struct forecast *forecast, const struct message_meta *said, const TimerSet *timer)
{
	char room[KEY_ROOM];
	struct sorted_map_entry *entry;
	struct bytes key;

	if (!text_starts(timer->name, timer_prefix))
		return;
	key = key_of(said->shop, timer->name + strlen(timer_prefix), room);
	entry = sorted_map_find(forecast->handed, key);
	if (entry && sorted_map_tag(entry) != said->cause)
		sorted_map_remove(forecast->handed, key);
}

static bool is_outcome(const char *topic)
{
	static const struct topic *const ends[] = { &topic_reminder_sent, &topic_reminder_refused,
		&topic_reminder_ambiguous, &topic_reminder_skipped };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(topic, ends[i]->name) == 0)
			return true;
	return false;
}

void forecast_hear(struct forecast *forecast, const struct message_meta *said, struct bytes payload)
{
	static ReminderDue due; /* large */
	ReminderOutcome outcome;
	TimerSet timer;

	replay_fold(forecast->waiter, said, payload);
	if (strcmp(said->topic, topic_reminder_due.name) == 0 && read_as(payload, &ReminderDue_msg, &due))
		hear_due(forecast, said, &due);
	else if (is_outcome(said->topic) && read_as(payload, &ReminderOutcome_msg, &outcome))
		hear_outcome(forecast, said, &outcome);
	else if (strcmp(said->topic, topic_timer_set.name) == 0 && read_as(payload, &TimerSet_msg, &timer))
		hear_timer(forecast, said, &timer);
}

/* ---- asking ---- */

bool forecast_ask(
	const struct forecast *forecast, const char *shop, const TimerSet *timer, int64_t now_us, struct foreseen *ret)
{
	CartWake wake = { 0 };
	char room[KEY_ROOM];
	struct sorted_map_entry *entry;
	struct handed handed;

	*ret = (struct foreseen){ 0 };
	if (!text_starts(timer->name, timer_prefix) ||
		!read_as(BYTES(timer->payload.bytes, timer->payload.size), &CartWake_msg, &wake) ||
		!waiter_plan(replay_state(forecast->waiter), shop, &wake, timer->due_us, now_us, &ret->plan))
		return false;
	entry = sorted_map_find(forecast->handed, key_of(shop, wake.cart_id, room));
	if (entry) {
		memcpy(&handed, sorted_map_value(entry).data, sizeof(handed));
		ret->with_sender = (int)handed.step;
		ret->since_us = handed.at_us;
	}
	return true;
}
