/*
 * steps.h: an effect driver whose work is a short step in the process itself: a file, a mail in a folder
 *
 * A driver must not answer within the runtime's calls start and proceed. So these only queue the job, and
 * work() does it. Such drivers differ in one function only.
 */
#ifndef KIT_EFFECT_STEPS_H
#define KIT_EFFECT_STEPS_H

#include "bus/actor/effect.h"
#include "bus/base/list.h"

/*
 * work() takes jobs in BEGIN, GO and DROP. In the other steps a job waits; the driver's `tend` looks after
 * PREPARED, SETTLE and SETTLING.
 */
enum step { STEP_BEGIN, STEP_PREPARED, STEP_CLAIMING, STEP_GO, STEP_DROP, STEP_SETTLE, STEP_SETTLING };
enum { STEPS = STEP_SETTLING + 1 };

struct step_job {
	struct list hook;
	struct effect *effect;
	const void *request;
	uint64_t number; /* no other job of this driver has it */
	enum step step;  /* changed only by steps_enter */
};

struct steps {
	struct effect_driver driver; /* must be first: the runtime gets it */
	struct list jobs[STEPS];     /* struct step_job, by the step that each is in */
	uint64_t jobs_begun;
	int fd; /* readable when `tend` has work; -1: never */
	void (*take)(struct steps *steps,
		struct step_job *job); /* one step; ends in steps_claim, steps_done or another step */
	/* continues the waiting jobs that can go on; NULL: no job waits for the driver */
	void (*tend)(struct steps *steps);
	/* undoes the unfinished work of a job; NULL: nothing to undo */
	void (*forget)(struct steps *steps, struct step_job *job);
	/* called at the end, before the jobs are forgotten; NULL: nothing to do */
	void (*close)(struct steps *steps);
};

/* Fills `steps`, which begins a structure from memory_new; closing the driver frees that. */
void steps_init(struct steps *steps, const char *name);
void steps_enter(struct steps *steps, struct step_job *job, enum step step);
/* the first job in this step, or NULL */
struct step_job *steps_in(const struct steps *steps, enum step step);
struct step_job *steps_numbered(const struct steps *steps, uint64_t number); /* NULL: it has ended */
void steps_claim(struct steps *steps, struct step_job *job); /* waits for the answer: then STEP_GO or STEP_DROP */
void steps_done(struct steps *steps, struct step_job *job, const void *result); /* the job is freed */

#endif
