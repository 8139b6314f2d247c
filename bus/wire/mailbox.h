/*
 * mailbox.h: the broker's end of the private mailboxes, one PUSH per session, and how the broker's sockets are made
 */
#ifndef WIRE_MAILBOX_H
#define WIRE_MAILBOX_H

#include "bus/base/bytes.h"
#include "bus/wire/hub.h"
#include <stdbool.h>
#include <stdint.h>

struct mailboxes;

/* `settings` is borrowed. */
struct mailboxes *mailboxes_new(void *zmq_context, const struct hub_settings *settings);
void mailboxes_free(struct mailboxes *mailboxes); /* takes NULL */
/* Of `who` alone: over ipc for a uid, over TCP for a key, whose endpoint leaves the host to the peer. */
int mailboxes_open(struct mailboxes *mailboxes, uint64_t epoch, const char *who, char ret_endpoint[160]);
void mailboxes_close(struct mailboxes *mailboxes, uint64_t epoch);
int mailboxes_push(struct mailboxes *mailboxes, uint64_t epoch, struct bytes frame); /* -EAGAIN: that peer is gone */
bool mailboxes_retry(struct mailboxes *mailboxes); /* those that wait for their peer; true: some still do */
bool mailboxes_admit(struct mailboxes *mailboxes, const char *place,
	const char *who); /* is this a mailbox of that peer, and free? */

/* How the broker's sockets are made. */
enum { HUB_FRAMES_MARK = 4096 }; /* frames in flight per socket; credit stays far below */

/* NULL: ZeroMQ gives none. */
void *hub_socket(void *context, int type, int mark, int64_t bytes_max);
/* Binds to <run>/<name>, for the broker's own user and, `by_group`, for its group. 0 or a negative errno. */
int hub_bind_ipc(void *socket, const char *endpoint, bool by_group);

#endif
