/* test_shown_health.c: what commands print of backups, and what the doctor finds, held against texts that somebody has read */
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/copy_broker.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/doctor/doctor.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/up/subcommands.h"
#include "tests/service/cartbus/name_server.h"
#include "tests/service/cartbus/operated.h"
#include "tests/unit/document.h"
#include "tests/unit/golden.h"
#include "tests/unit/part.h"
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- one area of the doctor as a subcommand: all of them would tell of this machine, too --- */

static int look(struct command *command, int argc, char **argv, void (*look_at)(struct doctor *doctor))
{
	struct doctor doctor = { .command = command, .findings = json_array() };
	const struct take takes[] = { { "resolver", "ADDRESS", "as of doctor", &doctor.resolver, NULL }, { 0 } };

	command_take(command, argc, argv, &(struct arguments){ .takes = takes, .help = "For a test." });
	look_at(&doctor);
	json_decref(doctor.findings);
	return doctor.count[FINDING_WRONG] ? EXIT_NO : EXIT_FINE;
}

#define LOOK(area)                                                                                                     \
	static int command_##area(struct command *command, int argc, char **argv)                                      \
	{                                                                                                              \
		return look(command, argc, argv, look_at_##area);                                                      \
	}
LOOK(files)
LOOK(backups)
LOOK(ways)
LOOK(domains)
LOOK(readers)

/* Of the broker's area what it says of the carts. */
static int command_links(struct command *command, int argc, char **argv)
{
	struct doctor doctor = { .command = command, .findings = json_array() };
	struct client *client;

	command_take(command, argc, argv, &(struct arguments){ .help = "For a test." });
	client = command_connect(command);
	look_at_carts(&doctor, client);
	client_free(client);
	json_decref(doctor.findings);
	return doctor.count[FINDING_WRONG] ? EXIT_NO : EXIT_FINE;
}

/* A broker over a copy of the log, as an erasure from a backup has it. */
static int command_copy(struct command *command, int argc, char **argv)
{
	struct copy_broker *broker = NULL;
	const char *state;
	json_t *status;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "DIR",
			.words = &state,
			.words_least = 1,
			.words_most = 1,
			.help = "For a test." });
	ended = copy_broker_start(command, state, &broker);
	if (ended)
		return ended;
	status = command_ask(copy_broker_command(broker), copy_broker_client(broker), "status", NULL);
	printf("it answers: %d\n", json_is_object(status));
	json_decref(status);
	return copy_broker_stop(&broker);
}

static const struct subcommand table[] = {
	{ SUBCOMMANDS_SEE, "backup", "[DIR]", "a copy", command_backup },
	{ SUBCOMMANDS_SEE, "erase", "SHOP ADDRESS|CUSTOMER", "one shopper goes", command_erase },
	{ SUBCOMMANDS_SEE, "secrets make", "", "the keys", command_secrets_make },
	{ SUBCOMMANDS_SEE, "files", "", "owners and modes", command_files },
	{ SUBCOMMANDS_SEE, "backups", "", "are they fresh?", command_backups },
	{ SUBCOMMANDS_SEE, "ways", "", "what is reached", command_ways },
	{ SUBCOMMANDS_SEE, "domains", "", "are mails believed?", command_domains },
	{ SUBCOMMANDS_SEE, "readers", "", "who may read what?", command_readers },
	{ SUBCOMMANDS_SEE, "links", "", "do links lead to the shop?", command_links },
	{ SUBCOMMANDS_SEE, "copy", "DIR", "a broker over a copy", command_copy },
	{ .name = NULL },
};
static const struct subcommand *const tables[] = { table, NULL };

static void change_mode(const struct operated *operated, const char *name, mode_t mode)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", operated_folder(operated), name);
	assert_int_equal(chmod(path, mode), 0);
}

static void rename_in(const struct operated *operated, const char *from, const char *to)
{
	char before[200], after[200];

	snprintf(before, sizeof(before), "%s/%s", operated_folder(operated), from);
	snprintf(after, sizeof(after), "%s/%s", operated_folder(operated), to);
	assert_int_equal(rename(before, after), 0);
}

static void say_cart(struct operated *operated)
{
	static CartState cart;

	cart = (CartState){
		.status = CART_OPEN, .has_ids = true, .abandoned_us = 1750000000000000, .state_version = 1
	};
	TEXT_COPY(cart.ids.cart_id, "open-1");
	TEXT_COPY(cart.ids.customer_id, "77");
	TEXT_COPY(cart.ids.email, "ada@example.com");
	assert_int_equal(
		WORLD_SAY(operated_world(operated), cart_state, &cart, .shop = "demo", .key = "open-1", .version = 1),
		SAID_FRESH);
}

