/* test_compose.c: headers nobody breaks out of, bodies every server carries */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/mail/compose.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include "tests/unit/cmocka_all.h"
// clang-format on

static const char *header(int (*add)(struct buffer *, const char *, const char *), const char *value)
{
	static struct buffer out;
	buffer_clear(&out);
	return add(&out, "X", value) < 0 ? NULL : buffer_text(&out);
}

static void plain_words_stay_plain_and_others_are_encoded(void **state)
{
	(void)state;
	assert_string_equal(header(mail_header_text, "Hello you"), "X: Hello you\r\n");
	assert_string_equal(header(mail_header_text, "Grüße"), "X: =?UTF-8?B?R3LDvMOfZQ==?=\r\n");
	assert_string_equal(
		header(mail_header_text, "=?looks encoded?="), "X: =?UTF-8?B?PT9sb29rcyBlbmNvZGVkPz0=?=\r\n");
}

/* Padding within the text would end it for readers that join words before they decode them, as GMime does. */
static void encoded_words_are_short_cut_no_character_and_are_padded_at_the_end_alone(void **state)
{
	static const char *const starts[] = { "", "x", "xy", "ü", "\U0001f600" },
				 *const signs[] = { "漢", "ü", "\U0001f600" };

	(void)state;
	for (size_t start = 0; start < 5; start++) {
		for (size_t sign = 0; sign < 3; sign++) {
			char value[400];
			int words = 0;

			snprintf(value, sizeof(value), "%s", starts[start]);
			for (int i = 0; i < 60; i++)
				strcat(value, signs[sign]);
			for (const char *line = header(mail_header_text, value) + 3; *line; words++) {
				size_t len = strcspn(line, "\r");

				assert_true(len <= 75);
				assert_true(text_starts(line, "=?UTF-8?B?") || text_starts(line, "=?UTF-8?Q?"));
				if (line[len + 2]) /* not the last word */
					assert_null(memmem(line, len, "=?=", 3));
				line += len + 2;
				line += *line == ' ';
			}
			assert_true(words > 1);
		}
	}
}

/* RFC 2047, section 2: 76 characters, with the header's name. */
static void a_line_with_an_encoded_word_is_short_with_its_name(void **state)
{
	static const char *const names[] = { "Subject", "Reply-To", "List-Unsubscribe-Post" };
	char value[200] = "";

	(void)state;
	for (int i = 0; i < 40; i++)
		strcat(value, "ü");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buffer text = { 0 };

		assert_int_equal(mail_header_text(&text, names[i], value), 0);
		for (const char *line = buffer_text(&text); *line; line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\r") <= 76);
		buffer_free(&text);
	}
}

static void line_breaks_and_controls_are_refused_everywhere(void **state)
{
	(void)state;
	static const char *const bad[] = { "a\r\nBcc: b@c.de", "a\nb", "a\rb", "a\x01", "a\x7f", "\xff\xfe", "a\xc3" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(header(mail_header_text, bad[i]));
		assert_null(header(mail_header_plain, bad[i]));
		assert_null(header(mail_header_mailbox, bad[i]));
	}
	assert_null(header(mail_header_plain, "Grüße"));
}

static void names_are_quoted_or_encoded_and_addresses_never(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "shop@shop.example", "X: shop@shop.example\r\n" },
		{ "Shop <Shop@Shop.Example>", "X: \"Shop\"\r\n <shop@shop.example>\r\n" },
		{ "\"Huber, \\\"Blumen\\\"\" <a@b.example>", "X: \"Huber, \\\"Blumen\\\"\"\r\n <a@b.example>\r\n" },
		{ "Hüber <a@b.example>", "X: =?UTF-8?B?SMO8YmVy?=\r\n <a@b.example>\r\n" },
		{ "<a@b.example>", "X: a@b.example\r\n" },
	};
	static const char *const bad[] = { "", "nobody", "a@b.example, c@d.example", "A <a@b.example> x",
		"A <a@b.example", "A <>", "A <a b@c.example>" };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(header(mail_header_mailbox, cases[i][0]), cases[i][1]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (header(mail_header_mailbox, bad[i]))
			fail_msg("accepted: %s", bad[i]);
}

static const char *quoted(const char *text)
{
	static struct buffer out;
	buffer_clear(&out);
	mail_quoted_printable(&out, text);
	return buffer_text(&out);
}

static void quoted_printable_is_what_the_rfc_says(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "a=b\n", "a=3Db\r\n" },
		{ "ü", "=C3=BC\r\n" },
		{ "trailing \nx\t\n", "trailing=20\r\nx=09\r\n" },
		{ ".\n..\na.\n", "=2E\r\n=2E.\r\na.\r\n" },
		{ "From me\nFrom\n", "=46rom me\r\nFrom\r\n" },
		{ "a\r\nb", "a=0D\r\nb\r\n" },
		{ "\n\na", "\r\n\r\na\r\n" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(quoted(cases[i][0]), cases[i][1]);
}

