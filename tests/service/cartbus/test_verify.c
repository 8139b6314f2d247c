/*
 * test_verify.c: what `cartbus verify` hands to the broker's program, and what it says before it does; and of a backup what
 * backup.json promises, file by file
 */
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/core/subcommand.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include "tests/unit/output_of.h"
#include <string.h>

static struct folder folder;
static const char *programs;

const char *__wrap_programs_folder(void);

/* In the place of the folder that this program lies in (the linker's --wrap). */
const char *__wrap_programs_folder(void)
{
	return programs;
}

static void put(const char *name, const char *text)
{
	char path[200];

	FOLDER_PATH(path, folder, name);
	*strrchr(path, '/') = '\0';
	assert_int_equal(file_make_folders(path, 0700), 0);
	FOLDER_PATH(path, folder, name);
	assert_int_equal(file_write_durably(path, bytes_of(text), 0600), 0);
}

static void take_away(const char *name)
{
	char path[200];

	FOLDER_PATH(path, folder, name);
	assert_int_equal(unlink(path), 0);
}

static int setup(void **state)
{
	char path[200];

	(void)state;
	folder = folder_new();
	programs = folder.path;
	put("cartbus-broker", "#!/bin/sh\nfor word; do printf ' [%s]' \"$word\"; done\nexit 3\n");
	FOLDER_PATH(path, folder, "cartbus-broker");
	assert_int_equal(chmod(path, 0700), 0);
	put("cartbus.conf", "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

struct words {
	char *words[5];
	int count;
};

static int run(const void *context)
{
	static const struct subcommand verify = { SUBCOMMANDS_RUN, "verify", "", "is the log all there?",
		command_verify };
	static const struct subcommand *rows[] = { &verify };
	static const struct subcommands all = { rows, 1 };
	struct words words = *(const struct words *)context;

	return dispatch(&all, words.count, words.words);
}

/* What it prints, with FOLDER for the folder. Returns its exit. */
static int verify(const char *folder_word, bool json, struct buffer *ret_said)
{
	char config[200], *at;
	struct words words = { { "verify", "--config", config }, 3 };
	int ended;

	FOLDER_PATH(config, folder, "cartbus.conf");
	if (json)
		words.words[words.count++] = "--json";
	if (folder_word)
		words.words[words.count++] = (char *)folder_word;
	ended = output_of(run, &words, ret_said);
	at = (char *)buffer_text(ret_said);
	while ((at = strstr(at, folder.path))) { /* shorter, and always the same */
		memcpy(at, "FOLDER", 6);
		memmove(at + 6, at + strlen(folder.path), strlen(at + strlen(folder.path)) + 1);
	}
	return ended;
}

/* `name`: below the folder; NULL: no word. */
static void expect(const char *name, bool json, int exit, const char *wanted)
{
	_cleanup_(buffer_free) struct buffer said = { 0 };
	char path[200];

	if (name)
		FOLDER_PATH(path, folder, name);
	assert_int_equal(verify(name ? path : NULL, json, &said), exit);
	assert_string_equal(buffer_text(&said), wanted);
}

#define PROGRAM " [--verify] [--config] [FOLDER/cartbus.conf]"

static void the_brokers_program_reads_the_log_and_its_exit_is_the_commands(void **state)
{
	(void)state;
	expect(NULL, false, 3, PROGRAM " [--verify]");
	expect(NULL, true, 3, PROGRAM " [--json]");
	put("log/CURRENT", "MANIFEST-000001\n");
	put("log/backup.json", "[]"); /* a folder with a CURRENT is a log, even beside a backup.json */
	expect("log", false, 3, PROGRAM " [--verify] [--folder] [FOLDER/log]");
	expect("log", true, 3, PROGRAM " [--json] [--folder] [FOLDER/log]");
	expect("nothing", false, 3, PROGRAM " [--verify] [--folder] [FOLDER/nothing]"); /* the program says so */
}

static void without_the_brokers_program_that_is_said(void **state)
{
	(void)state;
	programs = "/no/such/folder";
	expect(NULL, false, EXIT_NO,
		"cartbus verify: cannot run /no/such/folder/cartbus-broker: No such file or directory\n");
}

/* A log of two files, "one" and "twice", in the folder that the note names; with their sums. */
static void put_backup(const char *name, const char *log, const char *more)
{
	char path[200], note[1000];

	snprintf(path, sizeof(path), "%s/%s/1.sst", name, log);
	put(path, "one");
	snprintf(path, sizeof(path), "%s/%s/2.sst", name, log);
	put(path, "twice");
	snprintf(path, sizeof(path), "%s/backup.json", name);
	snprintf(note, sizeof(note),
		"{\"folder\": \"%s\", \"files\": ["
		"{\"name\": \"1.sst\", \"bytes\": 3, \"sha256\": "
		"\"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\"},"
		"{\"name\": \"2.sst\", \"bytes\": 5, \"sha256\": "
		"\"dc8ffdbf2736dbdf39508017ac594e0d069f3eee9b0f29ece256aa7d831f9ef6\"}]%s}",
		log, more);
	put(path, note);
}

static void what_is_whole_is_counted_and_its_log_is_read(void **state)
{
	(void)state;
	put_backup("mine", "broker", "");
	expect("mine", false, 3,
		"FOLDER/mine: every file is what was backed up: 2 files, 0.0 MiB. Its log:\n" PROGRAM
		" [--verify] [--folder] [FOLDER/mine/broker]");
	expect("mine", true, 3, PROGRAM " [--json] [--folder] [FOLDER/mine/broker]");
	put_backup("other", "log-7", "");
	expect("other", true, 3, PROGRAM " [--json] [--folder] [FOLDER/other/log-7]");
}

static void what_is_not_what_was_backed_up_is_named_and_no_log_is_read(void **state)
{
	(void)state;
	put_backup("mine", "broker", "");
	put("mine/broker/2.sst", "twicf");
	expect("mine", false, EXIT_NO, "cartbus verify: FOLDER/mine/broker/2.sst: it is not what was backed up\n");
	take_away("mine/broker/1.sst");
	expect("mine", true, EXIT_NO,
		"cartbus verify: FOLDER/mine/broker/1.sst: No such file or directory\n"
		"cartbus verify: FOLDER/mine/broker/2.sst: it is not what was backed up\n");
}

static void what_has_no_note_is_no_backup_and_says_where_its_log_is(void **state)
{
	(void)state;
	put("mine/broker/CURRENT", "MANIFEST-000001\n");
	expect("mine", false, EXIT_NO,
		"cartbus verify: FOLDER/mine has no backup.json: a backup that did not come to its end, or something "
		"else; the log in it is read by cartbus verify FOLDER/mine/broker\n");
	put("mine/backup.json", "{\"files\": []}");
	expect("mine", false, EXIT_NO,
		"cartbus verify: FOLDER/mine/backup.json: there is no such file, or it is not whole: FOLDER/mine is no "
		"finished backup\n");
}

/* backup.json came with the copy, from anywhere. */
static void a_note_never_leads_out_of_its_folder(void **state)
{
	static const char *const files[] = {
		"{\"name\": \"../cartbus.conf\", \"sha256\": \"0\"}",
		"{\"name\": \"..\", \"sha256\": \"0\"}",
		"{\"name\": \".\", \"sha256\": \"0\"}",
		"{\"name\": \"\", \"sha256\": \"0\"}",
		"{\"sha256\": \"0\"}",
		"{\"name\": \"1.sst\"}",
		"\"1.sst\"",
	};
	static const char *const folders[] = { "..", ".", "", "../mine", "/" };

	(void)state;
	put("mine/broker/1.sst", "one");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char note[200];

		snprintf(note, sizeof(note), "{\"files\": [%s]}", files[i]);
		put("mine/backup.json", note);
		expect("mine", false, EXIT_NO, "cartbus verify: FOLDER/mine/backup.json names a file that cannot be\n");
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[PATH_ROOM];
		json_t *note = json_pack("{s:s}", "folder", folders[i]);

		backup_log_path("/b", note, path);
		assert_string_equal(path, "/b/broker");
		json_decref(note);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_brokers_program_reads_the_log_and_its_exit_is_the_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(without_the_brokers_program_that_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_whole_is_counted_and_its_log_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_not_what_was_backed_up_is_named_and_no_log_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_has_no_note_is_no_backup_and_says_where_its_log_is, setup, teardown),
		cmocka_unit_test_setup_teardown(a_note_never_leads_out_of_its_folder, setup, teardown),
	};

	unsetenv("CARTBUS_CONFIG");
	return cmocka_run_group_tests_name("cartbus.verify", tests, NULL, NULL);
}
