/*
 * hub.c: the broker's side of the sockets
 *
 * Owns:      the ZeroMQ context and every socket the broker binds; frames for lanes whose peer has not connected yet.
 * Promises:  marks, linger, sizes and rights are set explicitly; no send ever blocks; only ingress and control are polled.
 * Fails by:  negative errno. A lane that does not take a frame belongs to a peer that is gone (-EAGAIN): credit keeps a live one
 *            below its mark.
 * Read next: zmq_link.c, the other end
 */
#include "bus/wire/hub.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/wire/frame.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum {
	FRAMES_MARK = 4096,           /* frames in flight per socket; credit stays far below */
	TAP_MARK = 16384,             /* a slow tap loses, it never holds anybody up */
	CONTROL_BYTES_MAX = 64 << 10, /* a hello that names 256 leases is 20 KB */
	SOCKETS_MAX = 4096,           /* one per session */
	EARLY_FRAMES_MAX = 256,
};

static const int64_t EARLY_US = 3000000; /* how long a peer may take to connect to its fresh lane */
static const int64_t RETRY_US = 2000;    /* how often a lane with early frames is tried */

struct early_frame {
	struct list hook;
	struct buffer frame;
};

struct lane {
	struct list hook;
	uint64_t epoch;
	void *socket;
	bool connected; /* it took a frame */
	int64_t opened_us;
	struct list early; /* struct early_frame, until the peer connects */
	int early_count;
};

struct hub {
	char run[128];
	void *context;
	void *ingress, *control, *tap;
	struct list lanes;
	struct map *by_epoch;
	zmq_msg_t frame, peer, message;
};

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void *open_socket(void *context, int type, int mark, int64_t bytes_max)
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

static int bind_socket(
	struct hub *hub, int type, const char *name, int mark, int64_t bytes_max, void **ret, char why[256])
{
	char endpoint[192];

	snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", hub->run, name);
	*ret = open_socket(hub->context, type, mark, bytes_max);
	if (*ret && zmq_bind(*ret, endpoint) == 0)
		return 0;
	snprintf(why, 256, "cannot bind %s: %s", endpoint, zmq_strerror(zmq_errno()));
	return -EIO;
}

