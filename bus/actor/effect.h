/*
 * effect.h: work outside the bus that a decision asked for: a mail, a file, a request
 *
 * Effects run outside the turn. Many run at once in the process's own loop, so a driver must never block. An
 * effect that must not happen twice is fenced by a claim, which is taken as late as possible:
 *
 *   decide --turn_effect--> driver.start ... effect_claim --claim said, confirmed fresh, projections passed its head,
 *   kind.may_proceed(state) says yes--> driver.proceed(go = true) ... effect_done(result) --> kind.decide(result) -> facts
 *
 * A claim is valid for one second of boot time (EFFECT_CLAIM_GOOD_US). The second begins when the claim is
 * said, not when it is answered. So every fact that was confirmed before the broker made its answer is known
 * here when the last byte is sent, and no fact that was confirmed more than a second ago is unknown. If the
 * answer takes longer, the runtime asks again with the same bytes, which the broker treats as the same
 * message. A process may be stopped at any point; therefore a driver that was told to go checks the time by
 * itself (effect_may_go), and cuts its work off at that moment (effect_until_us). In every other case the
 * driver gets proceed(go = false). It must then end without the effect having happened, and it reports that
 * in its result. A claim is committed by itself, before and apart from the turn of the message.
 */
#ifndef ACTOR_EFFECT_H
#define ACTOR_EFFECT_H

#include "bus/actor/turn.h"

struct effect; /* one running effect; the runtime owns it */

#define EFFECT_CLAIM_GOOD_US (1 * US_PER_S)

enum claim_answer {
	CLAIM_NONE,  /* no claim was asked for, or the effect ended before the claim was said */
	CLAIM_FRESH, /* ours; the result tells whether the effect happened */
	/*
	 * ours, but the driver was never told to go: nothing happened, so release the claim (the result is
	 * NULL)
	 */
	CLAIM_UNUSED,
	CLAIM_DUPLICATE, /* the claim belongs to another effect */
	CLAIM_REFUSED
};

/* The service's side: pure functions. */
struct effect_kind {
	const char *name; /* the name of the driver that runs it */
	void (*request_free)(void *request);
	/* boot time from start to result; after it the driver is told to stop and the result is NULL */
	int64_t deadline_us;
	/* Says exactly one message with an idem key and returns true; NULL: this effect needs no claim. */
	void (*claim)(const struct state *state, const void *message, const void *request, struct turn *turn);
	/*
	 * The claim is fresh and every projection has passed its head. Is the effect still right? now_us is
	 * wall time.
	 */
	bool (*may_proceed)(const struct state *state, const void *message, const void *request, int64_t now_us);
	/*
	 * Decides on the result. `result` belongs to the driver; it is NULL if the deadline passed or the
	 * driver died. `claimed` tells how the claim ended.
	 */
	enum verdict (*decide)(const struct state *state, const void *message, const void *request, const void *result,
		enum claim_answer claimed, struct turn *turn);
};

/* The world's side. One driver per kind and process, made by the service's main.c; the simulator has its own. */
struct effect_driver {
	const char *name;
	void *self;
	/*
	 * the runtime keeps notes about its claims (claim_notes.h) if the service keeps any; each note costs
	 * a sync
	 */
	bool noted;
	void (*start)(void *self, struct effect *effect, const void *request);
	void (*proceed)(void *self, struct effect *effect, bool go);
	/*
	 * the deadline passed or the session ended: the driver forgets it and calls no effect_done after this
	 */
	void (*stop)(void *self, struct effect *effect);
	int (*fd)(void *self); /* work() must be called when this descriptor is readable; -1: none */
	/* work() must be called after this time at the latest; -1: no deadline */
	int64_t (*wait_us)(void *self);
	void (*work)(void *self);
	void (*close)(void *self);
};

/*
 * Runs one effect for a command, without a decision. Waits for its result for at most patience_us. false: no
 * result came, and the driver was told to stop. The effect must not ask for a claim, because nobody would
 * answer.
 */
bool effect_run(struct effect_driver *driver, const void *request, int64_t patience_us,
	void (*done)(const void *result, void *context), void *context);

/*
 * The same in a process whose loop works its drivers. `done` is called once with the driver's result, and the
 * effect is then freed. After effect_drop, which tells the driver to stop, `done` is never called. Returns
 * NULL if `done` was called already. `request` is borrowed until the effect ends; the caller keeps the
 * deadline.
 */
struct effect *effect_begin(struct effect_driver *driver, const void *request,
	void (*done)(const void *result, void *context), void *context);
void effect_drop(struct effect *effect);

/* Called by drivers. */
/* everything but the last byte is sent: the driver asks for the claim */
void effect_claim(struct effect *effect);
/* `result` is borrowed for the call; the effect is freed afterwards */
void effect_done(struct effect *effect, const void *result);
/*
 * A driver asks this right before the last byte, and before every further attempt while none of it was
 * accepted. false: so much boot time has passed since the claim was said that a stop may have been confirmed.
 * The driver must then end as if it was told not to go.
 */
bool effect_may_go(const struct effect *effect);
/*
 * The boot time, by the process's clock, until which effect_may_go returns true. INT64_MAX: without end,
 * because the effect needs no claim.
 */
int64_t effect_until_us(const struct effect *effect);
const void *effect_request(const struct effect *effect);

#endif
