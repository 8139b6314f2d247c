/* check_ports.h: are the ports free that the services are to listen at? */
#ifndef CARTBUS_CHECK_PORTS_H
#define CARTBUS_CHECK_PORTS_H

#include "services/cartbus/command.h"

/*
 * Complains of each port of [gateway], [monitor] and [mailin] lmtp that another process has; how many are wrong. While the broker runs it
 * warns only: what runs goes on, and a service that is told to read the configuration judges by itself. Where no broker runs it warns
 * only if the service has it: that may be this installation's.
 */
int check_ports(const struct command *command);

#endif
