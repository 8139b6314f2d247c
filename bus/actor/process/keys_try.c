/*
 * keys_try.c: would the broker let us in, with each of the keys that lie here?
 *
 * Promises:  nothing is said to the broker but who knocks.
 */
#include "bus/actor/process/keys.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "bus/wire/handshake.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_US (5 * US_PER_S)
static const char ENDING[] = ".key";

typedef void try_fn(const char *name, int known, const char *why, void *context);

static int is_key(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), ending = strlen(ENDING);

	return len > ending && strcmp(entry->d_name + len - ending, ENDING) == 0;
}

static void try_one(const struct config *config, const char *name, try_fn *each, void *context)
{
	struct reach reach;
	char why[256] = "";
	int r = reach_read_as(config, name, &reach, why);

	each(name, r < 0 ? r : handshake_try(&reach, PATIENCE_US), why, context);
	curve_wipe(&reach.key);
}

void keys_try(const struct config *config, try_fn *each, void *context)
{
	struct dirent **found = NULL;
	int count = scandir(config_get(config, "paths", NULL, "keys"), &found, is_key, alphasort);

	for (int i = 0; i < count; i++) {
		char name[256];

		text_copy_bytes(name, sizeof(name), BYTES(found[i]->d_name, strlen(found[i]->d_name) - strlen(ENDING)));
		if (strcmp(name, curve_broker_name) != 0)
			try_one(config, name, each, context);
		free(found[i]);
	}
	free(found);
}
