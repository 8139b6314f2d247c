/* sidelog.c: the side log, read */
#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/wire/message.h"

struct telling {
	sidelog_said_fn *each;
	void *context;
};

/* The result borrows from the envelope. */
static struct message_meta said_of(const struct sidelog_record *record, const Envelope *envelope)
{
	return (struct message_meta){ .topic = envelope->topic,
		.shop = envelope->shop,
		.key = envelope->key,
		.idem = envelope->idem,
		.trace = "",
		.said_by = "",
		.seq = record->seq,
		.version = envelope->version,
		.tombstone = envelope->tombstone,
		.time_us = record->time_us };
}

static void hand_record(const struct sidelog_record *record, void *context)
{
	const struct telling *telling = context;
	struct bytes payload;
	Envelope envelope;
	struct message_meta said;

	if (!telling->each || message_read(record->message, &envelope, &payload) < 0)
		return;
	said = said_of(record, &envelope);
	telling->each(&said, payload, telling->context);
}

int sidelog_each(const char *path, sidelog_said_fn *each, void *context, struct sidelog_read *ret)
{
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct telling telling = { .each = each, .context = context };
	int r = file_read(path, SIDELOG_MOST, &file);

	*ret = (struct sidelog_read){ 0 };
	return r < 0 ? r : sidelog_read(buffer_bytes(&file), hand_record, &telling, ret);
}
