/*
 * connections.c: a thread that watches connections, and the code that cuts some of them
 *
 * Owns:      its ends of the sockets' monitors; a second descriptor for each of the first connections, which
 *            shows whether the peer hung up.
 * Promises:  ZeroMQ's own thread never waits for this one. No report is made of a peer that went away after a
 *            handshake, nor of a peer that the gate turned away, as the gate reports that itself.
 * Fails by:  not knowing: which peer it was, when the connection was over before the thread looked at its
 *            descriptor; whether it shook hands, when others did so at the same time (then nothing is
 *            reported); whether this side ended it, past the first connections.
 * Read next: hub.c
 */
#include "bus/wire/connections.h"
#include "bus/base/bytes.h"
#include "bus/base/list.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

enum { SOCKETS_MOST = 4, SECONDS_MOST = 128, ENDED_MOST = 256, EVENT_LEN = 6, MONITOR_NAME_MAX = 64 };

enum greeting { NOT_GREETED, MAYBE_GREETED, GREETED };

struct connection {
	struct list hook;
	int fd;     /* ZeroMQ's descriptor: only a number, once it is closed */
	int second; /* our own, of the same connection; -1: none */
	enum greeting greeting;
	char who[64];
};

struct watched {
	const char *place;
	void *socket, *events;
	struct list open;
	bool told_by_gate; /* the gate refused the next connection that ends */
};

struct connections {
	void *context;
	struct watched watched[SOCKETS_MOST];
	int count, seconds;
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* guards the fields below */
	struct ended_connection ended[ENDED_MOST];
	unsigned first, waiting;
};

static const char NOISE[] = "it ended without a handshake: noise, a scan, or a peer that died";
static const char ENDED_HERE[] =
	"ZeroMQ ended it: what came is larger than may be, or none of its frames, or (over TCP) "
	"nothing came for too long";

struct connections *connections_new(void *zmq_context)
{
	struct connections *connections = memory_new(sizeof(*connections));

	connections->context = zmq_context;
	pthread_mutex_init(&connections->lock, NULL);
	return connections;
}

int connections_watch(struct connections *connections, void *socket, const char *place)
{
	struct watched *watched = &connections->watched[connections->count];
	const int told = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
		ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
	char name[MONITOR_NAME_MAX];
	int unlimited = 0, linger = 0;

	if (connections->count == SOCKETS_MOST)
		return -ENOSPC;
	*watched = (struct watched){
		.place = place, .socket = socket, .events = zmq_socket(connections->context, ZMQ_PAIR)
	};
	if (!watched->events)
		return -zmq_errno();
	connections->count++;
	list_init(&watched->open);
	zmq_setsockopt(watched->events, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(watched->events, ZMQ_RCVHWM, &unlimited, sizeof(unlimited));
	snprintf(name, sizeof(name), "inproc://connections-%s", place);
	if (zmq_socket_monitor(socket, name, told) < 0 || zmq_connect(watched->events, name) < 0)
		return -zmq_errno();
	return 0;
}

/* --- the peer of a connection --- */

static void name_peer(int fd, char ret[64])
{
	struct sockaddr_storage address;
	struct ucred peer;
	socklen_t len = sizeof(address), peer_len = sizeof(peer);

	ret[0] = '\0';
	if (getpeername(fd, (struct sockaddr *)&address, &len) < 0)
		return;
	if (address.ss_family != AF_UNIX)
		getnameinfo((struct sockaddr *)&address, len, ret, 64, NULL, 0, NI_NUMERICHOST);
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) == 0)
		snprintf(ret, 64, "uid:%lu", (unsigned long)peer.uid);
}

/* Has the other end hung up? Yes for a connection that has no second descriptor. */
static bool is_gone(const struct connection *connection)
{
	char byte;
	ssize_t got =
		connection->second < 0 ? 0 : recv(connection->second, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN);
}

/* --- events --- */

static void begin(struct connections *connections, struct watched *watched, int fd)
{
	struct connection *connection = memory_new(sizeof(*connection));

	connection->fd = fd;
	connection->second = -1;
	if (connections->seconds < SECONDS_MOST)
		connection->second = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	connections->seconds += connection->second >= 0;
	name_peer(connection->second >= 0 ? connection->second : fd, connection->who);
	list_append(&watched->open, &connection->hook);
}

/* ZeroMQ does not say which connection shook hands: when several have not yet, it is not known. */
static void greet(struct watched *watched)
{
	struct connection *only = NULL;
	int count = 0;

	LIST_EACH (hook, &watched->open) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		if (connection->greeting == GREETED)
			continue;
		only = connection;
		count++;
	}
	LIST_EACH (hook, &watched->open) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		if (connection->greeting == NOT_GREETED)
			connection->greeting = MAYBE_GREETED;
	}
	if (count == 1)
		only->greeting = GREETED;
}

static void forget(struct connections *connections, struct connection *connection)
{
	if (connection->second >= 0) {
		close(connection->second);
		connections->seconds--;
	}
	list_remove(&connection->hook);
	free(connection);
}

static void report_ended(struct connections *connections, const char *place, const char *who, const char *why)
{
	struct ended_connection *ended;

	pthread_mutex_lock(&connections->lock);
	if (connections->waiting < ENDED_MOST) {
		ended = &connections->ended[(connections->first + connections->waiting++) % ENDED_MOST];
		ended->place = place;
		ended->why = why;
		TEXT_COPY(ended->who, who);
	}
	pthread_mutex_unlock(&connections->lock);
}

