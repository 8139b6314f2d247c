/*
 * shopper_text.h: checks if a shopper's own text may be repeated in a mail
 *
 * Anybody can begin a checkout with a stranger's address and the name "CONGRATS! claim at
 * https://evil.example", so shoppers' texts are not trusted. A text of a wrong form counts as missing, and
 * the mail is sent without it.
 */
#ifndef CARTS_LETTER_SHOPPER_TEXT_H
#define CARTS_LETTER_SHOPPER_TEXT_H

#include <stdbool.h>

/*
 * A first name: one or two words of letters of any script, with a particle ("de", "van") or initials. A word
 * has at most 16 letters, and the whole at most 40 characters, of which at most 5 are Chinese or Korean, and
 * at most 12 Japanese. A hyphen, an apostrophe or a middle dot joins two words, a full stop shortens one ("J.
 * R."); digits, links, other signs and emoji are not allowed. `name` must be valid UTF-8.
 */
bool shopper_name_may_be_mailed(const char *name);

/*
 * A discount code: letters, digits and blanks, with the signs + - _ % inside, at most 40 characters; no link
 * and no sentence.
 */
bool shopper_code_may_be_mailed(const char *code);

#endif
