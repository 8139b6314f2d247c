/*
 * witness.c: a file beside a store that notes how far the store was synced
 *
 * If a write-ahead log lost its end at the border of two records, or was lost altogether, RocksDB does not
 * notice and opens the store; so it does with its MANIFEST, and then it deletes the files that the lost end
 * had named. This file remembers: after every synced commit the process writes into it, unsynced, the store's
 * sequence number, the numbers of its write-ahead logs, and the length of the MANIFEST once that has been
 * left alone for a second (RocksDB syncs its additions at once). So it never claims more than is on the disk,
 * and costs a microsecond.
 *
 * Owns:      <folder>/witness: a magic number, the sequence number, the logs, the MANIFEST, a CRC; less than
 *            a sector.
 * Promises:  its numbers are a lower bound of what the store must hold. A log that it names held something
 *            then.
 * Fails by:  claiming nothing where it is missing or damaged: that proves nothing, and it is written anew. If
 *            the disk cannot store it, that is an error, as with the store itself.
 * Read next: rocks_open.c
 */
#include "bus/store/rocks/witness.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/store/store.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	MAGIC_LEN = 8,
	SEQUENCE_AT = 8,
	OLDER_CRC_AT = 16, /* of the first form, which named no logs */
	OLDER_LEN = 20,
	COUNT_AT = 16,
	LOGS_AT = 20,
	OLD_CRC_AT = LOGS_AT + 8 * WALS_MAX, /* of the second form, which did not name the MANIFEST */
	OLD_LEN = OLD_CRC_AT + 4,
	MANIFEST_AT = OLD_CRC_AT,
	MANIFEST_LEN_AT = MANIFEST_AT + 8,
	CRC_AT = MANIFEST_LEN_AT + 8,
	WITNESS_LEN = CRC_AT + 4,
};

static const char MAGIC[MAGIC_LEN + 1] = "cbwitne3", OLD_MAGIC[MAGIC_LEN + 1] = "cbwitne2",
				    OLDER_MAGIC[MAGIC_LEN + 1] = "cbwitnes";

/*
 * A folder's time of change is as coarse as the kernel's tick: within this time a change may hide behind the
 * one before it.
 */
static const int64_t SETTLED_US = 20 * US_PER_MS;

/* RocksDB syncs an addition to its MANIFEST at once; after this time it is synced. */
static const int64_t MANIFEST_SETTLED_US = US_PER_S;

struct manifest {
	uint64_t number, len; /* len 0: not known */
};

struct testimony { /* the content of the file */
	uint64_t sequence;
	struct wals logs;
	struct manifest manifest;
};

struct witness {
	int fd;
	char *folder;
	struct wals logs;
	int64_t changed_us; /* the folder, when it was last read */
	bool settled;       /* no later change can hide behind that one */
	struct manifest manifest;
};

static uint32_t crc_of(const uint8_t *record, size_t len)
{
	return text_crc(BYTES(record, len));
}

static void name_file(const char *folder, char ret[600])
{
	snprintf(ret, 600, "%.580s/witness", folder);
}

static bool is_form(const uint8_t record[WITNESS_LEN], ssize_t len, const char *magic, ssize_t form_len)
{
	return len == form_len && memcmp(record, magic, MAGIC_LEN) == 0 &&
		get_u32(record + form_len - 4) == crc_of(record, (size_t)form_len - 4);
}

static bool read_logs(const uint8_t record[WITNESS_LEN], struct wals *ret)
{
	ret->count = get_u32(record + COUNT_AT);
	if (ret->count > WALS_MAX)
		return false;
	for (uint32_t i = 0; i < ret->count; i++)
		ret->numbers[i] = get_be64(record + LOGS_AT + (size_t)8 * i);
	return true;
}

static bool read_record(const uint8_t record[WITNESS_LEN], ssize_t len, struct testimony *ret)
{
	ret->sequence = get_be64(record + SEQUENCE_AT);
	if (is_form(record, len, OLDER_MAGIC, OLDER_LEN))
		return true;
	if (is_form(record, len, OLD_MAGIC, OLD_LEN))
		return read_logs(record, &ret->logs);
	if (!is_form(record, len, MAGIC, WITNESS_LEN))
		return false;
	ret->manifest.number = get_be64(record + MANIFEST_AT);
	ret->manifest.len = get_be64(record + MANIFEST_LEN_AT);
	return read_logs(record, &ret->logs);
}

/* false: the file is damaged. A file that is missing or empty was never written, and claims nothing. */
static bool read_file(const char *folder, struct testimony *ret)
{
	uint8_t record[WITNESS_LEN] = { 0 };
	char path[600];
	ssize_t len;

	*ret = (struct testimony){ 0 };
	name_file(folder, path);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	len = read(fd, record, sizeof(record));
	if (len == 0 || read_record(record, len, ret))
		return true;
	*ret = (struct testimony){ 0 };
	return false;
}

void witness_read(const char *folder, struct wals *ret)
{
	struct testimony testimony;

	read_file(folder, &testimony);
	*ret = testimony.logs;
}

