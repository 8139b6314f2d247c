/*
 * mailin.c: the mails that came back and could not be read: lists them, shows one, and has them read once
 * more
 *
 * The commands work on the files alone, whether mailin runs or not. A mail that is to be read once more is
 * moved to a folder where mailin finds it.
 *
 * Promises:  prints nothing that a terminal would obey; moves mails, and never deletes one. Root works here
 *            in folders of the user that reads strangers' mails: no link in them is followed.
 * Read next: services/platform/mailin/quarantine.h (the folders)
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/recover/subcommands.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* services/platform/mailin/quarantine.h */
#define QUARANTINE_FOLDER "aside"
#define QUARANTINE_NOTES "aside.notes"
#define QUARANTINE_RETRY "retry"
enum { BASES_MOST = 9, MAIL_MOST = 64 * 1024 * 1024, NOTE_MOST = 16 * 1024, WHY_MAX = 200 };

DEFINE_CLEANUP(DIR *, closedir)

struct mail_aside {
	const char *base, *name;
	int base_fd, quarantine_fd;
	struct stat stat;
	char why[WHY_MAX];
};

static int print_json(json_t *json)
{
	json_print(json);
	json_decref(json);
	return EXIT_FINE;
}

typedef int mail_fn(const struct command *command, const struct mail_aside *mail, void *context);

struct bases {
	int count;
	char paths[BASES_MOST][PATH_MAX / 2];
};

static void add_base(struct bases *bases, const char *path)
{
	if (bases->count < BASES_MOST)
		bases->count += TEXT_COPY(bases->paths[bases->count], path);
}

/* Finds the maildir, and the state folders of all instances of mailin. Complains and returns an exit code. */
static int find_bases(const struct command *command, struct bases *ret)
{
	const char *folder = config_get(command->config, "mailin", NULL, "folder");
	const char *state = config_get(command->config, "paths", NULL, "state");
	char path[PATH_MAX / 2];
	_cleanup_(closedirp) DIR *dir = opendir(state);
	int error = dir ? 0 : errno;

	*ret = (struct bases){ .count = 0 };
	if (folder && *folder)
		add_base(ret, folder);
	for (const struct dirent *entry; dir && (errno = 0, entry = readdir(dir));) {
		if (!text_starts(entry->d_name, "mailin"))
			continue;
		snprintf(path, sizeof(path), "%.1500s/%s", state, entry->d_name);
		add_base(ret, path);
	}
	error = dir ? errno : error;
	if (error == 0 || error == ENOENT)
		return EXIT_FINE;
	complain(command, "%s: %s", state, strerror(error));
	return EXIT_NO;
}

static void read_why(struct mail_aside *mail)
{
	_cleanup_(buffer_free) struct buffer note = { 0 };
	_cleanup_close_ int notes = file_open_folder_in(mail->base_fd, QUARANTINE_NOTES);

	TEXT_COPY(mail->why, "it is not known why");
	if (notes < 0 || file_read_in(notes, mail->name, NOTE_MOST, &note) < 0 ||
		!text_starts(buffer_text(&note), "why: "))
		return;
	const char *why = buffer_text(&note) + strlen("why: ");
	text_copy_bytes(mail->why, sizeof(mail->why), BYTES(why, strcspn(why, "\n")));
}

static int say_folder(const struct command *command, const char *base, const char *name, int error)
{
	complain(command, "%s/%s: %s%s", base, name, strerror(error),
		error == ENOTDIR          ? ": a link, which may lead anywhere, is not followed"
			: error == ENOENT ? "; cartbus-mailin makes it when it starts"
					  : "");
	return EXIT_NO;
}

static int each_in(const struct command *command, DIR *dir, struct mail_aside *mail, mail_fn *call, void *context)
{
	int failed = EXIT_FINE;

	mail->quarantine_fd = dirfd(dir);
	for (const struct dirent *entry; !failed && (errno = 0, entry = readdir(dir));) {
		mail->name = entry->d_name;
		if (entry->d_name[0] == '.' ||
			fstatat(mail->quarantine_fd, entry->d_name, &mail->stat, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		read_why(mail);
		failed = call(command, mail, context);
	}
	return !failed && errno != 0 ? say_folder(command, mail->base, QUARANTINE_FOLDER, errno) : failed;
}

static int each_of(const struct command *command, const char *base, mail_fn *call, void *context)
{
	_cleanup_close_ int base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct mail_aside mail = { .base = base, .base_fd = base_fd };
	int fd = base_fd < 0 ? -errno : file_open_folder_in(base_fd, QUARANTINE_FOLDER);

	if (fd == -ENOENT || (base_fd < 0 && fd == -ENOTDIR))
		return EXIT_FINE;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return say_folder(command, base, QUARANTINE_FOLDER, fd < 0 ? -fd : errno);
	int failed = each_in(command, dir, &mail, call, context);
	closedir(dir);
	return failed;
}

static int each_mail(const struct command *command, mail_fn *call, void *context)
{
	static struct bases bases; /* large */
	int failed = find_bases(command, &bases);

	for (int i = 0; i < bases.count && !failed; i++)
		failed = each_of(command, bases.paths[i], call, context);
	return failed;
}

/* ---- list ---- */

/* Keeps plain ASCII and line ends, which no terminal takes for a command. */
static char safe_character(char c)
{
	if (c == '\r')
		return ' ';
	return c == '\n' || (c >= ' ' && c <= '~') ? c : '?';
}

static void print_safely(const char *text)
{
	for (; *text; text++)
		putchar(safe_character(*text));
}

static int add_mail(const struct command *command, const struct mail_aside *mail, void *context)
{
	json_t *all = context;
	char when[32];
	time_t came = mail->stat.st_mtime;
	struct tm tm;

	(void)command;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&came, &tm));
	json_array_append_new(all,
		json_pack("{s:s,s:s,s:s,s:I,s:s}", "name", mail->name, "folder", mail->base, "came", when, "bytes",
			(json_int_t)mail->stat.st_size, "why", mail->why));
	return EXIT_FINE;
}

