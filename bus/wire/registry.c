/*
 * registry.c: the peers that may connect, their names, and their rights
 *
 * Promises:  a peer is known only if it is written down, or covered by "shared"; no key and no user stands
 *            for two peers.
 * Fails by:  -EINVAL with file, section and what was expected: an inconsistent registry is not used at all.
 * Read next: gate.c (asks at each connection), ../session/hello.c (asks at each hello)
 */
#include "bus/wire/registry.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each gateway that ever came holds up all claims while it is away: a lost key must not bring many of them. */
enum { PEERS_BYTES_MAX = 1 << 20, SESSIONS_MOST = 64, GATEWAYS_MOST = 4 };

static bool is_rights(const char *value)
{
	unsigned rights;

	return rights_parse(value, &rights) == 0;
}

static bool is_public(const char *value)
{
	uint8_t key[CURVE_KEY];

	return text_unhex(value, key, CURVE_KEY);
}

static const struct config_key peer_keys[] = {
	{ "key", "service", NULL, "what it may be; several with blanks between", .named = true,
		.kind = CONFIG_TEXT(127) },
	{ "key", "instance", "*", "pattern of the instance's name", .named = true, .kind = CONFIG_TEXT(63) },
	{ "key", "names", "", "how many instances it may be", .named = true,
		.kind = CONFIG_COUNT(1, IDENTITY_NAMES_MOST) },
	{ "key", "rights", "default", "as for [user NAME]", .named = true,
		.kind = CONFIG_JUDGED(RIGHTS_EXPECTED, 200, is_rights) },
	{ "key", "public", NULL, "64 hex digits", .repeated = IDENTITY_KEYS_MAX, .named = true,
		.kind = CONFIG_JUDGED("a public key of 64 hex digits", CURVE_HEX, is_public) },
	CONFIG_END,
};

static const char *const right_names[] = { "publish", "hear", "fold", "claim", "tap", "clear", "ask", "operate" };
enum { RIGHT_COUNT = sizeof(right_names) / sizeof(right_names[0]) };

struct registry {
	struct identity **all;
	size_t count;
	struct map *by_who; /* struct identity */
};

struct reading {
	struct registry *registry;
	const struct config *config;
	const char *file, *section;
	struct identity *identity; /* the identity being read */
	struct config_error *error;
};

/* --- rights --- */

static int right_parse(const char *word, size_t len, unsigned *rights)
{
	for (int i = 0; i < RIGHT_COUNT; i++) {
		if (strlen(right_names[i]) == len && strncmp(right_names[i], word, len) == 0) {
			*rights |= 1U << i;
			return 0;
		}
	}
	return -EINVAL;
}

int rights_parse(const char *text, unsigned *ret)
{
	bool all = strcmp(text, "all") == 0;
	size_t len;

	*ret = 0;
	if (all || strcmp(text, "default") == 0) {
		*ret = all ? RIGHTS_ALL : RIGHTS_DEFAULT;
		return 0;
	}
	for (; (len = strcspn(text += strspn(text, " "), " ")) > 0; text += len)
		if (right_parse(text, len, ret) < 0)
			return -EINVAL;
	return *ret ? 0 : -EINVAL;
}

void rights_print(unsigned rights, char ret[96])
{
	size_t len = 0;

	ret[0] = '\0';
	for (int i = 0; i < RIGHT_COUNT; i++)
		if (rights & 1U << i)
			len += (size_t)snprintf(ret + len, 96 - len, "%s%s", len ? " " : "", right_names[i]);
}

/* --- reading --- */

static int refuse(struct reading *reading, const char *name, const char *what)
{
	snprintf(reading->error->text, sizeof(reading->error->text), "%s: [%s %s]: %s", reading->file, reading->section,
		name, what);
	return -EINVAL;
}

static struct identity *identity_new(struct registry *registry, const char *name)
{
	struct identity *identity = memory_new(sizeof(*identity));

	TEXT_COPY(identity->name, name);
	TEXT_COPY(identity->instance, "*");
	registry->all = memory_resize(registry->all, (registry->count + 1) * sizeof(*registry->all));
	registry->all[registry->count++] = identity;
	return identity;
}

static bool enroll(struct registry *registry, const char *who, struct identity *identity)
{
	if (map_get(registry->by_who, bytes_of(who)))
		return false;
	map_put(registry->by_who, bytes_of(who), identity);
	return true;
}

static bool enroll_uid(struct registry *registry, unsigned long uid, struct identity *identity)
{
	char who[WHO_MAX];

	snprintf(who, sizeof(who), "uid:%lu", uid);
	return enroll(registry, who, identity);
}

/* Reads the keys that sections of users and of keys share. */
static int read_identity(struct reading *reading, const char *name)
{
	const char *service = config_get(reading->config, reading->section, name, "service");

	if (!*name || strlen(name) >= IDENTITY_NAME_MAX || strchr(name, '/') || text_has_control(name))
		return refuse(reading, name, "a name has 1 to 63 characters and no slash");
	reading->identity = identity_new(reading->registry, name);
	if (!service || !*service || !TEXT_COPY(reading->identity->service, service))
		return refuse(reading, name, "service says what it may be, as in \"service = sender\"");
	if (!TEXT_COPY(reading->identity->instance, config_get(reading->config, reading->section, name, "instance")))
		return refuse(reading, name, "a pattern of an instance has at most 63 bytes");
	reading->identity->names = (uint32_t)config_number(reading->config, reading->section, name, "names");
	if (rights_parse(config_get(reading->config, reading->section, name, "rights"), &reading->identity->rights) < 0)
		return refuse(reading, name,
			"rights are \"default\", \"all\", or some of: publish hear fold claim tap clear ask operate");
	return 0;
}

