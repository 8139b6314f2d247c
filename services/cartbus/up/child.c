/*
 * child.c: one process under `cartbus up`
 *
 * Owns:      the process, and the pipe with its lines.
 * Promises:  a child dies with its supervisor (SIGTERM by the kernel); Ctrl-C in the terminal reaches the
 *            supervisor alone, so that children stop in order. A child that ends is started again, later each
 *            time: 0.2 s, doubling, at most 10 s.
 */
#include "services/cartbus/up/child.h"

#include "bus/base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKOFF_FIRST_US (200 * US_PER_MS)
#define BACKOFF_MOST_US (10 * US_PER_S)
#define GOOD_RUN_US (30 * US_PER_S) /* after this the count of deaths starts anew */

const char *child_name(const struct child *child)
{
	return child->instance[0] ? child->instance : child->program;
}

static void become(const struct child *child, const struct child_place *place, int output)
{
	char path[512];
	char *argv[] = { path, "--config", (char *)place->config, child->instance[0] ? "--instance" : NULL,
		(char *)child->instance, NULL };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	setenv("NOTIFY_SOCKET", place->notify, 1);
	snprintf(path, sizeof(path), "%s/cartbus-%s", place->bin, child->program);
	execv(path, argv);
	fprintf(stderr, "cannot start %s: %s\n", path, strerror(errno));
	_exit(127);
}

int child_start(struct child *child, const struct child_place *place, int64_t now_us)
{
	int ends[2], failed;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	pid = fork();
	failed = pid < 0 ? -errno : 0;
	if (pid == 0)
		become(child, place, ends[1]);
	close(ends[1]);
	if (failed) { /* pid stays 0: kill(-1) would signal every process of this user */
		close(ends[0]);
		return failed;
	}
	child->pid = pid;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	child->output = ends[0];
	child->ready = false;
	child->started_us = now_us;
	child->start_again_us = 0;
	child->line_len = 0;
	return 0;
}

/*
 * "<6>intake: cart changed" is printed as "intake       cart changed": the level is for the journal, and the
 * name begins the line.
 */
static void pass_line_on(struct child *child)
{
	const char *line = child->line, *colon;
	const char *mark = " ";

	child->line[child->line_len] = '\0';
	child->line_len = 0;
	if (line[0] == '<' && line[1] >= '0' && line[1] <= '7' && line[2] == '>') {
		mark = line[1] <= '3' ? "!" : line[1] == '4' ? "?" : " ";
		line += 3;
	}
	colon = strstr(line, ": ");
	if (colon && (size_t)(colon - line) < sizeof(child->instance) && !memchr(line, ' ', (size_t)(colon - line)))
		line = colon + 2;
	fprintf(stderr, "%-12s%s %s\n", child_name(child), mark, line);
}

static void take_bytes(struct child *child, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool ends = bytes[i] == '\n';

		if (ends || child->line_len == sizeof(child->line) - 1)
			pass_line_on(child);
		if (!ends)
			child->line[child->line_len++] = bytes[i];
	}
}

/* Its last line may have no end: of a crash it may be the one that tells why. */
static void close_output(struct child *child)
{
	if (child->line_len > 0)
		pass_line_on(child);
	close(child->output);
	child->output = -1;
}

void child_read(struct child *child)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(child->output, bytes, sizeof(bytes))) > 0)
		take_bytes(child, bytes, (size_t)got);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_output(child);
}

static void say_how_it_ended(const struct child *child, int status, int64_t again_us)
{
	char how[64];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "ended with %d", WEXITSTATUS(status));
	fprintf(stderr, "%-12s! %s %s; starts again in %.1f s\n", "up", child_name(child), how,
		(double)again_us / US_PER_S);
}

void child_ended(struct child *child, int status, bool stopping, int64_t now_us)
{
	int64_t backoff_us = BACKOFF_FIRST_US;

	if (child->output >= 0)
		child_read(child);
	if (child->output >= 0)
		close_output(child);
	child->pid = 0;
	child->ready = false;
	if (stopping)
		return;
	child->deaths = now_us - child->started_us > GOOD_RUN_US ? 1 : child->deaths + 1;
	for (int i = 1; i < child->deaths && backoff_us < BACKOFF_MOST_US; i++)
		backoff_us *= 2;
	if (backoff_us > BACKOFF_MOST_US)
		backoff_us = BACKOFF_MOST_US;
	child->start_again_us = now_us + backoff_us;
	say_how_it_ended(child, status, backoff_us);
}
