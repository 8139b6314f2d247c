/*
 * spool.c: messages on disk that the gateway has accepted and the broker has not confirmed
 *
 * Owns:      <state>/<instance>/spool/, its files 00000000000000000001.spool and so on; when a file has 4 MB,
 *            the next one begins.
 * Promises:  after spool_sync has returned 0, no crash loses the added messages; messages come out in the
 *            order in which they went in. After a crash or a broken session they come again from the oldest
 *            unconfirmed one (their idempotency keys make that harmless).
 * Fails by:  refusing to open when an acknowledged record is damaged; refusing to write after a failed sync.
 * Read next: publisher.c (adds and replays messages)
 */
#include "services/platform/gateway/spool.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { SPOOL_RECORD_HEAD = 12, SPOOL_RECORD_MOST = 64 * 1024 * 1024 };

/* --- one file of the spool: records with a magic number, a length and a CRC --- */

static const uint32_t record_magic = 0x4c505343; /* "CSPL" */

/* Appends one record made of `count` messages, each with its u32 length in front, as they lie in `messages`. */
static void spool_record_write(struct bytes messages, uint32_t count, struct buffer *ret)
{
	struct buffer body = { 0 };

	buffer_add_u32(&body, count);
	buffer_add(&body, messages.data, messages.len);
	buffer_add_u32(ret, record_magic);
	buffer_add_u32(ret, (uint32_t)body.len);
	buffer_add_u32(ret, text_crc(buffer_bytes(&body)));
	buffer_add(ret, body.data, body.len);
	buffer_free(&body);
}

/* Do the lengths in the record add up? A matching CRC does not prove it. */
static bool adds_up(struct bytes messages, uint32_t count)
{
	const uint8_t *at = messages.data;
	size_t left = messages.len;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;

		if (left < 4 || (len = get_u32(at)) > left - 4)
			return false;
		at += 4 + len;
		left -= 4 + len;
	}
	return left == 0;
}

/*
 * Reads the record at `at`: its messages (u32 length, bytes) and their number, and where the next one begins.
 * 0; -ENODATA: the end of the file; -EBADMSG: no whole record lies here.
 */
static int spool_record_read(
	struct bytes file, size_t at, struct bytes *ret_messages, uint32_t *ret_count, size_t *ret_next)
{
	const uint8_t *head = (const uint8_t *)file.data + at;
	size_t left = file.len - at;
	struct bytes body;

	if (left == 0)
		return -ENODATA;
	if (left < SPOOL_RECORD_HEAD + 4 || get_u32(head) != record_magic || get_u32(head + 4) < 4 ||
		get_u32(head + 4) > SPOOL_RECORD_MOST || get_u32(head + 4) > left - SPOOL_RECORD_HEAD)
		return -EBADMSG;
	body = BYTES(head + SPOOL_RECORD_HEAD, get_u32(head + 4));
	if (text_crc(body) != get_u32(head + 8))
		return -EBADMSG;
	*ret_count = get_u32(body.data);
	*ret_messages = BYTES((const uint8_t *)body.data + 4, body.len - 4);
	*ret_next = at + SPOOL_RECORD_HEAD + body.len;
	return adds_up(*ret_messages, *ret_count) ? 0 : -EBADMSG;
}

/* Does any whole record begin after `at`? Then the damaged record at `at` was not the last one. */
static bool spool_record_follows(struct bytes file, size_t at)
{
	struct bytes messages;
	uint32_t count;
	size_t next;

	for (size_t i = at + 1; i + SPOOL_RECORD_HEAD <= file.len; i++)
		if (get_u32((const uint8_t *)file.data + i) == record_magic &&
			spool_record_read(file, i, &messages, &count, &next) == 0)
			return true;
	return false;
}

enum { FILE_FULL = 4 * 1024 * 1024, FILE_MOST = 256 * 1024 * 1024, ROOM_LEAST_BYTES = 16 * 1024 * 1024 };

struct spool_file {
	struct list link;
	uint64_t number;
	uint64_t messages;  /* synced */
	uint64_t given_out; /* the first so many messages, since the last rewind */
	uint64_t confirmed; /* of all messages, in this run */
	uint8_t *settled;   /* one byte per message: was it confirmed in this run? */
	size_t settled_room;
	size_t len; /* synced bytes */
};

