/*
 * lmtp_socket.c: opens the socket of LMTP: a Unix socket that belongs to a group, or a port of this machine
 *
 * Promises:  no client can connect to the path before the socket belongs to its group; a file at the path
 *            that is no socket stays.
 * Fails by:  die() with a remedy.
 */
#include "services/platform/mailin/lmtp_socket.h"
#include "bus/base/listen_at.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH_BYTES = sizeof(((struct sockaddr_un *)NULL)->sun_path) };

/*
 * An environment variable for the process that checks whether mailin may restart: the address that mailin
 * listens on.
 */
static const char LISTENS[] = "CARTBUS_MAILIN_LISTENS";

int lmtp_socket_try_group(const char *group, char ret_why[512])
{
	if (!*group || getgrnam(group))
		return 0;
	snprintf(ret_why, 512, "[mailin] lmtp-group = %s: there is no such group: that of the mail server was expected",
		group);
	return -ENOENT;
}

static const struct group *find_group(const char *group)
{
	char why[512];

	if (lmtp_socket_try_group(group, why) < 0)
		die("%s", why);
	return *group ? getgrnam(group) : NULL;
}

/* The process must be in the group: as its own user it can give the socket to no other group. */
static int give_to(const char *path, const char *group)
{
	const struct group *found = find_group(group);

	if (found && chown(path, (uid_t)-1, found->gr_gid) < 0)
		die("[mailin] lmtp-group = %s: %s: cartbus-mailin has to be in it: SupplementaryGroups=%s in a drop-in",
			group, strerror(errno), group);
	if (!found)
		log_event(LOG_WARNING,
			"any user of this machine may connect to %s: [mailin] lmtp-group names the mail "
			"server's group",
			path);
	return chmod(path, found ? 0660 : 0666) < 0 ? -errno : 0;
}

/* Writes what the error means at this address. Returns the error. */
static int explain(const char *where, int error, char ret_why[512])
{
	bool is_path = where[0] == '/';
	const char *remedy = error == -EADDRINUSE ? "ss -ltnp shows who has it: end that, or choose another port"
		: is_path ? "a unit of systemd may make one below /run/cartbus-mailin, and nowhere else"
		: error == -EPERM || error == -EACCES
		? "systemctl edit cartbus-mailin allows it: [Service] SocketBindAllow=ipv4:tcp: and the port"
		: "a place where this user may listen was expected";

	if (error == -ENAMETOOLONG)
		snprintf(ret_why, 512, "[mailin] lmtp: a socket's path has at most %d characters", PATH_BYTES - 1);
	else if (error == -EEXIST)
		snprintf(ret_why, 512,
			"[mailin] lmtp = %s: something is there that is no socket: remove it or name another path",
			where);
	else if (error == -EINVAL)
		snprintf(ret_why, 512, "[mailin] lmtp = %s: expected the path of a socket, or 127.0.0.1 and a port",
			where);
	else
		snprintf(ret_why, 512, "[mailin] lmtp = %s: %s: %s", where, strerror(-error), remedy);
	return error;
}

/* -EEXIST: the path has something that is no socket, so no earlier run has left it. */
static int check_makes_room(const char *path)
{
	struct stat there;

	if (lstat(path, &there) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISSOCK(there.st_mode) ? 0 : -EEXIST;
}

static int listen_unix(struct lmtp_socket *at, const char *path, const char *group)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!TEXT_COPY(address.sun_path, path))
		return -ENAMETOOLONG;
	int room = check_makes_room(path);
	if (room < 0)
		return room;
	TEXT_COPY(at->path, path);
	unlink(path); /* left by an earlier run: only one process at a time has the lock of the state's folder */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/*
	 * The process's umask keeps all other users out until the socket is given to its group (process.c).
	 */
	int bound = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	if (bound < 0)
		return bound;
	int r = give_to(path, group);
	return r < 0 ? r : fd;
}

#define HERE "127.0.0.1"

/*
 * Binds to this machine alone. Mails are believed only for their proofs, but strangers could fill a port that
 * is open to the world.
 */
static int bind_tcp(const char *where)
{
	const char *port = text_starts(where, HERE ":") ? where + strlen(HERE ":") : "";
	char *end;
	long number = strtol(port, &end, 10);

	return *end || number < 1 || number > 65535 ? -EINVAL : listen_at(HERE, port, 0);
}

void lmtp_socket_listen(struct lmtp_socket *ret, const char *where, const char *group, int backlog)
{
	char why[512];

	*ret = (struct lmtp_socket){ 0 };
	ret->fd = where[0] == '/' ? listen_unix(ret, where, group) : bind_tcp(where);
	if (ret->fd < 0 || listen(ret->fd, backlog) < 0) {
		explain(where, ret->fd < 0 ? ret->fd : -errno, why);
		die("%s", why);
	}
	setenv(LISTENS, where, 1);
}

static int try_unix(const char *path)
{
	char folder[PATH_BYTES];

	if (!TEXT_COPY(folder, path))
		return -ENAMETOOLONG;
	return access(dirname(folder), W_OK | X_OK) < 0 ? -errno : check_makes_room(path);
}

/* A port in use is no fault if the running mailin may have it; a check by hand cannot tell. */
static int try_tcp(const char *where)
{
	const char *ours = getenv(LISTENS);
	bool is_ours = !ours || strcmp(ours, where) == 0;
	int fd = bind_tcp(where);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (fd == -EADDRINUSE && is_ours) ? 0 : fd;
}

int lmtp_socket_try(const char *where, char ret_why[512])
{
	int r = where[0] == '/' ? try_unix(where) : try_tcp(where);

	return r < 0 ? explain(where, r, ret_why) : 0;
}

void lmtp_socket_close(struct lmtp_socket *at)
{
	close(at->fd);
	if (at->path[0])
		unlink(at->path);
}
