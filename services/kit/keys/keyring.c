/*
 * keyring.c: the keys of one purpose: the one that signs, and previous ones that verify until their day
 *
 * Owns:      the keys. Their memory is cleansed before it is freed.
 * Promises:  no key verifies after its day. An unreadable line in the file of previous keys gives no key.
 * Fails by:  a negative errno about the key that signs. Without the file of previous keys there are none.
 * Read next: services/cartbus/up/prepare.c (rotates the keys), bounce_tag.h, signed_link.h
 */
#include "services/kit/keys/keyring.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include "services/kit/keys/secrets.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <time.h>

enum { KEY_LEAST = 32, KEY_MOST = 200 };

void keyring_clear(struct keyring *keys)
{
	buffer_free_secret(&keys->current);
	for (int i = 0; i < keys->count; i++)
		buffer_free_secret(&keys->before[i].key);
	keys->count = 0;
	keys->before_error = 0;
}

int keyring_add_before(struct keyring *keys, struct bytes key, int64_t until_us)
{
	if (keys->count == KEYRING_BEFORE_MOST)
		return -ENOSPC;
	keys->before[keys->count] = (struct key_before){ .until_us = until_us };
	buffer_add(&keys->before[keys->count++].key, key.data, key.len);
	return 0;
}

int keyring_read_key(const char *path, struct buffer *ret)
{
	int r = file_read_secret(path, ret);

	return r == 0 && ret->len < KEY_LEAST ? -ERANGE : r;
}

bool keyring_can_keep(struct bytes key)
{
	if (key.len < KEY_LEAST || key.len > KEY_MOST)
		return false;
	for (const uint8_t *at = key.data, *end = at + key.len; at < end; at++) {
		if (*at <= ' ')
			return false;
	}
	return true;
}

/* Reads a day as the time of its end. */
static bool read_day(const char *text, int64_t *ret_us)
{
	struct tm day = { 0 };
	int end = 0;
	if (sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &end) != 3 || end != 10)
		return false;
	day.tm_year -= 1900;
	day.tm_mon -= 1;
	day.tm_mday += 1;
	*ret_us = (int64_t)timegm(&day) * US_PER_S;
	return *ret_us > 0;
}

/* Reads a line "KEY until 2027-01-31"; false: it is no such line, or there is no room for the key. */
static bool read_line(struct keyring *keys, const char *line, size_t len)
{
	char key[KEY_MOST + 1], text[KEY_MOST + 40];
	int at = 0;
	int64_t until_us;
	bool is_read = text_copy_bytes(text, sizeof(text), BYTES(line, len)) && strlen(text) == len &&
		sscanf(text, "%200s until %n", key, &at) == 1 && at > 0 && strlen(key) >= KEY_LEAST &&
		read_day(text + at, &until_us) && keyring_add_before(keys, bytes_of(key), until_us) == 0;
	OPENSSL_cleanse(key, sizeof(key));
	OPENSSL_cleanse(text, sizeof(text));
	return is_read;
}

static void read_before(const char *folder, const char *name, struct keyring *keys)
{
	_cleanup_(buffer_free_secret) struct buffer text = { 0 };
	char file[100], path[256];
	snprintf(file, sizeof(file), "%s" KEY_BEFORE, name);
	secret_in(folder, file, path);
	int r = file_read_secret(path, &text);
	if (r < 0 && r != -ENOENT && r != -ENODATA)
		log_event(LOG_WARNING, "%s: the keys before this one cannot be read, and do not verify: %s", path,
			strerror(-r));
	keys->before_error = r < 0 && r != -ENOENT && r != -ENODATA ? r : 0;
	for (const char *line = r < 0 ? "" : buffer_text(&text); *line; line += strspn(line, "\n")) {
		size_t len = strcspn(line, "\n");
		if (len > 0 && !read_line(keys, line, len))
			keys->before_error = -EBADMSG;
		line += len;
	}
	buffer_free_secret(&text);
}

int keyring_read(const char *folder, const char *name, struct keyring *ret)
{
	char path[256];
	*ret = (struct keyring){ .count = 0 };
	secret_in(folder, name, path);
	int r = keyring_read_key(path, &ret->current);
	if (r == 0 || r == -ERANGE)
		read_before(folder, name, ret);
	return r;
}

int keyring_read_bounce(const char *folder, struct keyring *ret, char ret_path[256])
{
	struct keyring links;
	char derived[65];
	int r = keyring_read(folder, BOUNCE_KEY, ret);
	secret_in(folder, BOUNCE_KEY, ret_path);
	if (r != -ENOENT && r != -ENODATA)
		return r;
	if (keyring_read(folder, LINK_KEY, &links) < 0) {
		keyring_clear(&links);
		return r; /* the error of the bounce key, not of the link key */
	}
	bounce_key_derive(buffer_bytes(&links.current), derived);
	buffer_add_text(&ret->current, derived);
	keyring_add_before(ret, buffer_bytes(&links.current), KEYRING_FOR_EVER);
	OPENSSL_cleanse(derived, sizeof(derived));
	keyring_clear(&links);
	return 0;
}

struct bytes keyring_next(const struct keyring *keys, int64_t now_us, int *at)
{
	int nth = (*at)++;
	if (nth == 0)
		return buffer_bytes(&keys->current);
	while (nth <= keys->count && keys->before[nth - 1].until_us <= now_us)
		nth = (*at)++;
	return nth <= keys->count ? buffer_bytes(&keys->before[nth - 1].key) : BYTES("", 0);
}

void keyring_print_before(const struct keyring *keys, int64_t now_us, struct buffer *ret)
{
	for (int i = 0; i < keys->count; i++) {
		const struct key_before *before = &keys->before[i];
		time_t last = (time_t)(before->until_us / US_PER_S) - 1;
		struct tm day;
		char text[20];
		if (before->until_us <= now_us || !gmtime_r(&last, &day))
			continue;
		strftime(text, sizeof(text), "%Y-%m-%d", &day);
		buffer_printf(ret, "%.*s until %s\n", (int)before->key.len, (const char *)before->key.data, text);
	}
}

void bounce_key_derive(struct bytes link_key, char ret[65])
{
	static const char label[] = "cartbus bounce key";
	uint8_t mac[HMAC_LEN];
	hmac_sha256(link_key, BYTES(label, sizeof(label)), mac);
	text_hex(mac, HMAC_LEN, ret);
	OPENSSL_cleanse(mac, sizeof(mac));
}
