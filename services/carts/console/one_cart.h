/* one_cart.h: the page of one cart: what happened, what was decided and why, what comes next */
#ifndef CARTS_CONSOLE_ONE_CART_H
#define CARTS_CONSOLE_ONE_CART_H

#include "services/carts/console/lines.h"
#include "services/carts/console/show.h"
#include "services/kit/mail/address.h"

enum { ONE_CART_STORY_MOST = 200 };

/*
 * Fills {"cart", "address", "total_minor", "currency", "state", "next", "story", "more", "mails", "items"}. The story is the one of `cartbus
 * why`, its newest ONE_CART_STORY_MOST messages of each name, the oldest first; "more": there are older ones. false: there is no such cart.
 */
bool one_cart_show(const struct page_asked *asked, const char *cart_id, json_t *ret);

/*
 * Finds the carts that a person means by a text: an address (by its hash, which is under `key`), a cart's id, a token, an order's or a
 * customer's number. Returns how many there are, at most two are looked for; ret_cart_id: the newest.
 */
int one_cart_find(
	const struct state *state, const char *shop, struct bytes key, const char *text, char ret_cart_id[LINE_ID_MAX]);

#endif
