/*
 * damages.h: a small log with something of everything in it, by number, and what can be done to it
 */
#ifndef TESTS_UNIT_BROKER_DAMAGES_H
#define TESTS_UNIT_BROKER_DAMAGES_H

#include "desk.h"

/* Each message is a commit of its own. */
enum { DONE = 1, DEAD = 2, FAILED = 3, LEASED = 4, ROW = 5, FACT = 6, CLAIM = 7, DEAD_TOLD = 8, HEAD = 8 };

struct damage {
	void (*plant)(struct desk *desk);
	uint64_t seq; /* of the message that is named */
	const char *told;
};
extern const struct damage damages[];
extern const size_t damage_count;

#endif
