/*
 * shopper_text.h: what a shopper wrote, and whether the shop may repeat it in a mail
 *
 * Anybody can open a checkout under a stranger's address and call himself "CONGRATS! claim at https://evil.example": what shoppers type
 * is not the shop's word. A text that is more than it should be counts as missing; the mail goes without it.
 */
#ifndef CARTS_LETTER_SHOPPER_TEXT_H
#define CARTS_LETTER_SHOPPER_TEXT_H

#include <stdbool.h>

/*
 * A first name: one or two words of letters, of any script, and a particle ("de", "van") or initials beside them; a word has at most
 * 16 letters, all of it 40 characters, 5 of them Chinese or Korean, 12 Japanese. A hyphen, an apostrophe or a middle dot joins two words,
 * a full stop shortens one ("J. R."); digits, links, other signs and emoji are no name. Valid UTF-8.
 */
bool shopper_name_may_be_mailed(const char *name);

/* A discount code: letters and digits, blanks, and the signs + - _ % within, at most 40 characters; no link, no sentence. */
bool shopper_code_may_be_mailed(const char *code);

#endif
