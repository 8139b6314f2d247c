/* test_shown_carts.c: what commands print of carts, of one shopper and of dead letters, held against texts that somebody has read */
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/recover/subcommands.h"
#include "services/cartbus/up/subcommands.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/kit/mail/address.h"
#include "tests/service/cartbus/operated.h"
#include "tests/unit/golden.h"
#include "tests/unit/part.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

static const int64_t DAY_US = INT64_C(1750000000) * US_PER_S; /* 2025-06-15 15:06:40 UTC */

static const struct subcommand table[] = {
	{ SUBCOMMANDS_SEE, "carts", "SHOP", "a shop's carts", command_carts },
	{ SUBCOMMANDS_SEE, "export", "SHOP ADDRESS|CUSTOMER", "what is known of one shopper", command_export },
	{ SUBCOMMANDS_SEE, "dlq list", "", "dead letters", command_dlq_list },
	{ SUBCOMMANDS_SEE, "dlq show", "QUEUE SEQ", "one of them", command_dlq_show },
	{ SUBCOMMANDS_MEND, "dlq redrive", "QUEUE [SEQ]", "again", command_dlq_redrive },
	{ SUBCOMMANDS_MEND, "dlq drop", "QUEUE [SEQ]", "never again", command_dlq_drop },
	{ SUBCOMMANDS_MEND, "cart override", "SHOP CART FIRST SECOND", "waits of its own", command_cart_override },
	{ SUBCOMMANDS_MEND, "cart suppress", "SHOP CART", "never mail about it", command_cart_suppress },
	{ SUBCOMMANDS_MEND, "cart write-off", "SHOP CART", "end its chase", command_cart_write_off },
	{ SUBCOMMANDS_MEND, "gateway strike", "NAME", "strike off a gateway", command_gateway_strike },
	{ SUBCOMMANDS_MEND, "erase", "SHOP ADDRESS|CUSTOMER", "one shopper goes", command_erase },
	{ SUBCOMMANDS_MEND, "secrets make", "", "the keys", command_secrets_make },
	{ .name = NULL },
};
static const struct subcommand *const tables[] = { table, NULL };

static void say_cart(struct world *world, const char *id, const CartState *given)
{
	static CartState cart;

	cart = *given;
	cart.has_ids = true;
	cart.state_version = 1;
	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.ids.cart_token, id);
	assert_int_equal(WORLD_SAY(world, cart_state, &cart, .shop = "demo", .key = id, .version = 1), SAID_FRESH);
}

static void say_carts(struct world *world)
{
	static const struct {
		const char *id;
		CartState state;
	} carts[] = {
		{ "open-1",
			{ .status = CART_OPEN,
				.abandoned_us = INT64_C(1750000000000000),
				.total_minor = 6448,
				.currency = "EUR",
				.ids = { .email = "ada.lovelace@example.com", .customer_id = "77" } } },
		{ "bought-1",
			{ .status = CART_BOUGHT,
				.first_seen_us = INT64_C(1750100000000000),
				.total_minor = 900,
				.currency = "EUR",
				.ids = { .customer_id = "77" } } },
		{ "closed-1",
			{ .status = CART_CLOSED,
				.closed_reason = CLOSED_EMPTIED,
				.abandoned_us = INT64_C(1749900000000000),
				.currency = "EUR" } },
		{ "merged-1", { .status = CART_OPEN, .merged_into = "open-1" } },
		{ "plain-1", { .status = CART_OPEN, .abandoned_us = INT64_C(1750000000000000), .total_minor = 5 } },
	};

	for (size_t i = 0; i < sizeof(carts) / sizeof(*carts); i++)
		say_cart(world, carts[i].id, &carts[i].state);
}

static void say_timer(struct world *world)
{
	TimerSet timer = { .version = 1, .due_us = DAY_US + 3 * US_PER_HOUR };

	TEXT_COPY(timer.name, "cart/open-1");
	TEXT_COPY(timer.topic, "cart.wake");
	assert_int_equal(
		WORLD_SAY(world, timer_set, &timer, .shop = "demo", .key = timer.name, .version = 1), SAID_FRESH);
}

