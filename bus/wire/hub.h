/*
 * hub.h: the broker's side of the sockets
 *
 * Binds  <run>/ingress (PULL, the frames of all peers), <run>/control (ROUTER), <run>/tap and <run>/tap-clear (XPUB), and one PUSH per
 * mailbox, <run>/lane-<random>; with a key, the same over TCP at `host` from `port` on (broker_endpoint.h). Every connection passes the gate
 * (gate.h). Only hub_wait and hub_probe block. A received message is borrowed until the next receive.
 */
#ifndef WIRE_HUB_H
#define WIRE_HUB_H

#include "bus/base/bytes.h"
#include "bus/wire/gate.h"

struct hub;

struct hub_settings {
	char run[128]; /* a folder that exists */
	bool by_group; /* other users of the broker's group may connect to the sockets there; the gate then identifies them */
	char host[128]; /* empty: nothing over TCP */
	int port;
	const struct curve_pair *key; /* the broker's; borrowed for the hub's life */
	gate_admit_fn *
		admit; /* called for "control", "ingress", "tap" and "tap-clear"; mailboxes admit their peers themselves */
	/* Called when a mailbox refuses a peer, when a message arrives at the wrong socket, and when ZeroMQ ends a connection. */
	void (*refused)(void *context, const char *place, const char *who, const char *why);
	void *context; /* for both functions */
};

/* On failure ret_why names the socket that could not be bound, and why. */
int hub_open(const struct hub_settings *settings, struct hub **ret, char ret_why[256]);
void hub_close(struct hub *hub); /* takes NULL */

/* Tries an unknown key at every TCP socket of this hub. 0: all refuse it; else negative, and ret_why names the socket that does not. */
int hub_probe(struct hub *hub, char ret_why[256]);

/* Waits until there is something to hear, `most_us` have passed, or a signal came. 0 in each of these cases. */
int hub_wait(struct hub *hub, int64_t most_us);
/* Waits until there is a frame, `fd` is readable, or a signal came. Control messages stay queued meanwhile. */
int hub_wait_frames(struct hub *hub, int fd);
/* -EAGAIN: none. ret_who: the owner of the connection, as the gate named it. Oversized and multi-part messages yield an empty *ret. */
int hub_hear_frame(struct hub *hub, const char **ret_who, struct bytes *ret);
int hub_hear_control(struct hub *hub, struct bytes *ret_peer, const char **ret_who, struct bytes *ret_message);

/*
 * Cuts the TCP connections that `who` may have to the sockets that all peers share: every connection from the
 * addresses that `who` came from. Mailboxes end with their sessions. Returns the number of connections.
 */
size_t hub_cut(struct hub *hub, const char *who);

/* The functions of struct broker_out; `hub` is a struct hub. */
int hub_open_mailbox(void *hub, uint64_t epoch, const char *who, char ret_endpoint[160]);
void hub_close_mailbox(void *hub, uint64_t epoch);
int hub_push(void *hub, uint64_t epoch, struct bytes frame); /* -EAGAIN: that peer is gone */
void hub_control(void *hub, struct bytes peer, struct bytes message);
bool hub_is_tapped(void *hub); /* as of the last hub_wait; false: no tap is connected */
void hub_tap(
	void *hub, const char *topic, const char *shop, struct bytes tapped, struct bytes message, struct bytes masked);

/* For hub_probe: connects with an unknown key to the socket `port_offset` ports above the first, with a socket of `type`, while `gate` answers. */
int probe_closed(void *zmq_context, struct gate *gate, const struct hub_settings *settings, int port_offset, int type,
	char ret_why[256]);

#endif
