/*
 * sidelog.c: the side log: checked at the start, written behind each commit and before any confirm of that
 * commit
 *
 * Owns:      <folder>/stops, and the files put aside beside it: stops.damaged, stops.damaged.2 and so on, of
 *            which the first seven and the latest are kept: the oldest hold the most that the log no longer
 *            has; and stops.of-<log>, stops.of-<log>.2 and so on, all kept: side logs that their log went on
 *            without.
 * Promises:  it holds nothing that the log does not, and before a confirm everything that it must. It stays
 *            small: of compacted topics only the last message of each key, of all others the messages younger
 *            than SIDELOG_KEPT_US; both are enough for a restore, because the outcome of an old message is a
 *            row of a compacted topic. Erased messages leave it, too.
 * Fails by:  breaking the broker when it cannot be written or synced; refusing to open a log that its file
 *            does not fit.
 * Read next: commit.c (when), sidelog_file.h (the records)
 */
#include "bus/broker/log/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/admin/erase.h"
#include "bus/broker/broker.h"
#include "bus/broker/log/latest.h"
#include "bus/wire/sidelog_file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPACTED_FROM = 4 << 20, WRITTEN_AT_ONCE = 1 << 20 };

struct sidelog {
	int fd;
	char path[600];
	struct topic_set topics;
	uint64_t last;           /* the highest number in it */
	size_t bytes, compacted; /* now, and when it was last compacted */
	struct buffer adding;
};

/*
 * Decides whether a log may be served beside the side log that is there
 *
 * Promises:  it only reads. A damaged side log beside an empty log is refused: else shoppers who said no or
 *            bought would be mailed again.
 */

DEFINE_CLEANUP(DIR *, closedir)

/* The name of the nth file put aside: `suffix` is .damaged, or .of-<log>. false: there is none. */
static bool sidelog_is_aside(const char *path, const char *suffix, int nth, char ret[SIDELOG_PATH])
{
	int len = snprintf(ret, SIDELOG_PATH, "%s%s", path, suffix);

	if (nth > 1)
		snprintf(ret + len, SIDELOG_PATH - (size_t)len, ".%d", nth);
	return access(ret, F_OK) == 0;
}

/* The first name that is free; if all `most` names are taken, the last of them. */
static void sidelog_name_aside(const char *path, const char *suffix, int most, char ret[SIDELOG_PATH])
{
	int nth = 1;

	while (sidelog_is_aside(path, suffix, nth, ret) && nth < most)
		nth++;
}

/*
 * This log does not know who said no or bought in the other log. A person has to decide whether to mail those
 * shoppers.
 */
static int refuse(
	const char *path, const char *log, uint64_t head, const struct sidelog_head *theirs, char ret_why[512])
{
	char suffix[60] = SIDELOG_DAMAGED, to[SIDELOG_PATH];
	int len;

	if (theirs)
		snprintf(suffix, sizeof(suffix), SIDELOG_OF "%s", theirs->log);
	sidelog_name_aside(path, suffix, INT_MAX, to);
	if (!theirs)
		len = snprintf(ret_why, 512,
			"the side log %.160s is damaged, and the log in this folder is new and empty.", path);
	else if (head == 0)
		len = snprintf(ret_why, 512,
			"the log %s is gone: its side log %.100s is there, and the log in this folder is new and "
			"empty.",
			theirs->log, path);
	else
		len = snprintf(ret_why, 512,
			"the side log %.100s is of log %s, and the log in this folder is another, %s.", path,
			theirs->log, log);
	snprintf(ret_why + len, 512 - (size_t)len,
		" Who said no or bought would be mailed. Put that log back, or a backup with cartbus restore DIR. Only "
		"for a beginning without what it holds, rename it to %.80s, and " FOLDED_ANEW(
			"the services' state folders") ".",
		strrchr(to, '/') + 1);
	return -EUCLEAN;
}

static int check_end(const char *path, uint64_t head, const struct sidelog_read *reading, char ret_why[512])
{
	if (reading->last <= head)
		return 0;
	snprintf(ret_why, 512,
		"the log ends at message %llu, and the side log %.200s holds message %llu, which was "
		"confirmed. " BROKER_REMEDY,
		(unsigned long long)head, path, (unsigned long long)reading->last);
	return -EUCLEAN;
}

