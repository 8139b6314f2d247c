/*
 * test_recover_sends_sidelog.c: what a restore takes from a side log, message by message, and which side logs it believes
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "tests/service/cartbus/recalled.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <string.h>

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* ---- a side log ---- */

static void begin(struct buffer *file, const char *log, const char *origin)
{
	struct sidelog_head head = { 0 };

	buffer_clear(file);
	TEXT_COPY(head.log, log);
	TEXT_COPY(head.origin, origin);
	sidelog_write_head(&head, file);
}

static void add(struct buffer *file, uint64_t seq, const struct topic *topic, const struct publish_options *how,
	const void *message)
{
	_cleanup_(buffer_free) struct buffer encoded = { 0 };
	struct sidelog_record record = { .seq = seq, .time_us = 1000 + (int64_t)seq };

	assert_int_equal(message_encode(topic, how, NULL, 5, message, &encoded), 0);
	record.message = buffer_bytes(&encoded);
	sidelog_write(&record, file);
}

#define ADD(file, seq, topic, message, ...)                                                                            \
	add((file), (seq), &topic_##topic, &(struct publish_options){ .shop = "demo", __VA_ARGS__ },                   \
		(const topic_message_##topic *)(message))

static void add_optout(struct buffer *file, uint64_t seq)
{
	OptoutRequest asked = { .source = OPTOUT_PAGE, .heard_us = 7 };

	TEXT_COPY(asked.address_hash, HASH);
	ADD(file, seq, optout_request, &asked, .key = HASH, .idem = "mine");
}

static void put(const struct folder *folder, const char *name, struct bytes bytes)
{
	char path[160];

	FOLDER_PATH(path, *folder, name);
	assert_int_equal(file_write_durably(path, bytes, 0600), 0);
}

static int learn_copy(struct recover_sends *recovery, const struct folder *folder, const struct buffer *file)
{
	char path[160];

	put(folder, "copy", buffer_bytes(file));
	FOLDER_PATH(path, *folder, "copy");
	return recover_sends_sidelog_copy(recovery, path);
}

static const json_t *only_note(const struct recover_sends *recovery)
{
	assert_int_equal(json_object_size(recovery->said), 1);
	return json_object_iter_value(json_object_iter(recovery->said));
}

/* ---- messages ---- */

static void a_message_is_noted_word_for_word_under_its_own_key(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();
	OptoutRequest asked;
	const json_t *note;

	(void)state;
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 1);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
	note = only_note(&recovery);
	assert_non_null(json_object_get(recovery.said, "log-b/000000000101"));
	recalled_read(note, &topic_optout_request, &asked);
	assert_string_equal(asked.address_hash, HASH);
	assert_int_equal(asked.heard_us, 7);
	assert_string_equal(recalled_text(note, "shop"), "demo");
	assert_string_equal(recalled_text(note, "key"), HASH);
	assert_string_equal(recalled_text(note, "idem"), "mine");
	assert_int_equal(json_integer_value(json_object_get(note, "at_us")), 1000 + RECALLED_HEAD + 1);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE); /* twice is once */
	only_note(&recovery);
	recalled_drop(&recovery);
}

static void without_a_key_of_its_own_it_gets_one_of_its_number(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();
	MailFeedback feedback = { .kind = FEEDBACK_COMPLAINT };

	(void)state;
	begin(&file, RECALLED_OTHER_LOG, RECALLED_ORIGIN);
	TEXT_COPY(feedback.address_hash, HASH);
	ADD(&file, 3, mail_feedback, &feedback, .key = HASH);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
	assert_string_equal(recalled_text(only_note(&recovery), "idem"), "restored/log-z/000000000003");
	recalled_drop(&recovery);
}

