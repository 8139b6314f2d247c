/*
 * copy_broker.c: runs a private broker over a copy of the log, and opens a session with it
 *
 * Owns:      the process, and a folder for its configuration, sockets and output. The process ends with the
 *            command.
 * Fails by:  telling the last line that the process wrote.
 * Read next: erase_copy.c
 */
#include "services/cartbus/backup/copy_broker.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/home.h"
#include "services/kit/settings/settings.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY_US (2 * US_PER_S)
enum { TRIES_MOST = 1800 /* an hour: a large log takes long to open */, WORDS_MAX = 1 << 20 };

struct copy_broker {
	const struct command *outer;
	struct command inner;
	struct client *client;
	char folder[40], config[80];
	pid_t pid;
};

const struct command *copy_broker_command(const struct copy_broker *broker)
{
	return &broker->inner;
}

struct client *copy_broker_client(const struct copy_broker *broker)
{
	return broker->client;
}

/* --- its configuration: as the installation's, with other paths --- */

static void add_section(const struct config *from, const char *section, const char *const *keys, struct buffer *to)
{
	buffer_printf(to, "[%s]\n", section);
	for (; *keys; keys++) {
		const char *value = config_get(from, section, NULL, *keys);

		if (value && *value)
			buffer_printf(to, "%s = %s\n", *keys, value);
	}
}

static int write_config(struct copy_broker *broker, const char *state)
{
	static const char *const paths[] = { "shops", "secrets", NULL };
	static const char *const clock[] = { "rate", "origin-real-us", "origin-wall-us", NULL };
	static const char *const retention[] = { "raw", "raw-mib", "facts", "facts-mib", NULL };
	static const char *const topology[] = { "topology", NULL };
	_cleanup_(buffer_free) struct buffer text = { 0 };
	const struct config *from = broker->outer->config;
	struct config_error error;
	int r;

	add_section(from, "paths", paths, &text);
	buffer_printf(&text, "state = %s\nrun = %s/run\n", state, broker->folder);
	add_section(from, "clock", clock, &text);
	add_section(from, "retention", retention, &text);
	add_section(from, "broker", topology, &text);
	buffer_add_text(&text, "headroom = 16\nheadroom-percent = 0\nheartbeat = 1500\n"); /* it may be slow */
	r = file_write_new(broker->config, buffer_bytes(&text), 0600);
	if (r < 0)
		complain(broker->outer, "%s: %s", broker->config, strerror(-r));
	else if ((r = config_load(broker->config, settings_keys, &broker->inner.config, &error)) < 0)
		complain(broker->outer, "%s", error.text);
	broker->inner.config_path = broker->config;
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

/* --- the process --- */

static void become(const struct copy_broker *broker)
{
	char program[PATH_ROOM + 32], words[80];
	int output;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it works on a copy */
	if (getppid() == 1)
		_exit(127);
	snprintf(program, sizeof(program), "%s/cartbus-broker", programs_folder());
	snprintf(words, sizeof(words), "%s/words", broker->folder);
	output = open(words, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	unsetenv("NOTIFY_SOCKET");
	execl(program, program, "--config", broker->config, (char *)NULL);
	_exit(127);
}

static void tell_last_words(const struct copy_broker *broker)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[80], *last;

	snprintf(path, sizeof(path), "%s/words", broker->folder);
	if (file_read(path, WORDS_MAX, &text) < 0 || text.len == 0)
		return;
	if (text.data[text.len - 1] == '\n')
		text.len--;
	last = memrchr(text.data, '\n', text.len);
	last = last ? last + 1 : (char *)text.data;
	complain(broker->outer, "%.*s", (int)((char *)text.data + text.len - last), last);
}

static bool has_ended(struct copy_broker *broker)
{
	if (broker->pid > 0 && waitpid(broker->pid, NULL, WNOHANG) == broker->pid)
		broker->pid = 0;
	return broker->pid == 0;
}

static int meet(struct copy_broker *broker)
{
	char why[256] = "";

	for (int i = 0; i < TRIES_MOST && !has_ended(broker); i++)
		if (client_open(&cartbus, broker->inner.config, &broker->inner.clock, TRY_US, &broker->client, why) ==
			0)
			return EXIT_FINE;
	/* if the broker ended, `why` depends on the moment of its end, so it is not shown */
	complain(broker->outer, "the copy of the log could not be opened: %s", broker->pid ? why : "its broker ended");
	tell_last_words(broker);
	return EXIT_NO;
}

static int start(struct copy_broker *broker)
{
	pid_t pid = fork();

	if (pid == 0)
		become(broker);
	if (pid < 0) {
		complain(broker->outer, "the broker of the copy could not be started: %s", strerror(errno));
		return EXIT_NO;
	}
	broker->pid = pid;
	return meet(broker);
}

int copy_broker_start(const struct command *command, const char *state, struct copy_broker **ret)
{
	struct copy_broker *broker = memory_new(sizeof(*broker));
	int ended;

	broker->outer = command;
	broker->inner = *command;
	snprintf(broker->folder, sizeof(broker->folder), "/tmp/cartbus-copy-XXXXXX");
	if (!mkdtemp(broker->folder)) {
		complain(command, "%s: %s", broker->folder, strerror(errno));
		free(broker);
		return EXIT_NO;
	}
	snprintf(broker->config, sizeof(broker->config), "%s/cartbus.conf", broker->folder);
	*ret = broker;
	ended = write_config(broker, state);
	if (!ended)
		ended = start(broker);
	if (ended)
		copy_broker_stop(ret);
	return ended;
}

int copy_broker_stop(struct copy_broker **pointer)
{
	struct copy_broker *broker = TAKE(*pointer);
	int status = -1;

	client_free(broker->client);
	if (broker->pid > 0) {
		kill(broker->pid, SIGTERM);
		waitpid(broker->pid, &status, 0);
	}
	if (status != 0 && broker->client)
		tell_last_words(broker);
	if (broker->inner.config != broker->outer->config)
		config_free(broker->inner.config);
	backup_remove_tree(broker->folder);
	free(broker);
	return status == 0 ? EXIT_FINE : EXIT_NO;
}
