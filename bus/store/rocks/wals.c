/*
 * wals.c: the sequence of write-ahead logs: which are missing, and whether a power cut tore its end
 *
 * Reads RocksDB's write-ahead logs: blocks of 32 KiB; per fragment a masked CRC-32C, length and type. A
 * record begins with the number of its first operation and their count. Only wals_empty_unfinished changes a
 * log. Only torn_tail looks at checksums.
 * Fails by:  -EUCLEAN with the file that is missing, or the two with a gap between them.
 * Read next: wals.h, witness.c (it knows which logs there were)
 */
#include "bus/store/rocks/wals.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 32 * 1024, SECTOR = 512, HEADER = 7, RECORD_HEAD = 12, LOG_BYTES_MAX = 256 << 20 };
enum { TYPE_FULL = 1, TYPE_FIRST, TYPE_MIDDLE, TYPE_LAST };

/* The operations of one log; first 0: it holds none. */
struct span {
	uint64_t number, first, next;
};

struct reading {
	uint8_t head[RECORD_HEAD];
	size_t head_len;
	struct span span;
};

static uint64_t number_of(const char *name)
{
	char *end;
	uint64_t number = strtoull(name, &end, 10);

	return end != name && strcmp(end, ".log") == 0 ? number : 0;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void remember(struct wals *wals, uint64_t number)
{
	uint32_t at = wals->count;

	if (at == WALS_MAX && number < wals->numbers[0])
		return;
	if (at == WALS_MAX)
		at = 0;
	else
		wals->count++;
	wals->numbers[at] = number;
	qsort(wals->numbers, wals->count, sizeof(wals->numbers[0]), compare_numbers);
}

static bool is_empty(DIR *folder, const char *name)
{
	struct stat file;

	return fstatat(dirfd(folder), name, &file, 0) < 0 || file.st_size == 0;
}

void wals_list(const char *folder, struct wals *ret)
{
	DIR *listing = opendir(folder);
	struct dirent *entry;

	ret->count = 0;
	while (listing && (entry = readdir(listing)))
		if (number_of(entry->d_name) > 0 && !is_empty(listing, entry->d_name))
			remember(ret, number_of(entry->d_name));
	if (listing)
		closedir(listing);
}

static bool has(const struct wals *wals, uint64_t number)
{
	return wals->count > 0 &&
		bsearch(&number, wals->numbers, wals->count, sizeof(wals->numbers[0]), compare_numbers);
}

/* The numbers lie at the beginning of a record, which the end of a block may cut in two. */
static void take_fragment(struct reading *reading, uint8_t type, const uint8_t *body, size_t len)
{
	uint64_t first;
	size_t more;

	if (type == TYPE_FULL || type == TYPE_FIRST)
		reading->head_len = 0;
	more = RECORD_HEAD - reading->head_len < len ? RECORD_HEAD - reading->head_len : len;
	memcpy(reading->head + reading->head_len, body, more);
	reading->head_len += more;
	if ((type != TYPE_FULL && type != TYPE_LAST) || reading->head_len < RECORD_HEAD)
		return;
	first = get_u32(reading->head) | (uint64_t)get_u32(reading->head + 4) << 32;
	reading->span.next = first + get_u32(reading->head + 8);
	if (reading->span.first == 0)
		reading->span.first = first;
}

static int read_span(const char *folder, uint64_t number, struct span *ret)
{
	struct reading reading = { 0 };
	struct buffer log = { 0 };
	char path[600];
	int r;

	snprintf(path, sizeof(path), "%.560s/%06llu.log", folder, (unsigned long long)number);
	r = file_read(path, LOG_BYTES_MAX, &log);
	for (size_t at = 0; r == 0 && at + HEADER <= log.len;) {
		size_t block_left = BLOCK - at % BLOCK, len = get_u16(log.data + at + 4);
		uint8_t type = log.data[at + 6];

		if (block_left < HEADER) {
			at += block_left;
			continue;
		}
		if (type < TYPE_FULL || type > TYPE_LAST || HEADER + len > block_left || len > log.len - at - HEADER)
			break;
		take_fragment(&reading, type, log.data + at + HEADER, len);
		at += HEADER + len;
	}
	buffer_free(&log);
	*ret = reading.span;
	ret->number = number;
	return r;
}

static int empty_log(const char *folder, uint64_t number, char ret_why[512])
{
	char path[600];

	snprintf(path, sizeof(path), "%.560s/%06llu.log", folder, (unsigned long long)number);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, 0) == 0 && fsync(fd) == 0)
		return 0;
	snprintf(ret_why, 512, "%.500s: %s", path, strerror(errno));
	return -EIO;
}

int wals_empty_unfinished(const char *folder, char ret_why[512])
{
	struct wals there;
	struct span span;
	int r = 0;

	wals_list(folder, &there);
	for (uint32_t i = 0; r == 0 && i < there.count; i++)
		if (read_span(folder, there.numbers[i], &span) == 0 && span.first == 0)
			r = empty_log(folder, there.numbers[i], ret_why);
	return r;
}

static int missing(const char *folder, uint64_t number, const char *what, char ret_why[512])
{
	snprintf(ret_why, 512, "Corruption: %.300s/%06llu.log %s: it held operations that were synced", folder,
		(unsigned long long)number, what);
	return -EUCLEAN;
}

static int check_gap(const char *folder, const struct span *before, const struct span *span, char ret_why[512])
{
	if (before->first == 0 || span->first <= before->next)
		return 0;
	snprintf(ret_why, 512,
		"Corruption: %.300s/%06llu.log ends with operation %llu, and %06llu.log begins with %llu: the end of "
		"the first is cut off, or one in between is missing",
		folder, (unsigned long long)before->number, (unsigned long long)(before->next - 1),
		(unsigned long long)span->number, (unsigned long long)span->first);
	return -EUCLEAN;
}

