/*
 * quarantine.c: keeps mails for a person that could not be read or have no meaning for us
 *
 * Owns:      the folders aside, aside.notes and retry below its base folder, and the count of the mails in
 *            aside.
 * Promises:  a note is on the disk before its mail; a mail is deleted only for its age, and a mail that has
 *            no room is not taken.
 * Fails by:  a negative errno; then the mail stays where it was.
 * Read next: folder.c, delivery.c (put mails here), services/cartbus/recover/mailin.c (shows them)
 */
#include "services/platform/mailin/quarantine.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_US US_PER_MINUTE
enum { KEPT_S = 30 * 24 * 3600, DAY_S = 24 * 3600, BLOCK = 4096, NOTE_MOST = 16 * 1024 };

struct quarantine {
	char base[PATH_MAX / 2];
	const struct clock *clock;
	struct quarantine_tally tally;
	int64_t look_us;
};

static void path_of(const struct quarantine *quarantine, const char *folder, const char *name, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s%s%s", quarantine->base, folder, name ? "/" : "", name ? name : "");
}

static uint64_t taken_by(uint64_t bytes)
{
	return (bytes + BLOCK) / BLOCK * BLOCK;
}

/* ---- the mails in aside ---- */

static bool is_too_old(const struct stat *found)
{
	return found->st_mtime < time(NULL) - KEPT_S;
}

static void count_mail(struct quarantine *quarantine, int folder, const char *name)
{
	struct stat found;
	if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (is_too_old(&found) && unlinkat(folder, name, 0) == 0) {
		quarantine_forget_note(quarantine, name);
		return;
	}
	quarantine->tally.mails++;
	quarantine->tally.bytes += taken_by((uint64_t)found.st_size);
	quarantine->tally.day += found.st_ctime > time(NULL) - DAY_S; /* a moved mail keeps its mtime */
}

/* Deletes a note that is too old: a process read its mail at last, and died before it deleted the note. */
static void forget_old_note(struct quarantine *quarantine, int folder, const char *name)
{
	struct stat found;
	(void)quarantine;
	if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && is_too_old(&found))
		unlinkat(folder, name, 0);
}

static void each_file(
	struct quarantine *quarantine, const char *name, void (*call)(struct quarantine *, int, const char *))
{
	char path[PATH_MAX];
	path_of(quarantine, name, NULL, path);
	DIR *dir = opendir(path);
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			call(quarantine, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

int64_t quarantine_look(struct quarantine *quarantine)
{
	int64_t now_us = clock_boot_us(quarantine->clock);
	if (now_us < quarantine->look_us)
		return quarantine->look_us - now_us;
	quarantine->look_us = now_us + LOOK_EVERY_US;
	quarantine->tally = (struct quarantine_tally){ 0 };
	each_file(quarantine, QUARANTINE_FOLDER, count_mail);
	each_file(quarantine, QUARANTINE_NOTES, forget_old_note);
	return LOOK_EVERY_US;
}

struct quarantine_tally quarantine_tally(const struct quarantine *quarantine)
{
	return quarantine->tally;
}

static bool has_room_for(const struct quarantine *quarantine, uint64_t bytes)
{
	return quarantine->tally.bytes + taken_by(bytes) <= QUARANTINE_BYTES_MOST;
}

bool quarantine_has_room(const struct quarantine *quarantine)
{
	return has_room_for(quarantine, 0);
}

struct quarantine *quarantine_new(const char *base, const struct clock *clock)
{
	static const char *const folders[] = { QUARANTINE_FOLDER, QUARANTINE_NOTES, QUARANTINE_RETRY };
	struct quarantine *quarantine = memory_new(sizeof(*quarantine));
	char path[PATH_MAX];
	quarantine->clock = clock;
	TEXT_COPY(quarantine->base, base);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		path_of(quarantine, folders[i], NULL, path);
		int r = file_make_folders(path, 0700);
		if (r < 0) {
			free(quarantine);
			errno = -r;
			return NULL;
		}
	}
	quarantine_look(quarantine);
	return quarantine;
}

void quarantine_free(struct quarantine *quarantine)
{
	free(quarantine);
}

/* ---- notes ---- */

static int write_note(const struct quarantine *quarantine, const char *name, const struct quarantine_note *note)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[PATH_MAX];
	buffer_printf(&text, "why: %s\n", note->why);
	for (int i = 0; i < note->count; i++)
		buffer_printf(&text, "to: %s\n", note->recipients[i]);
	path_of(quarantine, QUARANTINE_NOTES, name, path);
	return file_write_durably(path, buffer_bytes(&text), 0600);
}

