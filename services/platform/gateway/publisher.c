/*
 * publisher.c: publishes authentic messages, or puts them into the spool
 *
 * Owns:      the spool, the messages that wait for their answer, and the mark that this gateway has met a broker.
 * Promises:  it answers ACCEPTED after the broker's confirm, and SPOOLED after the sync. Spooled messages are
 *            replayed in order with their own idempotency keys, and no later message is published before they
 *            are confirmed. A spooled message leaves the spool when it is confirmed, or refused and kept.
 * Fails by:  REFUSED with the reason in words.
 * Read next: admission.c (the decision), spool.c
 */
#include "services/platform/gateway/publisher.h"
#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "services/kit/endpoint/reject.h"
#include "services/platform/gateway/admission.h"
#include "services/platform/gateway/spool.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REPLAY_WINDOW = 256 };                           /* spooled messages that await their confirms or are unkept */
static const int64_t REPLAY_AGAIN_US = 500 * US_PER_MS; /* the pause after the broker took nothing */
static const int64_t KEEP_AGAIN_US = 10 * US_PER_S;     /* the pause after a refused message could not be kept */
static const int64_t look_again_us = 50 * US_PER_MS;    /* how often a stop looks whether it may be spooled */

struct outgoing {
	struct list link;
	struct publisher *publisher;
	struct buffer message;
	bool stop;
	bool said;    /* published in this session, and not answered yet */
	bool put_off; /* the broker did not take it, but may later */
	bool settled; /* its submission is answered; only the broker's answer is to come */
	int64_t since_us;
	publisher_fn *answer;
	void *context;
};

struct replay {
	struct list link;
	struct publisher *publisher;
	uint64_t ticket;
	struct buffer message;
	char why_refused[256]; /* for good; "": it is not */
};

struct publisher {
	char folder[PATH_MAX / 2];
	struct runtime *runtime;
	const struct clock *clock;
	struct counters *counters;
	void (*wake)(void *context);
	void *wake_context;
	struct spool *spool;
	struct list waiting;  /* messages, oldest first */
	struct list spooling; /* added to the spool, not synced */
	struct list settled;  /* answered, published, not confirmed */
	bool met, live;
	bool changed;        /* a message may be decided differently than last time */
	int64_t again_us;    /* boot time of the next decision that only waits for time */
	struct list replays; /* published, not confirmed */
	uint64_t replay_count;
	struct list unkept; /* refused for good; they stay in the spool until they are kept */
	uint64_t unkept_count;
	int64_t keep_at_us;     /* boot time: it is not tried before */
	bool replay_broke;      /* session ended, or broker takes nothing; restarts when all are answered */
	int64_t replay_at_us;   /* boot time: the replay does not start before */
	uint64_t put_off_count; /* messages that the broker put off; later ones do not overtake them */
	char put_off_why[256];  /* the broker's last reason for taking nothing now */
	bool spooling_told;
	int64_t quiet_until_us; /* boot time: a full disk is logged once a second */
};

static int64_t now_us(const struct publisher *publisher)
{
	return clock_boot_us(publisher->clock);
}

/* Messages of the spool that may still come to the bus. */
static uint64_t to_replay(const struct publisher *publisher)
{
	return spool_count(publisher->spool) - publisher->unkept_count;
}

/* Asks the runtime, because publisher->live is out of date when an answer ends the session. */
static bool has_session(const struct publisher *publisher)
{
	enum runtime_phase phase = runtime_phase(publisher->runtime);

	return phase == RUNTIME_READY || phase == RUNTIME_CATCHING_UP;
}

/* ---- opening ---- */

static void mark_path(const struct publisher *publisher, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/spool/met", publisher->folder);
}

static void open_spool(struct publisher *publisher)
{
	char path[PATH_MAX], why[400] = "";

	snprintf(path, sizeof(path), "%s/spool", publisher->folder);
	if (spool_open(path, &publisher->spool, why) < 0)
		die("%s", why);
	if (spool_count(publisher->spool) > 0)
		log_event(LOG_NOTICE, "the spool holds messages=%llu, they go first",
			(unsigned long long)spool_count(publisher->spool));
	mark_path(publisher, path);
	publisher->met = access(path, F_OK) == 0;
	runtime_spooled(publisher->runtime, to_replay(publisher));
}

