/* erase.h: a running erasure of one shopper */
#ifndef CARTBUS_PEOPLE_ERASE_H
#define CARTBUS_PEOPLE_ERASE_H

#include "services/cartbus/people/data_subject.h"
#include <stdio.h>

struct erasure {
	const struct command *command;
	struct client *client;
	const char *shop, *who, *reason; /* who: an address or a customer id; NULL: all whom `again` lists */
	const json_t *again;
	bool dry_run, is_quiet;
	bool takes_requests; /* the privacy requests about the person as well: they stand until all else is gone */
	struct data_subject *data_subject;
	json_t *messages, *with_keys; /* numbers; of the latter the idempotency key goes as well */
	json_t *requests;             /* open privacy requests about the person, by their ids */
	json_t *owners; /* what the owner wrote, by its topic and key: which message of it names the person, 0: none */
	json_t *carts,
		*days; /* ids of the person's carts; days of the shop on which something was said about the person */
	size_t erased;
	json_t *blobs;          /* {"name", "owner"} of each blob that a message found names */
	const char *blobs_root; /* NULL: of [paths] state */
	uint64_t blobs_removed, blobs_kept;
};

void erasure_free(struct erasure *erasure); /* what it holds */

/* erase_look.c: each complains, and returns an exit */
int erase_look(struct erasure *erasure);
size_t erase_found(const struct erasure *erasure);
int erase_rounds(struct erasure *erasure); /* erases and looks again, until there is nothing */
int erase_say_optouts(struct erasure *erasure);

/* erase.c: likewise */
int erase_wait_idle(struct erasure *erasure); /* no erasure runs, and no gateway holds anything back */
int erase_ask(struct erasure *erasure); /* the broker erases what was found, to the end; everybody has folded anew */

/* erase_files.c: blobs, before the messages go, by which they are found. An exit, complains. */
void erase_note_blobs(struct erasure *erasure, const struct topic *topic, const char *idem, const void *message);
int erase_blobs(struct erasure *erasure);

/* What lies in files beside the log, and what only the owner can do */
struct reached {
	json_t *files;   /* {"what", "path", "removed", "rows" of a CSV} */
	json_t *backups; /* {"path", "erased": messages, or "why" it is as it was} */
	json_t *by_hand; /* {"what", "where", "do"} */
	bool failed;
};
void reached_init(struct reached *reached);
void reached_free(struct reached *reached);
void erase_files(const struct erasure *erasure, struct reached *reached);
void erase_by_hand(const struct erasure *erasure, struct reached *reached);
void reached_add_by_hand(struct reached *reached, const char *what, const char *where, const char *words);
void reached_print(const struct reached *reached, bool dry_run); /* but for by_hand */
void reached_print_by_hand(const struct reached *reached, FILE *to);

#endif
