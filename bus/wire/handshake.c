/*
 * handshake.c: the monitor of a socket that connects
 *
 * Promises:  libzmq's own thread never waits for us: what it has to tell is kept without a limit until it is read.
 * Fails by:  knowing nothing.
 * Read next: gate.c (who refuses), zmq_link.c
 */
#include "bus/wire/handshake.h"
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include <errno.h>
#include <stdio.h>
#include <zmq.h>

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
	zmq_socket_monitor(socket, NULL, 0); /* first: it must not tell what nobody hears */
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

static int knock(void *socket, void *watching, const struct reach *reach, int64_t patience_us)
{
	char endpoint[192];
	int linger = 0, r = reach_endpoint(reach, "control", PORT_CONTROL, endpoint);

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	r = r < 0 ? r : reach_prepare(reach, socket);
	if (r == 0 && zmq_connect(socket, endpoint) < 0)
		r = -zmq_errno();
	return r < 0 ? r : wait_for(watching, patience_us);
}

int handshake_try(const struct reach *reach, int64_t patience_us)
{
	void *context = zmq_ctx_new(), *socket = context ? zmq_socket(context, ZMQ_DEALER) : NULL;
	void *watching = socket ? handshake_watch(context, socket) : NULL;
	int r = watching ? knock(socket, watching, reach, patience_us) : -EMFILE;

	if (socket) {
		handshake_unwatch(socket, watching);
		zmq_close(socket);
	}
	if (context)
		zmq_ctx_term(context);
	return r;
}