struct spool {
	char folder[PATH_MAX - 64];
	struct list files; /* oldest first */
	struct buffer adding;
	uint32_t adding_count;
	int fd; /* of the newest file; -1: begin another */
	bool broken;
	char trouble[200]; /* "": none */
	uint64_t count;
	uint64_t on_its_way;
	uint64_t newest_number;

	struct spool_file *reading; /* the file whose bytes `loaded` holds; NULL: none */
	struct buffer loaded;       /* its bytes from `loaded_from` to the end that was synced then */
	size_t loaded_from;
	size_t read_at;      /* within `loaded`: the next record */
	struct bytes record; /* rest of the record being given out */
};

static void file_path(const struct spool *spool, const struct spool_file *file, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%020llu.spool", spool->folder, (unsigned long long)file->number);
}

static struct spool_file *file_at(struct list *hook)
{
	return LIST_ENTRY(hook, struct spool_file, link);
}

static void file_room(struct spool_file *file, uint64_t more)
{
	size_t need = file->messages + more;

	if (need > file->settled_room) {
		size_t room = need * 2 + 64;

		file->settled = memory_resize(file->settled, room);
		memset(file->settled + file->settled_room, 0, room - file->settled_room);
		file->settled_room = room;
	}
	file->messages = need;
}

static struct spool_file *file_new(struct spool *spool, uint64_t number)
{
	struct spool_file *file = memory_new(sizeof(*file));

	file->number = number;
	list_init(&file->link);
	list_append(&spool->files, &file->link);
	return file;
}

static void file_free(struct spool_file *file)
{
	list_remove(&file->link);
	free(file->settled);
	free(file);
}

static void close_writing(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
}

/* ---- opening: the files of the last run ---- */

static int explain(char why[400], int error, const char *what, const char *where)
{
	snprintf(why, 400, "%s %.300s: %s", what, where, strerror(-error));
	return error;
}

/* Cuts a torn tail off: it was never acknowledged. */
static int cut_tail(const char *path, size_t len)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)len) < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

static int file_scan(struct spool *spool, struct spool_file *file, bool last, char why[400])
{
	_cleanup_(buffer_free) struct buffer content = { 0 };
	struct bytes messages;
	uint32_t count;
	char path[PATH_MAX];
	size_t next;
	int r;

	file_path(spool, file, path);
	r = file_read(path, FILE_MOST, &content);
	if (r < 0)
		return explain(why, r, "cannot read the spool file", path);
	while ((r = spool_record_read(buffer_bytes(&content), file->len, &messages, &count, &next)) == 0) {
		file_room(file, count);
		file->len = next;
	}
	if (r == -ENODATA)
		return 0;
	if (last && !spool_record_follows(buffer_bytes(&content), file->len))
		return (r = cut_tail(path, file->len)) < 0 ? explain(why, r, "cannot cut the torn end off", path) : 0;
	snprintf(why, 400,
		"the spool file %.200s is damaged at byte %zu, and what lies there was acknowledged to a storefront: "
		"restore it, or move it away and have the storefront repeat its webhooks",
		path, file->len);
	return -EUCLEAN;
}

static int only_spool_files(const struct dirent *entry)
{
	return strlen(entry->d_name) == 26 && strspn(entry->d_name, "0123456789") == 20 &&
		strcmp(entry->d_name + 20, ".spool") == 0;
}

static int list_files(struct spool *spool, char why[400])
{
	struct dirent **names = NULL;
	int found = scandir(spool->folder, &names, only_spool_files, alphasort);

	if (found < 0)
		return explain(why, -errno, "cannot read the spool folder", spool->folder);
	for (int i = 0; i < found; i++) {
		spool->newest_number = strtoull(names[i]->d_name, NULL, 10);
		file_new(spool, spool->newest_number);
		free(names[i]);
	}
	free(names);
	return 0;
}

static void drop_if_settled(struct spool *spool, struct spool_file *file);

static int scan_all(struct spool *spool, char why[400])
{
	int r = list_files(spool, why);

	if (r < 0)
		return r;
	LIST_EACH_SAFE (hook, &spool->files) {
		struct spool_file *file = file_at(hook);

		r = file_scan(spool, file, hook->next == &spool->files, why);
		if (r < 0)
			return r;
		spool->count += file->messages;
		drop_if_settled(spool, file); /* deletes an empty file */
	}
	return 0;
}

