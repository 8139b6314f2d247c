/*
 * effects.c: effects in the world, and the claims that fence them; one effect that a command waits for
 *
 * Owns:      the running effects, each with its delivery.
 * Promises:  a driver is told to go at most once, and only when its claim is fresh and was said less than a
 *            second ago, the projections have passed the head that the answer named, the service still
 *            agrees, and the lease is alive. A claim that was answered too late is said again, with the bytes
 *            of the first time. A result becomes facts, with the receipt or without.
 * Fails by:  nothing: an effect whose session broke before its claim is let go, its message comes again.
 * Read next: effect.h (the order of steps), requests.c (claims and outcomes on the wire)
 */
#include "bus/actor/effect.h"
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum effect_phase {
	EFFECT_NEVER,      /* of the table: this event cannot come */
	EFFECT_QUEUED,     /* no room yet */
	EFFECT_RUNNING,    /* nothing has happened yet that cannot be repeated */
	EFFECT_WANTING,    /* the driver waits for its claim, which is not said yet */
	EFFECT_SAID,       /* the claim is said, and not answered */
	EFFECT_CLAIMED,    /* answered; waits for the projections */
	EFFECT_LEAVING,    /* may go; its note is being crossed out */
	EFFECT_WENT,       /* the last byte may go */
	EFFECT_WITHDRAWN,  /* the driver was told not to */
	EFFECT_UNANSWERED, /* the driver was told not to go, and its claim is not answered */
	EFFECT_ORPHANED,   /* the driver has ended, and its claim is not answered */
	EFFECT_ENDED,      /* the driver has ended, and its result is decided on */
	EFFECT_GONE,       /* let go: its message comes again */
	EFFECT_PHASES
};

enum effect_event {
	EFFECT_STARTS,   /* the driver begins */
	EFFECT_WANTS,    /* the driver asks for its claim */
	EFFECT_SAYS,     /* the claim is said, or said again */
	EFFECT_ANSWERED, /* the broker has answered the claim */
	EFFECT_LEAVES,   /* all conditions for going are met */
	EFFECT_GOES,     /* the driver is told to go */
	EFFECT_STOPS,    /* the driver is told not to go */
	EFFECT_ENDS,     /* the driver has said how it ended, or was stopped at its deadline */
	EFFECT_LOSES,    /* the session broke */
	EFFECT_EVENTS
};

/* One table, with a line for each phase. */
/* clang-format off */
static const unsigned char transitions[EFFECT_PHASES][EFFECT_EVENTS] = {
	[EFFECT_QUEUED]     = { [EFFECT_STARTS] = EFFECT_RUNNING, [EFFECT_LOSES] = EFFECT_GONE },
	[EFFECT_RUNNING]    = { [EFFECT_WANTS] = EFFECT_WANTING, [EFFECT_ENDS] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_GONE },
	[EFFECT_WANTING]    = { [EFFECT_SAYS] = EFFECT_SAID, [EFFECT_LEAVES] = EFFECT_LEAVING, [EFFECT_STOPS] = EFFECT_WITHDRAWN,
				[EFFECT_ENDS] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_GONE },
	[EFFECT_SAID]       = { [EFFECT_ANSWERED] = EFFECT_CLAIMED, [EFFECT_ENDS] = EFFECT_ORPHANED, [EFFECT_LOSES] = EFFECT_UNANSWERED },
	[EFFECT_CLAIMED]    = { [EFFECT_SAYS] = EFFECT_SAID, [EFFECT_LEAVES] = EFFECT_LEAVING, [EFFECT_STOPS] = EFFECT_WITHDRAWN,
				[EFFECT_ENDS] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_WITHDRAWN },
	[EFFECT_LEAVING]    = { [EFFECT_SAYS] = EFFECT_SAID, [EFFECT_GOES] = EFFECT_WENT, [EFFECT_STOPS] = EFFECT_WITHDRAWN,
				[EFFECT_ENDS] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_WITHDRAWN },
	[EFFECT_WENT]       = { [EFFECT_ENDS] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_WENT },
	[EFFECT_WITHDRAWN]  = { [EFFECT_ENDS] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_WITHDRAWN },
	[EFFECT_UNANSWERED] = { [EFFECT_ANSWERED] = EFFECT_WITHDRAWN, [EFFECT_ENDS] = EFFECT_ORPHANED, [EFFECT_LOSES] = EFFECT_UNANSWERED },
	[EFFECT_ORPHANED]   = { [EFFECT_ANSWERED] = EFFECT_ENDED, [EFFECT_LOSES] = EFFECT_ORPHANED },
};
/* clang-format on */

