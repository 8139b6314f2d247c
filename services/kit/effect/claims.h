/*
 * claims.h: one kind of claims as a typed table, and the glue between the machine (claim.h) and a service
 *
 * A service writes one `struct claims`: who drives, which facts forbid the last byte, how the claim and the outcomes are said. Then
 *
 *   static enum verdict hear_due(...) { ... return claims_meet(&mails, state, due, turn); }
 *   CLAIMS_FUNCTIONS(mail, mails)
 *   const struct effect_kind mail_effect = { .name = "mail", .deadline_us = ..., .request_free = ..., CLAIMS_DECIDED_BY(mail) };
 *
 * and folds the claim and the outcomes with claims_remember. The request of the effect holds a `struct claim_try`: it says which
 * attempt of what the driver works at.
 *
 * Ownership: strings and requests are borrowed for the call. Nothing here fails: each call ends in a verdict.
 * Read next: claim.h (states and events), services/carts/summarizer/summary_mails.c (the smallest table)
 */
#ifndef KIT_EFFECT_CLAIMS_H
#define KIT_EFFECT_CLAIMS_H

#include "bus/actor/effect.h"
#include "services/kit/effect/claim.h"

enum { CLAIM_KEY_MAX = 112 };

/* Which attempt of what: part of the request of an effect. */
struct claim_try {
	char shop[64], key[CLAIM_KEY_MAX];
	uint32_t attempt;
};

/* What a driver's result or a look means for the machine. */
struct claim_reply {
	enum claim_event event; /* CLAIM_END_... or CLAIM_LOOK_... */
	const char *words;      /* for the record */
	int64_t wait_us; /* boot time until the next try, where the other side asks for it; 0: by the table of waits */
	const void *found; /* of a look: handed on to `open` */
};

struct claim_outcome {
	enum claim_state state; /* DONE, RELEASED, REFUSED, AMBIGUOUS or UNCERTAIN */
	enum claim_event event; /* what led to it */
	uint32_t attempt;
	const char *words;
	const void *request, *result; /* of the effect; each may be NULL */
};

struct claims {
	const struct state_table *table; /* CLAIMS_TABLE(mails): shop, key -> struct claim_row */
	enum claim_reading reading;
	/* How long a claim may stay without an outcome (boot time), by who claimed it; see CLAIMS_PATIENCE. */
	int64_t ours_us, others_us, for_another_us;
	int64_t look_again_us; /* how often to look for an outcome meanwhile */
	int64_t uncertain_us;  /* of a reader: wall time in which an attempt without an answer may still come about */
	int64_t refused_claim_us; /* wall time: the wait after the broker refused a claim */
	const int64_t
		*backoff_us; /* wall time: the waits after the first, second, ... attempt; the last one holds on */
	size_t backoffs;

	/* The row that counts for this message; NULL: that of `key` in `table`. */
	struct claim_row (*find)(const struct state *state, const void *message, const struct turn *turn);
	void (*key)(const void *message, char ret[CLAIM_KEY_MAX]);
	/* Begins attempt `attempt`: ends in turn_effect, or settles it. `found`: of a look, else NULL. */
	enum verdict (*open)(
		const struct state *state, const void *message, uint32_t attempt, const void *found, struct turn *turn);
	enum verdict (*look)(const struct state *state, const void *message, struct turn *turn); /* of a reader */
	const struct claim_try *(*attempt_of)(const void *request);
	void (*say_claim)(
		const void *message, const void *request, struct turn *turn); /* exactly one fact, with an idem key */
	void (*say_outcome)(
		const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn);
	/* Reads what the driver answered; `result` is not NULL. */
	struct claim_reply (*read)(const void *message, const void *request, const void *result);
	/* Each of these may be NULL. Is there a fact that forbids the last byte? */
	bool (*stops)(const struct state *state, const void *message, const void *request, int64_t now_us);
	/* Is it known that the owner of this claim did not use it? */
	bool (*is_unused)(const struct state *state, const struct claim_row *row, const struct turn *turn);
	/* The message is decided on anew; NULL: by claims_meet. */
	enum verdict (*meet)(const struct state *state, const void *message, struct turn *turn);
	/* Nothing was tried, for the other side could not be reached; NULL: as any failure. */
	enum verdict (*away)(const struct state *state, const void *message, const void *result, struct turn *turn);
	/* After "released" and "uncertain" were said; NULL: the message waits, by wait_us or the table of waits. */
	enum verdict (*after_failure)(
		const struct state *state, const void *message, const struct claim_outcome *outcome, struct turn *turn);
	bool (*is_over)(const void *message, int64_t now_us); /* no more tries: a failure is "refused" */
	int64_t (*boot_us)(const struct state *state,
		int64_t wall_us); /* a span of the wall clock in boot time; NULL: they run alike */
};

/*
 * The patience with a claim. Of another run: its session is dead, for we were given its message, and what it still has to say comes
 * within seconds. Of our own run: the driver may still be at it, up to its deadline (12 minutes at most). For another message: the
 * process that is given that one settles it.
 */
#define CLAIMS_PATIENCE                                                                                                \
	.ours_us = 15 * US_PER_MINUTE, .others_us = 15 * US_PER_S, .for_another_us = US_PER_DAY,                       \
	.look_again_us = 2 * US_PER_S, .refused_claim_us = 10 * US_PER_S

/* The message that asks for it is decided on. */
enum verdict claims_meet(
	const struct claims *claims, const struct state *state, const void *message, struct turn *turn);
/* A look has ended. `reply->event` is CLAIM_LOOK_FOUND, CLAIM_LOOK_ABSENT (whether that is too soon is found here) or
 * CLAIM_LOOK_FAILED. */
enum verdict claims_looked(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_reply *reply, const void *result, struct turn *turn);
/* Says an outcome that was found without a driver, and ends the message or lets it wait. */
enum verdict claims_settle(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_outcome *outcome, struct turn *turn);
/* The wait after the nth attempt (from 1) that did not end well, in wall time. */
int64_t claims_backoff_us(const struct claims *claims, uint32_t attempt);

/* The handle of a table that was declared as STATE_STRUCTS(mails, "mails", struct claim_row). */
#define CLAIMS_TABLE(table) _Generic((state_row_##table *)0, struct claim_row * : STATE_HANDLE(table))

struct claim_row claims_row(
	const struct state *state, const struct state_table *table, const char *shop, const char *key);
/* Part of a fold. */
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
