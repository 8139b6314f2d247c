/*
 * tap_link.c: the listening end of the broker's PUB socket
 *
 * Owns:     one ZeroMQ context and one SUB socket. ZeroMQ drops what a slow listener cannot take: a tap may miss, never block.
 */
#include "bus/wire/tap_link.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/wire/frame.h"
#include <errno.h>
#include <pb_decode.h>
#include <stdlib.h>
#include <zmq.h>

enum { TAP_MARK = 100000 }; /* messages; a tap in a terminal is slow */

struct tap_link {
	void *context, *socket;
};

int tap_link_open(const char *endpoint, struct bytes prefix, struct tap_link **ret)
{
	struct tap_link *tap = memory_new(sizeof(*tap));
	int64_t most = FRAME_BYTES_MAX;
	int mark = TAP_MARK, linger = 0, failed;

	tap->context = zmq_ctx_new();
	tap->socket = tap->context ? zmq_socket(tap->context, ZMQ_SUB) : NULL;
	if (tap->socket && zmq_setsockopt(tap->socket, ZMQ_RCVHWM, &mark, sizeof(mark)) == 0 &&
		zmq_setsockopt(tap->socket, ZMQ_LINGER, &linger, sizeof(linger)) == 0 &&
		zmq_setsockopt(tap->socket, ZMQ_MAXMSGSIZE, &most, sizeof(most)) == 0 &&
		zmq_setsockopt(tap->socket, ZMQ_SUBSCRIBE, prefix.data, prefix.len) == 0 &&
		zmq_connect(tap->socket, endpoint) == 0) {
		*ret = tap;
		return 0;
	}
	failed = -zmq_errno();
	tap_link_close(tap);
	return failed;
}

void tap_link_close(struct tap_link *tap)
{
	if (!tap)
		return;
	if (tap->socket)
		zmq_close(tap->socket);
	if (tap->context)
		zmq_ctx_term(tap->context);
	free(tap);
}

/* Replaces the content of ret. `last`: no part may follow. */
static int hear_part(struct tap_link *tap, bool last, struct buffer *ret)
{
	zmq_msg_t part;
	int failed = 0;

	zmq_msg_init(&part);
	if (zmq_msg_recv(&part, tap->socket, ZMQ_DONTWAIT) < 0)
		failed = -zmq_errno();
	buffer_clear(ret);
	if (!failed)
		buffer_add(ret, zmq_msg_data(&part), zmq_msg_size(&part));
	if (!failed && !zmq_msg_more(&part) != last)
		failed = -EBADMSG;
	zmq_msg_close(&part);
	return failed;
}

static int read_tapped(struct bytes bytes, Tapped *ret)
{
	pb_istream_t from = pb_istream_from_buffer(bytes.data, bytes.len);

	*ret = (Tapped)Tapped_init_zero;
	return pb_decode(&from, Tapped_fields, ret) ? 0 : -EBADMSG;
}

int tap_link_hear(struct tap_link *tap, int64_t wait_us, Tapped *ret_tapped, struct buffer *ret_message)
{
	zmq_pollitem_t item = { .socket = tap->socket, .events = ZMQ_POLLIN };
	_cleanup_(buffer_free) struct buffer part = { 0 };
	int failed;

	if (zmq_poll(&item, 1, (long)(wait_us / 1000)) <= 0)
		return -EAGAIN;
	failed = hear_part(tap, false, &part); /* what it was subscribed by: the message says it too */
	failed = failed ? failed : hear_part(tap, false, &part);
	failed = failed ? failed : read_tapped(buffer_bytes(&part), ret_tapped);
	return failed ? failed : hear_part(tap, true, ret_message);
}
