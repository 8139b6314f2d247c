/*
 * crc32c.c: computes RocksDB's checksums by the processor's own instruction
 *
 * Debian builds RocksDB for any x86-64, so its checksums come from tables, at a byte a nanosecond: with
 * records of hundreds of kilobytes that was a third of the computing time of a commit. RocksDB calls the
 * function by its name, through the dynamic linker, which finds the program's own first (CMakeLists.txt makes
 * sure that it is there). If another version of RocksDB names it otherwise, it uses its own again, and
 * nothing else changes.
 *
 * Promises:  the same checksums, for ever: they lie on the disk. Where the processor lacks the instruction
 *            (SSE 4.2, of 2008), RocksDB's own function computes them.
 * Fails by:  die() where there is neither.
 * Read next: rocks_open.c
 */
#include "bus/store/rocks/crc32c.h"

#ifdef __x86_64__

#include "bus/base/log.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

typedef uint32_t extend_fn(uint32_t crc, const char *data, size_t len);

static uint32_t by_rocksdb(uint32_t crc, const char *data, size_t len)
{
	static _Atomic(extend_fn *) found;
	extend_fn *extend = found;

	if (!extend) {
		*(void **)&extend = dlsym(RTLD_NEXT, CRC32C_SYMBOL);
		if (!extend)
			die("RocksDB has no %s to sum with", CRC32C_SYMBOL);
		found = extend;
	}
	return extend(crc, data, len);
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const char *data, size_t len)
{
	uint64_t sum = (uint32_t)~crc;

	for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), data += sizeof(uint64_t)) {
		uint64_t next;

		memcpy(&next, data, sizeof(next));
		sum = __builtin_ia32_crc32di(sum, next);
	}
	for (; len > 0; len--, data++)
		sum = __builtin_ia32_crc32qi((uint32_t)sum, (unsigned char)*data);
	return ~(uint32_t)sum;
}

uint32_t crc32c_extend(uint32_t crc, const char *data, size_t len)
{
	return __builtin_cpu_supports("sse4.2") ? by_instruction(crc, data, len) : by_rocksdb(crc, data, len);
}

#endif
