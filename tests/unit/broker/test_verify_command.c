/* test_verify_command.c: what cartbus-broker --verify prints of a folder, and what it exits with */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/broker/admin/erase.h"
#include "bus/broker/verify/verify.h"
#include "bus/wire/sidelog_file.h"
#include "desk.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { SOUND = 0, DAMAGED = 1, IN_USE = 3 };

static struct desk *desk;
static char printed[16384];

static int open_desk(void **state)
{
	(void)state;
	desk = desk_open_disk();
	peer_hello(peer_new(desk, "talker", "t"), "run", 0);
	SAID(desk->peers[0], .topic = "work", .key = "a");
	SAID(desk->peers[0], .topic = "row", .key = "r", .version = 1);
	return 0;
}

static int close_desk(void **state)
{
	(void)state;
	desk_close(desk);
	return 0;
}

/* What it exits with; what it said on its output is in `printed`. */
static int verify(const char *folder, bool json)
{
	char path[] = "/tmp/cartbus-verify-XXXXXX";
	int before = dup(STDOUT_FILENO), file = mkstemp(path), ended;
	ssize_t len;

	assert_true(before >= 0 && file >= 0);
	unlink(path);
	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	ended = verify_command(folder, json, &desk->topology, &desk->settings, clock_wall_us(&desk->clock));
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
	len = pread(file, printed, sizeof(printed) - 1, 0);
	assert_true(len >= 0);
	printed[len] = '\0';
	close(file);
	return ended;
}

static json_t *printed_report(void)
{
	json_t *report = json_loads(printed, 0, NULL);

	if (!report)
		fail_msg("this is no JSON: %s", printed);
	return report;
}

static void assert_printed(const char *words)
{
	if (!strstr(printed, words))
		fail_msg("\"%s\" was not printed, but:\n%s", words, printed);
}

static void a_sound_log_is_called_so_with_its_numbers(void **state)
{
	char first[200];
	json_t *report;

	(void)state;
	desk_crash(desk);
	assert_int_equal(verify(desk->path, false), SOUND);
	snprintf(first, sizeof(first), "SOUND: %s\n", desk->path);
	assert_memory_equal(printed, first, strlen(first));
	assert_printed(": 2 messages, 0 of them erased, and 0 dropped for their age, in 2 commits;");
	assert_printed("\nworker ");
	assert_int_equal(verify(desk->path, true), SOUND);
	report = printed_report();
	assert_true(json_is_true(json_object_get(report, "sound")));
	assert_int_equal(json_integer_value(json_object_get(report, "messages")), 2);
	json_decref(report);
}

static void a_log_that_does_not_open_is_damaged_and_named_with_the_reason(void **state)
{
	char path[200], first[200];
	const json_t *problem;
	json_t *report;

	(void)state;
	desk_crash(desk);
	snprintf(path, sizeof(path), "%s/CURRENT", desk->path);
	assert_int_equal(file_write_durably(path, bytes_of("nonsense\n"), 0600), 0);
	assert_int_equal(verify(desk->path, false), DAMAGED);
	snprintf(first, sizeof(first), "DAMAGED: %s does not open: ", desk->path);
	assert_memory_equal(printed, first, strlen(first));
	assert_true(strlen(printed) > strlen(first) + 10);
	assert_int_equal(verify(desk->path, true), DAMAGED);
	report = printed_report();
	problem = json_array_get(json_object_get(report, "problems"), 0);
	assert_true(json_is_false(json_object_get(report, "sound")));
	assert_int_equal(json_integer_value(json_object_get(report, "problem_count")), 1);
	assert_true(strlen(json_string_value(json_object_get(problem, "what"))) > 10);
	assert_string_not_equal(json_string_value(json_object_get(problem, "what")), desk->path);
	json_decref(report);
}

static void it_leaves_no_lock_where_there_was_none_and_one_that_was_there(void **state)
{
	struct folder empty = folder_new();
	char path[200];

	(void)state;
	desk_crash(desk);
	FOLDER_PATH(path, empty, ".lock");
	assert_int_equal(verify(empty.path, false), DAMAGED);
	assert_int_not_equal(access(path, F_OK), 0);
	folder_remove(&empty);
	snprintf(path, sizeof(path), "%s/.lock", desk->path);
	unlink(path);
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(file_write_durably(path, bytes_of(""), 0600), 0);
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_int_equal(access(path, F_OK), 0);
}

