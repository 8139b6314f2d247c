/*
 * secrets.h: which shops there are, and their webhook secrets
 *
 * A shop is known when <shops>/<shop>/shop.conf is there, its secret when webhook/<shop> is, so a new shop or a rotated
 * secret needs no restart. Whether the files are still the same is looked up once after each secrets_look_again, which is for
 * before the requests that have come are read: all that arrived together is held against what was there then. Files are read
 * again when they change.
 */
#ifndef KIT_ENDPOINT_SECRETS_H
#define KIT_ENDPOINT_SECRETS_H

#include "services/kit/endpoint/signature.h"
#include "services/kit/keys/keyring.h"

struct secrets;

/* Reads address.key and link.key; die()s with a remedy when they cannot be read. And admin.key, if it is there. */
struct secrets *secrets_open(const char *shops_folder, const char *folder);
void secrets_close(struct secrets *secrets);

void secrets_look_again(struct secrets *secrets);

struct bytes secrets_address_key(const struct secrets *secrets);
const struct keyring *secrets_link_keys(const struct secrets *secrets);
struct bytes secrets_admin_key(const struct secrets *secrets); /* empty: there is none */
bool secrets_shop_is_there(const struct secrets *secrets, const char *shop);
/*
 * -ENOENT: no such shop. -ENOKEY: the shop is there, its secret is not or is too short; -EPERM: its file is open to others;
 * otherwise the file system's. *ret is borrowed until the next call.
 */
int secrets_of_shop(struct secrets *secrets, const char *shop, const struct secrets_pair **ret);
/* How many shops have been asked for whose secret cannot be used. They are looked at again: one that has been mended is none. */
unsigned secrets_unusable(struct secrets *secrets);
const char *secrets_remedy(int error); /* what to do about it, for the answer and the log */

#endif
