/*
 * settings.h: every section and key of cartbus.conf, once
 *
 * All processes read the same file; `cartbus config check` judges it with this table, and the handbook's list is held against it.
 */
#ifndef KIT_SETTINGS_SETTINGS_H
#define KIT_SETTINGS_SETTINGS_H

#include "bus/base/config.h"

extern const struct config_key settings_keys[];

#endif
