/* operated.c: an installation in a folder, with a real broker, in which the operator's commands are run */
#include "tests/service/cartbus/operated.h"
#include "services/cartbus/core/subcommand.h"

#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/cartbus.h"
#include "tests/unit/document.h"
#include "tests/unit/folder.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WORDS_MAX = 16,
	OUTPUT_MAX = 1 << 20,
	US_DIGITS = 16,
	DAYS_S = 2 * 86400,
	HEARTBEAT_MS = 1500 /* nobody dies of a busy machine */
};
static const char AS_COMMAND[] = "--as-command", FOLDER[] = "FOLDER";

struct operated {
	struct world *world;
	struct buffer transcript;
	pid_t child;
	int status;
};

/* --- who else is on the bus --- */

static enum verdict refuse_bad(const struct state *state, const CartChanged *changed, struct turn *turn)
{
	(void)state, (void)changed;
	return strcmp(turn_message(turn)->key, "bad") == 0 ? turn_dead_letter(turn, "its basket cannot be read")
							   : TURN_DONE;
}

/* What services remember the outside world may say: facts that real services would have said. */
#define FOR_OUTSIDE(name)                                                                                              \
	static void leave_##name(                                                                                      \
		struct state *state, const struct message_meta *said, const topic_message_##name *message)             \
	{                                                                                                              \
		(void)state, (void)said, (void)message;                                                                \
	}
FOR_OUTSIDE(cart_state)
FOR_OUTSIDE(cart_checkout)
FOR_OUTSIDE(timer_set)
FOR_OUTSIDE(reminder_sent)
FOR_OUTSIDE(suppression)
FOR_OUTSIDE(privacy_state)
FOR_OUTSIDE(audit)

static const struct service intake = { .name = "intake",
	.exclusive = true,
	.hears = HEARING(HEARS(cart_changed, refuse_bad)),
	.remembers = REMEMBERING(REMEMBERS(cart_state, leave_cart_state), REMEMBERS(cart_checkout, leave_cart_checkout),
		REMEMBERS(timer_set, leave_timer_set), REMEMBERS(reminder_sent, leave_reminder_sent),
		REMEMBERS(suppression, leave_suppression), REMEMBERS(privacy_state, leave_privacy_state),
		REMEMBERS(audit, leave_audit)) };

/* --- the folder --- */

void operated_write(const struct operated *operated, const char *name, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", operated_folder(operated), name);
	*strrchr(path, '/') = '\0';
	if (file_make_folders(path, 0700) < 0)
		die("cannot make %s", path);
	snprintf(path, sizeof(path), "%s/%s", operated_folder(operated), name);
	if (file_write_new(path, bytes_of(text), 0600) < 0)
		die("cannot write %s", path);
}

static void make_folders(const struct operated *operated)
{
	static const char *const names[] = { "shops/demo", "secrets", "keys", "backups", "state/waiter" };
	char path[200];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", operated_folder(operated), names[i]);
		if (file_make_folders(path, 0700) < 0)
			die("cannot make %s", path);
	}
}

void operated_config(const struct operated *operated, const char *name, const char *mail)
{
	const char *folder = operated_folder(operated);
	char text[1200];

	snprintf(text, sizeof(text),
		"[paths]\nstate = %s/state\nrun = %s/run\nshops = %s/shops\nsecrets = %s/secrets\nkeys = %s/keys\n"
		"[broker]\ntopology = %s/topology.conf\n[backup]\nfolder = %s/backups\n[export]\nfolder = %s/export\n"
		"[gateway]\nport = 9\npublic-url = http://127.0.0.1:9\n[monitor]\nport = 0\n[mail]\nmaildir = "
		"%s/mail\n%s",
		folder, folder, folder, folder, folder, folder, folder, folder, folder, mail);
	operated_write(operated, name, text);
}

static bool intake_is_there(struct world *world, void *context)
{
	(void)context;
	return runtime_phase(world_runtime(world, "intake")) == RUNTIME_READY;
}

struct operated *operated_new_with(const struct service *beside)
{
	const struct service *const all[] = { &intake, &cartbus, beside, NULL };
	struct operated *operated = memory_new(sizeof(*operated));
	char config[200];

	operated->world = world_new_real(all, HEARTBEAT_MS);
	world_start(operated->world, "intake", &intake, NULL);
	if (!world_until(operated->world, intake_is_there, NULL))
		die("intake does not come up");
	make_folders(operated);
	operated_config(operated, "operator.conf", "");
	operated_write(operated, "shops/demo/shop.conf", DEMO_SHOP);
	operated_write(
		operated, "secrets/address.key", OPERATED_ADDRESS_KEY); /* `secrets make` makes none beside a log */
	snprintf(config, sizeof(config), "%s/operator.conf", operated_folder(operated));
	setenv("CARTBUS_CONFIG", config, 1);
	setenv("SUDO_USER", "ada", 1);
	setenv("TZ", "UTC", 1);
	return operated;
}

void operated_free(struct operated *operated)
{
	world_free(operated->world);
	buffer_free(&operated->transcript);
	free(operated);
}

int operated_setup(void **state)
{
	*state = operated_new_with(NULL);
	return 0;
}

int operated_teardown(void **state)
{
	operated_free(*state);
	return 0;
}

struct world *operated_world(struct operated *operated)
{
	return operated->world;
}

const char *operated_folder(const struct operated *operated)
{
	return world_folder(operated->world);
}

