/*
 * word.h: the one word for a cart in lists
 *
 * Each cart has exactly one word, and a cart that was merged into another one has none. It is decided from the cart's row and its mails,
 * in this order:
 *
 *   bought       it was bought, with a mail or without one
 *   suppressed   it was closed because the shopper opted out
 *   no_address   it was closed because it grew old without an address
 *   excluded     it was closed because it is not chased: no consent, an exclusion of the owner's, a test
 *   mailed       a mail may have reached the shopper, and the cart is open or was given up
 *   closed       it was closed for any other reason: emptied, too late, by the owner, a newer cart, given up without a mail
 *   no_address   it is open and has no address yet
 *   waiting      it is open and has an address
 *
 * A mail to the owner (mode mail-me) did not reach the shopper.
 */
#ifndef CARTS_CONSOLE_WORD_H
#define CARTS_CONSOLE_WORD_H

#include "services/carts/report/report_fold.h"

enum cart_word {
	CART_WORD_WAITING,
	CART_WORD_MAILED,
	CART_WORD_BOUGHT,
	CART_WORD_NO_ADDRESS,
	CART_WORD_EXCLUDED,
	CART_WORD_SUPPRESSED,
	CART_WORD_CLOSED,
	CART_WORDS
};

/* Pure. `ret_mails`: how many mails may have reached the shopper. */
enum cart_word cart_word_of(const struct report_fold_row *row, uint32_t *ret_mails);
const char *cart_word_text(enum cart_word word);  /* "no_address" */
enum cart_word cart_word_named(const char *text); /* CART_WORDS: there is no such word */

#endif
