/*
 * door.c: from an authentic message to the bus, or into the spool
 *
 * Owns:      the spool, the messages that wait for their answer, and the mark that this gateway has met a broker.
 * Promises:  answers ACCEPTED after the broker's confirm, SPOOLED after the sync; what is spooled is replayed in order with its
 *            own idempotency keys, and nothing that comes later is said before it is confirmed.
 * Fails by:  REFUSED with the reason in words.
 * Read next: admission.c (the decision), spool.c
 */
#include "services/platform/gateway/door.h"
#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/events.h"
#include "services/platform/gateway/admission.h"
#include "services/platform/gateway/reject.h"
#include "services/platform/gateway/spool.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REPLAY_WINDOW = 256 };                           /* spooled messages on their way at once */
static const int64_t REPLAY_AGAIN_US = 500 * US_PER_MS; /* when the broker takes nothing now */
static const int64_t look_again_us = 50 * US_PER_MS;    /* while a stop waits for the promise to run out */

struct knock {
	struct list link;
	struct door *door;
	struct buffer message;
	bool stop;
	bool said;    /* in this session, its answer is to come */
	bool put_off; /* the broker did not take it, but may later */
	bool settled; /* answered; only the broker's answer is to come */
	int64_t since_us;
	door_fn *answer;
	void *context;
};

struct replay {
	struct list link;
	struct door *door;
	uint64_t ticket;
	struct buffer message;
};

struct door {
	char folder[PATH_MAX / 2];
	struct runtime *runtime;
	const struct clock *clock;
	struct counters *counters;
	void (*wake)(void *context);
	void *wake_context;
	struct spool *spool;
	struct list waiting;  /* knocks, oldest first */
	struct list spooling; /* added to the spool, not synced */
	struct list settled;  /* answered, said, not confirmed */
	bool met, live;
	bool changed;        /* something may be decided otherwise than last time */
	int64_t again_us;    /* boot time of the next decision that only waits for time */
	struct list replays; /* on their way */
	uint64_t replay_count;
	bool replay_broke; /* the session ended under them, or the broker takes nothing now: begin again when all have come back */
	int64_t replay_at_us; /* boot time: not before this */
	uint64_t
		put_off_count; /* knocks that wait though they were said: what comes after them does not overtake them */
	char put_off_why[256]; /* the broker's last reason for taking nothing now */
	bool spooling_told;
	int64_t quiet_until_us; /* boot time: a full disk is told once a second */
};

static int64_t now_us(const struct door *door)
{
	return clock_boot_us(door->clock);
}

/* Not as it was last noticed: an answer may be the end of it. */
static bool door_has_session(const struct door *door)
{
	enum runtime_phase phase = runtime_phase(door->runtime);

	return phase == RUNTIME_READY || phase == RUNTIME_CATCHING_UP;
}

/* ---- opening ---- */

static void mark_path(const struct door *door, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/spool/met", door->folder);
}

static void open_spool(struct door *door)
{
	char path[PATH_MAX], why[400] = "";

	snprintf(path, sizeof(path), "%s/spool", door->folder);
	if (spool_open(path, &door->spool, why) < 0)
		die("%s", why);
	if (spool_count(door->spool) > 0)
		log_event(LOG_NOTICE, "the spool holds messages=%llu, they go first",
			(unsigned long long)spool_count(door->spool));
	mark_path(door, path);
	door->met = access(path, F_OK) == 0;
	runtime_spooled(door->runtime, spool_count(door->spool));
}

struct door *door_open(const char *folder, struct runtime *runtime, const struct clock *clock,
	struct counters *counters, void (*wake)(void *context), void *context)
{
	struct door *door = memory_new(sizeof(*door));

	snprintf(door->folder, sizeof(door->folder), "%s", folder);
	door->runtime = runtime;
	door->clock = clock;
	door->counters = counters;
	door->wake = wake;
	door->wake_context = context;
	list_init(&door->waiting);
	list_init(&door->spooling);
	list_init(&door->settled);
	list_init(&door->replays);
	open_spool(door);
	return door;
}

