/* listener.h: the broker's sockets and its registry of peers, from its configuration */
#ifndef BROKER_LISTENER_H
#define BROKER_LISTENER_H

#include "bus/broker/broker.h"
#include "bus/wire/hub.h"
#include "bus/wire/registry.h"

struct listener {
	const struct config *config;
	struct curve_pair key; /* the broker's key pair, if it listens over TCP */
	struct registry *registry;
	struct hub *hub;
	struct broker *broker; /* counts the refused peers; NULL: it is not open yet */
	bool proving;          /* our own probe connects now, which is not logged */
};

/* These functions die() on failure; the fault is then in cartbus.conf or <keys>. */
void listener_open(struct listener *listener, const struct config *config);
/* For --check, which opens nothing: die()s if this machine does not have the address of [broker] listen. */
void listener_check(const struct config *config);
/* Reads the registry anew. A malformed list is refused and logged, and the previous one stays. */
int listener_reload(struct listener *listener, struct broker *broker, char ret_why[256]);
/* Counts and logs connections that were turned away before the gate could be asked about them. */
void listener_tell_turned_away(struct listener *listener);
void listener_close(struct listener *listener);

#endif
