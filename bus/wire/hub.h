/*
 * hub.h: the broker's side of the sockets
 *
 * Binds  <run>/ingress (PULL, everybody's frames), <run>/control (ROUTER), <run>/tap and <run>/tap-clear (XPUB), and one PUSH per
 * lane, <run>/lane-<random>; with a key, the same over TCP at `host` from `port` on (reach.h). Every connection passes the gate
 * (gate.h). Nothing here blocks but hub_wait and hub_prove. What was received is borrowed until the next receive.
 */
#ifndef BUS_WIRE_HUB_H
#define BUS_WIRE_HUB_H

#include "bus/base/bytes.h"
#include "bus/wire/gate.h"

struct hub;

struct hub_settings {
	char run[128]; /* a folder that exists */
	bool by_group; /* other users of the broker's group connect to the sockets there; who they are is the gate's question */
	char host[128]; /* empty: nothing over TCP */
	int port;
	const struct curve_pair *key; /* the broker's; borrowed for the hub's life */
	gate_admit_fn *admit; /* asked for "control", "ingress", "tap" and "tap-clear"; lanes see to themselves */
	/* Told of who was turned away at a lane, of what has no business where it came, and of connections that ZeroMQ ended. */
	void (*refused)(void *context, const char *place, const char *who, const char *why);
	void *context; /* of both */
};

/* ret_why says what could not be bound, and why. */
int hub_open(const struct hub_settings *settings, struct hub **ret, char ret_why[256]);
void hub_close(struct hub *hub); /* takes NULL */

/* Tries an unknown key at every TCP socket of this hub. 0: none lets it in; else negative, and ret_why says which does not refuse. */
int hub_prove(struct hub *hub, char ret_why[256]);

/* Until there is something to hear, or `most_us` have passed, or a signal came (all three: 0). */
int hub_wait(struct hub *hub, int64_t most_us);
/* Until there is a frame, or `fd` is readable, or a signal came: control messages wait. */
int hub_wait_frames(struct hub *hub, int fd);
/* -EAGAIN: none. ret_who: who the connection belongs to, as the gate named it. What has more parts than it may, or is too large, comes as nothing. */
int hub_hear_frame(struct hub *hub, const char **ret_who, struct bytes *ret);
int hub_hear_control(struct hub *hub, struct bytes *ret_peer, const char **ret_who, struct bytes *ret_message);

/*
 * Cuts the TCP connections that `who` may have to the sockets that everybody shares: all from the addresses it came from. Lanes end with
 * their sessions. How many.
 */
size_t hub_cut(struct hub *hub, const char *who);

/* What struct broker_out asks for; `hub` is a struct hub. */
int hub_open_lane(void *hub, uint64_t epoch, const char *who, char ret_endpoint[160]);
void hub_close_lane(void *hub, uint64_t epoch);
int hub_push(void *hub, uint64_t epoch, struct bytes frame); /* -EAGAIN: that peer is gone */
void hub_control(void *hub, struct bytes peer, struct bytes message);
bool hub_is_tapped(void *hub); /* as of the last hub_wait; false: nobody would hear it */
void hub_tap(
	void *hub, const char *topic, const char *shop, struct bytes tapped, struct bytes message, struct bytes masked);

#endif
