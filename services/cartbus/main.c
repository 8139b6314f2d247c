/*
 * main.c: cartbus, the operator's command: run everything, and operate it
 *
 * Read next: core/subcommand.h (the tables of subcommands), core/subcommand.c (which one is meant), up/up.c (the supervisor), watch/health.c
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/subcommand.h"
#include "services/cartbus/shops/shops.h"
#include <stdio.h>
#include <string.h>

static int print_manifest(void)
{
	_cleanup_(buffer_free) struct buffer manifest = { 0 };

	service_manifest(&cartbus, &manifest);
	fputs(buffer_text(&manifest), stdout);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	static struct subcommands all; /* a subcommand may end by exit(): nobody frees it */

	log_open("cartbus", LOG_WARNING);
	all = subcommands_gather(registered_subcommands);
	if (argc < 2) {
		dispatch_help(&all);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "version") == 0)
		return puts("cartbus " CARTBUS_VERSION), EXIT_FINE;
	if (strcmp(argv[1], "--manifest") == 0)
		return print_manifest();
	if (strcmp(argv[1], "--manual") == 0) /* for what makes man pages and completions */
		return manual_print(&all);
	if (strcmp(argv[1], "--shops") == 0) /* for a shell that completes a name */
		return shops_print(argc > 2 ? argv[2] : NULL);
	return dispatch(&all, argc - 1, argv + 1);
}
