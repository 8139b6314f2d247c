/* naming.h: a shopper's address as the log names it */
#ifndef CARTBUS_CORE_NAMING_H
#define CARTBUS_CORE_NAMING_H

#include "services/cartbus/core/command.h"
#include "services/kit/mail/address.h"

/* Normalises it and takes the keyed hash. -EINVAL: it is no address; else the key of addresses cannot be read. */
int name_address(const struct command *command, const char *shop, const char *address,
	char ret_normalised[ADDRESS_MAX + 1], char ret_hash[ADDRESS_HASH_LEN + 1]);

int name_key(const struct command *command, struct buffer *ret); /* the key of addresses, as it is in its file */
/* The keyed hash of a storefront's customer id; never that of an address. */
void name_customer(struct bytes key, const char *shop, const char *customer, char ret_hash[ADDRESS_HASH_LEN + 1]);

#endif
