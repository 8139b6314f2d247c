/*
 * lmtp.c: one session of LMTP (RFC 2033, over RFC 5321): LHLO MAIL RCPT DATA RSET NOOP VRFY QUIT
 *
 * Promises:  only CR LF ends a line, and only CR LF . CR LF ends a mail. A mail with a bare CR or LF in it is
 *            refused, so no text that a stranger wrote into a mail is read as a command. Memory is bounded
 *            for any input. No mail server of Debian 12 offers this as a library.
 * Fails by:  a reply in the classes of RFC 3463; 421 and the end of the session after more than ten errors,
 *            or more than COMMANDS_MOST commands without a mail.
 * Read next: lmtp_server.c (sockets), delivery.c (handles a mail), report.h
 */
#include "services/platform/mailin/lmtp.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/mailin/report.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum {
	LINE_MOST = 1024,      /* of a command; RFC 5321 asks for 512, and extensions add more */
	TEXT_LINE_MOST = 4096, /* of a mail; RFC 5321 allows 1000 */
	ERRORS_MOST = 10,
	COMMANDS_MOST = 250,    /* between two mails: enough for a hundred recipients, most of whom get 452 */
	PART_BYTES = 32 * 1024, /* of a part, when a mail is handed over in parts */
	REST_MOST = 7 * REPORT_BYTES_MOST, /* so much of a mail that is too large is read on */
};

/* The position in a mail's text. */
enum place { LINE_START, IN_LINE, AFTER_CR, AFTER_DOT, AFTER_DOT_CR };

struct lmtp {
	struct lmtp_owner owner;
	struct buffer in, out;
	bool greeted, has_sender, in_data, waits, ended;
	bool hears; /* lmtp_hear is running */
	int errors;
	int commands; /* since the session began, or since its last mail */
	int recipient_count;
	char sender[ADDRESS_MAX + 1];
	uint64_t size_said;
	char recipients[LMTP_RECIPIENTS_MOST][ADDRESS_MAX + 1];
	/* the mail */
	struct buffer text;
	size_t heard, line_len;
	size_t text_len, bytes_most; /* bytes so far, handed over or not; the most that may come */
	bool is_in_parts;
	enum place place;
	bool too_large, too_long, bare;
};

static void take_off(struct buffer *buffer, size_t len)
{
	memmove(buffer->data, buffer->data + len, buffer->len - len);
	buffer->len -= len;
}

static void reply(struct lmtp *lmtp, const char *text)
{
	buffer_printf(&lmtp->out, "%s\r\n", text);
}

void lmtp_bid_farewell(struct lmtp *lmtp, const char *text)
{
	reply(lmtp, text);
	lmtp->ended = true;
}

static void refuse(struct lmtp *lmtp, const char *text)
{
	if (++lmtp->errors > ERRORS_MOST)
		lmtp_bid_farewell(lmtp, "421 4.7.0 too many errors");
	else
		reply(lmtp, text);
}

static void begin_anew(struct lmtp *lmtp)
{
	lmtp->has_sender = false;
	lmtp->in_data = false;
	lmtp->recipient_count = 0;
	lmtp->size_said = 0;
	buffer_free(&lmtp->text);
	if (lmtp->owner.begin_anew)
		lmtp->owner.begin_anew(lmtp->owner.self);
}

static size_t size_most(const struct lmtp *lmtp)
{
	return lmtp->owner.size_most ? lmtp->owner.size_most : REPORT_BYTES_MOST;
}

struct lmtp *lmtp_new(const struct lmtp_owner *owner)
{
	struct lmtp *lmtp = memory_new(sizeof(*lmtp));

	lmtp->owner = *owner;
	reply(lmtp, "220 localhost LMTP cartbus");
	return lmtp;
}

void lmtp_free(struct lmtp *lmtp)
{
	if (!lmtp)
		return;
	buffer_free(&lmtp->in);
	buffer_free(&lmtp->out);
	buffer_free(&lmtp->text);
	free(lmtp);
}

/* ---- commands ---- */

/* Reads "<address> parameters". false: it does not begin with a path. */
static bool read_path(const char *text, char ret[ADDRESS_MAX + 1], const char **ret_rest)
{
	const char *end = strchr(text, '>');

	text += strspn(text, " ");
	if (*text != '<' || !end || (end[1] && end[1] != ' '))
		return false;
	*ret_rest = end + 1 + strspn(end + 1, " ");
	return text_copy_bytes(ret, ADDRESS_MAX + 1, BYTES(text + 1, (size_t)(end - text - 1)));
}

