/* lmtp_server.h: the LMTP server, to which a mail server on this machine delivers returned mails */
#ifndef PLATFORM_MAILIN_LMTP_SERVER_H
#define PLATFORM_MAILIN_LMTP_SERVER_H

#include "bus/actor/process.h"
#include "services/platform/mailin/delivery.h"

struct lmtp_server;

struct lmtp_server_settings {
	const char *where; /* path of a Unix socket, or host:port of this machine */
	/* for a Unix socket: members of this group may connect; "": all users, as in 0.1.0 */
	const char *group;
	struct delivery_needs needs;
};

/* die()s with a remedy if it cannot listen there. Everything but the strings is borrowed. */
struct lmtp_server *lmtp_server_new(struct loop *loop, const struct lmtp_server_settings *settings);
void lmtp_server_free(struct lmtp_server *server); /* neither runtime nor reader may call back after this. Takes NULL */
uint64_t lmtp_server_turned_away(const struct lmtp_server *server); /* connections and mails since the start */
/*
 * ends connections that are silent for too long; returns after how many microseconds to call again, -1: no
 * need
 */
int64_t lmtp_server_look(struct lmtp_server *server);

#endif
