/* test_shown_restore.c: what a restore learns, says and refuses, held against texts that somebody has read */
#include "bus/actor/runtime/runtime.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/up/subcommands.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/sends.h"
#include "services/carts/policy/stops.h"
#include "services/kit/mail/address.h"
#include "tests/service/cartbus/operated.h"
#include "tests/unit/golden.h"
#include "tests/unit/part.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct subcommand table[] = {
	{ SUBCOMMANDS_SEE, "backup", "[DIR]", "a copy", command_backup },
	{ SUBCOMMANDS_SEE, "restore", "DIR", "a backup becomes the log", command_restore },
	{ SUBCOMMANDS_SEE, "secrets make", "", "the keys", command_secrets_make },
	{ SUBCOMMANDS_SEE, "log", "", "what happened", command_log },
	{ .name = NULL },
};
static const struct subcommand *const tables[] = { table, NULL };

/* --- a sender that mails nothing, and remembers what a sender does --- */

static bool has_folded_all;

static void note_end(struct state *state, const struct message_meta *said, const Audit *audit)
{
	(void)state, (void)said;
	has_folded_all = strcmp(audit->action, "the_end") == 0;
}

static const struct service sender = { .name = "sender",
	.exclusive = true,
	.remembers = REMEMBERING(SENDS_REMEMBERED, STOPS_REMEMBERED, REMEMBERS(cart_state, merges_remember),
		REMEMBERS(audit, note_end)) };

static bool has_folded(struct world *world, void *context)
{
	(void)world, (void)context;
	return has_folded_all;
}

static bool is_ready(struct world *world, void *context)
{
	return runtime_phase(world_runtime(world, context)) == RUNTIME_READY;
}

/* --- what is said --- */

#define SAY_OF_DEMO(topic, message, ...)                                                                               \
	assert_int_equal(WORLD_SAY(world, topic, message, .shop = "demo", __VA_ARGS__), SAID_FRESH)

static void say_cart(struct world *world, const char *id)
{
	CartState cart = { .status = CART_OPEN, .has_ids = true, .state_version = 1 };

	TEXT_COPY(cart.ids.cart_id, id);
	SAY_OF_DEMO(cart_state, &cart, .key = id, .version = 1);
}

/* A cart whose address is known, and named by this key. */
static void say_cart_of(struct world *world, const char *id, const char *address, const char *key)
{
	CartState cart = { .status = CART_OPEN, .has_ids = true, .state_version = 1 };

	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.ids.email, address);
	address_hash(bytes_of(key), "demo", address, cart.ids.email_hash);
	SAY_OF_DEMO(cart_state, &cart, .key = id, .version = 1);
}