static int judge_one_put_away(const char *away, uint64_t head, char ret_why[512])
{
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct sidelog_read reading;
	int r = file_read(away, SIDELOG_MOST, &file);

	if (r < 0)
		snprintf(ret_why, 512,
			"the side log %.300s, which was put away, cannot be read: %s. Check the disk, then start "
			"again.",
			away, strerror(-r));
	if (r < 0)
		return r == -ENOENT ? -EIO : r; /* it was there */
	return sidelog_read(buffer_bytes(&file), NULL, NULL, &reading) < 0 ? 0
									   : check_end(away, head, &reading, ret_why);
}

/*
 * Is the file called stops.of-<log>, stops.of-<log>.2 and so on? The numbers may have gaps: a person may have
 * removed one.
 */
static bool is_put_away_of(const char *name, const char *log)
{
	const char *prefix = SIDELOG_FILE SIDELOG_OF;

	if (!text_starts(name, prefix) || !text_starts(name + strlen(prefix), log))
		return false;
	name += strlen(prefix) + strlen(log);
	return *name == '\0' || *name == '.';
}

/*
 * An older copy of a log that was given another identity ends before the end of the side log that was then
 * put away.
 */
static int judge_put_away(const char *path, const char *log, uint64_t head, char ret_why[512])
{
	char away[SIDELOG_PATH], folder[SIDELOG_PATH];
	int r;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	r = listing ? 0 : -errno;
	for (struct dirent *entry; r == 0 && (entry = readdir(listing));) {
		if (!is_put_away_of(entry->d_name, log))
			continue;
		snprintf(away, sizeof(away), "%.430s/%s", folder, entry->d_name);
		r = judge_one_put_away(away, head, ret_why);
	}
	return r;
}

int sidelog_judge(const char *path, const char *log, uint64_t head, struct sidelog_read *ret, char ret_why[512])
{
	_cleanup_(buffer_free) struct buffer file = { 0 };
	int r = judge_put_away(path, log, head, ret_why);

	*ret = (struct sidelog_read){ 0 };
	if (r == 0)
		r = file_read(path, SIDELOG_MOST, &file);
	if (r < 0)
		return r;
	if (sidelog_read(buffer_bytes(&file), NULL, NULL, ret) < 0)
		return head == 0 ? refuse(path, log, head, NULL, ret_why) : -EBADMSG;
	if (strcmp(ret->head.log, log) != 0)
		return refuse(path, log, head, &ret->head, ret_why);
	if (check_end(path, head, ret, ret_why) < 0)
		return -EUCLEAN;
	return ret->damages > 0 ? -EBADMSG : 0;
}

/* ---- adding ---- */

static int fail(struct broker *broker, int error, const char *what)
{
	snprintf(broker->why, sizeof(broker->why),
		"the side log %.300s could not be %s. Nothing of this was confirmed; %s", broker->sidelog->path, what,
		error == -ENOSPC ? "make room in its file system, then start again."
				 : "check the disk, then start again.");
	return broker->broken = error;
}

