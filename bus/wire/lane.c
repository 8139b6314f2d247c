/*
 * lane.c: the broker's end of the private lanes, one PUSH per session
 *
 * Owns:      the sockets; frames for lanes whose peer has not connected yet.
 * Promises:  a lane admits one connection, of the peer it was opened for; its name cannot be guessed. No send ever blocks.
 * Fails by:  negative errno. A lane that does not take a frame belongs to a peer that is gone (-EAGAIN): credit keeps a live one
 *            below its mark.
 * Read next: hub.c, gate.c
 */
#include "bus/wire/lane.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/gate.h"
#include "bus/wire/reach.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { EARLY_FRAMES_MAX = 256, PLACE_MAX = 48 };

static const int64_t EARLY_US = 3000000; /* how long a peer may take to connect to its fresh lane */
static const char PLACE[] = "lane ";

struct early_frame {
	struct list hook;
	struct buffer frame;
};

struct lane {
	struct list hook;
	uint64_t epoch;
	char who[WHO_MAX]; /* whose it is */
	bool taken;        /* its peer has come: nobody else may */
	void *socket;
	bool connected; /* it took a frame */
	int64_t opened_us;
	struct list early; /* struct early_frame, until the peer connects */
	int early_count;
};

struct lanes {
	void *context;
	const struct hub_settings *settings;
	struct list all;
	struct map *by_epoch;
	int next_port;
};

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* Lanes of a broker that was killed leave their socket files behind. */
static void remove_stale(const char *run)
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

struct lanes *lanes_new(void *zmq_context, const struct hub_settings *settings)
{
	struct lanes *lanes = memory_new(sizeof(*lanes));

	lanes->context = zmq_context;
	lanes->settings = settings;
	lanes->by_epoch = map_new();
	list_init(&lanes->all);
	remove_stale(settings->run);
	return lanes;
}

static void lane_free(struct lanes *lanes, struct lane *lane)
{
	LIST_EACH_SAFE (hook, &lane->early) {
		struct early_frame *early = LIST_ENTRY(hook, struct early_frame, hook);

		buffer_free(&early->frame);
		free(early);
	}
	list_remove(&lane->hook);
	map_remove(lanes->by_epoch, map_number(&lane->epoch));
	zmq_close(lane->socket);
	free(lane);
}

void lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	LIST_EACH_SAFE (hook, &lanes->all)
		lane_free(lanes, LIST_ENTRY(hook, struct lane, hook));
	map_free(lanes->by_epoch);
	free(lanes);
}

/* --- opening --- */

static int bind_ipc(struct lanes *lanes, void *socket, const char *place, char ret_endpoint[160])
{
	char name[33];
	int r = gate_guard(socket, place, NULL);

	text_random_name(name);
	snprintf(ret_endpoint, 160, "ipc://%s/lane-%.16s", lanes->settings->run, name); /* a run folder has 127 bytes */
	return r < 0 ? r : hub_bind_ipc(socket, ret_endpoint, lanes->settings->by_group);
}

/* The next port that is free; one that was used last is used again last. */
static int bind_tcp(struct lanes *lanes, void *socket, const char *place, char ret_endpoint[160])
{
	const struct hub_settings *settings = lanes->settings;
	int r = gate_guard(socket, place, settings->key);

	r = r < 0 ? r : reach_tcp_options(socket, settings->host);
	for (int tried = 0; r == 0 && tried < PORTS - PORT_LANES; tried++) {
		int port = settings->port + PORT_LANES + lanes->next_port;
		char endpoint[192];

		lanes->next_port = (lanes->next_port + 1) % (PORTS - PORT_LANES);
		snprintf(endpoint, sizeof(endpoint), "tcp://%s:%d", settings->host, port);
		snprintf(ret_endpoint, 160, "tcp://*:%d", port);
		if (zmq_bind(socket, endpoint) == 0)
			return 0;
		if (zmq_errno() != EADDRINUSE)
			return -zmq_errno();
	}
	return r < 0 ? r : -EADDRINUSE;
}

int lanes_open(struct lanes *lanes, uint64_t epoch, const char *who, char ret_endpoint[160])
{
	void *socket = hub_socket(lanes->context, ZMQ_PUSH, HUB_FRAMES_MARK, FRAME_BYTES_MAX);
	bool remote = text_starts(who, "key:");
	char place[PLACE_MAX];
	struct lane *lane;
	int r;

	if (!socket)
		return -zmq_errno();
	snprintf(place, sizeof(place), "%s%llu", PLACE, (unsigned long long)epoch);
	r = remote ? bind_tcp(lanes, socket, place, ret_endpoint) : bind_ipc(lanes, socket, place, ret_endpoint);
	if (r < 0) {
		zmq_close(socket);
		return r;
	}
	lane = memory_new(sizeof(*lane));
	lane->epoch = epoch;
	lane->socket = socket;
	lane->opened_us = now_us();
	TEXT_COPY(lane->who, who);
	list_init(&lane->early);
	list_append(&lanes->all, &lane->hook);
	map_put(lanes->by_epoch, map_number(&lane->epoch), lane);
	return 0;
}

void lanes_close(struct lanes *lanes, uint64_t epoch)
{
	struct lane *lane = map_get(lanes->by_epoch, map_number(&epoch));

	if (lane)
		lane_free(lanes, lane);
}

bool lanes_admit(struct lanes *lanes, const char *place, const char *who)
{
	uint64_t epoch;
	struct lane *lane;
	char *end;

	if (!text_starts(place, PLACE))
		return false;
	epoch = strtoull(place + sizeof(PLACE) - 1, &end, 10);
	lane = *end ? NULL : map_get(lanes->by_epoch, map_number(&epoch));
	if (!lane || lane->taken || strcmp(lane->who, who) != 0)
		return false;
	return lane->taken = true;
}

/* --- pushing --- */

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

bool lanes_retry(struct lanes *lanes)
{
	bool waiting = false;

	LIST_EACH (hook, &lanes->all) {
		struct lane *lane = LIST_ENTRY(hook, struct lane, hook);

		if (!list_empty(&lane->early) && !send_early(lane))
			waiting = true;
	}
	return waiting;
}

/* A welcome and a connect cross: messages that come meanwhile are kept, in order, for a moment. */
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

int lanes_push(struct lanes *lanes, uint64_t epoch, struct bytes frame)
{
	struct lane *lane = map_get(lanes->by_epoch, map_number(&epoch));

	if (!lane)
		return -EAGAIN;
	if (send_early(lane) && lane_send(lane, frame))
		return 0;
	return lane->connected ? -EAGAIN : keep_early(lane, frame);
}
