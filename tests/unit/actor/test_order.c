/*
 * test_order.c: the command line that every service has, and the manifest that it prints
 */
#include "bus/actor/process/process_inside.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/output_of.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 6, WENT_ON = 77 };

static const struct process process = { .service = &clerk, .help = "keeps accounts" };

struct words {
	const struct process *process;
	char *argv[WORDS_MAX + 2];
	int argc;
};

static int parse(const void *context)
{
	struct words words = *(const struct words *)context;
	struct process_options found;

	optind = 1;
	found = process_options_parse(words.process, words.argc, words.argv);
	printf("%s %s%s", found.config_path, found.instance, found.only_checks ? " checks" : "");
	return WENT_ON;
}

/* What it prints, and its exit; WENT_ON: there was something to run, and it is printed. */
static int order(const struct process *asked, const char *const words[WORDS_MAX], struct buffer *ret)
{
	struct words line = { .process = asked, .argv = { (char *)"cartbus-clerk" }, .argc = 1 };

	for (; line.argc <= WORDS_MAX && words[line.argc - 1]; line.argc++)
		line.argv[line.argc] = (char *)words[line.argc - 1];
	return output_of(parse, &line, ret);
}

#define LETTERS_60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NO_NAME "cartbus-clerk: an instance's name has 1 to 63 characters and no slash\n"

static void what_it_is_asked_for_is_understood_or_refused(void **state)
{
	static const struct {
		const char *environment, *words[WORDS_MAX];
		int exit;
		const char *said;
	} cases[] = {
		{ NULL, { NULL }, WENT_ON, "/etc/cartbus/cartbus.conf clerk" },
		{ "", { NULL }, WENT_ON, "/etc/cartbus/cartbus.conf clerk" },
		{ "/my.conf", { NULL }, WENT_ON, "/my.conf clerk" },
		{ "/my.conf", { "--config", "/given.conf" }, WENT_ON, "/given.conf clerk" },
		{ NULL, { "--instance", "clerk-2", "--check" }, WENT_ON, "/etc/cartbus/cartbus.conf clerk-2 checks" },
		{ NULL, { "--instance", LETTERS_60 "aaa" }, WENT_ON, "/etc/cartbus/cartbus.conf " LETTERS_60 "aaa" },
		{ NULL, { "--instance", LETTERS_60 "aaaa" }, EXIT_USAGE, NO_NAME },
		{ NULL, { "--instance", "" }, EXIT_USAGE, NO_NAME },
		{ NULL, { "--instance", "a/b" }, EXIT_USAGE, NO_NAME },
		{ NULL, { "run" }, EXIT_USAGE, "cartbus-clerk: \"run\" is not understood; see --help\n" },
		{ NULL, { "--check", "run", "more" }, EXIT_USAGE,
			"cartbus-clerk: \"run\" is not understood; see --help\n" },
		{ NULL, { "--version" }, 0, "cartbus " CARTBUS_VERSION "\n" },
		{ NULL, { "--verbose" }, EXIT_USAGE, "cartbus-clerk: unrecognized option '--verbose'\n" },
		{ NULL, { "--config" }, EXIT_USAGE, "cartbus-clerk: option '--config' requires an argument\n" },
	};
	_cleanup_(buffer_free) struct buffer said = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].environment)
			setenv("CARTBUS_CONFIG", cases[i].environment, 1);
		else
			unsetenv("CARTBUS_CONFIG");
		assert_int_equal(order(&process, cases[i].words, &said), cases[i].exit);
		assert_string_equal(buffer_text(&said), cases[i].said);
	}
	unsetenv("CARTBUS_CONFIG");
}

static void help_says_what_it_is_for(void **state)
{
	static const struct process nameless = { .service = &bell };
	static const char *const help[WORDS_MAX] = { "--help" };
	_cleanup_(buffer_free) struct buffer said = { 0 };

	(void)state;
	assert_int_equal(order(&process, help, &said), 0);
	assert_true(text_starts(
		buffer_text(&said), "cartbus-clerk: keeps accounts\n\nUsage: cartbus-clerk [--config FILE]"));
	assert_non_null(strstr(buffer_text(&said), "CARTBUS_CONFIG or /etc/cartbus/cartbus.conf if not given"));
	assert_non_null(strstr(buffer_text(&said), "; \"clerk\" if not given"));
	assert_int_equal(order(&nameless, help, &said), 0);
	assert_true(text_starts(buffer_text(&said), "cartbus-bell: a service of cartbus\n"));
}

static const char *section(struct buffer *manifest, const char *head, char ret[600])
{
	const char *begin = strstr(buffer_text(manifest), head), *end;

	if (!begin)
		fail_msg("the manifest has no %s", head);
	end = strstr(begin + 1, "\n[");
	snprintf(ret, 600, "%.*s", end ? (int)(end + 1 - begin) : 599, begin);
	return ret;
}

static bool has_line(const char *text, const char *line)
{
	char whole[100];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	return strstr(text, whole);
}

