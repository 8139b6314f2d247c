/*
 * erasures.h: who was erased, so that a copy of the log that was made before can lose the person as well
 *
 * A list, as JSON in a file: an array of {"id", "shop", "by": "address" or "customer", "addresses", "customers", "at_us", "done"}. It
 * names persons by keyed hashes alone. It lies in <state>/erasures.json, where it survives the loss of the broker's folder, and each
 * backup holds the list as it was when the backup was made, or last lost somebody.
 */
#ifndef CARTBUS_PEOPLE_ERASURES_H
#define CARTBUS_PEOPLE_ERASURES_H

#include "platform.pb.h"
#include "services/cartbus/people/data_subject.h"

/* A new reference; an empty list when there is no such file. NULL: it complained, because what it holds is not known. */
json_t *erasures_read(const struct command *command, const char *path);
int erasures_write(
	const struct command *command, const char *path, const json_t *list); /* durably; an exit, complains */
void erasures_merge(json_t *list, const json_t *other);                       /* those it has not got yet */
void erasures_path(const struct command *command, char ret[PATH_ROOM]);       /* of <state>/erasures.json */

/*
 * On the disk before anything of the person is touched. One that was begun for the same person and never came to its end is gone on with.
 * ret_id (33 bytes) names it.
 */
int erasures_begin(const struct command *command, const char *shop, bool by_address,
	const struct data_subject *data_subject, char ret_id[33]);
json_t *erasures_one(const struct command *command, const char *id); /* a new list of this one alone */
int erasures_done(const struct command *command, const char *id);
/* Those of `list` that are not named in `ids` (NULL: none are), as a new list; done_only: and have come to their end. */
json_t *erasures_but(const json_t *list, const json_t *ids);
/* Does the list name whom these ids name? Who came back after the erasure is somebody new: `heard_us`. */
bool erasures_name(
	const struct command *command, const json_t *list, const char *shop, const CartIds *ids, int64_t heard_us);
json_t *erasures_ids(const json_t *list, bool done_only);

#endif
