/*
 * list.h: the page of carts: a filtered list, one page at a time
 *
 * The list is in the order of the index that is walked: by amount, the largest first, if an amount is asked for; else by the time at which
 * the carts were left, the newest first. A page is at most LIST_ROWS carts, and looks at no more than LIST_BUDGET rows of the index. If
 * that ends the walk, the page tells how far it came, and its cursor goes on from there.
 *
 * A cursor names the last row that was looked at, so rows that come and go meanwhile shift nothing. A cart whose own key changes
 * meanwhile may come again, or not at all: it has moved in the list.
 */
#ifndef CARTS_CONSOLE_LIST_H
#define CARTS_CONSOLE_LIST_H

#include "services/carts/console/show.h"

enum { LIST_ROWS = 50, LIST_BUDGET = 2000 };

struct list_filter {
	enum cart_word word; /* CART_WORDS: all */
	char currency[4];    /* "": amounts are not filtered */
	int64_t least_minor, most_minor;
	int64_t from_us, to_us; /* left: from <= t < to */
};
#define LIST_FILTER_NONE ((struct list_filter){ .word = CART_WORDS, .most_minor = INT64_MAX, .to_us = INT64_MAX })

/*
 * Fills {"items": [show_line()], "next": cursor or null, "searched_to_us", "searched_to_minor"}; the last two are null unless the
 * budget ended the walk. `cursor` "": from the beginning. `key` signs cursors. -EBADMSG: the cursor is not one of ours for this filter
 * of this shop.
 */
int list_carts(const struct page_asked *asked, const struct list_filter *filter, struct bytes key, const char *cursor,
	json_t *ret);

#endif
