/*
 * claims.c: connects the state machine of a claim to a service
 *
 * Promises:  the state machine (claim.c) decides; this file determines the event, and carries out the
 *            machine's move.
 * Read next: claim.h
 */
#include "services/kit/effect/claims.h"
#include "bus/base/clock.h"
#include <assert.h>
#include <string.h>

struct claim_row claims_row(
	const struct state *state, const struct state_table *table, const char *shop, const char *key)
{
	struct claim_row row;

	assert(table->size == sizeof(row)); /* CLAIMS_TABLE makes the handle */
	state_get_row(state, table, shop, key, &row);
	if (row.state >= CLAIM_IS_OPENED)
		row.state = CLAIM_IS_AMBIGUOUS; /* the number is no state of a row */
	return row;
}

void claims_remember(struct state *state, const struct state_table *table, const char *shop, const char *key,
	const struct claim_fact *fact)
{
	struct claim_row row = claims_row(state, table, shop, key);

	if (claim_fold(&row, fact))
		state_put_row(state, table, shop, key, &row);
}

static struct claim_row row_for(
	const struct claims *claims, const struct state *state, const void *message, const struct turn *turn)
{
	char key[CLAIM_KEY_MAX];

	if (claims->find)
		return claims->find(state, message, turn);
	claims->key(message, key);
	return claims_row(state, claims->table, turn_message(turn)->shop, key);
}

static int64_t boot_of(const struct claims *claims, const struct state *state, int64_t wall_us)
{
	return claims->boot_us ? claims->boot_us(state, wall_us) : wall_us;
}

int64_t claims_backoff_us(const struct claims *claims, uint32_t attempt)
{
	size_t nth = attempt > 0 ? attempt - 1 : 0;

	return claims->backoff_us[nth < claims->backoffs ? nth : claims->backoffs - 1];
}

/* ---- after an outcome ---- */

static enum verdict after_outcome(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_outcome *outcome, int64_t wait_us, struct turn *turn)
{
	if (outcome->state != CLAIM_IS_RELEASED && outcome->state != CLAIM_IS_UNCERTAIN)
		return TURN_DONE;
	if (claims->after_failure)
		return claims->after_failure(state, message, outcome, turn);
	if (wait_us <= 0)
		wait_us = boot_of(claims, state, claims_backoff_us(claims, outcome->attempt));
	return turn_wait(turn, wait_us, outcome->words);
}

static enum verdict settle_after(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_outcome *outcome, int64_t wait_us, struct turn *turn)
{
	struct claim_outcome said = *outcome;

	if ((said.state == CLAIM_IS_RELEASED || said.state == CLAIM_IS_UNCERTAIN) && claims->is_over &&
		claims->is_over(message, turn_now_us(turn)))
		said.state = CLAIM_IS_REFUSED;
	claims->say_outcome(state, message, &said, turn);
	return after_outcome(claims, state, message, &said, wait_us, turn);
}

enum verdict claims_settle(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_outcome *outcome, struct turn *turn)
{
	return settle_after(claims, state, message, outcome, 0, turn);
}

/* ---- deciding on the message ---- */

/*
 * The time since the claim, or since the start of this process if that was later: both processes may have
 * been restarted.
 */
static int64_t waited_us(
	const struct claims *claims, const struct state *state, const struct claim_row *row, const struct turn *turn)
{
	int64_t since_us = row->at_us > turn_began_us(turn) ? row->at_us : turn_began_us(turn);

	return boot_of(claims, state, turn_now_us(turn) - since_us);
}

static int64_t patience_us(const struct claims *claims, const struct claim_row *row, const struct turn *turn)
{
	if (row->asked_seq && row->asked_seq != turn_message(turn)->seq)
		return claims->for_another_us;
	return strcmp(row->owner, turn_run(turn)) == 0 ? claims->ours_us : claims->others_us;
}

static enum claim_event event_of_meeting(const struct claims *claims, const struct state *state,
	const struct claim_row *row, const struct turn *turn, int64_t *ret_left_us)
{
	*ret_left_us = patience_us(claims, row, turn) - waited_us(claims, state, row, turn);
	if (row->state != CLAIM_IS_CLAIMED)
		return CLAIM_MET;
	if (claims->is_unused && claims->is_unused(state, row, turn))
		return CLAIM_MET_UNUSED;
	return *ret_left_us > 0 ? CLAIM_MET : CLAIM_MET_SILENT;
}

static enum verdict wait_for_owner(const struct claims *claims, int64_t left_us, struct turn *turn)
{
	return turn_wait(turn, left_us < claims->look_again_us ? left_us : claims->look_again_us,
		"claimed, and its outcome is not known yet");
}

static const char *words_of_meeting(enum claim_event event)
{
	return event == CLAIM_MET_UNUSED ? "the process that claimed it ended before the last byte"
					 : "the process that claimed it never said what became of it";
}

enum verdict claims_meet(const struct claims *claims, const struct state *state, const void *message, struct turn *turn)
{
	struct claim_row row = row_for(claims, state, message, turn);
	int64_t left_us;
	enum claim_event event = event_of_meeting(claims, state, &row, turn, &left_us);
	struct claim_step step = claim_step((enum claim_state)row.state, event, claims->reading);

