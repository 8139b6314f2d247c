/* programs.h: the other programs of this installation: which there are, and where they lie */
#ifndef CARTBUS_CORE_PROGRAMS_H
#define CARTBUS_CORE_PROGRAMS_H

/* The folder of cartbus-broker and the services: this command's own, as a build has it, or sbin beside its bin. Never NULL. */
const char *programs_folder(void);
/* "broker", then the services in the order in which they are started; NULL ends it. services/systems.cmake makes the list. */
extern const char *const programs_all[];

#endif
