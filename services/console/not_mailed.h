/* not_mailed.h: who must not be mailed, the newest first, as the console has folded it */
#ifndef CONSOLE_NOT_MAILED_H
#define CONSOLE_NOT_MAILED_H

#include "services/kit/suppression/suppressions.h"

STATE_STRINGS(not_mailed_newest,
	"not_mailed.newest"); /* inverted time as 16 hex digits/address hash; only those that are not lifted */

enum { NOT_MAILED_KEY_MAX = 64 };

void not_mailed_remember(struct state *state, const struct message_meta *said, const Suppression *row);
#define NOT_MAILED_REMEMBERED REMEMBERS(suppression, not_mailed_remember)

/*
 * Calls each() for the rows of a shop behind the key `after` ("": from the newest), until it returns false. `key` goes into `after` of the
 * next call.
 */
typedef bool not_mailed_fn(const char *key, const Suppression *row, void *context);
void not_mailed_each(
	const struct state *state, const char *shop, const char *after, not_mailed_fn *each, void *context);

#endif
