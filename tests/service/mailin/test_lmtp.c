/* test_lmtp.c: the protocol by which a mail server delivers what comes back */
#include "bus/base/text.h"
#include "services/platform/mailin/lmtp.h"
#include "services/platform/mailin/report.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

struct taken {
	int count, recipients;
	struct lmtp *answers; /* each mail at once; NULL: later */
	int depth, deepest;   /* of mails that are taken inside one another */
	char first[ADDRESS_MAX + 1];
	struct buffer text;
};

static enum lmtp_knows knows(void *self, const char *recipient)
{
	(void)self;
	return strstr(recipient, "@away.example")    ? LMTP_CANNOT_TELL
		: strstr(recipient, "@shop.example") ? LMTP_KNOWN
						     : LMTP_UNKNOWN;
}

static void take(void *self, const struct lmtp_mail *mail)
{
	struct taken *taken = self;

	taken->count++;
	taken->recipients = mail->count;
	TEXT_COPY(taken->first, mail->recipients[0]);
	buffer_clear(&taken->text);
	buffer_add(&taken->text, mail->bytes.data, mail->bytes.len);
	taken->depth++;
	taken->deepest = taken->depth > taken->deepest ? taken->depth : taken->deepest;
	if (taken->answers)
		lmtp_answer(taken->answers, "250 2.0.0 ok");
	taken->depth--;
}

struct talk {
	struct taken taken;
	struct lmtp *lmtp;
};

static const char *said(struct talk *talk)
{
	static char line[4096];
	struct buffer *out = lmtp_out(talk->lmtp);

	assert_true(out->len < sizeof(line));
	memcpy(line, out->data ? out->data : (const uint8_t *)"", out->len);
	line[out->len] = 0;
	buffer_clear(out);
	return line;
}

static const char *hear(struct talk *talk, const char *text)
{
	lmtp_hear(talk->lmtp, bytes_of(text));
	return said(talk);
}

static struct talk *begin(void)
{
	struct talk *talk = calloc(1, sizeof(*talk));
	const struct lmtp_owner owner = { .self = &talk->taken, .knows = knows, .take = take };

	talk->lmtp = lmtp_new(&owner);
	assert_string_equal(said(talk), "220 localhost LMTP cartbus\r\n");
	assert_string_equal(hear(talk, "LHLO mx.example\r\n"),
		"250-localhost\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250 SIZE 1048576\r\n");
	return talk;
}

static void end(struct talk *talk)
{
	lmtp_free(talk->lmtp);
	buffer_free(&talk->taken.text);
	free(talk);
}

static struct talk *begin_mail(void)
{
	struct talk *talk = begin();

	assert_string_equal(
		hear(talk, "MAIL FROM:<> BODY=8BITMIME SIZE=500\r\nRCPT TO:<Bounces+1@shop.example>\r\nDATA\r\n"),
		"250 2.1.0 ok\r\n250 2.1.5 ok\r\n354 go on\r\n");
	assert_true(lmtp_holds_mail(talk->lmtp)); /* from here on until it is answered for */
	return talk;
}

static void a_mail_is_answered_for_each_recipient_when_it_is_known_what_became_of_it(void **state)
{
	struct talk *talk = begin();

	(void)state;
	hear(talk, "MAIL FROM:<mailer-daemon@mx.example>\r\nRCPT TO:<a@shop.example>\r\nRCPT TO:<b@shop.example>\r\n");
	assert_false(lmtp_holds_mail(talk->lmtp));
	assert_string_equal(hear(talk, "DATA\r\nSubject: x\r\n\r\n..dot\r\n.\r\nNOOP\r\n"), "354 go on\r\n");
	assert_true(lmtp_waits(talk->lmtp));
	assert_true(lmtp_holds_mail(talk->lmtp));
	assert_int_equal(talk->taken.count, 1);
	assert_int_equal(talk->taken.recipients, 2);
	assert_string_equal(talk->taken.first, "a@shop.example");
	assert_string_equal(buffer_text(&talk->taken.text), "Subject: x\r\n\r\n.dot\r\n");
	lmtp_answer(talk->lmtp, "250 2.0.0 ok");
	assert_string_equal(
		said(talk), "250 2.0.0 ok\r\n250 2.0.0 ok\r\n250 2.0.0 ok\r\n"); /* two, and what came behind */
	end(talk);
}

