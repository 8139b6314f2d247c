/*
 * lines.h: the carts of a shop as lists show them, in several orders
 *
 * A line has what a list shows of a cart. Four indexes lead to it: by the time at which the cart was left, by its word (word.h), by its
 * amount, by its shopper. The newest, and the largest, come first, because a walk over a state's rows goes forward only: keys hold
 * the number subtracted from the largest one, as 16 hex digits. A fifth table leads from each name of a cart (an id that a storefront
 * gave it, its customer, a cart that was merged into it) to the cart.
 *
 * A cart that was merged into another one has no line; the other cart has its names. Test carts have lines, and no figures.
 */
#ifndef CARTS_CONSOLE_LINES_H
#define CARTS_CONSOLE_LINES_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/carts/console/word.h"

enum { LINE_ID_MAX = 72, LINE_KEY_MAX = 160, LINE_NAME_MAX = 80 };

/* Zeroed as a whole before it is filled, because rows are compared as bytes. */
struct cart_line {
	uint64_t version; /* of the cart.state that wrote it; 0: there is no line */
	int64_t left_us, total_minor;
	uint32_t word; /* enum cart_word */
	uint32_t mails;
	uint32_t closed_reason;
	uint32_t open;
	uint32_t items; /* different ones, with those that did not fit */
	char currency[4];
	char email_hash[40];
	char masked[72];     /* "a***@shop.example"; "": no address */
	char first_item[72]; /* its title */
};
STATE_STRUCTS(cart_lines, "page.cart", struct cart_line); /* by cart id */

STATE_STRINGS(lines_by_left, "page.left");       /* inverted time/cart id */
STATE_STRINGS(lines_by_word, "page.word");       /* word/inverted time/cart id */
STATE_STRINGS(lines_by_amount, "page.amount");   /* currency/inverted minor units/cart id */
STATE_STRINGS(lines_by_shopper, "page.shopper"); /* address hash/inverted time/cart id */
STATE_STRINGS(lines_by_name, "page.name");       /* name, LINE_TIE, cart id */
STATE_STRINGS(line_names, "page.names");         /* by cart id: its names, each with its NUL */
#define LINE_TIE "\x1f"

/* A number as the key of an index, so that larger numbers come first. */
enum { LINE_INVERTED_ROOM = 17 };
const char *line_inverted(int64_t number, char ret[LINE_INVERTED_ROOM]);

/* A fold of cart.state. It must be called after those of the report's rows (carts/report/report_fold.h). */
void lines_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart);
/* Part of a fold: something else than cart.state changed what the report knows of this cart. */
void lines_refresh(struct state *state, const char *shop, const char *cart_id);

/* The cart that has this name now, itself or by a merge ("id:..."); false: there is none. */
bool line_named(const struct state *state, const char *shop, const char *name, char ret_cart_id[LINE_ID_MAX]);

#endif
