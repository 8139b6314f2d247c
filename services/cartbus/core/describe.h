/* describe.h: a message in one line of words, for people, and the time zone in which an admin reads about a shop */
#ifndef CARTBUS_CORE_DESCRIBE_H
#define CARTBUS_CORE_DESCRIBE_H

#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include "services/cartbus/core/command.h"

/* Appends one line without its end. Times are in `zone`. Addresses are masked. */
void describe(const struct topic *topic, const void *message, const char *zone, struct buffer *ret);
/* "2026-11-20 14:05:03", in `zone`; "never" for 0 */
void describe_time(const char *zone, int64_t us, char ret[40]);

/* The zone in the shop's shop.conf; "UTC" if it is missing here. Borrowed until the next call. */
const char *zone_of_shop(const struct command *command, const char *shop);

#endif