static void read_line(const char *line, size_t len, struct quarantine_note *ret)
{
	if (len > 5 && text_starts(line, "why: "))
		text_copy_bytes(ret->why, sizeof(ret->why), BYTES(line + 5, len - 5));
	else if (len > 4 && text_starts(line, "to: ") && ret->count < LMTP_RECIPIENTS_MOST)
		ret->count += text_copy_bytes(
			ret->recipients[ret->count], sizeof(ret->recipients[0]), BYTES(line + 4, len - 4));
}

void quarantine_read_note(const struct quarantine *quarantine, const char *name, struct quarantine_note *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[PATH_MAX];
	*ret = (struct quarantine_note){ .count = 0 };
	path_of(quarantine, QUARANTINE_NOTES, name, path);
	if (file_read(path, NOTE_MOST, &text) < 0)
		return;
	for (const char *line = buffer_text(&text); *line; line += strspn(line, "\n")) {
		size_t len = strcspn(line, "\n");
		read_line(line, len, ret);
		line += len;
	}
}

void quarantine_forget_note(const struct quarantine *quarantine, const char *name)
{
	char path[PATH_MAX];
	path_of(quarantine, QUARANTINE_NOTES, name, path);
	unlink(path);
}

/* ---- mails ---- */

static void note_mail(struct quarantine *quarantine, uint64_t bytes)
{
	quarantine->tally.mails++;
	quarantine->tally.day++;
	quarantine->tally.bytes += taken_by(bytes);
}

static void name_of(struct bytes mail, const struct quarantine_note *note, char ret[33])
{
	_cleanup_(buffer_free) struct buffer all = { 0 };
	unsigned char digest[SHA256_DIGEST_LENGTH];
	for (int i = 0; i < note->count; i++)
		buffer_printf(&all, "%s\n", note->recipients[i]);
	buffer_add(&all, mail.data, mail.len);
	SHA256(all.data, all.len, digest);
	text_hex(digest, 16, ret);
}

int quarantine_write(struct quarantine *quarantine, struct bytes mail, const struct quarantine_note *note)
{
	char path[PATH_MAX], name[33];
	name_of(mail, note, name);
	path_of(quarantine, QUARANTINE_FOLDER, name, path);
	if (access(path, F_OK) == 0)
		return 0;
	if (!has_room_for(quarantine, mail.len))
		return -EDQUOT;
	int r = write_note(quarantine, name, note);
	r = r < 0 ? r : file_write_durably(path, mail, 0600);
	if (r == 0)
		note_mail(quarantine, mail.len);
	return r;
}

int quarantine_move(
	struct quarantine *quarantine, const char *path, const char *name, const struct quarantine_note *note)
{
	struct stat found;
	char to[PATH_MAX];
	if (lstat(path, &found) < 0)
		return -errno;
	if (!has_room_for(quarantine, (uint64_t)found.st_size))
		return -EDQUOT;
	int r = write_note(quarantine, name, note);
	path_of(quarantine, QUARANTINE_FOLDER, name, to);
	if (r == 0 && rename(path, to) < 0)
		r = -errno;
	if (r == 0)
		note_mail(quarantine, (uint64_t)found.st_size);
	return r;
}
