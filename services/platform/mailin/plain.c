/*
 * plain.c: turns a part of a mail into plain text
 *
 * Promises:  of a plain part at most PLAIN_MOST bytes are added; HTML is added until the whole text has that many.
 * Read next: report.c
 */
#include "services/platform/mailin/plain.h"
#include "bus/base/text.h"
#include "services/platform/mailin/words.h"
#include <string.h>
#include <strings.h>

enum { PLAIN_MOST = 4 * WORDS_MOST };

/* ---- text ---- */

static bool is_one_of(struct bytes name, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == name.len && strncasecmp(*names, name.data, name.len) == 0)
			return true;
	return false;
}

/*
 * What separates the words before a tag of HTML from those after it: the end of a line at a block and at a line
 * break, a space between the cells of a row, nothing at any other tag.
 */
static const char *separator_of(const char *tag)
{
	static const char *const blocks[] = { "address", "article", "aside", "blockquote", "body", "br", "caption",
		"center", "dd", "div", "dl", "dt", "fieldset", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
		"head", "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody",
		"tfoot", "thead", "title", "tr", "ul", NULL };
	static const char *const cells[] = { "td", "th", NULL };
	const char *begin = tag + 1 + (tag[1] == '/');
	const char *end = begin;

	while (g_ascii_isalnum(*end))
		end++;
	const struct bytes name = BYTES(begin, (size_t)(end - begin));
	return is_one_of(name, blocks) ? "\n" : is_one_of(name, cells) ? " " : "";
}

/* Skips a tag, a comment, a style or a script of HTML. */
static const char *skip_tag(const char *at, struct buffer *ret)
{
	const char *end;

	if (strncasecmp(at, "<style", 6) == 0)
		end = strcasestr(at, "</style>");
	else if (strncasecmp(at, "<script", 7) == 0)
		end = strcasestr(at, "</script>");
	else if (strncmp(at, "<!--", 4) == 0)
		end = strstr(at, "-->");
	else
		end = at;
	buffer_add_text(ret, separator_of(at));
	end = end ? strchr(end, '>') : NULL;
	return end ? end + 1 : at + strlen(at);
}

static const char *add_entity(const char *at, struct buffer *ret)
{
	static const struct {
		const char *name, *text;
	} all[] = { { "&nbsp;", " " }, { "&lt;", "<" }, { "&gt;", ">" }, { "&amp;", "&" }, { "&quot;", "\"" },
		{ "&apos;", "'" }, { "&#39;", "'" }, { "&#8217;", "'" }, { "&auml;", "\xc3\xa4" },
		{ "&ouml;", "\xc3\xb6" }, { "&uuml;", "\xc3\xbc" }, { "&eacute;", "\xc3\xa9" } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strncasecmp(at, all[i].name, strlen(all[i].name)) == 0) {
			buffer_add_text(ret, all[i].text);
			return at + strlen(all[i].name);
		}
	buffer_add(ret, at, 1);
	return at + 1;
}

static void add_html(const char *html, struct buffer *ret)
{
	for (const char *at = html; *at && ret->len < PLAIN_MOST;) {
		if (*at == '<' && (g_ascii_isalpha(at[1]) || at[1] == '/' || at[1] == '!'))
			at = skip_tag(at, ret);
		else if (*at == '&')
			at = add_entity(at, ret);
		else
			buffer_add(ret, at++, 1);
	}
}

void plain_bytes(GMimePart *part, struct buffer *ret)
{
	GMimeDataWrapper *content = g_mime_part_get_content(part);
	GMimeStream *stream = g_mime_stream_mem_new();
	if (content)
		g_mime_data_wrapper_write_to_stream(content, stream);
	GByteArray *bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	buffer_add(ret, bytes->data ? bytes->data : (const guint8 *)"", bytes->len);
	g_object_unref(stream);
}

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

/*
 * A server that quotes another server names its own charset. So bytes that are valid UTF-8 and not ASCII
 * count as UTF-8, even if another charset is named.
 */
static char *text_of(GMimePart *part)
{
	struct buffer bytes = { 0 };
	bool is_utf8;

	plain_bytes(part, &bytes);
	is_utf8 = text_is_utf8(buffer_bytes(&bytes)) && !is_ascii(buffer_text(&bytes));
	char *text = is_utf8 ? g_strdup(buffer_text(&bytes)) : g_mime_text_part_get_text(GMIME_TEXT_PART(part));
	buffer_free(&bytes);
	return text;
}

void plain_add(GMimeObject *part, struct buffer *ret)
{
	char *text = GMIME_IS_TEXT_PART(part) ? text_of(GMIME_PART(part)) : NULL;

	if (!text)
		return;
	if (g_mime_content_type_is_type(g_mime_object_get_content_type(part), "text", "html"))
		add_html(text, ret);
	else
		buffer_add(ret, text, strnlen(text, PLAIN_MOST));
	buffer_add(ret, "\n", 1);
	g_free(text);
}

/* ---- where the original begins ---- */

/* Does the line begin headers that a mail has and the words of a bounce have not? */
static bool begins_headers(const char *line)
{
	static const char *const names[] = { "Received: ", "Return-Path:", "Message-ID:", "DKIM-Signature:",
		"Delivered-To:", "X-Originating-IP:", "Authentication-Results:" };

	/* An indented header is in a list that the bounce makes of the original's headers. */
	if (strchr(">|", line[strspn(line, " \t")]))
		line += strspn(line, "> |\t");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncasecmp(line, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool announces(const char *line, size_t len)
{
	static const char *const all[] = { "original message", "copy of the message", "copy of your message",
		"returned message", "unsent message", "message follows", "message header", "header of the",
		"headers of the", "message text", "message is attached", "original mail", "begin message",
		"transcript of message", "rejected message", "undelivered message", "begin included message",
		"below is", "start of" };
	char lower[120];
	size_t i = 0;

	if (len < 10)
		return false;
	for (; i < len && i < sizeof(lower) - 1; i++)
		lower[i] = g_ascii_tolower(line[i]);
	lower[i] = '\0';
	if (strstr(lower, "received at"))
		return false;
	if (!strchr("-=*_+#", line[strspn(line, " ")]))
		return text_starts(lower, "original message") || text_starts(lower, "the original message follows") ||
			text_starts(lower, "message header follows");
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strstr(lower, all[i]))
			return true;
	return false;
}

size_t plain_original_at(const char *text)
{
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		if (begins_headers(line) || announces(line, len))
			return (size_t)(line - text);
		line += len + (line[len] == '\n');
	}
	return strlen(text);
}

const char *plain_skip_quotes(const char *original)
{
	while (*original && !begins_headers(original)) {
		original += strcspn(original, "\n");
		original += *original == '\n';
	}
	return original + strspn(original, "> |\t");
}
