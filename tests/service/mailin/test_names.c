/* test_names.c: whom a report names, and which link of ours it brings back */
#include "services/platform/mailin/bounce.h"
#include "services/platform/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static struct report report; /* large */

static void the_unsubscribe_link_of_our_mail_is_taken_whole_or_not_at_all(void **state)
{
	static char mail[3000];
	char token[REPORT_LINK_MAX + 1];

	(void)state;
	memset(token, 't', sizeof(token));
	for (int len = REPORT_LINK_MAX - 2; len <= REPORT_LINK_MAX; len++) {
		snprintf(mail, sizeof(mail),
			"From: MAILER-DAEMON@mx.example\r\nContent-Type: multipart/report; "
			"report-type=delivery-status; boundary=\"b\"\r\n\r\n--b\r\n\r\nWe are sorry.\r\n"
			"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n"
			"Action: failed\r\nStatus: 5.1.1\r\n"
			"--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: shop@shop.example\r\n"
			"List-Unsubscribe: <https://bus.example/u/%.*s>\r\n\r\nHello\r\n--b--\r\n",
			len, token);
		report_read(bytes_of(mail), &report);
		assert_int_equal(strlen(report.links[0]), len < REPORT_LINK_MAX ? len : 0);
		assert_string_equal(report.links[1], "");
	}
}

/* A server of ours says who it was for: those come first, and of what the mail itself names the last ones give way. */
static void whom_a_mail_was_for_stands_before_whom_it_names(void **state)
{
	static const char recipients[2][ADDRESS_MAX + 1] = { "first@shop.example", "second@shop.example" };

	(void)state;
	for (int named = 0; named <= REPORT_NAMES_MOST; named++) {
		memset(&report, 0, sizeof(report));
		for (int i = 0; i < named; i++)
			snprintf(report.addresses[report.address_count++], ADDRESS_MAX, "a%d@b.example", i);
		report_note_recipients(&report, recipients, 2);
		assert_int_equal(report.address_count, named + 2 < REPORT_NAMES_MOST ? named + 2 : REPORT_NAMES_MOST);
		assert_string_equal(report.addresses[0], recipients[0]);
		assert_string_equal(report.addresses[1], recipients[1]);
		for (int i = 2; i < report.address_count; i++) {
			char wanted[30];
			snprintf(wanted, sizeof(wanted), "a%d@b.example", i - 2);
			assert_string_equal(report.addresses[i], wanted);
		}
		assert_string_equal(report.message_ids[0], "");
	}
}

static void of_many_whom_our_mail_was_to_the_first_are_known(void **state)
{
	struct bounce bounce = { 0 };
	char address[40];

	(void)state;
	for (int i = 0; i < 3 * BOUNCE_NAMES_MOST; i++) {
		snprintf(address, sizeof(address), "A%d@b.example", i);
		bounce_hear_mailed(&bounce, address);
	}
	assert_int_equal(bounce.mailed_count, BOUNCE_NAMES_MOST);
	assert_string_equal(bounce.mailed[BOUNCE_NAMES_MOST - 1], "a3@b.example");
	assert_int_equal(bounce.told_count, 0);
}

static int set_up(void **state)
{
	(void)state;
	report_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_unsubscribe_link_of_our_mail_is_taken_whole_or_not_at_all),
		cmocka_unit_test(whom_a_mail_was_for_stands_before_whom_it_names),
		cmocka_unit_test(of_many_whom_our_mail_was_to_the_first_are_known),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
