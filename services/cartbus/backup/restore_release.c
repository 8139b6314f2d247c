/*
 * restore_release.c: `cartbus restore --release`: lets mails go on over a restored log
 *
 * Promises:  before the first mail, the log has all that was learnt: what was mailed, and what forbids a
 *            mail; and gateways have drained from their spools what they accepted while the log was away.
 *            What cannot be known is told with numbers, and needs a flag. secrets/address.key is the key by
 *            which the log names people. To check that, rows of carts, which hold an address and its hash,
 *            are read up to the first that fits: for a log that fits, this reads next to nothing.
 * Fails by:  releasing nothing. A second run goes on, and tells if mails are claimed already.
 * Read next: restore.c, recover_sends_publish.c, bus/broker/queue/claim.c (why nothing is claimed)
 */
#include "services/cartbus/backup/restore.h"

#include "bus/actor/client.h"
#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "proto/platform_topics.h"
#include "services/cartbus/backup/recover_sends.h"
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- is secrets/address.key the key by which the log names people? ---- */

/*
 * A newly installed machine has its own key before the backup comes, and the form of a key does not tell to
 * which log it belongs. So an address of the log is hashed with the key, and compared with the hash beside
 * it.
 */
struct comparing {
	struct bytes key;
	uint64_t to;
	size_t others; /* rows whose hash is of another key */
	bool fits;
};

static bool compare(const struct entry *entry, void *context)
{
	struct comparing *comparing = context;
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);
	char hash[ADDRESS_HASH_LEN + 1];

	if (entry->seq > comparing->to)
		return false;
	if (!cart || !*cart->ids.email || !*cart->ids.email_hash)
		return true;
	address_hash(comparing->key, entry->shop, cart->ids.email, hash);
	comparing->fits = strcmp(hash, cart->ids.email_hash) == 0;
	comparing->others += !comparing->fits;
	return !comparing->fits;
}

/*
 * EXIT_FINE: the key fits an address in the log up to message `to`, or no message there has an address.
 * EXIT_NO: the key cannot be read, or is another one; it complained. With another key no opt-out, bounce or
 * complaint of the log is found again, and those people are mailed.
 */
