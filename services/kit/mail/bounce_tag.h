/*
 * bounce_tag.h: an envelope sender that a bounce proves itself with
 *
 * `bounce = bounces+*@shop.example` in shop.conf: the star becomes 56 hex digits that name the step, the mail (the first digits of its
 * Message-ID) and the shopper (by the keyed hash), signed for this shop with a key of its own (keyring.h, BOUNCE_KEY).
 * An answer to such an address comes from somebody who was sent that mail, or was shown it; nobody can make one for somebody else. Upper or lower
 * case is the same; the local part keeps to the 64 characters of RFC 5321 (4.5.3.1.1).
 */
#ifndef KIT_MAIL_BOUNCE_TAG_H
#define KIT_MAIL_BOUNCE_TAG_H

#include "services/kit/mail/address.h"

enum {
	BOUNCE_TAG_LEN = 56,
	BOUNCE_BESIDE_MAX = 64 - BOUNCE_TAG_LEN, /* of the local part beside the star */
	BOUNCE_MAIL_LEN = 8
};

struct bounce_tag {
	int step;
	char mail[BOUNCE_MAIL_LEN + 1]; /* of the Message-ID "<step>.<hex>@..." */
	char address_hash[ADDRESS_HASH_LEN + 1];
};

/* No star, or one before the @ with room for the tag. `bounce` is normalised. */
bool bounce_template_valid(const char *bounce);
/* The envelope sender of the mail with this Message-ID; without a star in `bounce`, `bounce` itself. -EINVAL: it cannot be tagged. */
int bounce_address_make(struct bytes key, const char *bounce, const char *shop, const char *message_id,
	const char *address_hash, char ret[ADDRESS_MAX + 1]);
/* The same for a mail that no shopper gets: the star becomes a word that reads as no tag. */
void bounce_address_plain(const char *bounce, char ret[ADDRESS_MAX + 1]);
/* -EBADMSG: not of this shape; -EKEYREJECTED: not signed by us for this shop. */
int bounce_address_read(
	struct bytes key, const char *bounce, const char *shop, const char *address, struct bounce_tag *ret);
/* What the tag says, unverified: anybody can have written it, so it proves nothing. false: not of this shape. */
bool bounce_address_read_unverified(const char *bounce, const char *address, struct bounce_tag *ret);

#endif
