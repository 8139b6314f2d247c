/*
 * data_subject.h: which messages are about one shopper
 *
 * A shopper is known by an address (as its keyed hash) and by customer ids; what carries one of them leads to carts, and all that is
 * about those carts is about the person. Another shopper's address on the same cart leads no further.
 */
#ifndef CARTBUS_PEOPLE_DATA_SUBJECT_H
#define CARTBUS_PEOPLE_DATA_SUBJECT_H

#include "services/cartbus/core/reading.h"

struct data_subject;

enum data_subject_tie {
	DATA_SUBJECT_NOT,
	DATA_SUBJECT_PSEUDONYM, /* by the person's keyed hash, and nothing in it says more */
	DATA_SUBJECT_OWNERS,    /* what the owner wrote names the person: rules, voice, shop.conf, a stop's reason */
	DATA_SUBJECT_CLEAR      /* it holds an id, an address or what the person put into a cart */
};

/* `who` is an address or a customer id. Complains and returns NULL when it cannot be looked for. Reads the shop's part of the log. */
struct data_subject *data_subject_find(
	const struct command *command, struct client *client, const char *shop, const char *who);
/* All who were erased from the shop once, by the list of erasures.h, as one. */
struct data_subject *data_subject_find_erased(
	const struct command *command, struct client *client, const char *shop, const json_t *erasures);
void data_subject_free(struct data_subject *data_subject); /* takes NULL */

/* In the order of the log: what follows from a message that is about the person is found by its cause. topic, message: NULL when not decoded. */
enum data_subject_tie data_subject_tie(
	struct data_subject *data_subject, const struct entry *entry, const struct topic *topic, const void *message);
bool data_subject_holds(const struct data_subject *data_subject,
	struct bytes text); /* one of the person's strong names stands in it, by itself */

bool data_subject_has_cart(const struct data_subject *data_subject, struct bytes cart_id);

/* The keyed hashes of the person's addresses, then of each: borrowed. NULL: no more. */
const char *data_subject_hash(const struct data_subject *data_subject, size_t i);
const char *data_subject_address(const struct data_subject *data_subject, size_t i);
const char *data_subject_customer(const struct data_subject *data_subject, size_t i);
const char *data_subject_cart(const struct data_subject *data_subject,
	size_t i); /* our ids of carts that were open when they were last heard of */

/* --- data_subject_record.c --- */

/* Says an audit about the person; complains and returns EXIT_NO when it cannot: then what it tells must not be done. */
int data_subject_record(const struct command *command, struct client *client, const char *shop, const char *action,
	const struct data_subject *data_subject, const char *grounds);
int data_subject_record_hash(const struct command *command, struct client *client, const char *shop, const char *action,
	const char *hash, const char *grounds); /* hash: empty, it is about somebody whose address nobody knows */
/* A dead letter of a list, with its payload; NULL: it complained. A new reference. */
json_t *data_subject_dead_letter(const struct command *command, struct client *client, const json_t *listed);
/* As an entry, which borrows from both; and decoded, the caller's to free: NULL when it does not decode. */
void *data_subject_dead_letter_read(const json_t *dead_letter, struct buffer *payload, struct entry *ret);

#endif
