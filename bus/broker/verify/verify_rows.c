/*
 * verify_rows.c: checks idempotency keys, compacted rows and the side log against the log they are derived
 * from
 *
 * Promises:  a key that must still be known is there, with the number of the message that said it first, and
 *            no second message has it; a compacted row is the message with the highest version, of equals the
 *            newest.
 * Read next: idem.c, latest.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/verify/verify.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDEM_LEN = 24 /* at least */, IDEM_CLAIM = 24, ROW_HEAD = 26, ROW_VERSION = 8, ROW_SAID = 25 };

DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)

/* --- a message, and the rows that must exist because of it --- */

static void check_key(struct verify *verify, const struct verify_message *message)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer row = { 0 };
	bool claim = message->entry->flags & FLAG_CLAIM;
	bool must_be = claim || verify->now_us - message->time_us < verify->idem_window_us;
	uint64_t said;

	buffer_add_u16(&key, message->entry->topic_id);
	buffer_add(&key, message->envelope.shop, strlen(message->envelope.shop) + 1);
	buffer_add_text(&key, message->envelope.idem);
	if (store_get(verify->store, FAMILY_IDEM, buffer_bytes(&key), &row) < 0 || row.len < IDEM_LEN) {
		if (must_be)
			verify_problem(verify, message->seq,
				"its idempotency key is not known: a repeat would be taken for new");
		return;
	}
	said = get_be64(row.data);
	verify->counts.idem_met += said == message->seq;
	if (said < message->seq && must_be)
		verify_problem(verify, message->seq, "it was said again under the key of message %llu",
			(unsigned long long)said);
	else if (said == message->seq && get_be64(row.data + 16) != text_hash(message->message))
		verify_problem(verify, message->seq, "its idempotency key belongs to other bytes");
	else if (said == message->seq && row.len > IDEM_CLAIM && row.data[IDEM_CLAIM] != claim)
		verify_problem(
			verify, message->seq, "its idempotency key is kept as if it were %s claim", claim ? "no" : "a");
	else if (said > message->seq && must_be)
		verify_problem(verify, message->seq, "its idempotency key was given to message %llu later",
			(unsigned long long)said);
}

static void row_key(const char *group, const Envelope *envelope, struct buffer *ret)
{
	buffer_add(ret, group, strlen(group) + 1);
	buffer_add(ret, envelope->shop, strlen(envelope->shop) + 1);
	buffer_add_text(ret, envelope->key);
}

static void check_row(struct verify *verify, const struct verify_message *message, const char *group)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer row = { 0 };
	uint64_t seq, version;
	bool forgotten = message->seq < verify->rows_before; /* then it may be swept away, and outranks nothing */

	row_key(group, &message->envelope, &key);
	if (store_get(verify->store, FAMILY_LATEST, buffer_bytes(&key), &row) < 0 || row.len < ROW_HEAD) {
		if (!forgotten)
			verify_problem(verify, message->seq, "the compacted row of its key is missing");
		return;
	}
	seq = get_be64(row.data);
	version = get_be64(row.data + ROW_VERSION);
	verify->counts.latest_met += seq == message->seq;
	if (!forgotten &&
		(version < message->envelope.version || (version == message->envelope.version && seq < message->seq)))
		verify_problem(verify, message->seq, "the compacted row of its key is older than it: message %llu",
			(unsigned long long)seq);
	else if (seq == message->seq) {
		struct bytes copy = BYTES(row.data + ROW_HEAD + row.data[ROW_SAID],
			row.len > ROW_HEAD + (size_t)row.data[ROW_SAID] ? row.len - ROW_HEAD - row.data[ROW_SAID] : 0);

		if (!bytes_equal(copy, message->message))
			verify_problem(verify, message->seq, "its compacted row holds other bytes");
	}
}

void verify_derived(struct verify *verify, const struct verify_message *message)
{
	int topic = verify_topic(verify, message->entry->topic_id);

	if (topic < 0)
		return;
	if (message->envelope.idem[0] != '\0')
		check_key(verify, message);
	if (verify->topology->topics[topic].group[0] != '\0' && message->seq <= verify->folded &&
		!(message->entry->flags & FLAG_ERASED))
		check_row(verify, message, verify->topology->topics[topic].group);
}

/* --- a row, and the message that it must come from --- */

struct rows {
	int family;
	size_t least; /* bytes of a row */
	const char *what;
	bool (*is_kept)(const struct verify *verify, struct bytes key, struct bytes value); /* is its message? */
};

static bool class_holds(const struct verify *verify, int topic, uint64_t seq)
{
	return topic >= 0 && seq >= verify->kept_from[verify->topology->topics[topic].retention];
}

