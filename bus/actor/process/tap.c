/*
 * tap.c: receives the broker's commits as they happen
 *
 * Owns:      the subscription, and the last message heard.
 */
#include "bus/actor/tap.h"

#include "bus/base/memory.h"
#include "bus/wire/message.h"
#include "bus/wire/tap_link.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tap {
	struct tap_link *link;
	struct buffer message;
	Tapped tapped;
	Envelope envelope;
};

/* The beginning of a PUB frame: "topic\0shop\0". */
static struct bytes prefix_of(const char *topic, char room[64])
{
	size_t len = topic ? strlen(topic) : 0;

	if (len > 1 && len < 64 && topic[len - 1] == '*')
		len -= 1;
	else if (len && len < 63)
		len += 1; /* its NUL: exactly this topic */
	memcpy(room, topic ? topic : "", len);
	return BYTES(room, len);
}

int tap_open(const struct config *config, const char *service, bool is_clear, const char *topic, struct tap **ret)
{
	struct tap *tap = memory_new(sizeof(*tap));
	char why[256], prefix[64];
	struct broker_endpoint broker;
	int failed;

	if (topic && strlen(topic) >= sizeof(prefix) - 1) {
		free(tap);
		return -EINVAL;
	}
	failed = broker_endpoint_read(config, service, &broker, why);
	failed = failed ? failed : tap_link_open(&broker, is_clear, prefix_of(topic, prefix), &tap->link);
	curve_wipe(&broker.key);
	if (failed) {
		free(tap);
		return failed;
	}
	*ret = tap;
	return 0;
}

void tap_close(struct tap *tap)
{
	if (!tap)
		return;
	tap_link_close(tap->link);
	buffer_free(&tap->message);
	free(tap);
}

static void said_of(const struct tap *tap, struct message_meta *ret)
{
	*ret = (struct message_meta){ .topic = tap->envelope.topic,
		.shop = tap->envelope.shop,
		.key = tap->envelope.key,
		.idem = tap->envelope.idem,
		.trace = tap->envelope.trace,
		.said_by = tap->tapped.said_by,
		.seq = tap->tapped.seq,
		.version = tap->envelope.version,
		.tombstone = tap->envelope.tombstone,
		.cause = tap->envelope.cause,
		.time_us = tap->tapped.time_us };
}

int tap_fd(const struct tap *tap)
{
	return tap_link_fd(tap->link);
}

int tap_next(struct tap *tap, int64_t wait_us, struct message_meta *ret_said, struct bytes *ret_payload)
{
	int failed = tap_link_hear(tap->link, wait_us, &tap->tapped, &tap->message);

	failed = failed ? failed : message_read(buffer_bytes(&tap->message), &tap->envelope, ret_payload);
	if (!failed)
		said_of(tap, ret_said);
	return failed;
}
