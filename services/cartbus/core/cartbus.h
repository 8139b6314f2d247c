/* cartbus.h: the operator as the bus knows it */
#ifndef CARTBUS_CORE_CARTBUS_H
#define CARTBUS_CORE_CARTBUS_H

#include "bus/actor/service.h"

extern const struct service cartbus;

#endif
