/*
 * claim_notes.h: a small file beside the state that tells which claims of this instance were certainly not
 * used
 *
 * The runtime writes a note before it says a claim, and crosses the note out on disk before it tells the
 * driver to go. So if a note of a killed run still stands, its claim was not used, even if nothing else is
 * known about that run. The next run says so (service.h, `unused`). A missing note proves nothing. A claim is
 * identified by the run that said it, the message that it was said about, and its version.
 */
#ifndef ACTOR_RUNTIME_CLAIM_NOTES_H
#define ACTOR_RUNTIME_CLAIM_NOTES_H

#include <stdint.h>

struct claim_notes;

struct claim_note {
	char run[33];
	uint64_t seq, version;
};

/*
 * The caller must hold the folder's lock. A damaged file, or a file of another log, is begun anew. A negative
 * errno: no file can be made.
 */
int claim_notes_open(const char *path, struct claim_notes **ret);
/* for the simulator: its notes count as on disk at once */
struct claim_notes *claim_notes_new_in_memory(void);
void claim_notes_free(struct claim_notes *notes); /* takes NULL */

/* Returns a handle, or -1: no note could be made, and the claim is said without one. */
int claim_notes_add(struct claim_notes *notes, const struct claim_note *note);
/*
 * 0: the note is crossed out on disk. -EINPROGRESS: ask again after claim_notes_work. Another errno: the note
 * may still stand, and the claim must not be used.
 */
int claim_notes_cross_out(struct claim_notes *notes, int handle);
void claim_notes_let_go(struct claim_notes *notes, int handle); /* forgets the handle; -1 is allowed */

/* Calls each() for every standing note, of this run and of earlier runs. */
typedef void claim_notes_each_fn(const struct claim_note *note, void *context);
void claim_notes_each(const struct claim_notes *notes, claim_notes_each_fn *each, void *context);

/* readable when claim_notes_work has work; -1: it never has */
int claim_notes_fd(const struct claim_notes *notes);
void claim_notes_work(struct claim_notes *notes);

#endif
