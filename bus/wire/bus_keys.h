/*
 * bus_keys.h: the keys of cartbus.conf that the bus reads: the broker, and every process as an actor on it
 *
 * What services read beside them is in services/kit/settings/settings.c, which has this table within its own.
 */
#ifndef WIRE_BUS_KEYS_H
#define WIRE_BUS_KEYS_H

#include "bus/base/config.h"

extern const struct config_key bus_keys[];

#endif
