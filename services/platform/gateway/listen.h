/* listen.h: the listening socket: the supervisor's, or one at [gateway] listen and port */
#ifndef PLATFORM_GATEWAY_LISTEN_H
#define PLATFORM_GATEWAY_LISTEN_H

#include "bus/base/config.h"

int listen_socket(const struct config *config); /* non-blocking; die()s with a remedy */
/*
 * How many connections the limit of open files allows, at most `most`. It raises that limit as far as
 * possible.
 */
unsigned listen_room(unsigned most);

/*
 * die()s if the gateway could not listen at the configured address. An address at which the parent process
 * listens is allowed if the parent asks for the check before it starts anew, because it will close the
 * socket.
 */
void listen_check(const struct config *config);

#endif
