/* test_report.c: what a mail that came back says, whatever its bytes are */
#include "bus/base/cleanup.h"
#include "services/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
#include <string.h>

static struct report report; /* large */

static void read_text(const char *mail)
{
	report_read(bytes_of(mail), &report);
}

#define HEAD(type)                                                                                                     \
	"Return-Path: <>\r\nDelivered-To: bounces+tag1@shop.example\r\nFrom: MAILER-DAEMON@mx.example\r\n"             \
	"To: Bounces <bounces+tag2@shop.example>, other@shop.example\r\nMIME-Version: 1.0\r\n"                         \
	"Content-Type: multipart/report; report-type=" type "; boundary=\"b\"\r\n\r\n"                                 \
	"--b\r\n\r\nWe are sorry.\r\n"
#define STATUS(fields)                                                                                                 \
	"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n" fields "\r\n"
#define ORIGINAL                                                                                                       \
	"--b\r\nContent-Type: message/rfc822\r\n\r\nReturn-Path: <bounces+tag3@shop.example>\r\nFrom: "                \
	"shop@shop.example\r\n"                                                                                        \
	"Message-ID: <1.0123456789abcdef0123456789abcdef@shop.example>\r\n\r\nHello\r\n"
#define END "--b--\r\n"

static void a_bounce_tells_its_code_and_its_mail_and_no_address(void **state)
{
	(void)state;
	read_text(HEAD("delivery-status") STATUS("Final-Recipient: rfc822; ada@mail.example\r\nAction: failed\r\n"
						 "Status: 5.1.1 (no such user)\r\n"
						 "Diagnostic-Code: smtp; 550 5.1.1 <ada@mail.example> is unknown\r\n")
			ORIGINAL END);
	assert_int_equal(report.kind, REPORT_FEEDBACK);
	assert_int_equal(report.feedback, FEEDBACK_BOUNCE_PERMANENT);
	assert_string_equal(report.detail, "bounced: 5.1.1 smtp; 550 5.1.1 (address) is unknown");
	assert_int_equal(report.message_id_count, 1);
	assert_string_equal(report.message_ids[0], "1.0123456789abcdef0123456789abcdef@shop.example");
	assert_int_equal(report.address_count, 4);
	assert_string_equal(report.addresses[0], "bounces+tag1@shop.example");
	assert_string_equal(report.addresses[1], "bounces+tag2@shop.example");
	assert_string_equal(report.addresses[3], "bounces+tag3@shop.example");
}

