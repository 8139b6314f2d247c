/*
 * mailin_judge.c: `cartbus mailin judge`: tells what mailin would do with a mail, without giving it the mail
 *
 * The mails are read as mailin reads them: in a process of cartbus-mailin without keys, connections or
 * configuration (reader.h). mailin finds out by its keys and by the sent mails which shop and which sent mail
 * a report is about. This command tells it from the form of the tag and from the Message-IDs, which prove
 * nothing.
 *
 * Promises:  reads only, and prints nothing that a terminal would obey, and no address but our own tagged
 *            one.
 * Fails by:  EXIT_NO when a mail would lie aside or cannot be read; the others are judged all the same.
 * Read next: services/platform/mailin/folder.c (what mailin does with them)
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/recover/subcommands.h"
#include "services/cartbus/shops/shops.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/mail/message.h"
#include "services/kit/settings/settings.h"
#include "services/platform/mailin/reader.h"
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS_DEEP = 3 };

enum sentence { SUPPRESSED, COUNTED, COMPLAINED, IGNORED, ASIDE, SENTENCES };

static const struct {
	const char *name, *words;
} sentences[] = {
	[SUPPRESSED] = { "suppressed", "a permanent bounce: the address is mailed no more" },
	[COUNTED] = { "counted", "a bounce that passes: it is counted, and the address is mailed again" },
	[COMPLAINED] = { "complaint", "a complaint: the address is mailed no more" },
	[IGNORED] = { "nothing", "it asks for nothing: it is deleted" },
	[ASIDE] = { "aside", "it lies aside for a person" },
};

/* The shop and the sent mail that a report seems to be about. */
struct whose {
	struct bounce_tag tag;
	bool is_tagged;
	char shop[64]; /* "": of no shop of this configuration */
	char mail[MAIL_LOCAL_MAX];
};

struct judging {
	struct command *command;
	struct clock clock;
	struct reader *reader;
	json_t *bounces; /* the bounce template of each shop */
	json_t *mails;
	int counts[SENTENCES];
	int failed;
	/* of the mail that is being read */
	const char *path;
	bool is_read;
	enum reader_end end;
	struct report report;
	struct whose whose;
};

/* ---- the shop and the sent mail ---- */

static void know_shop(const char *name, void *context)
{
	static struct shop shop; /* large */
	struct judging *judging = context;

	if (command_shop(judging->command, name, &shop) == EXIT_FINE)
		json_object_set_new(judging->bounces, name, json_string(shop.bounce));
}

/* Reads the shops of the configuration. Without a configuration, a mail can be judged as well. */
static int know_shops(struct judging *judging)
{
	struct command *command = judging->command;
	struct config_error error = { "" };
	int r = config_load_for(command->config_path, settings_keys, "cartbus", &command->config, &error);

	if (r == 0)
		shops_each(command, know_shop, judging);
	else if (command->config_given || command->home_given)
		complain(command, "%s", error.text);
	return r < 0 && (command->config_given || command->home_given) ? EXIT_NO : EXIT_FINE;
}

static void try_shops(const struct judging *judging, struct whose *whose)
{
	const struct report *report = &judging->report;
	const char *shop;
	json_t *bounce;

	json_object_foreach(
		judging->bounces, shop, bounce) for (int i = 0; i < report->address_count && !whose->is_tagged;
						     i++) if (bounce_address_read_unverified(json_string_value(bounce),
								      report->addresses[i], &whose->tag))
	{
		whose->is_tagged = true;
		TEXT_COPY(whose->shop, shop);
	}
}

/* Reads a tag if no shop's template is known: as many hex digits before the @ as a tag has. */
static bool read_any_tag(const char *address, struct bounce_tag *ret)
{
	const char *at = strrchr(address, '@');
	char bounce[ADDRESS_MAX + 1];

	if (!at || at - address < BOUNCE_TAG_LEN)
		return false;
	snprintf(bounce, sizeof(bounce), "%.*s*%s", (int)(at - address - BOUNCE_TAG_LEN), address, at);
	return bounce_address_read_unverified(bounce, address, ret);
}

static void find_whose(struct judging *judging)
{
	const struct report *report = &judging->report;
	struct whose *whose = &judging->whose;

	*whose = (struct whose){ 0 };
	try_shops(judging, whose);
	for (int i = 0; i < report->address_count && !whose->is_tagged; i++)
		whose->is_tagged = read_any_tag(report->addresses[i], &whose->tag);
	for (int i = 0; i < report->message_id_count && !whose->mail[0]; i++)
		mail_local_read(report->message_ids[i], whose->mail);
}

