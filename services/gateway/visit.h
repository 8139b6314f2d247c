/*
 * visit.h: one connection and how long it may take
 *
 * The HTTP library's own timeout counts idleness only, so one byte a second would live for ever.
 */
#ifndef GATEWAY_VISIT_H
#define GATEWAY_VISIT_H

#include "bus/base/clock.h"
#include "bus/base/list.h"

struct visits {
	struct list list; /* those with a deadline, the nearest first */
	const struct clock *clock;
	unsigned count; /* all of them */
};

struct visit;

void visits_init(struct visits *visits, const struct clock *clock);
/*
 * Shuts down what is too slow (the library sees the end and closes) and counts it, a few at a time so that nobody waits for it;
 * how long until the next one, -1: none.
 */
int64_t visits_cut(struct visits *visits, uint64_t *counter);

/* Shuts down the one whose deadline is nearest, if there are more than `most`: who is slowest makes room. */
void visits_make_room(struct visits *visits, unsigned most, uint64_t *counter);

/* Ends those that wait for nothing but a further request: no more will be taken. */
void visits_leave(struct visits *visits);

struct visit *visit_begin(struct visits *visits, int fd); /* a request is expected within 5 s */
void visit_end(struct visit *visit);                      /* takes NULL */
void visit_head_came(struct visit *visit);                /* of a request; the deadline stays */
void visit_hold(struct visit *visit);                     /* the request is complete and being decided: no deadline */
void visit_answering(struct visit *visit);                /* the answer has to be taken within 5 s */
/* The answer was taken. As long as nothing of another request comes it may stay; once it comes it has 5 to 10 s. */
void visit_answered(struct visit *visit);

#endif
