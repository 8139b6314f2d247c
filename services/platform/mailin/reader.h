/*
 * reader.h: mails are taken apart in a process of their own, which may die of one
 *
 * It is cartbus-mailin once more, without configuration, keys or connections: it is handed one mail after the other and answers what each
 * says. It is started for the first mail and goes when none has come for a while.
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
	READER_DIED, /* twice, of this mail, or it found no end */
	READER_AWAY  /* none can be started at the moment */
};

typedef void reader_fn(void *context, enum reader_end end, const struct report *report /* of READ */);

/* The owner's, until it was answered or forgotten. All of it is the reader's to fill. */
struct reading {
	struct list hook;
	struct bytes mail;
	reader_fn *answer;
	void *context;
	int deaths;
};

/* `program` is started to be the reader, with READER_ARGUMENT; borrowed. NULL: this one, once more. */
struct reader *reader_new(const struct clock *clock, const char *program);
int reader_fd(const struct reader *reader); /* to be watched for reading; then: */
void reader_work(void *reader);
void reader_free(struct reader *reader); /* answers nothing any more. Takes NULL */
/* At most REPORT_BYTES_MOST, borrowed until the answer, which comes later and once; mails are read in the order in which they came. */
void reader_read(struct reader *reader, struct reading *reading, struct bytes mail, reader_fn *answer, void *context);
void reader_forget(struct reader *reader, struct reading *reading); /* before the answer: it comes no more */
uint64_t reader_deaths(const struct reader *reader);                /* of readers that had a mail */
int64_t reader_look(struct reader *reader); /* ends who finds no end; when to be called again, boot us, -1: need not */

#define READER_ARGUMENT "--read-mails" /* what main() is called with to be it */
noreturn void reader_serve(void);      /* is it, to its end */

#endif