static ReminderOutcome outcome(struct world *world, const char *cart, uint32_t attempt)
{
	ReminderOutcome one = { .step = 1, .attempt = attempt, .at_us = world_now_us(world) };

	TEXT_COPY(one.cart_id, cart);
	TEXT_COPY(one.address_hash, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	return one;
}

static void say_mails(struct world *world)
{
	ReminderOutcome sent = outcome(world, "sent-1", 2), refused = outcome(world, "refused-1", 1),
			skipped = outcome(world, "skipped-1", 1), ambiguous = outcome(world, "unsure-1", 1),
			released = outcome(world, "released-1", 1), old = outcome(world, "old-1", 1);

	old.at_us -= 2 * US_PER_DAY;
	SAY_OF_DEMO(reminder_sent, &sent, .key = "sent-1");
	SAY_OF_DEMO(reminder_refused, &refused, .key = "refused-1");
	SAY_OF_DEMO(reminder_skipped, &skipped, .key = "skipped-1");
	SAY_OF_DEMO(reminder_ambiguous, &ambiguous, .key = "unsure-1");
	SAY_OF_DEMO(reminder_released, &released, .key = "released-1");
	SAY_OF_DEMO(reminder_sent, &old, .key = "old-1");
}

static void say_optout(struct world *world, char letter, OptoutSource source)
{
	OptoutRequest asked = { .source = source, .heard_us = world_now_us(world) };

	memset(asked.address_hash, letter, 32);
	SAY_OF_DEMO(optout_request, &asked, .key = asked.address_hash);
}

static void say_feedback(struct world *world, char letter, FeedbackKind kind)
{
	MailFeedback feedback = { .kind = kind, .heard_us = world_now_us(world) };

	memset(feedback.address_hash, letter, 32);
	SAY_OF_DEMO(mail_feedback, &feedback, .key = feedback.address_hash);
}

static void say_mode(struct world *world, const char *shop, ShopMode mode, uint64_t version)
{
	ShopStatus status = { .mode = mode, .priority = 50, .version = version, .at_us = world_now_us(world) };

	TEXT_COPY(status.who, "ada");
	TEXT_COPY(status.reason, "wrong prices");
	assert_int_equal(
		WORLD_SAY(world, shop_status, &status, .shop = shop, .key = shop, .version = version), SAID_FRESH);
}

static void say_order(struct world *world)
{
	CartCheckout order = { .kind = CHECKOUT_BOUGHT,
		.has_ids = true,
		.bought_us = world_now_us(world),
		.heard_us = world_now_us(world),
		.total_minor = 900 };

	TEXT_COPY(order.currency, "EUR");
	TEXT_COPY(order.ids.cart_id, "c-1");
	TEXT_COPY(order.ids.cart_token, "bought-1");
	TEXT_COPY(order.ids.checkout_token, "k-1");
	TEXT_COPY(order.ids.checkout_id, "i-1");
	TEXT_COPY(order.ids.order_id, "o-1");
	TEXT_COPY(order.ids.customer_id, "44");
	memset(order.ids.email_hash, '8', 32);
	SAY_OF_DEMO(cart_checkout, &order, .key = "bought-1");
}

static void say_lift(struct world *world, char letter)
{
	AdminAction action = { .verb = ADMIN_LIFT_SUPPRESSION, .at_us = world_now_us(world) };

	memset(action.address_hash, letter, 32);
	TEXT_COPY(action.who, "ada");
	TEXT_COPY(action.reason, "she asked for it");
	SAY_OF_DEMO(admin_action, &action, .key = action.address_hash);
}

static void say_action(struct world *world)
{
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART, .at_us = world_now_us(world) };

	TEXT_COPY(action.cart_id, "owned-1");
	TEXT_COPY(action.who, "ada");
	TEXT_COPY(action.reason, "a friend");
	SAY_OF_DEMO(admin_action, &action, .key = "owned-1");
}

static void say_request(struct world *world)
{
	PrivacyRequest request = { .kind = PRIVACY_REDACT_CUSTOMER, .heard_us = world_now_us(world) };

	TEXT_COPY(request.request_id, "r-1");
	memset(request.address_hash, 'f', 32);
	SAY_OF_DEMO(privacy_request, &request, .key = "r-1");
}

static void say_what_forbids(struct world *world)
{
	say_optout(world, 'b', OPTOUT_ONE_CLICK);
	say_optout(world, 'c', OPTOUT_PAGE);
	say_feedback(world, 'd', FEEDBACK_BOUNCE_PERMANENT);
	say_feedback(world, 'e', FEEDBACK_COMPLAINT);
	say_order(world);
	say_action(world);
	say_request(world);
	say_mode(world, "demo", MODE_PAUSED, 2);
	say_mode(world, "same", MODE_LIVE, 2);
	say_mode(world, "looser", MODE_LIVE, 2);
}

static void say_privacy(struct world *world, const char *id, bool settled)
{
	PrivacyState row = { .has_request = true, .settled = settled, .version = 1 };

	row.request.kind = PRIVACY_REDACT_CUSTOMER;
	row.request.heard_us = world_now_us(world);
	TEXT_COPY(row.request.request_id, id);
	memset(row.request.address_hash, 'f', 32);
	SAY_OF_DEMO(privacy_state, &row, .key = id, .version = 1);
}

static void say_suppression(struct world *world, char letter, bool lifted)
{
	Suppression row = { .source = OPTOUT_OWNER, .since_us = world_now_us(world), .lifted = lifted };

	memset(row.address_hash, letter, 32);
	SAY_OF_DEMO(suppression, &row, .key = row.address_hash, .version = 1);
}

