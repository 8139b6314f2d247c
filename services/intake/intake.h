/* intake.h: the canonical list of carts, as a service */
#ifndef INTAKE_INTAKE_H
#define INTAKE_INTAKE_H

#include "bus/actor/service.h"

extern const struct service intake;

#endif
