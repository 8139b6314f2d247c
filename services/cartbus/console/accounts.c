/*
 * accounts.c: the console's people, as the command opens, shows and records them
 *
 * Promises:  what root makes for the console belongs to the console's user. No password, hash or secret is printed; a link
 *            is printed once and cannot be shown again.
 * Fails by:  complaining, and an exit code.
 * Read next: services/console/people/people_file.h
 */
#include "services/cartbus/console/accounts.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/console/people/folder.h"
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONSOLE_USER "cartbus-console"

/* NULL: the owner is this process. */
static const struct file_owner *owner_of_console(const struct command *command, struct file_owner *room)
{
	const struct passwd *user = geteuid() == 0 && command_has_units(command) ? getpwnam(CONSOLE_USER) : NULL;

	if (!user)
		return NULL;
	*room = (struct file_owner){ user->pw_uid, user->pw_gid };
	return room;
}

int accounts_open(const struct command *command, bool makes, struct people **ret)
{
	char path[PATH_ROOM], why[PEOPLE_WHY];
	struct file_owner room;
	int r = 0;

	snprintf(path, sizeof(path), "%s/people", config_get(command->config, "paths", NULL, "state"));
	if (makes)
		r = people_folder_make(path, owner_of_console(command, &room));
	if (r < 0)
		complain(command, "cannot make %s: %s", path, strerror(-r));
	if (r == 0) {
		r = people_open(path, ret, why);
		if (r < 0)
			complain(command, "%s", why);
	}
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

int accounts_name(const struct command *command, const char *typed, char ret[PERSON_NAME_ROOM])
{
	if (person_name_read(typed, ret) == 0)
		return EXIT_FINE;
	complain(command, "expected a name of letters, digits and . _ - + @, 48 characters at most, found \"%.60s\"",
		typed);
	return EXIT_USAGE;
}

/* ---- roles ---- */

int accounts_change_roles(
	const struct command *command, struct person *person, const char *const *add, const char *const *remove)
{
	for (; remove && *remove; remove++) {
		int r = person_role_remove(person, *remove);

		if (r < 0) {
			complain(command, "--remove %.100s: %s", *remove, person_role_words(r));
			return EXIT_USAGE;
		}
	}
	for (; add && *add; add++) {
		int r = person_role_add(person, *add);

		if (r < 0) {
			complain(command, "role %.100s: %s", *add, person_role_words(r));
			return EXIT_USAGE;
		}
	}
	return EXIT_FINE;
}

static void add_role_words(enum role role, const struct person_role *held, struct buffer *ret)
{
	buffer_printf(ret, "%s%s", ret->len ? ", " : "", role_name(role));
	for (size_t i = 0; i < held->shop_count; i++)
		buffer_printf(ret, "%s%s", i ? " " : " of ", held->shops[i]);
}

void accounts_roles_words(const struct person *person, struct buffer *ret)
{
	for (int role = 0; role < ROLES; role++)
		if (person->roles[role].is_held)
			add_role_words((enum role)role, &person->roles[role], ret);
	if (!ret->len)
		buffer_add_text(ret, "none");
}

static json_t *role_json(enum role role, const struct person_role *held)
{
	json_t *shops = json_array();

	for (size_t i = 0; i < held->shop_count; i++)
		json_array_append_new(shops, json_string(held->shops[i]));
	return json_pack("{s:s,s:b,s:o}", "role", role_name(role), "all_shops", held->for_all_shops, "shops", shops);
}

json_t *accounts_json(const struct person *person)
{
	json_t *roles = json_array();

	for (int role = 0; role < ROLES; role++)
		if (person->roles[role].is_held)
			json_array_append_new(roles, role_json((enum role)role, &person->roles[role]));
	return json_pack("{s:s,s:o,s:b,s:b,s:i,s:I}", "person", person->name, "roles", roles, "has_password",
		person->password[0] != '\0', "has_second_factor", person->has_totp, "recovery_codes",
		person->recovery_count, "made_us", (json_int_t)person->made_us);
}

/* ---- links ---- */

int accounts_link(const struct command *command, const struct people *people, const struct entry_link *link,
	char ret[ACCOUNTS_LINK_ROOM])
{
	const char *url = config_get(command->config, "console", NULL, "public-url");
	char token[ENTRY_TOKEN_ROOM], why[PEOPLE_WHY];
	const struct clock real =
		clock_system(); /* ten minutes are ten minutes, also in a demo whose time runs faster */
	size_t len = strlen(url);

	if (entry_link_make(people_folder(people), link, clock_wall_us(&real), token, why) < 0) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	accounts_record(command, "person_link", link->person[0] ? link->person : "the first admin", NULL,
		link->drops_totp ? "the second factor goes, too" : NULL);
	snprintf(ret, ACCOUNTS_LINK_ROOM, "%.*s/enter#%s", (int)(len - (len > 0 && url[len - 1] == '/')), url, token);
	return EXIT_FINE;
}

void accounts_print_link(const struct command *command, const char *person, const char *words, const char *link)
{
	const int minutes = (int)(ENTRY_LINK_US / US_PER_MINUTE);
	json_t *json;

	if (!command->json) {
		printf("%s, with this link, which is good once and for %d minutes:\n\n  %s\n", words, minutes, link);
		return;
	}
	json = json_pack("{s:s,s:s,s:i}", "person", person, "link", link, "minutes", minutes);
	json_print(json);
	json_decref(json);
}

void accounts_record(
	const struct command *command, const char *action, const char *person, const char *before, const char *after)
{
	char grounds[PERSON_NAME_ROOM + 16];

	snprintf(grounds, sizeof(grounds), "person %s", person);
	record_file(command,
		&(struct record){
			.shop = SHOP_OF_ALL, .action = action, .grounds = grounds, .before = before, .after = after });
}
