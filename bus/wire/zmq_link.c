/*
 * zmq_link.c: a process's sockets, and whether the broker has let them in
 *
 * Owns:      one ZeroMQ context, the ingress, the control socket, the mailbox of the current session.
 * Promises:  nothing blocks; every mark is set; nothing is queued for a broker that is not there; one thread
 *            uses the sockets, as ZeroMQ demands.
 * Fails by:  -EAGAIN for "not now"; die() when ZeroMQ itself gives no socket.
 * Read next: link.h, hub.c (the broker's side)
 */
#include "bus/wire/zmq_link.h"
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/inbox.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

enum {
	INGRESS_MARK = 1024, /* frames */
	MAILBOX_MARK =
		16384, /* more than all credit as one frame each: a mailbox that is full belongs to a peer that is gone */
	CONTROL_MARK = 256, /* control messages */
	CONTROL_BYTES_MAX = 1 << 20,
	RECONNECT_MS = 20,
	RECONNECT_MOST_MS = 200,
	GOODBYE_MS = 200, /* how long closing waits for the last heartbeat to leave */
	ENDPOINT_MAX = 192,
	POLL_OTHERS_MAX = 1024,
	INBOXES_MAX = 2,
};

struct zmq_link {
	struct link link;
	struct broker_endpoint broker;
	void *context, *ingress;
	void *watching; /* monitor of the control socket's handshakes; NULL: over ipc there are none */
	enum handshake handshake;
	char obstacle[256];
	struct inbox control, mailbox;
	struct pollfd polled[INBOXES_MAX + POLL_OTHERS_MAX];
};

static struct zmq_link *self(struct link *link)
{
	return (struct zmq_link *)link;
}

static void set(void *socket, int option, int value)
{
	if (zmq_setsockopt(socket, option, &value, sizeof(value)) < 0)
		die("ZeroMQ refuses socket option %d: %s", option, zmq_strerror(zmq_errno()));
}

static void set_most_bytes(void *socket, int64_t bytes)
{
	if (zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &bytes, sizeof(bytes)) < 0)
		die("ZeroMQ refuses a largest message of %lld bytes", (long long)bytes);
}

static void *open_socket(const struct zmq_link *link, int type, int mark, int64_t most_bytes)
{
	void *socket = zmq_socket(link->context, type);

	if (!socket)
		die("ZeroMQ gives no socket: %s; is the limit of open files (ulimit -n) too low?",
			zmq_strerror(zmq_errno()));
	set(socket, ZMQ_LINGER, 0);
	set(socket, ZMQ_SNDHWM, mark);
	set(socket, ZMQ_RCVHWM, mark);
	set(socket, ZMQ_IMMEDIATE, 1);
	set(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS);
	set(socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MOST_MS);
	set_most_bytes(socket, most_bytes);
	if (broker_endpoint_prepare(&link->broker, socket) < 0)
		die("ZeroMQ refuses the keys for %s: %s", link->broker.host, zmq_strerror(zmq_errno()));
	return socket;
}

static void listen_to(struct inbox *inbox, void *socket)
{
	if (inbox_set(inbox, socket) < 0)
		die("ZeroMQ does not show when a socket has something: %s", zmq_strerror(zmq_errno()));
}

static int send_now(void *socket, struct bytes bytes)
{
	while (zmq_send(socket, bytes.data, bytes.len, ZMQ_DONTWAIT) < 0) {
		if (zmq_errno() == EINTR)
			continue;
		return -EAGAIN;
	}
	return 0;
}

static int hear_now(struct inbox *inbox, struct buffer *ret)
{
	zmq_msg_t message;
	int r;

	if (!inbox->socket)
		return -EAGAIN;
	zmq_msg_init(&message);
	r = inbox_receive(inbox, &message);
	if (r >= 0) {
		buffer_clear(ret);
		buffer_add(ret, zmq_msg_data(&message), zmq_msg_size(&message));
	}
	zmq_msg_close(&message);
	return r < 0 ? -EAGAIN : 0;
}

static int zmq_link_say(struct link *link, struct bytes frame)
{
	return send_now(self(link)->ingress, frame);
}

static int zmq_link_control(struct link *link, struct bytes message)
{
	inbox_sent(&self(link)->control);
	return send_now(self(link)->control.socket, message);
}

