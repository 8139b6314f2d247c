/* intake.h: the canonical list of carts, as a service */
#ifndef CARTS_INTAKE_INTAKE_H
#define CARTS_INTAKE_INTAKE_H

#include "bus/actor/service.h"

extern const struct service intake;

#endif
