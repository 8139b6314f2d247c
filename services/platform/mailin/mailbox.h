/*
 * mailbox.h: which route takes a recipient (services/kit/mail/inbound/route.h)
 */
#ifndef PLATFORM_MAILIN_MAILBOX_H
#define PLATFORM_MAILIN_MAILBOX_H

#include "services/kit/mail/inbound/route.h"

struct mailbox {
	const struct mail_route *route;
	char shop[MAIL_ROUTE_SHOP_MAX + 1]; /* "": of a route that reads reports */
	char detail[ADDRESS_MAX + 1];
};

/* `tables` as registered_mail_routes. false: no route takes it. `recipient` is normalised. */
bool mailbox_find(
	const struct mail_route *const *tables, const struct state *state, const char *recipient, struct mailbox *ret);
bool mailbox_is_same(const struct mailbox *one, const struct mailbox *other); /* may one mail go to both? */
size_t mailbox_size_most(const struct mail_route *const *tables);             /* the largest bound of all */
size_t mailbox_bytes_most(const struct mail_route *route); /* what may come, with `bytes_most` of a mail in memory */
/* In words what is wrong with the routes: two of one name or of one local part, a bound that cannot be. false: nothing. */
bool mailbox_trouble(const struct mail_route *const *tables, char ret_words[200]);
/*
 * Of a mail in a maildir: to whom the mail server delivered it, as the first X-Original-To or Delivered-To of its head says,
 * which that server wrote above what the sender wrote. false: it says nothing. `head` may be cut off.
 */
bool mailbox_recipient(struct bytes head, char ret[ADDRESS_MAX + 1]);

#endif
