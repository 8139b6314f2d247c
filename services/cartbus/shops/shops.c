/* shops.c: the shops there are, from their folders and from the log */
#include "services/cartbus/shops/shops.h"

#include "bus/base/text.h"
#include "services/cartbus/core/home.h"
#include "services/kit/settings/settings.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_shop(const struct command *command, const char *name)
{
	char path[PATH_ROOM];

	command_shop_path(command, name, "shop.conf", path);
	return shop_name_valid(name) && access(path, F_OK) == 0;
}

int shops_each(const struct command *command, void (*each)(const char *name, void *context), void *context)
{
	struct dirent **names = NULL;
	int count = scandir(config_get(command->config, "paths", NULL, "shops"), &names, NULL, alphasort);
	int shops = 0;

	for (int i = 0; i < count; i++) {
		if (is_shop(command, names[i]->d_name)) {
			each(names[i]->d_name, context);
			shops++;
		}
		free(names[i]);
	}
	free(names);
	return shops;
}

/* ---- a name that was typed ---- */

enum { SHOP_NAME_ROOM = 41 }; /* as shop_name_valid has it */

struct spelling {
	struct nearest nearest;
	char name[SHOP_NAME_ROOM]; /* the nearest one: the folder's entry is gone after the call */
};

static void compare_spelling(const char *name, void *context)
{
	struct spelling *spelling = context;
	int slips = spelling->nearest.slips;

	nearest_try(&spelling->nearest, name);
	if (spelling->nearest.slips < slips)
		TEXT_COPY(spelling->name, name);
}

int shops_complain_unknown(const struct command *command, const char *name)
{
	struct spelling spelling = { .nearest = nearest_begin(name) };
	char path[PATH_ROOM];

	command_shop_path(command, name, "shop.conf", path);
	shops_each(command, compare_spelling, &spelling);
	complain(command, "there is no shop \"%s\" (%s)%s%s%s; `cartbus shop list` shows those there are", name, path,
		spelling.name[0] ? "; did you mean \"" : "", spelling.name, spelling.name[0] ? "\"?" : "");
	return EXIT_NO;
}

static bool note_history(const struct entry *entry, void *context)
{
	(void)entry;
	*(bool *)context = true;
	return false;
}

int shops_know(const struct command *command, struct client *client, const char *name)
{
	bool has_history = false;
	int failed;

	if (is_shop(command, name))
		return EXIT_FINE;
	failed = reading_each(
		command, client, &(struct reading_filter){ .shop = name, .masked = true }, note_history, &has_history);
	if (failed || has_history)
		return failed;
	return shops_complain_unknown(command, name);
}

int shops_know_if_named(const struct command *command, struct client *client, const char *name)
{
	return name && *name ? shops_know(command, client, name) : EXIT_FINE;
}

/* ---- for a shell ---- */

static void print_name(const char *name, void *context)
{
	(void)context;
	puts(name);
}

int shops_print(const char *config_path)
{
	struct command command = { .name = "--shops", .config_given = config_path };
	struct config_error error;
	char path[PATH_ROOM];

	if (home_config(&command, HOME_NAMES, path) ||
		config_load_for(path, settings_keys, "cartbus", &command.config, &error) < 0)
		return EXIT_NO;
	shops_each(&command, print_name, NULL);
	config_free(command.config);
	return EXIT_FINE;
}
