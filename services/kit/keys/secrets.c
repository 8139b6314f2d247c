/*
 * secrets.c: finds the secrets of an installation, and words the remedy if one cannot be read
 */
#include "services/kit/keys/secrets.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *handed_folder(void)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");

	return folder && *folder ? folder : NULL;
}

const char *secrets_folder(const struct config *config)
{
	const char *handed = handed_folder(), *folder = config_get(config, "paths", NULL, "secrets");

	return handed ? handed : folder ? folder : "/etc/cartbus/secrets";
}

void secret_in(const char *folder, const char *name, char ret[256])
{
	const char *handed = handed_folder();
	bool is_flat = handed && strcmp(folder, handed) == 0;
	size_t start;

	snprintf(ret, 256, "%s/", folder);
	start = strlen(ret);
	snprintf(ret + start, 256 - start, "%s", name);
	for (char *at = ret + start; is_flat && *at; at++)
		if (*at == '/')
			*at = '_';
}

void secret_path(const struct config *config, const char *name, char ret[256])
{
	secret_in(secrets_folder(config), name, ret);
}

void secret_why(const char *path, int error, char ret[512])
{
	const char *handed = handed_folder();
	char secret[300];

	if (handed && text_starts(path, handed))
		snprintf(secret, sizeof(secret), "the secret %s of [paths] secrets", strrchr(path, '/') + 1);
	else
		snprintf(secret, sizeof(secret), "the secret %.256s", path);
	/* systemd hands over an empty file for a missing one */
	bool is_missing = error == -ENOENT || error == -ENODATA;
	bool names_shoppers = strcmp(strrchr(path, '/') + 1, "address.key") == 0;

	if (is_missing && names_shoppers)
		snprintf(ret, 512,
			"%s is missing or empty: put its copy back; with another one the list of who must not be "
			"mailed means nobody. Only a new installation makes one: `cartbus secrets make`",
			secret);
	else if (is_missing)
		snprintf(ret, 512,
			"%s is missing or empty: put its copy back; a new one makes `cartbus secrets make`, of a shop "
			"`cartbus shop secret NAME --rotate`",
			secret);
	else if (error == -ERANGE)
		snprintf(ret, 512, "%s is too short: 32 random bytes in hex were expected: put its copy back%s", secret,
			names_shoppers ? "" : ", or remove it: `cartbus secrets make` makes another");
	else if (error == -EPERM)
		snprintf(ret, 512, "%s: others may read or write it: chmod 600 it", secret);
	else
		snprintf(ret, 512, "%s cannot be read: %s", secret,
			error == -EINVAL ? "it is no file" : strerror(-error));
}

noreturn void die_of_secret(const char *path, int error)
{
	char why[512];

	secret_why(path, error, why);
	die("%s", why);
}
