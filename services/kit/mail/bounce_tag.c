/*
 * bounce_tag.c: signed envelope senders, by which a bounce proves that it answers our mail
 *
 * Layout before hex: version and step in one byte, 4 bytes of the Message-ID, 16 of the address hash, 7 of
 * HMAC-SHA256 over a label, the shop and the bytes before. A forger has to send us one mail for each guess at
 * these 56 bits.
 * Promises:  reading accepts only what bounce_address_make makes for this shop and template; the case of
 *            letters does not matter.
 * Fails by:  a negative errno, without a reason.
 * Read next: services/platform/mailin (reads them), services/carts/sender/reminder_mail.c (makes them)
 */
#include "services/kit/mail/bounce_tag.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include <ctype.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <strings.h>

enum { TAG_VERSION = 1, MAIL_BYTES = BOUNCE_MAIL_LEN / 2, HASH_BYTES = ADDRESS_HASH_LEN / 2, MAC_BYTES = 7 };
enum { SIGNED_BYTES = 1 + MAIL_BYTES + HASH_BYTES, RAW_BYTES = SIGNED_BYTES + MAC_BYTES };

static const char label[] = "cartbus bounce tag";

static void mac_of(struct bytes key, const char *shop, const uint8_t *over, uint8_t ret[HMAC_LEN])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	buffer_add(&text, label, sizeof(label));
	buffer_add(&text, shop, strlen(shop) + 1);
	buffer_add(&text, over, SIGNED_BYTES);
	hmac_sha256(key, buffer_bytes(&text), ret);
}

static void fill_in(const char *bounce, const char *tag, char ret[ADDRESS_MAX + 1])
{
	size_t before = strcspn(bounce, "*");

	snprintf(ret, ADDRESS_MAX + 1, "%.*s%s%s", (int)before, bounce, bounce[before] ? tag : "",
		bounce[before] ? bounce + before + 1 : "");
}

void bounce_address_plain(const char *bounce, char ret[ADDRESS_MAX + 1])
{
	fill_in(bounce, "owner", ret);
}

/* "<step>.<hex>@..." */
static bool read_message_id(const char *message_id, uint8_t ret[1 + MAIL_BYTES])
{
	char digits[BOUNCE_MAIL_LEN + 1];

	if (message_id[0] < '1' || message_id[0] > '9' || message_id[1] != '.' ||
		strlen(message_id) < 2 + BOUNCE_MAIL_LEN)
		return false;
	ret[0] = (uint8_t)(TAG_VERSION << 4 | (message_id[0] - '0'));
	text_copy_bytes(digits, sizeof(digits), BYTES(message_id + 2, BOUNCE_MAIL_LEN));
	return text_unhex(digits, ret + 1, MAIL_BYTES);
}

int bounce_address_make(struct bytes key, const char *bounce, const char *shop, const char *message_id,
	const char *address_hash, char ret[ADDRESS_MAX + 1])
{
	uint8_t raw[RAW_BYTES], mac[HMAC_LEN];
	char tag[BOUNCE_TAG_LEN + 1];

	if (!strchr(bounce, '*'))
		return text_copy(ret, ADDRESS_MAX + 1, bounce) ? 0 : -EINVAL;
	if (!bounce_template_valid(bounce) || key.len == 0 || !read_message_id(message_id, raw) ||
		!text_unhex(address_hash, raw + 1 + MAIL_BYTES, HASH_BYTES))
		return -EINVAL;
	mac_of(key, shop, raw, mac);
	memcpy(raw + SIGNED_BYTES, mac, MAC_BYTES);
	text_hex(raw, sizeof(raw), tag);
	fill_in(bounce, tag, ret);
	return 0;
}

/*
 * Copies the part of `address` that stands in the place of the star in `bounce`. false: the rest is not the
 * same.
 */
static bool cut_out(const char *bounce, const char *address, char ret[BOUNCE_TAG_LEN + 1])
{
	size_t before = strcspn(bounce, "*"), len = strlen(address), after;

	if (!bounce[before])
		return false;
	after = strlen(bounce) - before - 1;
	if (len != before + BOUNCE_TAG_LEN + after || strncasecmp(address, bounce, before) != 0 ||
		strcasecmp(address + len - after, bounce + before + 1) != 0)
		return false;
	for (size_t i = 0; i < BOUNCE_TAG_LEN; i++)
		ret[i] = (char)tolower((unsigned char)address[before + i]);
	ret[BOUNCE_TAG_LEN] = '\0';
	return true;
}

static bool read_raw(const char *bounce, const char *address, uint8_t ret[RAW_BYTES])
{
	char tag[BOUNCE_TAG_LEN + 1];

	return cut_out(bounce, address, tag) && text_unhex(tag, ret, RAW_BYTES) && ret[0] >> 4 == TAG_VERSION;
}

static void tell_raw(const uint8_t raw[RAW_BYTES], struct bounce_tag *ret)
{
	ret->step = raw[0] & 15;
	text_hex(raw + 1, MAIL_BYTES, ret->mail);
	text_hex(raw + 1 + MAIL_BYTES, HASH_BYTES, ret->address_hash);
}

int bounce_address_read(
	struct bytes key, const char *bounce, const char *shop, const char *address, struct bounce_tag *ret)
{
	uint8_t raw[RAW_BYTES], mac[HMAC_LEN];

	memset(ret, 0, sizeof(*ret));
	if (!read_raw(bounce, address, raw))
		return -EBADMSG;
	mac_of(key, shop, raw, mac);
	if (CRYPTO_memcmp(mac, raw + SIGNED_BYTES, MAC_BYTES) != 0)
		return -EKEYREJECTED;
	tell_raw(raw, ret);
	return 0;
}

bool bounce_address_read_unverified(const char *bounce, const char *address, struct bounce_tag *ret)
{
	uint8_t raw[RAW_BYTES];

	memset(ret, 0, sizeof(*ret));
	if (!read_raw(bounce, address, raw))
		return false;
	tell_raw(raw, ret);
	return true;
}
