/*
 * hub.c: the broker's side of the sockets, and the proof that they refuse a stranger
 *
 * Owns:      the ZeroMQ context and every socket the broker binds.
 * Promises:  marks, linger, sizes and rights are set explicitly; no send ever blocks; mailboxes are not
 *            polled; over TCP every connection uses CURVE.
 * Fails by:  negative errno.
 * Read next: gate.c (which clients get in), mailbox.c, zmq_link.c (the other end)
 */
#include "bus/wire/hub.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/connections.h"
#include "bus/wire/frame.h"
#include "bus/wire/inbox.h"
#include "bus/wire/mailbox.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <zmq.h>

enum {
	TAP_MARK = 16384,             /* a slow tap loses messages, it never holds the broker up */
	CONTROL_BYTES_MAX = 64 << 10, /* a hello that names 256 leases is 20 KB */
	SOCKETS_MAX = 4096,           /* one per session */
	TOLD = 2, /* a message up to twice too large is refused and its sender named; past that ZeroMQ disconnects */
};

static const int64_t RETRY_US = 2000; /* how often a mailbox with early frames is tried */

/* The sockets that all peers share, in the order of their ports. */
enum { CONTROL, INGRESS, TAP, TAP_CLEAR, SHARED, GATE = SHARED, INBOXES };
static const struct {
	const char *name;
	int type, mark;
	int64_t bytes_max;
} shared[SHARED] = {
	[CONTROL] = { "control", ZMQ_ROUTER, HUB_FRAMES_MARK, TOLD *CONTROL_BYTES_MAX },
	[INGRESS] = { "ingress", ZMQ_PULL, HUB_FRAMES_MARK, TOLD *FRAME_BYTES_MAX },
	[TAP] = { "tap", ZMQ_XPUB, TAP_MARK, FRAME_BYTES_MAX },
	[TAP_CLEAR] = { "tap-clear", ZMQ_XPUB, TAP_MARK, FRAME_BYTES_MAX },
};

struct hub {
	struct hub_settings settings;
	void *context;
	struct gate *gate;
	struct connections *connections;
	void *sockets[SHARED];
	struct inbox inboxes[INBOXES];  /* of the shared sockets and the gate */
	uint64_t subscriptions[SHARED]; /* the subscribers of each tap */
	struct mailboxes *mailboxes;
	zmq_msg_t frame, peer, message;
};

void *hub_socket(void *context, int type, int mark, int64_t bytes_max)
{
	void *socket = zmq_socket(context, type);
	int linger = 0;

	if (!socket)
		return NULL;
	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(socket, ZMQ_SNDHWM, &mark, sizeof(mark));
	zmq_setsockopt(socket, ZMQ_RCVHWM, &mark, sizeof(mark));
	zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &bytes_max, sizeof(bytes_max));
	return socket;
}

/*
 * The process's mask closes the socket to other users; chmod opens it afterwards, since the store's threads
 * share the mask.
 */
int hub_bind_ipc(void *socket, const char *endpoint, bool by_group)
{
	if (zmq_bind(socket, endpoint) < 0)
		return -zmq_errno();
	return by_group && chmod(endpoint + strlen("ipc://"), 0660) < 0 ? -errno : 0;
}

static bool admit(void *context, const char *place, const char *who)
{
	struct hub *hub = context;

	for (int i = 0; i < SHARED; i++)
		if (strcmp(place, shared[i].name) == 0)
			return hub->settings.admit(hub->settings.context, place, who);
	if (mailboxes_admit(hub->mailboxes, place, who))
		return true;
	hub->settings.refused(hub->settings.context, "a lane", who, "it is another's, or has somebody already");
	return false;
}

static int cannot_bind(const char *endpoint, int error, char why[256])
{
	snprintf(why, 256, "cannot bind %.160s: %s", endpoint, zmq_strerror(-error));
	return error;
}

