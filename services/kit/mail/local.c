/*
 * local.c: the part before the @ of a Message-ID, which identifies a mail that comes back
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include "services/kit/mail/message.h"
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

enum { LOCAL_DIGITS = 32 };

static void add_name(struct buffer *name, const char *shop, const char *about, int step)
{
	buffer_add(name, shop, strlen(shop) + 1);
	buffer_add(name, about, strlen(about) + 1);
	buffer_printf(name, "%d", step);
}

static void print_local(int step, const unsigned char *digest, char ret[MAIL_LOCAL_MAX])
{
	char hex[LOCAL_DIGITS + 1];
	text_hex(digest, LOCAL_DIGITS / 2, hex);
	snprintf(ret, MAIL_LOCAL_MAX, "%d.%s", step, hex);
}

void mail_local_make(const char *shop, const char *about, int step, char ret[MAIL_LOCAL_MAX])
{
	_cleanup_(buffer_free) struct buffer name = { 0 };
	unsigned char digest[SHA256_DIGEST_LENGTH];
	add_name(&name, shop, about, step);
	SHA256(name.data, name.len, digest);
	print_local(step, digest, ret);
}

void mail_local_sign(struct bytes key, const char *shop, const char *about, int step, char ret[MAIL_LOCAL_MAX])
{
	static const char label[] = "cartbus mail id";
	_cleanup_(buffer_free) struct buffer name = { 0 };
	uint8_t mac[HMAC_LEN];
	buffer_add(&name, label, sizeof(label));
	add_name(&name, shop, about, step);
	hmac_sha256(key, buffer_bytes(&name), mac);
	print_local(step, mac, ret);
}

bool mail_local_read(const char *name, char ret[MAIL_LOCAL_MAX])
{
	ret[0] = 0;
	name += name[0] == '<';
	if (name[0] < '1' || name[0] > '9' || (name[1] != '.' && name[1] != '-'))
		return false;
	const char *digits = name + 2, *end = digits + strspn(digits, "0123456789abcdef");
	if (end - digits != LOCAL_DIGITS || (*end && *end != '@'))
		return false;
	snprintf(ret, MAIL_LOCAL_MAX, "%c.%.*s", name[0], LOCAL_DIGITS, digits);
	return true;
}