void door_begin_with(struct door *door, struct bytes message)
{
	if (!door->met)
		return;
	spool_add(door->spool, message);
	if (spool_sync(door->spool) < 0)
		die("%s: what has to be said first cannot be kept: %s", door->folder, spool_last_failure(door->spool));
	runtime_spooled(door->runtime, spool_count(door->spool));
}

static void knock_free(struct knock *knock)
{
	list_remove(&knock->link);
	buffer_free(&knock->message);
	free(knock);
}

static void put_off(struct knock *knock, bool is)
{
	knock->door->put_off_count += is;
	knock->door->put_off_count -= knock->put_off;
	knock->put_off = is;
}

/* Answered; freed when nothing of it is to come any more. */
static void settle(struct knock *knock, enum door_end end, uint64_t seq, const char *why)
{
	struct door *door = knock->door;

	knock->answer(knock->context, end, seq, why);
	knock->settled = true;
	put_off(knock, false);
	list_remove(&knock->link);
	if (knock->said)
		list_append(&door->settled, &knock->link);
	else
		knock_free(knock);
}

static void replay_free(struct replay *replay)
{
	list_remove(&replay->link);
	buffer_free(&replay->message);
	free(replay);
}

void door_close(struct door *door)
{
	if (!door)
		return;
	LIST_EACH_SAFE (hook, &door->waiting)
		settle(LIST_ENTRY(hook, struct knock, link), DOOR_REFUSED, 0, "the gateway is stopping");
	LIST_EACH_SAFE (hook, &door->settled)
		knock_free(LIST_ENTRY(hook, struct knock, link));
	LIST_EACH_SAFE (hook, &door->replays)
		replay_free(LIST_ENTRY(hook, struct replay, link));
	spool_close(door->spool);
	free(door);
}

/* ---- saying ---- */

static void count_answer(struct door *door, enum said_result result)
{
	door->counters->accepted += result == SAID_FRESH;
	door->counters->duplicates += result == SAID_DUPLICATE;
}

/* The broker's word on a message that was said directly. */
static void hear_answer(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct knock *knock = context;
	struct door *door = knock->door;

	knock->said = false;
	if (knock->settled) {
		knock_free(knock);
		return;
	}
	count_answer(door, result);
	switch (result) {
	case SAID_FRESH:
		settle(knock, DOOR_ACCEPTED, seq, NULL);
		break;
	case SAID_DUPLICATE:
		settle(knock, DOOR_DUPLICATE, seq, NULL);
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses a message for good: %s", reason);
		settle(knock, DOOR_REFUSED, 0, reason);
		break;
	case SAID_UNKNOWN:
		put_off(knock, door_has_session(door)); /* else the session broke: say it again, or spool it */
		if (knock->put_off)
			TEXT_COPY(door->put_off_why, reason ? reason : "");
		door->changed = true;
		break;
	}
	door->wake(door->wake_context);
}

static void say(struct knock *knock)
{
	struct door *door = knock->door;
	int r = runtime_say_encoded(door->runtime, buffer_bytes(&knock->message), hear_answer, knock);

	knock->said = r == 0;
	if (r == -EMSGSIZE)
		settle(knock, DOOR_REFUSED, 0, "the message is too large for the bus");
}

/* ---- the spool ---- */

/* Refused for good: it cannot be answered any more, so it is kept where rejections are, and the admin is told. */
static void keep_refused(struct door *door, struct bytes message, const char *reason)
{
	struct rejection rejection = { .at_us = clock_wall_us(door->clock),
		.shop = "",
		.platform = "spool",
		.topic = "",
		.webhook_id = "",
		.why = reason,
		.body = message };
	char path[PATH_MAX], name[64] = "";

	snprintf(path, sizeof(path), "%s/rejected", door->folder);
	reject_keep(path, &rejection, name);
	log_event(LOG_ERROR, "the broker refuses a spooled message for good, kept=%s: %s", name, reason);
	door->counters->rejected++;
}

