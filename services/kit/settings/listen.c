/* listen.c: the address that the gateway listens at */
#include "services/kit/settings/listen.h"
#include "bus/base/listen_at.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_of_another_machine(int error)
{
	return error == -EADDRNOTAVAIL || error == -EAFNOSUPPORT;
}

static void explain(const struct config *config, int error, char ret_why[512])
{
	const char *remedy = is_of_another_machine(error)
		? "this machine has no such address (ip addr lists those that it has): [gateway] listen names one"
		: "is another gateway running? [gateway] port chooses another";

	snprintf(ret_why, 512, "cannot listen on %s port %s: %s; %s", config_get(config, "gateway", NULL, "listen"),
		config_get(config, "gateway", NULL, "port"), strerror(-error), remedy);
}

int settings_listen(const struct config *config, int backlog, char ret_why[512])
{
	int fd = listen_at(
		config_get(config, "gateway", NULL, "listen"), config_get(config, "gateway", NULL, "port"), backlog);

	if (fd < 0)
		explain(config, fd, ret_why);
	return fd;
}

int settings_listen_try(const struct config *config, char ret_why[512])
{
	int fd = listen_at(config_get(config, "gateway", NULL, "listen"), "0", 0);

	if (fd >= 0)
		close(fd);
	if (!is_of_another_machine(fd))
		return 0;
	explain(config, fd, ret_why);
	return fd;
}
