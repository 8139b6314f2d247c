/*
 * claim.h: the state machine for actions that must not happen twice: states, events, and the one table
 * between them
 *
 * An action is a mail, a row in a spreadsheet, or a call to another system. A message of the log asks for it,
 * and one process makes it happen. The process says a claim in the log before it sends the last byte, and an
 * outcome after it. For each state and event the table tells what to do. The table is pure: claims.h runs it
 * inside a service.
 *
 *   asked --open--> opened --claim--> claimed --last byte--> handed over --> done | refused | released | ambiguous | uncertain
 *
 *   - A claim has the number of its attempt. One attempt is claimed once, by the broker's word (effect.h).
 *   - Whoever knows that the last byte of an attempt did not go says "released": the owner of the claim, or anybody who reads
 *     the owner's note (claim_notes.h: the runtime crosses the note out right before the last byte). The next attempt has the next number.
 *   - The runtime says an outcome until the broker has confirmed it, across broken sessions.
 *   - Nobody else calls a claim ambiguous before its owner had time to say its outcome.
 *   - What may have happened is never tried again: it is ambiguous. If somebody can look whether it happened, it is uncertain
 *     instead, and is tried again after a look that did not find it.
 *
 * Built: reminders (services/carts/sender), summary mails (summarizer) and rows of a spreadsheet (exporter) run on it.
 * Not built: the couriers, which will deliver into other systems over HTTP. The machine has what they need: a key of subject, type
 * and target; "refused" (CLAIM_END_REFUSED) apart from "away" (CLAIM_END_AWAY); CLAIM_READS_BACK for an end that nobody knows; a wait
 * that the other side asks for. A courier brings its driver, its topics, and one circuit (circuit.h) for each target.
 *
 * Read next: claims.h (the typed table of one kind of claims), bus/actor/effect.h (who asks for the last byte)
 */
#ifndef KIT_EFFECT_CLAIM_H
#define KIT_EFFECT_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

/* The first eight are in stored rows, so their numbers must not change. */
enum claim_state {
	CLAIM_IS_ASKED,       /* it was not tried yet */
	CLAIM_IS_CLAIMED,     /* an attempt is claimed, and its outcome is not known */
	CLAIM_IS_DONE,        /* it happened; final */
	CLAIM_IS_RELEASED,    /* the last attempt did not happen */
	CLAIM_IS_REFUSED,     /* it did not happen and is not tried again */
	CLAIM_IS_AMBIGUOUS,   /* it may have happened and is not tried again */
	CLAIM_IS_SKIPPED,     /* a person or a rule decided against it */
	CLAIM_IS_UNCERTAIN,   /* it may have happened; a look must find out before it is tried again */
	CLAIM_IS_OPENED,      /* only in this process: its driver works, and nothing is claimed */
	CLAIM_IS_HANDED_OVER, /* only in this process: its driver was told to go */
	CLAIM_STATES
};

enum claim_event {
	/* a fact of the log, about this attempt or a later one */
	CLAIM_FACT_CLAIMED,
	CLAIM_FACT_DONE,
	CLAIM_FACT_RELEASED,
	CLAIM_FACT_REFUSED,
	CLAIM_FACT_AMBIGUOUS,
	CLAIM_FACT_SKIPPED,
	CLAIM_FACT_UNCERTAIN,
	/* the message that asks for it is decided on */
	CLAIM_MET,
	CLAIM_MET_UNUSED, /* a note of the claim's owner says that its last byte did not go */
	CLAIM_MET_SILENT, /* the claim's owner had time to say the outcome, and did not */
	/* a look whether it happened has ended */
	CLAIM_LOOK_FOUND,
	CLAIM_LOOK_ABSENT,   /* it did not happen, and can no longer happen */
	CLAIM_LOOK_TOO_SOON, /* it is absent, and an earlier attempt may still bring it about */
	CLAIM_LOOK_FAILED,
	/* everything but the last byte is sent */
	CLAIM_LAST_BYTE,
	/* the broker's answer to the claim */
	CLAIM_OTHERS, /* another process has claimed this attempt */
	CLAIM_BARRED, /* the broker refuses the claim */
	/* the driver has ended */
	CLAIM_END_DONE,
	CLAIM_END_NOT_DONE, /* it did not happen; it may be tried again */
	CLAIM_END_REFUSED,  /* the other side refuses it for good */
	CLAIM_END_UNKNOWN,  /* the last byte may have gone, and no answer came */
	CLAIM_END_NONE,     /* the driver said nothing before its deadline */
	CLAIM_END_AWAY,     /* the other side could not be reached at all: nothing was tried */
	CLAIM_EVENTS
};

enum claim_move {
	CLAIM_DO_NOTHING,
	CLAIM_DO_FOLD,     /* the row takes the fact's state */
	CLAIM_DO_OPEN,     /* begin the next attempt */
	CLAIM_DO_LOOK,     /* find out whether it happened */
	CLAIM_DO_WAIT,     /* decide on the message again, later */
	CLAIM_DO_MEET,     /* decide on the message again with the present facts */
	CLAIM_DO_END,      /* the message is done, and nothing is said */
	CLAIM_DO_FAIL,     /* the message has failed once more */
	CLAIM_DO_GO,       /* hand over the last byte */
	CLAIM_DO_WITHDRAW, /* do not hand over the last byte */
	CLAIM_DO_SAY_DONE, /* say this outcome in the log */
	CLAIM_DO_SAY_RELEASED,
	CLAIM_DO_SAY_REFUSED,
	CLAIM_DO_SAY_AMBIGUOUS,
	CLAIM_DO_SAY_UNCERTAIN,
	CLAIM_MOVES
};

/* Can the driver find out whether an attempt happened? */
enum claim_reading {
	CLAIM_READS_NEVER, /* it cannot (a mail): an attempt that may have happened is ambiguous */
	CLAIM_READS_BACK,  /* it looks before a second try */
	CLAIM_READS_FIRST  /* it looks before every try, so that a lost log repeats nothing */
};

struct claim_step {
	enum claim_move move;
	enum claim_state next;
};

/* Defined for every state and event. */
struct claim_step claim_step(enum claim_state state, enum claim_event event, enum claim_reading reading);

/* ---- what the log knows of one claim: a row of a service's state (bus/actor/state.h). It has no padding. ---- */

struct claim_row {
	uint32_t state;     /* enum claim_state, below CLAIM_IS_OPENED */
	uint32_t attempt;   /* the highest seen; 0: none */
	int64_t at_us;      /* wall time of the outcome, or of the claim */
	uint64_t asked_seq; /* of the message that was claimed for; 0: the claim does not say */
	char owner[40];     /* the run of the process that claimed it */
};

struct claim_fact {
	enum claim_event event; /* CLAIM_FACT_... */
	uint32_t attempt;
	int64_t at_us;
	uint64_t asked_seq;
	const char *owner; /* of CLAIMED; else ignored */
};

/*
 * Is this fact about the row's attempt or a later one, or is it final for every attempt? A claim counts only
 * for a later attempt.
 */
bool claim_is_news(const struct claim_row *row, const struct claim_fact *fact);
/* Applies the fact to the row. true: the row has changed. */
bool claim_fold(struct claim_row *row, const struct claim_fact *fact);
/* true: it must not be tried now, because it is claimed, uncertain, or settled. */
bool claim_is_spent(enum claim_state state);
bool claim_may_have_happened(enum claim_state state); /* done, ambiguous, uncertain, claimed, handed over */

#endif
