/*
 * folder.c: reads the maildir that bounces and complaints are delivered to
 *
 * Owns:      the files of its folder, and the list of those that are being read or published.
 * Promises:  a file is deleted when the broker has confirmed its message, now or before, or when it asks for
 *            nothing. The idempotency key follows from its bytes, so a crash in between repeats nothing. A
 *            mail that is no report, is about no mail of ours, is too large, or killed the process that read
 *            it is put aside for a person (quarantine.h); then the next mail is read.
 * Fails by:  leaving the file where it is while the broker is away; die() when the folder cannot be used.
 * Read next: reader.c, match.c
 */
#include "services/platform/mailin/folder.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/settings/settings.h"
#include "services/platform/mailin/mailin.h"
#include "services/platform/mailin/match.h"
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
#define ROUTE_AGAIN_US US_PER_MINUTE
#define REPORT_EVERY_US US_PER_MINUTE
enum {
	HANDS_MOST = 16,
	HEAD_MOST = 64 * 1024, /* of a mail: this part names the recipient */
	READ_AT_ONCE = 64 * 1024,
	STRANGER_S = 60 /* a mail may come back before we hear that it was sent */
};

struct counters {
	uint64_t complaints, permanent, transient; /* confirmed, about mails of ours */
	uint64_t nothing;                          /* reports that ask for nothing */
	uint64_t strangers;                        /* reports about mails that are not ours */
	uint64_t others;                           /* no reports */
	uint64_t deadly;                           /* mails that killed the process that read them */
};

struct folder {
	char path[PATH_MAX / 2];
	char in[16];
	struct folder_needs needs;
	struct map *left;       /* names of mails for which aside/ had no room */
	struct map *later;      /* names of mails that a route could not take now */
	int64_t later_until_us; /* boot time: they are tried again */
	int failed_now;         /* mails that this look had to leave for later */
	int64_t look_at_us, report_at_us;
	DIR *pass; /* a pass over the folder, which takes each mail once; NULL: none now */
	struct list hands;
	int hand_count;
	struct counters counters, reported;
};

/* A mail that is being read, and then published. */
struct hand {
	struct list hook;
	struct folder *folder;
	struct reading reading;
	bool is_read;          /* `reading` is in use */
	struct routed *routed; /* the mail on its way to a route; NULL: it is read as a report */
	struct buffer mail;
	time_t came;
	FeedbackKind kind;
	struct quarantine_note note;
	char name[NAME_MAX + 1];
};

static void path_of(const struct folder *folder, const char *name, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s%s%s", folder->path, folder->in, name ? "/" : "", name ? name : "");
}

void folder_check(const char *path, const char *in)
{
	char why[512];

	if (settings_maildir_try(path, in, why) < 0)
		die("%s", why);
}

struct folder *folder_new(const char *path, const char *in, const struct folder_needs *needs)
{
	struct folder *folder = memory_new(sizeof(*folder));
	TEXT_COPY(folder->path, path);
	TEXT_COPY(folder->in, in);
	folder->needs = *needs;
	folder->left = map_new();
	folder->later = map_new();
	list_init(&folder->hands);
	folder_check(path, in);
	return folder;
}

static void hand_free(struct hand *hand)
{
	if (hand->is_read)
		reader_forget(hand->folder->needs.reader, &hand->reading);
	routed_free(hand->routed);
	list_remove(&hand->hook);
	hand->folder->hand_count--;
	buffer_free(&hand->mail);
	free(hand);
}

void folder_free(struct folder *folder)
{
	if (!folder)
		return;
	LIST_EACH_SAFE (hook, &folder->hands)
		hand_free(LIST_ENTRY(hook, struct hand, hook));
	if (folder->pass)
		closedir(folder->pass);
	map_free(folder->left);
	map_free(folder->later);
	free(folder);
}

/* ---- deleting a file, or putting it aside ---- */