/* Numbers up to the backup's head are in it, where they are its log's. */
static void what_the_backup_has_is_passed_over(void **state)
{
	static const struct {
		const char *log;
		uint64_t seq;
		bool is_learnt;
	} cases[] = { { RECALLED_LOG, RECALLED_HEAD, false }, { RECALLED_LOG, RECALLED_HEAD + 1, true },
		{ RECALLED_OTHER_LOG, 1, true }, { RECALLED_OTHER_LOG, RECALLED_HEAD, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer file = { 0 };
		struct recover_sends recovery = recalled_new();

		begin(&file, cases[i].log, RECALLED_ORIGIN);
		add_optout(&file, cases[i].seq);
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		assert_int_equal(json_object_size(recovery.said), cases[i].is_learnt);
		assert_int_equal(json_array_size(recovery.sidelogs), cases[i].is_learnt);
		recalled_drop(&recovery);
	}
}

static void add_listing(struct buffer *file, bool lifted)
{
	Suppression row = { .source = OPTOUT_IMPORT, .since_us = 70, .lifted = lifted };

	TEXT_COPY(row.address_hash, HASH);
	ADD(file, RECALLED_HEAD + 1, suppression, &row, .key = HASH, .version = 1);
}

static void add_privacy(struct buffer *file, bool settled, bool tombstone)
{
	PrivacyState row = { .has_request = true, .settled = settled };

	TEXT_COPY(row.request.request_id, "r-1");
	ADD(file, RECALLED_HEAD + 1, privacy_state, &row, .key = "r-1", .version = 1, .tombstone = tombstone);
}

/* Rows stand for messages that may be forgotten: what is in force is said as what it came of. */
static void a_row_in_force_becomes_the_message_that_it_came_of(void **state)
{
	(void)state;
	for (int is_over = 0; is_over < 2; is_over++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer file = { 0 };
		struct recover_sends recovery = recalled_new();
		OptoutRequest asked;
		PrivacyRequest request;

		begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
		add_listing(&file, is_over);
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		if (!is_over) {
			recalled_read(only_note(&recovery), &topic_optout_request, &asked);
			assert_string_equal(asked.address_hash, HASH);
			assert_int_equal(asked.source, OPTOUT_IMPORT);
			assert_int_equal(asked.heard_us, 70);
		}
		assert_int_equal(json_object_size(recovery.said), !is_over);
		json_object_clear(recovery.said);
		begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
		add_privacy(&file, is_over, false);
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		if (!is_over) {
			recalled_read(only_note(&recovery), &topic_privacy_request, &request);
			assert_string_equal(request.request_id, "r-1");
		}
		assert_int_equal(json_object_size(recovery.said), !is_over);
		json_object_clear(recovery.said);
		begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
		add_privacy(&file, false, true);
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		assert_int_equal(json_object_size(recovery.said), 0);
		recalled_drop(&recovery);
	}
}

/* Nobody is let back on by a restore: it is counted, and told. */
static void only_what_forbids_is_said_again(void **state)
{
	static const struct {
		AdminVerb verb;
		bool is_said, lets_back;
	} verbs[] = {
		{ ADMIN_SUPPRESS_CART, true, false },
		{ ADMIN_WRITE_OFF, true, false },
		{ ADMIN_UNSUBSCRIBE, true, false },
		{ ADMIN_OVERRIDE_WAIT, true, false },
		{ ADMIN_SETTLE_PRIVACY, true, false },
		{ ADMIN_LIFT_SUPPRESSION, false, true },
		{ ADMIN_TAKE_BACK, false, true },
		{ ADMIN_RETIME, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer file = { 0 };
		struct recover_sends recovery = recalled_new();
		AdminAction action = { .verb = verbs[i].verb };

		TEXT_COPY(action.cart_id, "c-1");
		TEXT_COPY(action.reason, "she is a friend");
		begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
		ADD(&file, RECALLED_HEAD + 1, admin_action, &action, .key = "c-1");
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		assert_int_equal(json_object_size(recovery.said), verbs[i].is_said);
		assert_int_equal(json_object_size(recovery.let_back), verbs[i].lets_back);
		if (verbs[i].lets_back)
			assert_non_null(json_object_get(recovery.let_back, "log-b/000000000101"));
		recalled_drop(&recovery);
	}
}

/* A copy may be older than an erasure: what an owner wrote may name who was erased since. */
static void words_of_an_owner_are_not_taken_from_a_copy_where_somebody_was_erased(void **state)
{
	static const struct {
		bool is_copy, was_erased;
		const char *reason;
	} cases[] = {
		{ false, false, "she is a friend" },
		{ false, true, "she is a friend" }, /* the erasure was made in the one in its place, too */
		{ true, false, "she is a friend" },
		{ true, true, "as before the log was restored" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer file = { 0 };
		struct recover_sends recovery = recalled_new();
		AdminAction action = { .verb = ADMIN_SUPPRESS_CART }, found;
		json_t *erased = cases[i].was_erased
			? json_pack("[{s:s,s:s,s:[],s:[],s:I,s:b}]", "id", "1", "shop", "other", "addresses",
				  "customers", "at_us", (json_int_t)1, "done", 1)
			: json_array();

		recovery.erased = erased;
		TEXT_COPY(action.cart_id, "c-1");
		TEXT_COPY(action.reason, "she is a friend");
		begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
		ADD(&file, RECALLED_HEAD + 1, admin_action, &action, .key = "c-1");
		if (cases[i].is_copy)
			assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		put(&folder, SIDELOG_FILE, buffer_bytes(&file));
		if (!cases[i].is_copy)
			assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
		recalled_read(only_note(&recovery), &topic_admin_action, &found);
		assert_string_equal(found.reason, cases[i].reason);
		json_decref(erased);
		recalled_drop(&recovery);
	}
}

/* Nothing of who was erased comes back. */
static void an_order_of_who_was_erased_is_not_learnt(void **state)
{
	static const char *const addresses[] = { HASH, "b" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer file = { 0 };
		struct recover_sends recovery = recalled_new();
		CartCheckout order = { .has_ids = true, .heard_us = 5 };
		json_t *erased = json_pack("[{s:s,s:s,s:s,s:[s],s:[],s:I,s:b}]", "id", "1", "shop", "demo", "by",
			"address", "addresses", addresses[i], "customers", "at_us", (json_int_t)5000, "done", 1);

		recovery.erased = erased;
		TEXT_COPY(order.ids.email_hash, HASH);
		TEXT_COPY(order.ids.order_id, "o-1");
		begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
		ADD(&file, RECALLED_HEAD + 1, cart_checkout, &order, .key = "o-1");
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		assert_int_equal(json_object_size(recovery.said), i);
		json_decref(erased);
		recalled_drop(&recovery);
	}
}

static void a_mode_is_noted_as_the_shops(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();
	ShopStatus status = { .mode = MODE_PAUSED, .priority = 3, .at_us = 4 };

	(void)state;
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	ADD(&file, RECALLED_HEAD + 1, shop_status, &status, .key = "demo", .version = 1);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
	assert_int_equal(json_object_size(recovery.said), 0);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(recovery.modes, "demo"), "mode")), MODE_PAUSED);
	recalled_drop(&recovery);
}

