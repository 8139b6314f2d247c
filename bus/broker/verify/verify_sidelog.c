/*
 * verify_sidelog.c: the side log of a log that was read to its end, held against it
 *
 * Promises:  what was cut off is found by the numbers: the last message that the log wants in it is there.
 * Read next: sidelog_judge.h (what the broker refuses), sidelog.c (who writes it)
 */
#include "bus/broker/log/sidelog.h"
#include "bus/broker/verify/verify.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char WRITTEN_AGAIN[] = "The broker writes what is missing from the log at its next start";

/* What is older it may have lost when it was compacted. */
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
