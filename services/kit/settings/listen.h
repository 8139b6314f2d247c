/* listen.h: the address that the gateway listens at. Taken by the gateway, and tried by `cartbus config check` */
#ifndef KIT_SETTINGS_LISTEN_H
#define KIT_SETTINGS_LISTEN_H

#include "bus/base/config.h"

/* A socket at [gateway] listen and port, `backlog` as of listen_at(). A negative errno, and why there is none. */
int settings_listen(const struct config *config, int backlog, char ret_why[512]);
/* Has this machine the address of [gateway] listen? 0; a negative errno, and why not, in the same words. The port is not looked at. */
int settings_listen_try(const struct config *config, char ret_why[512]);

#endif
