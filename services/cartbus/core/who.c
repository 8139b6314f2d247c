/* who.c: who gives this command, for the record */
#include "services/cartbus/core/who.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

const char *who_am_i(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *user = getpwuid(getuid());

	if (sudo && *sudo)
		return sudo;
	return user ? user->pw_name : "unknown";
}
