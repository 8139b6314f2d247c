/*
 * erasures.h: the list of erased shoppers, so that they can be removed from older copies of the log as well
 *
 * The list is a JSON file: an array of {"id", "shop", "by": "address" or "customer", "addresses",
 * "customers", "at_us", "done"}. It names persons by keyed hashes alone. It is at <state>/erasures.json,
 * where it survives the loss of the broker's folder. Each backup has the list as it was when the backup was
 * made, or when a person was last erased from it.
 */
#ifndef CARTBUS_PEOPLE_ERASURES_H
#define CARTBUS_PEOPLE_ERASURES_H

#include "platform.pb.h"
#include "services/cartbus/people/data_subject.h"

/*
 * Returns a new reference; an empty list if there is no such file. NULL: it complained, because the list is
 * not known.
 */
json_t *erasures_read(const struct command *command, const char *path);
/* Writes the list durably. Complains, and returns an exit code. */
int erasures_write(const struct command *command, const char *path, const json_t *list);
void erasures_merge(json_t *list, const json_t *other);                 /* adds the entries that `list` lacks */
void erasures_path(const struct command *command, char ret[PATH_ROOM]); /* of <state>/erasures.json */

/*
 * Writes the person to the list on disk before any of the person's data is erased. An unfinished entry for
 * the same person is continued. ret_id (33 bytes) names the entry.
 */
int erasures_begin(const struct command *command, const char *shop, bool by_address,
	const struct data_subject *data_subject, char ret_id[33]);
json_t *erasures_one(const struct command *command, const char *id); /* a new list with this entry alone */
int erasures_done(const struct command *command, const char *id);
/* Returns a new list of the entries whose id is not in `ids` (NULL: no ids). */
json_t *erasures_but(const json_t *list, const json_t *ids);
/*
 * Does the list name the person with these ids? A person who was heard after the erasure began (heard_us)
 * counts as new.
 */
bool erasures_name(
	const struct command *command, const json_t *list, const char *shop, const CartIds *ids, int64_t heard_us);
/* Returns the ids of the entries as a new list; done_only: only of those that are done. */
json_t *erasures_ids(const json_t *list, bool done_only);

#endif
