/*
 * verify.c: checks the log, message by message
 *
 * Promises:  every commit from the first to the head is read: its column, its frames, every CRC; the numbers
 *            are unbroken, time never goes backwards, each message agrees with its column, and no frame lies
 *            there without a commit.
 * Fails by:  naming each problem with its message. It changes nothing.
 * Read next: verify_rows.c, verify_queue.c
 */
#include "bus/broker/verify/verify.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBLEMS_TOLD = 100, PROGRESS_EVERY = 4096 };

static const char TOPIC[] = "topic/";

DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)

void verify_problem(struct verify *verify, uint64_t seq, const char *format, ...)
{
	char what[300];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	if (++verify->problem_count > PROBLEMS_TOLD)
		return;
	json_array_append_new(verify->problems, json_pack("{s:s,s:I}", "what", what, "message", (json_int_t)seq));
}

int verify_topic(const struct verify *verify, uint16_t id)
{
	return id < verify->name_count ? verify->names[id].topic : -ENOENT;
}

/* --- findings about the log as a whole --- */

static int read_text(struct verify *verify, const char *name, char *ret, size_t room)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r = store_get(verify->store, FAMILY_META, bytes_of(name), &value);

	if (r == -ENOENT)
		verify_problem(verify, 0, "the log's %s is not written down", name);
	if (r == 0)
		text_copy_bytes(ret, room, buffer_bytes(&value));
	return r == -ENOENT ? 0 : r;
}

static int read_number(struct verify *verify, const char *name, uint64_t *ret)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r = store_get(verify->store, FAMILY_META, bytes_of(name), &value);

	if (r == 0 && value.len == 8)
		*ret = get_be64(value.data);
	else if (r == 0)
		verify_problem(verify, 0, "the log's %s is no number", name);
	return r == -ENOENT ? 0 : r;
}

static int read_forgotten(struct verify *verify)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	int r = store_get(verify->store, FAMILY_META, bytes_of(LATEST_FORGOTTEN), &row);

	if (r == 0 && row.len == 16)
		verify->rows_before = get_be64(row.data);
	else if (r == 0)
		verify_problem(verify, 0, "the log's %s is damaged", LATEST_FORGOTTEN);
	return r == -ENOENT ? 0 : r;
}

static bool note_name(struct verify *verify, uint64_t id, struct bytes name)
{
	if (id >= TOPICS_MOST)
		return false;
	if (id >= verify->name_count) {
		verify->names = memory_resize(verify->names, (id + 1) * sizeof(*verify->names));
		for (size_t i = verify->name_count; i <= id; i++)
			verify->names[i] = (struct verify_name){ .topic = -ENOENT };
		verify->name_count = id + 1;
	}
	if (!text_copy_bytes(verify->names[id].name, sizeof(verify->names[id].name), name))
		return false;
	verify->names[id].topic = topology_topic(verify->topology, verify->names[id].name);
	return true;
}

static int read_topics(struct verify *verify)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(verify->store, FAMILY_META);
	const size_t prefix = sizeof(TOPIC) - 1;

	for (bool more = store_cursor_seek(cursor, bytes_of(TOPIC)); more; more = store_cursor_next(cursor)) {
		struct bytes key = store_cursor_key(cursor);
		uint64_t id;

		if (key.len != prefix + 8 || memcmp(key.data, TOPIC, prefix) != 0)
			break;
		id = get_be64((const uint8_t *)key.data + prefix);
		if (!note_name(verify, id, store_cursor_value(cursor)))
			verify_problem(verify, 0, "the name of topic number %llu is damaged", (unsigned long long)id);
	}
	return store_cursor_status(cursor);
}

static int read_kept(struct verify *verify)
{
	int r = 0;

	for (int i = 0; r == 0 && i < RETENTION_CLASSES; i++) {
		char name[16];

		verify->kept_from[i] = 1;
		snprintf(name, sizeof(name), "kept/%d", i);
		r = read_number(verify, name, &verify->kept_from[i]);
	}
	return r;
}

