/*
 * tap.h: what the broker commits, as it happens
 *
 * A tap is not a session: it may miss messages when it is slow, and changes nothing. The log (client_ask "read") misses none.
 */
#ifndef ACTOR_TAP_H
#define ACTOR_TAP_H

#include "bus/actor/turn.h"
#include "bus/base/config.h"

struct tap;

/*
 * Listens at [paths] run or [connect] broker. `topic` NULL: all; "timer.*": all that begin so. `is_clear`: with payloads,
 * which needs that right; else their strings are masked. `service`: whose key it shows over TCP if the configuration names none.
 * -EINVAL: no such endpoint.
 */
int tap_open(const struct config *config, const char *service, bool is_clear, const char *topic, struct tap **ret);
void tap_close(struct tap *tap);   /* takes NULL */
int tap_fd(const struct tap *tap); /* readable: call tap_next until nothing comes, and before the first wait as well */
/* Waits at most `wait_us`. Everything is borrowed until the next call. -EAGAIN: nothing came; -EBADMSG: not a message. */
int tap_next(struct tap *tap, int64_t wait_us, struct message_meta *ret_said, struct bytes *ret_payload);

#endif