static const char *too_large(const struct lmtp *lmtp)
{
	return size_most(lmtp) == REPORT_BYTES_MOST ? "552 5.3.4 larger than a report is"
						    : "552 5.3.4 larger than any address here takes";
}

static const char *trouble_with(struct lmtp *lmtp, const char *parameter, size_t len)
{
	char *end;

	if (len > 5 && strncasecmp(parameter, "SIZE=", 5) == 0 && isdigit((unsigned char)parameter[5])) {
		unsigned long long size = strtoull(parameter + 5, &end, 10);
		if (end != parameter + len)
			return "501 5.5.4 SIZE is no number";
		lmtp->size_said = size;
		return size > size_most(lmtp) ? too_large(lmtp) : NULL;
	}
	if ((len == 9 && strncasecmp(parameter, "BODY=7BIT", len) == 0) ||
		(len == 13 && strncasecmp(parameter, "BODY=8BITMIME", len) == 0))
		return NULL;
	return "555 5.5.4 no such parameter here";
}

static void hear_mail(struct lmtp *lmtp, const char *text)
{
	const char *rest, *trouble = NULL;

	if (!lmtp->greeted || lmtp->has_sender) {
		refuse(lmtp, "503 5.5.1 not now");
		return;
	}
	if (strncasecmp(text, "FROM:", 5) != 0 || !read_path(text + 5, lmtp->sender, &rest)) {
		refuse(lmtp, "501 5.5.4 expected MAIL FROM:<address>");
		return;
	}
	lmtp->size_said = 0;
	for (size_t len; *rest && !trouble; rest += len + strspn(rest + len, " ")) {
		len = strcspn(rest, " ");
		trouble = trouble_with(lmtp, rest, len);
	}
	text_make_plain(lmtp->sender); /* strangers write it, and it may go into a message */
	lmtp->has_sender = !trouble;
	if (trouble)
		refuse(lmtp, trouble);
	else
		reply(lmtp, "250 2.1.0 ok");
}

static void add_recipient(struct lmtp *lmtp, const char *recipient)
{
	switch (lmtp->owner.knows(lmtp->owner.self, recipient)) {
	case LMTP_KNOWN:
		TEXT_COPY(lmtp->recipients[lmtp->recipient_count++], recipient);
		reply(lmtp, "250 2.1.5 ok");
		break;
	case LMTP_UNKNOWN:
		refuse(lmtp, "550 5.1.1 no shop's bounces go there");
		break;
	case LMTP_CANNOT_TELL:
		reply(lmtp, "451 4.3.0 away from the broker; come again");
		break;
	case LMTP_TOO_LARGE:
		refuse(lmtp, "552 5.3.4 larger than this address takes");
		break;
	case LMTP_ANOTHER:
		reply(lmtp, "452 4.5.3 this address takes a mail of its own; come again");
		break;
	}
}

static void hear_rcpt(struct lmtp *lmtp, const char *text)
{
	char given[ADDRESS_MAX + 1], recipient[ADDRESS_MAX + 1];
	const char *rest;

	if (!lmtp->has_sender)
		refuse(lmtp, "503 5.5.1 first MAIL");
	else if (strncasecmp(text, "TO:", 3) != 0 || !read_path(text + 3, given, &rest))
		refuse(lmtp, "501 5.5.4 expected RCPT TO:<address>");
	else if (*rest)
		refuse(lmtp, "555 5.5.4 no parameters here");
	else if (address_normalise(given, recipient) < 0)
		refuse(lmtp, "553 5.1.3 no address");
	else if (lmtp->recipient_count == LMTP_RECIPIENTS_MOST)
		reply(lmtp, "452 4.5.3 too many recipients");
	else
		add_recipient(lmtp, recipient);
}

static void hear_lhlo(struct lmtp *lmtp, const char *text)
{
	if (!*text) {
		refuse(lmtp, "501 5.5.4 expected LHLO and a name");
		return;
	}
	begin_anew(lmtp);
	lmtp->greeted = true;
	buffer_printf(&lmtp->out,
		"250-localhost\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250 SIZE %zu\r\n",
		size_most(lmtp));
}

