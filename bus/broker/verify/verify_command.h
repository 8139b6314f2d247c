/*
 * verify_command.h: cartbus-broker --verify
 */
#ifndef BROKER_VERIFY_VERIFY_COMMAND_H
#define BROKER_VERIFY_VERIFY_COMMAND_H

#include "bus/broker/broker.h"

/* Checks the log in this folder and prints what it found; what to exit with. */
int verify_command(const char *folder, bool json, const struct topology *topology,
	const struct broker_settings *settings, int64_t now_us);

#endif