static json_t *whose_json(const struct whose *whose)
{
	json_t *json = json_object();

	if (whose->is_tagged) {
		json_object_set_new(json, "by", json_string("tag"));
		json_object_set_new(json, "step", json_integer(whose->tag.step));
		json_object_set_new(json, "mail", json_string(whose->tag.mail));
		json_object_set_new(json, "shopper", json_string(whose->tag.address_hash));
		json_object_set_new(json, "shop", whose->shop[0] ? json_string(whose->shop) : json_null());
	} else if (whose->mail[0]) {
		json_object_set_new(json, "by", json_string("message-id"));
		json_object_set_new(json, "mail", json_string(whose->mail));
	}
	json_object_set_new(json, "verified", json_false());
	return json;
}

static void print_whose(const struct whose *whose)
{
	if (whose->is_tagged)
		printf("    whose: %s%s, step %d, the mail %d.%s..., by the tag; only mailin's key tells whether we "
		       "signed it\n",
			whose->shop[0] ? "shop " : "a shop that is not configured here", whose->shop, whose->tag.step,
			whose->tag.step, whose->tag.mail);
	else if (whose->mail[0])
		printf("    whose: the mail %s, by its Message-ID, which counts for a complaint, or where the shop's "
		       "bounce= has no *\n",
			whose->mail);
	else
		puts("    whose: nothing in it tells; mailin would put it aside unless it came over LMTP to a tagged "
		     "address");
}

/* ---- one mail ---- */

static enum sentence sentence_of(const struct judging *judging)
{
	static const enum sentence of_feedback[] = { [FEEDBACK_COMPLAINT] = COMPLAINED,
		[FEEDBACK_BOUNCE_PERMANENT] = SUPPRESSED,
		[FEEDBACK_BOUNCE_TRANSIENT] = COUNTED };

	if (judging->end != READER_READ || judging->report.kind == REPORT_NONE)
		return ASIDE;
	return judging->report.kind == REPORT_NOTHING ? IGNORED : of_feedback[judging->report.feedback];
}

static const char *why_of(const struct judging *judging)
{
	const struct report *report = &judging->report;

	if (judging->end != READER_READ)
		return "it ends the process that reads it";
	if (report->kind == REPORT_FEEDBACK)
		return report->feedback == FEEDBACK_COMPLAINT ? "" : reason_name(report->reason);
	if (report->kind == REPORT_NOTHING)
		return "delayed, delivered, read, out of office, or not spam";
	return report->trouble[0] ? report->trouble : "it is no report of a bounce or a complaint";
}

static void print_sentence(struct judging *judging, enum sentence sentence, const char *why)
{
	_cleanup_free_ char *path = memory_copy_text(judging->path);
	const bool is_feedback = sentence == SUPPRESSED || sentence == COUNTED || sentence == COMPLAINED;

	text_make_plain(path);
	judging->counts[sentence]++;
	judging->failed |= sentence == ASIDE;
	if (judging->command->json) {
		json_t *json = json_pack("{s:s,s:s,s:s,s:s}", "file", path, "then", sentences[sentence].name, "why",
			why, "said", is_feedback ? judging->report.detail : "");
		if (is_feedback)
			json_object_set_new(json, "whose", whose_json(&judging->whose));
		json_array_append_new(judging->mails, json);
		return;
	}
	printf("%s: %s\n", path, sentences[sentence].words);
	if (*why)
		printf("    why: %s\n", why);
	if (is_feedback && judging->report.detail[0])
		printf("    said: %s\n", judging->report.detail);
	if (is_feedback)
		print_whose(&judging->whose);
}

static void note_end(void *context, enum reader_end end, const struct report *report)
{
	struct judging *judging = context;

	judging->is_read = true;
	judging->end = end;
	judging->report = report ? *report : (struct report){ .kind = REPORT_NONE };
}

/* false: no process could be started that reads mails. */
static bool read_mail(struct judging *judging, struct bytes mail)
{
	struct pollfd waits = { .fd = reader_fd(judging->reader), .events = POLLIN };
	struct reading reading;

	judging->is_read = false;
	reader_read(judging->reader, &reading, mail, note_end, judging);
	while (!judging->is_read) {
		int64_t wait_us = reader_look(judging->reader);
		if (judging->is_read)
			break;
		poll(&waits, 1, (int)(wait_us / 1000) + 1);
		reader_work(judging->reader);
	}
	return judging->end != READER_AWAY;
}

