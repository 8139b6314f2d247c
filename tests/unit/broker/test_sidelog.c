/*
 * test_sidelog.c: what must outlive the log is in the side log when it is confirmed, and is written again from the log
 *
 * fdatasync is this file's own here: it is counted, and can be made to fail.
 */
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "bus/broker/log/sidelog.h"
#include "bus/wire/sidelog_file.h"
#include "desk.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char topology[] = "[topic plain]\nretention = fact\n[topic kept]\nretention = fact\nsidelog = yes\n"
			       "[topic row]\nretention = fact\ngroup = row\nsidelog = yes\n"
			       "[peer talker]\nsays = plain\nsays = kept\nsays = row\n"
			       "[peer reader]\nremembers = plain\nremembers = kept\nremembers = row\n";

enum { SEEN_MOST = 32 };

static int side_log_syncs;
static bool side_log_syncs_fail;

static bool is_side_log(int fd)
{
	char link[40], path[300] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "/" SIDELOG_FILE);
}

int fdatasync(int fd)
{
	if (!is_side_log(fd))
		return (int)syscall(SYS_fdatasync, fd);
	side_log_syncs++;
	if (!side_log_syncs_fail)
		return (int)syscall(SYS_fdatasync, fd);
	errno = EIO;
	return -1;
}

struct scene {
	struct folder folder;
	struct desk *desk;
	struct peer *talker;
	char file[200], away[SIDELOG_PATH];
	uint64_t seen[SEEN_MOST];
	size_t count;
};

static int open_scene(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->folder = folder_new();
	scene->desk = desk_open_disk();
	scene->talker = peer_new(scene->desk, "talker", "t");
	scene->desk->settings.sidelog = scene->folder.path;
	FOLDER_PATH(scene->file, scene->folder, SIDELOG_FILE);
	*state = scene;
	return 0;
}

static int close_scene(void **state)
{
	struct scene *scene = *state;

	desk_close(scene->desk);
	folder_remove(&scene->folder);
	free(scene);
	return 0;
}

static int start(struct scene *scene)
{
	int r;

	desk_crash(scene->desk);
	r = desk_start(scene->desk, topology);
	if (r == 0)
		peer_hello(scene->talker, "run", 0);
	return r;
}

static void note_seen(const struct sidelog_record *record, void *context)
{
	struct scene *scene = context;

	assert_in_range(scene->count, 0, SEEN_MOST - 1);
	assert_true(record->time_us > 0 && record->message.len > 0);
	scene->seen[scene->count++] = record->seq;
}

