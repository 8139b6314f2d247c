/* mailbox.h: finds the route of a recipient (services/kit/mail/inbound/route.h) */
#ifndef PLATFORM_MAILIN_MAILBOX_H
#define PLATFORM_MAILIN_MAILBOX_H

#include "services/kit/mail/inbound/route.h"

struct mailbox {
	const struct mail_route *route;
	char shop[MAIL_ROUTE_SHOP_MAX + 1]; /* "": the route reads reports */
	char detail[ADDRESS_MAX + 1];
};

/* `tables` as registered_mail_routes. false: no route takes it. `recipient` is normalised. */
bool mailbox_find(
	const struct mail_route *const *tables, const struct state *state, const char *recipient, struct mailbox *ret);
/* can one mail be delivered to both? */
bool mailbox_is_same(const struct mailbox *one, const struct mailbox *other);
/* the largest limit of all routes */
size_t mailbox_size_most(const struct mail_route *const *tables);
/* the largest mail of this route; `bytes_most` bounds a mail in memory */
size_t mailbox_bytes_most(const struct mail_route *route);
/*
 * true: the routes are invalid, and ret_words tells why: two of one name or of one local part, or an
 * impossible limit.
 */
bool mailbox_trouble(const struct mail_route *const *tables, char ret_words[200]);
/*
 * For a mail in a maildir: the recipient to whom the mail server delivered it, from the first X-Original-To
 * or Delivered-To of its head, which that server wrote above the sender's headers. false: there is none.
 * `head` may be cut off.
 */
bool mailbox_recipient(struct bytes head, char ret[ADDRESS_MAX + 1]);

#endif
