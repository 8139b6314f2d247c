/* backup_scheduled.h: what the timers of systemd ask for */
#ifndef CARTBUS_BACKUP_BACKUP_SCHEDULED_H
#define CARTBUS_BACKUP_BACKUP_SCHEDULED_H

#include "services/cartbus/core/command.h"

int backup_scheduled(struct command *command); /* a copy into [backup] folder, and old ones go; an exit */
int backup_verify_newest(
	struct command *command); /* is the newest copy there sound, file by file and as a log? an exit */

#endif
