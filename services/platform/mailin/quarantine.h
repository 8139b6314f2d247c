/*
 * quarantine.h: mails that could not be read, or say nothing to us, kept for a person
 *
 * Below one folder: aside/NAME as it came; aside.notes/NAME why, and for whom it was where the envelope said so; retry/NAME what is to be read
 * once more (`cartbus mailin retry` moves it there; of a maildir into new/). They are kept for 30 days, as all that storefronts and
 * shoppers sent is; until then none goes for another: what comes when they take QUARANTINE_BYTES_MOST is not taken.
 */
#ifndef PLATFORM_MAILIN_QUARANTINE_H
#define PLATFORM_MAILIN_QUARANTINE_H

#include "bus/base/clock.h"
#include "services/platform/mailin/lmtp.h"

#define QUARANTINE_BYTES_MOST ((uint64_t)64 * 1024 * 1024)
#define QUARANTINE_FOLDER "aside"
#define QUARANTINE_NOTES "aside.notes"
#define QUARANTINE_RETRY "retry"

struct quarantine;

struct quarantine_note {
	char why[120];
	int count;
	char recipients[LMTP_RECIPIENTS_MOST][ADDRESS_MAX + 1];
};

struct quarantine_tally {
	uint64_t mails, bytes; /* each mail as the disk counts it */
	uint64_t day;          /* of them, that came in the last 24 hours */
};

/* Makes the folders below `base`; NULL with errno if it cannot. */
struct quarantine *quarantine_new(const char *base, const struct clock *clock);
void quarantine_free(struct quarantine *quarantine); /* takes NULL */

/* -EDQUOT: no room for it; else why the disk does not take it. The same mail again is the same file. */
int quarantine_write(struct quarantine *quarantine, struct bytes mail, const struct quarantine_note *note);
/* The file at `path` goes there under its own name. */
int quarantine_move(
	struct quarantine *quarantine, const char *path, const char *name, const struct quarantine_note *note);
void quarantine_read_note(
	const struct quarantine *quarantine, const char *name, struct quarantine_note *ret); /* empty: there is none */
void quarantine_forget_note(const struct quarantine *quarantine, const char *name);          /* the mail is done with */

/* Deletes what is too old, now and then; returns in how many boot microseconds to be called again. */
int64_t quarantine_look(struct quarantine *quarantine);
struct quarantine_tally quarantine_tally(const struct quarantine *quarantine);
bool quarantine_has_room(const struct quarantine *quarantine);

#endif
