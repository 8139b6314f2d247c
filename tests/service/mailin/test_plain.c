/* test_plain.c: the words of a bounce in HTML */
#include "services/platform/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static struct report report; /* large */

/* The words of a block or a cell are words of their own; those within a tag like <b> go on. */
static void the_tags_of_html_separate_words_where_a_reader_sees_them_apart(void **state)
{
	static const char *const unknown[] = {
		"<table><tr><td>550</td><td>User unknown</td></tr></table>",
		"<TABLE><TR><TH>Code<TD class=\"a\">550<TD>User unknown</TABLE>",
		"<table><tr><td>user</td><td>unknown</td><td>here</td></tr></table>",
		"User<br>unknown",
		"User<BR/>unknown",
		"<p>Sorry.<p>User<p>unknown",
		"<ul><li>User<li>unknown</ul>",
		"<div>User<div>unknown</div></div>",
		"<h2>User</h2>unknown",
		"<center>User</center>unknown",
		"User<hr>unknown",
		"<b>U</b>ser <span>unk</span>nown",
		"U<strong>ser</strong> <bdi>unk</bdi><param>no<picture>wn",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		char mail[400];

		snprintf(mail, sizeof(mail),
			"From: postmaster@x.example\r\nSubject: Undeliverable: your cart\r\nContent-Type: text/html\r\n\r\n"
			"%s\r\n",
			unknown[i]);
		report_read(bytes_of(mail), &report);
		if (report.kind != REPORT_FEEDBACK || report.feedback != FEEDBACK_BOUNCE_PERMANENT ||
			report.reason != REASON_USER)
			fail_msg("row %zu: %d %d %s", i, report.kind, report.feedback, report.detail);
	}
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
		cmocka_unit_test(the_tags_of_html_separate_words_where_a_reader_sees_them_apart),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
