/*
 * user.c: `cartbus user add | role | reset | remove`: the people who may use the web console
 *
 * Promises:  nobody types another person's password: a new person, and one who lost it, gets a link. A change of roles, and a
 *            removal, end the person's sessions at the next request. The last admin stays.
 * Fails by:  complaining; then nothing was changed.
 * Read next: accounts.h
 */
#include "services/cartbus/console/accounts.h"
#include "services/cartbus/console/subcommands.h"
#include "services/cartbus/core/print.h"

#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>

#define ROLES_HELP                                                                                                      \
	"A role is viewer (sees carts and reports), approver (edits words and rules, too) or owner (acts on carts and " \
	"people, and sets the mode, too), of some shops as in owner:demo,other or else of all; operator (health, "      \
	"queues, dead letters, the log) or admin (everything)."

static int complain_of(const struct command *command, const char *why)
{
	complain(command, "%s", why);
	return EXIT_NO;
}

static void roles_of(const struct people *people, const char *name, struct buffer *ret)
{
	const struct person *person = people_find(people, name);

	if (person)
		accounts_roles_words(person, ret);
}

/* ---- add ---- */

static int add_person(const struct command *command, struct people *people, const char *name, const char *const *roles)
{
	_cleanup_(person_clear) struct person person = { .made_us = clock_wall_us(&command->clock) };
	_cleanup_(buffer_free) struct buffer words = { 0 };
	char why[PEOPLE_WHY];
	int failed = accounts_change_roles(command, &person, roles, NULL);

	if (failed)
		return failed;
	TEXT_COPY(person.name, name);
	person_new_version(&person);
	if (people_add(people, &person, why) < 0)
		return complain_of(command, why);
	accounts_roles_words(&person, &words);
	accounts_record(command, "person_added", name, NULL, buffer_text(&words));
	if (!*roles)
		complain(command, "note: %s has no role yet: `cartbus user role %s --add ROLE` gives one", name, name);
	return EXIT_FINE;
}

static int print_link(const struct command *command, const struct people *people, const struct entry_link *link)
{
	char url[ACCOUNTS_LINK_ROOM], words[PERSON_NAME_ROOM + 40];
	int failed = accounts_link(command, people, link, url);

	snprintf(words, sizeof(words), "%s sets a password", link->person);
	if (!failed)
		accounts_print_link(command, link->person, words, url);
	return failed;
}

int command_user_add(struct command *command, int argc, char **argv)
{
	const char *name = NULL, *roles[TAKE_REPEATED] = { NULL };
	const struct take takes[] = { { "role", "ROLE...", "a role that the person has; may be repeated", roles, NULL },
		{ 0 } };
	_cleanup_(people_freep) struct people *people = NULL;
	struct entry_link link = { .person = "" };
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Adds a person who may use the web console, and prints the link with which this person sets a "
				"password. " ROLES_HELP "\v"
				"Examples:\n  cartbus user add ann --role owner:demo\n"
				"  cartbus user add bob --role viewer --role operator" });
	failed = accounts_name(command, name, link.person);
	if (!failed)
		failed = accounts_open(command, true, &people);
	if (!failed)
		failed = add_person(command, people, link.person, roles);
	return failed ? failed : print_link(command, people, &link);
}

/* ---- role ---- */

struct changing {
	const struct command *command;
	const char *const *add, *const *remove;
	int failed;
};

static int change_roles(struct person *person, void *context)
{
	struct changing *changing = context;

	changing->failed = accounts_change_roles(changing->command, person, changing->add, changing->remove);
	if (changing->failed)
		return -ECANCELED;
	person_new_version(person);
	return 0;
}

static int print_roles(const struct command *command, const struct people *people, const char *name, const char *before)
{
	_cleanup_(buffer_free) struct buffer after = { 0 };

	roles_of(people, name, &after);
	accounts_record(command, "person_roles", name, before, buffer_text(&after));
	if (command->json) {
		json_t *json = accounts_json(people_find(people, name));

		json_print(json);
		json_decref(json);
	} else {
		printf("%s: %s\n", name, buffer_text(&after));
	}
	return EXIT_FINE;
}

