/*
 * reader.h: parses mails in a separate process, which may crash on a mail
 *
 * The process is cartbus-mailin without configuration, keys or connections. It gets one mail after the other
 * and answers with a report of each. It is started for the first mail and ends when none has come for a
 * while.
 */
#ifndef PLATFORM_MAILIN_READER_H
#define PLATFORM_MAILIN_READER_H

#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "services/platform/mailin/report.h"
#include <stdnoreturn.h>

struct reader;

enum reader_end {
	READER_READ,
	READER_DIED, /* the process crashed twice on this mail, or took too long */
	READER_AWAY  /* no process can be started at the moment */
};

typedef void reader_fn(void *context, enum reader_end end, const struct report *report /* of READ */);

/* A mail to read. The owner keeps it until it is answered or forgotten; the reader fills all fields. */
struct reading {
	struct list hook;
	struct bytes mail;
	reader_fn *answer;
	void *context;
	int deaths;
};

/* `program` (borrowed) is started as the reader with READER_ARGUMENT; NULL: this program. */
struct reader *reader_new(const struct clock *clock, const char *program);
int reader_fd(const struct reader *reader); /* watch it for reading, and then call reader_work */
void reader_work(void *reader);
void reader_free(struct reader *reader); /* gives no more answers; takes NULL */
/*
 * Reads a mail of at most REPORT_BYTES_MOST bytes, borrowed until the answer. The answer comes later, exactly
 * once. Mails are read in order.
 */
void reader_read(struct reader *reader, struct reading *reading, struct bytes mail, reader_fn *answer, void *context);
/* to be called before the answer, which then does not come */
void reader_forget(struct reader *reader, struct reading *reading);
/* how many readers died while they had a mail */
uint64_t reader_deaths(const struct reader *reader);
/*
 * kills a reader that takes too long; returns after how many microseconds of boot time to call again, -1: no
 * need
 */
int64_t reader_look(struct reader *reader);

#define READER_ARGUMENT "--read-mails" /* the argument with which main() becomes the reader */
noreturn void reader_serve(void);      /* runs as the reader until it ends */

#endif
