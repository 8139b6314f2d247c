/* user_list.c: `cartbus user list`: who may use the console, as what */
#include "services/cartbus/console/accounts.h"
#include "services/cartbus/console/subcommands.h"
#include "services/cartbus/core/print.h"

#include <stdio.h>

static void print_person(const struct person *person)
{
	_cleanup_(buffer_free) struct buffer roles = { 0 };

	accounts_roles_words(person, &roles);
	printf("%-24s %-13s %-14s %s\n", person->name, person->password[0] ? "password" : "no password yet",
		person->has_totp ? "second factor" : "", buffer_text(&roles));
}

static void print_json(const struct people *people)
{
	json_t *list = json_array();

	for (size_t i = 0; i < people_count(people); i++)
		json_array_append_new(list, accounts_json(people_at(people, i)));
	json_print_list("people", list);
}

int command_user_list(struct command *command, int argc, char **argv)
{
	_cleanup_(people_freep) struct people *people = NULL;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Who may use the web console: name, whether the password and the second factor "
				"are set, and the roles.\vExample:\n  cartbus user list --json" });
	failed = accounts_open(command, false, &people);
	if (failed)
		return failed;
	if (command->json)
		print_json(people);
	else if (people_count(people) == 0)
		puts("nobody yet: `cartbus console link` lets the first admin in");
	for (size_t i = 0; !command->json && i < people_count(people); i++)
		print_person(people_at(people, i));
	return EXIT_FINE;
}