static void where_there_is_no_log_or_somebody_has_it_nothing_is_read(void **state)
{
	static const char in_use[] = "a broker has it open: stop it first, or verify a copy";
	char path[200];
	json_t *report;
	int lock;

	(void)state;
	desk_crash(desk);
	assert_int_equal(verify("/nowhere/at/all", false), DAMAGED);
	assert_string_equal(printed, "");
	snprintf(path, sizeof(path), "%s/.lock", desk->path);
	assert_int_equal(file_lock(path, &lock), 0);
	assert_int_equal(verify(desk->path, true), IN_USE);
	report = printed_report();
	assert_true(json_is_null(json_object_get(report, "sound")));
	assert_string_equal(json_string_value(json_object_get(report, "error")), in_use);
	json_decref(report);
	close(lock);
	assert_int_equal(verify(desk->path, false), SOUND);
}

/* ---- the side log beside it ---- */

static void write_sidelog(
	const struct folder *folder, const char *name, const char *log, uint64_t seq, size_t broken_at)
{
	struct sidelog_head head = { 0 };
	struct buffer file = { 0 };
	char path[200];

	TEXT_COPY(head.log, log);
	sidelog_write_head(&head, &file);
	sidelog_write(&(struct sidelog_record){ .seq = 1, .time_us = 1, .message = bytes_of("one") }, &file);
	sidelog_write(&(struct sidelog_record){ .seq = seq, .time_us = 1, .message = bytes_of("two") }, &file);
	if (broken_at > 0)
		file.data[file.len - broken_at] ^= 1;
	FOLDER_PATH(path, *folder, name);
	assert_int_equal(file_write_durably(path, buffer_bytes(&file), 0600), 0);
	buffer_free(&file);
}

static void a_side_log_that_is_missing_short_damaged_or_anothers_is_told(void **state)
{
	const struct {
		const char *log;
		uint64_t seq;
		size_t broken_at;
		int ended;
		const char *words;
	} table[] = {
		{ NULL, 2, 0, SOUND, NULL },
		{ NULL, 1, 0, SOUND, "it ends at message 1, and lacks what the log holds up to 2" },
		{ NULL, 2, 60, DAMAGED, "it is damaged in 1 places" },
		{ NULL, 2, 150, DAMAGED, "it is damaged from its first byte on" },
		{ NULL, 3, 0, DAMAGED, "holds message 3, which was confirmed" },
		{ "another", 2, 0, DAMAGED, "is of log another, and the log in this folder is another" },
	};
	struct folder folder = folder_new();
	char id[40], path[200];
	json_t *report;

	(void)state;
	TEXT_COPY(id, broker_log_id(desk->broker));
	desk_crash(desk);
	desk->topology.topics[topology_topic(&desk->topology, "row")].sidelog = true;
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_null(strstr(printed, "SIDE LOG"));
	desk->settings.sidelog = folder.path;
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_printed("THE SIDE LOG in ");
	assert_printed("there is none. The broker writes what is missing from the log at its next start");
	FOLDER_PATH(path, folder, SIDELOG_FILE);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(verify(desk->path, false), DAMAGED);
	assert_printed("it cannot be read: Is a directory: check the disk");
	assert_null(strstr(printed, "The broker writes"));
	assert_int_equal(rmdir(path), 0);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		write_sidelog(
			&folder, SIDELOG_FILE, table[i].log ? table[i].log : id, table[i].seq, table[i].broken_at);
		assert_int_equal(verify(desk->path, false), table[i].ended);
		if (table[i].words)
			assert_printed(table[i].words);
		else
			assert_null(strstr(printed, "SIDE LOG"));
		assert_printed("SOUND: ");
		assert_int_equal(verify(desk->path, true), table[i].ended);
		report = printed_report();
		assert_int_equal(json_is_true(json_object_get(json_object_get(report, "side_log"), "sound")),
			table[i].ended == SOUND);
		json_decref(report);
	}
	folder_remove(&folder);
}

