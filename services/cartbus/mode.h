/* mode.h: the shops' modes as the log tells them */
#ifndef CARTBUS_MODE_H
#define CARTBUS_MODE_H

#include "proto/topics.h"
#include "services/cartbus/command.h"

const char *mode_name(ShopMode mode);         /* "mail-me" */
int mode_of(const char *name, ShopMode *ret); /* -EINVAL */

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
const ShopStatus *modes_find(const struct modes *modes, const char *shop); /* NULL: never said */
const char *modes_name(const struct modes *modes, const char *shop);       /* "observe" when never said, "?" unknown */

#endif
