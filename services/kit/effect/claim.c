/*
 * claim.c: the table of states and events of a claim, and the fold of its facts
 *
 * Promises:  pure. An event that cannot occur in a state does nothing. "Done" is final and corrects every
 *            other state; only "done" corrects "refused" and "ambiguous". A fact about an older attempt never
 *            hides one about a newer attempt.
 * Read next: claims.c (runs the table inside a service)
 */
#include "services/kit/effect/claim.h"
#include "bus/base/text.h"

/* A table has one line for each state. */
/* clang-format off */
#define NIL    CLAIM_DO_NOTHING
#define FOLD   CLAIM_DO_FOLD
#define OPEN   CLAIM_DO_OPEN
#define WAIT   CLAIM_DO_WAIT
#define MEET   CLAIM_DO_MEET
#define END    CLAIM_DO_END
#define FAIL   CLAIM_DO_FAIL
#define GO     CLAIM_DO_GO
#define STOP   CLAIM_DO_WITHDRAW
#define DONE   CLAIM_DO_SAY_DONE
#define FREE   CLAIM_DO_SAY_RELEASED
#define NO     CLAIM_DO_SAY_REFUSED
#define MAYBE  CLAIM_DO_SAY_AMBIGUOUS /* of a driver that can look: "uncertain" */

static const unsigned char moves[CLAIM_STATES][CLAIM_EVENTS] = {
	/* facts:                  CLAIMED DONE RELEASED REFUSED AMBIGUOUS SKIPPED UNCERTAIN
	   the message is met:     MET UNUSED SILENT
	   a look:                 FOUND ABSENT TOO_SOON FAILED
	   the claim:              LAST_BYTE OTHERS BARRED
	   the driver's end:       DONE NOT_DONE REFUSED UNKNOWN NONE AWAY */
	[CLAIM_IS_ASKED]       = { FOLD, FOLD, FOLD, FOLD, FOLD, FOLD, FOLD,   OPEN,  OPEN,  OPEN,    DONE, OPEN, OPEN, FREE,    STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_CLAIMED]     = { FOLD, FOLD, FOLD, FOLD, FOLD, NIL,  FOLD,   WAIT,  FREE,  MAYBE,   DONE, OPEN, WAIT, MAYBE,   GO,   MEET, FAIL,   DONE, FREE, NO,  MAYBE, FREE,  FREE },
	[CLAIM_IS_DONE]        = { NIL,  NIL,  NIL,  NIL,  NIL,  NIL,  NIL,    END,   END,   END,     END,  END,  END,  END,     STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_RELEASED]    = { FOLD, FOLD, FOLD, FOLD, FOLD, FOLD, FOLD,   OPEN,  OPEN,  OPEN,    DONE, OPEN, OPEN, FREE,    STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_REFUSED]     = { NIL,  FOLD, NIL,  NIL,  NIL,  NIL,  NIL,    END,   END,   END,     END,  END,  END,  END,     STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_AMBIGUOUS]   = { NIL,  FOLD, NIL,  NIL,  NIL,  NIL,  NIL,    END,   END,   END,     END,  END,  END,  END,     STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_SKIPPED]     = { FOLD, FOLD, FOLD, FOLD, FOLD, NIL,  FOLD,   END,   END,   END,     END,  END,  END,  END,     STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_UNCERTAIN]   = { FOLD, FOLD, FOLD, FOLD, FOLD, NIL,  FOLD,   MAYBE, MAYBE, MAYBE,   DONE, OPEN, WAIT, MAYBE,   STOP, NIL,  NIL,    NIL,  NIL,  NIL, NIL,   NIL,   NIL },
	[CLAIM_IS_OPENED]      = { NIL,  NIL,  NIL,  NIL,  NIL,  NIL,  NIL,    NIL,   NIL,   NIL,     NIL,  NIL,  NIL,  NIL,     NIL,  MEET, FAIL,   DONE, FREE, NO,  MAYBE, FREE,  WAIT },
	[CLAIM_IS_HANDED_OVER] = { NIL,  NIL,  NIL,  NIL,  NIL,  NIL,  NIL,    NIL,   NIL,   NIL,     NIL,  NIL,  NIL,  NIL,     NIL,  NIL,  NIL,    DONE, FREE, NO,  MAYBE, MAYBE, FREE },
};
/* clang-format on */

static bool is_met(enum claim_event event)
{
	return event == CLAIM_MET || event == CLAIM_MET_UNUSED || event == CLAIM_MET_SILENT;
}

/*
 * For a driver that can look. A message that is met leads to a look instead of a wait for the owner or the
 * outcome "ambiguous"; with CLAIM_READS_FIRST also instead of opening. Any other outcome "ambiguous" becomes
 * "uncertain".
 */
