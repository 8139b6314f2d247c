/*
 * tap.h: watches the messages that the broker commits, as it happens
 *
 * A tap is not a session: a slow tap misses messages, and a tap changes nothing. Reading the log (client_ask
 * "read") misses none.
 */
#ifndef ACTOR_TAP_H
#define ACTOR_TAP_H

#include "bus/actor/turn.h"
#include "bus/base/config.h"

struct tap;

/*
 * Listens at [paths] run or [connect] broker. `topic` NULL: all topics; "timer.*": all topics with that
 * beginning. `is_clear`: messages come with payloads, which needs that right; otherwise their strings are
 * masked. `service`: the tap shows this service's key over TCP if the configuration names no key. -EINVAL:
 * there is no such endpoint.
 */
int tap_open(const struct config *config, const char *service, bool is_clear, const char *topic, struct tap **ret);
void tap_close(struct tap *tap); /* takes NULL */
/* when it is readable, and before the first wait, call tap_next until it returns -EAGAIN */
int tap_fd(const struct tap *tap);
/*
 * Waits at most `wait_us` for a message. The results are borrowed until the next call. -EAGAIN: none came.
 * -EBADMSG: the data is not a message.
 */
int tap_next(struct tap *tap, int64_t wait_us, struct message_meta *ret_said, struct bytes *ret_payload);

#endif
