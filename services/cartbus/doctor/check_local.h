/* check_local.h: would the processes of this host start, and are their ports free? */
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
/* Complains of what was judged: `failed` 0 is right, a negative errno wrong, and -EACCES a matter of the service's user alone: a warning. 1: wrong. */
int check_told(const struct command *command, int failed, const char *why);

/*
 * Complains of each port of [gateway], [monitor] and [mailin] lmtp that another process has, of those services that run here
 * (check_is_local); how many are wrong. While the broker runs, or where it is on another host, it warns only: what runs goes on, and a
 * service that is told to read the configuration judges by itself. Where no broker runs it warns only if the service has it: that may be
 * this installation's.
 */
int check_ports(const struct command *command);

#endif
