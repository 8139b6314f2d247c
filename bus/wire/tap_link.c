/*
 * tap_link.c: the listening end of the broker's PUB socket
 *
 * Owns:      one SUB socket and its poller. A slow listener loses messages: a tap may miss some, it never
 *            blocks the broker.
 * Why CZMQ: nothing here is hot or has to be fenced, so the comfortable binding serves: a subscription, a
 * poller, frames. It is a library of its own (`tap`), so that only the command and the monitor link CZMQ and
 * its dependencies.
 */
#include "bus/wire/tap_link.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/wire/frame.h"
#include <czmq.h>
#include <errno.h>
#include <pb_decode.h>

enum { TAP_MARK = 100000 }; /* messages; a tap in a terminal is slow */

struct tap_link {
	zsock_t *socket;
	zpoller_t *poller;
};

static int connect_tap(const struct broker_endpoint *broker, bool is_clear, zsock_t *socket)
{
	char endpoint[192];
	int r = broker_endpoint_of(
		broker, is_clear ? "tap-clear" : "tap", is_clear ? PORT_TAP_CLEAR : PORT_TAP, endpoint);

	r = r < 0 ? r : broker_endpoint_prepare(broker, zsock_resolve(socket));
	if (r == 0 && zsock_connect(socket, "%s", endpoint) < 0)
		r = -EINVAL;
	return r;
}

int tap_link_open(const struct broker_endpoint *broker, bool is_clear, struct bytes prefix, struct tap_link **ret)
{
	struct tap_link *tap = memory_new(sizeof(*tap));

	zsys_handler_set(NULL); /* signals are the command's own */
	tap->socket = zsock_new(ZMQ_SUB);
	zsock_set_rcvhwm(tap->socket, TAP_MARK);
	zsock_set_linger(tap->socket, 0);
	zsock_set_maxmsgsize(tap->socket, FRAME_BYTES_MAX);
	/* CZMQ takes a subscription as text; this one holds a NUL, which ends a topic's name. */
	if (zmq_setsockopt(zsock_resolve(tap->socket), ZMQ_SUBSCRIBE, prefix.data, prefix.len) == 0 &&
		connect_tap(broker, is_clear, tap->socket) == 0) {
		tap->poller = zpoller_new(tap->socket, NULL);
		*ret = tap;
		return 0;
	}
	tap_link_close(tap);
	return -EINVAL;
}

void tap_link_close(struct tap_link *tap)
{
	if (!tap)
		return;
	zpoller_destroy(&tap->poller);
	zsock_destroy(&tap->socket);
	free(tap);
}

int tap_link_fd(const struct tap_link *tap)
{
	return (int)zsock_fd(tap->socket);
}

static int read_parts(zmsg_t *parts, Tapped *ret_tapped, struct buffer *ret_message)
{
	zframe_t *tapped, *message;
	pb_istream_t from;

	if (zmsg_size(parts) != 3)
		return -EBADMSG;
	zmsg_first(parts); /* the subscribed prefix: the message holds it too */
	tapped = zmsg_next(parts);
	message = zmsg_next(parts);
	from = pb_istream_from_buffer(zframe_data(tapped), zframe_size(tapped));
	*ret_tapped = (Tapped)Tapped_init_zero;
	if (!pb_decode(&from, Tapped_fields, ret_tapped))
		return -EBADMSG;
	buffer_clear(ret_message);
	buffer_add(ret_message, zframe_data(message), zframe_size(message));
	return 0;
}

int tap_link_hear(struct tap_link *tap, int64_t wait_us, Tapped *ret_tapped, struct buffer *ret_message)
{
	zmsg_t *parts;
	int failed;

	if (!zpoller_wait(tap->poller, (int)(wait_us / 1000)))
		return -EAGAIN;
	parts = zmsg_recv(tap->socket);
	if (!parts)
		return -EAGAIN;
	failed = read_parts(parts, ret_tapped, ret_message);
	zmsg_destroy(&parts);
	return failed;
}