static int zmq_link_hear_control(struct link *link, struct buffer *ret)
{
	return hear_now(&self(link)->control, ret);
}

static int zmq_link_hear_mailbox(struct link *link, struct buffer *ret)
{
	return hear_now(&self(link)->mailbox, ret);
}

static void close_mailbox(struct zmq_link *link)
{
	if (link->mailbox.socket)
		zmq_close(link->mailbox.socket);
	link->mailbox.socket = NULL;
}

static int zmq_link_open_mailbox(struct link *link, const char *endpoint)
{
	struct zmq_link *zmq = self(link);
	char reached[ENDPOINT_MAX];
	void *mailbox;

	close_mailbox(zmq);
	if (broker_endpoint_mailbox(&zmq->broker, endpoint, reached) < 0)
		return -EINVAL;
	mailbox = open_socket(zmq, ZMQ_PULL, MAILBOX_MARK, FRAME_BYTES_MAX);
	set(mailbox, ZMQ_RECONNECT_IVL, -1); /* a mailbox never reconnects: a gap would go unseen */
	listen_to(&zmq->mailbox, mailbox);
	if (zmq_connect(mailbox, reached) == 0)
		return 0;
	close_mailbox(zmq);
	return -EINVAL;
}

static void describe_obstacle(struct zmq_link *link)
{
	char key[CURVE_HEX];

	text_hex(link->broker.key.public_key, CURVE_KEY, key);
	snprintf(link->obstacle, sizeof(link->obstacle),
		"the broker at %.100s:%d does not know the key %.40s (%.16s...): it was revoked, or never made; "
		"\"cartbus keys make\" there makes another",
		link->broker.host, link->broker.port, link->broker.key_name, key);
}

static const char *zmq_link_obstacle(struct link *link)
{
	struct zmq_link *zmq = self(link);

	zmq->handshake = handshake_hear(zmq->watching, zmq->handshake);
	return zmq->handshake == HANDSHAKE_REFUSED ? zmq->obstacle : NULL;
}

static void zmq_link_why(const struct link *link, char ret[256])
{
	broker_endpoint_why(&((const struct zmq_link *)link)->broker, ret);
}

static void zmq_link_close(struct link *link)
{
	struct zmq_link *zmq = self(link);

	handshake_unwatch(zmq->control.socket, zmq->watching);
	set(zmq->control.socket, ZMQ_LINGER, GOODBYE_MS);
	close_mailbox(zmq);
	zmq_close(zmq->ingress);
	zmq_close(zmq->control.socket);
	zmq_ctx_term(zmq->context);
	curve_wipe(&zmq->broker.key);
	free(zmq);
}

static int connect_to(const struct zmq_link *link, void *socket, const char *name, int port_offset)
{
	char endpoint[ENDPOINT_MAX];

	if (broker_endpoint_of(&link->broker, name, port_offset, endpoint) < 0)
		return -EINVAL;
	return zmq_connect(socket, endpoint) < 0 ? -EINVAL : 0;
}

int zmq_link_new(const struct broker_endpoint *broker, struct link **ret)
{
	struct zmq_link *link = memory_new(sizeof(*link));

	link->link = (struct link){ .say = zmq_link_say,
		.control = zmq_link_control,
		.hear_control = zmq_link_hear_control,
		.open_mailbox = zmq_link_open_mailbox,
		.hear_mailbox = zmq_link_hear_mailbox,
		.close = zmq_link_close,
		.obstacle = zmq_link_obstacle,
		.why = zmq_link_why };
	link->broker = *broker;
	link->context = zmq_ctx_new();
	if (!link->context)
		die("ZeroMQ gives no context: %s", zmq_strerror(zmq_errno()));
	link->ingress = open_socket(link, ZMQ_PUSH, INGRESS_MARK, FRAME_BYTES_MAX);
	listen_to(&link->control, open_socket(link, ZMQ_DEALER, CONTROL_MARK, CONTROL_BYTES_MAX));
	if (*broker->host) {
		link->watching = handshake_watch(link->context, link->control.socket);
		describe_obstacle(link);
	}
	if (connect_to(link, link->ingress, "ingress", PORT_INGRESS) < 0 ||
		connect_to(link, link->control.socket, "control", PORT_CONTROL) < 0) {
		zmq_link_close(&link->link);
		return -EINVAL;
	}
	*ret = &link->link;
	return 0;
}

