/* link.c: `cartbus console link`: a one-time link into the console, for the first admin or for a person who cannot get in */
#include "services/cartbus/console/accounts.h"
#include "services/cartbus/console/subcommands.h"

#include "bus/base/text.h"
#include <stdio.h>

static const char *first_admin(const struct people *people)
{
	for (size_t i = 0; i < people_count(people); i++)
		if (person_is_admin(people_at(people, i)))
			return people_at(people, i)->name;
	return NULL;
}

static int link_for_first_admin(const struct command *command, const struct people *people)
{
	const char *admin = first_admin(people);
	struct entry_link link = { .person = "" };
	char url[ACCOUNTS_LINK_ROOM];
	int failed;

	if (admin) {
		complain(command, "there is an admin already: %s lets %s in", "`cartbus console link --person NAME`",
			admin);
		return EXIT_NO;
	}
	failed = accounts_link(command, people, &link, url);
	if (!failed)
		accounts_print_link(command, "", "The first admin chooses a name and a password", url);
	return failed;
}

static int link_for(const struct command *command, const struct people *people, const char *typed)
{
	struct entry_link link = { .person = "" };
	char url[ACCOUNTS_LINK_ROOM], words[PERSON_NAME_ROOM + 40];
	int failed = accounts_name(command, typed, link.person);

	if (failed)
		return failed;
	if (!people_find(people, link.person)) {
		complain(command, "there is no person %s: `cartbus user list` shows those that there are", link.person);
		return EXIT_NO;
	}
	snprintf(words, sizeof(words), "%s sets a new password", link.person);
	failed = accounts_link(command, people, &link, url);
	if (!failed)
		accounts_print_link(command, link.person, words, url);
	return failed;
}

int command_console_link(struct command *command, int argc, char **argv)
{
	const char *person = NULL;
	const struct take takes[] = { { "person", "NAME", "for this person, who sets a new password", &person, NULL },
		{ 0 } };
	_cleanup_(people_freep) struct people *people = NULL;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Prints a link into the web console, which is good once and for ten minutes. Without "
				"--person it makes the first admin, and is refused when there is an admin. A second factor "
				"of the person stays. Whoever has the link gets in: hand it over in a safe way.\v"
				"Examples:\n  cartbus console link\n  cartbus console link --person ann" });
	failed = accounts_open(command, true, &people);
	if (failed)
		return failed;
	return person ? link_for(command, people, person) : link_for_first_admin(command, people);
}
