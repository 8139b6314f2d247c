/*
 * keys.c: `cartbus keys make | list | rotate | revoke`: the keys of processes that may connect over TCP
 *
 * Promises: no secret is printed; the command tells a running broker at once, and the broker ends a session
 *           whose key is no longer valid.
 * Fails by: EXIT_NO, and telling why. A broker that is away is no failure: it reads the list when it starts.
 */
#include "bus/actor/process/keys.h"
#include "bus/actor/client.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/up/subcommands.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_US (2 * US_PER_S)
enum { FINGERPRINT = 16 };

/* true: the broker has read the list anew. */
static bool tell_broker(const struct command *command, const char *name, const char *what)
{
	_cleanup_(buffer_free) struct buffer answer = { 0 };
	struct client *client = NULL;
	char why[256], grounds[160];
	int r;

	snprintf(grounds, sizeof(grounds), "key %.60s: %s", name, what);
	if (!record_can(command)) {
		record_not(command);
		return false;
	}
	r = client_open(&cartbus, command->config, &command->clock, PATIENCE_US, &client, why);
	if (r == 0)
		record_change(command, client,
			&(struct record){ .shop = SHOP_OF_ALL,
				.action = "key_changed",
				.grounds = grounds,
				.done_all_the_same = true });
	if (r == 0)
		r = client_ask(client, "keys.reload", "{}", &answer, why);
	if (r < 0)
		complain(command, "the broker was not told (%s); it reads the list when it starts", why);
	client_free(client);
	return r == 0;
}

static int changed(const struct command *command, const char *name, const char *what)
{
	const char *folder = config_get(command->config, "paths", NULL, "keys");
	bool told = tell_broker(command, name, what);

	if (command->json) {
		json_t *json =
			json_pack("{s:s,s:s,s:s,s:b}", "key", name, "done", what, "folder", folder, "told", told);

		json_print(json);
		json_decref(json);
	} else {
		printf("%s: %s\n", name, what);
	}
	return EXIT_FINE;
}

static int ended(const struct command *command, const char *name, const char *what, int failed, const char *why)
{
	if (failed) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	return changed(command, name, what);
}

/* true: the name is a program of this installation, or this command. */
static bool check_service(const struct command *command, const char *name)
{
	struct nearest nearest = nearest_begin(name);
	char program[PATH_ROOM];

	for (const char *const *one = programs_all; *one; one++) {
		if (strcmp(*one, name) == 0)
			return true;
		nearest_try(&nearest, *one);
	}
	snprintf(program, sizeof(program), "%s/cartbus-%s", programs_folder(), name);
	if (strcmp(name, cartbus.name) == 0 || (!strchr(name, '/') && access(program, X_OK) == 0))
		return true;
	complain(command, "there is no service \"%s\"%s%s%s; --service says which one the key is for, as sender", name,
		nearest.name ? "; did you mean \"" : "", nearest.name ? nearest.name : "", nearest.name ? "\"?" : "");
	return false;
}

int command_keys_make(struct command *command, int argc, char **argv)
{
	const char *name = NULL, *service = NULL, *instance = "*", *rights = "default", *names_text = "";
	const struct take takes[] = { { "service", "NAME", "what it may be (the key's name if not given)", &service,
					      NULL },
		{ "instance", "PATTERN", "instances it may be, as in 'sender-far*' (all)", &instance, NULL },
		{ "names", "N", "how many instances it may be (64 at a time, and 4 gateways)", &names_text, NULL },
		{ "rights", "WORDS", "some of publish hear fold claim tap clear ask operate (all but clear)", &rights,
			NULL },
		{ 0 } };
	char why[512] = "", *end;
	long names;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Makes a key for a service on another host: NAME.key in [paths] keys, for that host "
				"alone, and its "
				"public part in peers.conf, for the broker. That host needs broker.pub too.\v"
				"Example:\n  cartbus keys make sender-far --service sender --instance 'sender-far*'" });
	names = strtol(names_text, &end, 10);
	if (*names_text && (*end || names < 1 || names > KEYS_NAMES_MOST)) {
		complain(command, "--names takes a number from 1 to %d", KEYS_NAMES_MOST);
		return EXIT_USAGE;
	}
	if (!check_service(command, service ? service : name))
		return EXIT_USAGE;
	failed = keys_make(command->config,
		&(struct keys_peer){ .name = name,
			.service = service ? service : name,
			.instance = instance,
			.names = (uint32_t)names },
		rights, why);
	if (!failed && !command->json)
		printf("copy %s.key (as %s.key) and broker.pub from %s to [paths] keys of its host, over a safe way, "
		       "and remove %s.key here\n",
			name, service ? service : name, config_get(command->config, "paths", NULL, "keys"), name);
	return ended(command, name, "made", failed, why);
}

int command_keys_rotate(struct command *command, int argc, char **argv)
{
	const char *name = NULL;
	bool is_last = false;
	const struct take takes[] = { { "finish", NULL, "the old key is good no longer", NULL, &is_last }, { 0 } };
	char why[512] = "";
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Makes a new key; the old one stays good beside it. Bring the new NAME.key to its "
				"host, start the service there again, then rotate with --finish.\v"
				"Example:\n  cartbus keys rotate sender-far\n  cartbus keys rotate sender-far "
				"--finish" });
	failed = is_last ? keys_finish(command->config, name, why) : keys_rotate(command->config, name, why);
	return ended(command, name, is_last ? "only the newest key is good" : "the old and the new key are good",
		failed, why);
}

int command_keys_revoke(struct command *command, int argc, char **argv)
{
	const char *name = NULL;
	char why[512] = "";
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "All keys of NAME are good no longer, and what is connected with one is cut off at "
				"once.\vExample:\n  cartbus keys revoke sender-far" });
	failed = keys_revoke(command->config, name, why);
	return ended(command, name, "revoked", failed, why);
}

static void list_json(const struct keys_peer *peer, void *context)
{
	json_t *keys = json_array();

	for (int i = 0; i < peer->count; i++)
		json_array_append_new(keys, json_string(peer->public_key[i]));
	json_array_append_new(context,
		json_pack("{s:s,s:s,s:s,s:s,s:o,s:b}", "key", peer->name, "service", peer->service, "instance",
			peer->instance, "rights", peer->rights, "public", keys, "secret_is_here", peer->is_here));
}

static void list_line(const struct keys_peer *peer, void *context)
{
	int *count = context;

	printf("%-20s %-12s %-16s %s\n", peer->name, peer->service, peer->instance, peer->rights);
	for (int i = 0; i < peer->count; i++)
		printf("%20s %.*s...%s\n", "", FINGERPRINT, peer->public_key[i],
			peer->count > 1 ? (i == 0 ? "  the old one" : "  the new one") : "");
	++*count;
}

int command_keys_list(struct command *command, int argc, char **argv)
{
	json_t *array = json_array();
	char why[512] = "";
	int failed, count = 0;

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Who may come over TCP: name, service, instances, rights, and the public keys.\v"
				"Example:\n  cartbus keys list --json" });
	failed = command->json ? keys_each(command->config, list_json, array, why)
			       : keys_each(command->config, list_line, &count, why);
	if (failed)
		complain(command, "%s", why);
	else if (command->json)
		json_print_list("keys", json_incref(array));
	else if (count == 0)
		puts("no keys: nobody may come over TCP");
	json_decref(array);
	return failed ? EXIT_NO : EXIT_FINE;
}
