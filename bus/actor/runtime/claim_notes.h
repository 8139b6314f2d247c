/*
 * claim_notes.h: which claims of this instance have certainly not been used, in a small file beside its state
 *
 * A note is made before a claim is said and crossed out, on the disk, before its driver is told to go. So a claim of a killed
 * run whose note still stands was not used, even if nothing else is known about that run: the next run says so (service.h,
 * `unused`). A missing note proves nothing. What names a claim is the run that said it, the message that it was said about, and its
 * version.
 */
#ifndef ACTOR_RUNTIME_CLAIM_NOTES_H
#define ACTOR_RUNTIME_CLAIM_NOTES_H

#include <stdint.h>

struct claim_notes;

struct claim_note {
	char run[33];
	uint64_t seq, version;
};

/* The caller holds the folder's lock. A file of another log, or a damaged one, is begun anew. Negative errno: none can be made. */
int claim_notes_open(const char *path, struct claim_notes **ret);
struct claim_notes *claim_notes_new_in_memory(void); /* the simulator's: on the disk at once */
void claim_notes_free(struct claim_notes *notes);    /* takes NULL */

/* A handle, or -1: there is no note of this claim, which then goes without one. */
int claim_notes_add(struct claim_notes *notes, const struct claim_note *note);
/* 0: it is crossed out, on the disk; -EINPROGRESS: ask again after claim_notes_work; else it may stand: the claim must not be used. */
int claim_notes_cross_out(struct claim_notes *notes, int handle);
void claim_notes_let_go(struct claim_notes *notes, int handle); /* nothing more will be asked; -1: nothing to do */

/* Those that stand, of this run and of earlier ones. */
typedef void claim_notes_each_fn(const struct claim_note *note, void *context);
void claim_notes_each(const struct claim_notes *notes, claim_notes_each_fn *each, void *context);

int claim_notes_fd(const struct claim_notes *notes); /* readable when there is work; -1: there never is */
void claim_notes_work(struct claim_notes *notes);

#endif