static void delete (struct folder *folder, const char *name)
{
	char path[PATH_MAX];
	path_of(folder, name, path);
	if (unlink(path) < 0 && errno != ENOENT)
		die("%s: %s: a mail that is done with cannot be deleted; the folder must belong to this user", path,
			strerror(errno));
	quarantine_forget_note(folder->needs.quarantine, name);
}

/* A mail for which aside/ has no room stays here, and is not read again until there is room. */
static void leave(struct folder *folder, const char *name, const char *why)
{
	map_put(folder->left, bytes_of(name), folder);
	log_event(LOG_ERROR, "aside/ is full, so file=%.80s stays where it is: %s", name, why);
}

static void put_aside(struct folder *folder, const char *name, struct quarantine_note *note, const char *why)
{
	char from[PATH_MAX];
	path_of(folder, name, from);
	snprintf(note->why, sizeof(note->why), "%s", why);
	int r = quarantine_move(folder->needs.quarantine, from, name, note);
	if (r == -EDQUOT || r == -ENOSPC)
		leave(folder, name, why);
	else if (r < 0 && r != -ENOENT)
		die("%s: %s: it cannot be put aside; the folder must belong to this user", from, strerror(-r));
	else
		log_event(LOG_NOTICE, "put aside file=%.80s: %s", name, why);
}

static void put_hand_aside(struct hand *hand, const char *why)
{
	put_aside(hand->folder, hand->name, &hand->note, why);
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
	struct hand *hand = context;
	struct folder *folder = hand->folder;
	(void)seq;
	switch (result) {
	case SAID_FRESH:
		count(&folder->counters, hand->kind);
		delete (folder, hand->name);
		break;
	case SAID_DUPLICATE:
		delete (folder, hand->name);
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses for good what a mail says: %s", reason);
		put_hand_aside(hand, "what it says was refused");
		break;
	case SAID_UNKNOWN: /* the file is still there, and is read again */
		break;
	}
	hand_free(hand);
}

/* ---- one mail ---- */

static bool may_be_known_soon(const struct hand *hand)
{
	return strcmp(hand->folder->in, QUARANTINE_RETRY) != 0 && hand->came >= time(NULL) - STRANGER_S &&
		hand->came <= time(NULL) + STRANGER_S;
}

/* true: the mail stays in hand until the broker answers. */
static bool take_feedback(struct hand *hand, const struct report *report)
{
	struct folder *folder = hand->folder;
	char shop[64];
	MailFeedback feedback;
	if (match_find(runtime_state(folder->needs.runtime), folder->needs.keys, clock_wall_us(folder->needs.clock),
		    report, shop, &feedback)) {
		hand->kind = feedback.kind;
		return feedback_publish(
			       folder->needs.runtime, shop, &feedback, buffer_bytes(&hand->mail), on_said, hand) == 0;
	}
	if (!may_be_known_soon(hand)) {
		folder->counters.strangers++;
		put_hand_aside(hand, "it is about a mail that we never sent, or proves nothing");
	}
	return false;
}

static bool take_report(struct hand *hand, const struct report *read)
{
	static struct report noted; /* large */
	const struct report *report = &noted;
	struct folder *folder = hand->folder;
	noted = *read;
	report_note_recipients(&noted, hand->note.recipients, hand->note.count);
	switch (report->kind) {
	case REPORT_NONE:
		folder->counters.others++;
		put_hand_aside(
			hand, report->trouble[0] ? report->trouble : "it is no report of a bounce or a complaint");
		return false;
	case REPORT_NOTHING:
		folder->counters.nothing++;
		delete (folder, hand->name);
		return false;
	case REPORT_FEEDBACK:
		return take_feedback(hand, report);
	}
	return false;
}

