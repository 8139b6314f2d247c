/*
 * settings.h: every section and key of cartbus.conf, once
 *
 * All processes read the same file; `cartbus config check` judges it with this table, and the handbook's list is held against it.
 */
#ifndef KIT_SETTINGS_SETTINGS_H
#define KIT_SETTINGS_SETTINGS_H

#include "bus/base/config.h"
#include <stdnoreturn.h>

extern const struct config_key settings_keys[];

/*
 * Secrets have names: "address.key", "webhook/demo", "api/demo". They are files below [paths] secrets. To a unit systemd hands those that
 * it needs (LoadCredential=) in a folder of its own that has none below it: "webhook_demo".
 */
const char *settings_secrets_folder(const struct config *config); /* borrowed until config_free */
void settings_secret_in(const char *folder, const char *name, char ret[256]);
void settings_secret_path(const struct config *config, const char *name, char ret[256]); /* both */
/* Why file_read_secret() failed with `error` for the key at `path`, and what helps. What systemd handed over is called by its source. */
void settings_secret_why(const char *path, int error, char ret[512]);
noreturn void die_of_secret(const char *path, int error);

#endif
