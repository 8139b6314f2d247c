/*
 * naming.h: how the log and files name a shopper and a cart
 */
#ifndef CARTBUS_CORE_NAMING_H
#define CARTBUS_CORE_NAMING_H

#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include "services/cartbus/core/command.h"
#include "services/carts/policy/change.h"
#include "services/kit/mail/address.h"
#include <stdbool.h>

/* Normalises it and takes the keyed hash. -EINVAL: it is no address; else the key of addresses cannot be read. */
int name_address(const struct command *command, const char *shop, const char *address,
	char ret_normalised[ADDRESS_MAX + 1], char ret_hash[ADDRESS_HASH_LEN + 1]);

int name_key(const struct command *command, struct buffer *ret); /* the key of addresses, as it is in its file */
/* The keyed hash of a storefront's customer id; never that of an address. */
void name_customer(struct bytes key, const char *shop, const char *customer, char ret_hash[ADDRESS_HASH_LEN + 1]);

/* ---- what a message knows a cart and its shopper by ---- */

enum { IDS_NAMES_MAX = 5 * JOIN_NAMES_MAX + 5 };

struct ids { /* strings are borrowed from the message; never NULL */
	int count;
	char names[IDS_NAMES_MAX][80]; /* as carts/policy/change.h names them */
	const char *hash, *customer, *email;
};

/* Of a message that carries ids; all empty for any other. */
void ids_of(const struct topic *topic, const void *message, struct ids *ret);

/* ---- does a text name this one, and not another one whose name only holds it? ---- */

/*
 * `name` is an address or an id of a storefront. It counts where it stands by itself: "c-1" is not named by "c-10", ada@shop.example
 * not by nada@shop.example or ada@shop.example.org. Of an address upper and lower case are the same.
 */
bool name_match_in(struct bytes text, const char *name);
/*
 * The next address that stands in a text from `*at` on, whoever's it is, with all beside it that might be of it: "email=ada@shop.example".
 * `*at` is behind it then. false: no more.
 */
#define NAME_RARE_SIGNS "!#$%&'*/=?^`{|}~" /* of an address, and more often beside one */
bool name_next_address(struct bytes text, size_t *at, char ret[ADDRESS_MAX + 1]);
/* Of bytes that are no text, where nobody knows what is beside it: it stands there at all. */
bool name_match_somewhere(struct bytes bytes, const char *name);

#endif