/* A configuration whose clock is so many days ahead. */
static void write_later(const struct operated *operated, const char *name, int days)
{
	struct clock clock = clock_system();
	long long now_us = clock_wall_us(&clock);
	char text[160];

	snprintf(text, sizeof(text), "[clock]\nrate = 1.001\norigin-real-us = %lld\norigin-wall-us = %lld\n", now_us,
		now_us + (long long)days * US_PER_DAY);
	operated_config(operated, name, text);
}

static void files_that_others_may_read_are_found(void **state)
{
	struct operated *operated = *state;

	operated_run(operated, "secrets make");
	operated_write(operated, "keys/cartbus.key", "secret");
	operated_write(operated, "keys/peers.conf", "");
	operated_write(operated, "state/waiter/note", "");
	operated_run(operated, "files");
	change_mode(operated, "secrets/link.key", 0644);
	change_mode(operated, "keys/peers.conf", 0622);
	change_mode(operated, "keys/cartbus.key", 0640);
	change_mode(operated, "state/waiter/note", 0644);
	change_mode(operated, "shops", 0777);
	operated_run(operated, "files");
	change_mode(operated, "keys/cartbus.key", 0604);
	change_mode(operated, "state/waiter/note", 0400);
	change_mode(operated, "secrets", 0755);
	rename_in(operated, "shops", "elsewhere");
	operated_write(operated, "shops", "");
	rename_in(operated, "keys", "elsewhere2");
	rename_in(operated, "state/waiter", "state/before-restore-1");
	operated_run(operated, "files");
	golden_compare("files.txt", operated_transcript(operated));
}

struct passwd *__real_getpwnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name);

/* "nobody" is a user here who is neither this process's nor in its group, also where nobody runs the test (the linker's --wrap). */
struct passwd *__wrap_getpwnam(const char *name)
{
	static struct passwd nobody;

	if (strcmp(name, "nobody") != 0)
		return __real_getpwnam(name);
	nobody = (struct passwd){ .pw_uid = geteuid() + 1, .pw_gid = getegid() + 1 };
	return &nobody;
}

static void what_a_services_user_cannot_reach_is_found(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
	} steps[] = { { "", 0755 }, { "users.conf", 0644 }, { "shops", 0755 }, { "shops/demo", 0755 },
		{ "shops/demo/shop.conf", 0646 }, { "shops/demo/shop.conf", 0644 }, { "secrets", 0777 },
		{ "secrets", 0700 }, { "run", 0700 }, { "run", 0755 }, { "run/tap", 0600 } };
	struct operated *operated = *state;

	operated_config(operated, "users.conf", "[user nobody]\nservice = waiter\n");
	operated_write(operated, "shops/demo/notes", "read by nobody");
	operated_run(operated, "readers --config FOLDER/users.conf");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		change_mode(operated, steps[i].name, steps[i].mode);
		operated_run(operated, "readers --config FOLDER/users.conf");
	}
	golden_compare("readers.txt", operated_transcript(operated));
}

static void backups_are_made_checked_and_told_of(void **state)
{
	struct operated *operated = *state;

	operated_run(operated, "secrets make");
	operated_run(operated, "backups");
	say_cart(operated);
	operated_run(operated, "backup FOLDER/mine");
	operated_run(operated, "backup FOLDER/mine");
	operated_run(operated, "backup --verify FOLDER/mine");
	operated_run(operated, "backup --verify FOLDER/mine --json");
	operated_run(operated, "backup --verify FOLDER/nothing");
	operated_run(operated, "backup --erase");
	operated_run(operated, "backup --verify --erase FOLDER/mine");
	rename_in(operated, "mine/stops", "stops"); /* what stands in its place is none */
	operated_write(operated, "mine/stops/in-the-way", "");
	operated_run(operated, "erase demo 77 --yes");
	operated_run(operated, "backup --verify FOLDER/mine");
	rename_in(operated, "mine/stops", "elsewhere");
	rename_in(operated, "stops", "mine/stops");
	operated_run(operated, "backup --erase FOLDER/mine");
	operated_run(operated, "backup --erase FOLDER/mine --json");
	rename_in(operated, "mine", "backups/2025-06-15T150640Z");
	operated_run(operated, "backups");
	operated_run(operated, "backup --verify");
	operated_run(operated, "backups");
	write_later(operated, "later.conf", 3);
	write_later(operated, "much_later.conf", 20);
	operated_run(operated, "backups --config FOLDER/later.conf");
	operated_run(operated, "backups --config FOLDER/much_later.conf");
	operated_run(operated, "backup");
	operated_run(operated, "backups");
	golden_compare("backups.txt", operated_transcript(operated));
}

