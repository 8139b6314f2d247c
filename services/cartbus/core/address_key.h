/* address_key.h: is secrets/address.key the key by which the log names people? */
#ifndef CARTBUS_CORE_ADDRESS_KEY_H
#define CARTBUS_CORE_ADDRESS_KEY_H

#include "bus/actor/client.h"
#include "services/cartbus/core/command.h"

/*
 * EXIT_FINE: it names somebody in the log up to message `to`, or nobody there has an address. EXIT_NO: it complained: it cannot be read,
 * or is another one. With another key no opt-out, bounce or complaint of the log is found again, and those people are mailed.
 */
int address_key_check(const struct command *command, struct client *client, uint64_t to);

#endif
