/* listen.h: the listening socket of an HTTP server: the supervisor's, or one at `listen` and `port` of its section */
#ifndef KIT_SETTINGS_LISTEN_H
#define KIT_SETTINGS_LISTEN_H

#include "bus/base/config.h"

/* `section` of cartbus.conf is also the name of the process: "gateway", "console". */
int listen_socket(const struct config *config, const char *section); /* non-blocking; die()s with a remedy */
/*
 * How many connections the limit of open files allows, at most `most`. It raises that limit as far as
 * possible.
 */
unsigned listen_room(unsigned most);

/*
 * die()s if the process could not listen at the configured address. An address at which the parent process
 * listens is allowed if the parent asks for the check before it starts anew, because it will close the
 * socket.
 */
void listen_check(const struct config *config, const char *section);

#endif
