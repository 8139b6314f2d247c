/* storefront_probe.h: does the API in a shop.conf answer and accept our key? */
#ifndef CARTBUS_SHOPS_STOREFRONT_PROBE_H
#define CARTBUS_SHOPS_STOREFRONT_PROBE_H

#include "services/cartbus/core/command.h"

struct storefront_probed {
	const char *platform; /* "": shop.conf names no API */
	char url[200];
	bool answers;
	char words[300];
};

/* Asks the question that precedes a mail, about a cart that does not exist. It blocks until the answer. */
void storefront_probe(const struct command *command, const struct shop *shop, struct storefront_probed *ret);

#endif
