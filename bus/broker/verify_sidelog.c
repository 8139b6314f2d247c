/*
 * verify_sidelog.c: the side log of a log that was read to its end, held against it
 *
 * Promises:  what was cut off is found by the numbers: the last message that the log wants in it is there.
 * Read next: sidelog.c (who writes it, and judges it at the start)
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/broker/sidelog.h"
#include "bus/broker/verify.h"
#include "bus/wire/sidelog_file.h"
#include <errno.h>
#include <stdio.h>

static const char WRITTEN_AGAIN[] = "The broker writes what is missing from the log at its next start";

/* What is older it may have lost when it was compacted. */
void verify_sidelog_note(struct verify *verify, const struct verify_message *message)
{
	int topic = verify_topic(verify, message->entry->topic_id);

	if (topic >= 0 && verify->topology->topics[topic].sidelog && !(message->entry->flags & FLAG_ERASED) &&
		message->time_us > verify->now_us - SIDELOG_KEPT_US)
		verify->sidelog_to = message->seq;
}

static bool judge(const struct verify *verify, const struct sidelog_read *read, char ret_words[400])
{
	if (strcmp(read->head.log, verify->id) != 0)
		snprintf(ret_words, 400,
			"it is of another log, %s, and the broker does not start beside it: cartbus restore DIR",
			read->head.log);
	else if (read->last > verify->head)
		snprintf(ret_words, 400,
			"it holds message %llu, and the log ends at %llu: the broker does not start: cartbus restore "
			"DIR",
			(unsigned long long)read->last, (unsigned long long)verify->head);
	else if (read->damages > 0)
		snprintf(ret_words, 400, "it is damaged in %zu places: check the disk. %s", read->damages,
			WRITTEN_AGAIN);
	return !*ret_words;
}

bool verify_sidelog(const struct verify *verify, const char *folder, char ret_words[400])
{
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct sidelog_read read;
	char path[600];
	int r;

	*ret_words = '\0';
	snprintf(path, sizeof(path), "%.500s/" SIDELOG_FILE, folder);
	r = file_read(path, SIDELOG_MOST, &file);
	if (r == -ENOENT && verify->sidelog_to > 0)
		snprintf(ret_words, 400, "there is none. %s", WRITTEN_AGAIN);
	if (r == -ENOENT)
		return true;
	if (r == 0)
		r = sidelog_read(buffer_bytes(&file), NULL, NULL, &read);
	if (r == 0 && !judge(verify, &read, ret_words))
		return false;
	if (r == 0 && read.last < verify->sidelog_to)
		snprintf(ret_words, 400,
			"it ends at message %llu, and lacks what the log holds up to %llu: the broker was killed, or "
			"the file was cut. %s",
			(unsigned long long)read.last, (unsigned long long)verify->sidelog_to, WRITTEN_AGAIN);
	if (r == 0)
		return true;
	if (r == -EBADMSG)
		snprintf(ret_words, 400, "it is damaged from its first byte on: check the disk. %s", WRITTEN_AGAIN);
	else
		snprintf(ret_words, 400, "it cannot be read: %s: check the disk", strerror(-r));
	return false;
}
