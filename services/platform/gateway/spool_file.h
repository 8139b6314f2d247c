/*
 * spool_file.h: one file of the spool: records with a magic number, a length and a CRC
 *
 *   u32 magic | u32 length of what follows the CRC | u32 CRC of it | u32 messages | { u32 length, message } ...
 *
 * One record is what one sync covered. So what a crash leaves unacknowledged is the last record of the last
 * file, and damage anywhere else is damage to something promised.
 */
#ifndef PLATFORM_GATEWAY_SPOOL_FILE_H
#define PLATFORM_GATEWAY_SPOOL_FILE_H

#include "bus/base/bytes.h"

enum { SPOOL_RECORD_HEAD = 12, SPOOL_RECORD_MOST = 64 * 1024 * 1024 };

/* Appends one record made of `count` messages, each with its u32 length in front, as they lie in `messages`. */
void spool_record_write(struct bytes messages, uint32_t count, struct buffer *ret);

/*
 * Reads the record at `at`: its messages (u32 length, bytes) and their number, and where the next one begins.
 * 0; -ENODATA: the end of the file; -EBADMSG: no whole record lies here.
 */
int spool_record_read(struct bytes file, size_t at, struct bytes *ret_messages, uint32_t *ret_count, size_t *ret_next);
/* Does any whole record begin after `at`? Then what is damaged at `at` was not the last one. */
bool spool_record_follows(struct bytes file, size_t at);

#endif
