/*
 * log_settings.h: [log] of cartbus.conf
 */
#ifndef BUS_BASE_LOG_SETTINGS_H
#define BUS_BASE_LOG_SETTINGS_H

#include "bus/base/config.h"

#define LOG_CONFIG_KEYS                                                                                                \
	{ "log", "level", "info", "critical, error, warning, notice, info or debug", false },                          \
	{                                                                                                              \
		"log", "format", "text", "text for people and the journal, or json: an object per line", false         \
	}

/* From now on `process` (borrowed for good) logs as its configuration says; die()s of a word that is none. */
void log_configure(const struct config *config, const char *process);

#endif