static void mails_that_come_at_once_are_taken_one_after_the_other(void **state)
{
	enum { MAILS = 20 };
	struct talk *talk = begin();
	struct buffer mails = { 0 };

	(void)state;
	talk->taken.answers = talk->lmtp;
	for (int i = 0; i < MAILS; i++)
		buffer_add_text(&mails, "MAIL FROM:<>\r\nRCPT TO:<a@shop.example>\r\nDATA\r\nx\r\n.\r\n");
	hear(talk, buffer_text(&mails));
	assert_int_equal(talk->taken.count, MAILS);
	assert_int_equal(talk->taken.deepest, 1);
	assert_string_equal(hear(talk, "NOOP\r\n"), "250 2.0.0 ok\r\n");
	buffer_free(&mails);
	end(talk);
}

static void nothing_is_taken_for_whom_nobody_here_knows(void **state)
{
	struct talk *talk = begin();

	(void)state;
	hear(talk, "MAIL FROM:<spammer@evil.example>\r\n");
	assert_string_equal(
		hear(talk, "RCPT TO:<victim@elsewhere.example>\r\n"), "550 5.1.1 no shop's bounces go there\r\n");
	assert_string_equal(
		hear(talk, "RCPT TO:<@shop.example:victim@elsewhere.example>\r\n"), "553 5.1.3 no address\r\n");
	assert_string_equal(hear(talk, "RCPT TO:<victim%elsewhere.example@elsewhere.example>\r\n"),
		"550 5.1.1 no shop's bounces go there\r\n");
	assert_string_equal(
		hear(talk, "RCPT TO:<x@away.example>\r\n"), "451 4.3.0 away from the broker; come again\r\n");
	assert_string_equal(hear(talk, "DATA\r\n"), "503 5.5.1 no recipient\r\n");
	assert_int_equal(talk->taken.count, 0);
	end(talk);
}

static void only_cr_lf_dot_cr_lf_ends_a_mail(void **state)
{
	static const char *const ends[] = { "x\n.\r\n", "x\r.\r\n", "x\n.\n", "x\r\n.\n", "x\r\n.\r.\r\n", "x\r.\r",
		"\n\r\n\n.\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct talk *talk = begin_mail();

		assert_string_equal(hear(talk, ends[i]), "");
		assert_string_equal(
			hear(talk, "MAIL FROM:<a@b.example>\r\nRCPT TO:<c@shop.example>\r\nDATA\r\nsmuggled"), "");
		assert_string_equal(hear(talk, "\r\n.\r\n"), "550 5.6.0 a bare CR or LF is in it\r\n");
		assert_int_equal(talk->taken.count, 0);
		end(talk);
	}
}

static void a_command_that_does_not_end_as_it_must_ends_the_session(void **state)
{
	static const char *const lines[] = { "NOOP\n", "NOOP\rQUIT\r\n", "NOOP\n\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct talk *talk = begin();

		assert_string_equal(hear(talk, lines[i]), "421 4.7.0 lines end with CR LF, and with nothing else\r\n");
		assert_true(lmtp_has_ended(talk->lmtp));
		assert_string_equal(hear(talk, "NOOP\r\n"), "");
		end(talk);
	}
}

static void what_is_too_large_or_too_long_is_refused_and_the_session_goes_on(void **state)
{
	struct talk *talk = begin_mail();
	char line[1001];

	(void)state;
	memset(line, 'x', 998);
	memcpy(line + 998, "\r\n", 3);
	for (int i = 0; i < REPORT_BYTES_MOST / 1000 + 2; i++)
		assert_string_equal(hear(talk, line), "");
	assert_string_equal(hear(talk, ".\r\n"), "552 5.3.4 larger than a report is\r\n");
	hear(talk, "MAIL FROM:<>\r\nRCPT TO:<a@shop.example>\r\nDATA\r\n");
	line[998] = 0;
	for (int i = 0; i < 5; i++)
		hear(talk, line);
	assert_string_equal(hear(talk, "\r\n.\r\n"), "550 5.6.0 a line of it is too long\r\n");
	assert_string_equal(hear(talk, "MAIL FROM:<> SIZE=99999999\r\n"), "552 5.3.4 larger than a report is\r\n");
	assert_string_equal(hear(talk, "NOOP\r\n"), "250 2.0.0 ok\r\n");
	hear(talk, line);
	assert_string_equal(hear(talk, line), "421 4.7.0 the line is too long\r\n");
	assert_int_equal(talk->taken.count, 0);
	end(talk);
}

