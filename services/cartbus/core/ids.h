/*
 * ids.h: what a message knows a cart and its shopper by
 */
#ifndef CARTBUS_CORE_IDS_H
#define CARTBUS_CORE_IDS_H

#include "bus/actor/topic.h"
#include "services/carts/policy/change.h"

enum { IDS_NAMES_MAX = 5 * JOIN_NAMES_MAX + 5 };

struct ids { /* strings are borrowed from the message; never NULL */
	int count;
	char names[IDS_NAMES_MAX][80]; /* as carts/policy/change.h names them */
	const char *hash, *customer, *email;
};

/* Of a message that carries ids; all empty for any other. */
void ids_of(const struct topic *topic, const void *message, struct ids *ret);

#endif
