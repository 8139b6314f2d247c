/*
 * sidelog_file.h: the side log's file: the few messages that must outlive the log, written a second time
 *
 *   { u32 magic | u32 length of what follows the CRC | u32 CRC of it | u8 kind | ... } ...
 *
 * The first record is the head: which log it is of, and the first log that it was restored from. All others are messages: be64 number |
 * be64 log time | the message as on the wire. Records are appended and synced, so only the last can be torn; each is checked by itself,
 * so damage costs no more than what it hit.
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
	size_t whole;    /* bytes up to which it is in order */
	size_t damages;  /* places where something is missing before a record that is whole */
	bool is_torn;    /* what lies at its end is no whole record */
	uint64_t last;   /* the highest number; 0: none */
	int64_t last_us; /* its time */
	size_t count;
};

void sidelog_write_head(const struct sidelog_head *head, struct buffer *ret); /* appends */
void sidelog_write(const struct sidelog_record *record, struct buffer *ret);  /* appends */
/* Calls each() (may be NULL) for every message that is whole. 0; -EBADMSG: it has no head, and is none. */
typedef void sidelog_fn(const struct sidelog_record *record, void *context);
int sidelog_read(struct bytes file, sidelog_fn *each, void *context, struct sidelog_read *ret);

#endif
