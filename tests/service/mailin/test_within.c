/* test_within.c: what a bounce brings with it: another bounce, or no more than a part of the mail */
#include "services/platform/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static struct report report; /* large */

#define BACK                                                                                                           \
	"bounces+1112345678"                                                                                           \
	"00112233445566778899aabbccddeeff"                                                                             \
	"01234567890123@shop.example"
#define OURS "1.0123456789abcdef0123456789abcdef@shop.example"
#define REPORT(from, boundary, recipient, status)                                                                      \
	"Return-Path: <>\r\nFrom: MAILER-DAEMON@" from "\r\nTo: " BACK "\r\nMessage-ID: <theirs@" from "\r\n"          \
	"MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=" boundary         \
	"\r\n\r\n--" boundary "\r\n\r\nWe are sorry.\r\n--" boundary                                                   \
	"\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; " from                                   \
	"\r\n\r\nFinal-Recipient: rfc822; " recipient "\r\nAction: failed\r\nStatus: " status "\r\n\r\n"
#define MAIL(boundary)                                                                                                 \
	"--" boundary "\r\nContent-Type: message/rfc822\r\n\r\nReturn-Path: <" BACK ">\r\nTo: Ada <a@b.example>\r\n"   \
	"Message-ID: <" OURS ">\r\n\r\nHello\r\n--" boundary "--\r\n"

static bool has_address(const char *address)
{
	for (int i = 0; i < report.address_count; i++)
		if (strcmp(report.addresses[i], address) == 0)
			return true;
	return false;
}

/*
 * A bounce that found nobody to take it comes back as well: what failed last was our own address, and what the shopper's server said of
 * the shopper is in the bounce within.
 */
static void a_bounce_of_a_bounce_says_what_the_one_within_says(void **state)
{
#define TWICE(status)                                                                                                  \
	REPORT("mx.shop.example", "b", BACK, "5.1.1")                                                                  \
	"--b\r\nContent-Type: message/rfc822\r\n\r\n" REPORT("mx.b.example", "c", "a@b.example", status)               \
		MAIL("c") "--b--\r\n"
	static const struct {
		const char *mail;
		FeedbackKind feedback;
	} rows[] = { { TWICE("5.2.2"), FEEDBACK_BOUNCE_TRANSIENT }, { TWICE("5.1.1"), FEEDBACK_BOUNCE_PERMANENT } };
#undef TWICE

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report_read(bytes_of(rows[i].mail), &report);
		if (report.kind != REPORT_FEEDBACK || report.feedback != rows[i].feedback)
			fail_msg("row %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
		assert_true(has_address(BACK));
		assert_string_equal(report.message_ids[0], OURS);
	}
}

static void a_bounce_whose_headers_alone_came_back_says_nothing_of_the_shopper(void **state)
{
	(void)state;
	report_read(
		bytes_of(REPORT("mx.shop.example", "b", BACK,
			"5.1.1") "--b\r\nContent-Type: text/rfc822-headers\r\n\r\nFrom: MAILER-DAEMON@mx.b.example\r\n"
				 "To: " BACK "\r\nContent-Type: multipart/report; boundary=c\r\n\r\n--b--\r\n"),
		&report);
	assert_true(report.kind != REPORT_FEEDBACK || report.feedback != FEEDBACK_BOUNCE_PERMANENT);
}

/* Servers send back as much of the mail as they like, or nothing. */
static void a_bounce_without_the_end_of_the_mail_says_the_same(void **state)
{
	static const char report_alone[] = REPORT("mx.b.example", "b", "a@b.example", "5.1.1");
	static const char whole[] = REPORT("mx.b.example", "b", "a@b.example", "5.1.1") MAIL("b");

	(void)state;
	for (size_t len = sizeof(report_alone) - 1; len < sizeof(whole); len++) {
		report_read(BYTES(whole, len), &report);
		if (report.kind != REPORT_FEEDBACK || report.feedback != FEEDBACK_BOUNCE_PERMANENT ||
			!has_address(BACK))
			fail_msg("cut off after %zu bytes: %d %d", len, report.kind, report.feedback);
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
		cmocka_unit_test(a_bounce_of_a_bounce_says_what_the_one_within_says),
		cmocka_unit_test(a_bounce_whose_headers_alone_came_back_says_nothing_of_the_shopper),
		cmocka_unit_test(a_bounce_without_the_end_of_the_mail_says_the_same),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