static int change_person(
	const struct command *command, const char *name, const char *const *add, const char *const *remove)
{
	_cleanup_(people_freep) struct people *people = NULL;
	_cleanup_(buffer_free) struct buffer before = { 0 };
	struct changing changing = { .command = command, .add = add, .remove = remove };
	char why[PEOPLE_WHY];
	int failed = accounts_open(command, false, &people);

	if (failed)
		return failed;
	roles_of(people, name, &before);
	if (people_change(people, name, change_roles, &changing, why) == 0)
		return print_roles(command, people, name, buffer_text(&before));
	return changing.failed ? changing.failed : complain_of(command, why);
}

int command_user_role(struct command *command, int argc, char **argv)
{
	const char *typed = NULL, *add[TAKE_REPEATED] = { NULL }, *remove[TAKE_REPEATED] = { NULL };
	const struct take takes[] = { { "add", "ROLE...", "a role to give; may be repeated", add, NULL },
		{ "remove", "ROLE...", "a role to take away; may be repeated", remove, NULL }, { 0 } };
	char name[PERSON_NAME_ROOM];
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &typed,
			.words_least = 1,
			.words_most = 1,
			.help = "Changes what a person may do in the web console; the person has to sign in again. " ROLES_HELP
				" --remove owner:demo leaves the other shops.\v"
				"Examples:\n  cartbus user role ann --add owner:other\n"
				"  cartbus user role bob --remove operator --add viewer:demo" });
	if (!add[0] && !remove[0]) {
		complain(command, "say which role: --add ROLE or --remove ROLE");
		return EXIT_USAGE;
	}
	failed = accounts_name(command, typed, name);
	return failed ? failed : change_person(command, name, add, remove);
}

/* ---- reset ---- */

int command_user_reset(struct command *command, int argc, char **argv)
{
	const char *typed = NULL;
	_cleanup_(people_freep) struct people *people = NULL;
	struct entry_link link = { .person = "" };
	const struct take takes[] = {
		{ "totp", NULL, "the second factor goes, too: a new one is set up", NULL, &link.drops_totp }, { 0 }
	};
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &typed,
			.words_least = 1,
			.words_most = 1,
			.help = "Prints a link with which a person sets a new password. The old password holds until then. The "
				"second factor stays, unless --totp is given.\v"
				"Examples:\n  cartbus user reset ann\n  cartbus user reset ann --totp" });
	failed = accounts_name(command, typed, link.person);
	if (!failed)
		failed = accounts_open(command, false, &people);
	if (failed)
		return failed;
	if (people_find(people, link.person))
		return print_link(command, people, &link);
	complain(command, "there is no person %s", link.person);
	return EXIT_NO;
}

/* ---- remove ---- */

static int remove_person(const struct command *command, struct people *people, const char *name)
{
	_cleanup_(buffer_free) struct buffer before = { 0 };
	const struct clock real = clock_system();
	char why[PEOPLE_WHY];

	roles_of(people, name, &before);
	if (people_remove(people, name, why) < 0)
		return complain_of(command, why);
	if (entry_link_revoke(people_folder(people), name, clock_wall_us(&real), why) < 0)
		complain(command, "note: %s; a link for nobody lets nobody in", why);
	accounts_record(command, "person_removed", name, buffer_text(&before), NULL);
	if (command->json)
		printf("{\"person\": \"%s\", \"removed\": true}\n", name);
	else
		printf("%s may use the console no longer\n", name);
	return EXIT_FINE;
}

int command_user_remove(struct command *command, int argc, char **argv)
{
	const char *typed = NULL;
	char name[PERSON_NAME_ROOM];
	_cleanup_(people_freep) struct people *people = NULL;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "NAME",
			.words = &typed,
			.words_least = 1,
			.words_most = 1,
			.help = "Removes a person from the web console; sessions and links of this person are good no longer. What "
				"the person did stays on record.\vExample:\n  cartbus user remove ann" });
	failed = accounts_name(command, typed, name);
	if (!failed)
		failed = accounts_open(command, false, &people);
	return failed ? failed : remove_person(command, people, name);
}
