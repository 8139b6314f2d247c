/* test_bounds.c: what a library may take apart, and what would make it go too deep or too wide */
#include "bus/base/cleanup.h"
#include "services/platform/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
#include <string.h>

static void repeat(struct buffer *to, const char *text, int times)
{
	for (int i = 0; i < times; i++)
		buffer_add_text(to, text);
}

static void must_be(struct buffer *mail, const char *trouble)
{
	const char *found = bounds_trouble(buffer_bytes(mail));
	if (!trouble != !found || (trouble && !strstr(found, trouble)))
		fail_msg("expected %s, found %s", trouble ? trouble : "no trouble", found ? found : "none");
	buffer_clear(mail);
}

static void nested_groups_are_counted_wherever_a_parser_may_meet_them(void **state)
{
	static const char *const places[] = { "From: ", "to: ", "Reply-To : ", "Subject: x\nFrom: ",
		"Subject: x\r\n\r\nCc:", "Content-Type: multipart/report; boundary=b\n\n--b\n\nOriginal-Mail-From: ",
		"TO:\n " };
	_cleanup_(buffer_free) struct buffer mail = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		buffer_add_text(&mail, places[i]);
		repeat(&mail, "a:", 48000);
		must_be(&mail, "groups");
		buffer_add_text(&mail, places[i]);
		repeat(&mail, "a:\n\t", 100); /* folded: one line for each */
		must_be(&mail, "groups");
	}
	buffer_add_text(&mail,
		"From: Team: ada@mail.example, Bob (the one) <bob@mail.example>;\n\nSee 1:2:3:4:5:6:7:8:9:10.\n");
	must_be(&mail, NULL);
	repeat(&mail, "0:1:2:", 100); /* in no header */
	must_be(&mail, NULL);
}

static void headers_have_an_end(void **state)
{
	_cleanup_(buffer_free) struct buffer mail = { 0 };

	(void)state;
	buffer_add_text(&mail, "Subject: ");
	repeat(&mail, "x", 70000);
	must_be(&mail, "64 KB");
	buffer_add_text(&mail, "Subject: x\n\nhello\nX-A: b\n");
	repeat(&mail, " and on\n", 10000);
	must_be(&mail, "64 KB");
	repeat(&mail, "X-Header: a line of it\r\n", 20000);
	must_be(&mail, "256 KB");
	buffer_add_text(&mail, "Subject: x\r\n\r\n");
	repeat(&mail, "X-Header: a line of it\r\n", 20000); /* the text of a mail may be as long as mails are */
	must_be(&mail, NULL);
}

static void parts_are_counted_side_by_side_and_one_in_the_other(void **state)
{
	_cleanup_(buffer_free) struct buffer mail = { 0 };

	(void)state;
	buffer_add_text(&mail, "Content-Type: multipart/report; boundary=b\n\n");
	repeat(&mail, "--b\n\nx\n", 100000);
	must_be(&mail, "too many parts");
	for (int i = 0; i < 1000; i++)
		buffer_printf(&mail, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i);
	must_be(&mail, "too many parts");
	repeat(&mail, "Content-Type: message/rfc822\n\n", 1000);
	must_be(&mail, "too many parts");
	must_be(&mail, NULL);
}

static struct report report; /* large */

static void what_is_packed_into_a_part_is_held_to_the_bounds_too(void **state)
{
	_cleanup_(buffer_free) struct buffer mail = { 0 };

	(void)state;
	buffer_add_text(&mail,
		"Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n--b\r\n"
		"Content-Type: message/feedback-report\r\nContent-Transfer-Encoding: base64\r\n\r\n"
		"RmVlZGJhY2stVHlwZTogYWJ1c2UKT3JpZ2luYWwtTWFpbC1Gcm9tOiAg"); /* "Feedback-Type: abuse", "Original-Mail-From:  " */
	repeat(&mail, "\r\nYTphOmE6YTphOmE6YTphOmE6YTphOmE6YTphOmE6YTphOmE6YTphOmE6YTphOmE6YTphOmE6",
		3500); /* a:a:a: */
	buffer_add_text(&mail, "\r\n--b--\r\n");
	report_read(buffer_bytes(&mail), &report);
	assert_int_equal(report.kind, REPORT_NONE);
	assert_non_null(strstr(report.trouble, "groups"));
	assert_true(report_is_sound(&report));
}

static void what_no_reader_could_have_written_is_not_sound(void **state)
{
	(void)state;
	report_read(bytes_of("Subject: x\n\ny"), &report);
	assert_true(report_is_sound(&report));
	report.address_count = REPORT_NAMES_MOST + 1;
	assert_false(report_is_sound(&report));
	report.address_count = -1;
	assert_false(report_is_sound(&report));
	report.address_count = 0;
	report.kind = (enum report_kind)9;
	assert_false(report_is_sound(&report));
	report.kind = REPORT_NONE;
	memset(report.message_ids[3], 'x', sizeof(report.message_ids[3]));
	assert_false(report_is_sound(&report));
	report.message_ids[3][0] = '\0';
	strcpy(report.trouble,
		"it is too large\nto: eve@mail.example"); /* a line of the note on a mail that is put aside */
	assert_false(report_is_sound(&report));
	strcpy(report.trouble, "it is too large \xff");
	assert_false(report_is_sound(&report));
	strcpy(report.trouble, "it is too large");
	assert_true(report_is_sound(&report));
	memset(report.detail, 'x', sizeof(report.detail));
	assert_false(report_is_sound(&report));
}

static int start(void **state)
{
	(void)state;
	report_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_groups_are_counted_wherever_a_parser_may_meet_them),
		cmocka_unit_test(headers_have_an_end),
		cmocka_unit_test(parts_are_counted_side_by_side_and_one_in_the_other),
		cmocka_unit_test(what_is_packed_into_a_part_is_held_to_the_bounds_too),
		cmocka_unit_test(what_no_reader_could_have_written_is_not_sound),
	};
	return cmocka_run_group_tests(tests, start, NULL);
}