static void what_makes_no_sense_is_answered_and_in_the_end_not_listened_to(void **state)
{
	static const struct {
		const char *line, *answer;
	} all[] = { { "EHLO mx.example\r\n", "500 5.5.2" }, { "HELO mx.example\r\n", "500 5.5.2" },
		{ "RCPT TO:<a@shop.example>\r\n", "503 5.5.1" }, { "DATA\r\n", "503 5.5.1" },
		{ "LHLO\r\n", "501 5.5.4" }, { "MAIL FROM:a@b.example\r\n", "501 5.5.4" },
		{ "MAIL FROM:<a@b.example> RET=FULL\r\n", "555 5.5.4" }, { "MAIL FROM:<> SIZE=1x\r\n", "501 5.5.4" },
		{ "\r\n", "500 5.5.2" }, { "NO\xc3\xb6P\r\n", "500 5.5.2" }, { "STARTTLS\r\n", "421 4.7.0" } };
	struct talk *talk = begin();

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_memory_equal(hear(talk, all[i].line), all[i].answer, 9);
	assert_true(lmtp_has_ended(talk->lmtp));
	end(talk);
}

static void who_says_much_and_sends_no_mail_is_not_listened_to(void **state)
{
	static const char *const chatter[] = { "NOOP\r\n", "RSET\r\n", "VRFY x\r\n", "LHLO x\r\n",
		"MAIL FROM:<>\r\nRSET\r\n", "MAIL FROM:<>\r\nRCPT TO:<a@shop.example>\r\nDATA\r\na\nb\r\n.\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(chatter) / sizeof(chatter[0]); i++) {
		struct talk *talk = begin();
		int heard = 0;

		while (!lmtp_has_ended(talk->lmtp) && heard++ < 1000)
			hear(talk, chatter[i]);
		assert_in_range(heard, 80, 260);
		end(talk);
	}
}

/* A server that keeps its connection for the next mail, and says NOOP meanwhile. */
static void after_a_mail_the_commands_are_counted_anew(void **state)
{
	struct talk *talk = begin();

	(void)state;
	for (int mails = 0; mails < 5; mails++) {
		for (int i = 0; i < 200; i++)
			assert_string_equal(hear(talk, "NOOP\r\n"), "250 2.0.0 ok\r\n");
		hear(talk, "MAIL FROM:<>\r\nRCPT TO:<a@shop.example>\r\nDATA\r\nSubject: x\r\n\r\nx\r\n.\r\n");
		lmtp_answer(talk->lmtp, "250 2.0.0 ok");
		assert_string_equal(said(talk), "250 2.0.0 ok\r\n");
	}
	end(talk);
}

/* ---- in parts ---- */

enum { LARGE = 5 * 1024 * 1024 };

static struct parts {
	size_t bytes, largest, begun_anew;
	int taken;
} parts;

static enum lmtp_knows knows_by_size(void *self, const char *recipient)
{
	const struct talk *talk = self;

	if (strstr(recipient, "small") && lmtp_size_said(talk->lmtp) > 100)
		return LMTP_TOO_LARGE;
	return strstr(recipient, "another") ? LMTP_ANOTHER : LMTP_KNOWN;
}

static size_t bytes_most(void *self)
{
	(void)self;
	return LARGE;
}

static bool is_in_parts(void *self)
{
	(void)self;
	return true;
}

static void hear_part(void *self, struct bytes part)
{
	const struct talk *talk = self;

	parts.bytes += part.len;
	parts.largest = part.len > parts.largest ? part.len : parts.largest;
	assert_true(lmtp_mail_bytes(talk->lmtp) <= 64 * 1024);
}

static void take_parts(void *self, const struct lmtp_mail *mail)
{
	(void)self;
	assert_int_equal(mail->bytes.len, 0);
	assert_string_equal(mail->sender, "ada@mail.example");
	parts.taken++;
}

static void begin_anew(void *self)
{
	(void)self;
	parts.begun_anew++;
}