static void judge_file(struct judging *judging, const char *path)
{
	_cleanup_(buffer_free) struct buffer mail = { 0 };
	int r = file_read(path, REPORT_BYTES_MOST, &mail);

	judging->path = path;
	if (r == -EFBIG) {
		print_sentence(judging, ASIDE, "it is larger than a report is");
	} else if (r < 0) {
		complain(judging->command, "%s: %s", path, strerror(-r));
		judging->failed = true;
	} else if (!read_mail(judging, BYTES(mail.data ? mail.data : (uint8_t *)"", mail.len))) {
		complain(
			judging->command, "%s/cartbus-mailin, which reads mails, cannot be started", programs_folder());
		judging->failed = true;
	} else {
		find_whose(judging);
		print_sentence(judging, sentence_of(judging), why_of(judging));
	}
}

/* ---- all of them ---- */

static int is_seen(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void judge(struct judging *judging, const char *path, int depth);

static void judge_folder(struct judging *judging, const char *path, int depth)
{
	struct dirent **all = NULL;
	int count = scandir(path, &all, is_seen, alphasort);

	if (count < 0) {
		complain(judging->command, "%s: %s", path, strerror(errno));
		judging->failed = true;
	}
	for (int i = 0; i < count; i++) {
		char below[PATH_MAX];
		if (snprintf(below, sizeof(below), "%s/%s", path, all[i]->d_name) < PATH_MAX)
			judge(judging, below, depth + 1);
		free(all[i]);
	}
	free(all);
}

/* Reads a file of any kind if the admin named it (depth 0); in a folder, only plain files and folders. */
static void judge(struct judging *judging, const char *path, int depth)
{
	struct stat found;

	if ((depth ? lstat(path, &found) : stat(path, &found)) < 0) {
		complain(judging->command, "%s: %s", path, strerror(errno));
		judging->failed = true;
	} else if (!S_ISDIR(found.st_mode)) {
		if (!depth || S_ISREG(found.st_mode))
			judge_file(judging, path);
	} else if (depth < FOLDERS_DEEP) {
		judge_folder(judging, path, depth);
	}
}

static void print_sum(const struct judging *judging)
{
	json_t *counts = json_object();
	int all = 0;

	for (int i = 0; i < SENTENCES; i++) {
		json_object_set_new(counts, sentences[i].name, json_integer(judging->counts[i]));
		all += judging->counts[i];
	}
	if (judging->command->json) {
		json_t *json = json_pack("{s:O,s:O}", "mails", judging->mails, "counts", counts);
		json_print(json);
		json_decref(json);
	} else if (all != 1) {
		printf("%d mails:", all);
		for (int i = 0; i < SENTENCES; i++)
			printf("%s %d %s", i ? "," : "", judging->counts[i], sentences[i].name);
		putchar('\n');
	}
	json_decref(counts);
}

static void judge_all(struct judging *judging, const char **paths)
{
	char program[PATH_MAX];

	snprintf(program, sizeof(program), "%s/cartbus-mailin", programs_folder());
	if (access(program, X_OK) < 0) {
		complain(judging->command, "%s, which reads mails: %s", program, strerror(errno));
		judging->failed = true;
		return;
	}
	judging->reader = reader_new(&judging->clock, program);
	for (; *paths; paths++)
		judge(judging, *paths, 0);
	reader_free(judging->reader);
	print_sum(judging);
}

int command_mailin_judge(struct command *command, int argc, char **argv)
{
	static struct judging judging; /* large */
	_cleanup_free_ const char **paths = memory_new((size_t)(argc + 1) * sizeof(*paths));

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "FILE...",
			.help = "Says of a mail, or of each mail in a folder, what mailin would do with it, why, and "
				"whose it "
				"seems to be. Nothing is sent or changed. The mail is read by the code and in the "
				"process that "
				"mailin reads mails in; whose it is really, only mailin's keys prove. It exits with 1 "
				"if a mail would lie aside or cannot be read.\v"
				"Examples:\n  cartbus mailin judge bounce.eml\n  cartbus mailin judge --json "
				"/var/lib/cartbus/mailin/aside",
			.words = paths,
			.words_least = 1,
			.words_most = argc,
			.no_config = true,
			.needs_no_home = true });
	judging = (struct judging){
		.command = command, .clock = clock_system(), .bounces = json_object(), .mails = json_array()
	};
	int failed = know_shops(&judging);
	if (!failed)
		judge_all(&judging, paths);
	json_decref(judging.bounces);
	json_decref(judging.mails);
	return failed || judging.failed ? EXIT_NO : EXIT_FINE;
}