static int address_key_check(const struct command *command, struct client *client, uint64_t to)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct comparing comparing = { .to = to };
	char path[PATH_ROOM];
	int failed = name_key(command, &key), ended;

	command_secret_path(command, "address.key", path);
	if (failed) {
		complain(command, "the key of addresses cannot be read: %s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	comparing.key = buffer_bytes(&key);
	ended = reading_each(
		command, client, &(struct reading_filter){ .topic = topic_cart_state.name }, compare, &comparing);
	if (ended || comparing.fits || comparing.others == 0)
		return ended;
	complain(command,
		"%s is not the key by which this log names people: none of the %zu rows of carts with an address fits "
		"it. Who "
		"opted out would not be known, and be mailed. Put back the copy of address.key that was kept with the "
		"backup, restart the services, and run this again",
		path, comparing.others);
	return EXIT_NO;
}

enum { PATH_BYTES = 900, SPOOL_LOOKS = 100 };
#define SPOOL_LOOK_US (100 * US_PER_MS)

DEFINE_CLEANUP(DIR *, closedir)

/* ---- what cannot be known ---- */

static int check_mails(const struct command *command, const json_t *note)
{
	if (member_number(note, "stores") > 0)
		return EXIT_FINE;
	complain(command,
		"no sender's or waiter's state was found beside the log: what was mailed after the backup is not "
		"known, and may be mailed again. --unlearnt accepts that");
	return EXIT_NO;
}

static int is_put_away(const struct dirent *entry)
{
	return text_starts(entry->d_name, SIDELOG_FILE SIDELOG_OF);
}

static void tell_put_away(const struct command *command, const char *state)
{
	struct dirent **entries = NULL;
	char folder[PATH_BYTES];
	int count;

	snprintf(folder, sizeof(folder), "%.500s/" SIDELOG_FOLDER, state);
	count = scandir(folder, &entries, is_put_away, alphasort);
	for (int i = 0; i < count; i++) {
		complain(command, "%s/%s was put away, and cartbus restore DIR learns from it", folder,
			entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static int check_stops(const struct command *command, const char *state, const json_t *note)
{
	json_t *stops;

	if (json_is_true(json_object_get(note, "covered")))
		return EXIT_FINE;
	stops = recover_sends_count(json_object_get(note, "said"), json_object_get(note, "modes"));
	complain(command,
		"not all that forbids a mail is known: the backup ends at message %lld, what survived tells of %lld "
		"opt-outs "
		"and %lld orders up to message %lld, and nothing tells what came after that. Who opted out, bought or "
		"was "
		"stopped then would be mailed. Bring a copy of the side log (cartbus restore DIR --sidelog FILE), have "
		"the storefront send its orders again (cartbus reconcile), stop shops where you are in doubt (cartbus "
		"stop); --unlearnt then accepts the rest",
		(long long)member_number(note, "head"), (long long)member_number(stops, "opt_outs"),
		(long long)member_number(stops, "orders"), (long long)member_number(note, "known_to"));
	json_decref(stops);
	tell_put_away(command, state);
	return EXIT_NO;
}

/*
 * The log was given another identity by hand: the broker knows only that messages may be missing, not which.
 */
static int check_identity(const struct command *command, const char *state)
{
	complain(command,
		"this log was given another identity (cartbus-broker --new-identity), and no restore has learnt what "
		"it lacks: who was mailed, opted out, bought or was stopped and is not in it would be mailed. cartbus "
		"restore DIR learns that from the services' states and the side log; else have the storefront send its "
		"orders again (cartbus reconcile) and stop shops where you are in doubt (cartbus stop). --unlearnt "
		"then accepts the rest");
	tell_put_away(command, state);
	return EXIT_NO;
}

/*
 * Checks only messages of the backup, because carts that came later are named by the key that is there now.
 */
static int check_key(const struct command *command, const json_t *note)
{
	struct client *client = command_connect(command);
	int ended = address_key_check(command, client, note ? (uint64_t)member_number(note, "head") : UINT64_MAX);

	client_free(client);
	return ended;
}

/* ---- the messages that gateways accepted ---- */

/* 1: it does; 0: it does not, or there is no such folder; a negative errno: that is not known. */
static int holds_spool(const char *folder)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;

	if (!listing)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while ((errno = 0, entry = readdir(listing)))
		if (strstr(entry->d_name, ".spool"))
			return 1;
	return -errno;
}

/*
 * A gateway removes the files of its spool when it has drained. A gateway that the log does not know any more
 * holds up no claim, so this function looks for its files. Returns what holds_spool() does, of the folder `ret`.
 */
static int find_spool(const char *state, char ret[PATH_BYTES])
{
	_cleanup_(closedirp) DIR *listing = opendir(state);
	struct dirent *entry;
	int r = 0;

	snprintf(ret, PATH_BYTES, "%s", state);
	if (!listing)
		return -errno;
	while (r == 0 && (errno = 0, entry = readdir(listing))) {
		if (entry->d_name[0] == '.' || text_starts(entry->d_name, "before-restore-"))
			continue;
		snprintf(ret, PATH_BYTES, "%.500s/%.200s/spool", state, entry->d_name);
		r = holds_spool(ret);
	}
	return r ? r : -errno;
}

static int wait_for_spools(const struct command *command, const char *state)
{
	char path[PATH_BYTES];
	int r;

	for (int i = 0; i < SPOOL_LOOKS && find_spool(state, path) > 0; i++)
		usleep(SPOOL_LOOK_US);
	r = find_spool(state, path);
	if (r == 0)
		return EXIT_FINE;
	if (r < 0) {
		complain(command, "%s cannot be read, and may hold opt-outs that were answered 200: %s", path,
			strerror(-r));
		return EXIT_NO;
	}
	complain(command,
		"%s holds what was answered 200 while the log was away, opt-outs among it perhaps: start its gateway, "
		"and run this again when it has taken it in (cartbus status)",
		path);
	return EXIT_NO;
}

/* ---- the release ---- */

static int put_on_record(const struct command *command, const json_t *note)
{
	json_t *stops = recover_sends_count(json_object_get(note, "said"), json_object_get(note, "modes"));
	struct client *client = command_connect(command);
	char grounds[300];
	int ended;

	snprintf(grounds, sizeof(grounds),
		"from a backup that ended at message %lld; learnt again: %zu mails, %lld opt-outs, %lld orders, %lld "
		"acts of people, %lld privacy requests, %lld modes; %s",
		(long long)member_number(note, "head"), json_object_size(json_object_get(note, "sends")),
		(long long)member_number(stops, "opt_outs"), (long long)member_number(stops, "orders"),
		(long long)member_number(stops, "actions"), (long long)member_number(stops, "privacy_requests"),
		(long long)member_number(stops, "modes"),
		json_is_true(json_object_get(note, "covered")) ? "nothing is missing that anybody knew"
							       : "what else forbids a mail is not known");
	ended = record_change(
		command, client, &(struct record){ .shop = SHOP_OF_ALL, .action = "restored", .grounds = grounds });
	client_free(client);
	json_decref(stops);
	return ended;
}

/*
 * Without the note of a restore, it asks the broker: a log that was given a new identity by hand also waits
 * for a release.
 */
static int ask_whether_held(const struct command *command, bool *ret)
{
	struct client *client = command_connect(command);
	json_t *status = command_look(command, client, "status", NULL);

	client_free(client);
	*ret = json_is_true(json_object_get(status, "claims_held"));
	json_decref(status);
	return status ? EXIT_FINE : EXIT_NO;
}

static int claim_again(const struct command *command)
{
	struct client *client = command_connect(command);
	json_t *answer = command_ask(command, client, "claims.release", NULL);

	client_free(client);
	if (!answer)
		return EXIT_NO;
	if (command->json)
		json_print(answer);
	else
		puts(json_is_true(json_object_get(answer, "were_held"))
				? "Mails are claimed again."
				: "Mails were claimed already: there was nothing to release.");
	json_decref(answer);
	return EXIT_FINE;
}

static int release(const struct command *command, const char *state, const json_t *note)
{
	int ended = recover_sends_publish(command, json_object_get(note, "sends"));

	ended = ended
		? ended
		: recover_sends_publish_stops(command, json_object_get(note, "said"), json_object_get(note, "modes"));
	ended = ended ? ended : wait_for_spools(command, state);
	if (!ended && note)
		ended = put_on_record(command, note);
	return ended ? ended : claim_again(command);
}

int restore_release(const struct command *command, bool unlearnt, bool key_is_lost)
{
	const char *state = config_get(command->config, "paths", NULL, "state");
	char path[PATH_BYTES];
	bool is_held = true;
	json_t *note;
	int ended = restore_read_note(command, state, &note);

	if (!ended && !note)
		ended = ask_whether_held(command, &is_held);
	if (!ended && !is_held)
		return claim_again(command);
	if (!ended && !unlearnt && !note)
		ended = check_identity(command, state);
	else if (!ended && !unlearnt) {
		ended = check_mails(command, note);
		ended = check_stops(command, state, note) ? EXIT_NO : ended;
	}
	if (!ended && !key_is_lost)
		ended = check_key(command, note);
	ended = ended ? ended : release(command, state, note);
	json_decref(note);
	if (ended)
		return ended;
	snprintf(path, sizeof(path), "%s/restore.json", state);
	int r = unlink(path) == 0 || errno == ENOENT ? file_sync_folder(state) : -errno;
	if (r == 0)
		return EXIT_FINE;
	complain(command, "%s: %s: remove it, or the next restore takes it for its own", path, strerror(-r));
	return EXIT_NO;
}
