/*
 * mailin.h: the service that hears what comes back
 */
#ifndef PLATFORM_MAILIN_MAILIN_H
#define PLATFORM_MAILIN_MAILIN_H

#include "bus/actor/service.h"

extern const struct service mailin;

#endif
