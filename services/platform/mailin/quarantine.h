/*
 * quarantine.h: keeps mails for a person that could not be read or have no meaning for us
 *
 * The files are below one folder. aside/NAME is the unchanged mail. aside.notes/NAME has the reason, and the
 * recipients if the envelope named them. retry/NAME is to be read once more (`cartbus mailin retry` moves it
 * there; a mail from a maildir moves into new/). They are kept for 30 days, like all data from storefronts
 * and shoppers. Until then no mail is removed for another one: when QUARANTINE_BYTES_MOST is reached, new
 * mails are refused.
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
	uint64_t mails, bytes; /* bytes: as the disk counts each mail */
	uint64_t day;          /* how many of them came in the last 24 hours */
};

/* Makes the folders below `base`; NULL with errno if it cannot. */
struct quarantine *quarantine_new(const char *base, const struct clock *clock);
void quarantine_free(struct quarantine *quarantine); /* takes NULL */

/*
 * Writes a mail. -EDQUOT: the quarantine is full; another negative errno: the disk fails. A repeated mail is
 * the same file.
 */
int quarantine_write(struct quarantine *quarantine, struct bytes mail, const struct quarantine_note *note);
/* Moves the file at `path` into the quarantine under its own name. */
int quarantine_move(
	struct quarantine *quarantine, const char *path, const char *name, const struct quarantine_note *note);
/* *ret is empty if there is none */
void quarantine_read_note(const struct quarantine *quarantine, const char *name, struct quarantine_note *ret);
/* to be called when the mail is done */
void quarantine_forget_note(const struct quarantine *quarantine, const char *name);

/* Deletes old mails from time to time. Returns after how many microseconds of boot time to call again. */
int64_t quarantine_look(struct quarantine *quarantine);
struct quarantine_tally quarantine_tally(const struct quarantine *quarantine);
bool quarantine_has_room(const struct quarantine *quarantine);

#endif
