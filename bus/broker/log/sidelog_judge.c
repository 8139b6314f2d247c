/*
 * sidelog_judge.c: may a log be served beside the side log that is there?
 *
 * Promises:  it reads only. A damaged side log beside an empty log is refused: the shoppers who said no or bought would be mailed again.
 * Read next: sidelog.c (the broker's start), verify_sidelog.c
 */
#include "bus/broker/log/sidelog_judge.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/folded.h"
#include "bus/base/text.h"
#include "bus/broker/broker.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

DEFINE_CLEANUP(DIR *, closedir)

bool sidelog_is_aside(const char *path, const char *suffix, int nth, char ret[SIDELOG_PATH])
{
	int len = snprintf(ret, SIDELOG_PATH, "%s%s", path, suffix);

	if (nth > 1)
		snprintf(ret + len, SIDELOG_PATH - (size_t)len, ".%d", nth);
	return access(ret, F_OK) == 0;
}

void sidelog_name_aside(const char *path, const char *suffix, int most, char ret[SIDELOG_PATH])
{
	int nth = 1;

	while (sidelog_is_aside(path, suffix, nth, ret) && nth < most)
		nth++;
}

/* This log does not know who said no or bought in the other one. A person has to decide whether those may be mailed. */
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

/* Is it called stops.of-<log>, stops.of-<log>.2 and so on? Their numbers may have gaps: somebody may have removed one. */
static bool is_put_away_of(const char *name, const char *log)
{
	const char *prefix = SIDELOG_FILE SIDELOG_OF;

	if (!text_starts(name, prefix) || !text_starts(name + strlen(prefix), log))
		return false;
	name += strlen(prefix) + strlen(log);
	return *name == '\0' || *name == '.';
}

/* An older copy of a log that was given another identity ends before what was put away then. */
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
