/*
 * compose.c: a whole MIME message, the same bytes for the same parts
 *
 * Promises:  exactly one of each header; CRLF alone ends a line; no line is longer than 998 bytes (ours: 998 only for a URL, else
 *            76); the boundary cannot occur in a body, because quoted-printable never leaves "=_" standing.
 * Fails by:  -EINVAL and which part was wrong.
 * Read next: header.c, letter/render.c (who makes the parts)
 */
#include "services/kit/mail/compose.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>

enum { LINE_MOST = 998, QUOTED_LINE_MOST = 76, HEADERS_ROOM = 2048 /* and what quoting adds */ };

void mail_free(struct mail *mail)
{
	if (!mail)
		return;
	buffer_free(&mail->mime);
	free(mail);
}

DEFINE_CLEANUP(struct mail *, mail_free)

/* Most bytes of a mail: what is not goes to must_quote. */
static inline bool is_graphic(char byte)
{
	return byte > ' ' && byte < 0x7f && byte != '=';
}

static bool must_quote(const char *at, size_t column)
{
	if (is_graphic(*at)) /* no line that a mail server or an mbox could take for its own */
		return column == 0 && (*at == '.' || (*at == 'F' && strncmp(at, "From ", 5) == 0));
	if (*at == ' ' || *at == '\t')
		return at[1] == '\n' || at[1] == 0; /* blanks at a line's end get lost on the way */
	return true;
}

/* How many bytes from here, of at most so many, stand for themselves. */
static size_t count_plain(const char *at, size_t column, size_t most)
{
	size_t count = 0;
	if (column == 0 && must_quote(at, column))
		return 0;
	while (count < most && (is_graphic(at[count]) || !must_quote(at + count, column + count)))
		count++; /* an end is no such byte */
	return count;
}

static void add_quoted(struct buffer *ret, char byte)
{
	static const char digits[] = "0123456789ABCDEF";
	char quoted[3] = { '=', digits[(unsigned char)byte >> 4], digits[(unsigned char)byte & 15] };
	buffer_add(ret, quoted, sizeof(quoted));
}

void mail_quoted_printable(struct buffer *ret, const char *text)
{
	const size_t most = QUOTED_LINE_MOST - 1; /* one for the "=" that breaks the line */
	size_t column = 0;
	while (*text) {
		size_t plain = count_plain(text, column, most - column);
		buffer_add(ret, text, plain);
		text += plain;
		column += plain;
		if (*text == '\n') {
			buffer_add_text(ret, "\r\n");
			text++;
			column = 0;
		} else if (*text && column + (must_quote(text, column) ? 3 : 1) > most) {
			buffer_add_text(ret, "=\r\n");
			column = 0;
		} else if (*text) {
			add_quoted(ret, *text++);
			column += 3;
		}
	}
	if (column)
		buffer_add_text(ret, "\r\n");
}

static bool line_valid(const char *line, size_t len)
{
	return len > 0 && len - 1 <= LINE_MOST && line[len - 1] == '\r' && !memchr(line, '\r', len - 1);
}

bool mail_lines_valid(struct bytes mime)
{
	const char *line = mime.data, *end = line + mime.len, *newline;
	if (mime.len == 0 || memchr(line, 0, mime.len))
		return false;
	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline || !line_valid(line, (size_t)(newline - line)))
			return false;
	}
	return true;
}

bool mail_envelope_valid(const char *address)
{
	const char *at = strrchr(address, '@');
	if (!at || at == address || !at[1] || strlen(address) > ADDRESS_MAX)
		return false;
	for (const char *c = address; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("<>()[],;:\\\"", *c))
			return false;
	return true;
}

static int wrong(char ret_why[160], const char *part)
{
	snprintf(ret_why, 160, "%s cannot stand in a mail: it is missing, malformed, or contains a line break", part);
	return -EINVAL;
}

static int add_unsubscribe(struct buffer *mime, const char *url, char ret_why[160])
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	if (strpbrk(url, "<> \t"))
		return wrong(ret_why, "the unsubscribe link");
	buffer_printf(&value, "<%s>", url);
	if (mail_header_plain(mime, "List-Unsubscribe", buffer_text(&value)) < 0)
		return wrong(ret_why, "the unsubscribe link");
	return mail_header_plain(mime, "List-Unsubscribe-Post", "List-Unsubscribe=One-Click"); /* RFC 8058 */
}

static int add_list_id(struct buffer *mime, const char *list_id)
{
	char value[300];
	if (strpbrk(list_id, "<> ") || snprintf(value, sizeof(value), "<%s>", list_id) >= (int)sizeof(value))
		return -EINVAL;
	return mail_header_plain(mime, "List-Id", value);
}

