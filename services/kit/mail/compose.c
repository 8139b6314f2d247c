/*
 * compose.c: makes a whole MIME message; the same parts give the same bytes
 *
 * Promises:  there is exactly one of each header; only CRLF ends a line; no line is longer than 998 bytes
 *            (ours: 998 only for a URL, else 76); the boundary cannot occur in a body, because
 *            quoted-printable never leaves "=_" in it.
 * Fails by:  -EINVAL; ret_why names the wrong part.
 * Read next: letter/render.c (makes the parts)
 */
#include "services/kit/mail/compose.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <openssl/evp.h>
#include <time.h>

enum { LINE_MOST = 998 /* RFC 5322, 2.1.1 */, QUOTED_LINE_MOST = 76, HEADERS_ROOM = 2048 /* and what quoting adds */ };

void mail_free(struct mail *mail)
{
	if (!mail)
		return;
	buffer_free(&mail->mime);
	free(mail);
}

DEFINE_CLEANUP(struct mail *, mail_free)

/* True for most bytes of a mail; must_quote decides on the others. */
static inline bool is_graphic(char byte)
{
	return byte > ' ' && byte < 0x7f && byte != '=';
}

static bool must_quote(const char *at, size_t column)
{
	if (is_graphic(*at)) /* at the start of a line "." means something to SMTP, and "From " to an mbox */
		return column == 0 && (*at == '.' || (*at == 'F' && strncmp(at, "From ", 5) == 0));
	if (*at == ' ' || *at == '\t')
		return at[1] == '\n' || at[1] == 0; /* blanks at a line's end get lost on the way */
	return true;
}

/* How many of the next bytes need no quoting, at most `most`. */
static size_t count_plain(const char *at, size_t column, size_t most)
{
	size_t count = 0;
	if (column == 0 && must_quote(at, column))
		return 0;
	while (count < most && (is_graphic(at[count]) || !must_quote(at + count, column + count)))
		count++; /* stops at the end of the text: must_quote is true for NUL */
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

/*
 * Header lines, which no value can end or extend
 *
 * Promises:  one call makes one header. A value that contains CR, LF, another control character or bytes that
 *            are not UTF-8 is refused. Encoded words have at most 75 characters, never split a character and
 *            never stand inside an address (RFC 2047).
 * Fails by:  -EINVAL.
 */

enum {
	LINE_SHORT = 76, /* the limit of a line with an encoded word (RFC 2047, section 2); we fold all lines at it */
	ENCODED_WORD_BYTES = 45, /* 60 characters of base64 and 12 around them: 72, of the 75 that RFC 2047 allows */
	AROUND_WORD = 12,        /* =?UTF-8?B? and ?= */
};

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if (*text & 0x80)
			return false;
	return true;
}

static bool value_valid(const char *value)
{
	return text_is_utf8(bytes_of(value)) && !text_has_control(value);
}

static bool is_between_characters(const char *text, size_t at)
{
	return (text[at] & 0xc0) != 0x80;
}

/*
 * How many bytes of `text` to take, at most `most`, without cutting a character, so that base64 ends with
 * padding at the end of the text alone. Readers that join words before they decode them (GMime) stop at
 * padding. 0: there is no such place.
 */
static size_t base64_length(const char *text, size_t most)
{
	size_t len = strlen(text);
	if (len <= most)
		return len;
	for (len = most - most % 3; len > 0 && !is_between_characters(text, len);)
		len -= 3;
	return len;
}

static size_t add_base64_word(struct buffer *ret, const char *text, size_t len)
{
	unsigned char base64[4 * ENCODED_WORD_BYTES / 3 + 4];
	EVP_EncodeBlock(base64, (const unsigned char *)text, (int)len);
	buffer_printf(ret, "=?UTF-8?B?%s?=", (const char *)base64);
	return len;
}

/* At most `most` bytes, each as "=XX", which has no padding. Returns how many. */
static size_t add_quoted_word(struct buffer *ret, const char *text, size_t most)
{
	size_t len = strnlen(text, most);
	while (!is_between_characters(text, len))
		len--;
	buffer_add_text(ret, "=?UTF-8?Q?");
	for (size_t i = 0; i < len; i++)
		buffer_printf(ret, "=%02X", (unsigned char)text[i]);
	buffer_add_text(ret, "?=");
	return len;
}

