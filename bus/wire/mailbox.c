/*
 * mailbox.c: the broker's end of the private mailboxes, one PUSH per session
 *
 * Owns:      the sockets; frames for mailboxes whose peer has not connected yet.
 * Promises:  a mailbox admits one connection, of the peer it was opened for; its name cannot be guessed. No
 *            send ever blocks.
 * Fails by:  negative errno. A mailbox that does not take a frame belongs to a peer that is gone (-EAGAIN):
 *            credit keeps the mailbox of a live peer below its mark.
 * Read next: hub.c, gate.c
 */
#include "bus/wire/mailbox.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/frame.h"
#include "bus/wire/gate.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { EARLY_FRAMES_MAX = 256, PLACE_MAX = 48 };

static const int64_t EARLY_US = 3000000; /* how long a peer may take to connect to its new mailbox */
static const char PLACE[] = "lane ";

struct early_frame {
	struct list hook;
	struct buffer frame;
};

struct mailbox {
	struct list hook;
	uint64_t epoch;
	char who[WHO_MAX]; /* the peer that it is for */
	bool taken;        /* the peer has connected: no other may */
	void *socket;
	bool connected; /* it has taken a frame */
	int64_t opened_us;
	struct list early; /* struct early_frame, until the peer connects */
	int early_count;
};

struct mailboxes {
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

/* Removes the socket files that a killed broker left behind. */
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

struct mailboxes *mailboxes_new(void *zmq_context, const struct hub_settings *settings)
{
	struct mailboxes *mailboxes = memory_new(sizeof(*mailboxes));