static int open_to_add(struct sidelog *sidelog)
{
	if (sidelog->fd >= 0)
		close(sidelog->fd);
	sidelog->fd = open(sidelog->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	return sidelog->fd < 0 ? -errno : 0;
}

static int flush(struct broker *broker)
{
	struct sidelog *sidelog = broker->sidelog;
	int r;

	if (sidelog->adding.len == 0)
		return 0;
	r = file_write(sidelog->fd, buffer_bytes(&sidelog->adding));
	if (r == 0 && fdatasync(sidelog->fd) < 0)
		r = -errno;
	if (r < 0)
		return fail(broker, r, "written");
	sidelog->bytes += sidelog->adding.len;
	buffer_clear(&sidelog->adding);
	return 0;
}

static int add(struct broker *broker, uint64_t seq)
{
	struct sidelog *sidelog = broker->sidelog;
	struct logged logged;
	int r = log_read(broker->log, seq, &logged);

	if (r == -ENOENT || (r == 0 && logged.flags & FLAG_ERASED))
		return 0;
	if (r < 0)
		return broker->broken = r;
	sidelog_write(&(struct sidelog_record){ .seq = seq, .time_us = logged.time_us, .message = logged.message },
		&sidelog->adding);
	sidelog->last = seq;
	return sidelog->adding.len > WRITTEN_AT_ONCE ? flush(broker) : 0;
}

static int add_from(struct broker *broker, uint64_t from)
{
	struct logged logged;
	int r = 0;

	for (uint64_t at = from; r == 0 && log_find(broker->log, at, &broker->sidelog->topics, &logged) == 0; at++) {
		at = logged.seq;
		r = add(broker, at);
	}
	return r < 0 ? r : flush(broker);
}

/* ---- compacting ---- */

struct compacting {
	struct broker *broker;
	const struct erasing *erasing; /* NULL: nothing is being erased */
	int64_t from_us;
	struct map *last; /* compacted key -> struct last */
	struct buffer *to;
	uint64_t highest;
};

struct last {
	uint64_t seq, version;
};

/* The key of a compacted topic's message; false: the message is of another topic. */
static bool key_of(const struct broker *broker, const struct sidelog_record *record, Envelope *ret, struct buffer *key)
{
	struct bytes payload;
	int topic;

	if (message_read(record->message, ret, &payload) < 0)
		return false;
	topic = topology_topic(&broker->topology, ret->topic);
	if (topic < 0 || broker->topology.topics[topic].group[0] == '\0')
		return false;
	latest_key(broker->topology.topics[topic].group, ret, key);
	return true;
}

static void note_last(const struct sidelog_record *record, void *context)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct compacting *compacting = context;
	struct last *last;
	Envelope envelope;

	if (!key_of(compacting->broker, record, &envelope, &key))
		return;
	last = map_get(compacting->last, buffer_bytes(&key));
	if (!last) {
		last = memory_new(sizeof(*last));
		map_put(compacting->last, buffer_bytes(&key), last);
	}
	if (envelope.version >= last->version)
		*last = (struct last){ .seq = record->seq, .version = envelope.version };
}