int spool_open(const char *folder, struct spool **ret, char ret_why[400])
{
	struct spool *spool = memory_new(sizeof(*spool));
	int r;

	list_init(&spool->files);
	spool->fd = -1;
	if (!TEXT_COPY(spool->folder, folder))
		r = explain(ret_why, -ENAMETOOLONG, "the spool folder's path", folder);
	else if ((r = file_make_folders(folder, 0700)) < 0)
		explain(ret_why, r, "cannot make the spool folder", folder);
	else
		r = scan_all(spool, ret_why);
	if (r < 0) {
		spool_close(spool);
		return r;
	}
	*ret = spool;
	return 0;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	LIST_EACH_SAFE (hook, &spool->files)
		file_free(file_at(hook));
	close_writing(spool);
	buffer_free(&spool->adding);
	buffer_free(&spool->loaded);
	free(spool);
}

/* ---- writing ---- */

void spool_add(struct spool *spool, struct bytes message)
{
	buffer_add_u32(&spool->adding, (uint32_t)message.len);
	buffer_add(&spool->adding, message.data, message.len);
	spool->adding_count++;
}

static int trouble(struct spool *spool, int error, const char *what)
{
	snprintf(spool->trouble, sizeof(spool->trouble), "%s: %s", what, strerror(-error));
	return error;
}

static struct spool_file *newest(const struct spool *spool)
{
	return list_empty(&spool->files) ? NULL : file_at(spool->files.prev);
}

/* Gives the file to append to; begins a new one if there is none, or the newest is full. */
static int writable(struct spool *spool, struct spool_file **ret)
{
	struct spool_file *file = newest(spool);
	char path[PATH_MAX];
	int r;

	if (spool->fd >= 0 && file && file->len < FILE_FULL) {
		*ret = file;
		return 0;
	}
	close_writing(spool);
	file = file_new(spool, ++spool->newest_number);
	file_path(spool, file, path);
	spool->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	r = spool->fd < 0 ? -errno : file_sync_folder(spool->folder);
	if (r < 0) {
		close_writing(spool);
		unlink(path);
		file_free(file);
		return trouble(spool, r, "the spool cannot be written");
	}
	*ret = file;
	return 0;
}

static int append(struct spool *spool, struct spool_file *file, struct bytes record)
{
	int r = file_write(spool->fd, record);

	if (r < 0) {
		spool->broken = ftruncate(spool->fd, (off_t)file->len) < 0;
		return trouble(spool, r, "the spool cannot be written");
	}
	if (fdatasync(spool->fd) < 0) {
		r = -errno;
		spool->broken = true;
		return trouble(spool, r, "the spool cannot be synced, restart the gateway when the disk is well again");
	}
	return 0;
}

/*
 * The broker's log may be on the same disk, in <state> beside <state>/<gateway>/spool. It needs the free
 * space there to finish the work that it holds.
 */
static int check_room(struct spool *spool)
{
	struct statvfs room;
	struct stat own, beside;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/../..", spool->folder);
	if (stat(spool->folder, &own) < 0 || stat(path, &beside) < 0 || own.st_dev != beside.st_dev)
		return 0;
	if (statvfs(spool->folder, &room) < 0 || (uint64_t)room.f_bavail * room.f_frsize >= ROOM_LEAST_BYTES)
		return 0;
	return trouble(spool, -ENOSPC, "the spool cannot be written");
}

int spool_sync(struct spool *spool)
{
	_cleanup_(buffer_free) struct buffer record = { 0 };
	struct spool_file *file;
	uint32_t count = spool->adding_count;
	int r;

	if (count == 0)
		return 0;
	spool_record_write(buffer_bytes(&spool->adding), count, &record);
	buffer_clear(&spool->adding);
	spool->adding_count = 0;
	if (spool->broken)
		return -EIO;
	if (record.len > SPOOL_RECORD_HEAD + SPOOL_RECORD_MOST) /* it would read as damaged */
		return trouble(spool, -EMSGSIZE, "the spool cannot keep so much at once");
	if ((r = check_room(spool)) < 0 || (r = writable(spool, &file)) < 0 ||
		(r = append(spool, file, buffer_bytes(&record))) < 0)
		return r;
	spool->trouble[0] = '\0';
	file->len += record.len;
	file_room(file, count);
	spool->count += count;
	return 0;
}

const char *spool_trouble(const struct spool *spool)
{
	return spool->broken ? spool->trouble : NULL;
}

const char *spool_last_failure(const struct spool *spool)
{
	return spool->trouble;
}

uint64_t spool_count(const struct spool *spool)
{
	return spool->count;
}

/* ---- replay ---- */

