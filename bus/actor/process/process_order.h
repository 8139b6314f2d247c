/* process_order.h: what a service was asked for on its command line */
#ifndef ACTOR_PROCESS_PROCESS_ORDER_H
#define ACTOR_PROCESS_PROCESS_ORDER_H

#include "bus/actor/process.h"

enum { EXIT_ENVIRONMENT = 1, EXIT_USAGE = 2 };

struct process_order {
	const char *config_path, *instance;
	bool only_checks; /* is the configuration one that it could start with? */
};

/* Exits when there is nothing to run. */
struct process_order process_order_parse(const struct process *process, int argc, char **argv);

#endif
