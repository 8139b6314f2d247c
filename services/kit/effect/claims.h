/*
 * claims.h: one kind of claims as a typed table, and the glue between the machine (claim.h) and a service
 *
 * A service writes one `struct claims`: its driver, the facts that forbid the last byte, and how it says the
 * claim and the outcomes. Then
 *
 *   static enum verdict hear_due(...) { ... return claims_meet(&mails, state, due, turn); }
 *   CLAIMS_FUNCTIONS(mail, mails)
 *   const struct effect_kind mail_effect = { .name = "mail", .deadline_us = ..., .request_free = ..., CLAIMS_DECIDED_BY(mail) };
 *
 * and folds the claim and the outcomes with claims_remember. The request of the effect holds a `struct
 * claim_try`, which names the action and the attempt that the driver works on.
 *
 * Ownership: strings and requests are borrowed for the call. Nothing here fails: each call ends in a verdict.
 * Read next: claim.h (states and events), services/carts/summarizer/summary_mails.c (the smallest table)
 */
#ifndef KIT_EFFECT_CLAIMS_H
#define KIT_EFFECT_CLAIMS_H

#include "bus/actor/effect.h"
#include "services/kit/effect/claim.h"

enum { CLAIM_KEY_MAX = 112 };

/* An attempt at an action; a part of the effect's request. */
struct claim_try {
	char shop[64], key[CLAIM_KEY_MAX];
	uint32_t attempt;
};

/* What a driver's result or a look means for the machine. */
struct claim_reply {
	enum claim_event event; /* CLAIM_END_... or CLAIM_LOOK_... */
	const char *words;      /* the reason, for the record */
	/* boot time until the next try, if the other side asks for a wait; 0: the table of waits decides */
	int64_t wait_us;
	const void *found; /* the result of a look, for `open` */
};

struct claim_outcome {
	enum claim_state state; /* DONE, RELEASED, REFUSED, AMBIGUOUS or UNCERTAIN */
	enum claim_event event; /* the event that led to it */
	uint32_t attempt;
	const char *words;
	const void *request, *result; /* of the effect; each may be NULL */
};

struct claims {
	const struct state_table *table; /* CLAIMS_TABLE(mails): shop, key -> struct claim_row */
	enum claim_reading reading;
	/*
	 * How long a claim may stay without an outcome (boot time); it depends on its owner, see
	 * CLAIMS_PATIENCE.
	 */
	int64_t ours_us, others_us, for_another_us;
	int64_t look_again_us; /* how often to look for an outcome meanwhile */
	/* for drivers that can look: wall time in which an attempt without an answer may still happen */
	int64_t uncertain_us;
	int64_t refused_claim_us; /* wall time: the wait after the broker refused a claim */
	/* wall time: the waits after the first, second, ... attempt; the last one repeats */
	const int64_t *backoff_us;
	size_t backoffs;

	/* Finds the row of this message; NULL: the row of `key` in `table`. */
	struct claim_row (*find)(const struct state *state, const void *message, const struct turn *turn);
	void (*key)(const void *message, char ret[CLAIM_KEY_MAX]);
	/*
	 * Begins attempt `attempt`: ends in turn_effect, or settles it. `found`: the result of a look, or
	 * NULL.
	 */
	enum verdict (*open)(
		const struct state *state, const void *message, uint32_t attempt, const void *found, struct turn *turn);
	/* for drivers that can look */
	enum verdict (*look)(const struct state *state, const void *message, struct turn *turn);
	const struct claim_try *(*attempt_of)(const void *request);
	void (*say_claim)(
		const void *message, const void *request, struct turn *turn); /* exactly one fact, with an idem key */
	void (*say_outcome)(
		const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn);
	/* Reads the driver's result, which is not NULL. */
	struct claim_reply (*read)(const void *message, const void *request, const void *result);
	/* Each of these may be NULL. Is there a fact that forbids the last byte? */
	bool (*stops)(const struct state *state, const void *message, const void *request, int64_t now_us);
	/* Is it known that the owner of this claim did not use it? */
	bool (*is_unused)(const struct state *state, const struct claim_row *row, const struct turn *turn);
	/* Decides on the message again; NULL: claims_meet does. */
	enum verdict (*meet)(const struct state *state, const void *message, struct turn *turn);
	/* Nothing was tried, because the other side could not be reached; NULL: it counts as any failure. */
	enum verdict (*away)(const struct state *state, const void *message, const void *result, struct turn *turn);
	/* After "released" and "uncertain" were said; NULL: the message waits, by wait_us or the table of waits. */
	enum verdict (*after_failure)(
		const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn);
	/* true: no more tries, so a failure counts as "refused" */
	bool (*is_over)(const void *message, int64_t now_us);
	int64_t (*boot_us)(const struct state *state,
		int64_t wall_us); /* converts a span of wall time to boot time; NULL: both run alike */
};