static void which_code_speaks_of_the_address_is_told_apart(void **state)
{
	static const struct {
		const char *fields;
		enum report_kind kind;
		FeedbackKind feedback;
	} table[] = {
		{ "Action: failed\r\nStatus: 5.1.1\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: FAILED\r\nStatus:   5.0.0\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed\r\nStatus: 5.2.1\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed\r\nStatus: 5.2.2\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT }, /* full */
		{ "Action: failed\r\nStatus: 5.7.1\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT }, /* about us */
		{ "Action: failed\r\nStatus: 5.10.1\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT },
		{ "Action: failed\r\nStatus: 4.4.7\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT }, /* gave up */
		{ "Action: failed\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT },
		{ "Action: delayed\r\nStatus: 4.4.1\r\n", REPORT_NOTHING, 0 },
		{ "Action: delivered\r\nStatus: 2.0.0\r\n", REPORT_NOTHING, 0 },
		{ "Status: 5.1.1\r\n", REPORT_NONE, 0 },
		{ "Action: delayed\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\nAction: failed\r\nStatus: 4.0.0\r\n",
			REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		_cleanup_(buffer_free) struct buffer mail = { 0 };
		buffer_printf(&mail,
			"%s--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; "
			"mx\r\n\r\n%s\r\n" END,
			HEAD("delivery-status"), table[i].fields);
		read_text(buffer_text(&mail));
		if (report.kind != table[i].kind ||
			(report.kind == REPORT_FEEDBACK && report.feedback != table[i].feedback))
			fail_msg("row %zu: %d %d", i, report.kind, report.feedback);
	}
}

#define ARF(type)                                                                                                      \
	HEAD("feedback-report")                                                                                        \
	"--b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: " type                                     \
	"\r\nUser-Agent: FBL/1\r\nVersion: 1\r\n"                                                                      \
	"Original-Mail-From: <bounces+tag4@shop.example>\r\n\r\n"                                                      \
	"--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <2.ff@shop.example>\r\nSubject: x\r\n" END

static void a_complaint_is_one_and_its_opposite_is_not(void **state)
{
	(void)state;
	read_text(ARF("abuse"));
	assert_int_equal(report.kind, REPORT_FEEDBACK);
	assert_int_equal(report.feedback, FEEDBACK_COMPLAINT);
	assert_string_equal(report.addresses[report.address_count - 1], "bounces+tag4@shop.example");
	assert_string_equal(report.message_ids[0], "2.ff@shop.example");
	read_text(ARF("not-spam"));
	assert_int_equal(report.kind, REPORT_NOTHING);
	read_text(ARF("auth-failure"));
	assert_int_equal(report.kind, REPORT_NOTHING);
}

static void a_mail_that_only_looks_like_a_report_is_none(void **state)
{
	static const char *const others[] = { "", "\r\n", "From",
		"Subject: away\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n",
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n" STATUS("Action: failed\r\nStatus: 5.1.1\r\n") END,
		"Content-Type: message/delivery-status\r\n\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n",
		HEAD("delivery-status") "--b\r\nContent-Type: text/plain\r\n\r\nAction: failed\r\nStatus: "
					"5.1.1\r\n" END,
		"Content-Type: multipart/report\r\n\r\nno boundary\r\n", HEAD("delivery-status") };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		read_text(others[i]);
		if (report.kind != REPORT_NONE)
			fail_msg("row %zu is taken for a report", i);
	}
}

static void other_encodings_read_the_same(void **state)
{
	(void)state;
	read_text(HEAD(
		"delivery-status") "--b\r\nContent-Type: message/delivery-status\r\nContent-Transfer-Encoding: "
				   "base64\r\n\r\n"
				   "UmVwb3J0aW5nLU1UQTogZG5zOyBteAoKQWN0aW9uOiBmYWlsZWQKU3RhdHVzOiA1LjEuMQo=\r\n" END);
	assert_int_equal(report.feedback, FEEDBACK_BOUNCE_PERMANENT);
	assert_int_equal(report.kind, REPORT_FEEDBACK);
	read_text(HEAD("delivery-status")
			STATUS("Action: failed\r\nStatus: 5.1.1\r\n"
			       "Diagnostic-Code: smtp; 550 \xff\xfe b\xc3\xbcro <\xe4@\xf6.example>\r\n") END);
	assert_string_equal(report.detail, "bounced: 5.1.1 smtp; 550  bro (address)");
}

/* Each must come back, within the sanitizers, in bounded time and memory. */
static void bombs_are_just_mails(void **state)
{
	_cleanup_(buffer_free) struct buffer mail = { 0 };

	(void)state;
	for (int i = 0; i < 8000; i++) /* parts within parts */
		buffer_printf(&mail, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i);
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.kind, REPORT_NONE);

	buffer_clear(&mail);
	buffer_add_text(&mail, HEAD("delivery-status"));
	for (int i = 0; i < 8000; i++) /* mails within mails */
		buffer_add_text(&mail, "--b\r\nContent-Type: message/rfc822\r\n\r\n");
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.kind, REPORT_NONE);

	buffer_clear(&mail);
	buffer_add_text(&mail, HEAD("delivery-status") "--b\r\nContent-Type: message/delivery-status\r\n\r\n");
	for (int i = 0; i < 50000; i++) /* recipients */
		buffer_add_text(&mail, "Action: delayed\r\n\r\n");
	buffer_add_text(&mail, "Action: failed\r\nStatus: 5.1.1\r\n" END);
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.kind, REPORT_NOTHING);

	buffer_clear(&mail);
	for (int i = 0; i < 30000; i++) /* headers */
		buffer_add_text(&mail, "To: a@b.example, c@d.example\r\n");
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.address_count, REPORT_NAMES_MOST);

	buffer_clear(&mail);
	memset(buffer_grow(&mail, REPORT_BYTES_MOST + 1), 0, REPORT_BYTES_MOST + 1);
	mail.len = REPORT_BYTES_MOST;
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.kind, REPORT_NONE);
}

/* A report with any of its bytes changed, or its end cut off. */
static void garbled_reports_hurt_nobody(void **state)
{
	static const char whole[] = HEAD("delivery-status") STATUS("Action: failed\r\nStatus: 5.1.1\r\n") ORIGINAL END;
	char mail[sizeof(whole)];
	unsigned chance = 1;

	(void)state;
	for (size_t len = 0; len < sizeof(whole); len++)
		report_read(BYTES(whole, len), &report);
	for (int i = 0; i < 3000; i++) {
		memcpy(mail, whole, sizeof(whole));
		for (int n = 0; n < 4; n++) {
			chance = chance * 1103515245u + 12345u;
			mail[(chance >> 8) % (sizeof(whole) - 1)] = (char)(chance >> 24);
		}
		report_read(BYTES(mail, sizeof(whole) - 1), &report);
	}
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
		cmocka_unit_test(a_bounce_tells_its_code_and_its_mail_and_no_address),
		cmocka_unit_test(which_code_speaks_of_the_address_is_told_apart),
		cmocka_unit_test(a_complaint_is_one_and_its_opposite_is_not),
		cmocka_unit_test(a_mail_that_only_looks_like_a_report_is_none),
		cmocka_unit_test(other_encodings_read_the_same),
		cmocka_unit_test(bombs_are_just_mails),
		cmocka_unit_test(garbled_reports_hurt_nobody),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