static int read_public(const char *value, void *context)
{
	struct reading *reading = context;
	struct identity *identity = reading->identity;
	char who[WHO_MAX];

	if (identity->key_count == IDENTITY_KEYS_MAX)
		return refuse(reading, identity->name, "more public keys than an identity may have (4)");
	if (!text_unhex(value, identity->keys[identity->key_count++], CURVE_KEY))
		return refuse(reading, identity->name, "a public key has 64 hex digits");
	snprintf(who, sizeof(who), "key:%s", value);
	if (!enroll(reading->registry, who, identity))
		return refuse(reading, identity->name, "this public key is there already");
	return 0;
}

static int read_key(const char *name, void *context)
{
	struct reading *reading = context;
	int r = read_identity(reading, name);

	if (r < 0)
		return r;
	r = config_each_value(reading->config, "key", name, "public", read_public, reading);
	if (r == 0 && reading->identity->key_count == 0)
		return refuse(reading, name, "it has no public key");
	return r;
}

static int read_user(const char *name, void *context)
{
	struct reading *reading = context;
	int r = read_identity(reading, name);
	char *end;

	if (r < 0)
		return r;
	reading->identity->is_user = true;
	reading->identity->uid = strtoul(name, &end, 10);
	if (*end) {
		const struct passwd *user = getpwnam(name);

		if (!user)
			return refuse(reading, name, "there is no such user on this machine");
		reading->identity->uid = user->pw_uid;
	}
	if (!enroll_uid(reading->registry, reading->identity->uid, reading->identity))
		return refuse(reading, name, "another section stands for this user");
	return 0;
}

static struct registry *registry_new(void)
{
	struct registry *registry = memory_new(sizeof(*registry));

	registry->by_who = map_new();
	return registry;
}

void registry_free(struct registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->count; i++)
		free(registry->all[i]);
	free(registry->all);
	map_free(registry->by_who);
	free(registry);
}

DEFINE_CLEANUP(struct config *, config_free)

static int add_peers(struct registry *registry, const char *text, const char *name, struct config_error *ret_error)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct reading reading = { .registry = registry, .file = name, .section = "key", .error = ret_error };
	int r = config_parse(text, name, peer_keys, &config, ret_error);

	reading.config = config;
	return r < 0 ? r : config_each_section(config, "key", read_key, &reading);
}

/*
 * A user with the broker's own uid, or root's, could read its log and trace it: names among such users prove
 * nothing. A section for such a user is valid all the same.
 */
static void share(struct registry *registry)
{
	struct identity *identity = identity_new(registry, "(shared)");

	TEXT_COPY(identity->service, "*");
	identity->rights = RIGHTS_ALL;
	identity->names = IDENTITY_NAMES_MOST;
	identity->is_user = true;
	identity->uid = geteuid();
	enroll_uid(registry, geteuid(), identity);
	enroll_uid(registry, 0, identity);
}

static int add_users(struct registry *registry, const struct config *config, struct config_error *ret_error)
{
	struct reading reading = {
		.registry = registry, .config = config, .file = "cartbus.conf", .section = "user", .error = ret_error
	};
	int r = config_each_section(config, "user", read_user, &reading);

	if (r < 0)
		return r;
	if (config_word(config, "broker", NULL, "users") == USERS_SHARED)
		share(registry);
	return 0;
}

static int read_peers(const struct config *config, struct registry *registry, struct config_error *ret_error)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/peers.conf", config_get(config, "paths", NULL, "keys"));
	r = file_read(path, PEERS_BYTES_MAX, &text);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		snprintf(ret_error->text, sizeof(ret_error->text), "%s cannot be read: %s", path, strerror(-r));
	return r < 0 ? r : add_peers(registry, buffer_text(&text), path, ret_error);
}

int registry_load(const struct config *config, struct registry **ret, struct config_error *ret_error)
{
	struct registry *registry = registry_new();
	int r = add_users(registry, config, ret_error);

	r = r < 0 ? r : read_peers(config, registry, ret_error);
	if (r < 0)
		registry_free(registry);
	else
		*ret = registry;
	return r;
}

int registry_parse_peers(const char *text, const char *name, struct registry **ret, struct config_error *ret_error)
{
	struct registry *registry = registry_new();
	int r = add_peers(registry, text, name, ret_error);

	if (r < 0)
		registry_free(registry);
	else
		*ret = registry;
	return r;
}

/* --- asking --- */

const struct identity *registry_find(const struct registry *registry, const char *who)
{
	return map_get(registry->by_who, bytes_of(who));
}

const struct identity *registry_at(const struct registry *registry, size_t index)
{
	return index < registry->count ? registry->all[index] : NULL;
}

bool identity_may_be(const struct identity *identity, const char *service, const char *instance)
{
	const char *word = identity->service;
	size_t len;

	if (fnmatch(identity->instance, instance, 0) != 0)
		return false;
	for (; (len = strcspn(word += strspn(word, " "), " ")) > 0; word += len)
		if ((len == 1 && *word == '*') || (strlen(service) == len && strncmp(word, service, len) == 0))
			return true;
	return false;
}

/* A pattern without wildcards is one name. */
static uint32_t names_most(const struct identity *identity, uint32_t otherwise)
{
	return identity->names ? identity->names : strpbrk(identity->instance, "*?[") ? otherwise : 1;
}

uint32_t identity_sessions_most(const struct identity *identity)
{
	return names_most(identity, SESSIONS_MOST);
}

uint32_t identity_gateways_most(const struct identity *identity)
{
	return names_most(identity, GATEWAYS_MOST);
}