/* What is in force, and what is over: rows of which the messages before them may be forgotten. */
static void say_rows(struct world *world)
{
	say_privacy(world, "r-2", false);
	say_privacy(world, "r-3", true);
	say_suppression(world, '1', false);
	say_suppression(world, 'b', false); /* what an opt-out that is there as well came to */
	say_suppression(world, '2', true);
}

/* --- the loss --- */

static struct operated *installation(void)
{
	struct operated *operated = operated_new_with(&sender);
	struct world *world = operated_world(operated);

	has_folded_all = false;
	world_start(world, "sender", &sender, NULL);
	assert_true(world_until(world, is_ready, "sender"));
	operated_run(operated, "secrets make");
	say_mode(world, "demo", MODE_LIVE, 1);
	say_mode(world, "same", MODE_LIVE, 1);
	say_mode(world, "looser", MODE_PAUSED, 1);
	say_cart(world, "sent-1");
	say_optout(world, 'a', OPTOUT_ONE_CLICK);
	say_cart_of(world, "owned-1", "ada@example.com", OPERATED_ADDRESS_KEY);
	operated_run(operated, "backup FOLDER/backups/mine");
	return operated;
}

static void rename_in(const struct operated *operated, const char *from, const char *to)
{
	char before[200], after[200];

	snprintf(before, sizeof(before), "%s/%s", operated_folder(operated), from);
	snprintf(after, sizeof(after), "%s/%s", operated_folder(operated), to);
	assert_int_equal(rename(before, after), 0);
}

/* All folded and written; then everything ends, and the sender's state lies where a service's does. */
static void end_all(struct operated *operated)
{
	struct world *world = operated_world(operated);
	Audit end = { .at_us = world_now_us(world) };

	TEXT_COPY(end.action, "the_end");
	SAY_OF_DEMO(audit, &end, .key = "demo");
	assert_true(world_until(world, has_folded, NULL));
	runtime_goodbye(world_runtime(world, "sender"));
	world_kill(world, "sender");
	world_kill(world, "intake");
	world_kill(world, "outside");
	world_kill_broker(world);
	rename_in(operated, "sender", "state/sender");
}

static void start_again(struct operated *operated)
{
	struct world *world = operated_world(operated);

	world_restart_broker(world);
	world_forget(world, "outside");
	world_restart(world, "outside");
	assert_true(world_until(world, is_ready, "outside"));
}

static void what_the_backup_does_not_know_is_learnt_and_said_before_mails_go_on(void **state)
{
	struct operated *operated = installation();

	(void)state;
	say_mails(operated_world(operated));
	say_what_forbids(operated_world(operated));
	say_rows(operated_world(operated));
	operated_run(operated, "restore");
	operated_run(operated, "restore FOLDER/nothing");
	operated_run(operated, "restore FOLDER/backups/mine");
	end_all(operated);
	operated_run(operated, "restore FOLDER/backups/mine --sidelog FOLDER/nothing");
	operated_run(operated, "restore FOLDER/backups/mine");
	operated_run(operated, "restore FOLDER/backups/mine --json");
	operated_run(operated, "restore --release");
	start_again(operated);
	operated_run(operated, "restore --release");
	operated_run(operated, "log --since 1d");
	operated_run(operated, "restore --release");
	golden_compare("restored.txt", operated_transcript(operated));
	operated_free(operated);
}

static void what_no_side_log_tells_is_learnt_from_the_senders_state(void **state)
{
	struct operated *operated = installation();

	(void)state;
	say_what_forbids(operated_world(operated));
	end_all(operated);
	rename_in(operated, "state/sidelog", "lost");
	operated_run(operated, "restore FOLDER/backups/mine");
	start_again(operated);
	operated_run(operated, "restore --release");
	operated_run(operated, "log --since 1d");
	operated_run(operated,
		"log --since 1d --topic cart.checkout --json"); /* by all names of its rows, for each may stop a cart */
	golden_compare("restored_by_state.txt", operated_transcript(operated));
	operated_free(operated);
}

