/*
 * prove.c: a stranger's visit to the broker's own sockets
 *
 * CURVE fails open when the one option that closes it is missing or was renamed (gate.h). So nobody is trusted to have set it
 * right: at every start a stranger tries to get in.
 *
 * Promises:  0 only when libzmq said that it refused the stranger's key.
 * Fails by:  -EPERM: let in; -ETIMEDOUT: neither let in nor refused; -EMFILE: no socket to try it with; and which socket it was, in
 *            words.
 */
#include "bus/wire/prove.h"
#include "bus/base/text.h"
#include "bus/wire/hub_socket.h"
#include "bus/wire/reach.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <zmq.h>

enum { PATIENCE_S = 20, ROUND_MS = 50, EVENTS_MARK = 64, MESSAGE_MAX = 1024 };

struct stranger {
	void *socket, *events;
};

/* 0: refused; -EAGAIN: nothing decided yet */
static int hear_event(void *events)
{
	uint8_t event[6] = { 0 };
	char where[192];

	if (zmq_recv(events, event, sizeof(event), ZMQ_DONTWAIT) != sizeof(event))
		return -EAGAIN;
	zmq_recv(events, where, sizeof(where), ZMQ_DONTWAIT);
	if (get_u16(event) == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
		return -EPERM;
	return get_u16(event) == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? 0 : -EAGAIN;
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

static int watch(struct gate *gate, const struct stranger *stranger)
{
	time_t until_s = now_s() + PATIENCE_S;

	while (now_s() < until_s) {
		zmq_pollitem_t items[] = { { .socket = stranger->events, .events = ZMQ_POLLIN },
			{ .socket = gate_socket(gate), .events = ZMQ_POLLIN } };
		int r;

		zmq_poll(items, 2, ROUND_MS);
		gate_answer(gate);
		r = hear_event(stranger->events);
		if (r != -EAGAIN)
			return r;
	}
	return -ETIMEDOUT;
}

static void disguise(const struct hub_settings *settings, struct reach *ret)
{
	const char *host = settings->host;
	bool any = strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0;

	*ret = (struct reach){ .port = settings->port };
	TEXT_COPY(ret->host, any ? "127.0.0.1" : strcmp(host, "[::]") == 0 ? "[::1]" : host);
	memcpy(ret->broker_key, settings->key->public_key, CURVE_KEY);
	curve_make(&ret->key);
}

static int knock(const struct stranger *stranger, const struct reach *reach, const char *endpoint)
{
	char events[64], name[33];
	int r = reach_prepare(reach, stranger->socket);

	if (r < 0)
		return r;
	text_random_name(name); /* ZeroMQ gives one back when its own thread comes to it: the next visit has another */
	snprintf(events, sizeof(events), "inproc://stranger-%s", name);
	if (zmq_socket_monitor(stranger->socket, events, ZMQ_EVENT_ALL) < 0 ||
		zmq_connect(stranger->events, events) < 0 || zmq_connect(stranger->socket, endpoint) < 0)
		return -zmq_errno();
	return 0;
}

/* The monitor first: ZeroMQ's own thread blocks for ever when it has an event to tell and nobody hears it. */
static void part(const struct stranger *stranger)
{
	if (stranger->socket) {
		zmq_socket_monitor(stranger->socket, NULL, 0);
		zmq_close(stranger->socket);
	}
	if (stranger->events)
		zmq_close(stranger->events);
}

int prove_closed(void *zmq_context, struct gate *gate, const struct hub_settings *settings, int port_offset, int type,
	char ret_why[256])
{
	struct stranger stranger = { hub_socket(zmq_context, type, 1, MESSAGE_MAX),
		hub_socket(zmq_context, ZMQ_PAIR, EVENTS_MARK, MESSAGE_MAX) };
	char endpoint[192] = "";
	struct reach reach;
	int r;

	disguise(settings, &reach);
	r = reach_endpoint(&reach, "", port_offset, endpoint);
	if (r == 0 && (!stranger.socket || !stranger.events))
		r = -EMFILE;
	r = r < 0 ? r : knock(&stranger, &reach, endpoint);
	r = r < 0 ? r : watch(gate, &stranger);
	if (r < 0)
		snprintf(ret_why, 256,
			"a stranger with an unknown key was not refused at %.100s (%s): nothing is opened", endpoint,
			r == -EPERM ? "it was let in" : zmq_strerror(-r));
	part(&stranger);
	return r;
}