/* The advice is the broker's own: it judges both, and one that it refuses it does not write again. */
static void what_the_broker_refuses_to_start_beside_is_told_as_the_broker_tells_it(void **state)
{
	struct folder folder = folder_new();
	struct desk *log = desk, *empty;
	char id[40], name[80], path[200];

	(void)state;
	TEXT_COPY(id, broker_log_id(log->broker));
	desk_crash(log);
	log->settings.sidelog = folder.path;
	write_sidelog(&folder, SIDELOG_FILE, id, 2, 0);
	snprintf(name, sizeof(name), SIDELOG_FILE SIDELOG_OF "%s", id);
	write_sidelog(&folder, name, id, 2, 0);
	assert_int_equal(verify(log->path, false), SOUND);
	snprintf(name, sizeof(name), SIDELOG_FILE SIDELOG_OF "%s.2", id);
	write_sidelog(&folder, name, id, 3, 0);
	assert_int_equal(verify(log->path, false), DAMAGED);
	assert_printed("the log ends at message 2, and the side log");
	assert_printed(".2 holds message 3, which was confirmed. " BROKER_REMEDY);
	write_sidelog(&folder, SIDELOG_FILE, "gone", 2, 0);
	FOLDER_PATH(path, folder, name);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(verify(log->path, false), DAMAGED);
	assert_printed("is of log gone, and the log in this folder is another");
	assert_printed(
		"rename it to stops.of-gone, and move the files in the services' state folders away, not the folders.");

	desk = empty = desk_open_disk();
	desk_crash(empty);
	empty->settings.sidelog = folder.path;
	assert_int_equal(verify(empty->path, false), DAMAGED);
	assert_printed("the log gone is gone: its side log");
	write_sidelog(&folder, SIDELOG_FILE, "gone", 2, 150);
	assert_int_equal(verify(empty->path, false), DAMAGED);
	assert_printed(
		"is damaged, and the log in this folder is new and empty. Who said no or bought would be mailed");
	assert_null(strstr(printed, "The broker writes"));
	desk_close(empty);
	desk = log;
	folder_remove(&folder);
}

/* ---- what a side log need not hold ---- */

static void begin_with_one_of_two(const struct folder *folder)
{
	char id[40];

	TEXT_COPY(id, broker_log_id(desk->broker));
	desk_crash(desk);
	desk->topology.topics[topology_topic(&desk->topology, "row")].sidelog = true;
	desk->settings.sidelog = folder->path;
	write_sidelog(folder, SIDELOG_FILE, id, 1, 0);
}

static void a_side_log_may_lack_what_is_older_than_it_keeps(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	int64_t said_us = desk->clock.virtual_us;

	(void)state;
	begin_with_one_of_two(&folder);
	desk->clock.virtual_us = said_us + 120 * US_PER_DAY - US_PER_S;
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_printed("lacks what the log holds up to 2");
	desk->clock.virtual_us += 2 * US_PER_S;
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_null(strstr(printed, "SIDE LOG"));
}

static void a_side_log_lacks_nothing_that_was_erased(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct peer *admin = peer_new(desk, "admin", "a");

	(void)state;
	peer_hello(admin, "run", 0);
	json_decref(peer_ask(admin, "erase", "{\"begin\":true,\"messages\":[2],\"run\":true}"));
	for (int i = 0; erase_is_running(desk->broker) && i < 100; i++)
		desk_pass(desk, 20 * US_PER_MS);
	begin_with_one_of_two(&folder);
	assert_int_equal(verify(desk->path, false), SOUND);
	assert_printed("1 of them erased");
	assert_null(strstr(printed, "SIDE LOG"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			it_leaves_no_lock_where_there_was_none_and_one_that_was_there, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(a_sound_log_is_called_so_with_its_numbers, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(
			a_log_that_does_not_open_is_damaged_and_named_with_the_reason, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(
			where_there_is_no_log_or_somebody_has_it_nothing_is_read, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(
			a_side_log_that_is_missing_short_damaged_or_anothers_is_told, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(
			what_the_broker_refuses_to_start_beside_is_told_as_the_broker_tells_it, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(a_side_log_may_lack_what_is_older_than_it_keeps, open_desk, close_desk),
		cmocka_unit_test_setup_teardown(a_side_log_lacks_nothing_that_was_erased, open_desk, close_desk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
