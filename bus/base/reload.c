/*
 * reload.c: checks a changed configuration while the process runs, and starts the program anew with it
 *
 * Owns:      the child process that judges the configuration, and the sockets that a supervisor handed over.
 * Promises:  it never blocks: a judge that does not end in time is killed.
 * Fails by:  returning why the configuration is not taken; the process then goes on with the old one.
 * Read next: bus/actor/process/process_config.c and bus/broker/main.c (the callers), config.c
 */
#include "bus/base/reload.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_HANDED = 3, HANDED_MOST = 8, KEPT_FROM = 100 };
static const int64_t JUDGE_US = 10 * US_PER_S;
static const char SELF[] = "/proc/self/exe";

extern char **environ;

static int handed[HANDED_MOST], handed_count;

static int number_in(const char *variable)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : 0;
}

void reload_keep_name(void)
{
	prctl(PR_SET_NAME, program_invocation_short_name);
}

void reload_keep_sockets(void)
{
	int count = number_in("LISTEN_PID") == getpid() ? number_in("LISTEN_FDS") : 0;

	for (int i = 0; i < count && i < HANDED_MOST; i++)
		handed[handed_count++] = fcntl(FIRST_HANDED + i, F_DUPFD_CLOEXEC, KEPT_FROM);
}

static int spawn(struct reload *reload, char *const argv[], int output)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(&reload->child, SELF, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		reload->child = 0;
	return -r;
}

int reload_begin(struct reload *reload, char *const argv[], int64_t now_us)
{
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	r = spawn(reload, argv, ends[1]);
	close(ends[1]);
	if (r < 0)
		close(ends[0]);
	reload->output = ends[0];
	reload->until_us = now_us + JUDGE_US;
	return r;
}

/* The reason is the last line of the judge's output, without "<2>instance: ". */
static void read_last_words(int output, char ret_why[RELOAD_WHY])
{
	char text[4096], *line, *words;
	ssize_t len = read(output, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	words = *line == '<' ? strstr(line, ": ") : NULL;
	text_copy(ret_why, RELOAD_WHY, words ? words + 2 : line);
}

bool reload_judged(struct reload *reload, int64_t now_us, char ret_why[RELOAD_WHY])
{
	int status = 0;
	bool late = now_us >= reload->until_us;

	ret_why[0] = '\0';
	if (!reload->child)
		return false;
	if (late)
		kill(reload->child, SIGKILL);
	if (waitpid(reload->child, &status, late ? 0 : WNOHANG) != reload->child)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		read_last_words(reload->output, ret_why);
	if ((late || status != 0) && !ret_why[0])
		snprintf(ret_why, RELOAD_WHY, "it could not be judged%s", late ? " within ten seconds" : "");
	close(reload->output);
	reload->child = 0;
	return true;
}

int reload_again(char *const argv[])
{
	for (int i = 0; i < handed_count; i++)
		if (dup2(handed[i], FIRST_HANDED + i) < 0) /* exec does not close the copy */
			return -errno;
	close_range((unsigned)(FIRST_HANDED + handed_count), ~0U, CLOSE_RANGE_CLOEXEC);
	execv(SELF, argv);
	return -errno;
}
