/*
 * hub_socket.h: how the broker's sockets are made; for hub.c and lane.c
 */
#ifndef WIRE_HUB_SOCKET_H
#define WIRE_HUB_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

enum { HUB_FRAMES_MARK = 4096 }; /* frames in flight per socket; credit stays far below */

/* NULL: ZeroMQ gives none. */
void *hub_socket(void *context, int type, int mark, int64_t bytes_max);
/* Binds to <run>/<name>, for the broker's own user and, `by_group`, for its group. 0 or a negative errno. */
int hub_bind_ipc(void *socket, const char *endpoint, bool by_group);

#endif
