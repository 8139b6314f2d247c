/*
 * options.c: the broker's arguments
 */
#include "bus/broker/options.h"
#include "bus/base/log.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char CONFIG_DEFAULT[] = "/etc/cartbus/cartbus.conf";

static void print_help(void)
{
	printf("cartbus-broker: the durable message broker of cartbus\n\n"
	       "Keeps the log, hands its messages to the services, and confirms what it has synced to disk.\n\n"
	       "  --config FILE   default CARTBUS_CONFIG or %s; sections [paths], [log], [clock], [broker], [user "
	       "NAME]\n  --check         say whether it could start with this configuration, and start nothing\n"
	       "  --new-identity  give the log in <state>/broker another identity and exit: for a log that was "
	       "restored, or that\n"
	       "                  has lost messages and is to go on without them. Every service that knew the old one "
	       "refuses\n"
	       "                  it until the files in its state folder are moved away (not the folders). The side "
	       "log of the old\n                  one is put away as <state>/sidelog/stops.of-LOG.\n"
	       "  --verify        read the whole log in <state>/broker, or in --folder DIR, and say whether it is all "
	       "there: every\n"
	       "                  checksum, unbroken numbers, what is derived, and what became of each message in each "
	       "queue.\n"
	       "                  Exit 0: it is sound; 1: it is not, and where; 3: a broker has it open. --json: as "
	       "JSON\n  --help          this text\n  --version\n\n"
	       "SIGHUP: reads anew who may come (peers.conf of [paths] keys); sessions of others end. Judges the\n"
	       "configuration, and says what in it takes effect at the next start.\n",
		CONFIG_DEFAULT);
}

struct broker_options broker_options_parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, 'k' },
		{ "new-identity", no_argument, NULL, 'n' },
		{ "verify", no_argument, NULL, 'y' },
		{ "folder", required_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	const char *in_environment = getenv("CARTBUS_CONFIG");
	struct broker_options chosen = { .config =
						 in_environment && *in_environment ? in_environment : CONFIG_DEFAULT };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			chosen.config = optarg;
			break;
		case 'k':
			chosen.only_checks = true;
			break;
		case 'n':
			chosen.new_identity = true;
			break;
		case 'y':
			chosen.verify = true;
			break;
		case 'f':
			chosen.folder = optarg;
			break;
		case 'j':
			chosen.json = true;
			break;
		case 'h':
			print_help();
			exit(0);
		case 'v':
			printf("cartbus-broker %s\n", CARTBUS_VERSION);
			exit(0);
		default:
			exit(2);
		}
	}
	if (optind < argc)
		die("unexpected argument \"%s\"; see cartbus-broker --help", argv[optind]);
	return chosen;
}
