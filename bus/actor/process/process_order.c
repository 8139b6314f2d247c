/*
 * process_order.c: what a service was asked for on its command line
 */
#include "bus/actor/process/process_order.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CONFIG_DEFAULT[] = "/etc/cartbus/cartbus.conf";
enum { INSTANCE_MAX = 64 };

static void print_help(const struct process *process)
{
	printf("cartbus-%s: %s\n\n"
	       "Usage: cartbus-%s [--config FILE] [--instance NAME] [--check]\n\n"
	       "  --config FILE     the configuration; CARTBUS_CONFIG or %s if not given\n"
	       "  --instance NAME   a name that stays over restarts and is unique among those that run; \"%s\" if not "
	       "given\n  --check           say whether it could start with this configuration, and start nothing\n"
	       "  --manifest        print what this service hears, remembers and says (its part of topology.conf)\n"
	       "  --version         print the version\n\n"
	       "SIGHUP: takes the configuration anew, if it is right; else what ran goes on.\n\n"
	       "`cartbus up` runs all services together; systemd runs each as cartbus-NAME.service.\n",
		process->service->name, process->help ? process->help : "a service of cartbus", process->service->name,
		CONFIG_DEFAULT, process->service->name);
}

static void print_manifest(const struct service *service)
{
	_cleanup_(buffer_free) struct buffer manifest = { 0 };

	service_manifest(service, &manifest);
	fputs(buffer_text(&manifest), stdout);
}

/* `more`: a word that is left; NULL: none */
static void refuse_nonsense(const struct process *process, const struct process_order *order, const char *more)
{
	const char *name = process->service->name;

	if (more) {
		fprintf(stderr, "cartbus-%s: \"%s\" is not understood; see --help\n", name, more);
		exit(EXIT_USAGE);
	}
	if (!order->instance[0] || strchr(order->instance, '/') || strlen(order->instance) >= INSTANCE_MAX) {
		fprintf(stderr, "cartbus-%s: an instance's name has 1 to 63 characters and no slash\n", name);
		exit(EXIT_USAGE);
	}
}

struct process_order process_order_parse(const struct process *process, int argc, char **argv)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'c' },
		{ "instance", required_argument, NULL, 'i' }, { "check", no_argument, NULL, 'k' },
		{ "manifest", no_argument, NULL, 'm' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' }, { NULL, 0, NULL, 0 } };
	const char *in_environment = getenv("CARTBUS_CONFIG");
	struct process_order order = { .config_path =
					       in_environment && *in_environment ? in_environment : CONFIG_DEFAULT,
		.instance = process->service->name };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			order.config_path = optarg;
			break;
		case 'i':
			order.instance = optarg;
			break;
		case 'k':
			order.only_checks = true;
			break;
		case 'm':
			print_manifest(process->service);
			exit(0);
		case 'h':
			print_help(process);
			exit(0);
		case 'v':
			printf("cartbus %s\n", CARTBUS_VERSION);
			exit(0);
		default:
			exit(EXIT_USAGE);
		}
	}
	refuse_nonsense(process, &order, optind < argc ? argv[optind] : NULL);
	return order;
}
