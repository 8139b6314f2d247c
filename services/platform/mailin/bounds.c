/*
 * bounds.c: checks whether a library may parse this mail
 *
 * A parser recurses once for each group in a list of addresses and for each part in a part, and makes an
 * object of each part; the writer of the mail chooses how many there are. So they are counted before. Each
 * line that could be a header field must keep the bounds, also in a body: only the parser knows which lines
 * are headers, and a check that disagreed with it would leave a gap.
 *
 * Promises:  one pass over the bytes, without memory; a mail within the bounds makes no parser go deeper than
 *            a few hundred calls.
 * Fails by:  words. A mail that is refused without need is put aside, and is not lost.
 * Read next: report.c (the caller), reader.h (the second guard)
 */
#include "services/platform/mailin/report.h"
#include <stdbool.h>
#include <strings.h>

enum {
	FIELD_BYTES_MOST = 64 * 1024, /* of one header, folded lines included; mail servers refuse much shorter ones */
	HEADER_BYTES_MOST = 256 * 1024, /* of all lines before the first empty one */
	NESTED_MOST = 32,               /* marks in a list of addresses that may open a group or a comment */
	TYPES_MOST = 200,               /* Content-Type fields: parts, one in the other or side by side */
	BOUNDARIES_MOST = 2000          /* lines that may separate parts */
};

struct field {
	bool is_field, is_addresses;
	size_t len, nested;
};

struct count {
	struct field field;
	bool in_first; /* before the first empty line */
	size_t first_len, types, boundaries;
};

/* Takes the next line with its end; *rest then begins after it. */
static struct bytes take_line(struct bytes *rest)
{
	const char *from = rest->data, *feed = memchr(from, '\n', rest->len);
	size_t len = feed ? (size_t)(feed - from) + 1 : rest->len;
	*rest = BYTES(from + len, rest->len - len);
	return BYTES(from, len);
}

static bool is_empty(struct bytes line)
{
	const char *text = line.data;
	return line.len == 1 ? text[0] == '\n' : line.len == 2 && text[0] == '\r' && text[1] == '\n';
}

/* The length of a header field's name, without blanks before the colon; 0: the line begins no field. */
static size_t name_of(struct bytes line)
{
	const char *text = line.data, *colon = memchr(text, ':', line.len);
	size_t len = colon ? (size_t)(colon - text) : 0;
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return 0;
	return len;
}

static bool is_name(struct bytes line, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(line.data, name, len) == 0;
}

static bool holds_addresses(struct bytes line, size_t len)
{
	static const char *const names[] = { "From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Resent-From",
		"Resent-Sender", "Resent-Reply-To", "Resent-To", "Resent-Cc", "Resent-Bcc", "Return-Path",
		"Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "Original-Mail-From",
		"Disposition-Notification-To" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_name(line, len, names[i]))
			return true;
	return false;
}

static size_t count_nested(struct bytes line)
{
	const char *text = line.data;
	size_t nested = 0;
	for (size_t i = 0; i < line.len; i++)
		nested += text[i] == ':' || text[i] == '(';
	return nested;
}

static void begin_field(struct count *count, struct bytes line)
{
	size_t len = name_of(line);
	count->field = (struct field){ .is_field = len > 0, .is_addresses = len > 0 && holds_addresses(line, len) };
	count->types += is_name(line, len, "Content-Type");
	count->boundaries += line.len > 3 && memcmp(line.data, "--", 2) == 0;
}

static void take(struct count *count, struct bytes line)
{
	const char first = *(const char *)line.data;
	count->in_first &= !is_empty(line);
	count->first_len += count->in_first ? line.len : 0;
	if (first != ' ' && first != '\t')
		begin_field(count, line);
	count->field.len += line.len;
	count->field.nested += count->field.is_addresses ? count_nested(line) : 0;
}

static const char *trouble_of(const struct count *count)
{
	if (count->field.nested > NESTED_MOST)
		return "a header of it nests groups of addresses too deep";
	if (count->field.is_field && count->field.len > FIELD_BYTES_MOST)
		return "a header of it is longer than 64 KB";
	if (count->first_len > HEADER_BYTES_MOST)
		return "its headers are longer than 256 KB";
	if (count->types > TYPES_MOST || count->boundaries > BOUNDARIES_MOST)
		return "it has too many parts";
	return NULL;
}

const char *bounds_trouble(struct bytes mail)
{
	struct count count = { .in_first = true };
	const char *trouble = NULL;
	while (mail.len > 0 && !trouble) {
		take(&count, take_line(&mail));
		trouble = trouble_of(&count);
	}
	return trouble;
}
