/*
 * effect.h: work in the world that a decision asked for: a mail, a file, a request
 *
 * Effects run outside the turn, many at once, in the process's own loop: a driver never blocks. What must not happen twice is
 * fenced by a claim, taken as late as can be:
 *
 *   decide --turn_effect--> driver.start ... effect_claim --claim said, confirmed fresh, projections passed its head,
 *   kind.may_proceed(state) says yes--> driver.proceed(go = true) ... effect_done(result) --> kind.decide(result) -> facts
 *
 * A claim is good for a second of boot time from the moment at which it was said, not from that of its answer. All facts that were
 * confirmed before its answer was made are known here when the last byte goes, and no fact that was confirmed more than a second ago
 * is unknown.
 * An answer that took longer is asked for again, in the bytes of the first time, which the broker takes for the same saying. After
 * the driver was told to go it looks by itself (effect_may_go), and has what it does cut off at that moment (effect_until_us), for a
 * process may be stopped anywhere. Anything else and the driver gets proceed(go = false), must end without the effect having
 * happened, and says so in its result.
 * A claim is committed by itself, before and apart from the turn of the message.
 */
#ifndef ACTOR_EFFECT_H
#define ACTOR_EFFECT_H

#include "bus/actor/turn.h"

struct effect; /* one running effect, the runtime's */

#define EFFECT_CLAIM_GOOD_US (1 * US_PER_S)

enum claim_answer {
	CLAIM_NONE,   /* none was asked for, or the effect ended before it was */
	CLAIM_FRESH,  /* ours; whether the effect then happened is in the result */
	CLAIM_UNUSED, /* ours, but the driver was never told to go: nothing happened, release it (the result is NULL) */
	CLAIM_DUPLICATE, /* somebody else's */
	CLAIM_REFUSED
};

/* The service's side: pure functions. */
struct effect_kind {
	const char *name; /* which driver runs it */
	void (*request_free)(void *request);
	int64_t deadline_us; /* boot time from start to result; past it the driver is told to stop and the result is NULL */
	/* Says exactly one message with an idem key and returns true; NULL: this effect needs no claim. */
	void (*claim)(const struct state *state, const void *message, const void *request, struct turn *turn);
	/* The claim is fresh and every projection has passed its head. Is it still right? */
	bool (*may_proceed)(const struct state *state, const void *message, const void *request, int64_t now_us);
	/* The end. `result` is the driver's, NULL when the deadline passed or the driver died; `claimed` what came of the claim. */
	enum verdict (*decide)(const struct state *state, const void *message, const void *request, const void *result,
		enum claim_answer claimed, struct turn *turn);
};

/* The world's side. One driver per kind and process, made by the service's main.c; the simulator has its own. */
struct effect_driver {
	const char *name;
	void *self;
	bool noted; /* notes about its claims are kept (claim_notes.h), where the service keeps any: a sync for each */
	void (*start)(void *self, struct effect *effect, const void *request);
	void (*proceed)(void *self, struct effect *effect, bool go);
	void (*stop)(void *self,
		struct effect *effect); /* deadline or end of session: let go of it; no effect_done after this */
	int (*fd)(void *self);          /* readable when work() should be called; -1: none */
	int64_t (*wait_us)(void *self); /* call work() at the latest after this; -1: no hurry */
	void (*work)(void *self);
	void (*close)(void *self);
};

/*
 * One effect that no decision asked for: a command's. Waits for its result, or for so long; false: none came, and the driver was
 * told to stop. It must not ask for a claim: there is nobody to answer.
 */
bool effect_run(struct effect_driver *driver, const void *request, int64_t patience_us,
	void (*done)(const void *result, void *context), void *context);

/*
 * The same in a process whose loop works its drivers: `done` is called once, with the driver's result, and it is gone then; or never,
 * after effect_drop, which tells the driver to stop. NULL: it was called already. `request` is borrowed until then; its deadline is
 * the caller's.
 */
struct effect *effect_begin(struct effect_driver *driver, const void *request,
	void (*done)(const void *result, void *context), void *context);
void effect_drop(struct effect *effect);

/* Called by drivers. */
void effect_claim(struct effect *effect); /* everything but the last byte is done */
void effect_done(
	struct effect *effect, const void *result); /* result borrowed for the call; the effect is gone after it */
/*
 * Asked right before the last byte, and before every further attempt while nothing of it was taken. false: so much boot time has gone
 * since the claim was said that a stop may have been confirmed; end as if told not to go.
 */
bool effect_may_go(const struct effect *effect);
/* Until when effect_may_go says yes, in boot time of the process's clock; INT64_MAX: for ever, it needs no claim. */
int64_t effect_until_us(const struct effect *effect);
const void *effect_request(const struct effect *effect);

#endif
