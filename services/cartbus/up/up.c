/*
 * up.c: `cartbus up`: runs everything in the foreground under one supervisor
 *
 * Owns:      the processes, their order, and the socket on which they report that they are ready.
 * Promises:  the broker starts first, the others when it is ready; "ready" is printed when all are; a process
 *            that dies is started again after a growing wait; on SIGINT or SIGTERM all stop one by one in the
 *            reverse order, the broker last.
 * Fails by:  giving up when a process dies five times without ever being ready: its own last lines say why.
 * Read next: child.c, prepare.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/notify.h"
#include "bus/base/text.h"
#include "services/cartbus/console/accounts.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/up/child.h"
#include "services/cartbus/up/prepare.h"
#include "services/cartbus/up/subcommands.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>

/* ---- the listening end of sd_notify's protocol: datagrams of "KEY=VALUE" lines (see bus/base/notify.h) ---- */

/* Opens a datagram socket at `path`. Returns it, or a negative errno. */
static int notify_open(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, yes = 1, failed;

	if (!TEXT_COPY(address.sun_path, path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0)
		return fd;
	failed = -errno;
	close(fd);
	return failed;
}

static pid_t sayer_of(struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		struct ucred who;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&who, CMSG_DATA(part), sizeof(who));
		return who.pid;
	}
	return 0;
}

/*
 * Reads the datagrams that are there; calls ready(context, pid) for each READY=1. The kernel vouches for the
 * pid.
 */
static void notify_hear(int fd, void (*ready)(void *context, pid_t pid), void *context)
{
	char text[1024], control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec into = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	ssize_t got;

	for (;;) {
		struct msghdr message = {
			.msg_iov = &into, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
		};

		got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got < 0)
			return;
		text[got] = '\0';
		if (text_starts(text, "READY=1") || strstr(text, "\nREADY=1"))
			ready(context, sayer_of(&message));
	}
}

/* ---- the supervisor ---- */

enum { CHILDREN_MAX = 64, SENDERS_MAX = 32, DEATHS_BEFORE_GIVING_UP = 5 };
/* Then SIGKILL. This is longer than any process needs: a gateway answers within 4 s. */
#define STOP_PATIENCE_US (10 * US_PER_S)

struct supervisor {
	const struct command *command;
	struct child_place place;
	struct child children[CHILDREN_MAX]; /* in the order of starting; the broker is the first */
	int count;
	int signals, notify;
	char notify_path[108];
	bool said_ready, stopping, gave_up;
	int stopping_at;    /* the child that was asked to stop; all after it have ended */
	int64_t kill_us;    /* when it is killed instead */
	struct clock clock; /* true time; the configuration's clock may run faster */
};

static int64_t now_us(const struct supervisor *all)
{
	return clock_boot_us(&all->clock);
}

static void add_child(struct supervisor *all, const char *program, const char *instance)
{
	struct child *child = &all->children[all->count++];

	TEXT_COPY(child->program, program);
	TEXT_COPY(child->instance, instance);
	child->output = -1;
}

static void add_children(struct supervisor *all, int senders)
{
	char instance[40];

	for (int i = 0; programs_all[i]; i++) {
		bool many = strcmp(programs_all[i], "sender") == 0;

		for (int n = 1; n <= (many ? senders : 1); n++) {
			snprintf(instance, sizeof(instance), many && senders > 1 ? "%s-%d" : "%s", programs_all[i], n);
			add_child(all, programs_all[i], i == 0 ? "" : instance);
		}
	}
}

static void print_line(const char *what, const char *more)
{
	fprintf(stderr, "%-12s  %s%s\n", "up", what, more);
}

static void start(struct supervisor *all, struct child *child)
{
	int failed = child_start(child, &all->place, now_us(all));

	if (failed) {
		child->start_again_us = now_us(all) + US_PER_S;
		print_line("cannot start another process: ", strerror(-failed));
	}
}