/* ---- which are believed ---- */

static void a_copy_is_believed_if_it_is_of_this_installation(void **state)
{
	static const struct {
		const char *log, *origin;
		bool is_kin;
	} cases[] = {
		{ RECALLED_LOG, RECALLED_ORIGIN, true },
		{ RECALLED_LOG, RECALLED_OTHER_LOG, true },    /* of the backup's log */
		{ RECALLED_OTHER_LOG, RECALLED_ORIGIN, true }, /* of one that was restored from the same */
		{ RECALLED_OTHER_LOG, RECALLED_LOG, false },
		{ RECALLED_ORIGIN, RECALLED_OTHER_LOG, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		_cleanup_(buffer_free) struct buffer file = { 0 };
		struct recover_sends recovery = recalled_new();

		begin(&file, cases[i].log, cases[i].origin);
		add_optout(&file, RECALLED_HEAD + 1);
		assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
		assert_int_equal(json_object_size(recovery.said), cases[i].is_kin);
		assert_string_equal(recovery.sidelog_id, cases[i].is_kin ? cases[i].log : "");
		if (!cases[i].is_kin)
			assert_non_null(strstr(recalled_heard(), "is of another installation (its log is"));
		assert_false(recovery.has_sidelog); /* a copy may lack its end */
		recalled_drop(&recovery);
	}
}

static void the_one_in_its_place_covers_all_if_it_is_whole(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();
	size_t damaged;

	(void)state;
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 1);
	damaged = file.len - 3;
	add_optout(&file, RECALLED_HEAD + 3);
	add_optout(&file, RECALLED_HEAD + 4);
	put(&folder, SIDELOG_FILE, buffer_bytes(&file));
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	assert_true(recovery.has_sidelog);
	assert_true(recover_sends_is_covered(&recovery));
	assert_string_equal(recovery.sidelog_id, RECALLED_LOG);
	assert_int_equal(recovery.sidelog_last, RECALLED_HEAD + 4);
	assert_int_equal(recovery.known_to, RECALLED_HEAD + 4);
	assert_int_equal(json_object_size(recovery.said), 3);
	assert_string_equal(recalled_heard(), "");
	recalled_drop(&recovery);

	recovery = recalled_new();
	file.data[damaged] ^= 0x40;
	put(&folder, SIDELOG_FILE, buffer_bytes(&file));
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	assert_false(recovery.has_sidelog);
	assert_false(recover_sends_is_covered(&recovery));
	assert_int_equal(json_object_size(recovery.said), 2);
	assert_non_null(strstr(recalled_heard(), "is damaged in 1 places: 2 messages of it are whole and learnt"));
	recalled_drop(&recovery);
}

