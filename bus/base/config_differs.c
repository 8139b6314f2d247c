/*
 * config_differs.c: what is different in a configuration that was read again
 *
 * Promises:  only what was asked for counts: all processes read one file, and what one of them has no use for is none of its business.
 * Read next: config.c (who notes what was asked)
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/config.h"
#include "bus/base/config_values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct telling {
	const struct config *config;
	const struct config_key *key;
	struct buffer *to;
};

static int tell_value(const char *value, void *context)
{
	struct telling *telling = context;

	buffer_printf(telling->to, "%s\n", value);
	return 0;
}

static int tell_section(const char *name, void *context)
{
	struct telling *telling = context;
	const struct config_key *key = telling->key;
	const char *value = config_get(telling->config, key->section, name, key->key);

	buffer_printf(telling->to, "[%s]\n", name ? name : "");
	if (key->repeated)
		config_each_value(telling->config, key->section, name, key->key, tell_value, telling);
	else
		buffer_printf(telling->to, "%s\n", value ? value : "(none)");
	return 0;
}

static void tell_key(const struct config *config, const struct config_key *key, struct buffer *to)
{
	struct telling telling = { .config = config, .key = key, .to = to };

	buffer_clear(to);
	tell_section(NULL, &telling);
	config_each_section(config, key->section, tell_section, &telling);
}

bool config_differs(const struct config *before, const struct config *after, char *ret_which, size_t room)
{
	_cleanup_(buffer_free) struct buffer was = { 0 }, is = { 0 };
	size_t used = 0;

	*ret_which = '\0';
	for (size_t i = 0; before->keys[i].section; i++) {
		const struct config_key *key = &before->keys[i];

		if (!key->key || !before->asked[i])
			continue;
		tell_key(before, key, &was);
		tell_key(after, key, &is);
		if (strcmp(buffer_text(&was), buffer_text(&is)) != 0 && used < room)
			used += (size_t)snprintf(
				ret_which + used, room - used, "%s[%s] %s", used ? ", " : "", key->section, key->key);
	}
	return used > 0;
}
