/*
 * bus_keys.h: the keys of cartbus.conf that the bus reads: the broker, and every process as an actor on it
 *
 * services/kit/settings/settings.c has the keys that services read, and includes this table.
 */
#ifndef WIRE_BUS_KEYS_H
#define WIRE_BUS_KEYS_H

#include "bus/base/config.h"

extern const struct config_key bus_keys[];

#endif
