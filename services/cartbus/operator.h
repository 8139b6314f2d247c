/* operator.h: the operator as the bus knows it */
#ifndef CARTBUS_OPERATOR_H
#define CARTBUS_OPERATOR_H

#include "bus/actor/service.h"

extern const struct service cartbus;

#endif