static void assert_holds(struct scene *scene, const uint64_t *numbers, size_t count)
{
	struct buffer file = { 0 };
	struct sidelog_read reading;

	scene->count = 0;
	assert_int_equal(file_read(scene->file, SIDELOG_MOST, &file), 0);
	assert_int_equal(sidelog_read(buffer_bytes(&file), note_seen, scene, &reading), 0);
	assert_int_equal(reading.damages, 0);
	assert_false(reading.is_torn);
	assert_int_equal(scene->count, count);
	assert_memory_equal(scene->seen, numbers, count * sizeof(*numbers));
	buffer_free(&file);
}
#define ASSERT_HOLDS(scene, ...)                                                                                       \
	assert_holds(scene, (const uint64_t[]){ __VA_ARGS__ },                                                         \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void say_some(struct scene *scene)
{
	SAID(scene->talker, .topic = "plain", .key = "a");
	SAID(scene->talker, .topic = "kept", .key = "a");
	SAID(scene->talker, .topic = "plain", .key = "b");
	SAID(scene->talker, .topic = "row", .key = "r", .version = 1);
}

static void what_is_in_it_is_synced_before_it_is_confirmed(void **state)
{
	struct scene *scene = *state;
	uint64_t said;
	Confirm confirm;

	assert_int_equal(start(scene), 0);
	side_log_syncs = 0;
	SAID(scene->talker, .topic = "plain", .key = "a");
	assert_int_equal(side_log_syncs, 0);
	SAID(scene->talker, .topic = "kept", .key = "a");
	assert_true(side_log_syncs > 0);
	said = PUBLISH(scene->talker, .topic = "kept", .key = "b");
	side_log_syncs_fail = true;
	desk_work(scene->desk);
	side_log_syncs_fail = false;
	assert_int_equal(scene->desk->commit_result, -EIO);
	assert_false(peer_confirm(scene->talker, said, &confirm));
	assert_non_null(strstr(broker_why(scene->desk->broker), "could not be written"));
	desk_work(scene->desk);
	assert_int_equal(scene->desk->commit_result, -EIO); /* for good */
	assert_false(peer_confirm(scene->talker, said, &confirm));
}

static void what_was_confirmed_is_in_it_and_nothing_else(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(start(scene), 0);
	SAID(scene->talker, .topic = "kept", .key = "a");
	ASSERT_HOLDS(scene, 1);
	say_some(scene);
	ASSERT_HOLDS(scene, 1, 3, 5);
	assert_int_equal(start(scene), 0);
	SAID(scene->talker, .topic = "kept", .key = "a");
	ASSERT_HOLDS(scene, 1, 3, 5, 6);
}

static void what_it_lost_is_written_again_from_the_log(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(start(scene), 0);
	say_some(scene);
	assert_int_equal(unlink(scene->file), 0);
	assert_int_equal(start(scene), 0);
	ASSERT_HOLDS(scene, 2, 4);
}

static void a_torn_end_is_cut_off_and_written_again(void **state)
{
	struct buffer file = { 0 };
	struct scene *scene = *state;

	assert_int_equal(start(scene), 0);
	say_some(scene);
	assert_int_equal(file_read(scene->file, SIDELOG_MOST, &file), 0);
	assert_int_equal(truncate(scene->file, (off_t)file.len - 3), 0);
	assert_int_equal(start(scene), 0);
	ASSERT_HOLDS(scene, 2, 4);
	buffer_free(&file);
}

static void flip_a_bit(const struct scene *scene)
{
	struct buffer file = { 0 };

	assert_int_equal(file_read(scene->file, SIDELOG_MOST, &file), 0);
	file.data[file.len / 2] ^= 0x20;
	assert_int_equal(file_write_durably(scene->file, buffer_bytes(&file), 0600), 0);
	buffer_free(&file);
}

/* The first byte that differs tells the damaged ones apart. */
static void damage(struct scene *scene, uint8_t mark)
{
	struct buffer file = { 0 };

	assert_int_equal(file_read(scene->file, SIDELOG_MOST, &file), 0);
	file.data[0] = mark;
	assert_int_equal(file_write_durably(scene->file, buffer_bytes(&file), 0600), 0);
	buffer_free(&file);
}

static void assert_aside(const struct scene *scene, const char *suffix, uint8_t mark)
{
	struct buffer file = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s%s", scene->file, suffix);
	assert_int_equal(file_read(path, SIDELOG_MOST, &file), 0);
	assert_int_equal(file.data[0], mark);
	buffer_free(&file);
}

static void a_damaged_one_is_put_aside_and_another_written(void **state)
{
	struct buffer file = { 0 };
	struct scene *scene = *state;

	assert_int_equal(start(scene), 0);
	assert_int_equal(sidelog_damaged(scene->desk->broker->sidelog), 0);
	say_some(scene);
	assert_int_equal(file_read(scene->file, SIDELOG_MOST, &file), 0);
	file.data[file.len / 2] ^= 0x20;
	assert_int_equal(file_write_durably(scene->file, buffer_bytes(&file), 0600), 0);
	assert_int_equal(start(scene), 0);
	ASSERT_HOLDS(scene, 2, 4);
	assert_aside(scene, ".damaged", file.data[0]);
	assert_int_equal(sidelog_damaged(scene->desk->broker->sidelog), 1);
	buffer_free(&file);
}

static void each_damaged_one_has_a_name_of_its_own_and_the_last_of_too_many_gives_way(void **state)
{
	struct scene *scene = *state;
	char suffix[32];

	assert_int_equal(start(scene), 0);
	say_some(scene);
	for (uint8_t mark = 1; mark <= SIDELOG_DAMAGED_MOST + 1; mark++) {
		damage(scene, mark);
		assert_int_equal(start(scene), 0);
		ASSERT_HOLDS(scene, 2, 4);
	}
	assert_int_equal(sidelog_damaged(scene->desk->broker->sidelog), SIDELOG_DAMAGED_MOST);
	assert_aside(scene, ".damaged", 1);
	for (uint8_t nth = 2; nth < SIDELOG_DAMAGED_MOST; nth++) {
		snprintf(suffix, sizeof(suffix), ".damaged.%d", nth);
		assert_aside(scene, suffix, nth);
	}
	snprintf(suffix, sizeof(suffix), ".damaged.%d", SIDELOG_DAMAGED_MOST);
	assert_aside(scene, suffix, SIDELOG_DAMAGED_MOST + 1);
}

static void add_a_record_beyond_the_log(const struct scene *scene)
{
	struct sidelog_record beyond = { .seq = 9, .time_us = 1, .message = bytes_of("confirmed once") };
	struct buffer file = { 0 };

	assert_int_equal(file_read(scene->file, SIDELOG_MOST, &file), 0);
	sidelog_write(&beyond, &file);
	assert_int_equal(file_write_durably(scene->file, buffer_bytes(&file), 0600), 0);
	buffer_free(&file);
}

static void a_log_that_lost_what_it_holds_is_not_opened(void **state)
{
	struct scene *scene = *state;
	char aside[256];

	assert_int_equal(start(scene), 0);
	say_some(scene);
	add_a_record_beyond_the_log(scene);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(start(scene), -EUCLEAN);
		assert_non_null(strstr(scene->desk->why, "the log ends at message 4"));
		assert_non_null(strstr(scene->desk->why, "holds message 9, which was confirmed"));
		flip_a_bit(scene); /* that a part of it cannot be read makes the rest no less true */
	}
	snprintf(aside, sizeof(aside), "%s.damaged", scene->file);
	assert_int_equal(access(aside, F_OK), -1);
}

