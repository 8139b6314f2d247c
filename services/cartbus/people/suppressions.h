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
/*
 * The number changes each time the address is put on the list or taken off it; 0: it was never on the list.
 */
uint64_t suppressions_version(const struct suppressions *list, const char *address_hash);
size_t suppressions_count(const struct suppressions *list); /* without lifted ones */
/*
 * Writes the mark of a saved list, which tells with which address.key its hashes were made, but not the key.
 * Complains, and returns an exit code.
 */
int suppressions_key_mark(const struct command *command, char ret[ADDRESS_HASH_LEN + 1]);

#endif
