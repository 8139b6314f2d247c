/* test_report.c: what a mail that came back says, whatever its bytes are */
#include "bus/base/cleanup.h"
#include "services/platform/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
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
		{ "Action: FAILED\r\nStatus:   5.1.6\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed (no such user)\r\nStatus: 5.1.1\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failure\r\nStatus: 5.1.2\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed\r\nStatus: 5.0.0\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT }, /* of what? */
		{ "Action: failed\r\nStatus: 5.2.1\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT },
		{ "Action: failed\r\nStatus: 5.0.0 (user unknown)\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed\r\nStatus: 5.1.1 (bad destination mailbox address)\r\n"
		  "Diagnostic-Code: smtp; 550 your mail is spam\r\n",
			REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT },
		{ "Action: failed\r\nStatus: 5.1.8\r\n", REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT }, /* our address */
		{ "Action: failed\r\nStatus: 5.0.0\r\nDiagnostic-Code: smtp; 550 5.1.1 <a@b.example>\r\n",
			REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed\r\nDiagnostic-Code: smtp; 550 5.1.1 <a@b.example>\r\n", REPORT_FEEDBACK,
			FEEDBACK_BOUNCE_PERMANENT },
		{ "Action: failed\r\nStatus: 5.0.0\r\nDiagnostic-Code: smtp; 550-first line\r\n550 User unknown\r\n",
			REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT }, /* not folded */
		{ "Action: failed\r\n\r\nStatus: 5.0.0\r\nDiagnostic-Code: smtp; 550 No such user\r\n", REPORT_FEEDBACK,
			FEEDBACK_BOUNCE_PERMANENT }, /* an empty line too many */
		{ "Diagnostic-Code: smtp; 550 No such user\r\nStatus: 5.0.0\r\nFinal-Recipient: rfc822; "
		  "a@b.example\r\n",
			REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },                                  /* no action */
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
		"Subject: Re: your cart\r\nFrom: ada@mail.example\r\n\r\nI tried to log in and it said: user unknown. "
		"Help!\r\n",
		"Subject: Undeliverable\r\nFrom: MAILER-DAEMON@mx.example\r\n\r\nIt could not be delivered.\r\n",
		"Content-Type: multipart/report\r\n\r\nno boundary\r\n", HEAD("delivery-status") };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		read_text(others[i]);
		if (report.kind != REPORT_NONE)
			fail_msg("row %zu is taken for a report", i);
	}
}