static struct spool_file *oldest_to_give(const struct spool *spool)
{
	LIST_EACH (hook, &spool->files)
		if (file_at(hook)->given_out < file_at(hook)->messages)
			return file_at(hook);
	return NULL;
}

/* Loads the synced bytes of `file` from `from` on. */
static int load(struct spool *spool, struct spool_file *file, size_t from)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	size_t want = file->len - from;

	file_path(spool, file, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	buffer_clear(&spool->loaded);
	buffer_grow(&spool->loaded, want);
	while (spool->loaded.len < want) {
		size_t have = spool->loaded.len;
		ssize_t got = pread(fd, spool->loaded.data + have, want - have, (off_t)(from + have));

		if (got == 0 || (got < 0 && errno != EINTR))
			return got == 0 ? -ENODATA : -errno;
		spool->loaded.len += got > 0 ? (size_t)got : 0;
	}
	spool->reading = file;
	spool->loaded_from = from;
	spool->read_at = 0;
	spool->record = BYTES("", 0);
	return 0;
}

static int take_message(struct spool *spool, struct bytes *ret)
{
	uint32_t count, len;
	int r;

	while (spool->record.len == 0) {
		r = spool_record_read(
			buffer_bytes(&spool->loaded), spool->read_at, &spool->record, &count, &spool->read_at);
		if (r < 0)
			return r;
	}
	len = get_u32(spool->record.data);
	*ret = BYTES((const uint8_t *)spool->record.data + 4, len);
	spool->record = BYTES((const uint8_t *)spool->record.data + 4 + len, spool->record.len - 4 - len);
	return 0;
}

/* Goes to the first message of `file` that was not given out yet; the file may have grown since it was loaded. */
static int go_to(struct spool *spool, struct spool_file *file)
{
	struct bytes passed;
	int r;

	if (spool->reading == file)
		return spool->record.len > 0 || spool->read_at < spool->loaded.len
			? 0
			: load(spool, file, spool->loaded_from + spool->read_at);
	r = load(spool, file, 0);
	for (uint64_t i = 0; r == 0 && i < file->given_out; i++)
		r = take_message(spool, &passed);
	return r;
}

/* A ticket: the file's number, and the message's place in it. */
static uint64_t ticket_of(const struct spool_file *file, uint64_t index)
{
	return file->number << 32 | index;
}

bool spool_next(struct spool *spool, struct buffer *ret_message, uint64_t *ret_ticket, int *ret_error)
{
	struct spool_file *file;
	struct bytes message;

	*ret_error = 0;
	while ((file = oldest_to_give(spool))) {
		int r = go_to(spool, file);

		if (r == 0)
			r = take_message(spool, &message);
		if (r < 0) {
			spool->reading = NULL;
			*ret_error = r;
			return false;
		}
		*ret_ticket = ticket_of(file, file->given_out);
		if (file->settled[file->given_out++])
			continue;
		buffer_clear(ret_message);
		buffer_add(ret_message, message.data, message.len);
		spool->on_its_way++;
		return true;
	}
	return false;
}

/*
 * Deletes a file whose messages are all confirmed. If a power cut undoes the unlink, the broker answers the
 * replay as duplicates.
 */
static void drop_if_settled(struct spool *spool, struct spool_file *file)
{
	char path[PATH_MAX];

	if (file->confirmed < file->messages)
		return;
	if (file == newest(spool))
		close_writing(spool);
	if (spool->reading == file)
		spool->reading = NULL;
	file_path(spool, file, path);
	unlink(path);
	file_free(file);
}

int spool_confirmed(struct spool *spool, uint64_t ticket)
{
	uint64_t index = ticket & 0xffffffff;

	LIST_EACH (hook, &spool->files) {
		struct spool_file *file = file_at(hook);

		if (file->number != ticket >> 32)
			continue;
		if (index >= file->messages || file->settled[index])
			return -ENOENT;
		file->settled[index] = 1;
		file->confirmed++;
		spool->count--;
		if (index < file->given_out)
			spool->on_its_way--;
		drop_if_settled(spool, file);
		return 0;
	}
	return -ENOENT;
}

void spool_rewind(struct spool *spool)
{
	LIST_EACH (hook, &spool->files)
		file_at(hook)->given_out = 0;
	spool->reading = NULL;
	spool->on_its_way = 0;
}

uint64_t spool_on_its_way(const struct spool *spool)
{
	return spool->on_its_way;
}
