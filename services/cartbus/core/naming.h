/* naming.h: the names of a shopper and a cart in the log and in files */
#ifndef CARTBUS_CORE_NAMING_H
#define CARTBUS_CORE_NAMING_H

#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include "services/cartbus/core/command.h"
#include "services/carts/policy/change.h"
#include "services/kit/mail/address.h"
#include <stdbool.h>

/*
 * Normalises an address and makes its keyed hash. -EINVAL: it is no address; another negative errno: the
 * address key cannot be read.
 */
int name_address(const struct command *command, const char *shop, const char *address,
	char ret_normalised[ADDRESS_MAX + 1], char ret_hash[ADDRESS_HASH_LEN + 1]);

int name_key(const struct command *command, struct buffer *ret); /* reads the address key */
/* The keyed hash of a storefront's customer id; never that of an address. */
void name_customer(struct bytes key, const char *shop, const char *customer, char ret_hash[ADDRESS_HASH_LEN + 1]);

/* ---- the ids of a cart and its shopper in a message ---- */

enum { IDS_NAMES_MAX = 5 * JOIN_NAMES_MAX + 5 };

struct ids { /* strings are borrowed from the message; never NULL */
	int count;
	char names[IDS_NAMES_MAX][80]; /* the names of carts/policy/change.h */
	const char *hash, *customer, *email;
};

/* Reads the ids of a message; all empty if it has none. */
void ids_of(const struct topic *topic, const void *message, struct ids *ret);

/* ---- does a text contain this name, and not just a longer name that includes it? ---- */

/*
 * `name` is an address or an id of a storefront. It counts only as a whole word: "c-1" is not named by
 * "c-10", ada@shop.example not by nada@shop.example or ada@shop.example.org. In addresses case does not
 * matter.
 */
bool name_match_in(struct bytes text, const char *name);
/*
 * Finds the next address in a text from `*at` on, of any person, with all signs beside it that may belong to
 * it: "email=ada@shop.example". Then `*at` is behind it. false: there is no more.
 */
#define NAME_RARE_SIGNS "!#$%&'*/=?^`{|}~" /* may be in an address, and are more often beside one */
bool name_next_address(struct bytes text, size_t *at, char ret[ADDRESS_MAX + 1]);
/* For bytes that are no text: does the name appear anywhere? */
bool name_match_somewhere(struct bytes bytes, const char *name);

#endif
