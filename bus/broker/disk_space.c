/*
 * disk_space.c: keeps new messages out while the disk is nearly full
 *
 * Promises:  below the headroom the broker refuses peers that bring new messages, with the reason and only
 *            for now. Peers with a queue go on (their acknowledgements, returns, dead letters, claims and
 *            outcomes end existing items), and so does the operator. Peers are admitted again as soon as
 *            there is room, without a restart.
 * Read next: ingress.c (the caller), store/rocks/rocks.c (a disk that is full after all)
 */
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"
#include <stdio.h>

static const int64_t LOOK_EVERY_US = 100 * US_PER_MS; /* far less than a headroom is written in this time */

static uint64_t headroom(const struct broker *broker, uint64_t total)
{
	uint64_t share = total / 100 * broker->settings.headroom_percent;

	return share > broker->settings.headroom_bytes ? share : broker->settings.headroom_bytes;
}

void disk_space_look(struct broker *broker)
{
	uint64_t total = 0;
	struct disk_space *space = &broker->disk_space;

	if (space->looked_boot_us > 0 && broker_boot_us(broker) - space->looked_boot_us < LOOK_EVERY_US)
		return;
	space->looked_boot_us = broker_boot_us(broker);
	if (store_disk_space(broker->store, &space->free_bytes, &total) < 0)
		return;
	space->headroom_bytes = headroom(broker, total);
	space->is_short = space->free_bytes < space->headroom_bytes;
}

/* A short text, as it travels with every refusal. */
static void say_short(const struct disk_space *space, char ret[256])
{
	snprintf(ret, 256,
		"disk: %llu MiB are free and %llu are kept for what is there already; make room in the file system of "
		"[paths] state, or change [broker] headroom",
		(unsigned long long)(space->free_bytes >> 20), (unsigned long long)(space->headroom_bytes >> 20));
}

bool disk_space_refuses(struct broker *broker, const struct session *session, char ret_reason[256])
{
	const struct topology_peer *peer = &broker->topology.peers[session->peer];

	if (!broker->disk_space.is_short || broker->queues[session->peer] || peer->operator_)
		return false;
	say_short(&broker->disk_space, ret_reason);
	broker->admission->refused[REFUSED_ROOM]++;
	return true;
}

bool broker_is_short(const struct broker *broker, char ret_why[256])
{
	if (broker->disk_space.is_short)
		say_short(&broker->disk_space, ret_why);
	return broker->disk_space.is_short;
}
