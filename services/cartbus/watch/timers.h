/* timers.h: the set timers, read from the log */
#ifndef CARTBUS_WATCH_TIMERS_H
#define CARTBUS_WATCH_TIMERS_H

#include "bus/base/sorted_map.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/reading.h"

/* The key is shop, NUL, name, NUL; the value the timer as it was set; the tag the sequence number of its set. */
void timer_rows_fold(struct sorted_map *timers, const struct entry *entry); /* any other message changes nothing */
/* The same for the log's timer topics alone, which is faster than the whole log. `shop` NULL: of all. An exit. */
int timer_rows_read(struct sorted_map *timers, const struct command *command, struct client *client, const char *shop);

bool timer_rows_find(const struct sorted_map *timers, const char *shop, const char *name, TimerSet *ret);

#endif
