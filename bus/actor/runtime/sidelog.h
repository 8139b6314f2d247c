/* sidelog.h: reads the side log of a stopped broker, or a copy of it, for the operator's command */
#ifndef ACTOR_RUNTIME_SIDELOG_H
#define ACTOR_RUNTIME_SIDELOG_H

#include "bus/actor/turn.h"
#include "bus/wire/sidelog_file.h"

/*
 * Calls each() (may be NULL) for every whole message, in the order of the file. Returns 0, or -EBADMSG: the
 * file is no side log, or another negative errno: it cannot be read.
 */
typedef void sidelog_said_fn(const struct message_meta *said, struct bytes payload, void *context);
int sidelog_each(const char *path, sidelog_said_fn *each, void *context, struct sidelog_read *ret);

#endif