static int check_there(
	const struct wals *there, const char *folder, const struct wals *known, uint64_t needed_from, char ret_why[512])
{
	for (uint32_t i = 0; i < known->count; i++)
		if (known->numbers[i] >= needed_from && !has(there, known->numbers[i]))
			return missing(folder, known->numbers[i], "is missing or empty", ret_why);
	return 0;
}

int wals_check(const char *folder, const struct wals *known, uint64_t needed_from, char ret_why[512])
{
	struct span before = { 0 }, span;
	struct wals there;
	int r;

	wals_list(folder, &there);
	r = check_there(&there, folder, known, needed_from, ret_why);
	for (uint32_t i = 0; r == 0 && i < there.count; i++) {
		if (there.numbers[i] < needed_from)
			continue;
		if (read_span(folder, there.numbers[i], &span) < 0)
			continue; /* RocksDB reports the reason better */
		if (span.first == 0 && has(known, there.numbers[i]))
			r = missing(folder, there.numbers[i], "holds no whole record", ret_why);
		else
			r = check_gap(folder, &before, &span, ret_why);
		if (span.first > 0)
			before = span;
	}
	return r;
}

/*
 * --- torn_tail tells a record that a power cut tore from one that was damaged later ---
 *
 * Fails by:  "not torn", in any doubt: the caller then refuses the unreadable log.
 */

static const uint32_t CASTAGNOLI = 0x82f63b78, MASK_DELTA = 0xa282ead8;

struct logs { /* all of them, in the order they were written */
	struct buffer bytes;
	bool damaged, whole_behind, unwritten;
	char *where;
};

static uint32_t masked_crc(const uint8_t *bytes, size_t len)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (CASTAGNOLI & -(crc & 1));
	}
	crc = ~crc;
	return (crc >> 15 | crc << 17) + MASK_DELTA;
}

/* Length of the fragment at `at`, header included; 0: there is no whole one. */
static size_t whole_fragment(const uint8_t *log, size_t len, size_t at)
{
	size_t block_left = BLOCK - at % BLOCK, left = len - at < block_left ? len - at : block_left;
	size_t body;

	if (left < HEADER || log[at + 6] < TYPE_FULL || log[at + 6] > TYPE_LAST)
		return 0;
	body = get_u16(log + at + 4);
	if (HEADER + body > left || masked_crc(log + at + 6, body + 1) != get_u32(log + at))
		return 0;
	return HEADER + body;
}

static bool begins_record(const uint8_t *log, size_t at)
{
	return log[at + 6] == TYPE_FULL || log[at + 6] == TYPE_FIRST;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/*
 * A sector of the fragment at `at` was not written: it is zero to the sector's end, or lies behind the end of
 * the file.
 */
static bool has_unwritten_sector(const uint8_t *log, size_t len, size_t at)
{
	size_t block_end = at - at % BLOCK + BLOCK, end = block_end;

	if (len - at >= HEADER && log[at + 6] >= TYPE_FULL && log[at + 6] <= TYPE_LAST &&
		at + HEADER + get_u16(log + at + 4) <= block_end)
		end = at + HEADER + get_u16(log + at + 4);
	if (end > len)
		return true;
	while (at < end) {
		size_t sector_end = at - at % SECTOR + SECTOR, to = sector_end < end ? sector_end : end;

		if (is_zero(log + at, to - at))
			return true;
		at = to;
	}
	return false;
}

/* Whether a whole record begins anywhere behind the damage: then the damaged record had been synced. */
static bool record_begins_behind(const uint8_t *log, size_t len, size_t from)
{
	for (size_t at = from; at + HEADER <= len; at++)
		if (whole_fragment(log, len, at) > 0 && begins_record(log, at))
			return true;
	return false;
}

static void look_at(struct logs *logs, const char *name)
{
	const uint8_t *log = logs->bytes.data;
	size_t len = logs->bytes.len, at = 0;
	bool in_record = false;

	if (logs->damaged) {
		logs->whole_behind = logs->whole_behind || record_begins_behind(log, len, 0);
		return;
	}
	while (at < len) {
		size_t fragment = whole_fragment(log, len, at);

		if (fragment == 0 && BLOCK - at % BLOCK < HEADER) {
			at += BLOCK - at % BLOCK; /* too little for a header: filled up with zeros */
			continue;
		}
		if (fragment == 0)
			break;
		in_record = log[at + 6] == TYPE_FIRST || log[at + 6] == TYPE_MIDDLE;
		at += fragment;
	}
	if (at >= len && !in_record)
		return;
	logs->damaged = true;
	logs->unwritten = at >= len || has_unwritten_sector(log, len, at);
	logs->whole_behind = record_begins_behind(log, len, at + 1);
	snprintf(logs->where, 128, "%.64s, byte %zu", name, at);
}

static int is_log(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && strcmp(entry->d_name + len - 4, ".log") == 0;
}

bool torn_tail(const char *path, char ret_where[128])
{
	struct logs logs = { .where = ret_where };
	struct dirent **names = NULL;
	int count = scandir(path, &names, is_log, versionsort);
	bool readable = count > 0;

	ret_where[0] = '\0';
	for (int i = 0; i < count; i++) {
		char file[512];

		buffer_clear(&logs.bytes);
		snprintf(file, sizeof(file), "%.300s/%.64s", path, names[i]->d_name);
		readable = readable && file_read(file, LOG_BYTES_MAX, &logs.bytes) == 0;
		if (readable)
			look_at(&logs, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	buffer_free(&logs.bytes);
	return readable && logs.damaged && logs.unwritten && !logs.whole_behind;
}