struct dead {
	size_t wanted, count;
	bool is_asked;
};

static void count_dead(void *context, bool ok, const char *text, bool more)
{
	struct dead *dead = context;
	json_t *answer = ok ? json_loads(text, 0, NULL) : NULL;

	(void)more;
	dead->count = json_array_size(json_object_get(answer, "dead"));
	dead->is_asked = false;
	json_decref(answer);
}

static bool are_dead(struct world *world, void *context)
{
	struct dead *dead = context;

	if (dead->count >= dead->wanted)
		return true;
	if (!dead->is_asked)
		dead->is_asked = runtime_ask(world_runtime(world, "outside"), "dead.list", "{}", count_dead, dead) == 0;
	return false;
}

static void wait_dead(struct operated *operated, size_t wanted)
{
	struct dead dead = { .wanted = wanted };

	assert_true(world_until(operated_world(operated), are_dead, &dead));
}

/* Its letter is the `count`-th dead one. */
static void say_bad(struct operated *operated, size_t count)
{
	static CartChanged changed;

	changed = (CartChanged){ .has_ids = true, .changed_us = DAY_US, .has_items = true, .items_count = 2 };
	TEXT_COPY(changed.ids.cart_token, "open-1");
	TEXT_COPY(changed.ids.customer_id, "77");
	TEXT_COPY(changed.items[0].title, "Roses");
	TEXT_COPY(changed.items[1].title, "Vase");
	assert_int_equal(
		WORLD_SAY(operated_world(operated), cart_changed, &changed, .shop = "demo", .key = "bad"), SAID_FRESH);
	wait_dead(operated, count);
}

static void run_all(struct operated *operated, const char *const *lines)
{
	for (; *lines; lines++)
		operated_run(operated, *lines);
}

static void carts_are_listed_and_acted_on(void **state)
{
	static const char *const lines[] = { "carts demo --looks", "carts demo --looks --open --json",
		"carts demo --looks --waiting", "carts demo --closed --looks", "carts demo --bought --looks",
		"carts demo --looks --since 2025-06-15T15:00:00Z", "carts demo --looks --limit 1",
		"carts demo --looks --limit 4", "carts demo --looks --since 2d", "carts demo --looks --since 12",
		"carts demo --limit 0", "carts demo --limit 100001", "carts dmo --looks", "carts", "carts demo shop",
		"cart suppress demo open-1", "cart suppress demo open-1 --reason called --json",
		"cart write-off demo nothing", "cart override demo open-1 30min 6h",
		"cart override demo open-1 6h 30min", "cart override demo open-1 30min 4h",
		"cart override demo open-1 30min 270min", "cart override demo open-1 soon 6h",
		"cart override demo open-1 6h 401d", NULL };
	struct operated *operated = *state;

	operated_run(operated, "carts demo --looks");
	say_carts(operated_world(operated));
	say_timer(operated_world(operated));
	run_all(operated, lines);
	golden_compare("carts.txt", operated_transcript(operated));
}

static void what_is_known_of_a_shopper_is_shown_in_clear(void **state)
{
	static const char *const lines[] = { "export demo 77", "export demo 77 --json", "export demo 78",
		"export dmo 77", "erase demo 77", "erase demo 77 --dry-run", "erase demo 78 --dry-run --json", NULL };
	struct operated *operated = *state;

	operated_run(operated, "secrets make");
	say_carts(operated_world(operated));
	say_bad(operated, 1);
	run_all(operated, lines);
	golden_compare("shopper.txt", operated_transcript(operated));
}