/* A log that is gone, and another that was begun in its place: what was said no to in either is learnt, and counts once. */
static void what_was_put_away_beside_the_side_log_is_learnt_from(void **state)
{
	struct operated *operated = installation();

	(void)state;
	say_what_forbids(operated_world(operated));
	say_lift(operated_world(operated), '9'); /* who says no again, in the other log */
	end_all(operated);
	rename_in(operated, "state/broker", "gone");
	rename_in(operated, "state/sidelog/stops", "state/sidelog/stops.of-gone");
	start_again(operated);
	say_optout(operated_world(operated), '9', OPTOUT_OWNER);
	world_kill(operated_world(operated), "outside");
	world_kill_broker(operated_world(operated));
	operated_run(operated, "restore FOLDER/backups/mine");
	operated_run(operated, "restore FOLDER/backups/mine --json");
	start_again(operated);
	operated_run(operated, "restore --release");
	operated_run(operated, "log --since 1d");
	golden_compare("restored_from_put_away.txt", operated_transcript(operated));
	operated_free(operated);
}

/* Nobody can open it, not even root: it is a link to itself. */
static void make_unreadable(const struct operated *operated, const char *folder, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", operated_folder(operated), folder);
	assert_int_equal(file_make_folders(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/%s/%s", operated_folder(operated), folder, name);
	assert_int_equal(symlink(name, path), 0);
}

static void what_nobody_can_know_is_told_and_waits_for_a_flag(void **state)
{
	struct operated *operated = installation();

	(void)state;
	say_what_forbids(operated_world(operated));
	end_all(operated);
	rename_in(operated, "state/sidelog", "kept");
	rename_in(operated, "state/sender", "lost");
	operated_write(operated, "state/restore.json", "no note");
	operated_run(operated, "restore FOLDER/backups/mine");
	rename_in(operated, "state/restore.json", "damaged");
	operated_run(operated, "restore FOLDER/backups/mine --sidelog FOLDER/kept");
	operated_run(operated,
		"restore FOLDER/backups/mine"); /* again, with nothing to learn from: what was learnt is kept */
	start_again(operated);
	operated_write(operated, "state/gateway/spool/1.spool", "what storefronts sent");
	operated_write(operated, "state/sidelog/stops.of-gone", "who said no");
	operated_write(operated, "state/sidelog/stops.of-gone.2", "who said no");
	operated_run(operated, "restore --release");
	operated_run(operated, "restore --release --unlearnt");
	rename_in(operated, "state/gateway", "drained");
	make_unreadable(operated, "state/moved", "spool");
	operated_run(operated, "restore --release --unlearnt");
	rename_in(operated, "state/moved", "mended");
	operated_run(operated, "restore --release --unlearnt --json");
	operated_run(operated, "log --since 1d");
	golden_compare("restored_in_part.txt", operated_transcript(operated));
	operated_free(operated);
}

/* In the first message of the side log. */
static void damage_sidelog(const struct operated *operated)
{
	struct buffer file = { 0 };
	char path[200];

	snprintf(path, sizeof(path), "%s/state/sidelog/stops", operated_folder(operated));
	assert_int_equal(file_read(path, 1 << 20, &file), 0);
	assert_true(file.len > 300);
	file.data[150] ^= 1;
	assert_int_equal(file_write_durably(path, buffer_bytes(&file), 0600), 0);
	buffer_free(&file);
}

/* The first restore knew all. What the log heard after it is lost with the second damage. */
static void what_came_between_two_losses_is_not_known_because_the_first_was(void **state)
{
	struct operated *operated = installation();

	(void)state;
	say_what_forbids(operated_world(operated));
	end_all(operated);
	operated_run(operated, "restore FOLDER/backups/mine");
	start_again(operated);
	say_optout(operated_world(operated), '7', OPTOUT_OWNER);
	say_optout(operated_world(operated), '6', OPTOUT_OWNER);
	world_kill(operated_world(operated), "outside");
	world_kill_broker(operated_world(operated));
	damage_sidelog(operated);
	operated_run(operated, "restore FOLDER/backups/mine");
	start_again(operated);
	operated_run(operated, "restore --release");
	golden_compare("restored_twice.txt", operated_transcript(operated));
	operated_free(operated);
}

/* The log that the first restore made was served, and its side log is whole: it tells nothing of what the first did not know. */
static void what_a_restore_did_not_know_the_next_does_not_know_because_of_its_log(void **state)
{
	struct operated *operated = installation();

	(void)state;
	say_what_forbids(operated_world(operated));
	end_all(operated);
	rename_in(operated, "state/sidelog", "kept");
	rename_in(operated, "state/sender", "lost");
	operated_run(operated, "restore FOLDER/backups/mine");
	start_again(operated);
	operated_run(operated, "restore --release");
	world_kill(operated_world(operated), "outside");
	world_kill_broker(operated_world(operated));
	operated_run(operated, "restore FOLDER/backups/mine");
	start_again(operated);
	operated_run(operated, "restore --release");
	golden_compare("restored_unknown_twice.txt", operated_transcript(operated));
	operated_free(operated);
}

static void forget_what_lies_beside(const struct operated *operated)
{
	char path[200];
	json_t *note;

	snprintf(path, sizeof(path), "%s/backups/mine/backup.json", operated_folder(operated));
	note = json_load_file(path, 0, NULL);
	json_object_del(note, "beside");
	assert_int_equal(json_dump_file(note, path, 0), 0);
	json_decref(note);
}

/* Broken first, then missing. */
static void verify_without(struct operated *operated, const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "backups/mine/%s", name);
	rename_in(operated, path, "whole");
	operated_write(operated, path, "[");
	operated_run(operated, "backup --verify FOLDER/backups/mine");
	operated_run(operated, "restore FOLDER/backups/mine");
	rename_in(operated, path, "broken");
	operated_run(operated, "backup --verify FOLDER/backups/mine");
	rename_in(operated, "whole", path);
}

static void a_backup_whose_side_log_or_list_of_erasures_is_broken_is_told_before_anything_moves(void **state)
{
	struct operated *operated = installation();

	(void)state;
	end_all(operated);
	for (int is_older = 0; is_older < 2; is_older++) {
		verify_without(operated, "stops");
		verify_without(operated, "erasures.json");
		operated_run(operated, "backup --verify FOLDER/backups/mine");
		if (!is_older)
			forget_what_lies_beside(operated); /* as a backup of 0.1.0 does not name it */
	}
	golden_compare("backup_beside.txt", operated_transcript(operated));
	operated_free(operated);
}

static void a_log_that_names_people_by_another_key_is_not_released(void **state)
{
	static const char other[] = "fedcba9876543210fedcba9876543210";
	struct operated *operated = installation();

	(void)state;
	end_all(operated);
	operated_run(operated, "restore FOLDER/backups/mine");
	start_again(operated);
	rename_in(operated, "secrets/address.key", "address.key");
	operated_run(operated, "restore --release");
	operated_write(operated, "secrets/address.key", other);
	operated_run(operated, "restore --release");
	say_cart_of(operated_world(operated), "new-1", "bob@example.com", other);
	operated_run(operated, "restore --release");
	rename_in(operated, "address.key", "secrets/address.key");
	operated_run(operated, "restore --release");
	golden_compare("restored_by_key.txt", operated_transcript(operated));
	operated_free(operated);
}

static void every_text_was_compared(void **state)
{
	(void)state;
	golden_end();
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_backup_does_not_know_is_learnt_and_said_before_mails_go_on),
		cmocka_unit_test(what_no_side_log_tells_is_learnt_from_the_senders_state),
		cmocka_unit_test(what_was_put_away_beside_the_side_log_is_learnt_from),
		cmocka_unit_test(what_nobody_can_know_is_told_and_waits_for_a_flag),
		cmocka_unit_test(what_came_between_two_losses_is_not_known_because_the_first_was),
		cmocka_unit_test(what_a_restore_did_not_know_the_next_does_not_know_because_of_its_log),
		cmocka_unit_test(a_backup_whose_side_log_or_list_of_erasures_is_broken_is_told_before_anything_moves),
		cmocka_unit_test(a_log_that_names_people_by_another_key_is_not_released),
		cmocka_unit_test(every_text_was_compared),
	};

	operated_main(tables, argc, argv);
	take_part(tests, sizeof(tests) / sizeof(*tests), argc, argv);
	return cmocka_run_group_tests_name("shown_restore", tests, NULL, NULL);
}
