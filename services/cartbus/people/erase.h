/* erase.h: a running erasure of one shopper */
#ifndef CARTBUS_PEOPLE_ERASE_H
#define CARTBUS_PEOPLE_ERASE_H

#include "services/cartbus/people/data_subject.h"
#include <stdio.h>

struct erasure {
	const struct command *command;
	struct client *client;
	const char *shop, *who, *reason; /* who: an address or a customer id; NULL: all persons in `again` */
	const json_t *again;
	bool dry_run, is_quiet;
	bool takes_requests; /* erases privacy requests too: they go after all other messages */
	struct data_subject *data_subject;
	json_t *messages, *with_keys; /* message numbers; with_keys: their idempotency keys are erased too */
	json_t *requests;             /* open privacy requests about the person, by their ids */
	/* texts of the owner, by topic and key: the message that names the person; 0: none */
	json_t *owners;
	json_t *carts, *days; /* ids of the person's carts; days of the shop with messages about the person */
	size_t erased;
	json_t *blobs;          /* {"name", "owner"} of each blob that a found message names */
	const char *blobs_root; /* NULL: the blobs of [paths] state */
	uint64_t blobs_removed, blobs_kept;
};

void erasure_free(struct erasure *erasure); /* frees its members */

/* erase_look.c: each function complains, and returns an exit code */
int erase_look(struct erasure *erasure);
size_t erase_found(const struct erasure *erasure);
int erase_rounds(struct erasure *erasure); /* erases and looks again until nothing is found, 3 times at most */
int erase_say_optouts(struct erasure *erasure);

/* erase.c: the same */
int erase_wait_idle(struct erasure *erasure); /* waits until no erasure runs and no spool holds messages */
int erase_ask(struct erasure *erasure);       /* the broker erases them, and all services have folded anew */

/*
 * erase_files.c: releases the blobs before their messages are erased, because the messages name the blobs.
 * Complains, and returns an exit code.
 */
void erase_note_blobs(struct erasure *erasure, const struct topic *topic, const char *idem, const void *message);
int erase_blobs(struct erasure *erasure);

/* The files and backups that the erasure reached, and what only the owner can do */
struct reached {
	json_t *files;   /* {"what", "path", "removed", "rows" of a CSV} */
	json_t *backups; /* {"path", "done", "messages"} */
	json_t *by_hand; /* {"what", "where", "do"} */
	bool failed;
};
void reached_init(struct reached *reached);
void reached_free(struct reached *reached);
void erase_files(const struct erasure *erasure, struct reached *reached);
void erase_by_hand(const struct erasure *erasure, struct reached *reached);
void reached_add_by_hand(struct reached *reached, const char *what, const char *where, const char *words);
void reached_print(const struct reached *reached, bool dry_run); /* `by_hand` as well */
void reached_print_by_hand(const struct reached *reached, FILE *to);

#endif
