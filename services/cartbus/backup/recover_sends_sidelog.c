/*
 * recover_sends_sidelog.c: learns what forbids a mail from the side log, word for word
 *
 * Promises:  each message is noted once, under its old idempotency key; a row that stands for older messages
 *            is noted as the request that it came from. An erased person is put on the list of people who are
 *            not mailed again, and nothing else of the person is noted. No person is let back on: messages
 *            that would do so are only counted.
 * Fails by:  telling that a side log is damaged, or of another installation; neither counts as known.
 * Read next: bus/broker/log/sidelog.c (writes it), recover_sends_publish.c
 */
#include "services/cartbus/backup/recover_sends.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/people/erasures.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 900 };

struct reading {
	struct recover_sends *recovery;
	char log[40];
	uint64_t after; /* numbers up to here are in the backup */
	bool in_place;
};

static void message_name(const struct reading *reading, const struct message_meta *said, char ret[80])
{
	snprintf(ret, 80, "%.32s/%012llu", reading->log, (unsigned long long)said->seq);
}

static void note(
	struct reading *reading, const struct message_meta *said, const struct topic *topic, const void *message)
{
	char name[80], idem[200];

	message_name(reading, said, name);
	snprintf(idem, sizeof(idem), "restored/%.100s", name);
	recover_sends_note(reading->recovery,
		&(struct recalled){ .name = name,
			.shop = said->shop,
			.key = said->key,
			.idem = *said->idem ? said->idem : idem,
			.at_us = said->time_us },
		topic, message);
}

static void take_suppression(struct reading *reading, const struct message_meta *said, const Suppression *row)
{
	OptoutRequest asked = { .source = row->source, .heard_us = row->since_us };

	TEXT_COPY(asked.address_hash, row->address_hash);
	if (!row->lifted)
		note(reading, said, &topic_optout_request, &asked);
}

static void take_order(struct reading *reading, const struct message_meta *said, const CartCheckout *checkout)
{
	if (!erasures_name(
		    reading->recovery->command, reading->recovery->erased, said->shop, &checkout->ids, said->time_us))
		note(reading, said, &topic_cart_checkout, checkout);
}

static void take_privacy(struct reading *reading, const struct message_meta *said, const PrivacyState *row)
{
	if (!row->settled && !said->tombstone)
		note(reading, said, &topic_privacy_request, &row->request);
}

/*
 * The shopper may have said no again since then, also after the restore. A restore must not lift that: only
 * the owner does.
 */
static void take_lift(const struct reading *reading, const struct message_meta *said)
{
	char name[80];

	message_name(reading, said, name);
	json_object_set_new(reading->recovery->let_back, name, json_true());
}

/* In a copy from before an erasure, the owner's reason may name an erased person, so it is replaced. */
static void take_action(struct reading *reading, const struct message_meta *said, AdminAction *action)
{
	if (action->verb == ADMIN_LIFT_SUPPRESSION || action->verb == ADMIN_TAKE_BACK) {
		take_lift(reading, said);
		return;
	}
	if (!reading->in_place && json_array_size(reading->recovery->erased) > 0)
		TEXT_COPY(action->reason, "as before the log was restored");
	if (action->verb != ADMIN_RETIME)
		note(reading, said, &topic_admin_action, action);
}

static void take(const struct message_meta *said, struct bytes payload, void *context)
{
	struct reading *reading = context;
	const struct topic *topic = topic_of(said->topic);
	_cleanup_free_ void *message = topic && said->seq > reading->after ? payload_decode(topic, payload) : NULL;

	if (!message)
		return;
	if (topic == &topic_suppression)
		take_suppression(reading, said, message);
	else if (topic == &topic_cart_checkout)
		take_order(reading, said, message);
	else if (topic == &topic_privacy_state)
		take_privacy(reading, said, message);
	else if (topic == &topic_shop_status)
		recover_sends_note_mode(reading->recovery, said->shop, message);
	else if (topic == &topic_admin_action)
		take_action(reading, said, message);
	else
		note(reading, said, topic, message);
}

static bool is_kin(const struct recover_sends *recovery, const struct sidelog_head *head)
{
	return strcmp(head->log, recovery->log_id) == 0 || strcmp(head->origin, recovery->origin) == 0;
}

