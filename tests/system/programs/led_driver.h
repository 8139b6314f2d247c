/*
 * led_driver.h: an effect driver alone, led by a test over stdin: the loop of mail_probe, http_probe and model_probe
 */
#ifndef SYSTEM_PROGRAMS_LED_DRIVER_H
#define SYSTEM_PROGRAMS_LED_DRIVER_H

#include "bus/actor/effect.h"

/* Hands each line of stdin to obey(), without its end, and lets the driver work. Returns at the end of stdin. */
void led_driver_run(const struct effect_driver *driver, void (*obey)(const char *line));

#endif
