/* gate_driver.h: an effect driver that is done when the file that $CARTBUS_TEST_GATE names is there, and not before */
#ifndef SYSTEM_PROGRAMS_GATE_DRIVER_H
#define SYSTEM_PROGRAMS_GATE_DRIVER_H

#include "bus/actor/effect.h"

struct effect_driver *gate_driver_new(void); /* "gate" */

#endif