struct effect {
	struct list hook;
	struct runtime *runtime;
	const struct effect_kind *kind;
	struct effect_driver *driver;
	void *request;
	struct delivery *delivery;
	enum effect_phase phase; /* changed by effect_enter; effect_done ends an effect of effect_begin directly */
	int64_t deadline_us;     /* boot time */
	struct buffer claim;     /* the bytes as first said: they alone tell it from another instance's claim */
	int64_t said_us;         /* boot time, before the last time it was said */
	enum claim_answer claimed;
	int note;      /* of the claim, -1: none */
	uint64_t pass; /* number that the projections must pass before going on */
	void (*done)(const void *result,
		void *context); /* of effect_begin, which uses only request, driver, phase and these */
	void *context;
};

static void effect_enter(struct effect *effect, enum effect_event event)
{
	enum effect_phase next = (enum effect_phase)transitions[effect->phase][event];

	assert(next != EFFECT_NEVER);
	effect->phase = next;
}

static bool has_driver(const struct effect *effect)
{
	return effect->phase != EFFECT_QUEUED && effect->phase != EFFECT_ORPHANED && effect->phase != EFFECT_ENDED;
}

static bool is_unanswered(const struct effect *effect)
{
	return effect->phase == EFFECT_SAID || effect->phase == EFFECT_UNANSWERED || effect->phase == EFFECT_ORPHANED;
}

const void *effect_request(const struct effect *effect)
{
	return effect->request;
}

static bool lease_lives(const struct effect *effect)
{
	return runtime_leases_live(effect->runtime, effect->delivery->head.receipt.epoch);
}

static void effect_free(struct effect *effect)
{
	assert(!is_unanswered(effect)); /* the answer would find the effect */
	if (has_driver(effect))
		effect->driver->stop(effect->driver->self, effect);
	if (effect->phase != EFFECT_QUEUED) {
		effect->runtime->effects.running--;
		metrics_took(&effect->runtime->counts.working,
			boot_us(effect->runtime) - (effect->deadline_us - effect->kind->deadline_us));
	}
	claim_notes_let_go(effect->runtime->effects.notes, effect->note);
	buffer_free(&effect->claim);
	list_remove(&effect->hook);
	if (effect->request && effect->kind->request_free)
		effect->kind->request_free(effect->request);
	if (effect->delivery && lease_lives(effect))
		delivery_credit(effect->runtime, effect->delivery);
	delivery_free(effect->runtime, effect->delivery);
	free(effect);
}

