/*
 * transcript.c: what the operator types and what cartbus answers, from a file, line by line
 *
 *   test_cartbus_transcript FILE [--write]
 *
 * The file holds what there is, then commands, each with all that it prints. Lines of the file that begin so mean:
 *   ## WORDS                              nothing
 *   + PATH TEXT                           a file in the home of the installation; \n is a line's end
 *   % MODE PATH                           a file's mode, in octal
 *   | TOPIC[@SERVICE] SHOP KEY SECONDS {...}   a message in the log, so long after (before) stand_in.h's now
 *   ? QUESTION {...} [|| {...} ...]       what the broker answers to a question, first and then, in each command; "? away" takes it away
 *   @ SIZE KEY ...                        the next command has a terminal, where this is typed: see terminal_stand_in.h
 *   $ [NAME=VALUE ...] WORDS              `cartbus WORDS`, with 'quotes' and < FILE; the lines below it are what it has to print
 * HOME stands for the path of the home, VERSION for that of this build. Behind what a command prints stands [exit N] unless it ends with 0.
 *
 * --write puts what the commands print now into FILE: to be read line by line before it is committed.
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "tests/service/cartbus/stand_in.h"
#include "tests/service/cartbus/terminal_stand_in.h"
#include "tests/unit/folder.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { WORDS_MAX = 40, PATIENCE_S = 240, OUTPUT_MAX = 1 << 20, FOLD_FROM = 10 };

int cartbus_main(int argc, char **argv); /* main.c's */

static struct folder home;

/* Appends text with every `from` in it become `to`. */
static void add_replaced(struct buffer *to, const char *text, const char *from, const char *by)
{
	for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
		buffer_add(to, text, (size_t)(at - text));
		buffer_add_text(to, by);
	}
	buffer_add_text(to, text);
}

/* Appends text; a line that is there FOLD_FROM times or more in a row stands once, with how often. */
static void add_folded(struct buffer *to, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n"), count = 1;

		len += text[len] == '\n';
		while (strncmp(text + count * len, text, len) == 0)
			count++;
		if (count < FOLD_FROM)
			count = 1;
		buffer_add(to, text, count > 1 ? len - 1 : len);
		if (count > 1)
			buffer_printf(to, " (%zu times)\n", count);
		text += count * len;
	}
}

/* Splits in place; a word may have 'quotes'. */
static int split(char *line, char **ret)
{
	int count = 0;

	while (*line) {
		char *to = line;
		bool is_quoted = false;

		ret[count++] = line;
		if (count == WORDS_MAX)
			die("too many words");
		for (; *line && (is_quoted || *line != ' '); line++) {
			if (*line == '\'')
				is_quoted = !is_quoted;
			else
				*to++ = *line;
		}
		line += *line == ' ';
		*to = '\0';
	}
	return count;
}

