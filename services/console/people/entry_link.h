/*
 * entry_link.h: one-time links by which a person enters without a password
 *
 * `cartbus console link` and `cartbus user add | reset` make them; the console spends them. A link's token is 256 random
 * bits behind the "#" of a URL, which browsers send to no server and write into no log. <state>/people/links keeps the
 * token's SHA-256, so a copy of the file lets nobody in. A link is good for ten minutes, once.
 */
#ifndef CONSOLE_PEOPLE_ENTRY_LINK_H
#define CONSOLE_PEOPLE_ENTRY_LINK_H

#include "bus/base/clock.h"
#include "services/console/people/people_file.h"

enum { ENTRY_TOKEN_ROOM = 65 }; /* hex */
#define ENTRY_LINK_US (10 * US_PER_MINUTE)

struct entry_link {
	char person
		[PERSON_NAME_ROOM]; /* "": of the first admin, who chooses a name; good only while there is no admin */
	bool drops_totp;            /* the second factor is taken away, too */
	int64_t until_us;
};

/*
 * Makes a link that is good for ENTRY_LINK_US from now on; an earlier one for the same person, or the first admin, is good no
 * longer. It is durable when this returns. `folder` is <state>/people. Errors as people_add.
 */
int entry_link_make(const char *folder, const struct entry_link *link, int64_t now_us, char ret_token[ENTRY_TOKEN_ROOM],
	char ret_why[PEOPLE_WHY]);
/* What the link is for; changes nothing. -ENOENT: there is no such link, it was used, or its time is over. */
int entry_link_look(const char *folder, const char *token, int64_t now_us, struct entry_link *ret);
/* The same, and it is used up, durably, before this returns 0. */
int entry_link_spend(
	const char *folder, const char *token, int64_t now_us, struct entry_link *ret, char ret_why[PEOPLE_WHY]);
/* Takes back the links of a person. */
int entry_link_revoke(const char *folder, const char *person, int64_t now_us, char ret_why[PEOPLE_WHY]);

#endif
