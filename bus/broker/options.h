/* options.h: the command-line options of the broker */
#ifndef BROKER_OPTIONS_H
#define BROKER_OPTIONS_H

#include <stdbool.h>

struct broker_options {
	const char *config, *folder; /* folder: the log to verify; NULL: the configured one */
	bool new_identity, verify, json;
	bool only_checks; /* --check: only check whether it could start with the configuration */
};

struct broker_options broker_options_parse(
	int argc, char **argv); /* ends the process for --help, --version and invalid arguments */

#endif
