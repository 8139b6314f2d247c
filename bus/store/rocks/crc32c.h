/*
 * crc32c.h: the sum that RocksDB takes of each record
 */
#ifndef STORE_ROCKS_CRC32C_H
#define STORE_ROCKS_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The name by which RocksDB calls its own, and by which the dynamic linker finds this one instead. */
#define CRC32C_SYMBOL "_ZN7rocksdb6crc32c6ExtendEjPKcm"

#ifdef __x86_64__
/* The CRC-32C (RFC 3720, appendix B.4) of what `crc` is the sum of, followed by these bytes. */
uint32_t crc32c_extend(uint32_t crc, const char *data, size_t len) __asm__(CRC32C_SYMBOL);
#endif

#endif