static struct talk *begin_parts(void)
{
	struct talk *talk = calloc(1, sizeof(*talk));
	const struct lmtp_owner owner = { .self = talk,
		.knows = knows_by_size,
		.size_most = LARGE,
		.bytes_most = bytes_most,
		.is_in_parts = is_in_parts,
		.part = hear_part,
		.begin_anew = begin_anew,
		.take = take_parts };

	parts = (struct parts){ 0 };
	talk->lmtp = lmtp_new(&owner);
	said(talk);
	assert_non_null(strstr(hear(talk, "LHLO mx.example\r\n"), "250 SIZE 5242880\r\n"));
	return talk;
}

static void hear_lines(struct talk *talk, size_t bytes)
{
	static char lines[4096];

	for (size_t i = 0; i < sizeof(lines); i += 64)
		memcpy(lines + i, "01234567890123456789012345678901234567890123456789012345678901\r\n", 64);
	for (; bytes > 0; bytes -= sizeof(lines))
		lmtp_hear(talk->lmtp, BYTES(lines, sizeof(lines)));
}

static void a_large_mail_is_handed_over_while_it_comes(void **state)
{
	struct talk *talk = begin_parts();

	(void)state;
	hear(talk, "MAIL FROM:<ada@mail.example> SIZE=5242880\r\nRCPT TO:<forms@shop.example>\r\nDATA\r\n");
	hear_lines(talk, LARGE);
	assert_int_equal(parts.taken, 0);
	assert_string_equal(hear(talk, ".\r\n"), "");
	assert_int_equal(parts.taken, 1);
	assert_int_equal(parts.bytes, LARGE);
	assert_true(parts.largest <= 64 * 1024);
	lmtp_answer(talk->lmtp, "250 2.0.0 ok");
	assert_string_equal(said(talk), "250 2.0.0 ok\r\n");
	end(talk);
}

static void a_mail_that_is_larger_than_its_address_takes_is_not_taken(void **state)
{
	struct talk *talk = begin_parts();
	size_t before;

	(void)state;
	assert_string_equal(hear(talk, "MAIL FROM:<ada@mail.example> SIZE=5242881\r\n"),
		"552 5.3.4 larger than any address here takes\r\n");
	/* What was said of a mail that was refused is not said of the next one. */
	assert_string_equal(hear(talk, "MAIL FROM:<ada@mail.example>\r\nRCPT TO:<small@shop.example>\r\nRSET\r\n"),
		"250 2.1.0 ok\r\n250 2.1.5 ok\r\n250 2.0.0 ok\r\n");
	assert_string_equal(hear(talk, "MAIL FROM:<ada@mail.example> SIZE=101\r\nRCPT TO:<small@shop.example>\r\n"),
		"250 2.1.0 ok\r\n552 5.3.4 larger than this address takes\r\n");
	assert_string_equal(hear(talk, "RCPT TO:<forms@shop.example>\r\nRCPT TO:<another@shop.example>\r\nDATA\r\n"),
		"250 2.1.5 ok\r\n452 4.5.3 this address takes a mail of its own; come again\r\n354 go on\r\n");
	before = parts.begun_anew;
	hear_lines(talk, LARGE + 4096);
	assert_string_equal(hear(talk, ".\r\n"), "552 5.3.4 larger than this address takes\r\n");
	assert_int_equal(parts.taken, 0);
	assert_int_equal(parts.begun_anew, before + 1); /* what came of it goes */
	end(talk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_mail_is_handed_over_while_it_comes),
		cmocka_unit_test(a_mail_that_is_larger_than_its_address_takes_is_not_taken),
		cmocka_unit_test(a_mail_is_answered_for_each_recipient_when_it_is_known_what_became_of_it),
		cmocka_unit_test(mails_that_come_at_once_are_taken_one_after_the_other),
		cmocka_unit_test(nothing_is_taken_for_whom_nobody_here_knows),
		cmocka_unit_test(only_cr_lf_dot_cr_lf_ends_a_mail),
		cmocka_unit_test(a_command_that_does_not_end_as_it_must_ends_the_session),
		cmocka_unit_test(what_is_too_large_or_too_long_is_refused_and_the_session_goes_on),
		cmocka_unit_test(what_makes_no_sense_is_answered_and_in_the_end_not_listened_to),
		cmocka_unit_test(who_says_much_and_sends_no_mail_is_not_listened_to),
		cmocka_unit_test(after_a_mail_the_commands_are_counted_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
