/*
 * watcher.c: reads the files in the shops' folders when they have stopped changing
 *
 * Owns:      the inotify descriptor, and the attributes of each file at the last look.
 * Promises:  a saved file is seen within a second; files are read only when they have not changed for a
 *            moment, so that half a file is not taken for a whole one. Because editors rename files and
 *            networks lose events, it also looks every few seconds without an event.
 * Fails by:  logging. A folder that cannot be read is looked at again, and the texts that were seen in it are
 *            kept.
 * Read next: mirror.c
 */
#include "services/platform/mirror/watcher.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "services/kit/shop/shop.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define SETTLE_US (150 * US_PER_MS)     /* between two looks at a file that changed */
#define LOOK_ANYWAY_US (10 * US_PER_S)  /* with inotify */
#define LOOK_OFTEN_US (500 * US_PER_MS) /* without */

enum { FURTHER_MAX = 60 }; /* texts of a shop, beside one of each kind */

#define EVENTS                                                                                                         \
	(IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |                \
		IN_DELETE_SELF | IN_MOVE_SELF)

/* The attributes of a file. All zero: there is no file. */
struct looks {
	ino_t inode;
	off_t size;
	struct timespec changed; /* also by a change of rights or owner */
	int error;               /* of stat, except ENOENT and ENOTDIR */
};

struct file {
	const struct document_kind *row;
	char kind[DOCUMENT_KIND_ROOM];
	struct looks last; /* at the last look */
};

struct folder {
	struct list hook;
	char shop[64];
	struct file *files; /* one of each kind, then further ones (voices of languages) as they were found */
	size_t count, kinds;
	int64_t changed_us; /* boot time of the look that found it changed */
	bool read;          /* it was read since then */
	bool overfull;      /* it has more further texts than are read, which was logged */
};

struct watcher {
	const char *path;
	struct mirror *into;
	int inotify;
	struct list folders;
	int64_t look_at_us;
	int complained;           /* the error of the shops' folder that was logged last */
	bool lacks_watches, told; /* a folder could not be watched at this look; that was logged, and is not over */
};

struct watcher *watcher_new(const char *shops, struct mirror *into)
{
	struct watcher *watcher = memory_new(sizeof(*watcher));

	watcher->path = shops;
	watcher->into = into;
	watcher->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watcher->inotify < 0)
		log_event(LOG_WARNING,
			"no inotify (%s; see fs.inotify.max_user_instances): looking twice a second instead",
			strerror(errno));
	list_init(&watcher->folders);
	return watcher;
}

void watcher_free(struct watcher *watcher)
{
	if (!watcher)
		return;
	LIST_EACH_SAFE (hook, &watcher->folders) {
		struct folder *folder = LIST_ENTRY(hook, struct folder, hook);
		free(folder->files);
		free(folder);
	}
	if (watcher->inotify >= 0)
		close(watcher->inotify);
	free(watcher);
}

int watcher_fd(const struct watcher *watcher)
{
	return watcher->inotify;
}

/*
 * Adding an existing watch changes nothing; the watch of a folder that was replaced is renewed. Of several folders
 * that cannot be watched, as with too few watches, one is logged.
 */
static void watch(struct watcher *watcher, const char *path)
{
	if (watcher->inotify < 0 || inotify_add_watch(watcher->inotify, path, EVENTS | IN_ONLYDIR) >= 0 ||
		errno == ENOENT)
		return;
	watcher->lacks_watches = true;
	if (!watcher->told)
		log_event(LOG_WARNING,
			"cannot watch %s: %s (see fs.inotify.max_user_watches); it and others like it are looked at "
			"every %d s",
			path, strerror(errno), (int)(LOOK_ANYWAY_US / US_PER_S));
	watcher->told = true;
}

void watcher_wake(struct watcher *watcher, int64_t boot_us)
{
	_Alignas(struct inotify_event) char events[4096];

	while (read(watcher->inotify, events, sizeof(events)) > 0)
		;
	if (watcher->look_at_us > boot_us)
		watcher->look_at_us = boot_us;
}

/* --- one shop --- */

static struct looks look_at(const char *path)
{
	struct stat found;

	if (stat(path, &found) < 0)
		return (struct looks){ .error = errno == ENOENT || errno == ENOTDIR ? 0 : errno };
	return (struct looks){ .inode = found.st_ino, .size = found.st_size, .changed = found.st_ctim };
}

