/* pending.c: a message that was said, kept until it has been decided on */
#include "services/carts/rehearsal/pending.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <stdlib.h>

struct message *message_new(const struct message_meta *said, struct bytes payload, uint64_t seq, int64_t time_us)
{
	struct message *message = memory_new(sizeof(*message));

	TEXT_COPY(message->topic, said->topic);
	TEXT_COPY(message->shop, said->shop);
	TEXT_COPY(message->key, said->key);
	TEXT_COPY(message->said_by, said->said_by);
	buffer_add(&message->payload, payload.data, payload.len);
	message->said = (struct message_meta){ .topic = message->topic,
		.shop = message->shop,
		.key = message->key,
		.idem = "",
		.trace = "",
		.said_by = message->said_by,
		.seq = seq,
		.version = said->version,
		.tombstone = said->tombstone,
		.cause = said->cause,
		.time_us = time_us };
	return message;
}

void message_free(struct message *message)
{
	if (!message)
		return;
	buffer_free(&message->payload);
	free(message);
}

struct pending *pending_new(struct message *message, enum role role, uint64_t past)
{
	struct pending *pending = memory_new(sizeof(*pending));

	list_init(&pending->hook);
	list_init(&pending->behind);
	pending->message = message;
	pending->role = role;
	pending->past = past;
	return pending;
}

void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	list_remove(&pending->hook);
	while (!list_empty(&pending->behind))
		pending_free(LIST_ENTRY(pending->behind.next, struct pending, hook));
	if (pending->running.request && pending->running.kind->request_free)
		pending->running.kind->request_free(pending->running.request);
	message_free(pending->message);
	free(pending);
}
