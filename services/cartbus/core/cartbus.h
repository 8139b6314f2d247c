/* cartbus.h: the operator's command as a service on the bus */
#ifndef CARTBUS_CORE_CARTBUS_H
#define CARTBUS_CORE_CARTBUS_H

#include "bus/actor/service.h"

extern const struct service cartbus;

#endif
