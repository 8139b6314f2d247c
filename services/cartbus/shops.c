/* shops.c: the shops there are, from their folders */
#include "services/cartbus/shops.h"

#include "services/kit/settings.h"
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

static void print_name(const char *name, void *context)
{
	(void)context;
	puts(name);
}

int shops_print(const char *config_path)
{
	struct command command = { .name = "--shops" };
	struct config_error error;

	if (config_load(config_path ? config_path : CONFIG_PATH_DEFAULT, settings_keys, &command.config, &error) < 0)
		return EXIT_NO;
	shops_each(&command, print_name, NULL);
	config_free(command.config);
	return EXIT_FINE;
}