struct publisher *publisher_open(const char *folder, struct runtime *runtime, const struct clock *clock,
	struct counters *counters, void (*wake)(void *context), void *context)
{
	struct publisher *publisher = memory_new(sizeof(*publisher));

	snprintf(publisher->folder, sizeof(publisher->folder), "%s", folder);
	publisher->runtime = runtime;
	publisher->clock = clock;
	publisher->counters = counters;
	publisher->wake = wake;
	publisher->wake_context = context;
	list_init(&publisher->waiting);
	list_init(&publisher->spooling);
	list_init(&publisher->settled);
	list_init(&publisher->replays);
	list_init(&publisher->unkept);
	open_spool(publisher);
	return publisher;
}

void publisher_begin_with(struct publisher *publisher, struct bytes message)
{
	if (!publisher->met)
		return;
	spool_add(publisher->spool, message);
	if (spool_sync(publisher->spool) < 0)
		die("%s: what has to be said first cannot be kept: %s", publisher->folder,
			spool_last_failure(publisher->spool));
	runtime_spooled(publisher->runtime, to_replay(publisher));
}

static void outgoing_free(struct outgoing *outgoing)
{
	list_remove(&outgoing->link);
	buffer_free(&outgoing->message);
	free(outgoing);
}

static void put_off(struct outgoing *outgoing, bool is)
{
	outgoing->publisher->put_off_count += is;
	outgoing->publisher->put_off_count -= outgoing->put_off;
	outgoing->put_off = is;
}

/* Answers a message, and frees it unless the broker's answer is still to come. */
static void settle(struct outgoing *outgoing, enum submission_end end, uint64_t seq, const char *why)
{
	struct publisher *publisher = outgoing->publisher;

	outgoing->answer(outgoing->context, end, seq, why);
	outgoing->settled = true;
	put_off(outgoing, false);
	list_remove(&outgoing->link);
	if (outgoing->said)
		list_append(&publisher->settled, &outgoing->link);
	else
		outgoing_free(outgoing);
}

static void replay_free(struct replay *replay)
{
	list_remove(&replay->link);
	buffer_free(&replay->message);
	free(replay);
}

static void forget_unkept(struct publisher *publisher)
{
	LIST_EACH_SAFE (hook, &publisher->unkept)
		replay_free(LIST_ENTRY(hook, struct replay, link));
	publisher->unkept_count = 0;
}

void publisher_close(struct publisher *publisher)
{
	if (!publisher)
		return;
	LIST_EACH_SAFE (hook, &publisher->waiting)
		settle(LIST_ENTRY(hook, struct outgoing, link), SUBMISSION_REFUSED, 0, "the gateway is stopping");
	LIST_EACH_SAFE (hook, &publisher->settled)
		outgoing_free(LIST_ENTRY(hook, struct outgoing, link));
	LIST_EACH_SAFE (hook, &publisher->replays)
		replay_free(LIST_ENTRY(hook, struct replay, link));
	forget_unkept(publisher);
	spool_close(publisher->spool);
	free(publisher);
}

/* ---- saying ---- */

static void count_answer(struct publisher *publisher, enum said_result result)
{
	publisher->counters->accepted += result == SAID_FRESH;
	publisher->counters->duplicates += result == SAID_DUPLICATE;
}

/* Takes the broker's answer to a message that was published directly. */
static void hear_answer(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct outgoing *outgoing = context;
	struct publisher *publisher = outgoing->publisher;

	outgoing->said = false;
	if (outgoing->settled) {
		outgoing_free(outgoing);
		return;
	}
	count_answer(publisher, result);
	switch (result) {
	case SAID_FRESH:
		settle(outgoing, SUBMISSION_ACCEPTED, seq, NULL);
		break;
	case SAID_DUPLICATE:
		settle(outgoing, SUBMISSION_DUPLICATE, seq, NULL);
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses a message for good: %s", reason);
		settle(outgoing, SUBMISSION_REFUSED, 0, reason);
		break;
	case SAID_UNKNOWN:
		put_off(outgoing, has_session(publisher)); /* else the session broke: say it again, or spool it */
		if (outgoing->put_off)
			TEXT_COPY(publisher->put_off_why, reason ? reason : "");
		publisher->changed = true;
		break;
	}
	publisher->wake(publisher->wake_context);
}

