/* check_local.h: would the processes of this host start? */
#ifndef CARTBUS_DOCTOR_CHECK_LOCAL_H
#define CARTBUS_DOCTOR_CHECK_LOCAL_H

#include "services/cartbus/core/command.h"

/* Complains of what a process of this host would refuse at its start beside its keys, its ports and what every process reads; how much. */
int check_local(const struct command *command);
/* Does this service run here? All do on the broker's host; on another one those that have a key. */
bool check_is_local(const struct command *command, const char *service);
/* Complains of what was judged: `failed` 0 is right, a negative errno wrong, and -EACCES a matter of the service's user alone: a warning. 1: wrong. */
int check_told(const struct command *command, int failed, const char *why);

#endif
