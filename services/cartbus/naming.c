/* naming.c: a shopper's address as the log names it */
#include "services/cartbus/naming.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <errno.h>

int name_address(const struct command *command, const char *shop, const char *address,
	char ret_normalised[ADDRESS_MAX + 1], char ret_hash[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free) struct buffer hex = { 0 };
	char path[PATH_ROOM];
	int failed;

	if (address_normalise(address, ret_normalised))
		return -EINVAL;
	command_secret_path(command, "address.key", path);
	failed = file_read_secret(path, &hex);
	if (!failed)
		address_hash(buffer_bytes(&hex), shop, ret_normalised, ret_hash);
	return failed;
}
