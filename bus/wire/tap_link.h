/*
 * tap_link.h: the listening end of the broker's PUB socket
 *
 * What is published has three parts: topic NUL shop NUL, a Tapped, the message.
 */
#ifndef WIRE_TAP_LINK_H
#define WIRE_TAP_LINK_H

#include "bus.pb.h"
#include "bus/base/bytes.h"
#include "bus/wire/broker_endpoint.h"

struct tap_link;

/* `is_clear`: with payloads, for who has the right to see them in clear. A negative errno. */
int tap_link_open(const struct broker_endpoint *broker, bool is_clear, struct bytes prefix, struct tap_link **ret);
int tap_link_fd(const struct tap_link *tap); /* as ZMQ_FD: hear until nothing comes before it is waited for */
void tap_link_close(struct tap_link *tap);   /* takes NULL */
/* Replaces the content of ret_message. -EAGAIN: nothing came within `wait_us`; -EBADMSG. */
int tap_link_hear(struct tap_link *tap, int64_t wait_us, Tapped *ret_tapped, struct buffer *ret_message);

#endif