/* `column`: where the first word begins in its line. */
static void add_encoded_words(struct buffer *ret, const char *text, size_t column)
{
	assert(column < LINE_SHORT / 2); /* the names of headers are ours, and short */
	size_t room = LINE_SHORT - AROUND_WORD - column;
	for (const char *before = ""; *text; before = "\r\n ", room = ENCODED_WORD_BYTES / 3 * 4) {
		size_t most = room / 4 * 3;
		size_t len = base64_length(text, most < ENCODED_WORD_BYTES ? most : ENCODED_WORD_BYTES);
		buffer_add_text(ret, before);
		text += len > 0 ? add_base64_word(ret, text, len) : add_quoted_word(ret, text, room / 3);
	}
}

int mail_header_text(struct buffer *ret, const char *name, const char *value)
{
	if (!value_valid(value))
		return -EINVAL;
	buffer_printf(ret, "%s: ", name);
	if (is_ascii(value) && !strstr(value, "=?") && strlen(name) + 2 + strlen(value) <= LINE_SHORT)
		buffer_add_text(ret, value);
	else
		add_encoded_words(ret, value, strlen(name) + 2);
	buffer_add_text(ret, "\r\n");
	return 0;
}

int mail_header_plain(struct buffer *ret, const char *name, const char *value)
{
	if (!value_valid(value) || !is_ascii(value) || strlen(name) + 2 + strlen(value) > LINE_MOST)
		return -EINVAL;
	buffer_add_text(ret, name);
	buffer_add_text(ret, ": ");
	buffer_add_text(ret, value);
	buffer_add_text(ret, "\r\n");
	return 0;
}

static void unquote(char *name)
{
	size_t len = strlen(name);
	if (len < 2 || name[0] != '"' || name[len - 1] != '"')
		return;
	char *to = name;
	for (const char *at = name + 1; at < name + len - 1; at++) {
		if (*at == '\\' && at + 1 < name + len - 1)
			at++;
		*to++ = *at;
	}
	*to = 0;
}

/* Splits a mailbox into its name and its address, and normalises the address. */
static int mailbox_split(const char *mailbox, char ret_name[200], char ret_address[ADDRESS_MAX + 1])
{
	const char *open = strrchr(mailbox, '<');
	ret_name[0] = 0;
	if (!value_valid(mailbox))
		return -EINVAL;
	if (!open)
		return address_normalise(mailbox, ret_address);
	size_t name = (size_t)(open - mailbox);
	while (name && mailbox[name - 1] == ' ')
		name--;
	char address[ADDRESS_MAX + 2];
	const char *close = strchr(open, '>');
	if (!close || close[1] || (size_t)(close - open) > sizeof(address))
		return -EINVAL;
	if (!text_copy_bytes(ret_name, 200, BYTES(mailbox, name)))
		return -EINVAL;
	text_copy_bytes(address, sizeof(address), BYTES(open + 1, (size_t)(close - open - 1)));
	unquote(ret_name);
	return address_normalise(address, ret_address);
}

static void add_quoted_name(struct buffer *ret, const char *name)
{
	buffer_add_text(ret, "\"");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			buffer_add_text(ret, "\\");
		buffer_add(ret, name, 1);
	}
	buffer_add_text(ret, "\"");
}

int mail_header_mailbox(struct buffer *ret, const char *name, const char *mailbox)
{
	char words[200], address[ADDRESS_MAX + 1];
	int r = mailbox_split(mailbox, words, address);
	if (r < 0)
		return r;
	buffer_printf(ret, "%s: ", name);
	if (!words[0]) {
		buffer_printf(ret, "%s\r\n", address);
		return 0;
	}
	if (is_ascii(words) && strlen(name) + strlen(words) < LINE_SHORT - 4)
		add_quoted_name(ret, words);
	else
		add_encoded_words(ret, words, strlen(name) + 2);
	buffer_printf(ret, "\r\n <%s>\r\n", address);
	return 0;
}

static void mail_header_date(struct buffer *ret, int64_t now_us)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
		"Nov", "Dec" };
	time_t seconds = (time_t)(now_us / US_PER_S);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	buffer_printf(ret, "Date: %s, %d %s %d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday], tm.tm_mday,
		months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* ---- the whole message ---- */

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
