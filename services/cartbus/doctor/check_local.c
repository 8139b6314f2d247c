/*
 * check_local.c: checks what the processes of this host would refuse at their start, and the ports that they
 * will listen on
 *
 * Promises: runs the same checks as the processes do, each once, and prints their words; changes nothing. It
 *           runs the broker's program with --check, because only that program knows what its topology may
 *           contain. It binds a port as the service will do, but never listens, so a service that starts
 *           meanwhile is not disturbed. The kernel's tables tell who has a port; if this user may not bind
 *           it, they also tell whether it is taken. A process counts as a service of cartbus or as systemd by
 *           its name and its user.
 * Fails by: silence about a broker whose program is not here. It only warns of a port if its process is
 *           hidden from this user, or is a service of cartbus while no broker runs, because that may belong
 *           to this installation. On a host without the broker it cannot tell which processes run, so there
 *           it only warns.
 * Read next: check.c
 */
#include "services/cartbus/doctor/check_local.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/listen_at.h"
#include "bus/base/text.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/reading.h"
#include "services/kit/http/standard_webhook.h"
#include "services/kit/mail/message.h"
#include "services/kit/model/model.h"
#include "services/kit/settings/settings.h"
#include "services/platform/mailin/lmtp_socket.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <pwd.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
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

/* check_ports() looks whether a port is free. */
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
	const char *services; /* each of these services runs the same check at its start */
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

/* The last line of a process tells why it ended: "<2>broker: cannot read the topology". */
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

/* true: these words were told before. A wrong value was, and so was a foreign address (by keys_check). */
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

/* ---- ports ---- */

DEFINE_CLEANUP(FILE *, fclose)
DEFINE_CLEANUP(DIR *, closedir)

enum { ADDRESS_HEX = 33, LISTENS = 0x0A, PROGRAM_ROOM = 16 };

/* Prints an address as /proc/net/tcp and tcp6 show it: its words in the machine's byte order. */
static bool print_address(const char *host, char ret[ADDRESS_HEX], bool *ret_is_v6)
{
	uint32_t words[4];

	if (inet_pton(AF_INET, host, words) == 1)
		return snprintf(ret, ADDRESS_HEX, "%08X", words[0]) > 0;
	*ret_is_v6 = inet_pton(AF_INET6, host, words) == 1;
	return *ret_is_v6 && snprintf(ret, ADDRESS_HEX, "%08X%08X%08X%08X", words[0], words[1], words[2], words[3]) > 0;
}

static bool is_any(const char *address)
{
	return address[strspn(address, "0")] == '\0';
}

/* "::ffff:127.0.0.1": a socket for both families shows an IPv4 address in this form. */
static const char MAPPED[] = "0000000000000000FFFF0000";
static const char TABLE_V4[] = "/proc/net/tcp", TABLE_V6[] = "/proc/net/tcp6";

/*
 * Do two sockets that listen at one port keep each other out? `theirs_is_v6` and `is_v6` are the families of
 * `theirs` and `address`.
 */
static bool is_in_the_way(const char *theirs, bool theirs_is_v6, const char *address, bool is_v6)
{
	if (theirs_is_v6 && !is_v6 && text_starts(theirs, MAPPED)) {
		theirs += strlen(MAPPED);
		theirs_is_v6 = false;
	}
	if (theirs_is_v6 == is_v6)
		return is_any(theirs) || is_any(address) || strcmp(theirs, address) == 0;
	return is_any(theirs_is_v6 ? theirs : address); /* "::" has both families */
}

struct holder {
	unsigned long inode; /* of the socket that listens; 0: none does */
	uid_t uid;           /* the user who opened the socket */
	char program[PROGRAM_ROOM];
};

static bool find_listener(const char *table, const char *address, bool is_v6, int port, struct holder *ret)
{
	_cleanup_(fclosep) FILE *file = fopen(table, "re");
	char line[512], theirs[ADDRESS_HEX];
	unsigned at, state;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %u %*u %lu", theirs, &at, &state,
			    &ret->uid, &ret->inode) == 5 &&
			state == LISTENS && (int)at == port && is_in_the_way(theirs, table == TABLE_V6, address, is_v6))
			return true;
	*ret = (struct holder){ 0 };
	return false;
}

static bool has_socket(const char *process, unsigned long inode)
{
	char path[64], link[64], wanted[64], target[64];
	_cleanup_(closedirp) DIR *folder = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", process);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		ssize_t len;

		snprintf(link, sizeof(link), "%.40s/%.20s", path, entry->d_name);
		len = readlink(link, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		if (strcmp(target, wanted) == 0)
			return true;
	}
	return false;
}

static void read_program(const char *process, char ret[PROGRAM_ROOM])
{
	_cleanup_(fclosep) FILE *file = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/comm", process);
	file = fopen(path, "re");
	if (!file || !fgets(ret, PROGRAM_ROOM, file))
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	text_make_plain(ret); /* a process can choose its name */
}

/* Finds the program that has the socket. "": this user may not see it. */
static void find_program(unsigned long inode, char ret[PROGRAM_ROOM])
{
	_cleanup_(closedirp) DIR *processes = opendir("/proc");
	struct dirent *entry;

	ret[0] = '\0';
	while (processes && !*ret && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]) && has_socket(entry->d_name, inode))
			read_program(entry->d_name, ret);
}