static void on_read(void *context, enum reader_end end, const struct report *report)
{
	struct hand *hand = context;
	bool is_said = false;
	hand->is_read = false;
	switch (end) {
	case READER_READ: /* without the broker nothing can be matched or published: the file stays */
		is_said = runtime_phase(hand->folder->needs.runtime) == RUNTIME_READY && take_report(hand, report);
		break;
	case READER_DIED:
		hand->folder->counters.deadly++;
		put_hand_aside(hand, "it ended the process that read it, twice");
		break;
	case READER_AWAY:
		break;
	}
	if (!is_said)
		hand_free(hand);
}

static struct hand *hand_new(struct folder *folder, const char *name, const struct stat *found)
{
	struct hand *hand = memory_new(sizeof(*hand));
	hand->folder = folder;
	hand->came = found->st_mtime;
	TEXT_COPY(hand->name, name);
	quarantine_read_note(folder->needs.quarantine, name, &hand->note);
	list_append(&folder->hands, &hand->hook);
	folder->hand_count++;
	return hand;
}

static void take_in_hand(struct folder *folder, const char *name, const struct stat *found, struct buffer *mail)
{
	struct hand *hand = hand_new(folder, name, found);
	hand->mail = *mail;
	*mail = (struct buffer){ 0 };
	hand->is_read = true;
	reader_read(folder->needs.reader, &hand->reading,
		BYTES(hand->mail.data ? hand->mail.data : (uint8_t *)"", hand->mail.len), on_read, hand);
}

/* ---- a mail for a route ---- */

/* A mail that cannot be taken now, as one for a shop whose room is full, holds up no other mail. */
static void try_later(struct folder *folder, const char *name, const char *why)
{
	if (map_count(folder->later) == 0) {
		folder->later_until_us = clock_boot_us(folder->needs.clock) + ROUTE_AGAIN_US;
		log_event(LOG_ERROR,
			"file=%.80s stays where it is, and is read again in a minute, like others that fail until "
			"then: %s",
			name, why);
	}
	map_put(folder->later, bytes_of(name), folder);
	folder->failed_now++;
}

static bool is_for_later(struct folder *folder, const char *name)
{
	if (map_count(folder->later) > 0 && clock_boot_us(folder->needs.clock) >= folder->later_until_us) {
		map_free(folder->later);
		folder->later = map_new();
	}
	return map_get(folder->later, bytes_of(name)) != NULL;
}

static void on_routed(void *context, enum routed_end end, const char *why)
{
	struct hand *hand = context;
	struct folder *folder = hand->folder;
	hand->routed = NULL;
	switch (end) {
	case ROUTED_SAID:
		delete (folder, hand->name);
		break;
	case ROUTED_REFUSED:
		put_hand_aside(hand, why);
		break;
	case ROUTED_NO_ROOM:
	case ROUTED_FAILED:
		try_later(folder, hand->name, why);
		break;
	case ROUTED_AWAY: /* the file is still there, and is read again */
		break;
	}
	hand_free(hand);
}

/* false: no route takes the mail, or its route reads reports. */
static bool find_route(
	struct folder *folder, int fd, const char *name, struct mailbox *ret, char ret_to[ADDRESS_MAX + 1])
{
	struct quarantine_note note;
	_cleanup_(buffer_free) struct buffer head = { 0 };
	ssize_t len = pread(fd, buffer_grow(&head, HEAD_MOST), HEAD_MOST, 0);
	quarantine_read_note(folder->needs.quarantine, name, &note);
	if (note.count > 0)
		text_copy(ret_to, ADDRESS_MAX + 1, note.recipients[0]);
	else if (len <= 0 || !mailbox_recipient(BYTES(head.data, (size_t)len), ret_to))
		return false;
	return mailbox_find(folder->needs.routing->tables, runtime_state(folder->needs.runtime), ret_to, ret) &&
		ret->route->topic;
}

static void read_into(int fd, struct routed *routed)
{
	_cleanup_free_ uint8_t *part = memory_new(READ_AT_ONCE);
	ssize_t len = 0;
	while (!routed_has_failed(routed) && (len = read(fd, part, READ_AT_ONCE)) > 0)
		routed_add(routed, BYTES(part, (size_t)len));
	if (len < 0)
		routed_fail(routed, -errno);
}