	switch (step.move) {
	case CLAIM_DO_OPEN:
		return claims->open(state, message, row.attempt + 1, NULL, turn);
	case CLAIM_DO_LOOK:
		return claims->look(state, message, turn);
	case CLAIM_DO_WAIT:
		return wait_for_owner(claims, left_us, turn);
	case CLAIM_DO_SAY_RELEASED:
	case CLAIM_DO_SAY_AMBIGUOUS:
		return claims_settle(claims, state, message,
			&(struct claim_outcome){ .state = step.next,
				.event = event,
				.attempt = row.attempt,
				.words = words_of_meeting(event) },
			turn);
	default:
		return TURN_DONE;
	}
}

/* ---- after a look ---- */

static int64_t still_uncertain_us(const struct claims *claims, const struct claim_row *row, const struct turn *turn)
{
	bool may_come = row->state == CLAIM_IS_CLAIMED || row->state == CLAIM_IS_UNCERTAIN;

	return may_come ? row->at_us + claims->uncertain_us - turn_now_us(turn) : 0;
}

enum verdict claims_looked(const struct claims *claims, const struct state *state, const void *message,
	const struct claim_reply *reply, const void *result, struct turn *turn)
{
	struct claim_row row = row_for(claims, state, message, turn);
	int64_t left_us = still_uncertain_us(claims, &row, turn);
	enum claim_event event = reply->event == CLAIM_LOOK_ABSENT && left_us > 0 ? CLAIM_LOOK_TOO_SOON : reply->event;
	struct claim_step step = claim_step((enum claim_state)row.state, event, claims->reading);
	struct claim_outcome outcome = { .state = step.next, .event = event, .words = reply->words, .result = result };

	switch (step.move) {
	case CLAIM_DO_OPEN:
		return claims->open(state, message, row.attempt + 1, reply->found, turn);
	case CLAIM_DO_WAIT:
		return turn_wait(turn, boot_of(claims, state, left_us), "it may have happened, and is not there yet");
	case CLAIM_DO_SAY_DONE:
		outcome.attempt = row.attempt;
		return claims_settle(claims, state, message, &outcome, turn);
	case CLAIM_DO_SAY_RELEASED:
	case CLAIM_DO_SAY_UNCERTAIN:
	case CLAIM_DO_SAY_AMBIGUOUS:
		outcome.attempt = row.attempt + 1; /* a look that failed counts as a try */
		return settle_after(claims, state, message, &outcome, reply->wait_us, turn);
	default:
		return TURN_DONE;
	}
}

/* ---- the driver ---- */

bool claims_may_proceed(const struct claims *claims, const struct state *state, const void *message,
	const void *request, int64_t now_us)
{
	const struct claim_try *ours = claims->attempt_of(request);
	struct claim_row row = claims_row(state, claims->table, ours->shop, ours->key);
	struct claim_step step = claim_step((enum claim_state)row.state, CLAIM_LAST_BYTE, claims->reading);

	if (step.move != CLAIM_DO_GO || row.attempt != ours->attempt)
		return false;
	return !claims->stops || !claims->stops(state, message, request, now_us);
}

/* The state that the attempt had reached, by the answer to its claim. */
static enum claim_state state_at_end(enum claim_answer claimed)
{
	switch (claimed) {
	case CLAIM_FRESH:
		return CLAIM_IS_HANDED_OVER;
	case CLAIM_UNUSED:
		return CLAIM_IS_CLAIMED;
	case CLAIM_NONE:
	case CLAIM_DUPLICATE:
	case CLAIM_REFUSED:
		break;
	}
	return CLAIM_IS_OPENED;
}

static struct claim_reply reply_of(const struct claims *claims, const void *message, const void *request,
	const void *result, enum claim_answer claimed)
{
	if (claimed == CLAIM_DUPLICATE)
		return (struct claim_reply){ .event = CLAIM_OTHERS };
	if (claimed == CLAIM_REFUSED)
		return (struct claim_reply){ .event = CLAIM_BARRED };
	if (!result)
		return (struct claim_reply){ .event = CLAIM_END_NONE, .words = "no result within the deadline" };
	return claims->read(message, request, result);
}

static enum verdict meet_again(
	const struct claims *claims, const struct state *state, const void *message, struct turn *turn)
{
	return claims->meet ? claims->meet(state, message, turn) : claims_meet(claims, state, message, turn);
}

enum verdict claims_decide(const struct claims *claims, const struct state *state, const void *message,
	const void *request, const void *result, enum claim_answer claimed, struct turn *turn)
{
	struct claim_reply reply = reply_of(claims, message, request, result, claimed);
	struct claim_step step;

	if (reply.event == CLAIM_END_AWAY && !claims->away)
		reply.event = CLAIM_END_NOT_DONE;
	step = claim_step(state_at_end(claimed), reply.event, claims->reading);
	switch (step.move) {
	case CLAIM_DO_MEET:
		return meet_again(claims, state, message, turn); /* the log has or gets its outcome */
	case CLAIM_DO_FAIL:
		return turn_failed(turn, boot_of(claims, state, claims->refused_claim_us), "the claim was refused");
	case CLAIM_DO_WAIT:
		return claims->away(state, message, result, turn);
	default:
		assert(step.next != state_at_end(claimed)); /* claims->read gave an event that is no end */
		return settle_after(claims, state, message,
			&(struct claim_outcome){ .state = step.next,
				.event = reply.event,
				.attempt = claims->attempt_of(request)->attempt,
				.words = reply.words,
				.request = request,
				.result = result },
			reply.wait_us, turn);
	}
}