struct place {
	const char *section, *key, *host, *program;
	int port;
};

/*
 * Binds the port as the service does. Returns 0 or a negative errno. -EADDRINUSE: another socket listens
 * there; -EINVAL: the host is no address, which another check refuses.
 */
static int try_bind(const struct place *place)
{
	_cleanup_close_ int fd = -1;
	char port[16];

	snprintf(port, sizeof(port), "%d", place->port);
	fd = listen_at(place->host, port, 0);
	return fd < 0 ? fd : 0;
}

static bool find_holder(const struct place *place, struct holder *ret)
{
	char address[ADDRESS_HEX];
	bool is_v6 = false;

	if (!print_address(place->host, address, &is_v6) ||
		(!find_listener(TABLE_V4, address, is_v6, place->port, ret) &&
			!find_listener(TABLE_V6, address, is_v6, place->port, ret)))
		return false;
	find_program(ret->inode, ret->program);
	return true;
}

/* In a home, the broker's user is also the services' user; the user of a unit has the name of its program. */
static bool is_users_of_the_service(const struct command *command, const struct place *place, uid_t uid)
{
	const struct passwd *user = getpwnam(place->program);
	struct stat control;
	char path[PATH_ROOM];

	if (uid == 0 || uid == geteuid() || (user && uid == user->pw_uid))
		return true;
	snprintf(path, sizeof(path), "%s/control", config_get(command->config, "paths", NULL, "run"));
	return stat(path, &control) == 0 && uid == control.st_uid;
}

static void complain_of(
	const struct command *command, const struct place *place, const struct holder *holder, bool warns)
{
	const char *who = *holder->program ? holder->program : "another process";
	char user[32] = "";

	if (holder->inode)
		snprintf(user, sizeof(user), " (uid %u)", holder->uid);
	complain(command,
		"%s[%s] %s: cannot listen on %s port %d: %s%s has it; ss -ltnp shows who that is: end it, or choose "
		"another port",
		warns ? "warning: " : "", place->section, place->key, place->host, place->port, who, user);
}

static int check_place(const struct command *command, const struct place *place)
{
	bool may_run = command_is_far(command) || command_broker_listens(command), is_service, is_trusted;
	struct holder holder = { 0 };
	int r = try_bind(place);

	if (r != -EADDRINUSE && r != -EACCES)
		return 0;
	if (!find_holder(place, &holder) && r == -EACCES)
		return 0;
	is_service = strcmp(holder.program, place->program) == 0;
	is_trusted = holder.inode && is_users_of_the_service(command, place, holder.uid);
	if (holder.uid == 0 && strcmp(holder.program, "systemd") == 0)
		return 0; /* systemd listens for the service */
	if (is_trusted && may_run && (is_service || !*holder.program))
		return 0;
	if (!is_trusted || !is_service) {
		complain_of(command, place, &holder, may_run || !*holder.program);
		return !may_run && *holder.program;
	}
	complain(command,
		"warning: [%s] %s: %s of this installation, or of another, has %s port %d, and no broker runs here: ss "
		"-ltnp shows which it is; end it if it is another's, or choose another port",
		place->section, place->key, place->program, place->host, place->port);
	return 0;
}

static bool is_everywhere(const char *host)
{
	return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* The second of the two to start finds the port taken by the first. */
static int check_pair(const struct command *command, const struct place *one, const struct place *other)
{
	if (one->port == 0 || one->port != other->port ||
		(strcmp(one->host, other->host) != 0 && !is_everywhere(one->host) && !is_everywhere(other->host)))
		return 0;
	complain(command, "[%s] %s: port %d is that of [%s] %s as well: choose another port", other->section,
		other->key, other->port, one->section, one->key);
	return 1;
}

int check_ports(const struct command *command)
{
	static const char here[] = "127.0.0.1:";
	const struct config *config = command->config;
	const char *lmtp = config_get(config, "mailin", NULL, "lmtp");
	struct place places[] = {
		{ "gateway", "port", config_get(config, "gateway", NULL, "listen"), "cartbus-gateway",
			(int)config_number(config, "gateway", NULL, "port") },
		{ "monitor", "port", config_get(config, "monitor", NULL, "listen"), "cartbus-monitor",
			(int)config_number(config, "monitor", NULL, "port") },
		{ "mailin", "lmtp", "127.0.0.1", "cartbus-mailin",
			lmtp && text_starts(lmtp, here) ? atoi(lmtp + strlen(here)) : 0 },
	};
	enum { PLACES = sizeof(places) / sizeof(*places) };
	int wrong = 0;

	if (command->config_faults)
		return 0; /* a value that is wrong may be one of these ports */
	for (int i = 0; i < PLACES; i++) {
		if (!check_is_local(command, places[i].program + strlen("cartbus-")))
			places[i].port = 0;
	}
	for (int i = 0; i < PLACES; i++) {
		wrong += places[i].port ? check_place(command, &places[i]) : 0;
		for (int j = i + 1; j < PLACES; j++)
			wrong += check_pair(command, &places[i], &places[j]);
	}
	return wrong;
}
