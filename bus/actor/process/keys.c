/*
 * keys.c: the folder of CURVE keys, for the operator's command
 *
 * Promises:  a secret is written once, whole, with mode 0600, for the owner of the folder; peers.conf is
 *            replaced whole, and only by a text that the broker can read; two commands at once do not undo
 *            each other.
 * Fails by:  a negative errno, and the reason in words.
 * Read next: ../wire/registry.c (what peers.conf means), ../wire/curve.c
 */
#include "bus/actor/process/keys.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/broker_endpoint.h"
#include "bus/wire/registry.h"
#include "bus/wire/zmq_link.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PEERS_MAX_BYTES = 1 << 20, PEERS_MODE = 0640, DURING_ROTATION = 2 };

static const char PREAMBLE[] = "# Who may come over TCP, as what. Written by \"cartbus keys\"; the broker reads it "
			       "when it starts, on SIGHUP,\n"
			       "# and when \"cartbus keys\" tells it to.\n";

/* peers.conf while it is being changed */
struct ledger {
	const char *folder;
	char path[PATH_MAX];
	int lock;
	struct registry *registry;
};

static const char *folder_of(const struct config *config)
{
	return config_get(config, "paths", NULL, "keys");
}

static int cannot(const char *what, const char *path, int error, char why[512])
{
	snprintf(why, 512, "cannot %s %.400s: %s", what, path, strerror(-error));
	return error;
}

/* --- files --- */

/* Files that root writes get the owner of the folder: the broker runs as that user. */
static const struct file_owner *owner_of(const char *folder, struct file_owner *ret)
{
	struct stat there;

	if (geteuid() != 0 || stat(folder, &there) < 0)
		return NULL;
	*ret = (struct file_owner){ there.st_uid, there.st_gid };
	return ret;
}

static int write_file(const char *folder, const char *name, const char *text, mode_t mode, char why[512])
{
	struct file_owner owner;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	r = file_write_durably_for(path, bytes_of(text), mode, owner_of(folder, &owner));
	return r < 0 ? cannot("write", path, r, why) : 0;
}

static int write_secret(const char *folder, const char *name, const struct curve_pair *pair, char why[512])
{
	char hex[CURVE_HEX + 1], file[IDENTITY_NAME_MAX + 8];
	int r;

	text_hex(pair->secret_key, CURVE_KEY, hex);
	hex[CURVE_HEX - 1] = '\n';
	hex[CURVE_HEX] = '\0';
	snprintf(file, sizeof(file), "%s.key", name);
	r = write_file(folder, file, hex, 0600, why);
	explicit_bzero(hex, sizeof(hex));
	return r;
}

static bool is_there(const char *folder, const char *name, const char *ending)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s%s", folder, name, ending);
	return access(path, F_OK) == 0;
}

static int write_broker_public(const char *folder, char why[512])
{
	char hex[CURVE_HEX + 1];
	struct curve_pair pair;
	int r = curve_read_pair(folder, curve_broker_name, &pair, why);

	if (r < 0)
		return r;
	text_hex(pair.public_key, CURVE_KEY, hex);
	curve_wipe(&pair);
	hex[CURVE_HEX - 1] = '\n';
	hex[CURVE_HEX] = '\0';
	return write_file(folder, "broker.pub", hex, 0644, why);
}

int keys_prepare(const struct config *config, char ret_why[512])
{
	const char *folder = folder_of(config);
	struct curve_pair pair;
	int r = file_make_folders(folder, 0700);

	if (r < 0)
		return cannot("make the folder", folder, r, ret_why);
	if (!is_there(folder, curve_broker_name, ".key")) {
		curve_make(&pair);
		r = write_secret(folder, curve_broker_name, &pair, ret_why);
		curve_wipe(&pair);
	}
	if (r == 0 && !is_there(folder, curve_broker_name, ".pub"))
		r = write_broker_public(folder, ret_why);
	return r;
}

/* --- peers.conf --- */

static int read_ledger(struct ledger *ledger, char why[512])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	int r = file_read(ledger->path, PEERS_MAX_BYTES, &text);

	if (r < 0 && r != -ENOENT)
		return cannot("read", ledger->path, r, why);
	r = registry_parse_peers(buffer_text(&text), ledger->path, &ledger->registry, &error);
	if (r < 0)
		snprintf(why, 512, "%.511s", error.text);
	return r;
}

static int open_ledger(struct ledger *ledger, const struct config *config, bool to_change, char why[512])
{
	char lock[PATH_MAX];
	int r;

	*ledger = (struct ledger){ .folder = folder_of(config), .lock = -1 };
	snprintf(ledger->path, sizeof(ledger->path), "%s/peers.conf", ledger->folder);
	if (to_change) {
		r = keys_prepare(config, why);
		if (r < 0)
			return r;
		snprintf(lock, sizeof(lock), "%s/.lock", ledger->folder);
		r = file_lock(lock, &ledger->lock);
		if (r < 0)
			return cannot("lock (is another \"cartbus keys\" at work?)", lock, r, why);
	}
	return read_ledger(ledger, why);
}