static void dead_letters_are_listed_handed_out_again_and_dropped(void **state)
{
	static const char *const lines[] = { "dlq list", "dlq list --json", "dlq list --queue other",
		"dlq list --shop demo --topic cart.changed --reason-has basket --younger-than 1h",
		"dlq list --older-than 1h", "dlq list --older-than soon", "dlq list --shop dmo", "dlq show intake 3",
		"dlq show intake 3 --json", "dlq show intake two", "dlq show intake 99", "dlq redrive intake",
		"dlq redrive intake 3 --all", "dlq redrive intake 3 --dry-run", "dlq redrive intake --all --dry-run",
		"dlq redrive intake --all --dry-run --json", "dlq redrive intake --shop dmo", "dlq redrive intake 99",
		"dlq redrive intake --all --rate often", "dlq redrive intake --cancel", "dlq drop intake 3",
		"dlq drop intake two --reason test", "dlq drop intake 3 --all --reason test",
		"dlq drop intake --all --dry-run", "dlq drop intake 99 --reason test",
		"dlq drop intake 3 --reason test", "dlq drop intake --shop dmo --reason test",
		"dlq drop intake --all --reason test --json", "dlq list", "dlq list --json", "gateway strike gateway-9",
		NULL };
	struct operated *operated = *state;

	for (size_t count = 1; count <= 3; count++)
		say_bad(operated, count);
	run_all(operated, lines);
	golden_compare("dead_letters.txt", operated_transcript(operated));
}

static void a_command_line_is_understood_or_answered_with_what_was_meant(void **state)
{
	static const char *const lines[] = { "help", "help dlq", "help dlq drop", "help cats", "dlq", "dlq --help",
		"dlq lst", "dlq nothing", "cats demo", "nothing", "carts --help", "carts --lok demo", "carts --limit",
		"--json dlq list", "--config", "--config=/nowhere/none.conf carts demo", "--home /nowhere carts demo",
		NULL };
	struct operated *operated = *state;

	run_all(operated, lines);
	golden_compare("command_line.txt", operated_transcript(operated));
}

static void the_manual_is_told_whole_to_who_reads_it_through_a_pipe(void **state)
{
	struct operated *operated = *state;
	struct bytes told;

	operated_run(operated, "--manual");
	told = operated_transcript(operated);
	for (size_t i = 0; table[i].name; i++) {
		char name[80];

		snprintf(name, sizeof(name), "{\"subcommand\":\"%s\",", table[i].name);
		assert_non_null(memmem(told.data, told.len, name, strlen(name)));
	}
}

/* Releasing a restore says again what the restore learnt, also of this shopper: an erasure before it would be undone. */
static void nobody_is_erased_while_a_restore_is_not_released(void **state)
{
	static const char *const held[] = { "secrets make", "erase demo 77 --yes", "erase demo 77 --dry-run", NULL };
	struct operated *operated = *state;
	char path[200];

	say_carts(operated_world(operated));
	operated_write(operated, "state/restore.json", "{}");
	run_all(operated, held);
	snprintf(path, sizeof(path), "%s/state/restore.json", operated_folder(operated));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(operated_run(operated, "erase demo 77 --yes"), 0);
	golden_compare("erased_restored.txt", operated_transcript(operated));
}

static void a_shopper_is_erased(void **state)
{
	static const char *const lines[] = { "secrets make", "erase demo 77 --yes --reason letter", "export demo 77",
		"erase demo 77 --yes --json", NULL };
	struct operated *operated = *state;

	operated_write(operated, "state/waiter/CURRENT", ""); /* a service that does not run has folded something */
	say_carts(operated_world(operated));
	run_all(operated, lines);
	golden_compare("erased.txt", operated_transcript(operated));
}

static void assert_holds(const struct operated *operated, const char *name, const char *wanted)
{
	struct buffer text = { 0 };
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", operated_folder(operated), name);
	assert_int_equal(wanted ? 0 : -ENOENT, file_read(path, GOLDEN_MAX, &text));
	if (wanted)
		assert_string_equal(buffer_text(&text), wanted);
	buffer_free(&text);
}