struct bytes operated_transcript(const struct operated *operated)
{
	return buffer_bytes(&operated->transcript);
}

/* --- what differs from run to run --- */

/* "2026-11-21 04:06:29" or "2026-11-21T040629Z", if it is of these days. */
static size_t now_len(const char *text)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H%M%SZ" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm fields = { 0 };
		const char *end = isdigit((unsigned char)*text) ? strptime(text, forms[i], &fields) : NULL;

		if (end && labs(timegm(&fields) - time(NULL)) < DAYS_S)
			return (size_t)(end - text);
	}
	return 0;
}

static bool is_now_us(const char *text)
{
	long long us = 0;

	if (strspn(text, "0123456789") != US_DIGITS)
		return false;
	us = strtoll(text, NULL, 10);
	return llabs(us / US_PER_S - time(NULL)) < DAYS_S;
}

/* Of keys, sums and names that are made up. */
static size_t random_len(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len == 32 || len == 64 ? len : 0;
}

/* "17 files, 0.3 MiB" */
static size_t size_len(const char *text)
{
	int len = 0;

	return isdigit((unsigned char)*text) && sscanf(text, "%*u files, %*u.%*u MiB%n", &len) == 0 ? (size_t)len : 0;
}

static size_t replaced(const char *text, const char *folder, const char **ret)
{
	if (text_starts(text, folder))
		return *ret = FOLDER, strlen(folder);
	if (now_len(text) > 0)
		return *ret = "TODAY", now_len(text);
	if (is_now_us(text))
		return *ret = "NOW_US", (size_t)US_DIGITS;
	if (size_len(text) > 0)
		return *ret = "SOME files, SOME MiB", size_len(text);
	*ret = "RANDOM";
	return random_len(text);
}

/* Behind some words there stands what is made of these: a number or a made up name. 0: this is none. */
static size_t fleeting_len(struct bytes told, const char *text)
{
	static const char digits[] = "0123456789",
			  letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const struct {
		const char *before, *made_of;
	} all[] = { { "\"bytes\": ", digits }, { "\"files\": ", digits }, { " after ", digits }, { ", uid ", digits },
		{ ", gid ", digits }, { "127.0.0.1@", digits }, { "/cartbus-copy-", letters },
		{ "/broker.", letters } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t len = strlen(all[i].before);

		if (told.len >= len && memcmp(told.data + told.len - len, all[i].before, len) == 0)
			return strspn(text, all[i].made_of);
	}
	return 0;
}

static void add_scrubbed(struct operated *operated, const char *text)
{
	const char *folder = operated_folder(operated), *by;

	while (*text) {
		size_t len = replaced(text, folder, &by);

		if (len == 0) {
			by = "SOME";
			len = fleeting_len(buffer_bytes(&operated->transcript), text);
		}
		buffer_add(&operated->transcript, len ? by : text, len ? strlen(by) : 1);
		text += len ? len : 1;
	}
}

/* --- running --- */

/* This very program, which operated_main makes the command: a forked process alone would have the parent's threads half. */
static void become(char *line, const char *output)
{
	char *words[WORDS_MAX] = { (char *)"cartbus", (char *)AS_COMMAND };
	int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), count = 2;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	for (char *word = strtok(line, " "); word && count < WORDS_MAX - 1; word = strtok(NULL, " "))
		words[count++] = word;
	execv("/proc/self/exe", words);
	_exit(127);
}

void operated_main(const struct subcommand *const *tables, int argc, char **argv)
{
	static struct subcommands subcommands;

	if (argc < 3 || strcmp(argv[1], AS_COMMAND) != 0)
		return;
	subcommands = subcommands_gather(tables);
	if (strcmp(argv[2], "--manual") == 0)
		exit(manual_print(&subcommands));
	exit(dispatch(&subcommands, argc - 2, argv + 2));
}

static bool has_ended(struct world *world, void *context)
{
	struct operated *operated = context;

	(void)world;
	return waitpid(operated->child, &operated->status, WNOHANG) == operated->child;
}

/* The line with the folder for FOLDER. */
static void write_line(const struct operated *operated, const char *line, struct buffer *ret)
{
	for (const char *at; (at = strstr(line, FOLDER)); line = at + strlen(FOLDER))
		buffer_printf(ret, "%.*s%s", (int)(at - line), line, operated_folder(operated));
	buffer_add_text(ret, line);
	buffer_add(ret, "", 1);
}

int operated_run(struct operated *operated, const char *line)
{
	struct buffer said = { 0 }, whole = { 0 };
	char output[200];
	int ended;

	snprintf(output, sizeof(output), "%s/output", operated_folder(operated));
	write_line(operated, line, &whole);
	operated->child = fork();
	if (operated->child == 0)
		become((char *)whole.data, output);
	if (!world_until(operated->world, has_ended, operated)) {
		kill(operated->child, SIGKILL);
		die("it does not end: cartbus %s", line);
	}
	ended = WIFEXITED(operated->status) ? WEXITSTATUS(operated->status) : -1;
	if (file_read(output, OUTPUT_MAX, &said) < 0)
		die("cannot read %s", output);
	buffer_add_text(&operated->transcript, "$ cartbus ");
	add_scrubbed(operated, line);
	buffer_add_text(&operated->transcript, "\n");
	add_scrubbed(operated, buffer_text(&said));
	if (ended)
		buffer_printf(&operated->transcript, "(exit %d)\n", ended);
	buffer_free(&said);
	buffer_free(&whole);
	return ended;
}
