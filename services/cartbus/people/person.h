/*
 * person.h: which messages are about one shopper
 *
 * A shopper is known by an address (as its keyed hash) and by customer ids; what carries one of them leads to carts, and all that is
 * about those carts is about him. Another shopper's address on the same cart leads no further.
 */
#ifndef CARTBUS_PEOPLE_PERSON_H
#define CARTBUS_PEOPLE_PERSON_H

#include "services/cartbus/core/reading.h"

struct person;

enum person_tie {
	PERSON_NOT,
	PERSON_PSEUDONYM, /* by his keyed hash, and nothing in it says more */
	PERSON_OWNERS,    /* what the owner wrote names him: rules, voice, shop.conf, a stop's reason */
	PERSON_CLEAR      /* it holds an id, an address or what he put into a cart */
};

/* `who` is an address or a customer id. Complains and returns NULL when it cannot be looked for. Reads the shop's part of the log. */
struct person *person_find(const struct command *command, struct client *client, const char *shop, const char *who);
/* All who were erased from the shop once, by the list of erasures.h, as one. */
struct person *person_find_erased(
	const struct command *command, struct client *client, const char *shop, const json_t *erasures);
void person_free(struct person *person); /* takes NULL */

/* In the order of the log: what follows from a message that is about him is found by its cause. topic, message: NULL when not decoded. */
enum person_tie person_tie(
	struct person *person, const struct entry *entry, const struct topic *topic, const void *message);
bool person_holds(const struct person *person, struct bytes text); /* one of his strong names stands in it, by itself */

bool person_has_cart(const struct person *person, struct bytes cart_id);

/* The keyed hashes of his addresses, then of each: borrowed. NULL: no more. */
const char *person_hash(const struct person *person, size_t i);
const char *person_address(const struct person *person, size_t i);
const char *person_customer(const struct person *person, size_t i);
const char *person_cart(
	const struct person *person, size_t i); /* our ids of carts that were open when they were last heard of */

/* --- person_record.c --- */

/* Says an audit about him; complains and returns EXIT_NO when it cannot: then what it tells must not be done. */
int person_record(const struct command *command, struct client *client, const char *shop, const char *action,
	const struct person *person, const char *grounds);
int person_record_hash(const struct command *command, struct client *client, const char *shop, const char *action,
	const char *hash, const char *grounds); /* hash: empty, it is about somebody whose address nobody knows */
/* A dead letter of a list, with its payload; NULL: it complained. A new reference. */
json_t *person_letter(const struct command *command, struct client *client, const json_t *listed);
/* As an entry, which borrows from both; and decoded, the caller's to free: NULL when it does not decode. */
void *person_letter_read(const json_t *letter, struct buffer *payload, struct entry *ret);

#endif
