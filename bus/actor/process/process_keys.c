/* process_keys.c: see process.h; apart from process.c, so that a table may have them in it without a process */
#include "bus/actor/process.h"
#include "bus/wire/bus_keys.h"

const struct config_key process_keys[] = { CONFIG_TABLE(bus_keys), CONFIG_END };
