/*
 * listen.c: opens the listening socket, and tells how many connections have room
 *
 * Promises: a socket that the supervisor listens on for the process (cartbus-gateway.socket) is used as it
 *           is: clients that connect while it does not run wait in it. Otherwise `listen` and `port` of its
 *           section give the address.
 * Fails by: die(), which names the fault and the setting.
 */
#include "services/kit/settings/listen.h"
#include "bus/base/log.h"
#include "services/kit/settings/settings.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BACKLOG = 511,
	FIRST_HANDED = 3,
	DESCRIPTORS_BESIDE = 200,
	ROOM_LEAST = 32,
	LISTENS_ROOM = 40
}; /* DESCRIPTORS_BESIDE: for state, spool, ZeroMQ and logs */

/*
 * An environment variable for the process that checks whether this one may restart: the port that it listens
 * on. CARTBUS_GATEWAY_LISTENS of the gateway.
 */
static const char *listens_of(const char *section, char ret[LISTENS_ROOM])
{
	snprintf(ret, LISTENS_ROOM, "CARTBUS_%.16s_LISTENS", section);
	for (char *c = ret; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return ret;
}

/* The usual soft limit of 1024 descriptors is too low for the connections that http.c wants. */
unsigned listen_room(unsigned most)
{
	rlim_t wanted = (rlim_t)most + DESCRIPTORS_BESIDE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return ROOM_LEAST;
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= wanted)
		return most;
	return limit.rlim_cur < DESCRIPTORS_BESIDE + ROOM_LEAST ? ROOM_LEAST
								: (unsigned)limit.rlim_cur - DESCRIPTORS_BESIDE;
}

static int number_in(const char *variable)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : 0;
}

/*
 * As sd_listen_fds(3): the first descriptor is 3, and the variables count only if LISTEN_PID names this
 * process. -1: there is no socket.
 */
static int handed_socket(const char *process)
{
	int count = number_in("LISTEN_PID") == getpid() ? number_in("LISTEN_FDS") : 0;
	int listens = 0;
	socklen_t len = sizeof(listens);

	if (count == 0)
		return -1;
	if (count > 1)
		die("cartbus-%s.socket hands over %d sockets, one is expected: leave one ListenStream= in it", process,
			count);
	if (getsockopt(FIRST_HANDED, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
		die("what cartbus-%s.socket hands over does not listen: ListenStream= with Accept=no is expected",
			process);
	fcntl(FIRST_HANDED, F_SETFL, fcntl(FIRST_HANDED, F_GETFL) | O_NONBLOCK);
	fcntl(FIRST_HANDED, F_SETFD, FD_CLOEXEC);
	log_event(LOG_INFO, "listening where cartbus-%s.socket does; [%s] listen and port are not asked", process,
		process);
	return FIRST_HANDED;
}

static int own_socket(const struct config *config, const char *section)
{
	const char *port = config_get(config, section, NULL, "port");
	char why[512], listens[LISTENS_ROOM];
	int fd = settings_listen(config, section, BACKLOG, why);

	if (fd < 0)
		die("%s", why);
	setenv(listens_of(section, listens), port, 1);
	log_event(LOG_INFO, "listening on %s port=%s", config_get(config, section, NULL, "listen"), port);
	return fd;
}

/*
 * A port in use is no fault unless the parent process listens on another port: usually the running process
 * has it, and a check by hand cannot tell.
 */
void listen_check(const struct config *config, const char *section)
{
	char why[512], listens[LISTENS_ROOM];
	const char *ours = getenv(listens_of(section, listens));
	bool is_ours = !ours || config_number(config, section, NULL, "port") == atoi(ours);
	int fd;

	if (number_in("LISTEN_FDS") > 0 &&
		(number_in("LISTEN_PID") == getpid() || number_in("LISTEN_PID") == getppid()))
		return; /* the supervisor's socket */
	fd = settings_listen(config, section, 0, why);
	if (fd >= 0)
		close(fd);
	else if (fd != -EADDRINUSE || !is_ours)
		die("%s", why);
}

int listen_socket(const struct config *config, const char *section)
{
	int handed = handed_socket(section);

	return handed >= 0 ? handed : own_socket(config, section);
}