static void print_list(const json_t *all)
{
	size_t i;
	json_t *mail;

	if (!json_array_size(all))
		puts("no mail lies aside");
	json_array_foreach((json_t *)all, i, mail)
	{
		const char *name = json_string_value(json_object_get(mail, "name"));
		const char *why = json_string_value(json_object_get(mail, "why"));
		printf("%s %8lld ", json_string_value(json_object_get(mail, "came")),
			(long long)json_integer_value(json_object_get(mail, "bytes")));
		print_safely(name);
		printf("\n    ");
		print_safely(why);
		putchar('\n');
	}
}

int command_mailin_list(struct command *command, int argc, char **argv)
{
	json_t *all = json_array();

	command_take(command, argc, argv,
		&(struct arguments){
			.help = "Lists the mails that came back and could not be read, or prove nothing: when each "
				"came, its size in bytes, its name, and why it lies aside. They are kept for 30 days.\v"
				"Example:\n  cartbus mailin list" });
	int failed = each_mail(command, add_mail, all);
	if (!failed && command->json)
		json_print_list("mails", json_incref(all));
	else if (!failed)
		print_list(all);
	json_decref(all);
	return failed;
}

/* ---- show ---- */

struct shown {
	const char *name;
	bool found;
};

static int print_mail(const struct command *command, const struct mail_aside *mail, const char *text, size_t len)
{
	_cleanup_free_ char *safe = memory_copy(BYTES(text, len));

	for (char *at = safe; at < safe + len; at++)
		*at = safe_character(*at);
	if (command->json)
		return print_json(json_pack(
			"{s:s,s:s,s:s,s:s}", "name", mail->name, "folder", mail->base, "why", mail->why, "mail", safe));
	printf("%s/aside/%s: ", mail->base, mail->name);
	print_safely(mail->why);
	printf("\n\n%s\n", safe);
	return EXIT_FINE;
}

static int show_if_it(const struct command *command, const struct mail_aside *mail, void *context)
{
	struct shown *shown = context;
	_cleanup_(buffer_free) struct buffer text = { 0 };

	if (strcmp(mail->name, shown->name) != 0)
		return EXIT_FINE;
	shown->found = true;
	int r = file_read_in(mail->quarantine_fd, mail->name, MAIL_MOST, &text);
	if (r < 0) {
		complain(command, "%s/" QUARANTINE_FOLDER "/%s: %s", mail->base, mail->name, strerror(-r));
		return EXIT_NO;
	}
	return print_mail(command, mail, buffer_text(&text), text.len);
}

static int say_unknown(const struct command *command, const char *name)
{
	complain(command, "no mail \"%s\" lies aside; `cartbus mailin list` shows those that do", name);
	return EXIT_NO;
}

int command_mailin_show(struct command *command, int argc, char **argv)
{
	struct shown shown = { 0 };

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "NAME",
			.help = "Prints a mail that lies aside, and why. What is no plain text stands as question "
				"marks; the file itself lies where the first line says.\v"
				"Example:\n  cartbus mailin show 0123456789abcdef0123456789abcdef",
			.words = &shown.name,
			.words_least = 1,
			.words_most = 1 });
	int failed = each_mail(command, show_if_it, &shown);
	return failed || shown.found ? failed : say_unknown(command, shown.name);
}

/* ---- retry ---- */

struct retried {
	const char *name; /* NULL: all */
	uint64_t count;
};

static int retry_if_it(const struct command *command, const struct mail_aside *mail, void *context)
{
	struct retried *retried = context;

	if (!S_ISREG(mail->stat.st_mode) || (retried->name && strcmp(mail->name, retried->name) != 0))
		return EXIT_FINE;
	_cleanup_close_ int retry = file_open_folder_in(mail->base_fd, QUARANTINE_RETRY);
	if (retry < 0)
		return say_folder(command, mail->base, QUARANTINE_RETRY, -retry);
	int r = file_move_durably_in(mail->quarantine_fd, mail->name, retry);
	if (r < 0) {
		complain(command, "%s/" QUARANTINE_FOLDER "/%s: %s", mail->base, mail->name, strerror(-r));
		return EXIT_NO;
	}
	retried->count++;
	return EXIT_FINE;
}

int command_mailin_retry(struct command *command, int argc, char **argv)
{
	struct retried retried = { 0 };
	bool all = false;
	const struct take takes[] = { { "all", NULL, "all of them", NULL, &all }, { 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "[NAME]",
			.help = "Has a mail that lies aside read once more, or all of them: after an upgrade, or when "
				"the cause is gone. What still cannot be read lies aside again.\v"
				"Examples:\n  cartbus mailin retry 0123456789abcdef0123456789abcdef\n  cartbus mailin "
				"retry --all",
			.takes = takes,
			.words = &retried.name,
			.words_most = 1 });
	if (all == (retried.name != NULL)) {
		complain(command, "the name of one mail, or --all");
		return EXIT_USAGE;
	}
	int failed = each_mail(command, retry_if_it, &retried);
	if (failed)
		return failed;
	if (retried.name && !retried.count)
		return say_unknown(command, retried.name);
	if (command->json)
		return print_json(json_pack("{s:I}", "retried", (json_int_t)retried.count));
	printf("%llu to be read once more\n", (unsigned long long)retried.count);
	return EXIT_FINE;
}
