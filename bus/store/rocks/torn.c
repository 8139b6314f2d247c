/*
 * torn.c: tells a record that a power cut tore from one that was damaged later
 *
 * Reads RocksDB's write-ahead logs (blocks of 32 KiB; per fragment: masked CRC-32C, length, type) and changes nothing.
 * Fails by:  "not torn", in any doubt: the caller then refuses the log that cannot be read.
 * Read next: torn.h, rocks.c
 */
#include "bus/store/rocks/torn.h"
#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 32 * 1024, SECTOR = 512, HEADER = 7, LOG_BYTES_MAX = 256 << 20 };
enum { TYPE_FULL = 1, TYPE_FIRST, TYPE_MIDDLE, TYPE_LAST };

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

/* How long the fragment at `at` is, header included; 0: there is none that is whole. */
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

/* A sector's share of the fragment at `at` is missing: zero to its end, or behind the end of the file. */
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

/* Whether a record begins, whole, anywhere behind the damage: then the damaged one had been synced. */
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
