/* programs.h: where the other programs of this installation lie */
#ifndef CARTBUS_PROGRAMS_H
#define CARTBUS_PROGRAMS_H

/* The folder of cartbus-broker and the services: this command's own, as a build has it, or sbin beside its bin. Never NULL. */
const char *programs_folder(void);

#endif