static void tell_what_is_missing(
	const struct recover_sends *recovery, const char *path, const struct sidelog_read *read)
{
	if (read->damages > 0)
		complain(recovery->command,
			"%s is damaged in %zu places: %zu messages of it are whole and learnt, what lay between is not "
			"known",
			path, read->damages, read->count);
}

enum place {
	PLACE_LAST,     /* the broker wrote to it until the end */
	PLACE_PUT_AWAY, /* the broker wrote to it until its log was gone */
	PLACE_COPY,
};

static void note_how_far(struct recover_sends *recovery, const struct reading *reading, const struct sidelog_read *read,
	enum place place)
{
	if (is_kin(recovery, &read->head) && (!*recovery->sidelog_id || place == PLACE_LAST))
		TEXT_COPY(recovery->sidelog_id, read->head.log);
	if (reading->after > 0 && read->last > recovery->sidelog_last)
		recovery->sidelog_last = read->last;
	if (reading->after > 0 && read->last > recovery->known_to)
		recovery->known_to = read->last;
	recovery->has_other_log |= place == PLACE_LAST && strcmp(read->head.log, recovery->log_id) != 0;
	recovery->has_sidelog |= place == PLACE_LAST && is_kin(recovery, &read->head) && read->damages == 0;
}

/* `is_ours`: the side log is of this installation, no matter of which of its logs. */
static int learn_from(struct recover_sends *recovery, const char *path, enum place place, bool is_ours)
{
	struct reading reading = { .recovery = recovery, .in_place = place == PLACE_LAST };
	struct sidelog_read read;
	int r = sidelog_each(path, NULL, NULL, &read);

	if (r == -ENOENT || r == -ENOTDIR)
		return EXIT_FINE;
	if (r == -EBADMSG) {
		complain(recovery->command, "%s is damaged from its first byte on: nothing is learnt from it", path);
		return EXIT_FINE;
	}
	if (r < 0) {
		complain(recovery->command, "%s cannot be read, and may know what forbids a mail: %s", path,
			strerror(-r));
		return EXIT_NO;
	}
	if (!is_ours && !is_kin(recovery, &read.head)) {
		complain(recovery->command,
			"%s is of another installation (its log is %s, that of the backup %s): nothing is learnt from "
			"it",
			path, read.head.log, recovery->log_id);
		return EXIT_FINE;
	}
	TEXT_COPY(reading.log, read.head.log);
	reading.after = strcmp(read.head.log, recovery->log_id) == 0 ? recovery->head : 0;
	sidelog_each(path, take, &reading, &read);
	if (read.last > reading.after)
		json_array_append_new(recovery->sidelogs, json_string(path));
	tell_what_is_missing(recovery, path, &read);
	note_how_far(recovery, &reading, &read, place);
	return EXIT_FINE;
}

int recover_sends_sidelog_copy(struct recover_sends *recovery, const char *path)
{
	return learn_from(recovery, path, PLACE_COPY, false);
}

/* ---- the side logs of this installation ---- */

bool recover_sends_is_sidelog(const char *name)
{
	return strcmp(name, SIDELOG_FILE) == 0 || text_starts(name, SIDELOG_FILE SIDELOG_OF);
}

static int is_sidelog_entry(const struct dirent *entry)
{
	return recover_sends_is_sidelog(entry->d_name);
}

static bool is_any_kin(const struct recover_sends *recovery, const char *folder, struct dirent **entries, int count)
{
	struct sidelog_read read;
	char path[PATH_BYTES];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%.500s/%s", folder, entries[i]->d_name);
		if (sidelog_each(path, NULL, NULL, &read) == 0 && is_kin(recovery, &read.head))
			return true;
	}
	return false;
}

int recover_sends_sidelogs(struct recover_sends *recovery, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_sidelog_entry, alphasort), ended = EXIT_FINE;
	bool is_ours = is_any_kin(recovery, folder, entries, count);
	char path[PATH_BYTES];

	if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
		complain(recovery->command, "%s cannot be read, and may know what forbids a mail: %s", folder,
			strerror(errno));
		return EXIT_NO;
	}
	for (int i = 0; i < count; i++) {
		bool is_last = strcmp(entries[i]->d_name, SIDELOG_FILE) == 0;

		snprintf(path, sizeof(path), "%.500s/%s", folder, entries[i]->d_name);
		if (!ended)
			ended = learn_from(recovery, path, is_last ? PLACE_LAST : PLACE_PUT_AWAY, is_ours);
		free(entries[i]);
	}
	free(entries);
	return ended;
}