static const struct {
	const char *mail;
	enum report_kind kind;
	FeedbackKind feedback;
} worded[] = {
	{ "Content-Type: multipart/mixed; boundary=b\r\n\r\n" STATUS("Action: failed\r\nStatus: 5.1.1\r\n") END,
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ HEAD("delivery-status") "--b\r\nContent-Type: text/plain\r\n\r\nAction: failed\r\nStatus: "
				  "5.1.1\r\n" END,
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "Content-Type: message/delivery-status\r\n\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n", REPORT_FEEDBACK,
		FEEDBACK_BOUNCE_PERMANENT },
	{ "From: MAILER-DAEMON@mx.example\r\nSubject: failure notice\r\n\r\nHi. This is the qmail-send program "
	  "at mx.example."
	  "\r\nI've given up. Sorry it didn't work out.\r\n\r\n<ada@mail.example>:\r\nSorry, no mailbox here "
	  "by that name. (#5.1.1)\r\n\r\n--- Below this line is a copy of the message.\r\n\r\nReturn-Path: "
	  "<x@shop.example>\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "From: Mail Delivery System <Mailer-Daemon@mx.example>\r\nSubject: Mail delivery failed\r\n"
	  "Auto-Submitted: auto-replied\r\n\r\nThe following address(es) failed:\r\n\r\n  ada@mail.example\r\n"
	  "    host mx [192.0.2.1]: 552 5.2.2 mailbox is full\r\n\r\n------ This is a copy of the message "
	  "------\r\n\r\nSubject: user unknown\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT },
	{ "From: System Administrator <postmaster@x.example>\r\nSubject: Undeliverable: Your cart\r\n\r\nYour "
	  "message\r\n\r\n"
	  "did not reach the following recipient(s):\r\n\r\nada@mail.example on Thu, 29 Apr 2010\r\n    The "
	  "recipient name is\r\n"
	  "    not recognized\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "From: postmaster@x.example\r\nSubject: =?UTF-8?B?44Ko44Op44O8?=\r\nContent-Type: text/plain; "
	  "charset=ISO-2022-JP\r\n\r\nada@mail.example \033$B$O8+$D$+$j$^$;$s\033(B\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "From: postmaster@x.example\r\nSubject: Nicht zugestellt\r\nContent-Type: text/html; "
	  "charset=iso-8859-1\r\n"
	  "Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>&copy; A&B & C: Der <b>Empf=E4nger</b> ist hier "
	  "unbekannt.</p>\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "From MAILER-DAEMON Thu Apr 29 23:34:45 2010\r\nFrom: MAILER-DAEMON\r\nSubject: Returned mail\r\n\r\n"
	  "<ada@mail.example>... User unknown\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "From: post@x.example\rSubject: Undelivered\r\r550 User unknown\r", REPORT_FEEDBACK,
		FEEDBACK_BOUNCE_PERMANENT },
	{ "From: MAILER-DAEMON@mx.example\r\nSubject: Returned mail: User unknown\r\n\r\n>>> DATA\r\n<<< 550 5.7.606 "
	  "banned sending IP\r\n550 5.1.1 <ada@mail.example>... User unknown\r\n<<< 503 5.5.2 Need rcpt command\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_TRANSIENT }, /* the last of three is Sendmail's own */
	{ "From: post_master@sms.example\r\nSubject: Re: your cart\r\n\r\nError message below:\r\n550 - no such user "
	  "here\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT },
	{ "From: Ada <ada@mail.example>\r\nSubject: Delivery of my order\r\n\r\nMy account does not exist? It was 500 "
	  "EUR.\r\n",
		REPORT_NONE, 0 },
	{ "From: postmaster@x.example\r\nSubject: Undeliverable: x\r\nContent-Type: multipart/report; "
	  "report-type=delivery-status;\r\nboundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n"
	  "Final-Recipient: rfc822; ada@mail.example\r\nAction: failed\r\nStatus: 5.1.10\r\n\r\n--b--\r\n",
		REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT }, /* the boundary is lost */
	{ "From: MAILER-DAEMON@mx.example\r\nSubject: Warning: message delayed 24 hours\r\n\r\nDelivery "
	  "attempts will continue. 450 4.1.1 user unknown\r\n",
		REPORT_NOTHING, 0 },
	{ "From: Ada <ada@mail.example>\r\nSubject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nThis "
	  "address is no longer valid after Friday.\r\n",
		REPORT_NOTHING, 0 },
};

static void what_servers_write_without_a_report_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(worded) / sizeof(worded[0]); i++) {
		read_text(worded[i].mail);
		if (report.kind != worded[i].kind ||
			(report.kind == REPORT_FEEDBACK && report.feedback != worded[i].feedback))
			fail_msg("row %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
}

static void the_mail_that_came_back_is_named_but_never_read_for_why(void **state)
{
	(void)state;
	read_text("From: MAILER-DAEMON@mx.example\r\nTo: bounces+tag1@shop.example\r\nSubject: failure notice\r\n\r\n"
		  "<ada@mail.example>: mailbox is full\r\n\r\n--- Below this line is a copy of the message.\r\n\r\n"
		  "Return-Path: <bounces+tag3@shop.example>\r\nMessage-ID: <1.ff@shop.example>\r\n\r\n550 user "
		  "unknown\r\n");
	assert_int_equal(report.feedback, FEEDBACK_BOUNCE_TRANSIENT);
	assert_int_equal(report.reason, REASON_FULL);
	assert_string_equal(report.addresses[1], "bounces+tag3@shop.example");
	assert_string_equal(report.message_ids[0], "1.ff@shop.example");
}

static void a_complaint_without_a_report_is_one_by_the_mail_it_brings(void **state)
{
	(void)state;
	read_text("From: staff@mail.example\r\nTo: abuse@shop.example\r\nSubject: complaint about message from "
		  "192.0.2.1\r\n"
		  "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"
		  "X-HmXmrOriginalRecipient: <ada@mail.example>\r\nReturn-Path: <bounces+tag3@shop.example>\r\n"
		  "Message-ID: <1.ff@shop.example>\r\nSubject: x\r\n\r\nHello\r\n" END);
	assert_int_equal(report.kind, REPORT_FEEDBACK);
	assert_int_equal(report.feedback, FEEDBACK_COMPLAINT);
	assert_string_equal(report.message_ids[0], "1.ff@shop.example");
	read_text("From: fbl@mail.example\r\nSubject: FW: your cart\r\nContent-Type: multipart/mixed; "
		  "boundary=b\r\n\r\n--b\r\n\r\n"
		  "This is a report.\r\nFeedback-Type: abuse\r\nUser-Agent: FBL/1\r\nVersion: 1\r\n--b\r\n"
		  "Content-Type: message/rfc822\r\n\r\nMessage-ID: <2.ff@shop.example>\r\n\r\nHello\r\n" END);
	assert_int_equal(report.feedback, FEEDBACK_COMPLAINT);
	assert_int_equal(report.kind, REPORT_FEEDBACK);
	read_text("From: ada@mail.example\r\nSubject: FW: your cart\r\nContent-Type: multipart/mixed; "
		  "boundary=b\r\n\r\n--b\r\n"
		  "Content-Type: message/rfc822\r\n\r\nMessage-ID: <2.ff@shop.example>\r\n\r\nHello\r\n" END);
	assert_int_equal(report.kind, REPORT_NONE);
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
	for (int i = 0; i < 6000; i++) /* headers */
		buffer_printf(&mail, "To: a%d@b.example, c@d.example\r\n", i);
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.address_count, REPORT_NAMES_MOST);
	for (int i = 0; i < 22000; i++)
		buffer_add_text(&mail, "To: a@b.example, c@d.example\r\n");
	report_read(buffer_bytes(&mail), &report);
	assert_string_equal(report.trouble, "its headers are longer than 256 KB");

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
	for (size_t len = 0; len < sizeof(whole); len++) {
		void *cut = malloc(len + !len); /* who reads on behind it is found out */
		report_read(BYTES(memcpy(cut, whole, len), len), &report);
		free(cut);
	}
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

static void mails_of_old_machines_and_other_languages_read_the_same(void **state)
{
	static const char *const mails[] = {
		"From: MAILER-DAEMON@mx.example\rSubject: failure notice\r\r<a@b.example>:\r550 user\nunknown\r",
		"From: MAILER-DAEMON@mx.example\nSubject: Unzustellbar\n\na@b.example: Empf\xe4nger unbekannt\n",
		"From: MAILER-DAEMON@mx.example\nSubject: Delivery Status Notification (Failure)\nContent-Type: "
		"text/plain; charset=utf-8\n\nadresa nebyla nalezena\n",
		"From: MAILER-DAEMON@mx.example\nSubject: Delivery Status Notification (Failure)\nContent-Type: "
		"text/plain; charset=utf-8\n\nadressen hittades inte\n",
		"From: MAILER-DAEMON@mx.example\nSubject: \xe6\x9c\xaa\xe9\x80\x81\nContent-Type: text/plain; "
		"charset=ISO-2022-JP\n\na@b.example\n"
		"\xe8\xa6\x8b\xe3\x81\xa4\xe3\x81\x8b\xe3\x82\x8a\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93\n\n"
		"------- Returned Message -------\n",
		"From: MAILER-DAEMON@mx.example\nSubject: failure notice\nContent-Type: text/plain; "
		"charset=us-ascii\n\na@b.example: ce compte a \xc3\xa9t\xc3\xa9 supprim\xc3\xa9\n",
		"\n   \nFrom: postmaster@x.example\nSubject: Undeliverable: x\nContent-Type: multipart/report; "
		"boundary=b\n\n"
		"--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; a@b.example\nAction: failed\n"
		"Status: 5.1.10\n\n--b--\n",
		"From: MAILER-DAEMON@mx.example\nSubject: Returned mail: Service unavailable\n\n   ----- Transcript of "
		"session follows -----\nmail.local: unknown user: a\n554 <a@b.example>... Service unavailable\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(mails) / sizeof(mails[0]); i++) {
		read_text(mails[i]);
		if (report.kind != REPORT_FEEDBACK || report.feedback != FEEDBACK_BOUNCE_PERMANENT)
			fail_msg("mail %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
}

#define SERVER "From: MAILER-DAEMON@mx.example\nSubject: failure notice\n\n"
#define ADVICE                                                                                                         \
	"\nThis error occurs because the address is wrong, or the recipient's mailbox is full, or a policy blocks "    \
	"it.\n"

static void must_be(const char *mail, FeedbackKind feedback)
{
	read_text(mail);
	if (report.kind != REPORT_FEEDBACK || report.feedback != feedback)
		fail_msg("%s: %d %d %s", mail, report.kind, report.feedback, report.detail);
}

static void advice_and_suppositions_are_no_reason(void **state)
{
	(void)state;
	must_be(SERVER "ada wasn't found at mail.example.\n" ADVICE "\nReported error: 550 5.1.10 RecipientNotFound\n",
		FEEDBACK_BOUNCE_PERMANENT);
	must_be(SERVER "The address may not exist. Check that the user is not unknown.\n"
		       "The response was:\n\n550 5.7.1 refused by policy\n",
		FEEDBACK_BOUNCE_TRANSIENT);
	must_be(SERVER "User unknown may be the cause.\n\n<a@b.example>:\nthe mailbox is full\n",
		FEEDBACK_BOUNCE_TRANSIENT);
	must_be(SERVER "192.0.2.7 does not like recipient.\nRemote host said: 550 action not taken: invalid zebra\n",
		FEEDBACK_BOUNCE_TRANSIENT);
	must_be(SERVER "to these recipients:\n\na@b.example: 550 invalid zebra\n", FEEDBACK_BOUNCE_TRANSIENT);
	must_be(SERVER "did not reach a@b.example: refused.\n  <mx.example #5.1.1>\n", FEEDBACK_BOUNCE_PERMANENT);
	must_be(SERVER "fields:\n  Message-ID: <x@shop.example>\n\ncannot be delivered:\n  Reason: 550 unknown alias\n",
		FEEDBACK_BOUNCE_PERMANENT);
	must_be(HEAD("delivery-status") STATUS("Final-Recipient: rfc822; a@b.example\r\nAction: failed\r\nStatus: "
					       "5.0.0\r\nX-Supplementary-Info: <mx.example #5.0.0 smtp;\r\n 550 no "
					       "such user>\r\n") END,
		FEEDBACK_BOUNCE_PERMANENT);
	/* Sendmail's own words below what the other server answered are those of any 550 */
	must_be(SERVER "session follows\n<<< 550 zebras are not liked\n550 5.1.1 a@b.example... User unknown\n",
		FEEDBACK_BOUNCE_TRANSIENT);
}

#define OURS "1.0123456789abcdef0123456789abcdef@shop.example"

static void what_a_shop_or_a_person_writes_is_no_bounce_for_its_words(void **state)
{
	(void)state;
	read_text(
		"From: noreply@mail.example\nSubject: Re: Your cart\n\nA user who no longer exists gets no answer.\n");
	assert_int_equal(report.kind, REPORT_NONE);
	read_text("From: Ada <ada@mail.example>\nSubject: Re: Your cart\nIn-Reply-To: " OURS
		  "\n\nWhy do you say \"user unknown\"? 550 5.1.1 is what I got. Best, Ada\n");
	assert_int_equal(report.kind, REPORT_NONE);
	read_text("From: <>\n\nThat's not a valid user here.\n");
	assert_int_equal(report.feedback, FEEDBACK_BOUNCE_PERMANENT);
}

/* In any language: the server goes on trying, whatever it calls that. */
static void a_notice_that_quotes_a_4_alone_makes_nobody_unknown(void **state)
{
	static const char *const texts[] = {
		"Ihre Nachricht konnte noch nicht zugestellt werden. 450 4.1.1 Benutzer unbekannt. Wir versuchen es "
		"weiter.",
		"Votre message n'a pas encore pu \xc3\xaatre remis. 450 4.1.1 utilisateur inconnu. Nous r\xc3\xa9"
		"essayons.",
		"Su mensaje todav\xc3\xad"
		"a no se ha entregado. 450 4.1.1 usuario desconocido. Seguiremos intentando.",
		"Uw bericht is nog niet afgeleverd. 450 4.1.1 onbekende gebruiker. We blijven het proberen.",
	};
	char mail[600];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(mail, sizeof(mail), "From: MAILER-DAEMON@mx.example\nSubject: Status\n\n%s\n", texts[i]);
		read_text(mail);
		assert_int_equal(report.kind, REPORT_FEEDBACK);
		assert_int_equal(report.feedback, FEEDBACK_BOUNCE_TRANSIENT);
	}
	read_text("From: MAILER-DAEMON@mx.example\nSubject: Undelivered Mail\n\n"
		  "<ada@mail.example>: 450 4.1.1 user unknown; giving up\n");
	assert_int_equal(report.feedback, FEEDBACK_BOUNCE_TRANSIENT);
}

#define TAG                                                                                                            \
	"1112345678"                                                                                                   \
	"00112233445566778899aabbccddeeff"                                                                             \
	"01234567890123"

static bool has_address(const char *address)
{
	for (int i = 0; i < report.address_count; i++)
		if (strcmp(report.addresses[i], address) == 0)
			return true;
	return false;
}

#define TOLD(recipient, action, status)                                                                                \
	"Final-Recipient: rfc822; " recipient "\r\nAction: " action "\r\nStatus: " status "\r\n\r\n"
#define MAILED "--b\r\nContent-Type: message/rfc822\r\n\r\nTo: Ada <A@b.example>\r\nMessage-Id: <" OURS ">\r\n\r\nx\r\n"

/* Our mail was to one address; the report of a server that passed it on may tell of more. */
static void of_several_recipients_the_one_that_was_mailed_counts(void **state)
{
	static const struct {
		const char *mail;
		enum report_kind kind;
		FeedbackKind feedback;
	} rows[] = {
#define ROW(fields, ...) { HEAD("delivery-status") STATUS(fields) MAILED END, __VA_ARGS__ }
		ROW(TOLD("a@b.example", "delivered", "2.0.0") TOLD("z@b.example", "failed", "5.1.1"), REPORT_NOTHING,
			0),
		ROW(TOLD("z@b.example", "delivered", "2.0.0") TOLD("a@b.example", "failed", "5.1.1"), REPORT_FEEDBACK,
			FEEDBACK_BOUNCE_PERMANENT),
		ROW(TOLD("z@b.example", "failed", "5.1.1") TOLD("a@b.example", "failed", "5.2.2"), REPORT_FEEDBACK,
			FEEDBACK_BOUNCE_TRANSIENT),
		ROW(TOLD("a@b.example", "failed", "5.0.0") TOLD("z@b.example", "failed", "5.1.1"), REPORT_FEEDBACK,
			FEEDBACK_BOUNCE_TRANSIENT),
		/* neither is whom we know; then all of those that it was passed on to; then the one */
		ROW(TOLD("y@b.example", "failed", "5.1.1") TOLD("z@b.example", "delivered", "2.0.0"), REPORT_NOTHING,
			0),
		ROW(TOLD("y@b.example", "failed", "5.1.1") TOLD("z@b.example", "failed", "5.1.1"), REPORT_FEEDBACK,
			FEEDBACK_BOUNCE_PERMANENT),
		ROW(TOLD("y@b.example", "failed", "5.1.1"), REPORT_FEEDBACK, FEEDBACK_BOUNCE_PERMANENT),
#undef ROW
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_text(rows[i].mail);
		if (report.kind != rows[i].kind ||
			(report.kind == REPORT_FEEDBACK && report.feedback != rows[i].feedback))
			fail_msg("row %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
}

#define QMAIL(blocks)                                                                                                  \
	"From: MAILER-DAEMON@mx.example\r\nTo: bounces+tag1@shop.example\r\nSubject: failure notice\r\n\r\n"           \
	"Hi. This is the qmail-send program at mx.example.\r\nI'm afraid I wasn't able to deliver your message to "    \
	"the following addresses.\r\nThis is a permanent error; I've given up. Sorry it didn't work "                  \
	"out.\r\n\r\n" blocks                                                                                          \
	"--- Below this line is a copy of the message.\r\n\r\nReturn-Path: <bounces+tag1@shop.example>\r\n"            \
	"To: Ada <A@b.example>\r\nMessage-Id: <" OURS ">\r\n\r\nx\r\n"
#define UNKNOWN(address) "<" address ">:\r\nSorry, no mailbox here by that name. (#5.1.1)\r\n\r\n"
#define FULL(address) "<" address ">:\r\n552 5.2.2 mailbox is full\r\n\r\n"
#define POSTFIX_UNKNOWN(address)                                                                                       \
	"<" address ">: host mx.b.example[192.0.2.1] said: 550 5.1.1\r\n    no such user (in reply to RCPT "           \
	"TO)\r\n\r\n"
#define POSTFIX_FULL(address)                                                                                          \
	"<" address ">: host mx.b.example[192.0.2.1] said: 552 5.2.2\r\n    over quota (in reply to RCPT TO)\r\n\r\n"
#define EXIM_UNKNOWN(address) "  " address "\r\n    SMTP error from remote mail server: 550 no such user\r\n"
#define EXIM_FULL(address) "  " address "\r\n    SMTP error from remote mail server: 552 mailbox full\r\n"
#define LINE_UNKNOWN(address) address ": 550 5.1.1 <" address ">... no such user\r\n"
#define LINE_FULL(address) address ": 552 5.2.2 <" address ">... over quota\r\n"
#define WORDS_UNKNOWN(address) address " was refused with code :550, no such user\r\n"
#define WORDS_FULL(address) address " was refused with code :552, over quota\r\n"

/* The same of a bounce without a report, which tells of one after the other. */
static void of_several_recipients_in_a_text_the_one_that_was_mailed_counts(void **state)
{
	static const struct {
		const char *mail;
		FeedbackKind feedback;
	} rows[] = {
		{ QMAIL(FULL("a@b.example") UNKNOWN("z@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(UNKNOWN("z@b.example") FULL("a@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(FULL("z@b.example") UNKNOWN("a@b.example")), FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL(POSTFIX_UNKNOWN("z@b.example") POSTFIX_FULL("a@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(POSTFIX_FULL("z@b.example") POSTFIX_UNKNOWN("a@b.example")), FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL(EXIM_UNKNOWN("z@b.example") EXIM_FULL("a@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(EXIM_FULL("z@b.example") EXIM_UNKNOWN("a@b.example")), FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL(LINE_FULL("z@b.example") LINE_UNKNOWN("a@b.example")), FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL(LINE_UNKNOWN("z@b.example") LINE_FULL("a@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(LINE_FULL("z@b.example") "a@b.example: no such user\r\n"), FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL(WORDS_FULL("z@b.example") WORDS_UNKNOWN("a@b.example")), FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL(WORDS_UNKNOWN("z@b.example") WORDS_FULL("a@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(LINE_UNKNOWN("z@b.example") "a@b.example is whom you wrote to.\r\n"),
			FEEDBACK_BOUNCE_PERMANENT },
		/* neither is whom we know: one is not gone; then both are */
		{ QMAIL(FULL("y@b.example") UNKNOWN("z@b.example")), FEEDBACK_BOUNCE_TRANSIENT },
		{ QMAIL(UNKNOWN("y@b.example") UNKNOWN("z@b.example")), FEEDBACK_BOUNCE_PERMANENT },
		/* one, and whom to ask; all of them with one answer */
		{ QMAIL(UNKNOWN("y@b.example") "Ask\r\n  postmaster@b.example\r\nfor help.\r\n"),
			FEEDBACK_BOUNCE_PERMANENT },
		{ QMAIL("  a@b.example\r\n  z@b.example\r\n\r\n550 5.1.1 no such user\r\n"),
			FEEDBACK_BOUNCE_PERMANENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_text(rows[i].mail);
		if (report.kind != REPORT_FEEDBACK || report.feedback != rows[i].feedback)
			fail_msg("row %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
}

/* The server looked for us, and not for the shopper. */
static void an_answer_that_names_our_domain_says_nothing_of_the_recipient(void **state)
{
	static const struct {
		const char *fields;
		FeedbackKind feedback;
	} rows[] = {
		{ TOLD("a@b.example", "failed", "5.1.2\r\nDiagnostic-Code: smtp; 550 Host unknown: shop.example"),
			FEEDBACK_BOUNCE_TRANSIENT },
		{ TOLD("a@b.example", "failed",
			  "5.0.0\r\nDiagnostic-Code: smtp; 550 Domain shop.example does not exist"),
			FEEDBACK_BOUNCE_TRANSIENT },
		{ TOLD("a@b.example", "failed",
			  "5.0.0\r\nDiagnostic-Code: smtp; 553 shop.example: unresolvable domain"),
			FEEDBACK_BOUNCE_TRANSIENT },
		{ TOLD("a@b.example", "failed",
			  "5.4.4\r\nDiagnostic-Code: smtp; 550 No MX or A record for <shop.example>"),
			FEEDBACK_BOUNCE_TRANSIENT },
		{ TOLD("a@b.example", "failed", "5.1.2\r\nDiagnostic-Code: smtp; 550 Host unknown: b.example"),
			FEEDBACK_BOUNCE_PERMANENT },
		{ TOLD("a@b.example", "failed", "5.1.2\r\nDiagnostic-Code: smtp; 550 Host unknown: workshop.example"),
			FEEDBACK_BOUNCE_PERMANENT },
		{ TOLD("a@b.example", "failed",
			  "5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 No such user (mail from shop.example)"),
			FEEDBACK_BOUNCE_PERMANENT },
		{ TOLD("a@shop.example", "failed", "5.1.2\r\nDiagnostic-Code: smtp; 550 Host unknown: shop.example"),
			FEEDBACK_BOUNCE_PERMANENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char mail[2000];
		snprintf(mail, sizeof(mail), HEAD("delivery-status") STATUS("%s") MAILED END, rows[i].fields);
		read_text(mail);
		if (report.kind != REPORT_FEEDBACK || report.feedback != rows[i].feedback)
			fail_msg("row %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
}

static void what_a_person_writes_of_a_bounce_is_none(void **state)
{
	static const char *const mails[] = {
		"From: Ada <ada@mail.example>\nSubject: my mail bounced\n\nHi,\n\nit said 550 user unknown. Please "
		"help.\n",
		"From: Ada <ada@mail.example>\nReturn-Path: <ada@mail.example>\nSubject: unknown user\n\n"
		"Why does your page say that my account does not exist? I get\n550 user unknown\n",
		"From: Ada <ada@mail.example>\nSubject: delivery failed\n\nThe driver said that the address does not "
		"exist.\n",
		"From: Ada <ada@mail.example>\nSubject: Fwd: Undelivered Mail Returned to Sender\n\nWhat is this?\n\n"
		"<support@shop.example>: host mx.shop.example said: 550 5.1.1 User unknown\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(mails) / sizeof(mails[0]); i++) {
		read_text(mails[i]);
		if (report.kind != REPORT_NONE)
			fail_msg("mail %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
}

/* Junk Mail Reporting: the mail, complete, and no fields. */
static void microsofts_complaints_are_read(void **state)
{
	(void)state;
	must_be("From: <staff@hotmail.com>\nTo: bounces+tag2@shop.example\nSubject: complaint about message from "
		"192.0.2.10\n"
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: message/rfc822\n"
		"Content-Disposition: inline\n\nX-HmXmrOriginalRecipient: <ada@outlook.com>\n"
		"X-MS-Exchange-EOPDirect: true\nReceived: from shop.example\nFrom: shop@shop.example\nTo: "
		"ada@outlook.com\nMessage-ID: <" OURS ">\n\nHello\n--o--\n",
		FEEDBACK_COMPLAINT);
	assert_string_equal(report.message_ids[0], OURS);
}

static void a_bounce_that_a_person_forwards_is_read_and_names_its_mail(void **state)
{
	(void)state;
	must_be("From: ada@shop.example\nTo: bounces@shop.example\nSubject: Fwd: Undelivered Mail\n\nFYI\n\n"
		"> From: MAILER-DAEMON@mx.example\n> To: <bounces+" TAG "@shop.example>\n>\n"
		"> <a@b.example>: host mx.example said: 550 no such user\n>\n> Message-Id: <" OURS ">\n",
		FEEDBACK_BOUNCE_PERMANENT);
	assert_true(has_address("bounces+" TAG "@shop.example"));
	assert_int_equal(report.message_id_count, 1);
	assert_string_equal(report.message_ids[0], OURS);

	must_be("From: ada@shop.example\nTo: bounces@shop.example\nSubject: look\nMIME-Version: 1.0\n"
		"Content-Type: multipart/mixed; boundary=o\n\n--o\n\nFYI\n--o\nContent-Type: message/rfc822\n\n"
		"To: <bounces+" TAG "@shop.example>\n" HEAD("delivery-status")
			STATUS("Action: failed\r\nStatus: 5.1.1\r\n") ORIGINAL END "\n--o--\n",
		FEEDBACK_BOUNCE_PERMANENT);
	assert_true(has_address("bounces+" TAG "@shop.example"));
	assert_true(has_address("bounces+tag3@shop.example"));
}

/* A gateway puts a text of its own beside the report that another server wrote, and calls itself postmaster too. */
static void a_report_that_a_server_attaches_is_read(void **state)
{
	(void)state;
	must_be("From: postmaster@gateway.example\nTo: bounces+" TAG "@shop.example\nSubject: delivery failed\n"
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=o\n\n--o\n"
		"Content-Type: message/rfc822\n\n" HEAD("delivery-status")
			STATUS("Final-Recipient: rfc822; a@b.example\r\nAction: failed\r\nStatus: 5.1.1\r\n")
				ORIGINAL END "\n--o\n\nThis mail is confidential.\n--o--\n",
		FEEDBACK_BOUNCE_PERMANENT);
	assert_true(has_address("bounces+tag3@shop.example"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bounce_tells_its_code_and_its_mail_and_no_address),
		cmocka_unit_test(which_code_speaks_of_the_address_is_told_apart),
		cmocka_unit_test(a_complaint_is_one_and_its_opposite_is_not),
		cmocka_unit_test(a_mail_that_only_looks_like_a_report_is_none),
		cmocka_unit_test(what_servers_write_without_a_report_is_read),
		cmocka_unit_test(the_mail_that_came_back_is_named_but_never_read_for_why),
		cmocka_unit_test(a_complaint_without_a_report_is_one_by_the_mail_it_brings),
		cmocka_unit_test(mails_of_old_machines_and_other_languages_read_the_same),
		cmocka_unit_test(advice_and_suppositions_are_no_reason),
		cmocka_unit_test(what_a_shop_or_a_person_writes_is_no_bounce_for_its_words),
		cmocka_unit_test(a_notice_that_quotes_a_4_alone_makes_nobody_unknown),
		cmocka_unit_test(of_several_recipients_the_one_that_was_mailed_counts),
		cmocka_unit_test(of_several_recipients_in_a_text_the_one_that_was_mailed_counts),
		cmocka_unit_test(an_answer_that_names_our_domain_says_nothing_of_the_recipient),
		cmocka_unit_test(what_a_person_writes_of_a_bounce_is_none),
		cmocka_unit_test(microsofts_complaints_are_read),
		cmocka_unit_test(a_bounce_that_a_person_forwards_is_read_and_names_its_mail),
		cmocka_unit_test(a_report_that_a_server_attaches_is_read),
		cmocka_unit_test(other_encodings_read_the_same),
		cmocka_unit_test(bombs_are_just_mails),
		cmocka_unit_test(garbled_reports_hurt_nobody),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