/*
 * How long to wait for the outcome of a claim. The claim of another run: its session is dead, because we were
 * given its message, and its outcome must come within seconds. The claim of our own run: the driver may still
 * work, up to its deadline (12 minutes at most). The claim for another message: the process that gets that
 * message settles it.
 */
#define CLAIMS_PATIENCE                                                                                                \
	.ours_us = 15 * US_PER_MINUTE, .others_us = 15 * US_PER_S, .for_another_us = US_PER_DAY,                       \
	.look_again_us = 2 * US_PER_S, .refused_claim_us = 10 * US_PER_S

/* Decides on the message that asks for the action. */
enum verdict claims_meet(
	const struct claims *claims, const struct state *state, const void *message, struct turn *turn);
/*
 * Decides after a look. `reply->event` is LOOK_FOUND, LOOK_ABSENT (this function finds out if that is too
 * soon) or LOOK_FAILED.
 */
enum verdict claims_looked(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_reply *reply, const void *result, struct turn *turn);
/* Says an outcome that was found without a driver, and ends the message or lets it wait. */
enum verdict claims_settle(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_outcome *outcome, struct turn *turn);
/* The wait after the nth failed attempt (from 1), in microseconds of wall time. */
int64_t claims_backoff_us(const struct claims *claims, uint32_t attempt);

/* The handle of a table that was declared as STATE_STRUCTS(mails, "mails", struct claim_row). */
#define CLAIMS_TABLE(table) _Generic((state_row_##table *)0, struct claim_row * : STATE_HANDLE(table))

struct claim_row claims_row(
	const struct state *state, const struct state_table *table, const char *shop, const char *key);
/* Applies a fact to its row; to be called in a fold. */
void claims_remember(struct state *state, const struct state_table *table, const char *shop, const char *key,
	const struct claim_fact *fact);

/* The three functions of struct effect_kind; see CLAIMS_FUNCTIONS. */
bool claims_may_proceed(const struct claims *claims, const struct state *state, const void *message,
	const void *request, int64_t now_us);
enum verdict claims_decide(const struct claims *claims, const struct state *state, const void *message,
	const void *request, const void *result, enum claim_answer claimed, struct turn *turn);

#define CLAIMS_FUNCTIONS(name, claims)                                                                                 \
	static void name##_say_claim(                                                                                  \
		const struct state *state, const void *message, const void *request, struct turn *turn)                \
	{                                                                                                              \
		(void)state;                                                                                           \
		(claims).say_claim(message, request, turn);                                                            \
	}                                                                                                              \
	static bool name##_may_proceed(                                                                                \
		const struct state *state, const void *message, const void *request, int64_t now_us)                   \
	{                                                                                                              \
		return claims_may_proceed(&(claims), state, message, request, now_us);                                 \
	}                                                                                                              \
	static enum verdict name##_decide(const struct state *state, const void *message, const void *request,         \
		const void *result, enum claim_answer claimed, struct turn *turn)                                      \
	{                                                                                                              \
		return claims_decide(&(claims), state, message, request, result, claimed, turn);                       \
	}
#define CLAIMS_DECIDED_BY(name) .claim = name##_say_claim, .may_proceed = name##_may_proceed, .decide = name##_decide

#endif
