/* naming.c: a shopper's address as the log names it */
#include "services/cartbus/core/naming.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <errno.h>
#include <stdio.h>

int name_key(const struct command *command, struct buffer *ret)
{
	char path[PATH_ROOM];

	command_secret_path(command, "address.key", path);
	return file_read_secret(path, ret);
}

int name_address(const struct command *command, const char *shop, const char *address,
	char ret_normalised[ADDRESS_MAX + 1], char ret_hash[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	int failed;

	if (address_normalise(address, ret_normalised))
		return -EINVAL;
	failed = name_key(command, &key);
	if (!failed)
		address_hash(buffer_bytes(&key), shop, ret_normalised, ret_hash);
	return failed;
}

/* No address begins so: a colon has no place in one. */
void name_customer(struct bytes key, const char *shop, const char *customer, char ret_hash[ADDRESS_HASH_LEN + 1])
{
	char text[ADDRESS_MAX + 1];

	snprintf(text, sizeof(text), "customer:%s", customer);
	address_hash(key, shop, text, ret_hash);
}
