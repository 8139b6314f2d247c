/* test_log_identity.c: which log this is, and whether it has forgotten what somebody remembers (promise 7), opening by opening */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/broker.h"
#include "bus/broker/log/log_state.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int __real_store_commit(struct store *store, struct store_batch *batch, bool sync);
int __wrap_store_commit(struct store *store, struct store_batch *batch, bool sync);

static int commits, synced;

/* In the place of store_commit (the linker's --wrap): it counts. */
int __wrap_store_commit(struct store *store, struct store_batch *batch, bool sync)
{
	commits++;
	synced += sync;
	return __real_store_commit(store, batch, sync);
}

static struct log *made(const char *id, const char *origin)
{
	struct log *log = calloc(1, sizeof(*log));

	assert_int_equal(store_open_memory(&broker_store_options, &log->store), 0);
	TEXT_COPY(log->id, id);
	TEXT_COPY(log->origin, origin);
	return log;
}

static void lose(struct log *log)
{
	store_close(log->store);
	free(log);
}

/* Once more, with the head where it stands. Returns this opening. */
static uint64_t open_at(struct log *log, uint64_t head)
{
	struct store_batch *batch = store_batch_new(log->store);

	log->head = head;
	log_identity_open(log);
	log_identity_write(log, batch);
	assert_int_equal(store_commit(log->store, batch, true), 0);
	store_batch_free(batch);
	return log->opening;
}

static void put(struct log *log, const char *key, size_t key_len, const char *value)
{
	struct store_batch *batch = store_batch_new(log->store);

	store_batch_put(batch, FAMILY_META, BYTES(key, key_len), bytes_of(value));
	assert_int_equal(store_commit(log->store, batch, true), 0);
	store_batch_free(batch);
}

static bool has(const struct log *log, const char *key, const char *value)
{
	struct buffer found = { 0 };
	bool is_there = store_get(log->store, FAMILY_META, bytes_of(key), &found) == 0 &&
		(!value || strcmp(buffer_text(&found), value) == 0);

	buffer_free(&found);
	return is_there;
}

/* As another process reads it. */
static int read_again(struct log *log, char why[512])
{
	log->id[0] = log->origin[0] = '\0';
	return log_identity_read(log, why);
}

static void a_log_is_known_by_its_name_and_the_first_that_it_came_from(void **state)
{
	static const char *const origins[] = { "", "log-a" };
	char why[512] = "";

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct log *log = made("log-b", origins[i]);

		assert_int_equal(log_identity_read(log, why), -ENOENT);
		open_at(log, 0);
		assert_int_equal(read_again(log, why), 0);
		assert_string_equal(log->id, "log-b");
		assert_string_equal(log_origin(log), i ? "log-a" : "log-b");
		assert_string_equal(why, "");
		lose(log);
	}
}

static void a_name_that_does_not_fit_is_damage(void **state)
{
	static const char *const rows[] = { "log", "origin" };
	char why[512] = "", name[60];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct log *log = made("log-b", "log-a");

		open_at(log, 0);
		memset(name, 'x', sizeof(name));
		name[40] = '\0';
		put(log, rows[i], strlen(rows[i]), name);
		assert_int_equal(read_again(log, why), -EUCLEAN);
		name[39] = '\0';
		put(log, rows[i], strlen(rows[i]), name);
		assert_int_equal(read_again(log, why), 0);
		lose(log);
	}
}

/* Two copies of one log do not open alike. */
static void each_opening_is_counted_and_is_like_no_other(void **state)
{
	struct log *log = made("log-b", ""), *copy = made("log-b", "");
	uint64_t first = open_at(log, 0), second = open_at(log, 5), other = open_at(copy, 0);

	(void)state;
	assert_int_equal(first >> 32, 1);
	assert_int_equal(second >> 32, 2);
	assert_int_equal(other >> 32, 1);
	assert_true(first != other); /* but for once in four thousand million times */
	assert_int_equal(log->boots, 2);
	lose(log);
	lose(copy);
}

static void expect_forgot(struct log *log, uint64_t remembered, uint64_t opening, const char *words)
{
	char why[256] = "";
	bool forgot = log_forgot(log, remembered, opening, why);

	if (forgot != (words != NULL) || (words && !strstr(why, words)))
		fail_msg("of %llu in opening %llu: %s", (unsigned long long)remembered,
			(unsigned long long)opening >> 32, forgot ? why : "nothing is missing");
}

