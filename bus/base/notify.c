/*
 * notify.c: sends one datagram to the supervisor
 *
 * Fails by:  sending nothing: the process neither stops nor waits long for a supervisor that does not listen.
 */
#include "bus/base/notify.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static const struct timeval PATIENCE = { .tv_sec = 1 };
static const struct timespec BEFORE_THE_NEXT_TRY = { .tv_sec = 10 };
enum {
	ALIVE_IN_A_WAIT = 3, /* a lost one and a late one do not end a process that works */
	STATUS_MOST = 1024
};

static bool ready_said;

static void send_to_supervisor(const char *lines, int flags)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;

	if (len == 0 || len >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* an abstract socket */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &PATIENCE, sizeof(PATIENCE));
	(void)!sendto(fd, lines, strlen(lines), MSG_NOSIGNAL | flags, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

void notify(const char *lines)
{
	ready_said = ready_said || text_starts(lines, "READY=1");
	send_to_supervisor(lines, 0);
}

void notify_status(const char *format, ...)
{
	char line[STATUS_MOST] = "STATUS=";
	size_t start = strlen(line);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line + start, sizeof(line) - start, format, arguments);
	va_end(arguments);
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' '; /* a further line would be a message of its own */
	send_to_supervisor(line, MSG_DONTWAIT);
}

static int64_t number_in(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	long long number = text ? strtoll(text, &end, 10) : 0;

	return text && end != text && *end == '\0' && number > 0 ? number : 0;
}

void notify_failed(const char *why)
{
	sigset_t asked_to_end;

	notify_status(NOTIFY_FAILED "%s", why);
	if (ready_said || number_in("SYSTEMD_EXEC_PID") != getpid())
		return;
	sigemptyset(&asked_to_end);
	sigaddset(&asked_to_end, SIGTERM);
	sigaddset(&asked_to_end, SIGINT);
	sigtimedwait(&asked_to_end, NULL, &BEFORE_THE_NEXT_TRY);
}

struct notify_alive notify_alive_asked(void)
{
	int64_t process = number_in("WATCHDOG_PID"); /* a child inherits the variables, and need not answer */

	if (process && process != getpid())
		return (struct notify_alive){ 0 };
	return (struct notify_alive){ .every_us = number_in("WATCHDOG_USEC") / ALIVE_IN_A_WAIT };
}

int64_t notify_alive(struct notify_alive *alive, int64_t now_us)
{
	if (alive->every_us == 0)
		return -1;
	if (now_us >= alive->next_us) {
		send_to_supervisor("WATCHDOG=1", MSG_DONTWAIT);
		alive->next_us = now_us + alive->every_us;
	}
	return alive->next_us - now_us;
}