/* A socket demands of its peers the options set when it binds: the uid over ipc, then CURVE over TCP. */
static int bind_ipc(struct hub *hub, int which, char why[256])
{
	char endpoint[192];
	int r = gate_guard(hub->sockets[which], shared[which].name, NULL);

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", hub->settings.run, shared[which].name);
	r = r < 0 ? r : hub_bind_ipc(hub->sockets[which], endpoint, hub->settings.by_group);
	return r < 0 ? cannot_bind(endpoint, r, why) : 0;
}

static int bind_tcp(struct hub *hub, int which, char why[256])
{
	char endpoint[192];
	int r = gate_guard(hub->sockets[which], shared[which].name, hub->settings.key);

	snprintf(endpoint, sizeof(endpoint), "tcp://%s:%d", hub->settings.host, hub->settings.port + which);
	r = r < 0 ? r : broker_endpoint_tcp_options(hub->sockets[which], hub->settings.host);
	if (r == 0 && zmq_bind(hub->sockets[which], endpoint) < 0)
		r = -zmq_errno();
	return r < 0 ? cannot_bind(endpoint, r, why) : 0;
}

static int bind_all(struct hub *hub, char why[256])
{
	bool remote = hub->settings.host[0] != '\0';
	int r = 0;

	if (remote && !hub->settings.key) {
		snprintf(why, 256, "nothing listens over TCP without a key of the broker");
		return -EINVAL;
	}
	for (int i = 0; r == 0 && i < SHARED; i++) {
		hub->sockets[i] = hub_socket(hub->context, shared[i].type, shared[i].mark, shared[i].bytes_max);
		if (!hub->sockets[i]) {
			snprintf(why, 256, "ZeroMQ gives no socket: %s", zmq_strerror(zmq_errno()));
			return -EMFILE;
		}
		r = connections_watch(hub->connections, hub->sockets[i], shared[i].name);
		r = r < 0 ? r : bind_ipc(hub, i, why);
		if (r == 0 && remote)
			r = bind_tcp(hub, i, why);
	}
	return r;
}

static int listen_to_all(struct hub *hub, char why[256])
{
	int r = inbox_set(&hub->inboxes[GATE], gate_socket(hub->gate));

	for (int i = 0; r == 0 && i < SHARED; i++)
		r = inbox_set(&hub->inboxes[i], hub->sockets[i]);
	if (r < 0)
		snprintf(why, 256, "ZeroMQ does not show when a socket has something: %s", zmq_strerror(-r));
	return r;
}

int hub_open(const struct hub_settings *settings, struct hub **ret, char ret_why[256])
{
	struct hub *hub = memory_new(sizeof(*hub));
	int r;

	hub->settings = *settings;
	hub->context = zmq_ctx_new();
	zmq_ctx_set(hub->context, ZMQ_MAX_SOCKETS, SOCKETS_MAX);
	zmq_msg_init(&hub->frame);
	zmq_msg_init(&hub->peer);
	zmq_msg_init(&hub->message);
	hub->gate = gate_new(hub->context, admit, hub);
	hub->connections = connections_new(hub->context);
	hub->mailboxes = mailboxes_new(hub->context, &hub->settings);
	if (!hub->gate)
		snprintf(ret_why, 256, "the gate cannot be set up: %s", zmq_strerror(zmq_errno()));
	r = hub->gate ? bind_all(hub, ret_why) : -EIO;
	r = r < 0 ? r : listen_to_all(hub, ret_why);
	if (r == 0 && (r = connections_start(hub->connections)) < 0)
		snprintf(ret_why, 256, "no thread to hear of connections: %s", strerror(-r));
	if (r < 0) {
		hub_close(hub);
		return r;
	}
	*ret = hub;
	return 0;
}