static void hear_data(struct lmtp *lmtp, const char *text)
{
	if (*text || lmtp->recipient_count == 0) {
		refuse(lmtp, *text ? "501 5.5.4 DATA takes nothing" : "503 5.5.1 no recipient");
		return;
	}
	if (lmtp->owner.has_room && !lmtp->owner.has_room(lmtp->owner.self)) {
		reply(lmtp, "452 4.3.1 too many mails at once; come again");
		return;
	}
	lmtp->in_data = true;
	lmtp->place = LINE_START;
	lmtp->heard = lmtp->line_len = lmtp->text_len = 0;
	lmtp->bytes_most = lmtp->owner.bytes_most ? lmtp->owner.bytes_most(lmtp->owner.self) : size_most(lmtp);
	lmtp->is_in_parts = lmtp->owner.is_in_parts && lmtp->owner.is_in_parts(lmtp->owner.self);
	lmtp->too_large = lmtp->too_long = lmtp->bare = false;
	reply(lmtp, "354 go on");
}

static void hear_rset(struct lmtp *lmtp, const char *text)
{
	(void)text;
	begin_anew(lmtp);
	reply(lmtp, "250 2.0.0 ok");
}

static void hear_noop(struct lmtp *lmtp, const char *text)
{
	(void)text;
	reply(lmtp, "250 2.0.0 ok");
}

static void hear_vrfy(struct lmtp *lmtp, const char *text)
{
	(void)text;
	reply(lmtp, "252 2.5.0 try it");
}

static void hear_quit(struct lmtp *lmtp, const char *text)
{
	(void)text;
	lmtp_bid_farewell(lmtp, "221 2.0.0 bye");
}

static bool is_printable(const char *line)
{
	for (; *line; line++)
		if (*line < ' ' || *line > '~')
			return false;
	return true;
}

static void hear_command(struct lmtp *lmtp, const char *line)
{
	static const struct {
		const char *verb;
		void (*hear)(struct lmtp *lmtp, const char *text);
	} all[] = { { "LHLO", hear_lhlo }, { "MAIL", hear_mail }, { "RCPT", hear_rcpt }, { "DATA", hear_data },
		{ "RSET", hear_rset }, { "NOOP", hear_noop }, { "VRFY", hear_vrfy }, { "QUIT", hear_quit } };
	size_t len = strcspn(line, " ");

	if (++lmtp->commands > COMMANDS_MOST) {
		lmtp_bid_farewell(lmtp, "421 4.7.0 too many commands without a mail");
		return;
	}
	for (size_t i = 0; is_printable(line) && i < sizeof(all) / sizeof(all[0]); i++) {
		if (len != 4 || strncasecmp(line, all[i].verb, 4) != 0)
			continue;
		all[i].hear(lmtp, line + len + strspn(line + len, " "));
		return;
	}
	refuse(lmtp, "500 5.5.2 this is LMTP: LHLO MAIL RCPT DATA RSET NOOP VRFY QUIT");
}

/* Takes one line of `in`. false: it is not complete yet, or it ended the session. */
static bool hear_line(struct lmtp *lmtp)
{
	uint8_t *at = lmtp->in.data, *feed = lmtp->in.len ? memchr(at, '\n', lmtp->in.len) : NULL;
	size_t len = feed ? (size_t)(feed - at) + 1 : lmtp->in.len;
	char line[LINE_MOST];

	if (len > sizeof(line)) {
		lmtp_bid_farewell(lmtp, "421 4.7.0 the line is too long");
		return false;
	}
	if (!feed)
		return false;
	if (len < 2 || at[len - 2] != '\r' || memchr(at, '\r', len - 2) || memchr(at, 0, len)) {
		lmtp_bid_farewell(lmtp, "421 4.7.0 lines end with CR LF, and with nothing else");
		return false;
	}
	memcpy(line, at, len - 2);
	line[len - 2] = 0;
	take_off(&lmtp->in, len);
	hear_command(lmtp, line);
	return true;
}

/* ---- the mail ---- */

static void hand_over_part(struct lmtp *lmtp)
{
	if (!lmtp->is_in_parts || lmtp->text.len == 0)
		return;
	lmtp->owner.part(lmtp->owner.self, buffer_bytes(&lmtp->text));
	buffer_clear(&lmtp->text);
}

static void take_mail(struct lmtp *lmtp)
{
	hand_over_part(lmtp);
	const struct lmtp_mail mail = { .bytes = buffer_bytes(&lmtp->text),
		.sender = lmtp->sender,
		.count = lmtp->recipient_count,
		.recipients = lmtp->recipients };

	lmtp->commands = 0;
	lmtp->owner.take(lmtp->owner.self, &mail);
}