static void publish_outgoing(struct outgoing *outgoing)
{
	struct publisher *publisher = outgoing->publisher;
	int r = runtime_publish_encoded(publisher->runtime, buffer_bytes(&outgoing->message), hear_answer, outgoing);

	outgoing->said = r == 0;
	if (r == -EMSGSIZE)
		settle(outgoing, SUBMISSION_REFUSED, 0, "the message is too large for the bus");
}

/* ---- the spool ---- */

/*
 * Keeps a spooled message that the broker refused for good. Its storefront was answered long ago, so it goes
 * to the rejections, and the log tells the admin. Only then it leaves the spool.
 */
static int keep_refused(struct replay *replay)
{
	struct publisher *publisher = replay->publisher;
	struct rejection rejection = { .at_us = clock_wall_us(publisher->clock),
		.shop = "",
		.platform = "spool",
		.topic = "",
		.webhook_id = "",
		.why = replay->why_refused,
		.body = buffer_bytes(&replay->message) };
	char path[PATH_MAX], name[64] = "";
	int r;

	snprintf(path, sizeof(path), "%s/rejected", publisher->folder);
	if ((r = reject_keep(path, &rejection, name)) < 0)
		return r;
	spool_confirmed(publisher->spool, replay->ticket);
	log_event(LOG_ERROR, "the broker refuses a spooled message for good, kept=%s: %s", name, replay->why_refused);
	publisher->counters->rejected++;
	replay_free(replay);
	return 0;
}

/* A refused message that cannot be kept holds up no other message. */
static void hear_refused(struct replay *replay, const char *reason)
{
	struct publisher *publisher = replay->publisher;
	int r;

	snprintf(replay->why_refused, sizeof(replay->why_refused), "%s", reason);
	if ((r = keep_refused(replay)) == 0)
		return;
	log_event(LOG_ERROR,
		"the broker refuses a spooled message for good, and %s/rejected cannot keep it, so it stays in the "
		"spool until that works: %s: %s",
		publisher->folder, strerror(-r), reason);
	list_remove(&replay->link);
	list_append(&publisher->unkept, &replay->link);
	publisher->unkept_count++;
	publisher->keep_at_us = now_us(publisher) + KEEP_AGAIN_US;
}

static void keep_unkept(struct publisher *publisher)
{
	if (now_us(publisher) < publisher->keep_at_us)
		return;
	publisher->keep_at_us = now_us(publisher) + KEEP_AGAIN_US;
	LIST_EACH_SAFE (hook, &publisher->unkept) {
		if (keep_refused(LIST_ENTRY(hook, struct replay, link)) < 0)
			return;
		publisher->unkept_count--;
	}
}

static void hear_replay(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct replay *replay = context;
	struct publisher *publisher = replay->publisher;

	(void)seq;
	publisher->replay_count--;
	switch (result) {
	case SAID_FRESH:
	case SAID_DUPLICATE:
		spool_confirmed(publisher->spool, replay->ticket);
		publisher->counters->drained++;
		replay_free(replay);
		break;
	case SAID_REFUSED:
		hear_refused(replay, reason);
		break;
	case SAID_UNKNOWN:
		publisher->replay_broke = true;
		publisher->replay_at_us = has_session(publisher) ? now_us(publisher) + REPLAY_AGAIN_US : 0;
		TEXT_COPY(publisher->put_off_why, reason ? reason : "");
		replay_free(replay);
		break;
	}
	publisher->changed = true;
	publisher->wake(publisher->wake_context);
}

