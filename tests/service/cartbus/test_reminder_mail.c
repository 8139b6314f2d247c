/* test_reminder_mail.c: a mail that the kit composed comes apart as it went together */
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/cartbus/texts/reminder_mail.h"
#include "services/kit/mail/compose.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SUBJECT "Ein sehr langer Betreff über Rosensträuße, Übertöpfe und _Unterstriche_, der gefaltet werden muss"
#define TEXT                                                                                                            \
	"Grüße = mehr\nzweite Zeile mit einem sehr langen Text, der in Quoted-Printable umbrochen werden muss, weil " \
	"er so lang ist.\n-- \nnach dem Trenner\n"
#define HTML "<p>Grüße</p>\n"

static struct mail *compose(void)
{
	struct mail *mail = NULL;
	char why[160];
	struct mail_parts parts = { .from = "Blumen <shop@shop.example>",
		.to = "ada@example.com",
		.subject = SUBJECT,
		.message_id = "1.x@shop.example",
		.text = TEXT,
		.html = HTML,
		.now_us = 1795230389 * US_PER_S };

	assert_int_equal(mail_compose(&parts, &mail, why), 0);
	return mail;
}

/* The transport's line ends are CRLF; a reader sees lines. */
static void assert_lines(struct buffer *part, const char *expected)
{
	const char *text = buffer_text(part);
	size_t len = strlen(expected);

	assert_true(strlen(text) >= len - 1);
	assert_memory_equal(text, expected, len - 1); /* the last line end belongs to the boundary that follows */
}

static void both_parts_come_back_as_written(void **state)
{
	struct mail *mail = compose();
	struct buffer part = { 0 };

	(void)state;
	assert_int_equal(mime_part(buffer_bytes(&mail->mime), "text/plain", &part), 0);
	assert_lines(&part, TEXT);
	buffer_clear(&part);
	assert_int_equal(mime_part(buffer_bytes(&mail->mime), "text/html", &part), 0);
	assert_lines(&part, HTML);
	buffer_free(&part);
	mail_free(mail);
}

static void a_folded_and_encoded_subject_comes_back_as_written(void **state)
{
	struct mail *mail = compose();
	char subject[300];

	(void)state;
	assert_int_equal(mime_header(buffer_bytes(&mail->mime), "Subject", subject, sizeof(subject)), 0);
	assert_string_equal(subject, SUBJECT);
	mail_free(mail);
}

/* Wherever characters end: a mail reader that joins words first would lose what lies behind padding. */
static void a_subject_of_any_characters_comes_back_whole(void **state)
{
	static const char *const starts[] = { "", "x", "xy" }, *const signs[] = { "漢", "ü", "\U0001f600", "ü漢" };

	(void)state;
	for (size_t start = 0; start < 3; start++) {
		for (size_t sign = 0; sign < 4; sign++) {
			_cleanup_(buffer_free) struct buffer mime = { 0 };
			char subject[300], back[300];

			snprintf(subject, sizeof(subject), "%s", starts[start]);
			for (int i = 0; i < 40; i++)
				strcat(subject, signs[sign]);
			assert_int_equal(mail_header_text(&mime, "Subject", subject), 0);
			buffer_add_text(&mime, "\r\nwords\r\n");
			assert_int_equal(mime_header(buffer_bytes(&mime), "Subject", back, sizeof(back)), 0);
			assert_string_equal(back, subject);
		}
	}
}

static void what_is_not_there_is_said_so(void **state)
{
	struct mail *mail = compose();
	struct buffer part = { 0 };
	char value[64];

	(void)state;
	assert_int_equal(mime_part(buffer_bytes(&mail->mime), "image/png", &part), -ENOENT);
	assert_int_equal(mime_header(buffer_bytes(&mail->mime), "X-Nothing", value, sizeof(value)), -ENOENT);
	assert_int_equal(mime_part(BYTES("=?", 2), "text/plain", &part), -ENOENT);
	mail_free(mail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_parts_come_back_as_written),
		cmocka_unit_test(a_folded_and_encoded_subject_comes_back_as_written),
		cmocka_unit_test(a_subject_of_any_characters_comes_back_whole),
		cmocka_unit_test(what_is_not_there_is_said_so),
	};

	return cmocka_run_group_tests_name("cartbus.reminder_mail", tests, NULL, NULL);
}
