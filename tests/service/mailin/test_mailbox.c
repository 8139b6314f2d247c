/* test_mailbox.c: which route takes a recipient, and whose mail it is */
#include "bus/base/text.h"
#include "given.h"
#include "proto/platform_topics.h"
#include "services/platform/mailin/mailbox.h"
#include "services/platform/mailin/report.h"
#include <string.h>

static const char *write_nothing(
	const struct inbound_mail *mail, void *ret_message, char ret_key[MAIL_ROUTE_KEY_MAX + 1])
{
	(void)mail, (void)ret_message, (void)ret_key;
	return NULL;
}

extern const struct mail_route mailin_mail_routes[];
static const struct mail_route more[] = {
	{ .name = "forms", .local = "forms", .bytes_most = 5000, .topic = &topic_audit, .write = write_nothing },
	{ .name = NULL },
};
static const struct mail_route *const tables[] = { mailin_mail_routes, more, NULL };

static int setup(void **state)
{
	(void)state;
	given_begin(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	given_end();
	return 0;
}

static void add_shop(const char *name, const char *bounce)
{
	static Document document;
	char text[400];

	snprintf(text, sizeof(text),
		"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"
		"from = shop@shop.example\nbounce = %s\n",
		bounce);
	document = (Document){ .kind = "shop", .version = 1 };
	TEXT_COPY(document.text, text);
	assert_int_equal(
		SIM_SAY(given.sim, document, &document, .shop = name, .key = "shop", .version = 1), SAID_FRESH);
	sim_run_until_idle(given.sim);
}

/* "" : no route takes it. */
static void expect(const char *recipient, const char *route, const char *shop, const char *detail)
{
	struct mailbox mailbox;
	bool found = mailbox_find(tables, runtime_state(given.runtime), recipient, &mailbox);

	assert_string_equal(found ? mailbox.route->name : "", route);
	if (!found)
		return;
	assert_string_equal(mailbox.shop, shop);
	assert_string_equal(mailbox.detail, detail);
}

static void a_mail_goes_to_the_route_of_its_address(void **state)
{
	(void)state;
	expect(given_tagged(), "bounces", "", "");
	expect("forms@shop.example", "forms", "demo", "");
	expect("FORMS+Contact@shop.example", "forms", "demo", "Contact");
	expect("formsx@shop.example", "feedback-loop", "", "");
	expect("fbl@shop.example", "feedback-loop", "", "");
	expect("forms@other.example", "", "", "");
	expect("anybody@other.example", "", "", "");
}

static void where_shops_share_a_domain_the_address_names_the_shop(void **state)
{
	(void)state;
	add_shop("second", "bounces+*@shop.example");
	expect("forms@shop.example", "", "", "");
	expect("forms+nobody.contact@shop.example", "", "", "");
	expect("forms+second@shop.example", "forms", "second", "");
	expect("forms+demo.contact.two@shop.example", "forms", "demo", "contact.two");
}

static void what_a_system_got_wrong_is_told_at_the_start(void **state)
{
	const struct mail_route twice[] = {
		{ .name = "other", .local = "Forms", .bytes_most = 1, .topic = &topic_audit, .write = write_nothing },
		{ .name = NULL }
	};
	const struct mail_route both[] = { { .name = "both", .local = "x", .judge = more[0].judge, .bytes_most = 0 },
		{ .name = NULL } };
	static const struct blob_use use = { .name = "u", .blob_bytes = 10 };
	const struct mail_route unnamed[] = { { .name = "u",
						      .local = "u",
						      .bytes_most = 10,
						      .use = &use,
						      .topic = &topic_audit,
						      .write = write_nothing },
		{ .name = NULL } };
	static const size_t names[] = { TOPIC_NOWHERE };
	static const struct topic naming = { .name = "n", .retention = RETAIN_KEEP, .blobs = names };
	static const struct blob_use month = { .name = "m", .blob_bytes = 10, .kept_us = 30 * US_PER_DAY };
	const struct mail_route unequal[] = { { .name = "m",
						      .local = "m",
						      .bytes_most = 10,
						      .use = &month,
						      .topic = &naming,
						      .write = write_nothing },
		{ .name = NULL } };
	char words[200];

	(void)state;
	assert_false(mailbox_trouble(tables, words));
	assert_true(mailbox_trouble((const struct mail_route *const[]){ more, twice, NULL }, words));
	assert_non_null(strstr(words, "its local part"));
	assert_true(mailbox_trouble((const struct mail_route *const[]){ both, NULL }, words));
	assert_true(mailbox_trouble((const struct mail_route *const[]){ unnamed, NULL }, words));
	assert_non_null(strstr(words, "does not declare"));
	assert_true(mailbox_trouble((const struct mail_route *const[]){ unequal, NULL }, words));
	assert_non_null(strstr(words, "kept for ever"));
}

static void a_maildir_tells_to_whom_a_mail_was_delivered(void **state)
{
	char to[ADDRESS_MAX + 1] = "";

	(void)state;
	assert_true(mailbox_recipient(
		bytes_of("Return-Path: <a@b.example>\nX-Original-To: forms+x@shop.example\nDelivered-To: box@host\n"),
		to));
	assert_string_equal(to, "forms+x@shop.example");
	assert_true(mailbox_recipient(bytes_of("delivered-to: <Forms@Shop.example>\r\n"), to));
	assert_string_equal(address_domain(to), "shop.example");
	assert_false(mailbox_recipient(bytes_of("From: a\n\nDelivered-To: forms@shop.example\n"), to));
	assert_false(mailbox_recipient(bytes_of("Delivered-To: forms@shop.example"), to)); /* cut off */
	assert_false(mailbox_recipient(bytes_of("Delivered-To: nobody\n"), to));
	assert_false(mailbox_recipient(bytes_of(""), to));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = { TEST(a_mail_goes_to_the_route_of_its_address),
		TEST(where_shops_share_a_domain_the_address_names_the_shop),
		TEST(what_a_system_got_wrong_is_told_at_the_start),
		TEST(a_maildir_tells_to_whom_a_mail_was_delivered) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return given_main(argc, argv, run);
}