/* true: the mail is handled. */
static bool look_at_routed(struct folder *folder, const char *path, const char *name, const struct stat *found)
{
	struct mailbox mailbox;
	char to[1][ADDRESS_MAX + 1];
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !find_route(folder, fd, name, &mailbox, to[0]))
		return false;
	if (is_for_later(folder, name))
		return true;
	struct hand *hand = hand_new(folder, name, found);
	if ((uint64_t)found->st_size > mailbox_bytes_most(mailbox.route)) {
		put_hand_aside(hand, "it is larger than its address takes");
		hand_free(hand);
		return true;
	}
	hand->routed = routed_new(folder->needs.routing, &mailbox);
	read_into(fd, hand->routed);
	routed_finish(hand->routed, "", to, 1, on_routed, hand);
	return true;
}

static void look_at(struct folder *folder, const char *name)
{
	_cleanup_(buffer_free) struct buffer mail = { 0 };
	struct stat found;
	char path[PATH_MAX];
	path_of(folder, name, path);
	if (lstat(path, &found) < 0)
		return;
	if (S_ISREG(found.st_mode) && look_at_routed(folder, path, name, &found))
		return;
	int r = S_ISREG(found.st_mode) ? file_read(path, REPORT_BYTES_MOST, &mail) : -EINVAL;
	if (r == 0) {
		take_in_hand(folder, name, &found, &mail);
	} else if (r != -ENOENT) {
		folder->counters.others++;
		struct quarantine_note note = { .count = 0 };
		put_aside(folder, name, &note, r == -EFBIG ? "it is larger than a report is" : strerror(-r));
	}
}

/* ---- all of them ---- */

static bool is_in_hand(const struct folder *folder, const char *name)
{
	LIST_EACH (hook, &folder->hands)
		if (strcmp(LIST_ENTRY(hook, struct hand, hook)->name, name) == 0)
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
		" strangers=%" PRIu64 " others=%" PRIu64 " deadly=%" PRIu64,
		counters->complaints, counters->permanent, counters->transient, counters->nothing, counters->strangers,
		counters->others, counters->deadly);
}

static void begin_pass(struct folder *folder)
{
	char path[PATH_MAX];
	if (quarantine_has_room(folder->needs.quarantine) && map_count(folder->left)) {
		map_free(folder->left);
		folder->left = map_new();
	}
	path_of(folder, NULL, path);
	folder->pass = opendir(path);
	if (!folder->pass)
		die("%s: %s: the maildir of [mailin] folder has gone", path, strerror(errno));
}

/*
 * Takes mails while fewer than HANDS_MOST are in hand, and until as many had to be left for later. The next
 * folder_look goes on from there.
 */
static void go_on(struct folder *folder)
{
	const struct dirent *entry = NULL;
	folder->failed_now = 0;
	while (folder->hand_count < HANDS_MOST && folder->failed_now < HANDS_MOST && (entry = readdir(folder->pass)))
		if (entry->d_name[0] != '.' && !is_in_hand(folder, entry->d_name) &&
			!map_get(folder->left, bytes_of(entry->d_name)))
			look_at(folder, entry->d_name);
	if (entry || folder->hand_count == HANDS_MOST)
		return;
	closedir(folder->pass);
	folder->pass = NULL;
}

int64_t folder_look(struct folder *folder)
{
	int64_t now_us = clock_boot_us(folder->needs.clock);
	tell_counters(folder, now_us);
	if (!folder->pass && now_us < folder->look_at_us)
		return folder->look_at_us - now_us;
	if (runtime_phase(folder->needs.runtime) != RUNTIME_READY)
		return LOOK_EVERY_US;
	if (!folder->pass)
		begin_pass(folder);
	folder->look_at_us = now_us + LOOK_EVERY_US;
	go_on(folder);
	return LOOK_EVERY_US;
}
