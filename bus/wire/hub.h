/*
 * hub.h: the broker's side of the sockets
 *
 * Binds  <run>/ingress (PULL, everybody's frames), <run>/control (ROUTER), <run>/tap (PUB), and one PUSH per lane,
 * <run>/lane-<epoch>. Nothing here blocks but hub_wait. What was received is borrowed until the next receive.
 */
#ifndef BUS_WIRE_HUB_H
#define BUS_WIRE_HUB_H

#include "bus/base/bytes.h"

struct hub;

/* `run` is a folder that exists. ret_why says what could not be bound, and why. */
int hub_open(const char *run, struct hub **ret, char ret_why[256]);
void hub_close(struct hub *hub); /* takes NULL */

/* Until there is something to hear, or `most_us` have passed, or a signal came (all three: 0). */
int hub_wait(struct hub *hub, int64_t most_us);
int hub_hear_frame(struct hub *hub, struct bytes *ret); /* -EAGAIN: none */
int hub_hear_control(struct hub *hub, struct bytes *ret_peer, long *ret_uid, struct bytes *ret_message); /* -EAGAIN */

/* What struct broker_out asks for; `hub` is a struct hub. */
int hub_open_lane(void *hub, uint64_t epoch, char ret_endpoint[160]);
void hub_close_lane(void *hub, uint64_t epoch);
int hub_push(void *hub, uint64_t epoch, struct bytes frame); /* -EAGAIN: that peer is gone */
void hub_control(void *hub, struct bytes peer, struct bytes message);
void hub_tap(void *hub, const char *topic, const char *shop, struct bytes tapped, struct bytes message);

#endif
