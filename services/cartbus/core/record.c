/*
 * record.c: publishes an audit of each action that an operator has the broker do
 *
 * The broker knows nothing of audits: so the command says one first. One that could not be said is not followed by the act.
 */
#include "services/cartbus/core/record.h"

#include "bus/actor/client.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/reading.h"
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *operator_name(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *user = getpwuid(getuid());

	if (sudo && *sudo)
		return sudo;
	return user ? user->pw_name : "unknown";
}

#define FILE_PATIENCE_US (2 * US_PER_S)

static void add_words(struct buffer *grounds, const char *name, const json_t *value)
{
	if (json_is_string(value) && json_string_value(value)[0])
		buffer_printf(grounds, "%s%s %s", grounds->len ? ", " : "", name, json_string_value(value));
	else if (json_is_integer(value))
		buffer_printf(
			grounds, "%s%s %lld", grounds->len ? ", " : "", name, (long long)json_integer_value(value));
}

static const char NOTHING_DONE[] = "nothing was done, because it could not be put on record";
static const char DONE_ALL_THE_SAME[] = "note: this is not on record";

/* "queue intake, from 4711, shop demo" */
static void write_grounds(const json_t *what, Audit *audit)
{
	_cleanup_(buffer_free) struct buffer grounds = { 0 };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)what, name, value) add_words(&grounds, name, value);
	TEXT_COPY(audit->grounds, buffer_text(&grounds));
}

static int say_audit(const struct command *command, struct client *client, const char *shop, const Audit *audit,
	const char *otherwise)
{
	struct client_said said;
	char idem[64], why[256];

	text_random_name(idem); /* each command is an act of its own */
	if (CLIENT_SAY(client, audit, audit, &said, why, .shop = shop, .key = shop, .idem = idem) == 0)
		return EXIT_FINE;
	complain(command, "%s: %s", otherwise, why);
	return EXIT_NO;
}

int record_act(const struct command *command, struct client *client, const char *verb, const json_t *what)
{
	const char *shop = json_string_value(json_object_get(what, "shop"));
	Audit audit = { .at_us = clock_wall_us(&command->clock) };

	TEXT_COPY(audit.action, verb);
	TEXT_COPY(audit.who, operator_name());
	write_grounds(what, &audit);
	return say_audit(command, client, shop && *shop ? shop : SHOP_OF_ALL, &audit, NOTHING_DONE);
}

int record_change(const struct command *command, struct client *client, const struct record *record)
{
	Audit audit = { .at_us = clock_wall_us(&command->clock) };

	TEXT_COPY(audit.action, record->action);
	TEXT_COPY(audit.who, record->who ? record->who : operator_name());
	TEXT_COPY(audit.grounds, record->grounds ? record->grounds : "");
	TEXT_COPY(audit.before, record->before ? record->before : "");
	TEXT_COPY(audit.after, record->after ? record->after : "");
	return say_audit(
		command, client, record->shop, &audit, record->done_all_the_same ? DONE_ALL_THE_SAME : NOTHING_DONE);
}

bool record_can(const struct command *command)
{
	const char *broker = config_get(command->config, "connect", NULL, "broker");
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/control", config_get(command->config, "paths", NULL, "run"));
	return *broker || access(path, F_OK) == 0;
}

void record_not(const struct command *command)
{
	complain(command, "note: no broker runs here, so this is not on record");
}

void record_file(const struct command *command, const struct record *record)
{
	struct record after = *record;
	struct client *client = NULL;
	char why[256];

	if (!record_can(command) ||
		client_open(&cartbus, command->config, &command->clock, FILE_PATIENCE_US, &client, why)) {
		record_not(command);
		return;
	}
	after.done_all_the_same = true;
	record_change(command, client, &after);
	client_free(client);
}

json_t *record_and_ask(const struct command *command, struct client *client, const char *verb, json_t *what)
{
	if (record_act(command, client, verb, what) == EXIT_FINE)
		return command_ask(command, client, verb, what);
	json_decref(what);
	return NULL;
}