/* The number of the MANIFEST that CURRENT names; false: it cannot be found, and RocksDB will report that. */
static bool read_current(const char *folder, uint64_t *ret_number)
{
	char path[600], name[64] = "";
	ssize_t len;

	snprintf(path, sizeof(path), "%.580s/CURRENT", folder);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, name, sizeof(name) - 1);
	return len > 0 && sscanf(name, "MANIFEST-%" SCNu64, ret_number) == 1;
}

static bool stat_manifest(const char *folder, uint64_t number, struct stat *ret)
{
	char path[600];

	snprintf(path, sizeof(path), "%.560s/MANIFEST-%06" PRIu64, folder, number);
	return stat(path, ret) == 0;
}

int witness_check_manifest(const char *folder, char ret_why[512])
{
	struct testimony testimony;
	struct stat manifest;
	uint64_t number;

	if (!read_file(folder, &testimony) || !read_current(folder, &number) || number != testimony.manifest.number ||
		!stat_manifest(folder, number, &manifest) || (uint64_t)manifest.st_size >= testimony.manifest.len)
		return 0;
	snprintf(ret_why, 512,
		"Corruption: %.300s/MANIFEST-%06" PRIu64 " has %lld bytes and had %" PRIu64 ": its end is cut off",
		folder, number, (long long)manifest.st_size, testimony.manifest.len);
	return -EUCLEAN;
}

/* Appends to a reason that may stand there already: a log that was cut short in the same accident. */
static void say_damaged(const char *folder, char why[512])
{
	size_t said = strlen(why);

	snprintf(why + said, 512 - said, "%s%.150s/witness was damaged; it is written anew", said ? "; and " : "",
		folder);
}

int witness_check(const char *folder, uint64_t found, char why[512])
{
	struct testimony testimony;
	bool readable = read_file(folder, &testimony);
	uint64_t synced = testimony.sequence;

	if (!readable)
		say_damaged(folder, why);
	if (!readable || found >= synced)
		return 0;
	snprintf(why, 512,
		"Corruption: %.300s: the write-ahead log (*.log) ends at operation %llu, and %llu were synced: its end "
		"is cut off or missing",
		folder, (unsigned long long)found, (unsigned long long)synced);
	return -EUCLEAN;
}

int witness_open(const char *folder, struct witness **ret, char ret_why[512])
{
	struct witness *witness;
	char path[600];
	int fd;

	name_file(folder, path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		fd = -errno;
		snprintf(ret_why, 512, "%.300s: %s", path, strerror(-fd));
		return fd;
	}
	witness = memory_new(sizeof(*witness));
	witness->fd = fd;
	witness->folder = memory_copy_text(folder);
	*ret = witness;
	return 0;
}

/* The logs change seldom, and the folder's time of change shows when. true: the folder was read. */
static bool look_at_logs(struct witness *witness)
{
	struct timespec now;
	struct stat folder;
	int64_t changed_us;

	if (stat(witness->folder, &folder) < 0)
		return false;
	changed_us = folder.st_mtim.tv_sec * US_PER_S + folder.st_mtim.tv_nsec / 1000;
	if (witness->settled && changed_us == witness->changed_us)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	witness->settled = now.tv_sec * US_PER_S + now.tv_nsec / 1000 - changed_us > SETTLED_US;
	witness->changed_us = changed_us;
	wals_list(witness->folder, &witness->logs);
	return true;
}

/*
 * A new MANIFEST comes with a new CURRENT, which changes the folder; an addition changes the MANIFEST itself.
 */
static void look_at_manifest(struct witness *witness, bool folder_changed)
{
	struct timespec now;
	struct stat manifest;
	uint64_t number = witness->manifest.number;

	if (folder_changed && (!read_current(witness->folder, &number) || number != witness->manifest.number))
		witness->manifest = (struct manifest){ .number = number };
	if (!stat_manifest(witness->folder, witness->manifest.number, &manifest))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	if ((now.tv_sec - manifest.st_mtim.tv_sec) * US_PER_S + (now.tv_nsec - manifest.st_mtim.tv_nsec) / 1000 >
		MANIFEST_SETTLED_US)
		witness->manifest.len = (uint64_t)manifest.st_size;
}

static void put_u32(uint8_t *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(number >> (8 * i));
}

int witness_write(struct witness *witness, uint64_t sequence, char ret_why[512])
{
	uint8_t record[WITNESS_LEN] = { 0 };
	ssize_t written;

	look_at_manifest(witness, look_at_logs(witness));
	memcpy(record, MAGIC, MAGIC_LEN);
	put_be64(record + SEQUENCE_AT, sequence);
	put_u32(record + COUNT_AT, witness->logs.count);
	for (uint32_t i = 0; i < witness->logs.count; i++)
		put_be64(record + LOGS_AT + (size_t)8 * i, witness->logs.numbers[i]);
	put_be64(record + MANIFEST_AT, witness->manifest.number);
	put_be64(record + MANIFEST_LEN_AT, witness->manifest.len);
	put_u32(record + CRC_AT, crc_of(record, CRC_AT));
	written = pwrite(witness->fd, record, sizeof(record), 0);
	if (written == WITNESS_LEN)
		return 0;
	snprintf(ret_why, 512, "%.300s/witness: %s", witness->folder, written < 0 ? strerror(errno) : "a short write");
	return -EIO;
}

void witness_close(struct witness *witness)
{
	if (!witness)
		return;
	close(witness->fd);
	free(witness->folder);
	free(witness);
}
