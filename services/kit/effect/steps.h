/*
 * steps.h: an effect driver whose work is a short step in the process itself: a file, a mail in a folder
 *
 * A driver may not answer within the runtime's call (start, proceed), so these only queue and work() does. What differs between
 * such drivers is one function.
 */
#ifndef KIT_EFFECT_STEPS_H
#define KIT_EFFECT_STEPS_H

#include "bus/actor/effect.h"
#include "bus/base/list.h"

/* BEGIN, GO and DROP are taken; in the others a job waits: PREPARED and SETTLE, SETTLING for what the driver tends beside them. */
enum step { STEP_BEGIN, STEP_PREPARED, STEP_CLAIMING, STEP_GO, STEP_DROP, STEP_SETTLE, STEP_SETTLING };
enum { STEPS = STEP_SETTLING + 1 };

struct step_job {
	struct list hook;
	struct effect *effect;
	const void *request;
	uint64_t number; /* no other job of this driver has it */
	enum step step;  /* changed by steps_enter alone */
};

struct steps {
	struct effect_driver driver; /* first: what the runtime gets */
	struct list jobs[STEPS];     /* struct step_job, by the step that each is in */
	uint64_t jobs_begun;
	int fd; /* readable when there is something to tend; -1: there never is */
	void (*take)(struct steps *steps,
		struct step_job *job);     /* one step; ends in steps_claim, steps_done or another step */
	void (*tend)(struct steps *steps); /* what waits goes on if it can; NULL: nothing waits for the driver */
	void (*forget)(
		struct steps *steps, struct step_job *job); /* undo what is not finished; NULL: nothing to undo */
	void (*close)(struct steps *steps); /* before the jobs are forgotten at the end; NULL: nothing to do */
};

/* Fills `steps`, which begins a structure from memory_new; closing the driver frees that. */
void steps_init(struct steps *steps, const char *name);
void steps_enter(struct steps *steps, struct step_job *job, enum step step);
struct step_job *steps_in(const struct steps *steps, enum step step);        /* the first, or NULL */
struct step_job *steps_numbered(const struct steps *steps, uint64_t number); /* NULL: it has ended */
void steps_claim(struct steps *steps, struct step_job *job); /* waits for the answer: then STEP_GO or STEP_DROP */
void steps_done(struct steps *steps, struct step_job *job, const void *result); /* the job is gone */

#endif
