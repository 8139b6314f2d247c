/*
 * keyring.h: the keys of one purpose: the key that signs, and earlier keys, each of which verifies until its
 * last day
 *
 *     NAME            the key
 *     NAME.previous   lines "KEY until 2027-01-31": to the end of that day, UTC
 *
 * The purposes are separate, so that a process that verifies one thing cannot sign another:
 *
 *     link.key     links in mails: the sender signs, the gateway verifies
 *     bounce.key   where mails come back to, and the names of mails: the sender signs, mailin verifies
 *     admin.key    the owner's links in the export (admin_link.h); has none before it
 *     address.key  names shoppers (address.h); has none before it
 */
#ifndef KIT_KEYS_KEYRING_H
#define KIT_KEYS_KEYRING_H

#include "bus/base/bytes.h"
#include "services/kit/keys/secrets.h"

#define LINK_KEY "link.key"
#define BOUNCE_KEY "bounce.key"
#define KEY_BEFORE ".previous"

enum { KEYRING_BEFORE_MOST = 8 };
#define KEYRING_FOR_EVER INT64_MAX

struct keyring {
	struct buffer current;
	int count;
	struct key_before {
		struct buffer key;
		int64_t until_us;
	} before[KEYRING_BEFORE_MOST];
	/*
	 * not 0: a negative errno, NAME.previous could not be read completely; -EBADMSG: a line of it is
	 * invalid
	 */
	int before_error;
};

/*
 * Reads any of the keys above. 0, or an error of file_read_secret(), or -ERANGE: the key is so short that it
 * could be guessed. secret_why() describes all of them.
 */
int keyring_read_key(const char *path, struct buffer *ret);
/*
 * `folder` is that of secrets_folder(). 0, or the error of `name` itself. With -ERANGE the key is read all
 * the same.
 */
int keyring_read(const char *folder, const char *name, struct keyring *ret);
/*
 * Reads bounce.key. If it does not exist, as with 0.1.0, it is derived from link.key, and signatures that
 * 0.1.0 made with link.key itself are verified too. ret_path: the file that an error is about.
 */
int keyring_read_bounce(const char *folder, struct keyring *ret, char ret_path[256]);
void keyring_clear(struct keyring *keys); /* wipes and empties the keys */

/*
 * Gives the key that signs, then the keys that verify at `now_us` (wall time), one by one; empty: there are
 * no more. *at begins with 0.
 */
struct bytes keyring_next(const struct keyring *keys, int64_t now_us, int *at);
/* Can a line of <name>.previous hold this key? */
bool keyring_can_keep(struct bytes key);
int keyring_add_before(struct keyring *keys, struct bytes key, int64_t until_us); /* -ENOSPC */

/*
 * Appends the lines of NAME.previous, without those that ended before `now_us`. A caller that writes them
 * back must check before_error first.
 */
void keyring_print_before(const struct keyring *keys, int64_t now_us, struct buffer *ret);

/*
 * Derives bounce.key from link.key, in hex: the same on every host with the same link.key. link.key cannot be
 * computed from it.
 */
void bounce_key_derive(struct bytes link_key, char ret[65]);

#endif
