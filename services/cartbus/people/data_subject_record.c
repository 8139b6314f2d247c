/*
 * data_subject_record.c: records each action on one shopper's data, and reads dead letters
 *
 * Promises:  the record names the person only by the keyed hash of the person's address.
 */
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/people/data_subject.h"

#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include <stdio.h>

int data_subject_record_hash(const struct command *command, struct client *client, const char *shop, const char *action,
	const char *hash, const char *grounds)
{
	Audit audit = { .at_us = clock_wall_us(&command->clock) };
	struct client_said said;
	char idem[64], why[256];

	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, operator_name());
	TEXT_COPY(audit.address_hash, hash);
	TEXT_COPY(audit.grounds, grounds);
	text_random_name(idem); /* each command is an act of its own */
	if (CLIENT_SAY(client, audit, &audit, &said, why, .shop = shop, .key = *hash ? hash : shop, .idem = idem) == 0)
		return EXIT_FINE;
	complain(command, "nothing was done, because it could not be put on record: %s", why);
	return EXIT_NO;
}

int data_subject_record(const struct command *command, struct client *client, const char *shop, const char *action,
	const struct data_subject *data_subject, const char *grounds)
{
	const char *hash = data_subject_hash(data_subject, 0);

	return data_subject_record_hash(command, client, shop, action, hash ? hash : "", grounds);
}

json_t *data_subject_dead_letter(const struct command *command, struct client *client, const json_t *listed)
{
	return command_look(command, client, "dead.show",
		json_pack(
			"{s:O,s:O}", "queue", json_object_get(listed, "queue"), "seq", json_object_get(listed, "seq")));
}

void *data_subject_dead_letter_read(const json_t *dead_letter, struct buffer *payload, struct entry *ret)
{
	const struct topic *topic = topic_of(member_text(dead_letter, "topic"));

	payload_from_base64(member_text(dead_letter, "payload"), payload);
	*ret = (struct entry){ .seq = (uint64_t)json_integer_value(json_object_get(dead_letter, "seq")),
		.time_us = json_integer_value(json_object_get(dead_letter, "time_us")),
		.topic = member_text(dead_letter, "topic"),
		.shop = member_text(dead_letter, "shop"),
		.key = member_text(dead_letter, "key"),
		.idem = member_text(dead_letter, "idem"),
		.said_by = "",
		.trace = "",
		.payload = buffer_bytes(payload) };
	return topic ? payload_decode(topic, ret->payload) : NULL;
}
