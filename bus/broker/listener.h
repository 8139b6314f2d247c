/* listener.h: the broker's sockets and who may come, from its configuration */
#ifndef BROKER_LISTENER_H
#define BROKER_LISTENER_H

#include "bus/broker/broker.h"
#include "bus/wire/hub.h"
#include "bus/wire/registry.h"

struct listener {
	const struct config *config;
	struct curve_pair key; /* the broker's, when it listens over TCP */
	struct registry *registry;
	struct hub *hub;
	struct broker *broker; /* who counts the refused; NULL: it is not open yet */
	bool proving;          /* the client that is refused is our own probe: not worth a line */
};

/* All of these die() when they cannot; what was wrong is in cartbus.conf or <keys>. */
void listener_open(struct listener *listener, const struct config *config);
/* Of --check, which opens nothing: has this machine the address of [broker] listen? */
void listener_check(const struct config *config);
/* Who may come is read anew. A list that does not add up is refused, said, and the one before stays. */
int listener_reload(struct listener *listener, struct broker *broker, char ret_why[256]);
/* Counts and tells of connections that were turned away before anybody could be asked about them. */
void listener_tell_turned_away(struct listener *listener);
void listener_close(struct listener *listener);

#endif