static void no_line_of_a_body_is_long(void **state)
{
	(void)state;
	char text[5000];
	memset(text, '.', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	const char *line = quoted(text);
	while (*line) {
		size_t len = strcspn(line, "\r");
		assert_true(len <= 76);
		assert_true(*line != '.');
		line += len + 2;
	}
}

static void only_clean_lines_reach_a_transport(void **state)
{
	(void)state;
	char line[1002];
	assert_true(mail_lines_valid(bytes_of("a\r\n.\r\n")));
	assert_false(mail_lines_valid(bytes_of("")));
	assert_false(mail_lines_valid(bytes_of("a")));
	assert_false(mail_lines_valid(bytes_of("a\n")));
	assert_false(mail_lines_valid(bytes_of("a\rb\r\n")));
	assert_false(mail_lines_valid(bytes_of("a\r\n\r")));
	assert_false(mail_lines_valid(bytes_of("a\n.\n\r\n")));
	assert_false(mail_lines_valid(BYTES("a\0b\r\n", 5)));
	memset(line, 'x', sizeof(line));
	memcpy(line + 998, "\r\n", 2);
	assert_true(mail_lines_valid(BYTES(line, 1000)));
	memset(line, 'x', sizeof(line));
	memcpy(line + 999, "\r\n", 2);
	assert_false(mail_lines_valid(BYTES(line, 1001)));
}

static void an_envelope_holds_one_bare_address(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "a", "@b", "a@", "a@b>\r\nRCPT TO:<c@d", "a b@c", "<a@b>", "a@b,c@d",
		"ä@b.de" };
	assert_true(mail_envelope_valid("anna+x@mail.example"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(mail_envelope_valid(bad[i]));
}

static void a_note_is_one_plain_part(void **state)
{
	(void)state;
	struct mail *mail;
	char why[160];
	assert_int_equal(mail_note("Bus <bus@b.example>", "admin@a.example", "Über uns", "Text\n", "id@b.example", 0,
				 &mail, why),
		0);
	assert_string_equal(buffer_text(&mail->mime),
		"Date: Thu, 1 Jan 1970 00:00:00 +0000\r\nFrom: \"Bus\"\r\n <bus@b.example>\r\nTo: admin@a.example\r\n"
		"Subject: =?UTF-8?B?w5xiZXIgdW5z?=\r\nMessage-ID: <id@b.example>\r\nAuto-Submitted: auto-generated\r\n"
		"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: quoted-printable\r\n\r\nText\r\n");
	assert_string_equal(mail->envelope_from, "bus@b.example");
	assert_false(mail->claim);
	mail_free(mail);
	assert_int_equal(mail_note("bus@b.example", "admin@a.example", "s", "t", "a> <b", 0, &mail, why), -EINVAL);
	assert_int_equal(mail_note("bus@b.example", "admin@a.example", "s\nx", "t", "a", 0, &mail, why), -EINVAL);
}

/* Each part that may not be so is refused by its name; and without any of them it is a mail. */
static void a_mail_is_made_of_clean_parts_alone(void **state)
{
	static const struct mail_parts good = { .from = "Shop <shop@shop.example>",
		.to = "ann@buyer.example",
		.reply_to = "",
		.bounce = "",
		.subject = "s",
		.message_id = "1@shop.example",
		.text = "text\n",
		.html = "<p>html</p>\n" };
	static const char bad[] = "\xff";
	struct mail_parts parts[] = { good, good, good, good, good, good, good, good, good, good };
	(void)state;
	parts[0].text = bad;
	parts[1].html = bad;
	parts[2].text = parts[2].html = bad;
	parts[3].to = "nobody";
	parts[4].from = "nobody";
	parts[5].bounce = "nobody";
	parts[6].subject = bad;
	parts[7].message_id = "a> <b";
	parts[8].reply_to = bad;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct mail *mail = NULL;
		char why[160] = "";
		bool is_good = i == sizeof(parts) / sizeof(parts[0]) - 1;
		assert_int_equal(mail_compose(&parts[i], &mail, why), is_good ? 0 : -EINVAL);
		assert_int_equal(mail != NULL, is_good);
		assert_int_equal(*why == '\0', is_good);
		if (i < 3)
			assert_non_null(strstr(why, "text"));
		mail_free(mail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_words_stay_plain_and_others_are_encoded),
		cmocka_unit_test(encoded_words_are_short_cut_no_character_and_are_padded_at_the_end_alone),
		cmocka_unit_test(a_line_with_an_encoded_word_is_short_with_its_name),
		cmocka_unit_test(line_breaks_and_controls_are_refused_everywhere),
		cmocka_unit_test(names_are_quoted_or_encoded_and_addresses_never),
		cmocka_unit_test(quoted_printable_is_what_the_rfc_says),
		cmocka_unit_test(no_line_of_a_body_is_long),
		cmocka_unit_test(only_clean_lines_reach_a_transport),
		cmocka_unit_test(an_envelope_holds_one_bare_address),
		cmocka_unit_test(a_note_is_one_plain_part),
		cmocka_unit_test(a_mail_is_made_of_clean_parts_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
