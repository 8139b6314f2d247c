/* accounts.h: what the subcommands about the console's people share: the people, links, and what is put on record */
#ifndef CARTBUS_CONSOLE_ACCOUNTS_H
#define CARTBUS_CONSOLE_ACCOUNTS_H

#include "services/cartbus/core/command.h"
#include "services/console/people/entry_link.h"
#include "services/console/people/people_file.h"
#include <jansson.h>

/*
 * The people of this installation; `makes`: their folder is made if it is missing, for the console's user if root makes it.
 * EXIT_FINE, or it complained.
 */
int accounts_open(const struct command *command, bool makes, struct people **ret);
/* The name as it is kept; complains and returns EXIT_USAGE if it can be none. */
int accounts_name(const struct command *command, const char *typed, char ret[PERSON_NAME_ROOM]);
/* Adds or takes away roles, each as person_role_add reads it. EXIT_FINE, or EXIT_USAGE and it complained. */
int accounts_change_roles(
	const struct command *command, struct person *person, const char *const *add, const char *const *remove);
/* "owner (demo, other), admin"; "none" */
void accounts_roles_words(const struct person *person, struct buffer *ret);
json_t *accounts_json(const struct person *person); /* without secrets; the caller owns it */

/* A link, made and put on record: <public-url>/enter#TOKEN. EXIT_FINE, or it complained. */
enum { ACCOUNTS_LINK_ROOM = 400 };
int accounts_link(const struct command *command, const struct people *people, const struct entry_link *link,
	char ret[ACCOUNTS_LINK_ROOM]);
/* Prints {"person": ..., "link": ..., "minutes": 10}, or "WORDS, with this link, ..." and the link. */
void accounts_print_link(const struct command *command, const char *person, const char *words, const char *link);

/* An audit; `person` is the one that it is about. before and after may be NULL. */
void accounts_record(
	const struct command *command, const char *action, const char *person, const char *before, const char *after);

#endif
