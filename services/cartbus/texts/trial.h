/*
 * trial.h: what a rehearsal of a shop's log came to, for people and scripts
 */
#ifndef CARTBUS_TEXTS_TRIAL_H
#define CARTBUS_TEXTS_TRIAL_H

#include "services/cartbus/core/command.h"
#include "services/carts/rehearsal/rehearsal.h"

struct trial {
	const struct command *command;
	const char *shop, *zone;
	int64_t from_us, until_us;
	bool exactly; /* nothing was edited: what is not as it was to the microsecond, is a difference */
	bool all;     /* tell what stays the same, too */
};

/* Prints it; how many steps differ. */
size_t trial_tell(const struct trial *trial, const struct rehearsal *rehearsal);

#endif
