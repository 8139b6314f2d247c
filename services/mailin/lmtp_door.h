/*
 * lmtp_door.h: where a mail server on this machine delivers what comes back
 */
#ifndef MAILIN_LMTP_DOOR_H
#define MAILIN_LMTP_DOOR_H

#include "bus/actor/process.h"

struct lmtp_door;

struct lmtp_door_settings {
	const char *where; /* path of a Unix socket, or host:port of this machine */
	const char *aside; /* folder for mails that say nothing to us */
	struct bytes key;  /* link.key */
	struct runtime *runtime;
	const struct clock *clock;
};

/* die()s with a remedy when it cannot listen there. All but the strings and the key is borrowed. */
struct lmtp_door *lmtp_door_new(struct loop *loop, const struct lmtp_door_settings *settings);
void lmtp_door_free(struct lmtp_door *door); /* the runtime must not call back after this. Takes NULL */
int64_t lmtp_door_look(
	struct lmtp_door *door); /* ends who has been silent for too long; when to be called again, boot us */

#endif
