/* zones.h: in which time an admin reads about a shop */
#ifndef CARTBUS_CORE_ZONES_H
#define CARTBUS_CORE_ZONES_H

#include "services/cartbus/core/command.h"

/* From its shop.conf; "UTC" when there is none here. Borrowed until the next call. */
const char *zone_of_shop(const struct command *command, const char *shop);

#endif
