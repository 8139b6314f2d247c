/*
 * check_local.c: what the processes of this host would refuse at their start
 *
 * Promises: asks the judges whom the processes ask, each once, and says their words; changes nothing. Of the broker the program itself is asked,
 *           with --check: what its topology may say nobody else knows.
 * Fails by: silence about a broker whose program is not here.
 * Read next: check.c
 */
#include "services/cartbus/doctor/check_local.h"
#include "services/cartbus/core/home.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/http/standard_webhook.h"
#include "services/kit/mail/message.h"
#include "services/kit/model/model.h"
#include "services/kit/settings/folders.h"
#include "services/kit/settings/listen.h"
#include "services/kit/settings/settings.h"
#include "services/platform/mailin/lmtp_socket.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char MADE_BY_SYSTEMD[] = "/run/cartbus-mailin/";
enum { WHY_ROOM = 512, WORDS_MOST = 4096 };

extern char **environ;

bool check_is_local(const struct command *command, const char *service)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/%s.key", config_get(command->config, "paths", NULL, "keys"), service);
	return !command_is_far(command) || access(path, F_OK) == 0;
}

int check_told(const struct command *command, int failed, const char *why)
{
	if (failed < 0)
		complain(command, "%s%s", failed == -EACCES ? "warning: " : "", why);
	return failed < 0 && failed != -EACCES;
}

static int given(const char *value, void *context)
{
	(void)context;
	return *value != '\0';
}

static int try_alarms(const struct config *config, char why[WHY_ROOM])
{
	struct standard_webhook_keys keys;
	int r = 0;

	if (config_each_value(config, "monitor", NULL, "webhook", given, NULL))
		r = standard_webhook_keys_of(config, &keys, why);
	OPENSSL_cleanse(&keys, sizeof(keys));
	return r;
}

static int try_maildir(const struct config *config, char why[WHY_ROOM])
{
	const char *path = config_get(config, "mailin", NULL, "folder");

	return path && *path ? settings_maildir_try(path, "new", why) : 0;
}

/* Whether a port is free check_ports() looks. */
static int try_lmtp(const struct config *config, char why[WHY_ROOM])
{
	const char *where = config_get(config, "mailin", NULL, "lmtp");
	int r = where && *where == '/' ? lmtp_socket_try(where, why) : 0;

	return r == -ENOENT && text_starts(where, MADE_BY_SYSTEMD) ? 0 : r;
}

static int try_lmtp_group(const struct config *config, char why[WHY_ROOM])
{
	const char *where = config_get(config, "mailin", NULL, "lmtp");

	return where && *where ? lmtp_socket_try_group(config_get(config, "mailin", NULL, "lmtp-group"), why) : 0;
}

static const struct {
	const char *services; /* any of these asks the same at its start */
	int (*try)(const struct config *config, char why[WHY_ROOM]);
} judges[] = {
	{ "gateway", settings_listen_try },
	{ "sender monitor summarizer", mail_try },
	{ "sender summarizer", model_try },
	{ "monitor", try_alarms },
	{ "mailin", try_maildir },
	{ "mailin", try_lmtp_group },
	{ "mailin", try_lmtp },
	{ "exporter summarizer", settings_export_try },
};

static bool is_any_local(const struct command *command, const char *services)
{
	char name[32];
	size_t len;

	for (; (len = strcspn(services, " ")) > 0; services += len, services += strspn(services, " ")) {
		text_copy_bytes(name, sizeof(name), BYTES(services, len));
		if (check_is_local(command, name))
			return true;
	}
	return false;
}

/* ---- the broker ---- */

static int spawn_broker(const struct command *command, int output, pid_t *ret)
{
	char program[PATH_ROOM + 20];
	char *const argv[] = { program, "--check", "--config", (char *)command->config_path, NULL };
	posix_spawn_file_actions_t actions;
	int r;

	snprintf(program, sizeof(program), "%.500s/cartbus-broker", programs_folder());
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	r = posix_spawn(ret, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* What it died of is its last line: "<2>broker: cannot read the topology". */
static const char *last_words(char words[WORDS_MOST], int output)
{
	size_t len = 0;
	ssize_t got;
	char *line, *colon;

	while (len < WORDS_MOST - 1 && (got = read(output, words + len, WORDS_MOST - 1 - len)) > 0)
		len += (size_t)got;
	words[len] = '\0';
	while (len > 0 && words[len - 1] == '\n')
		words[--len] = '\0';
	line = strrchr(words, '\n');
	line = line ? line + 1 : words;
	colon = *line == '<' ? strstr(line, ": ") : NULL;
	return colon ? colon + 2 : line;
}

struct telling {
	const char *words;
	bool is_known;
};

static void compare(const char *text, void *context)
{
	struct telling *telling = context;

	telling->is_known = telling->is_known || strcmp(text, telling->words) == 0;
}

/* A value that is wrong has been told of, and so has a foreign address (keys_check). */
static bool is_told(const struct command *command, const char *words)
{
	struct telling telling = { .words = words };
	struct config_error error;

	config_judge_file(command->config_path, settings_keys, compare, &telling, &error);
	return telling.is_known || text_starts(words, "[broker] listen = ");
}

static int check_broker(const struct command *command)
{
	char words[WORDS_MOST];
	const char *why;
	int ends[2], status = 0, r;
	pid_t broker;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	r = spawn_broker(command, ends[1], &broker);
	close(ends[1]);
	why = r < 0 ? "" : last_words(words, ends[0]);
	close(ends[0]);
	if (r < 0 || waitpid(broker, &status, 0) < 0 || status == 0 || is_told(command, why))
		return 0;
	return check_told(command, -EINVAL, *why ? why : "cartbus-broker --check ends without a word");
}

/* ---- the folders ---- */

static bool is_no_folder(const char *path)
{
	struct stat there;

	return stat(path, &there) < 0 ? errno == ENOTDIR : !S_ISDIR(there.st_mode);
}

/* A folder that is missing is no fault: the first process that needs it makes it. */
static int check_folders(const struct command *command)
{
	static const struct {
		const char *section, *key;
	} folders[] = { { "paths", "state" }, { "paths", "run" }, { "paths", "shops" }, { "backup", "folder" } };
	int wrong = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		const char *path = config_get(command->config, folders[i].section, NULL, folders[i].key);

		if (!is_no_folder(path))
			continue;
		complain(command, "[%s] %s = %s: it is no folder: name another path, or move away what is there",
			folders[i].section, folders[i].key, path);
		wrong++;
	}
	return wrong;
}

int check_local(const struct command *command)
{
	int wrong = check_folders(command) + (command_is_far(command) ? 0 : check_broker(command));
	char why[WHY_ROOM];

	for (size_t i = 0; i < sizeof(judges) / sizeof(*judges); i++)
		if (is_any_local(command, judges[i].services))
			wrong += check_told(command, judges[i].try(command->config, why), why);
	return wrong;
}