	mailboxes->context = zmq_context;
	mailboxes->settings = settings;
	mailboxes->by_epoch = map_new();
	list_init(&mailboxes->all);
	remove_stale(settings->run);
	return mailboxes;
}

static void mailbox_free(struct mailboxes *mailboxes, struct mailbox *mailbox)
{
	LIST_EACH_SAFE (hook, &mailbox->early) {
		struct early_frame *early = LIST_ENTRY(hook, struct early_frame, hook);

		buffer_free(&early->frame);
		free(early);
	}
	list_remove(&mailbox->hook);
	map_remove(mailboxes->by_epoch, map_number(&mailbox->epoch));
	zmq_close(mailbox->socket);
	free(mailbox);
}

void mailboxes_free(struct mailboxes *mailboxes)
{
	if (!mailboxes)
		return;
	LIST_EACH_SAFE (hook, &mailboxes->all)
		mailbox_free(mailboxes, LIST_ENTRY(hook, struct mailbox, hook));
	map_free(mailboxes->by_epoch);
	free(mailboxes);
}

/* --- opening --- */

static int bind_ipc(struct mailboxes *mailboxes, void *socket, const char *place, char ret_endpoint[160])
{
	char name[33];
	int r = gate_guard(socket, place, NULL);

	text_random_name(name);
	snprintf(ret_endpoint, 160, "ipc://%s/lane-%.16s", mailboxes->settings->run,
		name); /* a run folder has 127 bytes */
	return r < 0 ? r : hub_bind_ipc(socket, ret_endpoint, mailboxes->settings->by_group);
}

/* Binds the next free port; the port used last is tried last. */
static int bind_tcp(struct mailboxes *mailboxes, void *socket, const char *place, char ret_endpoint[160])
{
	const struct hub_settings *settings = mailboxes->settings;
	int r = gate_guard(socket, place, settings->key);

	r = r < 0 ? r : broker_endpoint_tcp_options(socket, settings->host);
	for (int tried = 0; r == 0 && tried < PORTS - PORT_MAILBOXES; tried++) {
		int port = settings->port + PORT_MAILBOXES + mailboxes->next_port;
		char endpoint[192];

		mailboxes->next_port = (mailboxes->next_port + 1) % (PORTS - PORT_MAILBOXES);
		snprintf(endpoint, sizeof(endpoint), "tcp://%s:%d", settings->host, port);
		snprintf(ret_endpoint, 160, "tcp://*:%d", port);
		if (zmq_bind(socket, endpoint) == 0)
			return 0;
		if (zmq_errno() != EADDRINUSE)
			return -zmq_errno();
	}
	return r < 0 ? r : -EADDRINUSE;
}

int mailboxes_open(struct mailboxes *mailboxes, uint64_t epoch, const char *who, char ret_endpoint[160])
{
	void *socket = hub_socket(mailboxes->context, ZMQ_PUSH, HUB_FRAMES_MARK, FRAME_BYTES_MAX);
	bool remote = text_starts(who, "key:");
	char place[PLACE_MAX];
	struct mailbox *mailbox;
	int r;

	if (!socket)
		return -zmq_errno();
	snprintf(place, sizeof(place), "%s%llu", PLACE, (unsigned long long)epoch);
	r = remote ? bind_tcp(mailboxes, socket, place, ret_endpoint)
		   : bind_ipc(mailboxes, socket, place, ret_endpoint);
	if (r < 0) {
		zmq_close(socket);
		return r;
	}
	mailbox = memory_new(sizeof(*mailbox));
	mailbox->epoch = epoch;
	mailbox->socket = socket;
	mailbox->opened_us = now_us();
	TEXT_COPY(mailbox->who, who);
	list_init(&mailbox->early);
	list_append(&mailboxes->all, &mailbox->hook);
	map_put(mailboxes->by_epoch, map_number(&mailbox->epoch), mailbox);
	return 0;
}

void mailboxes_close(struct mailboxes *mailboxes, uint64_t epoch)
{
	struct mailbox *mailbox = map_get(mailboxes->by_epoch, map_number(&epoch));

	if (mailbox)
		mailbox_free(mailboxes, mailbox);
}

bool mailboxes_admit(struct mailboxes *mailboxes, const char *place, const char *who)
{
	uint64_t epoch;
	struct mailbox *mailbox;
	char *end;

	if (!text_starts(place, PLACE))
		return false;
	epoch = strtoull(place + sizeof(PLACE) - 1, &end, 10);
	mailbox = *end ? NULL : map_get(mailboxes->by_epoch, map_number(&epoch));
	if (!mailbox || mailbox->taken || strcmp(mailbox->who, who) != 0)
		return false;
	return mailbox->taken = true;
}

/* --- pushing --- */

static bool mailbox_send(struct mailbox *mailbox, struct bytes frame)
{
	if (zmq_send(mailbox->socket, frame.data, frame.len, ZMQ_DONTWAIT) < 0)
		return false;
	mailbox->connected = true;
	return true;
}

/* Sends frames kept from before the peer connected. false: it still has not. */
static bool send_early(struct mailbox *mailbox)
{
	LIST_EACH_SAFE (hook, &mailbox->early) {
		struct early_frame *early = LIST_ENTRY(hook, struct early_frame, hook);

		if (!mailbox_send(mailbox, buffer_bytes(&early->frame)))
			return false;
		list_remove(hook);
		mailbox->early_count--;
		buffer_free(&early->frame);
		free(early);
	}
	return true;
}

bool mailboxes_retry(struct mailboxes *mailboxes)
{
	bool waiting = false;

	LIST_EACH (hook, &mailboxes->all) {
		struct mailbox *mailbox = LIST_ENTRY(hook, struct mailbox, hook);

		if (!list_empty(&mailbox->early) && !send_early(mailbox))
			waiting = true;
	}
	return waiting;
}

/* The welcome and the peer's connect cross: frames in between are kept, in order, for a moment. */
static int keep_early(struct mailbox *mailbox, struct bytes frame)
{
	struct early_frame *early;

	if (mailbox->early_count == EARLY_FRAMES_MAX || now_us() - mailbox->opened_us > EARLY_US)
		return -EAGAIN;
	early = memory_new(sizeof(*early));
	buffer_add(&early->frame, frame.data, frame.len);
	list_append(&mailbox->early, &early->hook);
	mailbox->early_count++;
	return 0;
}

int mailboxes_push(struct mailboxes *mailboxes, uint64_t epoch, struct bytes frame)
{
	struct mailbox *mailbox = map_get(mailboxes->by_epoch, map_number(&epoch));

	if (!mailbox)
		return -EAGAIN;
	if (send_early(mailbox) && mailbox_send(mailbox, frame))
		return 0;
	return mailbox->connected ? -EAGAIN : keep_early(mailbox, frame);
}