static void hear_replay(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct replay *replay = context;
	struct door *door = replay->door;

	(void)seq;
	door->replay_count--;
	if (result == SAID_UNKNOWN) {
		door->replay_broke = true;
		door->replay_at_us = door_has_session(door) ? now_us(door) + REPLAY_AGAIN_US : 0;
		TEXT_COPY(door->put_off_why, reason ? reason : "");
	} else
		spool_confirmed(door->spool, replay->ticket);
	if (result == SAID_REFUSED)
		keep_refused(door, buffer_bytes(&replay->message), reason);
	door->counters->drained += result == SAID_FRESH || result == SAID_DUPLICATE;
	replay_free(replay);
	door->changed = true;
	door->wake(door->wake_context);
}

static bool replay_one(struct door *door)
{
	struct replay *replay = memory_new(sizeof(*replay));
	int error = 0, r = -ENODATA;

	replay->door = door;
	list_init(&replay->link);
	list_append(&door->replays, &replay->link);
	if (spool_next(door->spool, &replay->message, &replay->ticket, &error)) {
		r = runtime_say_encoded(door->runtime, buffer_bytes(&replay->message), hear_replay, replay);
		door->replay_broke = r < 0;
	}
	door->replay_count += r == 0;
	if (r < 0)
		replay_free(replay);
	if (error < 0)
		die("the spool in %s cannot be read any more: %s; check the disk", door->folder, strerror(-error));
	return r == 0;
}

static void replay_spool(struct door *door)
{
	if (door->replay_broke && door->replay_count == 0 && now_us(door) >= door->replay_at_us) {
		spool_rewind(door->spool);
		door->replay_broke = false;
	}
	while (door->live && !door->replay_broke && door->replay_count < REPLAY_WINDOW && replay_one(door))
		;
}

static void tell_spooling(struct door *door)
{
	bool holds = spool_count(door->spool) > 0;

	if (holds && !door->spooling_told)
		log_event_about(LOG_WARNING, &(struct log_about){ .event = event_spool_used },
			"what comes in is kept in the spool: %s",
			door->live ? "the bus does not confirm in time" : runtime_why(door->runtime));
	if (!holds && door->spooling_told)
		log_event_about(LOG_NOTICE, &(struct log_about){ .event = event_spool_drained },
			"the spool has drained, messages=%llu so far", (unsigned long long)door->counters->drained);
	door->spooling_told = holds;
}

/* One sync for all that came since the last one, then all their answers. */
static void sync_spool(struct door *door)
{
	int r = spool_sync(door->spool);

	runtime_spooled(door->runtime, spool_count(door->spool));
	if (r < 0 && now_us(door) >= door->quiet_until_us) {
		door->quiet_until_us = now_us(door) + US_PER_S;
		log_event(LOG_ERROR, "%s; storefronts get 503 until there is room", spool_last_failure(door->spool));
	}
	LIST_EACH_SAFE (hook, &door->spooling) {
		struct knock *knock = LIST_ENTRY(hook, struct knock, link);

		if (r < 0)
			settle(knock, DOOR_REFUSED, 0, spool_last_failure(door->spool));
		else
			settle(knock, DOOR_SPOOLED, 0, NULL);
		door->counters->spooled += r == 0;
	}
	tell_spooling(door);
}

/* ---- deciding ---- */

static void spool_it(struct knock *knock)
{
	struct door *door = knock->door;

	put_off(knock, false);
	spool_add(door->spool, buffer_bytes(&knock->message));
	list_remove(&knock->link);
	list_append(&door->spooling, &knock->link);
}

