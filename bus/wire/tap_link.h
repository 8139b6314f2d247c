/*
 * tap_link.h: the listening end of the broker's PUB socket
 *
 * Each published message has three parts: topic NUL shop NUL; a Tapped; the message.
 */
#ifndef WIRE_TAP_LINK_H
#define WIRE_TAP_LINK_H

#include "bus.pb.h"
#include "bus/base/bytes.h"
#include "bus/wire/broker_endpoint.h"

struct tap_link;

/* `is_clear`: with payloads, which needs the right to see them in clear. 0 or a negative errno. */
int tap_link_open(const struct broker_endpoint *broker, bool is_clear, struct bytes prefix, struct tap_link **ret);
int tap_link_fd(const struct tap_link *tap); /* as ZMQ_FD: receive until -EAGAIN before waiting for it */
void tap_link_close(struct tap_link *tap);   /* takes NULL */
/* Replaces the content of ret_message. -EAGAIN: none came within `wait_us`. -EBADMSG: it is malformed. */
int tap_link_hear(struct tap_link *tap, int64_t wait_us, Tapped *ret_tapped, struct buffer *ret_message);

#endif
