/*
 * blobs.h: the blobs (services/kit/blobs/blob_places.h) in a backup: copied, verified, put back
 *
 * A blob is durable before the message that names it is said. So a backup copies the blobs after the log: it
 * has each blob that the copied log names. DIR/blobs has the same folders as [paths] state/blobs. "blobs" in
 * backup.json says how many it holds; a backup of an older release has none. Each function complains, and
 * returns an exit code.
 */
#ifndef CARTBUS_BACKUP_BLOBS_H
#define CARTBUS_BACKUP_BLOBS_H

#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/core/reading.h"

/* Copies all of [paths] state/blobs into `folder`/blobs, synced; ret_sum counts blobs. */
int backup_blobs_copy(const struct command *command, const char *folder, struct backup_sum *ret_sum);
void backup_blobs_note(json_t *note, const struct backup_sum *sum); /* notes the sum in backup.json */
/* to be called after an erasure in it: counts again */
int backup_blobs_note_anew(const struct command *command, const char *folder, json_t *note);
/*
 * Reads and hashes each blob below `root`. It complains and returns EXIT_NO for a damaged or missing blob,
 * and for fewer blobs than in `note`. It only complains about surplus, foreign or linked blobs. `note` is
 * backup.json; NULL: there is none.
 */
int backup_blobs_verify(
	const struct command *command, const char *root, const json_t *note, struct backup_sum *ret_sum);
/*
 * Copies the blobs of a backup to [paths] state/blobs, and keeps the blobs that are there. Each then belongs
 * to the user of its process.
 */
int backup_blobs_put_back(const struct command *command, const char *folder, struct backup_sum *ret_sum);
uint64_t backup_blobs_bytes(const char *root); /* bytes on disk */

/* ---- is each blob that a message names in its place? ---- */

/*
 * Calls tell() for each blob of the decoded message that cannot be opened, with a negative errno; returns
 * their number.
 */
typedef void blobs_missing_fn(const char *name, int r, void *context);
int blobs_look_for(const char *root, const struct topic *topic, const char *shop, const void *message,
	blobs_missing_fn *tell, void *context);

#endif
