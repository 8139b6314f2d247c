/*
 * bounce_tag.h: signed envelope senders, by which a bounce proves that it answers our mail
 *
 * `bounce = bounces+*@shop.example` in shop.conf: the star becomes 56 hex digits that name the step, the mail
 * (the first digits of its Message-ID) and the shopper (by the keyed hash), signed for this shop with a key
 * of its own (keyring.h, BOUNCE_KEY). Only a person who was sent or shown that mail can answer to such an
 * address; nobody can make an address for another shopper. Case does not matter; the local part keeps to the
 * 64 characters of RFC 5321 (4.5.3.1.1).
 */
#ifndef KIT_MAIL_BOUNCE_TAG_H
#define KIT_MAIL_BOUNCE_TAG_H

#include "services/kit/mail/address.h"

enum {
	BOUNCE_TAG_LEN = 56,
	BOUNCE_BESIDE_MAX = 64 - BOUNCE_TAG_LEN, /* the longest local part beside the star */
	BOUNCE_MAIL_LEN = 8
};

struct bounce_tag {
	int step;
	char mail[BOUNCE_MAIL_LEN + 1]; /* of the Message-ID "<step>.<hex>@..." */
	char address_hash[ADDRESS_HASH_LEN + 1];
};

/* true: `bounce` (normalised) has no star, or one star before the @ with room for the tag. */
bool bounce_template_valid(const char *bounce);
/*
 * Makes the envelope sender of the mail with this Message-ID; if `bounce` has no star, `bounce` itself.
 * -EINVAL: it cannot be tagged.
 */
int bounce_address_make(struct bytes key, const char *bounce, const char *shop, const char *message_id,
	const char *address_hash, char ret[ADDRESS_MAX + 1]);
/* The same for a mail that is not for a shopper: the star becomes a word that is no tag. */
void bounce_address_plain(const char *bounce, char ret[ADDRESS_MAX + 1]);
/* -EBADMSG: it has not this form. -EKEYREJECTED: we did not sign it for this shop. */
int bounce_address_read(
	struct bytes key, const char *bounce, const char *shop, const char *address, struct bounce_tag *ret);
/*
 * Reads the tag without verifying it. Anybody can have written it, so it proves nothing. false: it has not
 * this form.
 */
bool bounce_address_read_unverified(const char *bounce, const char *address, struct bounce_tag *ret);

#endif
