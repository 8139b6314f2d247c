/* unsub.h: the one list of people who must not be mailed, as a service */
#ifndef PLATFORM_UNSUB_UNSUB_H
#define PLATFORM_UNSUB_UNSUB_H

#include "bus/actor/service.h"

extern const struct service unsub;

#endif
