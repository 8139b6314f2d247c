/*
 * secrets.h: the known shops and their webhook secrets
 *
 * A shop is known if <shops>/<shop>/shop.conf exists, and its secret if webhook/<shop> exists, so a new shop
 * or a rotated secret needs no restart. secrets_look_again makes the next use check the files once for
 * changes. It is called before the waiting requests are read, so all requests that arrived together are
 * checked against the same files. Changed files are read again.
 */
#ifndef KIT_ENDPOINT_SECRETS_H
#define KIT_ENDPOINT_SECRETS_H

#include "services/kit/endpoint/signature.h"
#include "services/kit/keys/keyring.h"

struct secrets;

/*
 * Reads address.key and link.key; die()s with a remedy if they cannot be read. Also reads admin.key, if it
 * exists.
 */
struct secrets *secrets_open(const char *shops_folder, const char *folder);
void secrets_close(struct secrets *secrets);

void secrets_look_again(struct secrets *secrets);

struct bytes secrets_address_key(const struct secrets *secrets);
const struct keyring *secrets_link_keys(const struct secrets *secrets);
struct bytes secrets_admin_key(const struct secrets *secrets); /* empty: there is none */
bool secrets_shop_is_there(const struct secrets *secrets, const char *shop);
/*
 * -ENOENT: there is no such shop. -ENOKEY: its secret is missing or too short. -EPERM: the file is open to
 * others. Another errno: the file system's. *ret is borrowed until the next call.
 */
int secrets_of_shop(struct secrets *secrets, const char *shop, const struct secrets_pair **ret);
/*
 * How many requested shops have an unusable secret. They are checked again, so a shop whose secret was mended
 * does not count.
 */
unsigned secrets_unusable(struct secrets *secrets);
const char *secrets_remedy(int error); /* the remedy, for the answer and the log */

#endif
