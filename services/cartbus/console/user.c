/*
 * user.c: `cartbus user add | list | role | reset | remove` and `cartbus console link`: who may use the console
 *
 * Promises:  no password is ever typed into a command or printed: a person gets a one-time link. Each change is recorded with the name of the
 *            admin who made it. A console that runs sees a change within a second.
 * Fails by:  EXIT_NO, and telling why; then nothing was changed.
 * Read next: services/console/people/people_file.h, services/console/people/entry_link.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/console/subcommands.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/console/people/entry_link.h"
#include "services/console/people/folder.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { URL_ROOM = 512 };

struct users {
	struct command *command;
	char folder[PATH_ROOM];
	struct people *people;
};

static void close_users(struct users *users)
{
	people_free(users->people);
}

/* Complains, and returns an exit code. */
static int open_users(struct command *command, struct users *ret)
{
	char why[PEOPLE_WHY];
	int r;

	*ret = (struct users){ .command = command };
	snprintf(
		ret->folder, sizeof(ret->folder), "%.400s/people", config_get(command->config, "paths", NULL, "state"));
	r = people_folder_make(ret->folder, NULL);
	if (r < 0) {
		complain(command, "%s: %s", ret->folder, strerror(-r));
		return EXIT_NO;
	}
	if (people_open(ret->folder, &ret->people, why) < 0) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	return EXIT_FINE;
}

static int read_name(const struct command *command, const char *text, char ret[PERSON_NAME_ROOM])
{
	if (person_name_read(text, ret) == 0)
		return EXIT_FINE;
	complain(command,
		"a name has 1 to 48 letters, digits and . _ - + @, and begins with a letter or digit; not \"%s\"",
		text);
	return EXIT_USAGE;
}

static int find(const struct users *users, const char *name)
{
	if (people_find(users->people, name))
		return EXIT_FINE;
	complain(users->command, "there is nobody called \"%s\": cartbus user list", name);
	return EXIT_NO;
}

static void record(const struct users *users, const char *action, const char *name, const char *what)
{
	char grounds[200];

	snprintf(grounds, sizeof(grounds), "%.60s%s%.120s", name, *what ? ": " : "", what);
	record_file(users->command, &(struct record){ .shop = SHOP_OF_ALL, .action = action, .grounds = grounds });
}

/* ---- one-time links ---- */

static int print_link(const struct users *users, const char *person, const char *token)
{
	const char *url = config_get(users->command->config, "console", NULL, "public-url");
	size_t len = strlen(url);
	char link[URL_ROOM];

	while (len > 0 && url[len - 1] == '/')
		len--;
	snprintf(link, sizeof(link), "%.*s/enter#%s", (int)len, url, token);
	if (users->command->json) {
		json_t *json = json_pack("{s:s,s:s,s:I}", "person", person, "link", link, "seconds",
			(json_int_t)(ENTRY_LINK_US / US_PER_S));

		json_print(json);
		json_decref(json);
	} else {
		printf("%s\n", link);
		fprintf(stderr, "good once, for ten minutes\n");
	}
	return EXIT_FINE;
}

/* `person` "": of the first admin. */
static int make_link(const struct users *users, const char *person, bool drops_totp)
{
	struct entry_link link = { .drops_totp = drops_totp };
	char token[ENTRY_TOKEN_ROOM], why[PEOPLE_WHY];

	TEXT_COPY(link.person, person);
	if (entry_link_make(users->folder, &link, clock_wall_us(&users->command->clock), token, why) < 0) {
		complain(users->command, "%s", why);
		return EXIT_NO;
	}
	return print_link(users, person, token);
}

int command_console_link(struct command *command, int argc, char **argv)
{
	_cleanup_(close_users) struct users users = { 0 };
	const char *person = NULL;
	const struct take takes[] = {
		{ "person", "NAME", "whose link it is; needed when there is an admin", &person, NULL }, { 0 }
	};
	char name[PERSON_NAME_ROOM] = "";
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Prints a link by which somebody enters the console once, within ten minutes, and chooses a "
				"password. On a fresh installation it is the first admin's, who chooses a name, too.\v"
				"Examples:\n  cartbus console link\n  cartbus console link --person anna" });
	ended = open_users(command, &users);
	if (!ended && person)
		ended = read_name(command, person, name);
	if (!ended && person)
		ended = find(&users, name);
	if (!ended && !person && people_have_admin(users.people)) {
		complain(command, "there is an admin already: --person says whose link it is to be");
		ended = EXIT_USAGE;
	}
	if (ended)
		return ended;
	record(&users, "console_link", *name ? name : "the first admin", "");
	return make_link(&users, name, false);
}

/* ---- people ---- */

static int add_role(const struct command *command, struct person *person, const char *role)
{
	int r = person_role_add(person, role);

	if (r < 0)
		complain(command, "%s: %s", role, person_role_words(r));
	return r < 0 ? EXIT_USAGE : EXIT_FINE;
}

int command_user_add(struct command *command, int argc, char **argv)
{
	_cleanup_(close_users) struct users users = { 0 };
	_cleanup_(person_clear) struct person person = { 0 };
	const char *name, *role = NULL;
	const struct take takes[] = {
		{ "role", "ROLE[:SHOP,...]", "viewer, approver, owner, operator or admin", &role, NULL }, { 0 }
	};
	char why[PEOPLE_WHY];
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Adds somebody who may use the console, and prints a one-time link by which that person "
				"chooses a password. Viewers, approvers and owners are for some shops, or for all; operators "
				"and admins for the installation.\v"
				"Examples:\n  cartbus user add anna --role owner:blumen\n  cartbus user add ben --role operator" });
	ended = read_name(command, name, person.name);
	if (!ended && role)
		ended = add_role(command, &person, role);
	ended = ended ? ended : open_users(command, &users);
	if (ended)
		return ended;
	person_new_version(&person);
	person.made_us = clock_wall_us(&command->clock);
	if (people_add(users.people, &person, why) < 0) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	record(&users, "user_added", person.name, role ? role : "");
	return make_link(&users, person.name, false);
}

