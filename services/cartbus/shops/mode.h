/* mode.h: the shops' modes, read from the log */
#ifndef CARTBUS_SHOPS_MODE_H
#define CARTBUS_SHOPS_MODE_H

#include "proto/platform_topics.h"
#include "services/cartbus/core/command.h"
#include "services/kit/words/names.h"

enum { MODES_MAX = 512 };

struct modes {
	bool known; /* the broker answered */
	int count;
	struct {
		char shop[64];
		ShopStatus status;
	} each[MODES_MAX];
};

/* Reads shop.status from the log; where the broker is away, `known` stays false and nothing is complained of. */
void modes_load(const struct command *command, struct modes *ret);
struct entry;
void modes_fold(struct modes *modes, const struct entry *entry); /* of shop.status, in order of the log */
/* The same for one who has asked before: an exit; complains when it fails. */
struct client;
int modes_load_from(const struct command *command, struct client *client, struct modes *ret);
enum {
	STOP_PRIORITY = 100
}; /* of a stop, and of a pause for complaints: a slip of `cartbus shop mode` does not lift it */
/*
 * Publishes the mode, after an audit of the change; `before` may be NULL. Complains and returns an exit code
 * on failure.
 */
int mode_say(const struct command *command, struct client *client, const char *shop, const ShopStatus *before,
	ShopStatus *status, uint64_t *ret_seq);
const ShopStatus *modes_find(const struct modes *modes, const char *shop); /* NULL: never said */
const char *modes_name(const struct modes *modes, const char *shop);       /* "observe" when never said, "?" unknown */

#endif