static void say_link(struct operated *operated, const char *id, CartStatus status, const char *url)
{
	static uint64_t version = 1;
	static CartState cart;

	cart = (CartState){ .status = status, .has_ids = true, .state_version = ++version };
	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.recovery_url, url);
	assert_int_equal(
		WORLD_SAY(operated_world(operated), cart_state, &cart, .shop = "demo", .key = id, .version = version),
		SAID_FRESH);
}

static void links_that_lead_to_another_host_are_found_while_their_carts_are_open(void **state)
{
	struct operated *operated = *state;

	operated_run(operated, "links");
	say_link(operated, "a", CART_OPEN, "https://demo.example/cart/a");
	say_link(operated, "b", CART_CLOSED, "https://elsewhere.example/cart/b");
	say_link(operated, "c", CART_OPEN, "");
	operated_run(operated, "links");
	say_link(operated, "d", CART_OPEN, "https://elsewhere.example/cart/d");
	operated_run(operated, "links");
	say_link(operated, "e", CART_OPEN, "https://elsewhere.example/cart/e");
	operated_run(operated, "links");
	say_link(operated, "e", CART_CLOSED, "https://elsewhere.example/cart/e");
	operated_run(operated, "links");
	say_link(operated, "d", CART_OPEN, "https://demo.example/cart/d");
	operated_run(operated, "links");
	golden_compare("links.txt", operated_transcript(operated));
}

static void a_broker_over_a_copy_answers_or_tells_its_last_words(void **state)
{
	struct operated *operated = *state;

	operated_run(operated, "copy FOLDER/beside");
	operated_write(operated, "damaged", "no folder");
	operated_run(operated, "copy FOLDER/damaged");
	golden_compare("copy.txt", operated_transcript(operated));
}

static void ways_that_lead_nowhere_are_found(void **state)
{
	struct operated *operated = *state;

	operated_config(
		operated, "smtp.conf", "transport = smtp\nsmtp-host = 127.0.0.1\nsmtp-port = 9\nsmtp-tls = none\n");
	operated_config(operated, "ses.conf", "transport = ses\nses-region = eu-central-1\n");
	operated_run(operated, "ways");
	operated_run(operated, "ways --config FOLDER/smtp.conf");
	operated_run(operated, "ways --config FOLDER/ses.conf");
	operated_run(operated, "domains --resolver 127.0.0.1@9");
	world_kill_broker(operated_world(operated));
	operated_run(operated, "ways");
	golden_compare("ways.txt", operated_transcript(operated));
}

static void domains_are_asked_about_once_each(void **state)
{
	static const char *const records[] = { "demo.example. 60 IN MX 10 mail.demo.example.",
		"demo.example. 60 IN TXT \"v=spf1 mx -all\"", "demo.example. 60 IN TXT \"something else\"",
		"_dmarc.demo.example. 60 IN TXT \"v=DMARC1; p=reject\"",
		"k1._domainkey.demo.example. 60 IN TXT \"v=DKIM1; p=\"", "bounces.example. 60 IN MX 0 .",
		"bounces.example. 60 IN TXT \"v=spf1 +all\"", NULL };
	struct name_server *server = name_server_new(records);
	struct operated *operated = *state;
	char line[80];

	snprintf(line, sizeof(line), "domains --resolver %s", name_server_address(server));
	operated_run(operated, line);
	operated_write(operated, "shops/demo2/shop.conf", DEMO_SHOP "dkim-selector = k1\ndkim-selector = k2\n");
	operated_write(operated, "shops/demo3/shop.conf",
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Three\n"
		"url = https://three.example\n[mail]\nfrom = Three <shop@mail.three.example>\n"
		"bounce = back@bounces.example\n");
	operated_run(operated, line);
	golden_compare("domains.txt", operated_transcript(operated));
	name_server_free(server);
}

static void every_text_was_compared(void **state)
{
	(void)state;
	golden_end();
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			files_that_others_may_read_are_found, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			backups_are_made_checked_and_told_of, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(links_that_lead_to_another_host_are_found_while_their_carts_are_open,
			operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			a_broker_over_a_copy_answers_or_tells_its_last_words, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(ways_that_lead_nowhere_are_found, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(domains_are_asked_about_once_each, operated_setup, operated_teardown),
		cmocka_unit_test_setup_teardown(
			what_a_services_user_cannot_reach_is_found, operated_setup, operated_teardown),
		cmocka_unit_test(every_text_was_compared),
	};

	operated_main(tables, argc, argv);
	take_part(tests, sizeof(tests) / sizeof(*tests), argc, argv);
	return cmocka_run_group_tests_name("shown_health", tests, NULL, NULL);
}
