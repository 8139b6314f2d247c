/*
 * reconfigure.h: cartbus.conf changed while the broker runs
 */
#ifndef BROKER_RECONFIGURE_H
#define BROKER_RECONFIGURE_H

#include "bus/base/config.h"
#include "bus/base/reload.h"

struct reconfigure {
	const char *path; /* borrowed, as all here */
	const struct config_key *keys;
	const struct config *running;
	struct reload judging;
	char state[RELOAD_WHY + 100]; /* what STATUS adds; "": what runs is what lies there */
};

void reconfigure_begin(struct reconfigure *of, int64_t now_us); /* SIGHUP */
/* After SIGCHLD, and now and then: true when the state is another. */
bool reconfigure_look(struct reconfigure *of, int64_t now_us);

#endif
