/* prove.h: a stranger's visit to the broker's own sockets */
#ifndef WIRE_PROVE_H
#define WIRE_PROVE_H

#include "bus/wire/hub.h"

/* Connects with an unknown key to the socket `port_offset` ports above the first, with a socket of `type`, while `gate` answers. */
int prove_closed(void *zmq_context, struct gate *gate, const struct hub_settings *settings, int port_offset, int type,
	char ret_why[256]);

#endif