static enum claim_move move_of_reader(
	enum claim_state state, enum claim_event event, enum claim_move move, enum claim_reading reading)
{
	if (is_met(event) && move == CLAIM_DO_OPEN)
		return reading == CLAIM_READS_FIRST ? CLAIM_DO_LOOK : CLAIM_DO_OPEN;
	if (is_met(event) && (move == CLAIM_DO_WAIT || state == CLAIM_IS_UNCERTAIN || move == CLAIM_DO_SAY_AMBIGUOUS))
		return CLAIM_DO_LOOK;
	return move == CLAIM_DO_SAY_AMBIGUOUS ? CLAIM_DO_SAY_UNCERTAIN : move;
}

static enum claim_state state_of_fact(enum claim_event event)
{
	static const enum claim_state states[] = { [CLAIM_FACT_CLAIMED] = CLAIM_IS_CLAIMED,
		[CLAIM_FACT_DONE] = CLAIM_IS_DONE,
		[CLAIM_FACT_RELEASED] = CLAIM_IS_RELEASED,
		[CLAIM_FACT_REFUSED] = CLAIM_IS_REFUSED,
		[CLAIM_FACT_AMBIGUOUS] = CLAIM_IS_AMBIGUOUS,
		[CLAIM_FACT_SKIPPED] = CLAIM_IS_SKIPPED,
		[CLAIM_FACT_UNCERTAIN] = CLAIM_IS_UNCERTAIN };

	return states[event];
}

static enum claim_state state_after(enum claim_state state, enum claim_event event, enum claim_move move)
{
	static const enum claim_state after[CLAIM_MOVES] = { [CLAIM_DO_OPEN] = CLAIM_IS_OPENED,
		[CLAIM_DO_GO] = CLAIM_IS_HANDED_OVER,
		[CLAIM_DO_SAY_DONE] = CLAIM_IS_DONE,
		[CLAIM_DO_SAY_RELEASED] = CLAIM_IS_RELEASED,
		[CLAIM_DO_SAY_REFUSED] = CLAIM_IS_REFUSED,
		[CLAIM_DO_SAY_AMBIGUOUS] = CLAIM_IS_AMBIGUOUS,
		[CLAIM_DO_SAY_UNCERTAIN] = CLAIM_IS_UNCERTAIN };

	if (move == CLAIM_DO_FOLD)
		return state_of_fact(event);
	return after[move] == CLAIM_IS_ASKED ? state : after[move];
}

struct claim_step claim_step(enum claim_state state, enum claim_event event, enum claim_reading reading)
{
	enum claim_move move = (enum claim_move)moves[state][event];

	if (reading != CLAIM_READS_NEVER)
		move = move_of_reader(state, event, move, reading);
	return (struct claim_step){ .move = move, .next = state_after(state, event, move) };
}

/* ---- the fold ---- */

bool claim_is_news(const struct claim_row *row, const struct claim_fact *fact)
{
	if (fact->event == CLAIM_FACT_DONE || fact->event == CLAIM_FACT_SKIPPED)
		return true;
	if (fact->event == CLAIM_FACT_CLAIMED)
		return fact->attempt > row->attempt || row->state == CLAIM_IS_ASKED;
	return fact->attempt >= row->attempt;
}

/* A row that another version wrote may hold any number. */
static enum claim_state state_of_row(const struct claim_row *row)
{
	return row->state < CLAIM_IS_OPENED ? (enum claim_state)row->state : CLAIM_IS_AMBIGUOUS;
}

bool claim_fold(struct claim_row *row, const struct claim_fact *fact)
{
	enum claim_state before = state_of_row(row);
	struct claim_step step = claim_step(before, fact->event, CLAIM_READS_NEVER);

	if (!claim_is_news(row, fact) || step.move != CLAIM_DO_FOLD)
		return false;
	/* When "done" corrects "ambiguous", the row keeps the later of the two times. */
	if (before != CLAIM_IS_AMBIGUOUS || fact->at_us > row->at_us)
		row->at_us = fact->at_us;
	row->state = step.next;
	row->attempt = fact->attempt > row->attempt ? fact->attempt : row->attempt;
	row->asked_seq = fact->asked_seq;
	if (fact->event == CLAIM_FACT_CLAIMED)
		TEXT_COPY(row->owner, fact->owner);
	return true;
}

bool claim_is_spent(enum claim_state state)
{
	return state != CLAIM_IS_ASKED && state != CLAIM_IS_RELEASED && state != CLAIM_IS_OPENED;
}

bool claim_may_have_happened(enum claim_state state)
{
	return state == CLAIM_IS_DONE || state == CLAIM_IS_AMBIGUOUS || state == CLAIM_IS_CLAIMED ||
		state == CLAIM_IS_UNCERTAIN || state == CLAIM_IS_HANDED_OVER;
}
