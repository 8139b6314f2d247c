/* check_ports.h: are the ports free that the services are to listen at? */
#ifndef CARTBUS_DOCTOR_CHECK_PORTS_H
#define CARTBUS_DOCTOR_CHECK_PORTS_H

#include "services/cartbus/core/command.h"

/*
 * Complains of each port of [gateway], [monitor] and [mailin] lmtp that another process has, of those services that run here
 * (check_is_local); how many are wrong. While the broker runs, or where it is on another host, it warns only: what runs goes on, and a
 * service that is told to read the configuration judges by itself. Where no broker runs it warns only if the service has it: that may be
 * this installation's.
 */
int check_ports(const struct command *command);

#endif