static void close_ledger(struct ledger *ledger)
{
	registry_free(ledger->registry);
	if (ledger->lock >= 0)
		close(ledger->lock);
}

_Static_assert((int)KEYS_NAMES_MOST == (int)IDENTITY_NAMES_MOST, "as the registry reads it");

static void print_identity(const struct identity *identity, struct buffer *to)
{
	char rights[96], hex[CURVE_HEX];

	rights_print(identity->rights, rights);
	buffer_printf(to, "\n[key %s]\nservice = %s\ninstance = %s\nrights = %s\n", identity->name, identity->service,
		identity->instance, rights);
	if (identity->names)
		buffer_printf(to, "names = %u\n", identity->names);
	for (int i = 0; i < identity->key_count; i++) {
		text_hex(identity->keys[i], CURVE_KEY, hex);
		buffer_printf(to, "public = %s\n", hex);
	}
}

/* Writes the new peers.conf; it is parsed once more, as the broker will, before it replaces the old one. */
static int write_ledger(
	const struct ledger *ledger, const struct identity *changed, const char *left_out, char why[512])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	const struct identity *identity;
	struct registry *proof = NULL;
	struct config_error error;
	bool written = false;

	buffer_add_text(&text, PREAMBLE);
	for (size_t i = 0; (identity = registry_at(ledger->registry, i)); i++) {
		bool is_changed = changed && strcmp(identity->name, changed->name) == 0;

		if (!left_out || strcmp(identity->name, left_out) != 0)
			print_identity(is_changed ? changed : identity, &text);
		written = written || is_changed;
	}
	if (changed && !written)
		print_identity(changed, &text);
	if (registry_parse_peers(buffer_text(&text), "what was to be written", &proof, &error) < 0) {
		snprintf(why, 512, "%.511s", error.text);
		return -EINVAL;
	}
	registry_free(proof);
	return write_file(ledger->folder, "peers.conf", buffer_text(&text), PEERS_MODE, why);
}

static const struct identity *find(const struct ledger *ledger, const char *name)
{
	const struct identity *identity;

	for (size_t i = 0; (identity = registry_at(ledger->registry, i)); i++)
		if (strcmp(identity->name, name) == 0)
			return identity;
	return NULL;
}

/* --- the operator's actions --- */

static int add_key(const struct ledger *ledger, struct identity *identity, char why[512])
{
	struct curve_pair pair;
	int r;

	curve_make(&pair);
	memcpy(identity->keys[identity->key_count++], pair.public_key, CURVE_KEY);
	r = write_ledger(ledger, identity, NULL, why);
	if (r == 0)
		r = write_secret(ledger->folder, identity->name, &pair, why);
	curve_wipe(&pair);
	return r;
}

static int check_name(const char *name, char why[512])
{
	if (*name && strlen(name) < IDENTITY_NAME_MAX &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(name) &&
		strcmp(name, curve_broker_name) != 0)
		return 0;
	snprintf(why, 512, "\"%.64s\" is no name for a key: a-z, 0-9, - and _, and not \"broker\"", name);
	return -EINVAL;
}

static int make(const struct ledger *ledger, const struct keys_peer *peer, const char *rights, char why[512])
{
	struct identity identity = { .is_user = false };

	if (find(ledger, peer->name) || is_there(ledger->folder, peer->name, ".key")) {
		snprintf(why, 512, "there is a key %s already: rotate or revoke it, or remove %s/%s.key", peer->name,
			ledger->folder, peer->name);
		return -EEXIST;
	}
	if (rights_parse(rights, &identity.rights) < 0) {
		snprintf(why, 512,
			"\"%.64s\" are no rights; say default, all, or some of publish hear fold claim tap clear ask "
			"operate",
			rights);
		return -EINVAL;
	}
	TEXT_COPY(identity.name, peer->name);
	TEXT_COPY(identity.service, peer->service);
	TEXT_COPY(identity.instance, peer->instance);
	identity.names = peer->names;
	return add_key(ledger, &identity, why);
}

int keys_make(const struct config *config, const struct keys_peer *peer, const char *rights, char ret_why[512])
{
	struct ledger ledger;
	int r = check_name(peer->name, ret_why);

	if (r < 0)
		return r;
	r = open_ledger(&ledger, config, true, ret_why);
	r = r < 0 ? r : make(&ledger, peer, rights, ret_why);
	close_ledger(&ledger);
	return r;
}

static int unknown(const char *name, char why[512])
{
	snprintf(why, 512, "no key \"%.64s\" is registered; \"cartbus keys list\" shows those that are", name);
	return -ENOENT;
}

static int rotate(const struct ledger *ledger, const char *name, char why[512])
{
	const struct identity *known = find(ledger, name);
	struct identity identity;

	if (!known)
		return unknown(name, why);
	identity = *known;
	if (identity.key_count >= DURING_ROTATION) {
		snprintf(why, 512,
			"%s is being rotated: when its host has the new key, \"cartbus keys rotate %s --finish\"", name,
			name);
		return -EBUSY;
	}
	return add_key(ledger, &identity, why);
}

