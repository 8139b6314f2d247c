/*
 * address_key.c: an address of the log, hashed with secrets/address.key, held against the hash beside it
 *
 * A machine that is installed anew has a key of its own before the backup comes, and a key fits any log in its form alone.
 * Promises:  looks at rows of carts, which hold both, until the first that fits: of a log that fits it reads next to nothing.
 */
#include "services/cartbus/core/address_key.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include <stdlib.h>

struct comparing {
	struct bytes key;
	uint64_t to;
	size_t others; /* rows whose hash is of another key */
	bool fits;
};

static bool compare(const struct entry *entry, void *context)
{
	struct comparing *comparing = context;
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);
	char hash[ADDRESS_HASH_LEN + 1];

	if (entry->seq > comparing->to)
		return false;
	if (!cart || !*cart->ids.email || !*cart->ids.email_hash)
		return true;
	address_hash(comparing->key, entry->shop, cart->ids.email, hash);
	comparing->fits = strcmp(hash, cart->ids.email_hash) == 0;
	comparing->others += !comparing->fits;
	return !comparing->fits;
}

int address_key_check(const struct command *command, struct client *client, uint64_t to)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct comparing comparing = { .to = to };
	char path[PATH_ROOM];
	int failed = name_key(command, &key), ended;

	command_secret_path(command, "address.key", path);
	if (failed) {
		complain(command, "the key of addresses cannot be read: %s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	comparing.key = buffer_bytes(&key);
	ended = reading_each(
		command, client, &(struct reading_filter){ .topic = topic_cart_state.name }, compare, &comparing);
	if (ended || comparing.fits || comparing.others == 0)
		return ended;
	complain(command,
		"%s is not the key by which this log names people: none of the %zu rows of carts with an address fits "
		"it. Who "
		"opted out would not be known, and be mailed. Put back the copy of address.key that was kept with the "
		"backup, restart the services, and run this again",
		path, comparing.others);
	return EXIT_NO;
}