static void end_mail(struct lmtp *lmtp)
{
	lmtp->in_data = false;
	lmtp->waits = true;
	if (lmtp->bare)
		lmtp_answer(lmtp, "550 5.6.0 a bare CR or LF is in it");
	else if (lmtp->too_long)
		lmtp_answer(lmtp, "550 5.6.0 a line of it is too long");
	else if (lmtp->too_large)
		lmtp_answer(lmtp,
			lmtp->bytes_most == REPORT_BYTES_MOST ? "552 5.3.4 larger than a report is"
							      : "552 5.3.4 larger than this address takes");
	else
		take_mail(lmtp);
}

void lmtp_answer(struct lmtp *lmtp, const char *text)
{
	if (!lmtp->waits)
		return;
	for (int i = 0; i < lmtp->recipient_count; i++)
		reply(lmtp, text);
	lmtp->waits = false;
	begin_anew(lmtp);
	lmtp_hear(lmtp, BYTES("", 0));
}

static void add(struct lmtp *lmtp, const char *bytes, size_t len)
{
	lmtp->line_len += len;
	lmtp->too_long |= lmtp->line_len > TEXT_LINE_MOST;
	lmtp->too_large |= lmtp->text_len + len > lmtp->bytes_most;
	if (lmtp->too_large || lmtp->too_long || lmtp->bare)
		return;
	lmtp->text_len += len;
	buffer_add(&lmtp->text, bytes, len);
	if (lmtp->text.len >= PART_BYTES)
		hand_over_part(lmtp);
}

static enum place after_line_end(struct lmtp *lmtp)
{
	add(lmtp, "\r\n", 2);
	lmtp->line_len = 0;
	return LINE_START;
}

/* Takes a byte of a line: a CR may begin the line's end, and a bare LF is noted. */
static enum place in_line(struct lmtp *lmtp, char c)
{
	if (c == '\r')
		return AFTER_CR;
	lmtp->bare |= c == '\n';
	add(lmtp, &c, 1);
	return IN_LINE;
}

/* true: the mail has ended. */
static bool hear_byte(struct lmtp *lmtp, char c)
{
	switch (lmtp->place) {
	case LINE_START:
		lmtp->place = c == '.' ? AFTER_DOT : in_line(lmtp, c);
		break;
	case IN_LINE:
		lmtp->place = in_line(lmtp, c);
		break;
	case AFTER_CR:
		lmtp->bare |= c != '\n';
		lmtp->place = c == '\n' ? after_line_end(lmtp) : in_line(lmtp, c);
		break;
	case AFTER_DOT:
		lmtp->place = c == '\r' ? AFTER_DOT_CR : in_line(lmtp, c);
		break;
	case AFTER_DOT_CR:
		if (c == '\n')
			return true;
		lmtp->bare = true;
		lmtp->place = in_line(lmtp, c);
		break;
	}
	return false;
}

static void hear_text(struct lmtp *lmtp)
{
	size_t used = 0;
	bool ended = false;

	while (used < lmtp->in.len && !ended)
		ended = hear_byte(lmtp, (char)lmtp->in.data[used++]);
	lmtp->heard += used;
	take_off(&lmtp->in, used);
	if (lmtp->heard > lmtp->bytes_most + REST_MOST)
		lmtp_bid_farewell(lmtp, "421 4.3.4 larger than a report is");
	else if (ended)
		end_mail(lmtp);
}

void lmtp_hear(struct lmtp *lmtp, struct bytes bytes)
{
	bool more = true;

	buffer_add(&lmtp->in, bytes.data, bytes.len);
	if (lmtp->hears) /* an answer calls this from inside: the outer call goes on */
		return;
	lmtp->hears = true;
	while (more && !lmtp->ended && !lmtp->waits && lmtp->in.len > 0) {
		if (lmtp->in_data)
			hear_text(lmtp);
		else
			more = hear_line(lmtp);
	}
	lmtp->hears = false;
}

struct buffer *lmtp_out(struct lmtp *lmtp)
{
	return &lmtp->out;
}

uint64_t lmtp_size_said(const struct lmtp *lmtp)
{
	return lmtp->size_said;
}

bool lmtp_waits(const struct lmtp *lmtp)
{
	return lmtp->waits;
}

bool lmtp_holds_mail(const struct lmtp *lmtp)
{
	return lmtp->in_data || lmtp->waits;
}

size_t lmtp_mail_bytes(const struct lmtp *lmtp)
{
	return lmtp->text.len;
}

bool lmtp_has_ended(const struct lmtp *lmtp)
{
	return lmtp->ended;
}
