/*
 * health.h: the health of an installation: the broker's answer, the standing alarms, the stopped shops; and
 * whether that is red
 */
#ifndef CARTBUS_WATCH_HEALTH_H
#define CARTBUS_WATCH_HEALTH_H

#include "bus/actor/client.h"
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/mode.h"
#include "services/cartbus/watch/alarms.h"
#include <jansson.h>

struct health {
	json_t *status;  /* the broker's answer; NULL: there is none */
	json_t *red;     /* array of texts: why it is not healthy; empty: it is */
	json_t *stopped; /* array of texts: what is stopped on purpose */
	struct alarms alarms;
	struct modes modes;
	/* what the two were read from */
	char log[64];
	uint64_t read_to;
};

struct health *health_new(void);
void health_free(struct health *health); /* takes NULL */
/*
 * Asks the broker and judges the answer. Returns an exit code; complains on failure. Without an answer
 * nothing changes.
 */
int health_look(const struct command *command, struct client *client, struct health *health);

/*
 * An array of words, the caller's, empty when all is well; an exit, and NULL, when the broker has no answer. What it doubts of the clock
 * is told apart.
 */
int status_red(const struct command *command, struct client *client, json_t **ret_red, char ret_clock[256]);

#endif