void hub_close(struct hub *hub)
{
	if (!hub)
		return;
	mailboxes_free(hub->mailboxes);
	connections_stop(hub->connections);
	zmq_msg_close(&hub->frame);
	zmq_msg_close(&hub->peer);
	zmq_msg_close(&hub->message);
	for (int i = 0; i < SHARED; i++)
		if (hub->sockets[i])
			zmq_close(hub->sockets[i]);
	gate_free(hub->gate);
	zmq_ctx_term(hub->context);
	connections_free(hub->connections);
	free(hub);
}

int hub_probe(struct hub *hub, char ret_why[256])
{
	static const int other_end[SHARED] = { ZMQ_DEALER, ZMQ_PUSH, ZMQ_SUB, ZMQ_SUB };
	int r = 0;

	for (int i = 0; r == 0 && i < SHARED && hub->settings.host[0]; i++)
		r = probe_closed(hub->context, hub->gate, &hub->settings, i, other_end[i], ret_why);
	return r;
}

static struct bytes message_bytes(zmq_msg_t *message)
{
	return BYTES(zmq_msg_data(message), zmq_msg_size(message));
}

static const char *who_said(zmq_msg_t *message)
{
	const char *who = zmq_msg_gets(message, "User-Id");

	return who ? who : "";
}

/*
 * An XPUB socket reports each subscription when its first subscriber comes (1) and when its last one goes
 * (0).
 */
static void hear_subscriptions(struct hub *hub, int tap)
{
	while (inbox_receive(&hub->inboxes[tap], &hub->message) == 0) {
		struct bytes told = message_bytes(&hub->message);
		uint8_t what = told.len > 0 ? *(const uint8_t *)told.data : UINT8_MAX;

		if (what == 1)
			hub->subscriptions[tap]++;
		else if (what == 0 && hub->subscriptions[tap] > 0)
			hub->subscriptions[tap]--;
		else if (what > 1)
			hub->settings.refused(hub->settings.context, shared[tap].name, who_said(&hub->message),
				"a tap is listened to, and something was said to it");
	}
}

/*
 * Waits for a frame, and for a control message or a descriptor; requests of the gate and the taps are served
 * at once.
 */
static int wait_for(struct hub *hub, bool control, int fd, int64_t most_us)
{
	struct inbox *inboxes = hub->inboxes;
	struct inbox *watched[INBOXES] = { &inboxes[GATE], &inboxes[INGRESS], &inboxes[TAP], &inboxes[TAP_CLEAR],
		&inboxes[CONTROL] };
	size_t count = control ? INBOXES : INBOXES - 1;
	struct pollfd polled[INBOXES + 1];
	int r;

	polled[count] = (struct pollfd){ .fd = fd, .events = POLLIN };
	r = inboxes_wait(watched, count, polled, count + 1, most_us);
	if (r < 0 && r != -EINTR)
		return r;
	if (inboxes[GATE].unsure) {
		gate_answer(hub->gate); /* all requests: a client that waits for the answer cannot ask twice */
		inbox_emptied(&inboxes[GATE]);
	}
	for (int tap = TAP; tap <= TAP_CLEAR; tap++)
		if (inboxes[tap].unsure)
			hear_subscriptions(hub, tap);
	return 0;
}

static void tell_ended(struct hub *hub)
{
	struct ended_connection ended;

	while (connections_take(hub->connections, &ended))
		hub->settings.refused(hub->settings.context, ended.place, ended.who, ended.why);
}

int hub_wait(struct hub *hub, int64_t most_us)
{
	tell_ended(hub);
	if (mailboxes_retry(hub->mailboxes) && most_us > RETRY_US)
		most_us = RETRY_US;
	return wait_for(hub, true, -1, most_us);
}

int hub_wait_frames(struct hub *hub, int fd)
{
	return wait_for(hub, false, fd, -1);
}

/* Drops further parts of a message that should have only one. */
static bool drop_further_parts(struct inbox *inbox, zmq_msg_t *message)
{
	bool further = false;

	while (zmq_msg_more(message)) {
		further = true;
		if (inbox_receive(inbox, message) < 0)
			break;
	}
	return further;
}