static int read_whole(struct verify *verify)
{
	int r = read_text(verify, "format", verify->format, sizeof(verify->format));

	r = r ? r : read_text(verify, "log", verify->id, sizeof(verify->id));
	r = r ? r : read_number(verify, "head", &verify->head);
	r = r ? r : read_number(verify, "boots", &verify->boots);
	r = r ? r : read_number(verify, "folded", &verify->folded);
	if (r == 0 && verify->folded > verify->head)
		verify_problem(verify, verify->folded, "the compacted rows are ahead of the head");
	r = r ? r : read_forgotten(verify);
	r = r ? r : read_kept(verify);
	return r ? r : read_topics(verify);
}

/* --- each message --- */

static void check_message(struct verify *verify, struct verify_message *message)
{
	const struct block_entry *entry = message->entry;
	bool erased = entry->flags & FLAG_ERASED;
	struct bytes payload;
	uint8_t flags;

	verify->counts.messages++;
	verify->counts.erased += erased;
	if (message_read(message->message, &message->envelope, &payload) < 0) {
		verify_problem(verify, message->seq, "its envelope does not add up");
		return;
	}
	flags = (uint8_t)((message->envelope.tombstone ? FLAG_TOMBSTONE : 0) |
		(message->envelope.claim ? FLAG_CLAIM : 0) | (erased ? FLAG_ERASED : 0));
	if (entry->topic_id >= verify->name_count ||
		strcmp(verify->names[entry->topic_id].name, message->envelope.topic) != 0)
		verify_problem(verify, message->seq, "its column names another topic than %s", message->envelope.topic);
	if (erased && (payload.len > 0 || message->envelope.key[0] != '\0'))
		verify_problem(verify, message->seq, "it was erased and still holds something");
	if ((!erased && entry->key_hash != key_hash(&message->envelope)) || entry->flags != flags)
		verify_problem(verify, message->seq, "its column says another key or kind than the message");
	verify_derived(verify, message);
	verify_heard(verify, message);
	verify_sidelog_note(verify, message);
}

static int load_frames(struct verify *verify, struct block *block)
{
	uint32_t loaded = 0;
	int r = 0;

	for (uint8_t i = 0; r == 0 && i < RETENTION_CLASSES; i++) {
		bool has = false;

		for (uint32_t j = 0; j < block->count && !has; j++)
			has = block->entries[j].retention == i && block->first + j >= verify->kept_from[i];
		if (has)
			r = block_load(block, verify->store, i);
		loaded += has;
	}
	verify->counts.frames += loaded;
	if (r == -ENOENT)
		verify_problem(verify, block->first, "a frame of messages %llu to %llu is missing",
			(unsigned long long)block->first, (unsigned long long)block_last(block));
	if (r == -EUCLEAN)
		verify_problem(verify, block->first, "a frame of messages %llu to %llu is damaged (%s)",
			(unsigned long long)block->first, (unsigned long long)block_last(block),
			store_why(verify->store)[0] ? store_why(verify->store) : "its checksum is wrong");
	return r == -ENOENT || r == -EUCLEAN ? 0 : r;
}

static void check_block(struct verify *verify, const struct block *block)
{
	if (block->time_us < verify->time_us)
		verify_problem(verify, block->first, "its time lies before that of the message before it");
	verify->time_us = block->time_us;
	for (uint32_t i = 0; i < block->count; i++) {
		struct verify_message message = {
			.seq = block->first + i, .time_us = block->time_us, .entry = &block->entries[i]
		};

		if (message.seq < verify->kept_from[message.entry->retention]) {
			verify->counts.dropped++;
			verify_heard(verify, &message);
			continue;
		}
		if (message.entry->offset == BLOCK_ABSENT)
			continue; /* the bad frame was reported already */
		message.message = block_message(block, message.entry);
		check_message(verify, &message);
	}
}

/*
 * Checks the commit under the cursor; *next is the number it must begin with, and then that of the next
 * commit.
 */
