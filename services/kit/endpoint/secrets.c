/*
 * secrets.c: the webhook secrets of all shops
 *
 * Owns:      the secrets in memory, which is cleansed before it is freed.
 * Promises:  a changed file is used after the next secrets_look_again().
 * Fails by:  an error for the one shop; the other shops go on.
 */
#include "services/kit/endpoint/secrets.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/shop/shop.h"
#include "services/kit/storefront/secret_lines.h"
#include "services/kit/web/admin_link.h"
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The attributes that tell, without reading a file, whether it has changed. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

struct shop_secrets {
	struct secrets_pair pair;
	struct stamp current, previous;
	int current_error, previous_error;
	uint64_t looked; /* the value of secrets.look when its files were looked up last */
};

struct secrets {
	char shops[PATH_MAX / 2], folder[PATH_MAX / 2];
	struct buffer address_key, admin_key;
	struct keyring link_keys;
	struct map *by_shop;
	uint64_t look; /* counts the calls of secrets_look_again(), from 1 */
};

static void forget(struct buffer *secret)
{
	if (secret->data)
		OPENSSL_cleanse(secret->data, secret->room);
	buffer_free(secret);
	*secret = (struct buffer){ 0 };
}

static void check_key(const char *path, int read)
{
	if (read < 0)
		die_of_secret(path, read);
}

static void read_key(const struct secrets *secrets, const char *name, struct buffer *ret)
{
	char path[256];

	secret_in(secrets->folder, name, path);
	check_key(path, keyring_read_key(path, ret));
}

static void read_link_keys(struct secrets *secrets)
{
	char path[256];

	secret_in(secrets->folder, LINK_KEY, path);
	check_key(path, keyring_read(secrets->folder, LINK_KEY, &secrets->link_keys));
}

/* Without this key only the owner's links do not work. */
static void read_admin_key(struct secrets *secrets)
{
	char path[256];
	struct stat there;

	secret_in(secrets->folder, ADMIN_LINK_KEY, path);
	if (stat(path, &there) == 0 && there.st_size > 1) /* systemd hands over a line end for no key */
		read_key(secrets, ADMIN_LINK_KEY, &secrets->admin_key);
	else
		log_event(LOG_NOTICE,
			"there is no %s: the owner's links of the export do not work; `cartbus secrets make` makes it",
			path);
}

struct secrets *secrets_open(const char *shops_folder, const char *folder)
{
	struct secrets *secrets = memory_new(sizeof(*secrets));

	snprintf(secrets->shops, sizeof(secrets->shops), "%s", shops_folder);
	snprintf(secrets->folder, sizeof(secrets->folder), "%s", folder);
	read_key(secrets, "address.key", &secrets->address_key);
	read_link_keys(secrets);
	read_admin_key(secrets);
	secrets->by_shop = map_new();
	secrets->look = 1;
	return secrets;
}

static void forget_shop(struct bytes key, void *value, void *context)
{
	struct shop_secrets *shop = value;

	(void)key;
	(void)context;
	forget(&shop->pair.current);
	forget(&shop->pair.previous);
	free(shop);
}

void secrets_close(struct secrets *secrets)
{
	if (!secrets)
		return;
	map_each(secrets->by_shop, forget_shop, NULL);
	map_free(secrets->by_shop);
	forget(&secrets->address_key);
	keyring_clear(&secrets->link_keys);
	forget(&secrets->admin_key);
	free(secrets);
}

void secrets_look_again(struct secrets *secrets)
{
	secrets->look++;
}

struct bytes secrets_address_key(const struct secrets *secrets)
{
	return buffer_bytes(&secrets->address_key);
}

const struct keyring *secrets_link_keys(const struct secrets *secrets)
{
	return &secrets->link_keys;
}

struct bytes secrets_admin_key(const struct secrets *secrets)
{
	return buffer_bytes(&secrets->admin_key);
}

static int stamp_of(const char *path, struct stamp *ret)
{
	struct stat there;

	memset(ret, 0, sizeof(*ret)); /* padding too: stamps are compared as bytes */
	if (stat(path, &there) < 0)
		return -errno;
	ret->device = there.st_dev;
	ret->inode = there.st_ino;
	ret->size = there.st_size;
	ret->modified = there.st_mtim;
	ret->changed = there.st_ctim;
	return 0;
}

