/*
 * lmtp_door.h: where a mail server on this machine delivers what comes back
 */
#ifndef PLATFORM_MAILIN_LMTP_DOOR_H
#define PLATFORM_MAILIN_LMTP_DOOR_H

#include "bus/actor/process.h"
#include "services/platform/mailin/delivery.h"

struct lmtp_door;

struct lmtp_door_settings {
	const char *where; /* path of a Unix socket, or host:port of this machine */
	const char *group; /* of a Unix socket: whose members may connect; "" all users, as in 0.1.0 */
	struct delivery_needs needs;
};

/* die()s with a remedy when it cannot listen there. All but the strings is borrowed. */
struct lmtp_door *lmtp_door_new(struct loop *loop, const struct lmtp_door_settings *settings);
void lmtp_door_free(struct lmtp_door *door); /* neither runtime nor reader may call back after this. Takes NULL */
uint64_t lmtp_door_turned_away(const struct lmtp_door *door); /* connections and mails since the start */
int64_t lmtp_door_look(struct lmtp_door *
		door); /* ends connections that are silent for too long; in how many us to be called again, -1: no need */

#endif
