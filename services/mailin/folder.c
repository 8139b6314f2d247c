/*
 * folder.c: the maildir that bounces and complaints are delivered to
 *
 * Owns:      the files of new/ and aside/, and which of them are being said.
 * Promises:  a file is deleted when the broker has confirmed what it says, or has it already: its name on the bus is the digest of its
 *            bytes, so dying in between repeats nothing. What says nothing to us, is about no mail of ours, or is too large is put
 *            aside, for a person: the latest 200, for 30 days.
 * Fails by:  leaving the file where it is while the broker is away; die() when the folder cannot be used.
 * Read next: report.c, match.c
 */
#include "services/mailin/folder.h"
#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/mailin/aside.h"
#include "services/mailin/match.h"
#include "services/mailin/report.h"
#include "services/mailin/tell.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_US US_PER_S
#define REPORT_EVERY_US US_PER_MINUTE
enum {
	SAYING_MOST = 16,
	STRANGER_S = 60 /* the word that a mail was sent may be on its way to us while it comes back already */
};

struct counters {
	uint64_t complaints, permanent, transient; /* of mails of ours, confirmed */
	uint64_t nothing;                          /* reports that ask for nothing */
	uint64_t strangers;                        /* reports about mails that are not ours */
	uint64_t others;                           /* no reports */
};

struct folder {
	char path[PATH_MAX / 2];
	struct buffer key;
	struct runtime *runtime;
	const struct clock *clock;
	int64_t look_at_us, report_at_us;
	struct list saying;
	int saying_count;
	struct counters counters, reported;
};

struct saying {
	struct list hook;
	struct folder *folder;
	FeedbackKind kind;
	char name[NAME_MAX + 1];
};

static void path_of(const struct folder *folder, const char *part, const char *name, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s%s%s", folder->path, part, name ? "/" : "", name ? name : "");
}

struct folder *folder_new(const char *path, struct bytes key, struct runtime *runtime, const struct clock *clock)
{
	struct folder *folder = memory_new(sizeof(*folder));
	char aside[PATH_MAX], new[PATH_MAX];
	TEXT_COPY(folder->path, path);
	buffer_add(&folder->key, key.data, key.len);
	folder->runtime = runtime;
	folder->clock = clock;
	list_init(&folder->saying);
	path_of(folder, "aside", NULL, aside);
	path_of(folder, "new", NULL, new);
	int r = file_make_folders(aside, 0750);
	if (r < 0 || access(new, R_OK | W_OK | X_OK) < 0)
		die("[mailin] folder = %s: %s: expected a maildir (with new/ in it) that this user may read and write",
			path, strerror(r < 0 ? -r : errno));
	report_init();
	return folder;
}

static void saying_free(struct saying *saying)
{
	list_remove(&saying->hook);
	saying->folder->saying_count--;
	free(saying);
}

void folder_free(struct folder *folder)
{
	if (!folder)
		return;
	LIST_EACH_SAFE (hook, &folder->saying)
		saying_free(LIST_ENTRY(hook, struct saying, hook));
	buffer_free(&folder->key);
	free(folder);
}

/* ---- where a file goes ---- */

static void delete (struct folder *folder, const char *name)
{
	char path[PATH_MAX];
	path_of(folder, "new", name, path);
	if (unlink(path) < 0 && errno != ENOENT)
		die("%s: %s: a mail that is done with cannot be deleted; the folder must belong to this user", path,
			strerror(errno));
}

static void put_aside(struct folder *folder, const char *name, const char *why)
{
	char from[PATH_MAX], to[PATH_MAX];
	path_of(folder, "new", name, from);
	path_of(folder, "aside", name, to);
	if (rename(from, to) < 0 && errno != ENOENT)
		die("%s: %s: it cannot be put aside; the folder must belong to this user", from, strerror(errno));
	log_event(LOG_NOTICE, "put aside file=%.80s: %s", name, why);
	path_of(folder, "aside", NULL, to);
	aside_make_room(to);
}

/* ---- saying ---- */

static void count(struct counters *counters, FeedbackKind kind)
{
	switch (kind) {
	case FEEDBACK_COMPLAINT:
		counters->complaints++;
		break;
	case FEEDBACK_BOUNCE_PERMANENT:
		counters->permanent++;
		break;
	case FEEDBACK_BOUNCE_TRANSIENT:
		counters->transient++;
		break;
	}
}

static void on_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct saying *saying = context;
	struct folder *folder = saying->folder;
	(void)seq;
	switch (result) {
	case SAID_FRESH:
		count(&folder->counters, saying->kind);
		delete (folder, saying->name);
		break;
	case SAID_DUPLICATE:
		delete (folder, saying->name);
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses for good what a mail says: %s", reason);
		put_aside(folder, saying->name, "what it says was refused");
		break;
	case SAID_UNKNOWN: /* it lies there still, and is read again */
		break;
	}
	saying_free(saying);
}