/* From it the broker knows who may what: least privilege (promise 9) begins here. */
static void a_manifest_declares_all_that_a_service_meets_and_nothing_else(void **state)
{
	static const char *const print[WORDS_MAX] = { "--manifest" };
	static const struct process post = { .service = &postman }, gate = { .service = &door },
				    ring = { .service = &bell };
	_cleanup_(buffer_free) struct buffer said = { 0 };
	char text[600];

	(void)state;
	assert_int_equal(order(&process, print, &said), 0);
	assert_string_equal(section(&said, "[peer clerk]", text),
		"[peer clerk]\nexclusive = yes\nhears = cart.wake\nremembers = audit\nsays = audit\n\n");
	assert_non_null(strstr(buffer_text(&said), "[topic cart.wake]\nretention = "));
	assert_null(strstr(buffer_text(&said), "[topic send.claim]"));
	assert_int_equal(order(&post, print, &said), 0);
	assert_string_equal(section(&said, "[peer postman]", text),
		"[peer postman]\nhears = link.clicked\nremembers = send.claim\nremembers = reminder.sent\nremembers = "
		"reminder.ambiguous\nremembers = reminder.released\nremembers = cart.closed\nremembers = "
		"send.unused\nsays = "
		"send.claim\nsays = send.unused\nsays = reminder.sent\nsays = reminder.released\nsays = "
		"reminder.ambiguous\n\n");
	assert_int_equal(order(&ring, print, &said), 0);
	assert_non_null(strstr(buffer_text(&said), "[topic timer.set]\n")); /* only remembered */
	assert_int_equal(order(&gate, print, &said), 0);
	assert_non_null(strstr(buffer_text(&said), "[topic cart.closed]\n")); /* only said */
	assert_string_equal(section(&said, "[peer door]", text),
		"[peer door]\ngateway = yes\nsays = cart.closed\nsays = link.clicked\n\n");
}

static void the_operators_command_is_declared_as_one(void **state)
{
	const struct service command = { .name = "command", .operator_ = true, .says = SAYING(SAYS(admin_action)) };
	_cleanup_(buffer_free) struct buffer said = { 0 };
	char text[600];

	(void)state;
	service_manifest(&command, &said);
	assert_string_equal(
		section(&said, "[peer command]", text), "[peer command]\noperator = yes\nsays = admin.action\n\n");
}

/* How long a topic is kept, what is kept of it per key, and what outlives the log. */
static void a_topic_says_how_it_is_kept(void **state)
{
	static const struct {
		const struct topic *topic;
		const char *retention, *group;
		bool outlives;
	} cases[] = {
		{ &topic_cart_changed, "retention = raw", NULL, false },
		{ &topic_audit, "retention = keep", NULL, false },
		{ &topic_timer_set, "retention = fact", "group = timer", false },
		{ &topic_timer_fired, "retention = fact", "group = timer", false },
		{ &topic_send_claim, "retention = claim", NULL, false },
		{ &topic_optout_request, "retention = keep", NULL, true },
		{ &topic_shop_status, "retention = keep", "group = shop.status", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(buffer_free) struct buffer said = { 0 };
		const char *text;

		topic_manifest(cases[i].topic, &said);
		text = buffer_text(&said);
		assert_non_null(strstr(text, cases[i].topic->name));
		assert_true(has_line(text, cases[i].retention));
		if (cases[i].group)
			assert_true(has_line(text, cases[i].group));
		else
			assert_null(strstr(text, "group"));
		assert_int_equal(has_line(text, "sidelog = yes"), cases[i].outlives);
	}
}

/* cart.state: ids (1), of it cart_id (1) names the cart; an address (7 of them) is never shown to a tap. */
static void a_topic_says_which_texts_may_be_shown_and_where_its_cart_stands(void **state)
{
	_cleanup_(buffer_free) struct buffer said = { 0 };

	(void)state;
	topic_manifest(&topic_cart_state, &said);
	assert_true(has_line(buffer_text(&said), "cart = 1/1"));
	assert_true(has_line(buffer_text(&said), "shown = 1/"));
	assert_true(has_line(buffer_text(&said), "shown = 1/1"));
	assert_false(has_line(buffer_text(&said), "shown = 1/7"));
	assert_false(has_line(buffer_text(&said), "shown = 2")); /* a number is not asked for */
	buffer_clear(&said);
	topic_manifest(&topic_cart_closed, &said);
	assert_true(has_line(buffer_text(&said), "cart = 1"));
	buffer_clear(&said);
	topic_manifest(&topic_suppression, &said);
	assert_null(strstr(buffer_text(&said), "cart = "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_is_asked_for_is_understood_or_refused),
		cmocka_unit_test(help_says_what_it_is_for),
		cmocka_unit_test(a_manifest_declares_all_that_a_service_meets_and_nothing_else),
		cmocka_unit_test(the_operators_command_is_declared_as_one),
		cmocka_unit_test(a_topic_says_how_it_is_kept),
		cmocka_unit_test(a_topic_says_which_texts_may_be_shown_and_where_its_cart_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
