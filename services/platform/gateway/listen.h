/* listen.h: the listening socket: the supervisor's, or as [gateway] listen and port say */
#ifndef PLATFORM_GATEWAY_LISTEN_H
#define PLATFORM_GATEWAY_LISTEN_H

#include "bus/base/config.h"

int listen_socket(const struct config *config); /* non-blocking; die()s with a remedy */
/* How many connections the limit of open files leaves room for, which is raised as far as may be; `most` at most. */
unsigned listen_room(unsigned most);

/*
 * Could it listen there? die()s if not. What this process's parent listens at, when it has it judged whether it may begin anew, is no
 * hindrance: it will have let go.
 */
void listen_check(const struct config *config);

#endif
