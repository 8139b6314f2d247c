/* log_events.c: see log_events.h */
#include "bus/base/log_events.h"

BUS_EVENTS(LOG_EVENT_DEFINE)