/* Reads the file if its stamp has changed, and renews the stamp. If it has not changed, returns `last`. */
static int refresh(const char *path, struct stamp *stamp, struct buffer *secret, int last)
{
	struct stamp now;
	int r = stamp_of(path, &now);

	if (r < 0) {
		forget(secret);
		*stamp = now;
		return r;
	}
	if (memcmp(&now, stamp, sizeof(now)) == 0)
		return last;
	forget(secret);
	r = file_read_secret(path, secret);
	*stamp = r == -EINTR ? *stamp : now;
	return r;
}

static struct shop_secrets *shop_entry(struct secrets *secrets, const char *shop)
{
	struct shop_secrets *entry = map_get(secrets->by_shop, bytes_of(shop));

	if (!entry) {
		entry = memory_new(sizeof(*entry));
		map_put(secrets->by_shop, bytes_of(shop), entry);
	}
	return entry;
}

static void tell_unread(const char *path, int error)
{
	if (error < 0 && error != -ENOENT && error != -ENODATA)
		log_event(LOG_WARNING, "%s: the secrets before this one cannot be read, and are not accepted: %s", path,
			strerror(-error));
}

static void look_up(const struct secrets *secrets, const char *shop, struct shop_secrets *entry)
{
	char name[96], path[256];

	snprintf(name, sizeof(name), "webhook/%s", shop);
	secret_in(secrets->folder, name, path);
	entry->current_error = refresh(path, &entry->current, &entry->pair.current, entry->current_error);
	snprintf(name, sizeof(name), "webhook/%s.previous", shop);
	secret_in(secrets->folder, name, path);
	int error = refresh(path, &entry->previous, &entry->pair.previous, entry->previous_error);
	if (error != entry->previous_error) /* each is told once */
		tell_unread(path, error);
	entry->previous_error = error;
	entry->looked = secrets->look;
}

bool secrets_shop_is_there(const struct secrets *secrets, const char *shop)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/shop.conf", secrets->shops, shop);
	return shop_name_valid(shop) && access(path, F_OK) == 0;
}

static int judge(const struct shop_secrets *entry)
{
	if (entry->current_error == -ENOENT || entry->current_error == -ENODATA ||
		(entry->current_error == 0 && entry->pair.current.len < WEBHOOK_SECRET_LEAST))
		return -ENOKEY;
	return entry->current_error;
}

int secrets_of_shop(struct secrets *secrets, const char *shop, const struct secrets_pair **ret)
{
	struct shop_secrets *entry = map_get(secrets->by_shop, bytes_of(shop));

	if (!entry || entry->looked != secrets->look) {
		if (!secrets_shop_is_there(secrets, shop))
			return -ENOENT;
		entry = shop_entry(secrets, shop); /* not of unknown shops: strangers cannot fill the map */
		look_up(secrets, shop, entry);
	}
	*ret = &entry->pair;
	return judge(entry);
}

struct unusable {
	const struct secrets *secrets;
	unsigned count;
};

static void count_unusable(struct bytes key, void *value, void *context)
{
	struct unusable *unusable = context;
	struct shop_secrets *entry = value;
	char shop[64];

	if (judge(entry) == 0)
		return;
	text_copy_bytes(shop, sizeof(shop), key);
	look_up(unusable->secrets, shop, entry);
	unusable->count += judge(entry) < 0 && secrets_shop_is_there(unusable->secrets, shop);
}

unsigned secrets_unusable(struct secrets *secrets)
{
	struct unusable unusable = { .secrets = secrets };

	map_each(secrets->by_shop, count_unusable, &unusable);
	return unusable.count;
}

const char *secrets_remedy(int error)
{
	switch (-error) {
	case ENOENT:
		return "there is no such shop here; `cartbus shop list` shows those that are";
	case ENOKEY:
		return "the shop's webhook secret is missing or shorter than 8 characters; `cartbus shop secret` sets "
		       "it";
	case EPERM:
		return "the file of the shop's webhook secret is open to others; give it mode 0600";
	default:
		return "the shop's webhook secret cannot be read; it must belong to the gateway's user";
	}
}