static void say(
	struct folder *folder, const char *name, const char *shop, const MailFeedback *feedback, struct bytes mail)
{
	struct saying *saying = memory_new(sizeof(*saying));
	saying->folder = folder;
	saying->kind = feedback->kind;
	TEXT_COPY(saying->name, name);
	list_append(&folder->saying, &saying->hook);
	folder->saying_count++;
	if (tell(folder->runtime, shop, feedback, mail, on_said, saying) < 0)
		saying_free(saying); /* the broker is away */
}

/* ---- one file ---- */

static void take_feedback(struct folder *folder, const char *name, const struct stat *found, struct bytes mail,
	const struct report *report)
{
	char shop[64];
	MailFeedback feedback;
	if (match_find(runtime_state(folder->runtime), buffer_bytes(&folder->key), report, shop, &feedback)) {
		feedback.heard_us = clock_wall_us(folder->clock);
		say(folder, name, shop, &feedback, mail);
	} else if (found->st_mtime < time(NULL) - STRANGER_S || found->st_mtime > time(NULL) + STRANGER_S) {
		folder->counters.strangers++;
		put_aside(folder, name, "it is about a mail that we never sent, or proves nothing");
	}
}

static void take_mail(struct folder *folder, const char *name, const struct stat *found, struct bytes mail)
{
	static struct report report; /* large */
	report_read(mail, &report);
	switch (report.kind) {
	case REPORT_NONE:
		folder->counters.others++;
		put_aside(folder, name, "it is no report of a bounce or a complaint");
		break;
	case REPORT_NOTHING:
		folder->counters.nothing++;
		delete (folder, name);
		break;
	case REPORT_FEEDBACK:
		take_feedback(folder, name, found, mail, &report);
		break;
	}
}

static void look_at(struct folder *folder, const char *name)
{
	struct buffer mail = { 0 };
	struct stat found;
	char path[PATH_MAX];
	path_of(folder, "new", name, path);
	if (lstat(path, &found) < 0)
		return;
	int r = S_ISREG(found.st_mode) ? file_read(path, REPORT_BYTES_MOST, &mail) : -EINVAL;
	if (r == 0)
		take_mail(folder, name, &found, BYTES(mail.data ? mail.data : (const uint8_t *)"", mail.len));
	else if (r != -ENOENT)
		put_aside(folder, name, r == -EFBIG ? "it is larger than a report is" : strerror(-r));
	folder->counters.others += r != 0 && r != -ENOENT;
	buffer_free(&mail);
}

/* ---- all of them ---- */

static bool is_being_said(const struct folder *folder, const char *name)
{
	LIST_EACH (hook, &folder->saying)
		if (strcmp(LIST_ENTRY(hook, struct saying, hook)->name, name) == 0)
			return true;
	return false;
}

static void tell_counters(struct folder *folder, int64_t now_us)
{
	const struct counters *counters = &folder->counters;
	if (now_us < folder->report_at_us)
		return;
	folder->report_at_us = now_us + REPORT_EVERY_US;
	if (memcmp(counters, &folder->reported, sizeof(*counters)) == 0)
		return;
	folder->reported = *counters;
	log_event(LOG_INFO,
		"since the start complaints=%" PRIu64 " permanent=%" PRIu64 " transient=%" PRIu64 " nothing=%" PRIu64
		" strangers=%" PRIu64 " others=%" PRIu64,
		counters->complaints, counters->permanent, counters->transient, counters->nothing, counters->strangers,
		counters->others);
}

int64_t folder_look(struct folder *folder)
{
	int64_t now_us = clock_boot_us(folder->clock);
	char path[PATH_MAX];
	tell_counters(folder, now_us);
	if (now_us < folder->look_at_us)
		return folder->look_at_us - now_us;
	folder->look_at_us = now_us + LOOK_EVERY_US;
	if (runtime_phase(folder->runtime) != RUNTIME_READY)
		return LOOK_EVERY_US;
	path_of(folder, "new", NULL, path);
	DIR *dir = opendir(path);
	if (!dir)
		die("%s: %s: the maildir of [mailin] folder has gone", path, strerror(errno));
	for (const struct dirent *entry; folder->saying_count < SAYING_MOST && (entry = readdir(dir));)
		if (entry->d_name[0] != '.' && !is_being_said(folder, entry->d_name))
			look_at(folder, entry->d_name);
	closedir(dir);
	return LOOK_EVERY_US;
}
