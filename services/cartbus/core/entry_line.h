/* entry_line.h: a message of the log as one line on stdout */
#ifndef CARTBUS_CORE_ENTRY_LINE_H
#define CARTBUS_CORE_ENTRY_LINE_H

#include "bus/actor/topic.h"
#include "services/cartbus/core/reading.h"

/* In words and its shop's time, with --json as one object; masked, and flushed. */
void entry_line(
	const struct command *command, const struct entry *entry, const struct topic *topic, const void *message);

#endif