static bool replay_one(struct publisher *publisher)
{
	struct replay *replay = memory_new(sizeof(*replay));
	int error = 0, r = -ENODATA;

	replay->publisher = publisher;
	list_init(&replay->link);
	list_append(&publisher->replays, &replay->link);
	if (spool_next(publisher->spool, &replay->message, &replay->ticket, &error)) {
		r = runtime_publish_encoded(publisher->runtime, buffer_bytes(&replay->message), hear_replay, replay);
		publisher->replay_broke = r < 0;
	}
	publisher->replay_count += r == 0;
	if (r < 0)
		replay_free(replay);
	if (error < 0)
		die("the spool in %s cannot be read any more: %s; check the disk", publisher->folder, strerror(-error));
	return r == 0;
}

static void replay_spool(struct publisher *publisher)
{
	if (publisher->replay_broke && publisher->replay_count == 0 && now_us(publisher) >= publisher->replay_at_us) {
		spool_rewind(publisher->spool);
		forget_unkept(publisher); /* the spool gives them out again */
		publisher->replay_broke = false;
	}
	while (publisher->live && !publisher->replay_broke &&
		publisher->replay_count + publisher->unkept_count < REPLAY_WINDOW && replay_one(publisher))
		;
}

static void tell_spooling(struct publisher *publisher)
{
	bool holds = to_replay(publisher) > 0;

	if (holds && !publisher->spooling_told)
		log_event_about(LOG_WARNING, &(struct log_about){ .event = event_spool_used },
			"what comes in is kept in the spool: %s",
			publisher->live ? "the bus does not confirm in time" : runtime_why(publisher->runtime));
	if (!holds && publisher->spooling_told)
		log_event_about(LOG_NOTICE, &(struct log_about){ .event = event_spool_drained },
			"the spool has drained, messages=%llu so far",
			(unsigned long long)publisher->counters->drained);
	publisher->spooling_told = holds;
}

/* Syncs all messages that were added since the last sync, then answers them. */
static void sync_spool(struct publisher *publisher)
{
	int r = spool_sync(publisher->spool);

	runtime_spooled(publisher->runtime, to_replay(publisher));
	if (r < 0 && now_us(publisher) >= publisher->quiet_until_us) {
		publisher->quiet_until_us = now_us(publisher) + US_PER_S;
		log_event(
			LOG_ERROR, "%s; storefronts get 503 until there is room", spool_last_failure(publisher->spool));
	}
	LIST_EACH_SAFE (hook, &publisher->spooling) {
		struct outgoing *outgoing = LIST_ENTRY(hook, struct outgoing, link);

		if (r < 0)
			settle(outgoing, SUBMISSION_REFUSED, 0, spool_last_failure(publisher->spool));
		else
			settle(outgoing, SUBMISSION_SPOOLED, 0, NULL);
		publisher->counters->spooled += r == 0;
	}
	tell_spooling(publisher);
}

/* ---- deciding ---- */

static void spool_it(struct outgoing *outgoing)
{
	struct publisher *publisher = outgoing->publisher;

	put_off(outgoing, false);
	spool_add(publisher->spool, buffer_bytes(&outgoing->message));
	list_remove(&outgoing->link);
	list_append(&publisher->spooling, &outgoing->link);
}

static void decide_outgoing(struct outgoing *outgoing, int64_t *ret_again_us)
{
	struct publisher *publisher = outgoing->publisher;
	struct admission_facts facts = { .live = publisher->live,
		.met = publisher->met,
		.may_spool = runtime_may_spool(publisher->runtime),
		.spool_empty =
			to_replay(publisher) == 0 && list_empty(&publisher->spooling) && publisher->put_off_count == 0,
		.trouble = spool_trouble(publisher->spool),
		.stop = outgoing->stop,
		.said = outgoing->said,
		.put_off = outgoing->put_off || now_us(publisher) < publisher->replay_at_us ? publisher->put_off_why
											    : NULL,
		.waited_us = now_us(publisher) - outgoing->since_us };
	const char *why;

	switch (admission_decide(&facts, ret_again_us, &why)) {
	case ADMIT_SAY:
		publish_outgoing(outgoing);
		*ret_again_us = look_again_us;
		break;
	case ADMIT_WAIT:
		if (!facts.live)
			*ret_again_us = *ret_again_us < look_again_us ? *ret_again_us : look_again_us;
		break;
	case ADMIT_SPOOL:
		spool_it(outgoing);
		break;
	case ADMIT_REFUSE:
		settle(outgoing, SUBMISSION_REFUSED, 0, why);
		break;
	}
}