static int add_headers(struct buffer *mime, const struct mail_parts *parts, char ret_why[160])
{
	char id[220];
	snprintf(id, sizeof(id), "<%s>", parts->message_id);
	mail_header_date(mime, parts->now_us);
	if (mail_header_mailbox(mime, "From", parts->from) < 0)
		return wrong(ret_why, "the sender (mail from)");
	if (mail_header_mailbox(mime, "To", parts->to) < 0)
		return wrong(ret_why, "the recipient's address");
	if (parts->reply_to && *parts->reply_to && mail_header_mailbox(mime, "Reply-To", parts->reply_to) < 0)
		return wrong(ret_why, "the reply-to address");
	if (mail_header_text(mime, "Subject", parts->subject) < 0)
		return wrong(ret_why, "the subject");
	if (!parts->message_id[0] || strpbrk(parts->message_id, "<> ") || mail_header_plain(mime, "Message-ID", id) < 0)
		return wrong(ret_why, "the message id");
	mail_header_plain(mime, "Auto-Submitted", "auto-generated"); /* RFC 3834: no vacation notes, please */
	if (parts->list_id && add_list_id(mime, parts->list_id) < 0)
		return wrong(ret_why, "the list's id");
	if (parts->list_unsubscribe)
		return add_unsubscribe(mime, parts->list_unsubscribe, ret_why);
	return 0;
}

static void add_part(struct buffer *mime, const char *type, const char *body)
{
	buffer_printf(
		mime, "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", type);
	mail_quoted_printable(mime, body);
}

static void add_bodies(struct buffer *mime, const struct mail_parts *parts)
{
	char boundary[40];
	snprintf(boundary, sizeof(boundary), "=_%016llx", (unsigned long long)text_hash(bytes_of(parts->message_id)));
	mail_header_plain(mime, "MIME-Version", "1.0");
	if (!parts->html) {
		add_part(mime, "text/plain", parts->text);
		return;
	}
	buffer_printf(mime, "Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n--%s\r\n", boundary, boundary);
	add_part(mime, "text/plain", parts->text);
	buffer_printf(mime, "\r\n--%s\r\n", boundary);
	add_part(mime, "text/html", parts->html);
	buffer_printf(mime, "\r\n--%s--\r\n", boundary);
}

static int set_envelope(struct mail *mail, const struct mail_parts *parts, char ret_why[160])
{
	char name[200];
	const char *from = parts->bounce && *parts->bounce ? parts->bounce : parts->from;
	if (mailbox_split(from, name, mail->envelope_from) < 0 || !mail_envelope_valid(mail->envelope_from))
		return wrong(ret_why, "the bounce address");
	if (mailbox_split(parts->to, name, mail->envelope_to) < 0 || !mail_envelope_valid(mail->envelope_to))
		return wrong(ret_why, "the recipient's address");
	if (!TEXT_COPY(mail->message_id, parts->message_id))
		return wrong(ret_why, "the message id");
	return 0;
}

int mail_compose(const struct mail_parts *parts, struct mail **ret, char ret_why[160])
{
	_cleanup_(mail_freep) struct mail *mail = memory_new(sizeof(*mail));
	if (!text_is_utf8(bytes_of(parts->text)) || (parts->html && !text_is_utf8(bytes_of(parts->html))))
		return wrong(ret_why, "the text");
	int r = set_envelope(mail, parts, ret_why);
	buffer_grow(&mail->mime, HEADERS_ROOM + strlen(parts->text) + (parts->html ? strlen(parts->html) : 0));
	if (r == 0)
		r = add_headers(&mail->mime, parts, ret_why);
	if (r < 0)
		return r;
	add_bodies(&mail->mime, parts);
	if (!mail_lines_valid(buffer_bytes(&mail->mime)))
		return wrong(ret_why, "the text");
	*ret = TAKE(mail);
	return 0;
}

int mail_pages(const char *from, const char *to, const char *subject, const char *text, const char *html,
	const char *message_id, int64_t now_us, struct mail **ret, char ret_why[160])
{
	return mail_compose(&(struct mail_parts){ .from = from,
				    .to = to,
				    .subject = subject,
				    .message_id = message_id,
				    .text = text,
				    .html = html && *html ? html : NULL,
				    .now_us = now_us },
		ret, ret_why);
}

int mail_note(const char *from, const char *to, const char *subject, const char *body, const char *message_id,
	int64_t now_us, struct mail **ret, char ret_why[160])
{
	return mail_pages(from, to, subject, body, NULL, message_id, now_us, ret, ret_why);
}