static void a_log_that_lost_what_one_put_away_holds_is_not_opened(void **state)
{
	struct scene *scene = *state;
	char away[256], third[300];

	assert_int_equal(start(scene), 0);
	say_some(scene);
	snprintf(away, sizeof(away), "%s" SIDELOG_OF "%s", scene->file, log_id(scene->desk->broker->log));
	assert_int_equal(sidelog_put_away(scene->folder.path, scene->away), 0);
	assert_int_equal(start(scene), 0);
	ASSERT_HOLDS(scene, 2, 4);
	add_a_record_beyond_the_log(scene);
	assert_int_equal(sidelog_put_away(scene->folder.path, scene->away), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(start(scene), -EUCLEAN);
		assert_non_null(strstr(scene->desk->why, "the log ends at message 4"));
		assert_non_null(strstr(scene->desk->why, away));
		assert_non_null(strstr(scene->desk->why, ".2 holds message 9, which was confirmed"));
		assert_int_equal(access(scene->file, F_OK), -1);
		if (i == 0)
			assert_int_equal(
				unlink(away), 0); /* the second is judged although the first is there no more */
	}
	assert_int_equal(unlink(scene->away), 0);
	snprintf(third, sizeof(third), "%s.3", away);
	assert_int_equal(mkdir(third, 0700), 0);
	assert_int_equal(start(scene), -EISDIR);
	assert_non_null(strstr(scene->desk->why, third));
	assert_int_equal(rmdir(third), 0);
	assert_int_equal(start(scene), 0);
}

/* ---- another log's ---- */

