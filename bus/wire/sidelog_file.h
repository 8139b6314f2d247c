/*
 * sidelog_file.h: the side log's file: the few messages that must outlive the log, written a second time
 *
 *   { u32 magic | u32 length of what follows the CRC | u32 CRC of it | u8 kind | ... } ...
 *
 * The first record is the head: the name of its log, and of the first log that it was restored from. All
 * other records are messages: be64 number | be64 log time | the message as on the wire. Records are appended
 * and synced, so only the last record can be torn. Each record has its own checksum, so damage loses only the
 * records that it hit.
 */
#ifndef WIRE_SIDELOG_FILE_H
#define WIRE_SIDELOG_FILE_H

#include "bus/base/bytes.h"

#define SIDELOG_FOLDER "sidelog" /* below [paths] state */
#define SIDELOG_FILE "stops"
#define SIDELOG_OF                                                                                                     \
	".of-" /* ends, with a log's name behind it, the name of one that was put aside because it is of that log */
#define SIDELOG_DAMAGED ".damaged" /* ends the name of one that was put aside; of further ones .damaged.2 and so on */

enum { SIDELOG_MOST = 1 << 30, SIDELOG_DAMAGED_MOST = 8 };

struct sidelog_head {
	char log[40], origin[40];
};

struct sidelog_record {
	uint64_t seq;
	int64_t time_us;
	struct bytes message;
};

struct sidelog_read {
	struct sidelog_head head;
	size_t whole;    /* the length in bytes of the undamaged beginning */
	size_t damages;  /* how many damaged places lie before a whole record */
	bool is_torn;    /* the file ends with an incomplete record */
	uint64_t last;   /* the highest number; 0: none */
	int64_t last_us; /* its time */
	size_t count;
};

void sidelog_write_head(const struct sidelog_head *head, struct buffer *ret); /* appends */
void sidelog_write(const struct sidelog_record *record, struct buffer *ret);  /* appends */
/*
 * Calls each() (may be NULL) for every whole message. Returns 0, or -EBADMSG: the file has no head, so it is
 * no side log.
 */
typedef void sidelog_fn(const struct sidelog_record *record, void *context);
int sidelog_read(struct bytes file, sidelog_fn *each, void *context, struct sidelog_read *ret);

#endif