int zmq_link_wait(struct link *link, struct pollfd *others, size_t count, int64_t timeout_us)
{
	struct zmq_link *zmq = self(link);
	struct inbox *inboxes[INBOXES_MAX] = { &zmq->control, &zmq->mailbox };
	size_t used = zmq->mailbox.socket ? 2 : 1;
	int r;

	assert(count <= POLL_OTHERS_MAX);
	if (count > 0)
		memcpy(zmq->polled + used, others, count * sizeof(*others));
	r = inboxes_wait(inboxes, used, zmq->polled, used + count, timeout_us);
	for (size_t i = 0; i < count; i++)
		others[i].revents = r > 0 ? zmq->polled[used + i].revents : 0;
	return r == -EINTR ? -EINTR : 0;
}

/*
 * The monitor of a socket that connects
 *
 * Promises:  libzmq's own thread never waits for this process: its events are kept without a limit until they
 *            are read.
 * Fails by:  reporting no handshake.
 */

enum { EVENT_LEN = 6, NAME_MAX_LEN = 64, ROUND_MS = 50 };

void *handshake_watch(void *zmq_context, void *socket)
{
	const int told = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
	void *watching = zmq_socket(zmq_context, ZMQ_PAIR);
	int none = 0, unlimited = 0;
	char name[NAME_MAX_LEN];

	if (!watching)
		return NULL;
	zmq_setsockopt(watching, ZMQ_LINGER, &none, sizeof(none));
	zmq_setsockopt(watching, ZMQ_RCVHWM, &unlimited, sizeof(unlimited));
	snprintf(name, sizeof(name), "inproc://handshake-%p", socket);
	if (zmq_socket_monitor(socket, name, told) == 0 && zmq_connect(watching, name) == 0)
		return watching;
	handshake_unwatch(socket, watching);
	return NULL;
}

enum handshake handshake_hear(void *watching, enum handshake known)
{
	uint8_t event[EVENT_LEN] = { 0 };
	char endpoint[1];

	while (watching && zmq_recv(watching, event, sizeof(event), ZMQ_DONTWAIT) == EVENT_LEN) {
		zmq_recv(watching, endpoint, sizeof(endpoint), ZMQ_DONTWAIT);
		known = get_u16(event) == ZMQ_EVENT_HANDSHAKE_SUCCEEDED ? HANDSHAKE_LET_IN : HANDSHAKE_REFUSED;
	}
	return known;
}

void handshake_unwatch(void *socket, void *watching)
{
	if (!watching)
		return;
	zmq_socket_monitor(socket, NULL, 0); /* first: else it would report events that no socket reads */
	zmq_close(watching);
}

static int wait_for(void *watching, int64_t patience_us)
{
	struct clock clock = clock_system();
	int64_t until_us = clock_boot_us(&clock) + patience_us;
	enum handshake known = HANDSHAKE_NONE;

	while (known == HANDSHAKE_NONE && clock_boot_us(&clock) < until_us) {
		zmq_pollitem_t item = { .socket = watching, .events = ZMQ_POLLIN };

		zmq_poll(&item, 1, ROUND_MS);
		known = handshake_hear(watching, known);
	}
	return known == HANDSHAKE_LET_IN ? 0 : known == HANDSHAKE_REFUSED ? -EACCES : -ETIMEDOUT;
}

static int try_connect(void *socket, void *watching, const struct broker_endpoint *broker, int64_t patience_us)
{
	char endpoint[192];
	int linger = 0, r = broker_endpoint_of(broker, "control", PORT_CONTROL, endpoint);

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	r = r < 0 ? r : broker_endpoint_prepare(broker, socket);
	if (r == 0 && zmq_connect(socket, endpoint) < 0)
		r = -zmq_errno();
	return r < 0 ? r : wait_for(watching, patience_us);
}

int handshake_try(const struct broker_endpoint *broker, int64_t patience_us)
{
	void *context = zmq_ctx_new(), *socket = context ? zmq_socket(context, ZMQ_DEALER) : NULL;
	void *watching = socket ? handshake_watch(context, socket) : NULL;
	int r = watching ? try_connect(socket, watching, broker, patience_us) : -EMFILE;

	if (socket) {
		handshake_unwatch(socket, watching);
		zmq_close(socket);
	}
	if (context)
		zmq_ctx_term(context);
	return r;
}
