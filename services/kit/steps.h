/*
 * steps.h: an effect driver whose work is a short step in the process itself: a file, a mail in a folder
 *
 * A driver may not answer within the runtime's call (start, proceed), so these only queue and work() does. What differs between
 * such drivers is one function.
 */
#ifndef KIT_STEPS_H
#define KIT_STEPS_H

#include "bus/actor/effect.h"
#include "bus/base/list.h"

/* STEP_SETTLE: taken, and waits for what is done once for all that were taken together (a sync). */
enum step { STEP_BEGIN, STEP_CLAIMING, STEP_GO, STEP_DROP, STEP_SETTLE };

struct step_job {
	struct list hook;
	struct effect *effect;
	const void *request;
	enum step step;
};

struct steps {
	struct effect_driver driver; /* first: what the runtime gets */
	struct list jobs;
	void (*take)(struct steps *steps,
		struct step_job *job);       /* one step; ends in steps_claim, steps_done or STEP_SETTLE */
	void (*settle)(struct steps *steps); /* ends all that wait in STEP_SETTLE; NULL: none ever does */
	void (*forget)(
		struct steps *steps, struct step_job *job); /* undo what is not finished; NULL: nothing to undo */
};

/* Fills `steps`, which begins a structure from memory_new; closing the driver frees that. */
void steps_init(struct steps *steps, const char *name);
struct step_job *steps_settling(const struct steps *steps); /* the first in STEP_SETTLE, or NULL */
void steps_claim(struct step_job *job);                     /* waits for the answer: then STEP_GO or STEP_DROP */
void steps_done(struct steps *steps, struct step_job *job, const void *result); /* the job is gone */

#endif