static void end(struct connections *connections, struct watched *watched, struct connection *connection)
{
	if (watched->told_by_gate)
		watched->told_by_gate = false;
	else if (connection->greeting == NOT_GREETED)
		report_ended(connections, watched->place, connection->who, NOISE);
	else if (!is_gone(connection))
		report_ended(connections, watched->place, connection->who, ENDED_HERE);
	forget(connections, connection);
}

static struct connection *find(const struct watched *watched, int fd)
{
	LIST_EACH (hook, &watched->open) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		if (connection->fd == fd)
			return connection;
	}
	return NULL;
}

static void hear(struct connections *connections, struct watched *watched, uint16_t event, int value)
{
	struct connection *known = find(watched, value);

	switch (event) {
	case ZMQ_EVENT_ACCEPTED:
		if (known)
			forget(connections, known);
		begin(connections, watched, value);
		break;
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		greet(watched);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		watched->told_by_gate = true;
		break;
	case ZMQ_EVENT_DISCONNECTED:
		if (known)
			end(connections, watched, known);
		break;
	}
}

/* false: there is no event now. */
static bool hear_one(struct connections *connections, struct watched *watched)
{
	uint8_t event[EVENT_LEN] = { 0 };
	char endpoint[1];

	if (zmq_recv(watched->events, event, sizeof(event), ZMQ_DONTWAIT) != EVENT_LEN)
		return false;
	zmq_recv(watched->events, endpoint, sizeof(endpoint), ZMQ_DONTWAIT);
	hear(connections, watched, get_u16(event), (int)get_u32(event + 2));
	return true;
}

/* Runs until the context ends. */
static void *listen_on(void *self)
{
	struct connections *connections = self;
	zmq_pollitem_t items[SOCKETS_MOST];

	for (int i = 0; i < connections->count; i++)
		items[i] = (zmq_pollitem_t){ .socket = connections->watched[i].events, .events = ZMQ_POLLIN };
	while (zmq_poll(items, connections->count, -1) >= 0 || zmq_errno() == EINTR)
		for (int i = 0; i < connections->count; i++)
			while (hear_one(connections, &connections->watched[i]))
				;
	for (int i = 0; i < connections->count; i++)
		zmq_close(connections->watched[i].events);
	return NULL;
}

int connections_start(struct connections *connections)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&connections->thread, NULL, listen_on, connections);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	connections->runs = r == 0;
	return -r;
}

bool connections_take(struct connections *connections, struct ended_connection *ret)
{
	bool any;

	pthread_mutex_lock(&connections->lock);
	any = connections->waiting > 0;
	if (any) {
		*ret = connections->ended[connections->first];
		connections->first = (connections->first + 1) % ENDED_MOST;
		connections->waiting--;
	}
	pthread_mutex_unlock(&connections->lock);
	return any;
}

/*
 * Stops the monitors first: ZeroMQ's own thread blocks for ever when it has an event and no socket reads it.
 */
void connections_stop(struct connections *connections)
{
	for (int i = 0; connections && i < connections->count; i++) {
		zmq_socket_monitor(connections->watched[i].socket, NULL, 0);
		if (!connections->runs)
			zmq_close(connections->watched[i].events);
	}
}

void connections_free(struct connections *connections)
{
	if (!connections)
		return;
	if (connections->runs)
		pthread_join(connections->thread, NULL);
	for (int i = 0; i < connections->count; i++)
		LIST_EACH_SAFE (hook, &connections->watched[i].open)
			forget(connections, LIST_ENTRY(hook, struct connection, hook));
	pthread_mutex_destroy(&connections->lock);
	free(connections);
}

/*
 * Ends TCP connections of this process by their descriptors
 *
 * Promises:  only connections to the given ports are touched, and only shut down: to the thread of ZeroMQ
 *            that owns the descriptor it looks as if the other end had hung up, and it closes it.
 * Fails by:  cutting too much: a descriptor that is closed and used anew in this very moment belongs to a
 *            newer connection at the same ports, whose peer connects again. On a descriptor that is no socket
 *            shutdown() does nothing.
 */

enum { ADDRESS_LEN = 64 };

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int port_of(const union address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return ntohs(address->v4.sin_port);
	case AF_INET6:
		return ntohs(address->v6.sin6_port);
	default:
		return -1;
	}
}

/* false: no connection of these ports */
static bool peer_of(int fd, int port, int count, char ret[ADDRESS_LEN])
{
	union address here, there;
	socklen_t here_len = sizeof(here), there_len = sizeof(there);

	if (getsockname(fd, &here.any, &here_len) < 0 || port_of(&here) < port || port_of(&here) >= port + count)
		return false;
	return getpeername(fd, &there.any, &there_len) == 0 &&
		getnameinfo(&there.any, there_len, ret, ADDRESS_LEN, NULL, 0, NI_NUMERICHOST) == 0;
}

/* Both ends are closed already: by an earlier cut, through another descriptor of the same connection. */
static bool is_over(int fd)
{
	struct pollfd polled = { .fd = fd };

	return poll(&polled, 1, 0) == 1 && (polled.revents & POLLHUP);
}

size_t cut_connections(int port, int count, cut_fn *is_to_go, void *context)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t cut = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		char address[ADDRESS_LEN];
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (!peer_of(fd, port, count, address) || is_over(fd) || !is_to_go(context, address))
			continue;
		cut += shutdown(fd, SHUT_RDWR) == 0;
	}
	closedir(folder);
	return cut;
}