static bool key_is_kept(const struct verify *verify, struct bytes key, struct bytes value)
{
	return key.len >= 2 && class_holds(verify, verify_topic(verify, get_u16(key.data)), get_be64(value.data));
}

static bool row_is_kept(const struct verify *verify, struct bytes key, struct bytes value)
{
	const uint8_t *row = value.data;
	size_t head = ROW_HEAD + (size_t)row[ROW_SAID];
	struct bytes payload;
	Envelope envelope;

	(void)key;
	if (value.len < head || message_read(BYTES(row + head, value.len - head), &envelope, &payload) < 0)
		return true; /* then the row is of no message, and counted as such */
	return class_holds(verify, topology_topic(verify->topology, envelope.topic), get_be64(row)) &&
		verify->topology->topics[topology_topic(verify->topology, envelope.topic)].group[0] != '\0';
}

/* true: its message must have been met. */
static bool check_row_number(struct verify *verify, const struct rows *rows, struct bytes key, struct bytes value)
{
	uint64_t seq = value.len >= rows->least ? get_be64(value.data) : 0;

	if (seq == 0)
		verify_problem(verify, 0, "%s is damaged", rows->what);
	else if (seq > verify->head)
		verify_problem(verify, seq, "%s names it, and the log ends at message %llu", rows->what,
			(unsigned long long)verify->head);
	else
		return rows->is_kept(verify, key, value);
	return false;
}

static int check_rows(struct verify *verify, const struct rows *rows, uint64_t met, uint64_t *ret_count)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(verify->store, rows->family);
	uint64_t wanted = 0;
	int r;

	for (bool more = store_cursor_seek(cursor, BYTES("", 0)); more; more = store_cursor_next(cursor)) {
		wanted += check_row_number(verify, rows, store_cursor_key(cursor), store_cursor_value(cursor));
		++*ret_count;
	}
	r = store_cursor_status(cursor);
	if (r == 0 && wanted > met)
		verify_problem(verify, 0, "%s (%llu of them) is of no message that the log holds", rows->what,
			(unsigned long long)(wanted - met));
	return r;
}

int verify_rows(struct verify *verify)
{
	const struct rows keys = { FAMILY_IDEM, IDEM_LEN, "an idempotency key", key_is_kept };
	const struct rows compacted = { FAMILY_LATEST, ROW_HEAD, "a compacted row", row_is_kept };
	int r = check_rows(verify, &keys, verify->counts.idem_met, &verify->counts.idem);

	return r ? r : check_rows(verify, &compacted, verify->counts.latest_met, &verify->counts.latest);
}

/*
 * Compares the side log with a log that was read to its end
 *
 * Promises:  a side log that was cut off is found by the numbers: the last message that the log wants in it
 *            must be there.
 */

static const char WRITTEN_AGAIN[] = "The broker writes what is missing from the log at its next start";

/* Messages that are older the side log may have lost when it was compacted. */
void verify_sidelog_note(struct verify *verify, const struct verify_message *message)
{
	int topic = verify_topic(verify, message->entry->topic_id);

	if (topic >= 0 && verify->topology->topics[topic].sidelog && !(message->entry->flags & FLAG_ERASED) &&
		message->time_us > verify->now_us - SIDELOG_KEPT_US)
		verify->sidelog_to = message->seq;
}

bool verify_sidelog(const struct verify *verify, const char *folder, char ret_words[512])
{
	struct sidelog_read read;
	char path[600];
	int r;

	*ret_words = '\0';
	snprintf(path, sizeof(path), "%.500s/" SIDELOG_FILE, folder);
	r = sidelog_judge(path, verify->id, verify->head, &read, ret_words);
	if (r == -ENOENT && verify->sidelog_to > 0)
		snprintf(ret_words, 512, "there is none. %s", WRITTEN_AGAIN);
	else if (r == -EBADMSG && read.damages == 0)
		snprintf(ret_words, 512, "it is damaged from its first byte on: check the disk. %s", WRITTEN_AGAIN);
	else if (r == -EBADMSG)
		snprintf(
			ret_words, 512, "it is damaged in %zu places: check the disk. %s", read.damages, WRITTEN_AGAIN);
	else if (r == 0 && read.last < verify->sidelog_to)
		snprintf(ret_words, 512,
			"it ends at message %llu, and lacks what the log holds up to %llu: the broker was killed, or "
			"the file was cut. %s",
			(unsigned long long)read.last, (unsigned long long)verify->sidelog_to, WRITTEN_AGAIN);
	else if (r < 0 && r != -ENOENT && !*ret_words)
		snprintf(ret_words, 512, "it cannot be read: %s: check the disk", strerror(-r));
	return r == 0 || r == -ENOENT;
}
