/*
 * data_subject.h: finds the messages about one shopper
 *
 * A shopper has an address (as its keyed hash) and customer ids. Messages with one of them lead to carts, and
 * all messages about these carts are about the shopper. Another shopper's address on the same cart is not
 * followed.
 */
#ifndef CARTBUS_PEOPLE_DATA_SUBJECT_H
#define CARTBUS_PEOPLE_DATA_SUBJECT_H

#include "services/cartbus/core/reading.h"

struct data_subject;

enum data_subject_tie {
	DATA_SUBJECT_NOT,
	DATA_SUBJECT_PSEUDONYM, /* it has only the shopper's keyed hash */
	/* an owner's text names the shopper: rules, voice, shop.conf, a stop's reason */
	DATA_SUBJECT_OWNERS,
	DATA_SUBJECT_CLEAR /* it has an id, an address or the contents of a cart */
};

/*
 * `who` is an address or a customer id. Complains and returns NULL if the search fails. Reads the shop's part
 * of the log.
 */
struct data_subject *data_subject_find(
	const struct command *command, struct client *client, const char *shop, const char *who);
/* Treats all persons who were erased from the shop (erasures.h) as one. */
struct data_subject *data_subject_find_erased(
	const struct command *command, struct client *client, const char *shop, const json_t *erasures);
void data_subject_free(struct data_subject *data_subject); /* takes NULL */

/*
 * Call it in the order of the log, because a message that follows from one about the shopper is found by its
 * cause. `message` is NULL if it cannot be decoded, and `topic` if the topic is unknown.
 */
enum data_subject_tie data_subject_tie(
	struct data_subject *data_subject, const struct entry *entry, const struct topic *topic, const void *message);
bool data_subject_holds(const struct data_subject *data_subject,
	struct bytes text); /* true: the text has one of the shopper's strong names as a whole word */

bool data_subject_has_cart(const struct data_subject *data_subject, struct bytes cart_id);

/* The ith keyed hash, address, customer id and cart of the shopper; borrowed. NULL: there are no more. */
const char *data_subject_hash(const struct data_subject *data_subject, size_t i);
const char *data_subject_address(const struct data_subject *data_subject, size_t i);
const char *data_subject_customer(const struct data_subject *data_subject, size_t i);
/* our ids of the carts whose last cart.state was open */
const char *data_subject_cart(const struct data_subject *data_subject, size_t i);

/* --- data_subject_record.c --- */

/*
 * Publishes an audit about the shopper. On failure complains and returns EXIT_NO; then the action must not be
 * done.
 */
int data_subject_record(const struct command *command, struct client *client, const char *shop, const char *action,
	const struct data_subject *data_subject, const char *grounds);
int data_subject_record_hash(const struct command *command, struct client *client, const char *shop, const char *action,
	const char *hash, const char *grounds); /* an empty `hash`: the shopper's address is unknown */
/* Asks the broker for a listed dead letter with its payload. Returns a new reference; NULL: it complained. */
json_t *data_subject_dead_letter(const struct command *command, struct client *client, const json_t *listed);
/*
 * Fills `ret`, which borrows from `dead_letter` and `payload`. Returns the decoded message, which the caller
 * frees; NULL: it cannot be decoded.
 */
void *data_subject_dead_letter_read(const json_t *dead_letter, struct buffer *payload, struct entry *ret);

#endif
