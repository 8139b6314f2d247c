/*
 * lived.h: a week at two storefronts in which everything happens that may come between a rule and a mail
 */
#ifndef TESTS_REHEARSAL_LIVED_H
#define TESTS_REHEARSAL_LIVED_H

#include "bus/actor/sim/sim.h"
#include "plan.h"

struct lived {
	struct sim *sim;
	struct plan *plan;
};

/* Rules edited, shops paused, observed and mailed to the owner, waits overridden, carts tied, bounces, processes away for hours, a mail server in foul weather. */
struct lived *lived_new(void);
void lived_free(struct lived *lived);

extern const char lived_north_rules[]; /* as plan.c has them; nobody edits them */

#endif
