/*
 * home.h: this installation: the configuration of a command, installations in one folder (homes), and the
 * places of the other programs
 *
 * The first that is given counts: --config FILE, --home DIR, CARTBUS_CONFIG, CARTBUS_HOME, /etc/cartbus/cartbus.conf. A home is
 * refused if a user other than this one and root may write to it, to its configuration or to a folder above, or owns a link on the
 * way: that user would decide what is done in it. The group of a folder above is trusted. The file of --config and CARTBUS_CONFIG is taken as it is.
 */
#ifndef CARTBUS_CORE_HOME_H
#define CARTBUS_CORE_HOME_H

#include "services/cartbus/core/command.h"

enum home_use {
	/* makes the configuration of a home that has none, and everything below it, for this user alone */
	HOME_MAKES,
	HOME_READS, /* makes nothing; complains if there is no configuration */
	HOME_NAMES  /* gives only the path: the configuration is not read, or its reader complains */
};

/* The path of the configuration. EXIT_FINE, or it complained. */
int home_config(const struct command *command, enum home_use use, char ret[PATH_ROOM]);

enum { HOME_WORDS = PATH_ROOM + 16 };
/* " --home DIR" or " --config FILE" as the command was given it, for commands that it proposes; "": the environment or nothing. */
void home_words(const struct command *command, char ret[HOME_WORDS]);

/* ---- the other programs of this installation: which there are, and where they lie ---- */

/* The folder of cartbus-broker and the services: this command's own, as a build has it, or sbin beside its bin. Never NULL. */
const char *programs_folder(void);
/* "broker", then the services in the order in which they are started; NULL ends it. services/systems.cmake makes the list. */
extern const char *const programs_all[];

#endif
