/*
 * witness.c: how far a store was synced, kept beside it
 *
 * A write-ahead log that lost its end at the border of two records, or altogether, looks as if it had never been longer, and
 * RocksDB opens it without a word. This file remembers:
 * after every synced commit the store's sequence number is written into it, unsynced, so it never claims more than is on the
 * disk, and costs a microsecond.
 *
 * Owns:      <folder>/witness: a magic number, the sequence number, a CRC.
 * Promises:  what it says is a lower bound of what the store must hold.
 * Fails by:  saying nothing where it is missing or damaged: that proves nothing, and it is written anew. A disk that does not
 *            take it is a disk that fails: an error, as of the store itself.
 * Read next: rocks.c
 */
#include "bus/store/witness.h"
#include "bus/base/bytes.h"
#include "bus/base/text.h"
#include "bus/store/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MAGIC_LEN = 8, SEQUENCE_AT = 8, CRC_AT = 16, WITNESS_LEN = 20 };

static const char MAGIC[MAGIC_LEN + 1] = "cbwitnes";

static uint32_t crc_of(const uint8_t record[WITNESS_LEN])
{
	return text_crc(BYTES(record, CRC_AT));
}

static void name_file(const char *folder, char ret[600])
{
	snprintf(ret, 600, "%.580s/witness", folder);
}

/* 0: it says nothing. */
static uint64_t read_sequence(int fd, bool *ret_damaged)
{
	uint8_t record[WITNESS_LEN];
	ssize_t len = pread(fd, record, sizeof(record), 0);

	*ret_damaged = len != 0;
	if (len != WITNESS_LEN || memcmp(record, MAGIC, MAGIC_LEN) != 0 || get_u32(record + CRC_AT) != crc_of(record))
		return 0;
	*ret_damaged = false;
	return get_be64(record + SEQUENCE_AT);
}

int witness_open(const char *folder, uint64_t found, char why[512])
{
	char path[600];
	uint64_t synced;
	bool damaged;
	int fd;

	name_file(folder, path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	if (fd < 0) {
		fd = -errno;
		snprintf(why, 512, "%.300s: %s", path, strerror(-fd));
		return fd;
	}
	synced = read_sequence(fd, &damaged);
	if (found < synced) {
		close(fd);
		snprintf(why, 512,
			"Corruption: %.300s: the write-ahead log (*.log) ends at operation %llu, and %llu were synced: "
			"its end is "
			"cut off or missing",
			folder, (unsigned long long)found, (unsigned long long)synced);
		return -EUCLEAN;
	}
	if (damaged && why[0] == '\0')
		snprintf(why, 512, "%.300s was damaged; nothing else was, and it is written anew", path);
	return fd;
}

int store_accept_loss(const char *folder)
{
	char path[600];

	name_file(folder, path);
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int witness_write(int fd, uint64_t sequence, const char *folder, char why[512])
{
	uint8_t record[WITNESS_LEN];
	uint32_t crc;
	ssize_t written;

	memcpy(record, MAGIC, MAGIC_LEN);
	put_be64(record + SEQUENCE_AT, sequence);
	crc = crc_of(record);
	for (int i = 0; i < 4; i++)
		record[CRC_AT + i] = (uint8_t)(crc >> (8 * i));
	written = pwrite(fd, record, sizeof(record), 0);
	if (written == WITNESS_LEN)
		return 0;
	snprintf(why, 512, "%.300s/witness: %s", folder, written < 0 ? strerror(errno) : "a short write");
	return -EIO;
}