static struct bytes sized(zmq_msg_t *message, size_t most)
{
	return zmq_msg_size(message) > most ? BYTES(NULL, 0) : message_bytes(message);
}

int hub_hear_frame(struct hub *hub, const char **ret_who, struct bytes *ret)
{
	int r = inbox_receive(&hub->inboxes[INGRESS], &hub->frame);
	bool further;

	if (r < 0)
		return r;
	further = drop_further_parts(&hub->inboxes[INGRESS], &hub->frame);
	*ret_who = who_said(&hub->frame);
	*ret = further ? BYTES(NULL, 0) : sized(&hub->frame, FRAME_BYTES_MAX);
	return 0;
}

int hub_hear_control(struct hub *hub, struct bytes *ret_peer, const char **ret_who, struct bytes *ret_message)
{
	struct inbox *control = &hub->inboxes[CONTROL];
	bool further;
	int r;

	do {
		r = inbox_receive(control, &hub->peer);
		if (r < 0)
			return r;
	} while (!zmq_msg_more(&hub->peer)); /* a ROUTER puts the routing id before each message */
	r = inbox_receive(control, &hub->message);
	if (r < 0)
		return r;
	*ret_peer = message_bytes(&hub->peer);
	further = drop_further_parts(control, &hub->message);
	*ret_who = who_said(&hub->message);
	*ret_message = further ? BYTES(NULL, 0) : sized(&hub->message, CONTROL_BYTES_MAX);
	return 0;
}

struct parting {
	const struct gate *gate;
	const char *who;
};

static bool is_to_go(void *context, const char *address)
{
	const struct parting *parting = context;

	return gate_let_in(parting->gate, parting->who, address);
}

size_t hub_cut(struct hub *hub, const char *who)
{
	struct parting parting = { .gate = hub->gate, .who = who };
	size_t cut = hub->settings.host[0] ? cut_connections(hub->settings.port, SHARED, is_to_go, &parting) : 0;

	gate_forget(hub->gate, who);
	return cut;
}

int hub_open_mailbox(void *context, uint64_t epoch, const char *who, char ret_endpoint[160])
{
	return mailboxes_open(((struct hub *)context)->mailboxes, epoch, who, ret_endpoint);
}

void hub_close_mailbox(void *context, uint64_t epoch)
{
	mailboxes_close(((struct hub *)context)->mailboxes, epoch);
}

int hub_push(void *context, uint64_t epoch, struct bytes frame)
{
	return mailboxes_push(((struct hub *)context)->mailboxes, epoch, frame);
}

