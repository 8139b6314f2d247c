/*
 * keyring.h: the keys of one purpose: the one that signs, and those before it, each of which still verifies until its day
 *
 *     NAME            the key
 *     NAME.previous   lines "KEY until 2027-01-31": to the end of that day, UTC
 *
 * What each is for, so that who only has to verify one thing cannot sign another:
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
	int before_error; /* not 0: NAME.previous is not all in `before`, and why; -EBADMSG: for a line that is none */
};

/*
 * Any of the keys above, as every process takes it. 0; as file_read_secret() says it why it cannot be read; or -ERANGE: it is so short that
 * it could be guessed. secret_why() says all of them.
 */
int keyring_read_key(const char *path, struct buffer *ret);
/* `folder` as secrets_folder() has it. 0; or what is wrong with `name` itself. With -ERANGE it is read all the same. */
int keyring_read(const char *folder, const char *name, struct keyring *ret);
/*
 * bounce.key. Where none was made, as by 0.1.0, it follows from link.key, and what 0.1.0 signed with link.key itself is verified too;
 * ret_path: which file an error is about.
 */
int keyring_read_bounce(const char *folder, struct keyring *ret, char ret_path[256]);
void keyring_clear(struct keyring *keys); /* cleansed, and empty */

/* The key that signs, then those that verify at `now_us`, one after the other; empty: there are no more. *at begins with 0. */
struct bytes keyring_next(const struct keyring *keys, int64_t now_us, int *at);
/* Whether a line of <name>.previous can hold it. */
bool keyring_can_keep(struct bytes key);
int keyring_add_before(struct keyring *keys, struct bytes key, int64_t until_us); /* -ENOSPC */

/* The lines of NAME.previous, without those that ended before `now_us`. Who writes them back asks for before_error first. */
void keyring_print_before(const struct keyring *keys, int64_t now_us, struct buffer *ret);

/* bounce.key as it follows from link.key: the same on every host with the same one, and nothing leads back. In hex. */
void bounce_key_derive(struct bytes link_key, char ret[65]);

#endif