/*
 * Starts the broker alone until it was ready once; then each program that is not running and whose time has
 * come.
 */
static void start_what_is_due(struct supervisor *all)
{
	int many = all->children[0].was_ready ? all->count : 1;

	for (int i = 0; i < many && !all->stopping; i++) {
		struct child *child = &all->children[i];

		if (child->pid == 0 && now_us(all) >= child->start_again_us)
			start(all, child);
	}
}

/* On a terminal the first admin gets a way in with it. A log must not hold one: `cartbus console link` prints it then. */
static void tell_console(const struct command *command)
{
	_cleanup_(people_freep) struct people *people = NULL;
	char url[ACCOUNTS_LINK_ROOM];

	if (config_number(command->config, "console", NULL, "port") == 0)
		return;
	print_line("the console is at ", config_get(command->config, "console", NULL, "public-url"));
	if (!isatty(STDERR_FILENO)) {
		print_line("cartbus console link", " lets its first admin in");
		return;
	}
	if (accounts_open(command, true, &people) == EXIT_FINE && !people_have_admin(people) &&
		accounts_link(command, people, &(struct entry_link){ .person = "" }, url) == EXIT_FINE)
		print_line("its first admin enters with ", url);
}

static void say_ready_once(struct supervisor *all)
{
	for (int i = 0; i < all->count; i++) {
		if (!all->children[i].ready)
			return;
	}
	if (all->said_ready || all->stopping)
		return;
	all->said_ready = true;
	puts("ready");
	fflush(stdout);
	tell_console(all->command);
	notify("READY=1\nSTATUS=all processes are ready");
}

static void stop_all(struct supervisor *all)
{
	if (all->stopping)
		return;
	all->stopping = true;
	all->stopping_at = all->count;
	all->kill_us = 0;
	print_line("stopping", "");
}

/* Does one step of stopping. true: all children have ended. */
static bool stop_next(struct supervisor *all)
{
	bool waiting = all->stopping_at < all->count && all->children[all->stopping_at].pid != 0;

	if (waiting && now_us(all) >= all->kill_us) {
		print_line(child_name(&all->children[all->stopping_at]), " did not stop in time and is killed");
		kill(all->children[all->stopping_at].pid, SIGKILL);
		all->kill_us = now_us(all) + STOP_PATIENCE_US;
	}
	if (waiting)
		return false;
	while (all->stopping_at > 0 && all->children[all->stopping_at - 1].pid == 0)
		all->stopping_at--;
	if (all->stopping_at == 0)
		return true;
	all->stopping_at--;
	all->kill_us = now_us(all) + STOP_PATIENCE_US;
	kill(all->children[all->stopping_at].pid, SIGTERM);
	return false;
}

static struct child *child_of(struct supervisor *all, pid_t pid)
{
	for (int i = 0; i < all->count; i++) {
		if (all->children[i].pid == pid)
			return &all->children[i];
	}
	return NULL;
}

static void reap(struct supervisor *all)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child *child = child_of(all, pid);

		if (!child)
			continue;
		child_ended(child, status, all->stopping, now_us(all));
		if (!child->was_ready && child->deaths >= DEATHS_BEFORE_GIVING_UP && !all->stopping) {
			print_line(child_name(child), " cannot be started: its lines above say why. Giving up");
			all->gave_up = true;
			stop_all(all);
		}
	}
}

static void hear_signals(struct supervisor *all)
{
	struct signalfd_siginfo info;

	while (read(all->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD && all->stopping)
			all->kill_us = 0; /* asked twice: it kills the child that it waits for */
		else if (info.ssi_signo != SIGCHLD)
			stop_all(all);
	}
	reap(all);
}

static void hear_ready(void *context, pid_t pid)
{
	struct child *child = child_of(context, pid);

	if (child)
		child->ready = child->was_ready = true;
}