static bool is_erased(const struct erasing *erasing, uint64_t seq)
{
	size_t low = 0, high = erasing ? erasing->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (erasing->entries[middle].seq == seq)
			return true;
		if (erasing->entries[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static void keep(const struct sidelog_record *record, void *context)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct compacting *compacting = context;
	const struct last *last = NULL;
	Envelope envelope;
	bool is_row;

	if (is_erased(compacting->erasing, record->seq))
		return;
	is_row = key_of(compacting->broker, record, &envelope, &key);
	if (is_row)
		last = map_get(compacting->last, buffer_bytes(&key));
	if (is_row ? last->seq != record->seq || (envelope.tombstone && record->time_us < compacting->from_us)
		   : record->time_us < compacting->from_us)
		return;
	sidelog_write(record, compacting->to);
}

static void free_last(struct bytes key, void *value, void *context)
{
	(void)key, (void)context;
	free(value);
}

static int compact(struct broker *broker, const struct erasing *erasing)
{
	_cleanup_(buffer_free) struct buffer file = { 0 }, to = { 0 };
	struct sidelog *sidelog = broker->sidelog;
	struct compacting compacting = { .broker = broker,
		.erasing = erasing,
		.from_us = broker_wall_us(broker) - SIDELOG_KEPT_US,
		.last = map_new(),
		.to = &to };
	struct sidelog_read reading;
	int r = file_read(sidelog->path, SIDELOG_MOST, &file);

	if (r == 0)
		r = sidelog_read(buffer_bytes(&file), note_last, &compacting, &reading);
	if (r == 0) {
		sidelog_write_head(&reading.head, &to);
		sidelog_read(buffer_bytes(&file), keep, &compacting, &reading);
		r = file_write_durably(sidelog->path, buffer_bytes(&to), 0600);
	}
	if (r == 0)
		r = open_to_add(sidelog);
	sidelog->bytes = sidelog->compacted = to.len;
	map_each(compacting.last, free_last, NULL);
	map_free(compacting.last);
	return r < 0 ? fail(broker, r, "compacted") : 0;
}

int sidelog_follow(struct broker *broker, uint64_t from)
{
	struct sidelog *sidelog = broker->sidelog;
	int r;

	if (!sidelog)
		return 0;
	r = add_from(broker, from);
	if (r == 0 && sidelog->bytes > COMPACTED_FROM && sidelog->bytes > 2 * sidelog->compacted)
		r = compact(broker, NULL);
	return r;
}

int sidelog_erase(struct broker *broker, const struct erasing *erasing)
{
	return broker->sidelog ? compact(broker, erasing) : 0;
}

/* ---- opening ---- */

static int begin(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer head = { 0 };
	struct sidelog *sidelog = broker->sidelog;
	struct sidelog_head which = { 0 };

	TEXT_COPY(which.log, log_id(broker->log));
	TEXT_COPY(which.origin, log_origin(broker->log));
	sidelog_write_head(&which, &head);
	sidelog->last = 0;
	sidelog->bytes = sidelog->compacted = head.len;
	return file_write_durably(sidelog->path, buffer_bytes(&head), 0600);
}

int sidelog_damaged(const struct sidelog *sidelog)
{
	char path[SIDELOG_PATH];
	int count = 0;

	for (int nth = 1; sidelog && nth <= SIDELOG_DAMAGED_MOST; nth++)
		count += sidelog_is_aside(sidelog->path, SIDELOG_DAMAGED, nth, path);
	return count;
}

static int put_aside_damaged(struct broker *broker)
{
	const struct sidelog *sidelog = broker->sidelog;
	char to[SIDELOG_PATH];

	sidelog_name_aside(sidelog->path, SIDELOG_DAMAGED, SIDELOG_DAMAGED_MOST, to);
	log_event(LOG_ERROR, "the side log %s is damaged: it lies in %s now, and a new one is written from the log",
		sidelog->path, to);
	return rename(sidelog->path, to) < 0 ? -errno : begin(broker);
}

static int open_file(struct broker *broker, char ret_why[512])
{
	struct sidelog *sidelog = broker->sidelog;
	struct sidelog_read reading;
	int r = file_make_folders(broker->settings.sidelog, 0700);

	if (r == 0)
		file_close_own_folder(broker->settings.sidelog); /* where it cannot, doctor says so */
	if (r == 0)
		r = sidelog_judge(sidelog->path, log_id(broker->log), log_head(broker->log), &reading, ret_why);
	if (r == -ENOENT)
		r = begin(broker);
	else if (r == -EBADMSG)
		r = put_aside_damaged(broker);
	else if (r == 0) {
		sidelog->last = reading.last;
		sidelog->bytes = reading.whole;
		r = reading.is_torn && truncate(sidelog->path, (off_t)reading.whole) < 0 ? -errno : 0;
	}
	return r < 0 ? r : open_to_add(sidelog);
}

static bool choose_topics(const struct broker *broker, struct topic_set *topics)
{
	for (int i = 0; i < broker->topology.topic_count; i++)
		if (broker->topology.topics[i].sidelog)
			topic_set_add(topics, i);
	return topic_set_any(topics);
}

int sidelog_open(struct broker *broker, char ret_why[512])
{
	struct sidelog *sidelog;
	_cleanup_(topic_set_clear) struct topic_set topics = { 0 };
	int r;

	if (!broker->settings.sidelog || !choose_topics(broker, &topics))
		return 0;
	sidelog = broker->sidelog = memory_new(sizeof(*sidelog));
	sidelog->fd = -1;
	topic_set_add_all(&sidelog->topics, &topics);
	snprintf(sidelog->path, sizeof(sidelog->path), "%.500s/" SIDELOG_FILE, broker->settings.sidelog);
	r = open_file(broker, ret_why);
	if (r == 0)
		r = add_from(broker, sidelog->last + 1);
	if (r == 0 && sidelog->bytes > COMPACTED_FROM)
		r = compact(broker, NULL);
	if (r < 0 && ret_why[0] == '\0')
		snprintf(ret_why, 512, "the side log %.200s could not be opened: %s. Check the disk, then start again.",
			sidelog->path, strerror(-r));
	return r;
}

int sidelog_put_away(const char *folder, char ret_to[SIDELOG_PATH])
{
	_cleanup_(buffer_free) struct buffer file = { 0 };
	char path[600], suffix[60];
	struct sidelog_read reading;
	int r;

	snprintf(path, sizeof(path), "%.500s/" SIDELOG_FILE, folder);
	r = file_read(path, SIDELOG_MOST, &file);
	if (r == 0)
		r = sidelog_read(buffer_bytes(&file), NULL, NULL, &reading);
	if (r < 0)
		return r;
	snprintf(suffix, sizeof(suffix), SIDELOG_OF "%s", reading.head.log);
	sidelog_name_aside(path, suffix, INT_MAX, ret_to);
	return file_rename_durably(path, ret_to);
}

void sidelog_close(struct sidelog *sidelog)
{
	if (!sidelog)
		return;
	if (sidelog->fd >= 0)
		close(sidelog->fd);
	buffer_free(&sidelog->adding);
	topic_set_clear(&sidelog->topics);
	free(sidelog);
}