void hub_control(void *context, struct bytes peer, struct bytes message)
{
	struct hub *hub = context;
	void *control = hub->sockets[CONTROL];

	inbox_sent(&hub->inboxes[CONTROL]);
	if (zmq_send(control, peer.data, peer.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
		zmq_send(control, message.data, message.len, ZMQ_DONTWAIT);
}

static void publish(void *tap, struct bytes address, struct bytes tapped, struct bytes message)
{
	if (zmq_send(tap, address.data, address.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
		zmq_send(tap, tapped.data, tapped.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
		zmq_send(tap, message.data, message.len, ZMQ_DONTWAIT);
}

bool hub_is_tapped(void *context)
{
	const struct hub *hub = context;

	return hub->subscriptions[TAP] > 0 || hub->subscriptions[TAP_CLEAR] > 0;
}

void hub_tap(void *context, const char *topic, const char *shop, struct bytes tapped, struct bytes message,
	struct bytes masked)
{
	struct hub *hub = context;
	char address[128];
	int len = snprintf(address, sizeof(address), "%s%c%s", topic, '\0', shop);

	if (len < 0 || (size_t)len >= sizeof(address))
		return;
	inbox_sent(&hub->inboxes[TAP]);
	inbox_sent(&hub->inboxes[TAP_CLEAR]);
	publish(hub->sockets[TAP], BYTES(address, (size_t)len + 1), tapped, masked);
	publish(hub->sockets[TAP_CLEAR], BYTES(address, (size_t)len + 1), tapped, message);
}

/*
 * A stranger's visit to the broker's own sockets
 *
 * CURVE fails open when the one option that closes it is missing or was renamed (gate.h). So the broker does
 * not trust its own settings: at every start a stranger tries to get in.
 *
 * Promises:  0 only when libzmq said that it refused the stranger's key.
 * Fails by:  -EPERM: let in; -ETIMEDOUT: neither let in nor refused; -EMFILE: no socket to try it with; and which socket it was, in
 *            words.
 */

enum { PATIENCE_S = 20, ROUND_MS = 50, EVENTS_MARK = 64, MESSAGE_MAX = 1024 };

struct unauthenticated_client {
	void *socket, *events;
};

/* 0: refused; -EAGAIN: not decided yet */
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

static int watch(struct gate *gate, const struct unauthenticated_client *client)
{
	time_t until_s = now_s() + PATIENCE_S;

	while (now_s() < until_s) {
		zmq_pollitem_t items[] = { { .socket = client->events, .events = ZMQ_POLLIN },
			{ .socket = gate_socket(gate), .events = ZMQ_POLLIN } };
		int r;

		zmq_poll(items, 2, ROUND_MS);
		gate_answer(gate);
		r = hear_event(client->events);
		if (r != -EAGAIN)
			return r;
	}
	return -ETIMEDOUT;
}

static void disguise(const struct hub_settings *settings, struct broker_endpoint *ret)
{
	const char *host = settings->host;
	bool any = strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0;

	*ret = (struct broker_endpoint){ .port = settings->port };
	TEXT_COPY(ret->host, any ? "127.0.0.1" : strcmp(host, "[::]") == 0 ? "[::1]" : host);
	memcpy(ret->broker_key, settings->key->public_key, CURVE_KEY);
	curve_make(&ret->key);
}

static int connect_to(
	const struct unauthenticated_client *client, const struct broker_endpoint *broker, const char *endpoint)
{
	char events[64], name[33];
	int r = broker_endpoint_prepare(broker, client->socket);

	if (r < 0)
		return r;
	text_random_name(name); /* ZeroMQ frees it later, in its own thread: the next visit has another */
	snprintf(events, sizeof(events), "inproc://stranger-%s", name);
	if (zmq_socket_monitor(client->socket, events, ZMQ_EVENT_ALL) < 0 || zmq_connect(client->events, events) < 0 ||
		zmq_connect(client->socket, endpoint) < 0)
		return -zmq_errno();
	return 0;
}

/*
 * Stops the monitor first: ZeroMQ's own thread blocks for ever when it has an event and no socket reads it.
 */
static void part(const struct unauthenticated_client *client)
{
	if (client->socket) {
		zmq_socket_monitor(client->socket, NULL, 0);
		zmq_close(client->socket);
	}
	if (client->events)
		zmq_close(client->events);
}

int probe_closed(void *zmq_context, struct gate *gate, const struct hub_settings *settings, int port_offset, int type,
	char ret_why[256])
{
	struct unauthenticated_client client = { hub_socket(zmq_context, type, 1, MESSAGE_MAX),
		hub_socket(zmq_context, ZMQ_PAIR, EVENTS_MARK, MESSAGE_MAX) };
	char endpoint[192] = "";
	struct broker_endpoint broker;
	int r;

	disguise(settings, &broker);
	r = broker_endpoint_of(&broker, "", port_offset, endpoint);
	if (r == 0 && (!client.socket || !client.events))
		r = -EMFILE;
	r = r < 0 ? r : connect_to(&client, &broker, endpoint);
	r = r < 0 ? r : watch(gate, &client);
	if (r < 0)
		snprintf(ret_why, 256,
			"a stranger with an unknown key was not refused at %.100s (%s): nothing is opened", endpoint,
			r == -EPERM ? "it was let in" : zmq_strerror(-r));
	part(&client);
	return r;
}
