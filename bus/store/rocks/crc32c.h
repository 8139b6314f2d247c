/* crc32c.h: the checksum that RocksDB computes for each record */
#ifndef STORE_ROCKS_CRC32C_H
#define STORE_ROCKS_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The symbol of RocksDB's own function. The dynamic linker resolves it to this function instead. */
#define CRC32C_SYMBOL "_ZN7rocksdb6crc32c6ExtendEjPKcm"

#ifdef __x86_64__
/* Returns the CRC-32C (RFC 3720, appendix B.4) of the bytes that `crc` covers, followed by `data`. */
uint32_t crc32c_extend(uint32_t crc, const char *data, size_t len) __asm__(CRC32C_SYMBOL);
#endif

#endif
