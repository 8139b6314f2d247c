/*
 * aside.h: mails that could not be read, or say nothing to us, kept for a person
 *
 * Below one folder: aside/NAME as it came; aside.notes/NAME why, and for whom it was where the envelope said so; retry/NAME what is to be read
 * once more (`cartbus mailin retry` moves it there; of a maildir into new/). They are kept for 30 days, as all that storefronts and
 * shoppers sent is; until then none goes for another: what comes when they take ASIDE_BYTES_MOST is not taken.
 */
#ifndef PLATFORM_MAILIN_ASIDE_H
#define PLATFORM_MAILIN_ASIDE_H

#include "bus/base/clock.h"
#include "services/platform/mailin/lmtp.h"

#define ASIDE_BYTES_MOST ((uint64_t)64 * 1024 * 1024)
#define ASIDE_FOLDER "aside"
#define ASIDE_NOTES "aside.notes"
#define ASIDE_RETRY "retry"

struct aside;

struct aside_note {
	char why[120];
	int count;
	char recipients[LMTP_RECIPIENTS_MOST][ADDRESS_MAX + 1];
};

struct aside_tally {
	uint64_t mails, bytes; /* each mail as the disk counts it */
	uint64_t day;          /* of them, that came in the last 24 hours */
};

/* Makes the folders below `base`; NULL with errno if it cannot. */
struct aside *aside_new(const char *base, const struct clock *clock);
void aside_free(struct aside *aside); /* takes NULL */

/* -EDQUOT: no room for it; else why the disk does not take it. The same mail again is the same file. */
int aside_write(struct aside *aside, struct bytes mail, const struct aside_note *note);
/* The file at `path` goes there under its own name. */
int aside_move(struct aside *aside, const char *path, const char *name, const struct aside_note *note);
void aside_read_note(const struct aside *aside, const char *name, struct aside_note *ret); /* empty: there is none */
void aside_forget_note(const struct aside *aside, const char *name);                       /* the mail is done with */

/* Deletes what is too old, now and then; returns in how many boot microseconds to be called again. */
int64_t aside_look(struct aside *aside);
struct aside_tally aside_tally(const struct aside *aside);
bool aside_has_room(const struct aside *aside);

#endif