static void put_of(const struct scene *scene, const char *log, uint8_t first_byte)
{
	struct sidelog_head head = { 0 };
	struct buffer file = { 0 };

	TEXT_COPY(head.log, log);
	TEXT_COPY(head.origin, log);
	sidelog_write_head(&head, &file);
	sidelog_write(&(struct sidelog_record){ .seq = 1, .time_us = 1, .message = bytes_of("no") }, &file);
	if (first_byte)
		file.data[0] = first_byte;
	assert_int_equal(file_write_durably(scene->file, buffer_bytes(&file), 0600), 0);
	buffer_free(&file);
}

static void assert_says(const struct scene *scene, const char *words)
{
	if (!strstr(scene->desk->why, words))
		fail_msg("\"%s\" does not say \"%s\"", scene->desk->why, words);
}

static void nothing_is_begun_over_the_side_log_of_a_log_that_is_gone(void **state)
{
	struct scene *scene = *state;
	char aside[256];

	put_of(scene, "gone", 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(start(scene), -EUCLEAN);
		assert_says(scene, "the log gone is gone: its side log");
		assert_says(scene, "would be mailed");
		assert_says(scene, "cartbus restore DIR");
		assert_says(scene,
			"rename it to stops.of-gone, and move the files in the services' state folders away, not the "
			"folders.");
	}
	put_of(scene, "gone", 1);
	assert_int_equal(start(scene), -EUCLEAN);
	assert_says(scene, "is damaged, and the log in this folder is new and empty");
	assert_says(scene, "rename it to stops.damaged, and");
	assert_int_equal(sidelog_put_away(scene->folder.path, scene->away), -EBADMSG);
	snprintf(aside, sizeof(aside), "%s" SIDELOG_DAMAGED, scene->file);
	assert_int_equal(file_write_durably(aside, bytes_of("an earlier one"), 0600), 0);
	assert_int_equal(start(scene), -EUCLEAN);
	assert_says(scene, "rename it to stops.damaged.2, and");
	put_of(scene, "gone", 0);
	assert_int_equal(sidelog_put_away(scene->folder.path, scene->away), 0);
	assert_aside(scene, ".of-gone", 'C');
	assert_int_equal(sidelog_put_away(scene->folder.path, scene->away), -ENOENT);
	put_of(scene, "gone", 0);
	assert_int_equal(start(scene), -EUCLEAN);
	assert_says(scene, "rename it to stops.of-gone.2, and");
	assert_int_equal(sidelog_put_away(scene->folder.path, scene->away), 0);
	assert_aside(scene, ".of-gone", 'C');
	assert_aside(scene, ".of-gone.2", 'C');
	assert_int_equal(start(scene), 0);
	say_some(scene);
	ASSERT_HOLDS(scene, 2, 4);
}

static void a_log_is_not_served_beside_the_side_log_of_another(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(start(scene), 0);
	say_some(scene);
	put_of(scene, "other", 0);
	assert_int_equal(start(scene), -EUCLEAN);
	assert_says(scene, "is of log other, and the log in this folder is another");
	assert_says(scene, "rename it to stops.of-other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_in_it_is_synced_before_it_is_confirmed, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(what_was_confirmed_is_in_it_and_nothing_else, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(what_it_lost_is_written_again_from_the_log, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(a_torn_end_is_cut_off_and_written_again, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(
			a_damaged_one_is_put_aside_and_another_written, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(
			each_damaged_one_has_a_name_of_its_own_and_the_last_of_too_many_gives_way, open_scene,
			close_scene),
		cmocka_unit_test_setup_teardown(a_log_that_lost_what_it_holds_is_not_opened, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(
			a_log_that_lost_what_one_put_away_holds_is_not_opened, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(
			nothing_is_begun_over_the_side_log_of_a_log_that_is_gone, open_scene, close_scene),
		cmocka_unit_test_setup_teardown(
			a_log_is_not_served_beside_the_side_log_of_another, open_scene, close_scene),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