int keys_rotate(const struct config *config, const char *name, char ret_why[512])
{
	struct ledger ledger;
	int r = open_ledger(&ledger, config, true, ret_why);

	r = r < 0 ? r : rotate(&ledger, name, ret_why);
	close_ledger(&ledger);
	return r;
}

static int finish(const struct ledger *ledger, const char *name, char why[512])
{
	const struct identity *known = find(ledger, name);
	struct identity identity;

	if (!known)
		return unknown(name, why);
	identity = *known;
	memmove(identity.keys[0], identity.keys[identity.key_count - 1], CURVE_KEY);
	identity.key_count = 1;
	return write_ledger(ledger, &identity, NULL, why);
}

int keys_finish(const struct config *config, const char *name, char ret_why[512])
{
	struct ledger ledger;
	int r = open_ledger(&ledger, config, true, ret_why);

	r = r < 0 ? r : finish(&ledger, name, ret_why);
	close_ledger(&ledger);
	return r;
}

static int strike(const struct ledger *ledger, const char *name, char why[512])
{
	char path[PATH_MAX];
	int r;

	if (!find(ledger, name))
		return unknown(name, why);
	r = write_ledger(ledger, NULL, name, why);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/%s.key", ledger->folder, name);
	return unlink(path) < 0 && errno != ENOENT ? cannot("remove", path, -errno, why) : 0;
}

int keys_revoke(const struct config *config, const char *name, char ret_why[512])
{
	struct ledger ledger;
	int r = open_ledger(&ledger, config, true, ret_why);

	r = r < 0 ? r : strike(&ledger, name, ret_why);
	close_ledger(&ledger);
	return r;
}

int keys_each(const struct config *config, void (*each)(const struct keys_peer *peer, void *context), void *context,
	char ret_why[512])
{
	const struct identity *identity;
	struct ledger ledger;
	int r = open_ledger(&ledger, config, false, ret_why);

	for (size_t i = 0; r == 0 && (identity = registry_at(ledger.registry, i)); i++) {
		struct keys_peer peer = { identity->name, identity->service, identity->instance, "", identity->names,
			{ "" }, identity->key_count, is_there(ledger.folder, identity->name, ".key") };

		rights_print(identity->rights, peer.rights);
		for (int k = 0; k < identity->key_count; k++)
			text_hex(identity->keys[k], CURVE_KEY, peer.public_key[k]);
		each(&peer, context);
	}
	close_ledger(&ledger);
	return r;
}

/* --- checks --- */

struct checking {
	keys_complain_fn *complain;
	void *context;
	int wrong;
};

/* A user who may not read a key cannot tell whether it is right. */
static void complain(struct checking *checking, int error, const char *what)
{
	checking->complain(what, error, checking->context);
	checking->wrong += error != -EACCES;
}

static void check_broker(struct checking *checking, const struct config *config)
{
	const char *listen = config_get(config, "broker", NULL, "listen");
	struct curve_pair pair;
	char why[256];
	int r;

	if (!listen || !*listen)
		return;
	r = broker_endpoint_listen_try(listen, why);
	if (r < 0)
		complain(checking, r, why);
	r = curve_read_pair(folder_of(config), curve_broker_name, &pair, why);
	if (r < 0)
		complain(checking, r, why);
	curve_wipe(&pair);
}

static void check_secrets(struct checking *checking, const struct config *config, const struct registry *registry)
{
	const struct identity *identity;
	struct curve_pair pair;
	char why[256];
	int r;

	for (size_t i = 0; (identity = registry_at(registry, i)); i++) {
		if (identity->is_user || !is_there(folder_of(config), identity->name, ".key"))
			continue;
		r = curve_read_pair(folder_of(config), identity->name, &pair, why);
		if (r < 0)
			complain(checking, r, why);
		curve_wipe(&pair);
	}
}

/* Over TCP every service shows a key of its own, or the one that [connect] key names. */
static void check_connect(struct checking *checking, const struct config *config)
{
	const char *key = config_get(config, "connect", NULL, "key");
	struct broker_endpoint broker;
	char why[256];
	int r;

	r = key && *key ? broker_endpoint_read(config, key, &broker, why) : 0;
	if (r < 0)
		complain(checking, r, why);
	curve_wipe(&broker.key);
}

int keys_check(const struct config *config, keys_complain_fn *say, void *context)
{
	struct checking checking = { .complain = say, .context = context };
	struct registry *registry = NULL;
	struct config_error error;
	int r;

	check_broker(&checking, config);
	check_connect(&checking, config);
	r = registry_load(config, &registry, &error);
	if (r < 0)
		complain(&checking, r, error.text);
	else
		check_secrets(&checking, config, registry);
	registry_free(registry);
	return checking.wrong;
}

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
	struct broker_endpoint broker;
	char why[256] = "";
	int r = broker_endpoint_read_as(config, name, &broker, why);

	each(name, r < 0 ? r : handshake_try(&broker, PATIENCE_US), why, context);
	curve_wipe(&broker.key);
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