/* Lanes of a broker that was killed leave their socket files behind. */
static void remove_stale_lanes(const char *run)
{
	DIR *folder = opendir(run);
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (strncmp(entry->d_name, "lane-", 5) == 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
}

int hub_open(const char *run, struct hub **ret, char ret_why[256])
{
	struct hub *hub = memory_new(sizeof(*hub));
	int r;

	snprintf(hub->run, sizeof(hub->run), "%s", run);
	list_init(&hub->lanes);
	hub->by_epoch = map_new();
	hub->context = zmq_ctx_new();
	zmq_ctx_set(hub->context, ZMQ_MAX_SOCKETS, SOCKETS_MAX);
	zmq_msg_init(&hub->frame);
	zmq_msg_init(&hub->peer);
	zmq_msg_init(&hub->message);
	remove_stale_lanes(run);
	if ((r = bind_socket(hub, ZMQ_PULL, "ingress", FRAMES_MARK, FRAME_BYTES_MAX, &hub->ingress, ret_why)) < 0 ||
		(r = bind_socket(hub, ZMQ_ROUTER, "control", FRAMES_MARK, CONTROL_BYTES_MAX, &hub->control, ret_why)) <
			0 ||
		(r = bind_socket(hub, ZMQ_PUB, "tap", TAP_MARK, FRAME_BYTES_MAX, &hub->tap, ret_why)) < 0) {
		hub_close(hub);
		return r;
	}
	*ret = hub;
	return 0;
}

static void lane_free(struct hub *hub, struct lane *lane)
{
	LIST_EACH_SAFE (hook, &lane->early) {
		struct early_frame *early = LIST_ENTRY(hook, struct early_frame, hook);

		buffer_free(&early->frame);
		free(early);
	}
	list_remove(&lane->hook);
	map_remove(hub->by_epoch, map_number(&lane->epoch));
	zmq_close(lane->socket);
	free(lane);
}

static void close_socket(void *socket)
{
	if (socket)
		zmq_close(socket);
}

void hub_close(struct hub *hub)
{
	if (!hub)
		return;
	LIST_EACH_SAFE (hook, &hub->lanes)
		lane_free(hub, LIST_ENTRY(hook, struct lane, hook));
	map_free(hub->by_epoch);
	zmq_msg_close(&hub->frame);
	zmq_msg_close(&hub->peer);
	zmq_msg_close(&hub->message);
	close_socket(hub->ingress);
	close_socket(hub->control);
	close_socket(hub->tap);
	zmq_ctx_term(hub->context);
	free(hub);
}

static bool lane_send(struct lane *lane, struct bytes frame)
{
	if (zmq_send(lane->socket, frame.data, frame.len, ZMQ_DONTWAIT) < 0)
		return false;
	lane->connected = true;
	return true;
}

/* What was said before the peer had connected. false: it still has not. */
static bool send_early(struct lane *lane)
{
	LIST_EACH_SAFE (hook, &lane->early) {
		struct early_frame *early = LIST_ENTRY(hook, struct early_frame, hook);

		if (!lane_send(lane, buffer_bytes(&early->frame)))
			return false;
		list_remove(hook);
		lane->early_count--;
		buffer_free(&early->frame);
		free(early);
	}
	return true;
}

/* Tries the lanes that wait for their peer; true: some still do. */
static bool retry_lanes(struct hub *hub)
{
	bool waiting = false;

	LIST_EACH (hook, &hub->lanes) {
		struct lane *lane = LIST_ENTRY(hook, struct lane, hook);

		if (!list_empty(&lane->early) && !send_early(lane))
			waiting = true;
	}
	return waiting;
}

int hub_wait(struct hub *hub, int64_t most_us)
{
	zmq_pollitem_t items[] = {
		{ .socket = hub->ingress, .events = ZMQ_POLLIN },
		{ .socket = hub->control, .events = ZMQ_POLLIN },
	};
	long most_ms;

	if (retry_lanes(hub) && most_us > RETRY_US)
		most_us = RETRY_US;
	most_ms = (long)((most_us + 999) / 1000);
	if (zmq_poll(items, 2, most_ms) < 0 && zmq_errno() != EINTR)
		return -zmq_errno();
	return 0;
}

static int receive(void *socket, zmq_msg_t *message)
{
	if (zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0)
		return zmq_errno() == EINTR ? -EAGAIN : -zmq_errno();
	return 0;
}

static struct bytes message_bytes(zmq_msg_t *message)
{
	return BYTES(zmq_msg_data(message), zmq_msg_size(message));
}

/* Every further part of a message that should have had none. */
static bool drop_further_parts(void *socket, zmq_msg_t *message)
{
	bool further = false;

	while (zmq_msg_more(message)) {
		further = true;
		if (receive(socket, message) < 0)
			break;
	}
	return further;
}

int hub_hear_frame(struct hub *hub, struct bytes *ret)
{
	int r;

	do {
		r = receive(hub->ingress, &hub->frame);
		if (r < 0)
			return r;
	} while (drop_further_parts(hub->ingress, &hub->frame));
	*ret = message_bytes(&hub->frame);
	return 0;
}

/* Over ipc the peer's address ends in uid:gid:pid. */
static long peer_uid(zmq_msg_t *message)
{
	const char *address = zmq_msg_gets(message, "Peer-Address");
	const char *at = address ? address + strlen(address) : NULL;
	int colons = 0;

	while (at && at > address && colons < 3)
		colons += *--at == ':';
	return colons == 3 ? strtol(at + 1, NULL, 10) : -1;
}

int hub_hear_control(struct hub *hub, struct bytes *ret_peer, long *ret_uid, struct bytes *ret_message)
{
	for (;;) {
		int r = receive(hub->control, &hub->peer);

		if (r < 0)
			return r;
		if (!zmq_msg_more(&hub->peer))
			continue;
		r = receive(hub->control, &hub->message);
		if (r < 0)
			return r;
		if (!drop_further_parts(hub->control, &hub->message))
			break;
	}
	*ret_peer = message_bytes(&hub->peer);
	*ret_message = message_bytes(&hub->message);
	*ret_uid = peer_uid(&hub->message);
	return 0;
}

int hub_open_lane(void *context, uint64_t epoch, char ret_endpoint[160])
{
	struct hub *hub = context;
	struct lane *lane;
	void *socket = open_socket(hub->context, ZMQ_PUSH, FRAMES_MARK, FRAME_BYTES_MAX);

	snprintf(ret_endpoint, 160, "ipc://%s/lane-%llu", hub->run, (unsigned long long)epoch);
	if (!socket)
		return -zmq_errno();
	if (zmq_bind(socket, ret_endpoint) < 0) {
		int r = -zmq_errno();

		zmq_close(socket);
		return r;
	}
	lane = memory_new(sizeof(*lane));
	lane->epoch = epoch;
	lane->socket = socket;
	lane->opened_us = now_us();
	list_init(&lane->early);
	list_append(&hub->lanes, &lane->hook);
	map_put(hub->by_epoch, map_number(&lane->epoch), lane);
	return 0;
}

void hub_close_lane(void *context, uint64_t epoch)
{
	struct hub *hub = context;
	struct lane *lane = map_get(hub->by_epoch, map_number(&epoch));

	if (lane)
		lane_free(hub, lane);
}

/* A welcome and a connect cross: what is said meanwhile is kept, in order, for a moment. */
static int keep_early(struct lane *lane, struct bytes frame)
{
	struct early_frame *early;

	if (lane->early_count == EARLY_FRAMES_MAX || now_us() - lane->opened_us > EARLY_US)
		return -EAGAIN;
	early = memory_new(sizeof(*early));
	buffer_add(&early->frame, frame.data, frame.len);
	list_append(&lane->early, &early->hook);
	lane->early_count++;
	return 0;
}

int hub_push(void *context, uint64_t epoch, struct bytes frame)
{
	struct hub *hub = context;
	struct lane *lane = map_get(hub->by_epoch, map_number(&epoch));

	if (!lane)
		return -EAGAIN;
	if (send_early(lane) && lane_send(lane, frame))
		return 0;
	return lane->connected ? -EAGAIN : keep_early(lane, frame);
}

void hub_control(void *context, struct bytes peer, struct bytes message)
{
	struct hub *hub = context;

	if (zmq_send(hub->control, peer.data, peer.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
		zmq_send(hub->control, message.data, message.len, ZMQ_DONTWAIT);
}

void hub_tap(void *context, const char *topic, const char *shop, struct bytes tapped, struct bytes message)
{
	struct hub *hub = context;
	char address[128];
	int len = snprintf(address, sizeof(address), "%s%c%s", topic, '\0', shop);

	if (len < 0 || (size_t)len >= sizeof(address))
		return;
	if (zmq_send(hub->tap, address, (size_t)len + 1, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
		zmq_send(hub->tap, tapped.data, tapped.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
		zmq_send(hub->tap, message.data, message.len, ZMQ_DONTWAIT);
}