static bool looks_same(const struct looks *a, const struct looks *b)
{
	return a->inode == b->inode && a->size == b->size && a->error == b->error &&
		a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static void log_doc(const char *shop, const struct doc *doc)
{
	if (!doc->changed)
		return;
	switch (doc->verdict) {
	case DOC_GOOD:
		log_event(LOG_NOTICE, "read shop=%s document=%s digest=%.12s", shop, doc->kind, doc->digest);
		if (doc->warnings[0])
			log_event(LOG_WARNING, "%s: %s", doc->source, doc->warnings);
		break;
	case DOC_BAD:
		log_event_about(LOG_ERROR, &(struct log_about){ .event = event_text_refused, .shop = shop },
			"refused shop=%s document=%s: %s; what was in use, if anything, stays in use", shop, doc->kind,
			doc->wrong);
		break;
	case DOC_MISSING:
		log_event(LOG_INFO, "there is no %s", doc->source);
		break;
	case DOC_WAITING:
		log_event(LOG_WARNING, "%s waits until shop.conf is right", doc->source);
		break;
	}
}

static void path_of(
	const struct watcher *watcher, const struct folder *folder, const struct file *file, char ret[PATH_MAX])
{
	char name[DOCUMENT_FILE_ROOM];

	document_file_name(file->row, file->kind, name);
	snprintf(ret, PATH_MAX, "%s/%s/%s", watcher->path, folder->shop, name);
}

static void tell_too_long(const struct file *file, const char *path, char ret_why[OWNER_TEXT_WHY + 8])
{
	char why[OWNER_TEXT_WHY];

	owner_text_file_too_long(path, file->row->bytes_max, why);
	snprintf(ret_why, OWNER_TEXT_WHY + 8, "it %s", why);
}

/* Reads one text. A file that is too long is refused, with the reason. false: there is no file. */
static bool read_doc(const struct watcher *watcher, const struct folder *folder, const struct file *file,
	struct buffer *text, char why[OWNER_TEXT_WHY + 8], struct seen *ret)
{
	char path[PATH_MAX];

	path_of(watcher, folder, file, path);
	int err = file_read(path, file->row->bytes_max, text);
	*ret = (struct seen){ .row = file->row, .kind = file->kind };
	if (err == -EFBIG) {
		tell_too_long(file, path, why);
		ret->unreadable = why;
	} else if (err < 0 && err != -ENOENT && err != -ENOTDIR) {
		ret->unreadable = strerror(-err);
	} else if (err == 0) {
		ret->text = BYTES(buffer_text(text), text->len);
	}
	return ret->unreadable || err == 0;
}

static void read_shop(const struct watcher *watcher, const struct folder *folder)
{
	struct reading {
		struct buffer text;
		char why[OWNER_TEXT_WHY + 8];
	};
	_cleanup_free_ struct reading *readings = memory_new(folder->count * sizeof(*readings));
	_cleanup_free_ struct seen *seen = memory_new(folder->count * sizeof(*seen));
	size_t count = 0;

	for (size_t i = 0; i < folder->count; i++)
		if (read_doc(watcher, folder, &folder->files[i], &readings[i].text, readings[i].why, &seen[count]))
			count++;
	const struct shop_docs *docs = mirror_see(watcher->into, folder->shop, seen, count);
	for (size_t i = 0; i < docs->count; i++)
		log_doc(folder->shop, &docs->docs[i]);
	for (size_t i = 0; i < folder->count; i++)
		buffer_free(&readings[i].text);
}

/* --- which files there are --- */

static bool has_file(const struct folder *folder, const char *kind)
{
	for (size_t i = 0; i < folder->count; i++)
		if (strcmp(folder->files[i].kind, kind) == 0)
			return true;
	return false;
}

static void add_file(struct folder *folder, const struct document_kind *row, const char *kind)
{
	folder->files = memory_resize(folder->files, (folder->count + 1) * sizeof(*folder->files));
	struct file *file = &folder->files[folder->count++];
	*file = (struct file){ .row = row };
	TEXT_COPY(file->kind, kind);
}

static void add_each_kind(struct folder *folder)
{
	const struct document_kind *row;

	for (; (row = document_kind_at(registered_documents, folder->kinds)); folder->kinds++)
		add_file(folder, row, row->name);
}

/* Adds the further texts of the folder. If it cannot be listed, the folder keeps the texts that it had. */
static void list_further(const struct watcher *watcher, struct folder *folder)
{
	char path[PATH_MAX], kind[DOCUMENT_KIND_ROOM];

	add_each_kind(folder);
	snprintf(path, sizeof(path), "%s/%s", watcher->path, folder->shop);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		const struct document_kind *row = document_kind_of_file(registered_documents, entry->d_name, kind);
		if (!row || has_file(folder, kind))
			continue;
		if (folder->count - folder->kinds < FURTHER_MAX) {
			add_file(folder, row, kind);
		} else if (!folder->overfull) {
			folder->overfull = true;
			log_event(LOG_ERROR, "%s has more than %d further texts: %s and others are not read", path,
				FURTHER_MAX, entry->d_name);
		}
	}
	closedir(dir);
}