static int wait_ms(const struct supervisor *all)
{
	int64_t first_us = now_us(all) + US_PER_S;

	for (int i = 0; i < all->count && !all->stopping; i++) {
		const struct child *child = &all->children[i];

		if (child->pid == 0 && child->start_again_us && child->start_again_us < first_us)
			first_us = child->start_again_us;
	}
	return first_us > now_us(all) ? (int)((first_us - now_us(all)) / US_PER_MS) + 1 : 0;
}

static void hear(struct supervisor *all)
{
	struct pollfd fds[CHILDREN_MAX + 2] = { { .fd = all->signals, .events = POLLIN },
		{ .fd = all->notify, .events = POLLIN } };

	for (int i = 0; i < all->count; i++)
		fds[i + 2] = (struct pollfd){ .fd = all->children[i].output, .events = POLLIN };
	if (poll(fds, (nfds_t)all->count + 2, wait_ms(all)) <= 0)
		return;
	for (int i = 0; i < all->count; i++) {
		if (fds[i + 2].revents)
			child_read(&all->children[i]);
	}
	if (fds[1].revents)
		notify_hear(all->notify, hear_ready, all);
	if (fds[0].revents)
		hear_signals(all);
}

static int supervise(struct supervisor *all)
{
	for (;;) {
		start_what_is_due(all);
		say_ready_once(all);
		if (all->stopping && stop_next(all))
			return all->gave_up ? EXIT_NO : EXIT_FINE;
		hear(all);
	}
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int lock_run(const struct command *command, int *ret_lock)
{
	char path[PATH_ROOM];
	int failed;

	snprintf(path, sizeof(path), "%s/up.lock", config_get(command->config, "paths", NULL, "run"));
	failed = file_lock(path, ret_lock);
	if (!failed)
		return EXIT_FINE;
	complain(command,
		failed == -EBUSY ? "another `cartbus up` is running with this configuration (%s is locked)"
				 : "cannot lock %s",
		path);
	return EXIT_NO;
}

static int run(const struct command *command, const char *config_path, int senders)
{
	static struct supervisor all;
	_cleanup_close_ int lock = -1;
	int failed = prepare(command);

	failed = failed ? failed : lock_run(command, &lock);
	if (failed)
		return failed;
	all.clock = clock_system();
	all.command = command;
	snprintf(all.notify_path, sizeof(all.notify_path), "%s/notify",
		config_get(command->config, "paths", NULL, "run"));
	all.notify = notify_open(all.notify_path);
	if (all.notify < 0) {
		complain(command, "cannot make the socket %s: %s", all.notify_path, strerror(-all.notify));
		return EXIT_NO;
	}
	all.place = (struct child_place){ .bin = programs_folder(), .config = config_path, .notify = all.notify_path };
	all.signals = open_signals();
	add_children(&all, senders);
	failed = supervise(&all);
	unlink(all.notify_path);
	return failed;
}

int command_up(struct command *command, int argc, char **argv)
{
	static char config_path[PATH_MAX];
	const char *senders_text = "1";
	const struct take takes[] = { { "senders", "N", "how many senders (1)", &senders_text, NULL }, { 0 } };
	long senders;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.makes_home = true,
			.help = "Runs the broker and all services in the foreground, from the folder this command lies "
				"in. Makes "
				"missing folders and keys, prints \"ready\" when all are, starts again what dies, and "
				"stops in "
				"order on Ctrl-C or SIGTERM. Its processes leave no core files, unless CARTBUS_DUMPS "
				"is set.\vExample:\n  cartbus up --config /etc/cartbus/cartbus.conf" });
	umask(027);
	senders = strtol(senders_text, NULL, 10);
	if (senders < 1 || senders > SENDERS_MAX) {
		complain(command, "--senders takes a number from 1 to %d", SENDERS_MAX);
		return EXIT_USAGE;
	}
	if (!realpath(command->config_path, config_path)) {
		complain(command, "%s: %s", command->config_path, strerror(errno));
		return EXIT_NO;
	}
	return run(command, config_path, (int)senders);
}
