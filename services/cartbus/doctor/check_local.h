/* check_local.h: checks whether the processes of this host would start, and whether their ports are free */
#ifndef CARTBUS_DOCTOR_CHECK_LOCAL_H
#define CARTBUS_DOCTOR_CHECK_LOCAL_H

#include "services/cartbus/core/command.h"

/*
 * Complains about what a process of this host would refuse at its start, except its keys, its ports and the
 * common configuration. Returns the number of errors.
 */
int check_local(const struct command *command);
/*
 * Does this service run here? On the broker's host all services run; on another host those that have a key.
 */
bool check_is_local(const struct command *command, const char *service);
/*
 * Complains about the result of a check. `failed` is 0 if all is right, or a negative errno. -EACCES concerns
 * only the service's user, so it is a warning. Returns 1 for an error, else 0.
 */
int check_told(const struct command *command, int failed, const char *why);

/*
 * Complains of each port of [gateway], [monitor] and [mailin] lmtp that another process has, if the service
 * runs here (check_is_local). Returns the number of errors. While the broker runs, or if it is on another
 * host, it only warns, because running services go on, and a service that is told to read the configuration
 * checks the port itself. If no broker runs, it only warns if the service itself has the port, because that
 * may belong to this installation.
 */
int check_ports(const struct command *command);

#endif
