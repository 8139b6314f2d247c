/*
 * admin_link.h: links by which the owner acts on one cart or one shopper, from the nightly export
 *
 * A link <public-url>/a/<token> is for one shop, one verb and one target, and expires. On a GET the gateway
 * shows what the link will do; on a POST it does it, once: the link's id is the message's idempotency key,
 * and is in the message (AdminAction.link_id). The links are signed with a key of their own, the secret file
 * `admin.key` (`cartbus up` makes it). Only the gateway and the exporter may read it. A new key invalidates
 * all existing links.
 *
 * To write a link, outside of a decision (in a driver):
 *
 *     struct admin_link link = { .verb = ADMIN_SUPPRESS_CART, .expires_us = day_end_us + ADMIN_LINK_LASTS_US };
 *     TEXT_COPY(link.shop, shop); TEXT_COPY(link.cart_id, row.ids.cart_id);
 *     if (admin_link_url(key, public_url, &link, url) == 0) ...
 *
 * The same fields give the same link. Take `expires_us` from the export's own day and not from the clock, so
 * that an export that is repeated after a crash gives the same links. ADMIN_SUPPRESS_CART and ADMIN_WRITE_OFF
 * take a cart_id; ADMIN_UNSUBSCRIBE and ADMIN_LIFT_SUPPRESSION (the undo; its page asks for the reason) an
 * address_hash.
 */
#ifndef KIT_WEB_ADMIN_LINK_H
#define KIT_WEB_ADMIN_LINK_H

#include "bus/base/clock.h"
#include "proto/platform_topics.h"
#include "services/kit/keys/signed_token.h"

#define ADMIN_LINK_LASTS_US (14 * US_PER_DAY)
#define ADMIN_LINK_KEY "admin.key" /* the secret file */
enum { ADMIN_LINK_URL_MAX = 256 + 3 + SIGNED_TOKEN_MAX, ADMIN_LINK_ID = 32 };

struct admin_link {
	AdminVerb verb;
	char shop[64];
	char cart_id[72];
	char address_hash[40];
	int64_t expires_us;
};

/* -EINVAL: there is no shop, no such verb, or the wrong target for the verb. -EMSGSIZE: it is too long. */
int admin_link_make(struct bytes key, const struct admin_link *link, char ret[SIGNED_TOKEN_MAX + 1]);
/* The same as a whole address; a slash at the end of `public_url` is left out. */
int admin_link_url(
	struct bytes key, const char *public_url, const struct admin_link *link, char ret[ADMIN_LINK_URL_MAX + 1]);

/*
 * -EBADMSG: it is no token. -EKEYREJECTED: we did not sign it. The caller must check if it has expired, so
 * that an expired link is told from a forged one. `ret_id` names the link; nobody can make the link from it.
 */
int admin_link_read(struct bytes key, const char *token, struct admin_link *ret, char ret_id[ADMIN_LINK_ID + 1]);
bool admin_link_expired(const struct admin_link *link, int64_t now_us);

#endif
