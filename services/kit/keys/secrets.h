/* secrets.h: where the secrets of an installation are, and the remedy if one cannot be read */
#ifndef KIT_KEYS_SECRETS_H
#define KIT_KEYS_SECRETS_H

#include "bus/base/config.h"
#include <stdnoreturn.h>

/*
 * Secrets have names: "address.key", "webhook/demo", "api/demo". They are files below [paths] secrets.
 * systemd gives a unit the secrets that it needs (LoadCredential=) in a flat folder of its own, with names
 * like "webhook_demo".
 */
const char *secrets_folder(const struct config *config); /* borrowed until config_free */
void secret_in(const char *folder, const char *name, char ret[256]);
/* secrets_folder and secret_in in one call */
void secret_path(const struct config *config, const char *name, char ret[256]);
/*
 * Why file_read_secret() failed with `error` for the key at `path`, and the remedy. A file from systemd is
 * named by its source.
 */
void secret_why(const char *path, int error, char ret[512]);
noreturn void die_of_secret(const char *path, int error);

#endif