/* Each row of the table names him otherwise: by a cart's id, the same as a spreadsheet wrote it, and by his address. */
static void what_files_hold_of_a_shopper_goes_as_well(void **state)
{
	static const char *const lines[] = { "secrets make", "export demo 77", "erase demo 77 --dry-run",
		"erase demo 77 --yes --json", NULL };
	CartState hashed = { .status = CART_OPEN, .ids = { .email = "ada.lovelace@example.com", .customer_id = "77" } };
	static const char others[] = "Subject: hello\n\nbob@example.com and ada@example.com\n";
	struct operated *operated = *state;

	say_carts(operated_world(operated));
	address_hash(bytes_of(OPERATED_ADDRESS_KEY), "demo", "ada.lovelace@example.com", hashed.ids.email_hash);
	say_cart(operated_world(operated), "hashed-1", &hashed);
	operated_write(operated, "export/demo/days.csv",
		"cart,address,total\r\nopen-1,,64.48\r\nbob-1,bob@example.com,1\r\n'bought-1,x,9\n"
		"q,\"Ada.Lovelace@example.com\",2\r\nopen-10,x,3\n\"a\nb\",x,4\nlast,ada.lovelace@example.com,5");
	operated_write(operated, "export/demo/of_others.csv", "bob-1,bob@example.com,1\n");
	operated_write(operated, "mail/new/1.eml",
		"Subject: hello\nMIME-Version: 1.0\nContent-Type: text/plain\nContent-Transfer-Encoding: "
		"base64\n\nd3JpdGUgdG8gYWRhLmxvdmVsYWNlQGV4YW1wbGUuY29tCg==\n");
	operated_write(operated, "mail/new/2.eml", others);
	operated_write(operated, "state/mailin/aside/a.eml",
		"Subject: back\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: "
		"text/plain\n\nIt did not arrive.\n--x\nContent-Type: message/rfc822\n\nTo: "
		"=?utf-8?B?YWRhLmxvdmVsYWNlQGV4YW1wbGUuY29t?=\nSubject: cart\n\nRoses\n--x--\n");
	operated_write(operated, "state/mailin/aside/b.eml", others);
	operated_write(operated, "state/gateway/rejected/demo/1", "{\"email\":\"ada.lovelace@example.com\"");
	operated_write(operated, "state/gateway/rejected/demo/2", "{\"email\":\"bob@example.com\"");
	run_all(operated, lines);
	operated_write(operated, "export/demo/late.csv", "x-1,ada.lovelace@example.com,1\nx-2,bob@example.com,2\n");
	operated_run(operated, "erase demo ada.lovelace@example.com --yes --json");
	operated_run(operated, "erase demo 77 --yes");
	assert_holds(operated, "export/demo/late.csv", "x-2,bob@example.com,2\n");
	assert_holds(operated, "export/demo/days.csv",
		"cart,address,total\r\nbob-1,bob@example.com,1\r\nopen-10,x,3\n\"a\nb\",x,4\n");
	assert_holds(operated, "export/demo/of_others.csv", "bob-1,bob@example.com,1\n");
	assert_holds(operated, "mail/new/1.eml", NULL);
	assert_holds(operated, "mail/new/2.eml", others);
	assert_holds(operated, "state/mailin/aside/a.eml", NULL);
	assert_holds(operated, "state/mailin/aside/b.eml", others);
	assert_holds(operated, "state/gateway/rejected/demo/1", NULL);
	assert_holds(operated, "state/gateway/rejected/demo/2", "{\"email\":\"bob@example.com\"");
	golden_compare("erased_files.txt", operated_transcript(operated));
}

static void every_text_was_compared(void **state)
{
	(void)state;
	golden_end();
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(carts_are_listed_and_acted_on, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			what_is_known_of_a_shopper_is_shown_in_clear, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			dead_letters_are_listed_handed_out_again_and_dropped, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(a_command_line_is_understood_or_answered_with_what_was_meant,
			operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			the_manual_is_told_whole_to_who_reads_it_through_a_pipe, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			nobody_is_erased_while_a_restore_is_not_released, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(a_shopper_is_erased, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			what_files_hold_of_a_shopper_goes_as_well, operated_setup, operated_teardown),
		cmocka_unit_test(every_text_was_compared),
	};

	operated_main(tables, argc, argv);
	take_part(tests, sizeof(tests) / sizeof(*tests), argc, argv);
	return cmocka_run_group_tests_name("shown_carts", tests, NULL, NULL);
}