/* The numbers of another log say nothing about how far this one is known. */
static void how_far_it_reaches_counts_in_its_own_log(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();

	(void)state;
	begin(&file, RECALLED_OTHER_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 50);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
	assert_int_equal(recovery.sidelog_last, 0);
	assert_int_equal(recovery.known_to, RECALLED_HEAD);
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 7);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
	assert_int_equal(recovery.sidelog_last, RECALLED_HEAD + 7);
	assert_int_equal(recovery.known_to, RECALLED_HEAD + 7);
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 6);
	assert_int_equal(learn_copy(&recovery, &folder, &file), EXIT_FINE);
	assert_int_equal(recovery.sidelog_last, RECALLED_HEAD + 7);
	assert_int_equal(recovery.known_to, RECALLED_HEAD + 7);
	assert_string_equal(recovery.sidelog_id, RECALLED_OTHER_LOG); /* the first that was found, of copies */
	recalled_drop(&recovery);
}

/* Put away beside it, by the broker that found its log gone: if one is kin, all are this installation's. */
static void those_that_were_put_away_are_read_with_it(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();

	(void)state;
	begin(&file, "log-y", "log-y");
	add_optout(&file, 1);
	put(&folder, SIDELOG_FILE, buffer_bytes(&file));
	put(&folder, "stops.damaged", buffer_bytes(&file)); /* none of those */
	put(&folder, "other", buffer_bytes(&file));
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	assert_int_equal(json_object_size(recovery.said), 0);
	assert_false(recovery.has_sidelog);
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 1);
	put(&folder, "stops.of-log-b", buffer_bytes(&file));
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	assert_int_equal(json_object_size(recovery.said), 2);
	assert_int_equal(json_array_size(recovery.sidelogs), 2);
	assert_false(recovery.has_sidelog); /* the broker wrote to it only until its log was gone */
	assert_string_equal(recovery.sidelog_id, RECALLED_LOG);
	recalled_drop(&recovery);
	assert_true(recover_sends_is_sidelog("stops"));
	assert_true(recover_sends_is_sidelog("stops.of-x"));
	assert_false(recover_sends_is_sidelog("stops.damaged"));
	assert_false(recover_sends_is_sidelog("stop"));
}

