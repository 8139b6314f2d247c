/*
 * secrets.h: where the secrets of an installation lie, and what helps when one cannot be read
 */
#ifndef KIT_KEYS_SECRETS_H
#define KIT_KEYS_SECRETS_H

#include "bus/base/config.h"
#include <stdnoreturn.h>

/*
 * Secrets have names: "address.key", "webhook/demo", "api/demo". They are files below [paths] secrets. To a unit systemd hands those that
 * it needs (LoadCredential=) in a folder of its own that has none below it: "webhook_demo".
 */
const char *secrets_folder(const struct config *config); /* borrowed until config_free */
void secret_in(const char *folder, const char *name, char ret[256]);
void secret_path(const struct config *config, const char *name, char ret[256]); /* both */
/* Why file_read_secret() failed with `error` for the key at `path`, and what helps. What systemd handed over is called by its source. */
void secret_why(const char *path, int error, char ret[512]);
noreturn void die_of_secret(const char *path, int error);

#endif