static void run_child(char *line, int output)
{
	static char unprinted[OUTPUT_MAX];
	char *all[WORDS_MAX + 1], path[160], **words = all;
	int count = 1 + split(line, all + 1), input;

	for (; count > 1 && isupper((unsigned char)words[1][0]) && strchr(words[1], '='); count--)
		putenv(*++words);
	words[0] = "cartbus";
	snprintf(path, sizeof(path), "/dev/null");
	if (count > 2 && strcmp(words[count - 2], "<") == 0) {
		snprintf(path, sizeof(path), "%s/%s", home.path, words[count - 1]);
		count -= 2;
	}
	words[count] = NULL;
	input = open(path, O_RDONLY | O_CLOEXEC);
	if (input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
		die("%s: %s", path, strerror(errno));
	setvbuf(stdout, unprinted, _IOFBF, sizeof(unprinted)); /* standard error comes before it, not within */
	alarm(PATIENCE_S);
	exit(cartbus_main(count, words));
}

static void run(const char *line, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer words = { 0 }, printed = { 0 }, folded = { 0 }, at_home = { 0 };
	char path[160];
	int output, status;
	pid_t child;

	FOLDER_PATH(path, home, "printed");
	output = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	add_replaced(&words, line, "HOME", home.path);
	fflush(NULL);
	child = fork();
	if (child == 0)
		run_child((char *)buffer_text(&words), output);
	if (child < 0 || output < 0 || waitpid(child, &status, 0) < 0 || file_read(path, OUTPUT_MAX, &printed) < 0)
		die("cannot run %s: %s", line, strerror(errno));
	close(output);
	unlink(path);
	terminal_stand_in_type(NULL);
	add_folded(&folded, buffer_text(&printed));
	add_replaced(&at_home, buffer_text(&folded), home.path, "HOME");
	add_replaced(ret, buffer_text(&at_home), CARTBUS_VERSION, "VERSION");
	if (ret->len && ret->data[ret->len - 1] != '\n')
		buffer_add_text(ret, "\n");
	if (!WIFEXITED(status))
		buffer_printf(ret, "[signal %d]\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		buffer_printf(ret, "[exit %d]\n", WEXITSTATUS(status));
}

static void write_home_file(char *line)
{
	_cleanup_(buffer_free) struct buffer text = { 0 }, named = { 0 };
	static const struct timespec now[2] = { { .tv_sec = STAND_IN_NOW_US / US_PER_S },
		{ .tv_sec = STAND_IN_NOW_US / US_PER_S } };
	char *content = strchr(line, ' '), path[300], *slash;

	if (!content)
		die("+ needs a path and a text: %s", line);
	*content++ = '\0';
	FOLDER_PATH(path, home, line);
	slash = strrchr(path, '/');
	*slash = '\0';
	file_make_folders(path, 0700);
	*slash = '/';
	add_replaced(&named, content, "\\n", "\n");
	add_replaced(&text, buffer_text(&named), "HOME", home.path);
	if (file_write_durably(path, buffer_bytes(&text), 0600) < 0 || utimensat(AT_FDCWD, path, now, 0) < 0)
		die("cannot write %s", path);
}

static void change_mode(char *line)
{
	const char *mode = strsep(&line, " ");
	char path[300];

	FOLDER_PATH(path, home, line ? line : "");
	if (!line || chmod(path, (mode_t)strtol(mode, NULL, 8)) < 0)
		die("cannot change the mode of %s", path);
}

static void add_message(char *line)
{
	char *words[4], *rest = line, *said_by;
	json_error_t error;
	json_t *message;

	for (int i = 0; i < 4; i++)
		words[i] = strsep(&rest, " ");
	message = rest ? json_loads(rest, 0, &error) : NULL;
	if (!message)
		die("it is no message: %s %s", words[0], rest ? error.text : "");
	said_by = words[0];
	strsep(&said_by, "@");
	stand_in_add(words[0], said_by ? said_by : "test", words[1], words[2], atoll(words[3]) * 1000000, message);
	json_decref(message);
}

static void add_answer(char *line)
{
	char *answer = strchr(line, ' ');

	if (answer)
		*answer++ = '\0';
	stand_in_answer(line, answer);
}

static bool is_directive(const char *line)
{
	return strncmp(line, "## ", 3) == 0 || (strchr("+%|?@$", line[0]) && line[0] && line[1] == ' ');
}

/* Does what the line says; `ret` gains it, and what came of it. */
static void obey(char *line, struct buffer *ret)
{
	buffer_printf(ret, "%s\n", line);
	if (line[0] == '$')
		run(line + 2, ret);
	else if (line[0] == '+')
		write_home_file(line + 2);
	else if (line[0] == '%')
		change_mode(line + 2);
	else if (line[0] == '|')
		add_message(line + 2);
	else if (line[0] == '?')
		add_answer(line + 2);
	else if (line[0] == '@')
		terminal_stand_in_type(line + 2);
}

static void obey_all(char *text, struct buffer *ret)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		if (is_directive(line))
			obey(line, ret);
	}
}

/* Commands look whether a broker listens before they wait for it. */
static void listen_like_a_broker(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	FOLDER_PATH(address.sun_path, home, "run");
	file_make_folders(address.sun_path, 0700);
	FOLDER_PATH(address.sun_path, home, "run/control");
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1) < 0)
		die("%s: %s", address.sun_path, strerror(errno));
}

static int compare(const char *path, const char *wanted, const char *found)
{
	int line = 1;

	if (strcmp(wanted, found) == 0)
		return 0;
	while (*wanted && *wanted == *found) {
		line += *wanted == '\n';
		wanted++;
		found++;
	}
	fprintf(stderr, "%s:%d: it is not as it stands there, but from here on:\n%.600s\n", path, line, found);
	return 1;
}

/* What a command leaves is its user's, and at most the group's to read; a public key is everybody's. */
static int check_mode(const char *path, const struct stat *found, int type, struct FTW *where)
{
	const char *ending = strrchr(path, '.');
	mode_t most = ending && strcmp(ending, ".pub") == 0 ? 0644 : 0640;

	(void)type;
	(void)where;
	if (!S_ISREG(found->st_mode) || !(found->st_mode & 07777 & ~most))
		return 0;
	fprintf(stderr, "%s has the mode %o, at most %o was expected\n", path, found->st_mode & 07777, most);
	return -1;
}

int main(int argc, char **argv)
{
	_cleanup_(buffer_free) struct buffer wanted = { 0 }, found = { 0 };
	_cleanup_free_ char *text = NULL;
	int r;

	if (argc < 2 || file_read(argv[1], OUTPUT_MAX, &wanted) < 0)
		die("say which file");
	home = folder_new();
	setenv("CARTBUS_HOME", home.path, 1);
	setenv("TMPDIR", home.path, 1);
	setenv("SUDO_USER", "anna", 1);
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("COLUMNS");
	unsetenv("CARTBUS_CONFIG");
	stand_in_open();
	listen_like_a_broker();
	text = memory_copy_text(buffer_text(&wanted));
	obey_all(text, &found);
	if (argc > 2)
		r = file_write_durably(argv[1], buffer_bytes(&found), 0644);
	else
		r = compare(argv[1], buffer_text(&wanted), buffer_text(&found));
	if (nftw(home.path, check_mode, 16, FTW_PHYS) != 0)
		r = 1;
	folder_remove(&home);
	return r ? 1 : 0;
}