static void decide_all(struct publisher *publisher)
{
	int64_t now = now_us(publisher);

	publisher->changed = false;
	publisher->again_us = INT64_MAX;
	LIST_EACH_SAFE (hook, &publisher->waiting) {
		int64_t again_us = 0;

		decide_outgoing(LIST_ENTRY(hook, struct outgoing, link), &again_us);
		if (again_us > 0 && now + again_us < publisher->again_us)
			publisher->again_us = now + again_us;
	}
	if (!list_empty(&publisher->spooling))
		sync_spool(publisher);
}

/*
 * Notes that the broker knows this gateway, and so lets claims wait for it. The mark is written before any
 * message is spooled.
 */
static void remember_meeting(struct publisher *publisher)
{
	char path[PATH_MAX];
	int r;

	mark_path(publisher, path);
	r = file_write_durably(path, bytes_of("this gateway has met its broker\n"), 0600);
	if (r < 0)
		log_event(LOG_ERROR, "cannot write %s: %s; the spool is not used until this works", path, strerror(-r));
	publisher->met = r == 0;
}

static void notice_phase(struct publisher *publisher)
{
	bool live = has_session(publisher);

	if (live != publisher->live)
		publisher->changed = true;
	publisher->live = live;
	if (live && !publisher->met)
		remember_meeting(publisher);
}

void publisher_add(struct publisher *publisher, struct buffer *message, bool stop, publisher_fn *answer, void *context)
{
	struct outgoing *outgoing = memory_new(sizeof(*outgoing));

	outgoing->publisher = publisher;
	outgoing->message = *message;
	*message = (struct buffer){ 0 };
	outgoing->stop = stop;
	outgoing->since_us = now_us(publisher);
	outgoing->answer = answer;
	outgoing->context = context;
	list_init(&outgoing->link);
	list_append(&publisher->waiting, &outgoing->link);
	publisher->changed = true;
}

static int64_t sooner(int64_t wait_us, int64_t at_us, const struct publisher *publisher)
{
	int64_t other_us = at_us > now_us(publisher) ? at_us - now_us(publisher) : 0;

	return wait_us < 0 || other_us < wait_us ? other_us : wait_us;
}

int64_t publisher_work(struct publisher *publisher)
{
	int64_t wait_us = -1;

	notice_phase(publisher);
	keep_unkept(publisher); /* before the replay: what is kept makes room in its window */
	replay_spool(publisher);
	if (!list_empty(&publisher->waiting) && (publisher->changed || now_us(publisher) >= publisher->again_us))
		decide_all(publisher);
	runtime_spooled(publisher->runtime, to_replay(publisher));
	tell_spooling(publisher);
	if (!list_empty(&publisher->waiting) && publisher->again_us != INT64_MAX)
		wait_us = sooner(wait_us, publisher->again_us, publisher);
	if (publisher->live && publisher->replay_broke && publisher->replay_count == 0)
		wait_us = sooner(wait_us, publisher->replay_at_us, publisher);
	if (publisher->unkept_count > 0)
		wait_us = sooner(wait_us, publisher->keep_at_us, publisher);
	return wait_us;
}

bool publisher_live(const struct publisher *publisher)
{
	return publisher->live;
}

uint64_t publisher_spooled(const struct publisher *publisher)
{
	return spool_count(publisher->spool);
}

const char *publisher_trouble(const struct publisher *publisher)
{
	if (publisher->live)
		return NULL;
	return publisher->met ? spool_trouble(publisher->spool)
			      : "the broker is away and this gateway has never met it";
}