static int check_commit(struct verify *verify, struct store_cursor *cursor, uint64_t *next)
{
	struct block *block = NULL;
	int r;

	if (block_parse(store_cursor_key(cursor), store_cursor_value(cursor), &block) < 0) {
		verify_problem(verify, *next, "a column record is damaged");
		return 0;
	}
	if (block->first != *next)
		verify_problem(verify, *next, "messages %llu to %llu are missing", (unsigned long long)*next,
			(unsigned long long)block->first - 1);
	*next = block_last(block) + 1;
	verify->counts.commits++;
	r = load_frames(verify, block);
	if (r == 0)
		check_block(verify, block);
	block_free(block);
	if (verify->progress && verify->counts.commits % PROGRESS_EVERY == 0)
		verify->progress(*next - 1, verify->head);
	return r;
}

static int check_log(struct verify *verify)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(verify->store, FAMILY_COLUMN);
	uint64_t next = 1;
	int r = 0;

	for (bool more = store_cursor_seek(cursor, BYTES("", 0)); more && r == 0; more = store_cursor_next(cursor))
		r = check_commit(verify, cursor, &next);
	if (r == 0)
		r = store_cursor_status(cursor);
	if (r == 0 && next - 1 < verify->head)
		verify_problem(verify, next, "messages %llu to %llu are missing: the head is written down as %llu",
			(unsigned long long)next, (unsigned long long)verify->head, (unsigned long long)verify->head);
	if (r == 0 && next - 1 > verify->head)
		verify_problem(verify, next - 1, "it lies behind the head, which is written down as %llu",
			(unsigned long long)verify->head);
	return r;
}

/* A frame that no column asked for belongs to no commit; dropped frames may not be gone yet. */
static int count_frames(struct verify *verify)
{
	uint64_t frames = 0;
	int r = 0;

	for (int i = 0; r == 0 && i < RETENTION_CLASSES; i++) {
		_cleanup_(store_cursor_freep) struct store_cursor *cursor =
			store_cursor_new(verify->store, FAMILY_RAW + i);

		for (bool more = store_cursor_seek(cursor, BYTES("", 0)); more; more = store_cursor_next(cursor)) {
			struct bytes key = store_cursor_key(cursor);

			frames += key.len != 8 || get_be64(key.data) >= verify->kept_from[i];
		}
		r = store_cursor_status(cursor);
	}
	if (r == 0 && frames > verify->counts.frames)
		verify_problem(verify, 0, "%llu frames belong to no commit",
			(unsigned long long)(frames - verify->counts.frames));
	return r;
}

/* The rest of these families is not judged, but it must be readable. */
static int read_through(struct verify *verify)
{
	static const int families[] = { FAMILY_META, FAMILY_QUEUE, FAMILY_DEAD };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(families) / sizeof(families[0]); i++) {
		_cleanup_(store_cursor_freep) struct store_cursor *cursor =
			store_cursor_new(verify->store, families[i]);

		for (bool more = store_cursor_seek(cursor, BYTES("", 0)); more;)
			more = store_cursor_next(cursor);
		r = store_cursor_status(cursor);
	}
	return r;
}

int verify_log(struct verify *verify)
{
	int r;

	verify->problems = json_array();
	r = read_whole(verify);
	r = r ? r : verify_queues_open(verify);
	r = r ? r : check_log(verify);
	r = r ? r : count_frames(verify);
	r = r ? r : verify_rows(verify);
	r = r ? r : read_through(verify);
	return r ? r : verify_queues_end(verify);
}

json_t *verify_report(const struct verify *verify)
{
	return json_pack("{s:b,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:O}", "sound",
		verify->problem_count == 0, "log", verify->id, "format", verify->format, "opened",
		(json_int_t)verify->boots, "head", (json_int_t)verify->head, "messages",
		(json_int_t)verify->counts.messages, "erased", (json_int_t)verify->counts.erased, "dropped",
		(json_int_t)verify->counts.dropped, "commits", (json_int_t)verify->counts.commits, "frames",
		(json_int_t)verify->counts.frames, "idempotency_keys", (json_int_t)verify->counts.idem,
		"compacted_rows", (json_int_t)verify->counts.latest, "queues", verify_queues_report(verify),
		"problem_count", (json_int_t)verify->problem_count, "problems", verify->problems);
}

void verify_free(struct verify *verify)
{
	verify_queues_free(verify);
	free(verify->names);
	json_decref(verify->problems);
}
