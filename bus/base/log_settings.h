/*
 * log_settings.h: [log] of cartbus.conf
 */
#ifndef BASE_LOG_SETTINGS_H
#define BASE_LOG_SETTINGS_H

#include "bus/base/config.h"

/* From now on `process` (borrowed for good) logs as its configuration says. */
void log_configure(const struct config *config, const char *process);

#endif
