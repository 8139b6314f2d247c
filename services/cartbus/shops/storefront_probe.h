/*
 * storefront_probe.h: does the API that a shop.conf names answer, and take our key?
 */
#ifndef CARTBUS_SHOPS_STOREFRONT_PROBE_H
#define CARTBUS_SHOPS_STOREFRONT_PROBE_H

#include "services/cartbus/core/command.h"

struct storefront_probed {
	const char *platform; /* "": shop.conf names no API */
	char url[200];
	bool answers;
	char words[300];
};

/* Asks it what is asked before a mail, about a cart that nobody has. Waits for the answer. */
void storefront_probe(const struct command *command, const struct shop *shop, struct storefront_probed *ret);

#endif
