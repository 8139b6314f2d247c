/*
 * wal.c: write-ahead logs as RocksDB writes them, made fragment by fragment
 */
#include "tests/unit/store/wal.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include <fcntl.h>
#include <string.h>

/* CRC-32C (RFC 3720, appendix B.4), highest bit first: the code under test computes it the other way round. */
static uint32_t crc32c(const uint8_t *bytes, size_t len)
{
	uint32_t crc = UINT32_MAX, turned = 0;

	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			bool carry = crc >> 31 != (uint32_t)(bytes[i] >> bit & 1);

			crc = crc << 1 ^ (carry ? 0x1edc6f41 : 0);
		}
	for (int bit = 0; bit < 32; bit++)
		turned |= (crc >> bit & 1) << (31 - bit);
	return ~turned;
}

size_t wal_add(struct buffer *log, enum wal_type type, struct bytes body)
{
	size_t at = log->len;
	uint8_t *fragment;
	uint32_t crc;

	assert_true(at % WAL_BLOCK + WAL_HEADER + body.len <= WAL_BLOCK);
	wal_add_zeros(log, WAL_HEADER);
	buffer_add(log, body.data, body.len);
	fragment = log->data + at;
	fragment[4] = (uint8_t)body.len;
	fragment[5] = (uint8_t)(body.len >> 8);
	fragment[6] = (uint8_t)type;
	crc = crc32c(fragment + 6, body.len + 1);
	crc = (crc >> 15 | crc << 17) + 0xa282ead8;
	for (int i = 0; i < 4; i++)
		fragment[i] = (uint8_t)(crc >> (8 * i));
	return at;
}

size_t wal_add_body(struct buffer *log, enum wal_type type, size_t len)
{
	static uint8_t body[WAL_BLOCK];

	memset(body, 'v', sizeof(body));
	return wal_add(log, type, BYTES(body, len));
}

void wal_add_zeros(struct buffer *log, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer_add(log, "", 1);
}

void wal_put(const struct folder *folder, const char *name, struct bytes bytes)
{
	char path[128];

	FOLDER_PATH(path, *folder, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(file_write(fd, bytes), 0);
}
