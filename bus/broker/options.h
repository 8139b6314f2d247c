/*
 * options.h: what the broker's arguments ask for
 */
#ifndef BROKER_OPTIONS_H
#define BROKER_OPTIONS_H

#include <stdbool.h>

struct broker_options {
	const char *config, *folder; /* folder: to verify; NULL: the configured one */
	bool new_identity, verify, json;
	bool only_checks; /* is the configuration one that it could start with? */
};

struct broker_options broker_options_parse(
	int argc, char **argv); /* ends the process for --help, --version and what makes no sense */

#endif
