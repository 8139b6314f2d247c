/*
 * settings.h: every section and key of cartbus.conf, once
 *
 * All processes read the same file; `cartbus config check` judges it with this table, and the README's list is held against it.
 */
#ifndef KIT_SETTINGS_H
#define KIT_SETTINGS_H

#include "bus/base/config.h"

extern const struct config_key settings_keys[];

/* Paths that follow from the configuration. `ret` has room for 256. */
void settings_secret_path(
	const struct config *config, const char *name, char ret[256]); /* "address.key", "link.key", "demo/webhook" */

#endif