/* Drops the further texts whose files are gone. If the next look finds such a file, it is a new one. */
static void forget_gone(struct folder *folder)
{
	size_t kept = 0;

	for (size_t i = 0; i < folder->count; i++) {
		const struct file *file = &folder->files[i];
		if (i < folder->kinds || file->last.inode != 0 || file->last.error != 0)
			folder->files[kept++] = *file;
	}
	folder->count = kept;
}

static bool has_changed(const struct watcher *watcher, struct folder *folder)
{
	bool changed = false;

	list_further(watcher, folder);
	for (size_t i = 0; i < folder->count; i++) {
		struct file *file = &folder->files[i];
		char path[PATH_MAX];
		path_of(watcher, folder, file, path);
		struct looks looks = look_at(path);
		changed = changed || !looks_same(&looks, &file->last);
		file->last = looks;
	}
	forget_gone(folder);
	return changed;
}

/* true: the files have stopped changing, and were read. */
static bool look_at_shop(struct watcher *watcher, struct folder *folder, int64_t boot_us)
{
	if (has_changed(watcher, folder) || folder->changed_us == 0) {
		folder->changed_us = boot_us;
		folder->read = false;
	}
	if (folder->read)
		return true;
	if (boot_us - folder->changed_us < SETTLE_US)
		return false;
	read_shop(watcher, folder);
	folder->read = true;
	return true;
}

/* --- all of them --- */

/* false: it was known. */
static bool add_folder(struct watcher *watcher, const char *shop)
{
	LIST_EACH (hook, &watcher->folders) {
		struct folder *folder = LIST_ENTRY(hook, struct folder, hook);
		if (strcmp(folder->shop, shop) == 0)
			return false;
	}
	struct folder *folder = memory_new(sizeof(*folder));
	TEXT_COPY(folder->shop, shop);
	list_append(&watcher->folders, &folder->hook);
	return true;
}

static void note_folder(struct watcher *watcher, const char *name)
{
	char path[PATH_MAX];
	struct stat found;

	snprintf(path, sizeof(path), "%s/%s", watcher->path, name);
	if (name[0] == '.' || stat(path, &found) < 0 || !S_ISDIR(found.st_mode))
		return;
	bool is_new = add_folder(watcher, name);
	watch(watcher, path);
	if (is_new && !shop_name_valid(name))
		log_event(LOG_ERROR, "%s is no shop: a shop's name has a-z, 0-9 and -, at most 40 characters", path);
}

/* Returns -errno of the shops' folder; the error is logged once. */
static int list_folders(struct watcher *watcher)
{
	DIR *dir = opendir(watcher->path);
	int err = dir ? 0 : -errno;

	if (err != watcher->complained && err < 0)
		log_event(LOG_ERROR, "the folder of the shops, %s, cannot be read: %s; make it, or set [paths] shops",
			watcher->path, strerror(-err));
	watcher->complained = err;
	if (err < 0)
		return err;
	for (const struct dirent *entry; (entry = readdir(dir));)
		note_folder(watcher, entry->d_name);
	closedir(dir);
	return 0;
}

int64_t watcher_look(struct watcher *watcher, int64_t boot_us)
{
	bool rest = true;

	if (boot_us < watcher->look_at_us)
		return watcher->look_at_us - boot_us;
	watcher->lacks_watches = false;
	watch(watcher, watcher->path);
	int listed = list_folders(watcher);
	if (watcher->told && !watcher->lacks_watches)
		log_event(LOG_NOTICE, "every folder in %s is watched again", watcher->path);
	watcher->told = watcher->lacks_watches;
	if (listed == 0)
		LIST_EACH (hook, &watcher->folders) {
			struct folder *folder = LIST_ENTRY(hook, struct folder, hook);
			if (shop_name_valid(folder->shop) && !look_at_shop(watcher, folder, boot_us))
				rest = false;
		}
	int64_t wait_us = !rest ? SETTLE_US : watcher->inotify < 0 ? LOOK_OFTEN_US : LOOK_ANYWAY_US;
	watcher->look_at_us = boot_us + wait_us;
	return wait_us;
}
