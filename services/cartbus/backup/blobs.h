/*
 * blobs.h: the blobs (services/kit/blobs/blob_places.h) in a backup: copied, verified, put back
 *
 * A blob is durable before the message that names it is said. So a backup copies the blobs after the log: each blob that the copied
 * log names is there. DIR/blobs has the same folders as [paths] state/blobs. "blobs" in backup.json says how many it holds; a
 * backup of an older release has none.
 * Each function complains, and returns an exit.
 */
#ifndef CARTBUS_BACKUP_BLOBS_H
#define CARTBUS_BACKUP_BLOBS_H

#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/core/reading.h"

/* All of [paths] state/blobs into `folder`/blobs, synced; ret_sum counts blobs. */
int backup_blobs_copy(const struct command *command, const char *folder, struct backup_sum *ret_sum);
void backup_blobs_note(json_t *note, const struct backup_sum *sum); /* into backup.json */
int backup_blobs_note_anew(
	const struct command *command, const char *folder, json_t *note); /* after an erasure in it: by counting */
/*
 * Reads and hashes each blob below `root`. A damaged or missing one is complained of and makes an EXIT_NO; so do fewer blobs than
 * `note` says. A surplus, foreign or linked one is only complained of. `note` is backup.json; NULL: there is none.
 */
int backup_blobs_verify(
	const struct command *command, const char *root, const json_t *note, struct backup_sum *ret_sum);
/* Those of a backup beside what [paths] state/blobs holds, which stays. Each belongs to the user of its process then. */
int backup_blobs_put_back(const struct command *command, const char *folder, struct backup_sum *ret_sum);
uint64_t backup_blobs_bytes(const char *root); /* on the disk */

/* ---- does each blob that a message names lie where it belongs? ---- */

/* Tells each blob of the decoded message that cannot be opened, with a negative errno; returns how many these are. */
typedef void blobs_missing_fn(const char *name, int r, void *context);
int blobs_look_for(const char *root, const struct topic *topic, const char *shop, const void *message,
	blobs_missing_fn *tell, void *context);

#endif
