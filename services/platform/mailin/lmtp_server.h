/*
 * lmtp_server.h: where a mail server on this machine delivers what comes back
 */
#ifndef PLATFORM_MAILIN_LMTP_SERVER_H
#define PLATFORM_MAILIN_LMTP_SERVER_H

#include "bus/actor/process.h"
#include "services/platform/mailin/delivery.h"

struct lmtp_server;

struct lmtp_server_settings {
	const char *where; /* path of a Unix socket, or host:port of this machine */
	const char *group; /* of a Unix socket: whose members may connect; "" all users, as in 0.1.0 */
	struct delivery_needs needs;
};

/* die()s with a remedy when it cannot listen there. All but the strings is borrowed. */
struct lmtp_server *lmtp_server_new(struct loop *loop, const struct lmtp_server_settings *settings);
void lmtp_server_free(struct lmtp_server *server); /* neither runtime nor reader may call back after this. Takes NULL */
uint64_t lmtp_server_turned_away(const struct lmtp_server *server); /* connections and mails since the start */
int64_t lmtp_server_look(struct lmtp_server *
		server); /* ends connections that are silent for too long; in how many us to be called again, -1: no need */

#endif
