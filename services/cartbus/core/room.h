/* room.h: how much of a disk has to stay free */
#ifndef CARTBUS_CORE_ROOM_H
#define CARTBUS_CORE_ROOM_H

#include "bus/base/config.h"
#include <stdint.h>

enum { ROOM_HEADROOMS = 3 }; /* with less the monitor alarms */

/* [broker] headroom of a file system of that size: with less the broker takes nothing new. */
uint64_t room_headroom(const struct config *config, uint64_t disk_bytes);

#endif