static json_t *roles_json(const struct person *person)
{
	json_t *roles = json_object();

	for (int role = 0; role < ROLES; role++) {
		const struct person_role *held = &person->roles[role];
		json_t *shops = held->for_all_shops ? json_string("*") : json_array();

		for (size_t i = 0; i < held->shop_count; i++)
			json_array_append_new(shops, json_string(held->shops[i]));
		if (held->is_held)
			json_object_set(roles, role_name((enum role)role), shops);
		json_decref(shops);
	}
	return roles;
}

static void print_person(const struct person *person)
{
	printf("%-24s %s%s", person->name, *person->password ? "" : "(no password yet) ",
		person->has_totp ? "(second factor) " : "");
	for (int role = 0; role < ROLES; role++) {
		const struct person_role *held = &person->roles[role];

		if (held->is_held)
			printf(" %s", role_name((enum role)role));
		for (size_t i = 0; held->is_held && i < held->shop_count; i++)
			printf("%s%s", i ? "," : ":", held->shops[i]);
	}
	putchar('\n');
}

int command_user_list(struct command *command, int argc, char **argv)
{
	_cleanup_(close_users) struct users users = { 0 };
	json_t *list = json_array();
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Lists who may use the console, with their roles.\vExample:\n  cartbus user list --json" });
	ended = open_users(command, &users);
	for (size_t i = 0; !ended && i < people_count(users.people); i++) {
		const struct person *person = people_at(users.people, i);

		if (command->json)
			json_array_append_new(list,
				json_pack("{s:s,s:o,s:b,s:b}", "name", person->name, "roles", roles_json(person),
					"password", *person->password != '\0', "totp", person->has_totp));
		else
			print_person(person);
	}
	if (!ended && command->json)
		json_print_list("people", json_incref(list));
	else if (!ended && people_count(users.people) == 0)
		puts("nobody yet: cartbus console link");
	json_decref(list);
	return ended;
}

struct role_change {
	const struct command *command;
	const char *add, *remove;
};

static int change_roles(struct person *person, void *context)
{
	const struct role_change *change = context;
	int r = change->add ? person_role_add(person, change->add) : 0;

	if (r == 0 && change->remove)
		r = person_role_remove(person, change->remove);
	if (r < 0) {
		complain(change->command, "%s", person_role_words(r));
		return r;
	}
	person_new_version(person);
	return 0;
}

int command_user_role(struct command *command, int argc, char **argv)
{
	_cleanup_(close_users) struct users users = { 0 };
	struct role_change change = { .command = command };
	const char *name;
	const struct take takes[] = { { "add", "ROLE[:SHOP,...]", "gives this role", &change.add, NULL },
		{ "remove", "ROLE[:SHOP,...]", "takes it away", &change.remove, NULL }, { 0 } };
	char person[PERSON_NAME_ROOM], why[PEOPLE_WHY] = "", what[120];
	int ended, r;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Gives or takes a role. The person's sessions end.\v"
				"Examples:\n  cartbus user role anna --add owner:blumen,kaffee\n  cartbus user role anna --remove "
				"viewer:*" });
	if (!change.add && !change.remove) {
		complain(command, "--add or --remove says what changes");
		return EXIT_USAGE;
	}
	ended = read_name(command, name, person);
	ended = ended ? ended : open_users(command, &users);
	ended = ended ? ended : find(&users, person);
	if (ended)
		return ended;
	r = people_change(users.people, person, change_roles, &change, why);
	if (r < 0) {
		if (*why)
			complain(command, "%s", why);
		return EXIT_NO;
	}
	snprintf(what, sizeof(what), "%s%.50s%s%s%.50s", change.add ? "+" : "", change.add ? change.add : "",
		change.add && change.remove ? " " : "", change.remove ? "-" : "", change.remove ? change.remove : "");
	record(&users, "user_role", person, what);
	return EXIT_FINE;
}

int command_user_reset(struct command *command, int argc, char **argv)
{
	_cleanup_(close_users) struct users users = { 0 };
	const char *name;
	bool totp = false;
	const struct take takes[] = { { "totp", NULL, "the second factor is taken away, too", NULL, &totp }, { 0 } };
	char person[PERSON_NAME_ROOM];
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Prints a one-time link by which this person chooses a new password. The old one stays good until "
				"then; the second factor stays, unless --totp.\vExample:\n  cartbus user reset anna" });
	ended = read_name(command, name, person);
	ended = ended ? ended : open_users(command, &users);
	ended = ended ? ended : find(&users, person);
	if (ended)
		return ended;
	record(&users, "user_reset", person, totp ? "with the second factor" : "");
	return make_link(&users, person, totp);
}

int command_user_remove(struct command *command, int argc, char **argv)
{
	_cleanup_(close_users) struct users users = { 0 };
	const char *name;
	char person[PERSON_NAME_ROOM], why[PEOPLE_WHY];
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Takes somebody off the list. Sessions end at once; what that person did stays on record. The last "
				"admin stays.\vExample:\n  cartbus user remove ben" });
	ended = read_name(command, name, person);
	ended = ended ? ended : open_users(command, &users);
	ended = ended ? ended : find(&users, person);
	if (ended)
		return ended;
	if (people_remove(users.people, person, why) < 0) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	record(&users, "user_removed", person, "");
	return EXIT_FINE;
}