static struct effect_driver *driver_of(const struct runtime *runtime, const char *name)
{
	for (struct effect_driver *const *at = runtime->effects.drivers; at && *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

void effect_new(struct runtime *runtime, struct delivery **delivery, const struct effect_kind *kind, void **request)
{
	struct effect *effect = memory_new(sizeof(*effect));

	effect->runtime = runtime;
	effect->kind = kind;
	effect->phase = EFFECT_QUEUED;
	effect->note = -1;
	effect->driver = driver_of(runtime, kind->name);
	assert(effect->driver); /* the process brought no driver of this name */
	effect->request = TAKE(*request);
	effect->delivery = TAKE(*delivery);
	list_append(&runtime->effects.all, &effect->hook);
	runtime->counts.effects++;
}

/* --- the end: a decision on the result --- */

static bool is_ours(const struct effect *effect)
{
	return effect->claimed == CLAIM_FRESH || effect->claimed == CLAIM_UNUSED;
}

static void begin_result(const struct effect *effect)
{
	begin_task(effect->runtime, TASK_RESULT, effect->delivery->head.receipt.seq);
}

static void decide_result(struct effect *effect, const void *result)
{
	struct runtime *runtime = effect->runtime;
	Envelope envelope;
	struct message_meta said;
	struct bytes payload;
	struct turn turn;
	enum verdict verdict;
	bool reads = delivery_read(effect->delivery, &envelope, &said, &payload);

	assert(reads);
	(void)reads;
	turn = runtime_open_turn(runtime, &said);
	turn.failures = effect->delivery->head.failures;
	begin_result(effect);
	verdict = turn_effect_result(&turn, effect->kind, payload, effect->request, result, effect->claimed);
	begin_task(runtime, TASK_LOOP, 0);
	assert(verdict != TURN_PENDING || turn.kind);
	if (verdict == TURN_PENDING && lease_lives(effect)) {
		effect_new(runtime, &effect->delivery, turn.kind, &turn.request);
		turn_end(&turn);
		return;
	}
	turn_commit(runtime, &turn, verdict == TURN_PENDING ? TURN_DONE : verdict, &effect->delivery->head,
		is_ours(effect));
}

/*
 * Without a lease and without a claim of ours there is nothing to say: the instance that gets the message
 * next decides.
 */
static void finish(struct effect *effect, const void *result)
{
	if (is_ours(effect) || lease_lives(effect))
		decide_result(effect, result);
	effect_free(effect);
}

/* The driver has ended, with or without a result, in `phase`; the owner of the claim is known. */
static void conclude(struct effect *effect, enum effect_phase phase, const void *result)
{
	bool told_not_to_and_said_so = phase == EFFECT_WITHDRAWN && result;

	if (effect->claimed == CLAIM_FRESH && phase != EFFECT_WENT && !told_not_to_and_said_so) {
		effect->claimed = CLAIM_UNUSED;
		result = NULL;
	}
	finish(effect, result);
}

static void ended(struct effect *effect, const void *result)
{
	enum effect_phase phase = effect->phase;

	effect_enter(effect, EFFECT_ENDS);
	if (effect->phase != EFFECT_ORPHANED) /* an orphan first waits for the owner of its claim */
		conclude(effect, phase, result);
}

void effect_done(struct effect *effect, const void *result)
{
	bool began = effect->phase != EFFECT_QUEUED;

	assert(has_driver(effect) || effect->done);
	if (!effect->done) {
		ended(effect, result);
		return;
	}
	effect->phase = EFFECT_ENDED;
	effect->done(result, effect->context);
	if (began)
		free(effect);
}

/* --- the claim --- */

void effect_claim(struct effect *effect)
{
	assert(!effect->done);              /* no answer would come */
	effect_enter(effect, EFFECT_WANTS); /* said by effects_work, not from inside the driver */
}

/*
 * The claim's age counts from before it is sent: a message confirmed later may be a stop that the answer does
 * not know.
 */
static void say_as_written(struct effect *effect)
{
	struct publish_request *request = request_new(effect->runtime, REQUEST_CLAIM);

	buffer_add(&request->message, effect->claim.data, effect->claim.len);
	request->effect = effect;
	effect_enter(effect, EFFECT_SAYS);
	effect->said_us = boot_us(effect->runtime);
	request_publish(effect->runtime, request, buffer_bytes(&request->message));
}

static void say_claim(struct effect *effect)
{
	struct runtime *runtime = effect->runtime;
	Envelope envelope;
	struct message_meta said;
	struct bytes payload, message;
	struct turn turn;

	if (!delivery_read(effect->delivery, &envelope, &said, &payload))
		assert(!"a delivery that was decided on does not read");
	turn = runtime_open_turn(runtime, &said);
	turn.folds = false;
	turn.is_claim = true;
	begin_result(effect);
	turn_claim(&turn, effect->kind, payload, effect->request);
	begin_task(runtime, TASK_LOOP, 0);
	message = turn_fact(&turn.facts, 0);
	buffer_add(&effect->claim, message.data, message.len);
	if (effect->driver->noted)
		effect->note = notes_add(runtime, effect->delivery->head.receipt.seq, message);
	turn_end(&turn);
	say_as_written(effect);
}

static void withdraw(struct effect *effect)
{
	effect_enter(effect, EFFECT_STOPS);
	effect->driver->proceed(effect->driver->self, effect, false); /* the effect may be freed after this */
}

static void count_answer(struct runtime_metrics *counts, ConfirmKind kind)
{
	counts->claims_fresh += kind == CONFIRM_FRESH;
	counts->claims_duplicate += kind == CONFIRM_DUPLICATE;
}

/* A claim that is ours stays ours, even if the answer to its repeat says otherwise. */
void effect_claim_answered(struct effect *effect, const Confirm *confirm)
{
	static const enum claim_answer answers[] = {
		[CONFIRM_FRESH] = CLAIM_FRESH, [CONFIRM_DUPLICATE] = CLAIM_DUPLICATE, [CONFIRM_REFUSED] = CLAIM_REFUSED
	};
	bool first = effect->claimed == CLAIM_NONE;

	effect_enter(effect, EFFECT_ANSWERED);
	if (first) {
		count_answer(&effect->runtime->counts, confirm->kind);
		effect->claimed = answers[confirm->kind];
	}
	effect->pass = confirm->kind == CONFIRM_FRESH ? confirm->head : confirm->seq;
	if (effect->phase == EFFECT_ENDED)
		conclude(effect, EFFECT_ORPHANED, NULL);
	else if (effect->phase == EFFECT_CLAIMED && !first && confirm->kind != CONFIRM_FRESH)
		withdraw(effect);
}

static bool service_agrees(struct effect *effect)
{
	struct runtime *runtime = effect->runtime;
	Envelope envelope;
	struct message_meta said;
	struct bytes payload;
	bool agrees;

	if (!delivery_read(effect->delivery, &envelope, &said, &payload))
		return false;
	begin_result(effect);
	state_write_turn(runtime->state, runtime->turns + 1);
	agrees = turn_may_proceed(runtime->table, runtime->state, said.topic, effect->kind, payload, effect->request,
		monotonic_wall_us(&runtime->monotonic_wall));
	begin_task(runtime, TASK_LOOP, 0);
	return agrees;
}

int64_t effect_until_us(const struct effect *effect)
{
	return effect->kind && effect->kind->claim ? effect->said_us + EFFECT_CLAIM_GOOD_US : INT64_MAX;
}

bool effect_may_go(const struct effect *effect)
{
	int64_t until_us = effect_until_us(effect);

	return until_us == INT64_MAX || boot_us(effect->runtime) < until_us;
}

/*
 * The claim is fresh, and too old: the gateways, the log or the projections took long, or this process did
 * not run.
 */
static bool asks_again(struct effect *effect)
{
	if (effect->claimed != CLAIM_FRESH || effect_may_go(effect))
		return false;
	say_as_written(effect);
	return true;
}

/*
 * A kill after this leaves it open whether the last byte went, a kill before does not: so the note is crossed
 * out first.
 */
static void leave(struct effect *effect)
{
	int r = effect->note < 0 ? 0 : claim_notes_cross_out(effect->runtime->effects.notes, effect->note);

	if (r == -EINPROGRESS || (r == 0 && asks_again(effect)))
		return;
	if (r < 0) {
		withdraw(effect);
		return;
	}
	effect_enter(effect, EFFECT_GOES);
	effect->driver->proceed(effect->driver->self, effect, true);
}

static void go_or_not(struct effect *effect)
{
	bool claimed = effect->claimed == CLAIM_NONE ? !effect->kind->claim : effect->claimed == CLAIM_FRESH;

	if (asks_again(effect))
		return;
	if (!claimed || !service_agrees(effect)) {
		withdraw(effect);
		return;
	}
	effect_enter(effect, EFFECT_LEAVES);
	leave(effect);
}

/* --- one step of one effect, which may free it --- */

static void start(struct effect *effect)
{
	struct runtime *runtime = effect->runtime;

	if (runtime->effects.running >= runtime->effects.most)
		return;
	runtime->effects.running++;
	effect_enter(effect, EFFECT_STARTS);
	effect->deadline_us = boot_us(runtime) + effect->kind->deadline_us;
	effect->driver->start(effect->driver->self, effect, effect->request);
}

static void step(struct effect *effect)
{
	struct runtime *runtime = effect->runtime;

	/* The hello named the effects that went: a new session keeps their leases. */
	if (lease_lives(effect) || effect->phase == EFFECT_WENT)
		delivery_renew(runtime, effect->delivery);
	if (effect->phase == EFFECT_QUEUED) {
		start(effect);
		return;
	}
	if (has_driver(effect) && runtime->heard_us >= effect->deadline_us) {
		runtime->counts.effect_timeouts++;
		effect->driver->stop(effect->driver->self, effect);
		ended(effect, NULL);
		return;
	}
	if (!session_is_open(runtime->session))
		return;
	if (effect->phase == EFFECT_WANTING && !effect->kind->claim)
		go_or_not(effect);
	else if (effect->phase == EFFECT_WANTING)
		say_claim(effect);
	else if (effect->phase == EFFECT_CLAIMED && runtime_passed(runtime, effect->pass))
		go_or_not(effect);
	else if (effect->phase == EFFECT_LEAVING)
		leave(effect);
}

static void work_drivers(struct runtime *runtime)
{
	for (struct effect_driver *const *at = runtime->effects.drivers; at && *at; at++)
		if ((*at)->work)
			(*at)->work((*at)->self);
}

/* A step may end any effect: so each is looked up anew, in the order in which they began. */
static void each_effect(struct runtime *runtime, void (*step_of)(struct effect *effect))
{
	struct list done;

	list_init(&done);
	while (!list_empty(&runtime->effects.all)) {
		struct effect *effect = LIST_ENTRY(runtime->effects.all.next, struct effect, hook);

		list_remove(&effect->hook);
		list_append(&done, &effect->hook);
		step_of(effect);
	}
	list_move_all(&runtime->effects.all, &done);
}

void effects_work(struct runtime *runtime)
{
	work_drivers(runtime);
	if (!list_empty(&runtime->effects.all))
		each_effect(runtime, step);
}

/* --- between sessions --- */

static void lose(struct effect *effect)
{
	enum effect_phase phase = effect->phase;

	if (transitions[phase][EFFECT_LOSES] == EFFECT_GONE) {
		effect_free(effect);
		return;
	}
	effect_enter(effect, EFFECT_LOSES);
	if (effect->phase != phase)
		effect->driver->proceed(effect->driver->self, effect, false); /* the effect may be freed after this */
}

void effects_lost(struct runtime *runtime)
{
	each_effect(runtime, lose);
}

/*
 * The hello names effects that went, so that their messages go to no other instance while the outcome is
 * still to come.
 */
void effects_held(const struct runtime *runtime, Hello *hello)
{
	const pb_size_t most = sizeof(hello->held) / sizeof(hello->held[0]);

	LIST_EACH (hook, &runtime->effects.all) {
		const struct effect *effect = LIST_ENTRY(hook, struct effect, hook);
		const Receipt *receipt = &effect->delivery->head.receipt;

		if (effect->phase != EFFECT_WENT || hello->held_count == most)
			continue;
		TEXT_COPY(hello->held[hello->held_count].queue, receipt->queue);
		hello->held[hello->held_count].seq = receipt->seq;
		hello->held[hello->held_count].attempt = receipt->attempt;
		hello->held_count++;
	}
}

void effects_free(struct runtime *runtime)
{
	while (!list_empty(&runtime->effects.all)) {
		struct effect *effect = LIST_ENTRY(runtime->effects.all.next, struct effect, hook);

		if (is_unanswered(effect))
			effect_enter(effect, EFFECT_ANSWERED); /* no answer will come */
		effect_free(effect);
	}
}

int64_t effects_wait_us(const struct runtime *runtime)
{
	int64_t wait_us = INT64_MAX, now = boot_us(runtime);

	LIST_EACH (hook, &runtime->effects.all) {
		const struct effect *effect = LIST_ENTRY(hook, struct effect, hook);

		if (session_is_open(runtime->session) && lease_lives(effect)) {
			int64_t renew_us = delivery_renew_due_us(runtime, effect->delivery) - now;

			if (renew_us < wait_us)
				wait_us = renew_us > 0 ? renew_us : 0;
		}
		if (!has_driver(effect))
			continue;
		if (effect->deadline_us - now < wait_us)
			wait_us = effect->deadline_us > now ? effect->deadline_us - now : 0;
		if (effect->phase == EFFECT_WANTING && session_is_open(runtime->session))
			return 0;
	}
	for (struct effect_driver *const *at = runtime->effects.drivers; at && *at; at++) {
		int64_t driver_us = (*at)->wait_us ? (*at)->wait_us((*at)->self) : -1;

		if (driver_us >= 0 && driver_us < wait_us)
			wait_us = driver_us;
	}
	return wait_us;
}

/* --- an effect without a claim --- */

struct effect *effect_begin(struct effect_driver *driver, const void *request,
	void (*done)(const void *result, void *context), void *context)
{
	struct effect *effect = memory_new(sizeof(*effect));

	*effect = (struct effect){
		.driver = driver, .request = (void *)request, .phase = EFFECT_QUEUED, .done = done, .context = context
	};
	driver->start(driver->self, effect, request);
	if (effect->phase == EFFECT_ENDED) { /* already */
		free(effect);
		return NULL;
	}
	effect_enter(effect, EFFECT_STARTS);
	return effect;
}

void effect_drop(struct effect *effect)
{
	effect->driver->stop(effect->driver->self, effect);
	free(effect);
}

/* --- one effect that a command waits for --- */

struct running {
	void (*done)(const void *result, void *context);
	void *context;
	bool ended;
};

static void note_end(const void *result, void *context)
{
	struct running *running = context;

	running->ended = true;
	running->done(result, running->context);
}

static void wait_for_driver(const struct effect_driver *driver, int64_t longest_us)
{
	struct pollfd event = { .fd = driver->fd ? driver->fd(driver->self) : -1, .events = POLLIN };
	int64_t wait_us = driver->wait_us ? driver->wait_us(driver->self) : -1;

	if (wait_us < 0 || wait_us > longest_us)
		wait_us = longest_us;
	poll(&event, 1, (int)((wait_us + US_PER_MS - 1) / US_PER_MS));
}

bool effect_run(struct effect_driver *driver, const void *request, int64_t patience_us,
	void (*done)(const void *result, void *context), void *context)
{
	const struct clock clock = clock_system();
	struct running running = { .done = done, .context = context };
	int64_t until_us = clock_boot_us(&clock) + patience_us, left_us;
	struct effect *effect = effect_begin(driver, request, note_end, &running);

	while (!running.ended && (left_us = until_us - clock_boot_us(&clock)) > 0) {
		wait_for_driver(driver, left_us);
		driver->work(driver->self);
	}
	if (!running.ended)
		effect_drop(effect);
	return running.ended;
}
