/* erase.h: one shopper's erasure, while it is under way */
#ifndef CARTBUS_ERASE_H
#define CARTBUS_ERASE_H

#include "services/cartbus/person.h"

struct erasure {
	const struct command *command;
	struct client *client;
	const char *shop, *reason;
	bool dry_run;
	struct person *person;
	json_t *messages, *with_keys; /* numbers; of the latter the idempotency key goes as well */
	json_t *files;
	bool files_left; /* one that could not be looked at, or not be removed: it complained */
	size_t erased;
};

/* erase_ask.c: each complains, and returns an exit */
int erase_wait_idle(struct erasure *erasure);    /* no erasure runs, and no gateway holds anything back */
int erase_wait_settled(struct erasure *erasure); /* what was said by now has been decided on */
int erase_ask(struct erasure *erasure); /* the broker erases what was found, to the end; everybody has folded anew */

#endif
