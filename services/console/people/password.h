/*
 * password.h: passwords, kept as argon2id hashes of a keyed hash
 *
 * libsodium's argon2id with 19 MiB and two passes (OWASP's cheat sheet on storing passwords), about 22 ms. Before it
 * the password goes through HMAC-SHA256 with a key that is not in the people's file, so that a copy of this file alone
 * lets nobody guess passwords.
 */
#ifndef CONSOLE_PEOPLE_PASSWORD_H
#define CONSOLE_PEOPLE_PASSWORD_H

#include "bus/base/bytes.h"
#include "services/console/people/person.h"

enum { PASSWORD_LEAST = 12, PASSWORD_MOST = 256, PASSWORD_KEY_LEAST = 16 }; /* bytes */

/* To be called once, before any other of these functions. -EIO: libsodium cannot be used. */
int password_start(void);

/* -ENOMEM: argon2id did not get its memory. The password is taken as it is, whatever its length. */
int password_hash(struct bytes key, struct bytes password, char ret[PERSON_HASH_ROOM]);
/*
 * In the time of one hash, whatever it compares: `hash` NULL, "" or one that is none is compared with a password that
 * nobody has. Longer passwords than PASSWORD_MOST do not match.
 */
bool password_matches(struct bytes key, struct bytes password, const char *hash);
bool password_needs_rehash(const char *hash); /* it was made with other parameters than password_hash's */

enum password_fault {
	PASSWORD_FINE,
	PASSWORD_SHORT,
	PASSWORD_LONG,
	PASSWORD_COMMON, /* on the list, or little more than a word of it, of the product, of `words` or of the name */
	PASSWORD_NO_TEXT /* it is not UTF-8, or has a NUL or a line's end, which no form can send */
};

/*
 * May this be the password of a person of that name? There are no rules about its kinds of characters. `words`: those of
 * this installation that anybody would guess, as its shops; ended by a NULL; NULL: none.
 */
enum password_fault password_judge(struct bytes password, const char *name, const char *const *words);
const char *password_fault_words(enum password_fault fault);

extern const char *const passwords_common[]; /* in small letters, ended by a NULL */

#endif