static void decide(struct knock *knock, int64_t *ret_again_us)
{
	struct door *door = knock->door;
	struct admission_facts facts = { .live = door->live,
		.met = door->met,
		.may_spool = runtime_may_spool(door->runtime),
		.spool_empty = spool_count(door->spool) == 0 && list_empty(&door->spooling) && door->put_off_count == 0,
		.trouble = spool_trouble(door->spool),
		.stop = knock->stop,
		.said = knock->said,
		.put_off = knock->put_off || now_us(door) < door->replay_at_us ? door->put_off_why : NULL,
		.waited_us = now_us(door) - knock->since_us };
	const char *why;

	switch (admission_decide(&facts, ret_again_us, &why)) {
	case ADMIT_SAY:
		say(knock);
		*ret_again_us = look_again_us;
		break;
	case ADMIT_WAIT:
		if (!facts.live)
			*ret_again_us = *ret_again_us < look_again_us ? *ret_again_us : look_again_us;
		break;
	case ADMIT_SPOOL:
		spool_it(knock);
		break;
	case ADMIT_REFUSE:
		settle(knock, DOOR_REFUSED, 0, why);
		break;
	}
}

static void decide_all(struct door *door)
{
	int64_t now = now_us(door);

	door->changed = false;
	door->again_us = INT64_MAX;
	LIST_EACH_SAFE (hook, &door->waiting) {
		int64_t again_us = 0;

		decide(LIST_ENTRY(hook, struct knock, link), &again_us);
		if (again_us > 0 && now + again_us < door->again_us)
			door->again_us = now + again_us;
	}
	if (!list_empty(&door->spooling))
		sync_spool(door);
}

/* The broker knows of us from now on, so it lets claims wait for us: written before anything is ever spooled. */
static void remember_meeting(struct door *door)
{
	char path[PATH_MAX];
	int r;

	mark_path(door, path);
	r = file_write_durably(path, bytes_of("this gateway has met its broker\n"), 0600);
	if (r < 0)
		log_event(LOG_ERROR, "cannot write %s: %s; the spool is not used until this works", path, strerror(-r));
	door->met = r == 0;
}

static void notice_phase(struct door *door)
{
	bool live = door_has_session(door);

	if (live != door->live)
		door->changed = true;
	door->live = live;
	if (live && !door->met)
		remember_meeting(door);
}

void door_knock(struct door *door, struct buffer *message, bool stop, door_fn *answer, void *context)
{
	struct knock *knock = memory_new(sizeof(*knock));

	knock->door = door;
	knock->message = *message;
	*message = (struct buffer){ 0 };
	knock->stop = stop;
	knock->since_us = now_us(door);
	knock->answer = answer;
	knock->context = context;
	list_init(&knock->link);
	list_append(&door->waiting, &knock->link);
	door->changed = true;
}

static int64_t sooner(int64_t wait_us, int64_t at_us, const struct door *door)
{
	int64_t other_us = at_us > now_us(door) ? at_us - now_us(door) : 0;

	return wait_us < 0 || other_us < wait_us ? other_us : wait_us;
}

int64_t door_work(struct door *door)
{
	int64_t wait_us = -1;

	notice_phase(door);
	replay_spool(door);
	if (!list_empty(&door->waiting) && (door->changed || now_us(door) >= door->again_us))
		decide_all(door);
	runtime_spooled(door->runtime, spool_count(door->spool));
	tell_spooling(door);
	if (!list_empty(&door->waiting) && door->again_us != INT64_MAX)
		wait_us = sooner(wait_us, door->again_us, door);
	if (door->live && door->replay_broke && door->replay_count == 0)
		wait_us = sooner(wait_us, door->replay_at_us, door);
	return wait_us;
}

bool door_live(const struct door *door)
{
	return door->live;
}

uint64_t door_spooled(const struct door *door)
{
	return spool_count(door->spool);
}

const char *door_trouble(const struct door *door)
{
	if (door->live)
		return NULL;
	return door->met ? spool_trouble(door->spool) : "the broker is away and this gateway has never met it";
}
