/* suppressions.h: the list of shoppers who must not be mailed, read from the log */
#ifndef CARTBUS_PEOPLE_SUPPRESSIONS_H
#define CARTBUS_PEOPLE_SUPPRESSIONS_H

#include "proto/platform_topics.h"
#include "services/cartbus/core/reading.h"
#include "services/kit/mail/address.h"

struct suppressions;

/* Reads a shop's list; NULL: it complained. */
struct suppressions *suppressions_load(const struct command *command, struct client *client, const char *shop);
void suppressions_free(struct suppressions *list);                                               /* takes NULL */
const Suppression *suppressions_find(const struct suppressions *list, const char *address_hash); /* lifted ones too */
/* Another one each time the address went onto the list or off it; 0: never on it. */
uint64_t suppressions_version(const struct suppressions *list, const char *address_hash);
size_t suppressions_count(const struct suppressions *list); /* those that hold */
/* Tells in a saved list which address.key its hashes are made with, and not the key. An exit; it complained. */
int suppressions_key_mark(const struct command *command, char ret[ADDRESS_HASH_LEN + 1]);

#endif