/* Its openings found it ending at 0, 10 and 20; now it ends at 30. */
static void what_somebody_remembers_must_be_in_it(void **state)
{
	struct log *log = made("log-b", "");
	const uint64_t first = open_at(log, 0), second = open_at(log, 10), third = open_at(log, 20);

	(void)state;
	log->head = 30;
	expect_forgot(log, 0, 0, NULL); /* who never met it */
	expect_forgot(log, 30, 0, NULL);
	expect_forgot(log, 30, third, NULL);
	expect_forgot(log, 31, third, "the log ends at message 30, and message 31 of it was confirmed");
	expect_forgot(log, 31, 0, "the log ends at message 30, and message 31 of it was confirmed");
	expect_forgot(log, 20, second, NULL);
	expect_forgot(log, 21, second,
		"the log lost its end once and has grown since: a restart found message 20 the last, and message 21 "
		"had been confirmed");
	expect_forgot(log, 10, first, NULL);
	expect_forgot(log, 11, first, "a restart found message 10 the last, and message 11 had been confirmed");
	lose(log);
}

static void an_older_copy_of_itself_is_recognised(void **state)
{
	static const char older[] = "the log is an older copy of itself: somebody saw it opened for the";
	static const char row_of_second[] = "boot/\0\0\0\0\0\0\0\2";
	struct log *log = made("log-b", "");
	const uint64_t first = open_at(log, 0), second = open_at(log, 10);

	(void)state;
	log->head = 30;
	expect_forgot(log, 1, second + (UINT64_C(1) << 32), older); /* opened once more, elsewhere */
	expect_forgot(log, 1, second ^ 1, older);                   /* the second time, but not this one's */
	expect_forgot(log, 1, first ^ 1, older);
	expect_forgot(log, 1, second, NULL);
	put(log, row_of_second, sizeof(row_of_second) - 1, "short");
	expect_forgot(log, 1, second, older);
	expect_forgot(log, 1, first, NULL);
	lose(log);
}

/* Whoever found it out may be gone when the log is opened next. */
static void what_was_found_missing_is_written_down_at_once_and_refused_ever_after(void **state)
{
	struct log *log = made("log-b", "");
	char why[512] = "";

	(void)state;
	open_at(log, 5);
	commits = synced = 0;
	log_mark_forgotten(log, "the log ends at message 5");
	assert_int_equal(commits, 1);
	assert_int_equal(synced, 1);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(read_again(log, why), -EUCLEAN);
		assert_true(text_starts(why, "the log ends at message 5. Put the newest state folder"));
		assert_non_null(strstr(why, "--new-identity"));
		open_at(log, 5);
	}
	lose(log);
}

static void a_new_identity_keeps_the_origin_holds_the_claims_and_forgives(void **state)
{
	static const char *const origins[] = { "", "log-a" };
	char why[512] = "", before[40], id[40];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct log *log = made("log-b", origins[i]);

		assert_int_equal(log_new_identity(log->store, before, id), -ENOENT);
		open_at(log, 5);
		log_mark_forgotten(log, "it lost its end");
		commits = synced = 0;
		assert_int_equal(log_new_identity(log->store, before, id), 0);
		assert_int_equal(commits, 1); /* all of it or nothing */
		assert_int_equal(synced, 1);
		assert_string_equal(before, "log-b");
		assert_int_equal(strlen(id), 32);
		assert_int_equal(read_again(log, why), 0);
		assert_string_equal(log->id, id);
		assert_string_equal(log_origin(log), i ? "log-a" : "log-b");
		assert_true(has(log, CLAIMS_HELD, "1"));
		assert_false(has(log, "forgotten", NULL));
		lose(log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_is_known_by_its_name_and_the_first_that_it_came_from),
		cmocka_unit_test(a_name_that_does_not_fit_is_damage),
		cmocka_unit_test(each_opening_is_counted_and_is_like_no_other),
		cmocka_unit_test(what_somebody_remembers_must_be_in_it),
		cmocka_unit_test(an_older_copy_of_itself_is_recognised),
		cmocka_unit_test(what_was_found_missing_is_written_down_at_once_and_refused_ever_after),
		cmocka_unit_test(a_new_identity_keeps_the_origin_holds_the_claims_and_forgives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