/* The one in its place is kin, and read first: then those beside it are this installation's. */
static void any_of_them_may_show_that_all_are_ours(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();

	(void)state;
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	add_optout(&file, RECALLED_HEAD + 1);
	put(&folder, SIDELOG_FILE, buffer_bytes(&file));
	begin(&file, "log-y", "log-y");
	add_optout(&file, 1);
	put(&folder, "stops.of-log-y", buffer_bytes(&file));
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	assert_int_equal(json_object_size(recovery.said), 2);
	assert_true(recovery.has_sidelog);
	assert_string_equal(recovery.sidelog_id, RECALLED_LOG);
	recalled_drop(&recovery);
}

static void the_one_in_its_place_names_the_log_whatever_was_put_away(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer file = { 0 };
	struct recover_sends recovery = recalled_new();

	(void)state;
	TEXT_COPY(recovery.sidelog_id, "log-x");
	begin(&file, RECALLED_OTHER_LOG, RECALLED_ORIGIN);
	add_optout(&file, 1);
	put(&folder, SIDELOG_FILE, buffer_bytes(&file));
	begin(&file, RECALLED_LOG, RECALLED_ORIGIN);
	put(&folder, "stops.of-log-b", buffer_bytes(&file));
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	assert_string_equal(recovery.sidelog_id, RECALLED_OTHER_LOG);
	assert_true(recovery.has_sidelog);
	recalled_drop(&recovery);
}

static void what_is_no_side_log_is_told_and_none_is_fine(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct recover_sends recovery = recalled_new();
	char path[160];

	(void)state;
	FOLDER_PATH(path, folder, "none");
	assert_int_equal(recover_sends_sidelog_copy(&recovery, path), EXIT_FINE);
	assert_int_equal(recover_sends_sidelogs(&recovery, path), EXIT_FINE);
	assert_int_equal(recover_sends_sidelogs(&recovery, folder.path), EXIT_FINE);
	put(&folder, "file", bytes_of("no side log"));
	FOLDER_PATH(path, folder, "file/stops");
	assert_int_equal(recover_sends_sidelog_copy(&recovery, path), EXIT_FINE);
	assert_string_equal(recalled_heard(), "");
	FOLDER_PATH(path, folder, "file");
	assert_int_equal(recover_sends_sidelogs(&recovery, path), EXIT_FINE);
	assert_string_equal(recalled_heard(), "");
	assert_int_equal(recover_sends_sidelog_copy(&recovery, path), EXIT_FINE);
	assert_non_null(strstr(recalled_heard(), "is damaged from its first byte on: nothing is learnt from it"));
	assert_int_equal(recover_sends_sidelog_copy(&recovery, folder.path), EXIT_NO); /* it may know much */
	assert_non_null(strstr(recalled_heard(), "cannot be read, and may know what forbids a mail: Is a directory"));
	assert_int_equal(json_object_size(recovery.said), 0);
	recalled_drop(&recovery);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_noted_word_for_word_under_its_own_key),
		cmocka_unit_test(without_a_key_of_its_own_it_gets_one_of_its_number),
		cmocka_unit_test(what_the_backup_has_is_passed_over),
		cmocka_unit_test(a_row_in_force_becomes_the_message_that_it_came_of),
		cmocka_unit_test(only_what_forbids_is_said_again),
		cmocka_unit_test(words_of_an_owner_are_not_taken_from_a_copy_where_somebody_was_erased),
		cmocka_unit_test(an_order_of_who_was_erased_is_not_learnt),
		cmocka_unit_test(a_mode_is_noted_as_the_shops),
		cmocka_unit_test(a_copy_is_believed_if_it_is_of_this_installation),
		cmocka_unit_test(the_one_in_its_place_covers_all_if_it_is_whole),
		cmocka_unit_test(how_far_it_reaches_counts_in_its_own_log),
		cmocka_unit_test(those_that_were_put_away_are_read_with_it),
		cmocka_unit_test(any_of_them_may_show_that_all_are_ours),
		cmocka_unit_test(the_one_in_its_place_names_the_log_whatever_was_put_away),
		cmocka_unit_test(what_is_no_side_log_is_told_and_none_is_fine),
	};

	return cmocka_run_group_tests_name("cartbus.recover_sends_sidelog", tests, NULL, NULL);
}
