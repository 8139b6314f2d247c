/*
 * request.c: parses the head of an HTTP request for its handler, and lists the headers of its answer
 *
 * Promises:  an accepted request can be read in one way only: a server in front that keeps to RFC 9112 reads
 *            the same bytes alike.
 * Fails by:  a status and words.
 */
#include "services/kit/web/request.h"
#include "bus/base/text.h"
#include <assert.h>
#include <errno.h>
#include <strings.h>

enum { METHOD_MOST = 20, HOST_MOST = 255 };

static int count_headers(const struct request *request, const char *name, const char **ret_first)
{
	int count = 0;

	*ret_first = NULL;
	for (int i = 0; i < request->header_count; i++) {
		if (strcasecmp(request->headers[i].name, name) != 0)
			continue;
		if (count++ == 0)
			*ret_first = request->headers[i].value;
	}
	return count;
}

const char *request_header(const struct request *request, const char *name)
{
	const char *value;

	count_headers(request, name, &value);
	return value;
}

bool request_header_repeated(const struct request *request, const char *name)
{
	const char *value;

	return count_headers(request, name, &value) > 1;
}

/* ---- cookies ---- */

/* The next part of a Cookie header, without blanks around it. false: no more. */
static bool next_cookie(const char **rest, struct bytes *ret)
{
	const char *from = *rest + strspn(*rest, " \t");
	size_t len = strcspn(from, ";");

	if (!*from)
		return false;
	*rest = from + len + (from[len] == ';');
	while (len > 0 && (from[len - 1] == ' ' || from[len - 1] == '\t'))
		len--;
	*ret = BYTES(from, len);
	return true;
}

static bool is_named(struct bytes cookie, const char *name)
{
	size_t len = strlen(name);

	return cookie.len > len && memcmp(cookie.data, name, len) == 0 && ((const char *)cookie.data)[len] == '=';
}

/* RFC 6265 section 4.1.1: cookie-octets, with a quote at both ends or at none. */
static int read_cookie_value(struct bytes value, struct bytes *ret)
{
	const char *text = value.data;
	bool is_quoted = value.len >= 2 && text[0] == '"' && text[value.len - 1] == '"';

	*ret = is_quoted ? BYTES(text + 1, value.len - 2) : value;
	for (size_t i = 0; i < ret->len; i++) {
		unsigned char c = (unsigned char)((const char *)ret->data)[i];

		if (c <= ' ' || c >= 0x7f || strchr("\",;\\", c))
			return -EBADMSG;
	}
	return 0;
}

int request_cookie(const struct request *request, const char *name, struct bytes *ret)
{
	size_t skipped = strlen(name) + 1;
	struct bytes cookie, value;
	int found = -ENOENT;

	for (int i = 0; i < request->header_count; i++) {
		const char *rest = request->headers[i].value;

		if (strcasecmp(request->headers[i].name, "Cookie") != 0)
			continue;
		while (next_cookie(&rest, &cookie)) {
			if (!is_named(cookie, name))
				continue;
			value = BYTES((const char *)cookie.data + skipped, cookie.len - skipped);
			found = found == -ENOENT ? read_cookie_value(value, ret) : -EBADMSG;
		}
	}
	if (found < 0)
		*ret = BYTES("", 0);
	return found;
}

/* ---- framing ---- */

static bool is_plain_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* RFC 9112 section 3.2: exactly one Host, so that a server in front of us cannot have used another one. */
static const char *doubt_host(const struct request *request)
{
	const char *host;
	int hosts = count_headers(request, "Host", &host);

	if (hosts > 1)
		return "Host is given more than once";
	if (hosts == 0)
		return request->minor_version > 0 ? "Host is missing" : NULL;
	return strlen(host) > HOST_MOST || strpbrk(host, " \t/?#@\\") ? "Host is not a host" : NULL;
}

const char *request_framing(const struct request *request)
{
	const char *length, *encoding;
	int lengths = count_headers(request, "Content-Length", &length);
	int encodings = count_headers(request, "Transfer-Encoding", &encoding);

	if (lengths > 1)
		return "Content-Length is given more than once";
	if (lengths > 0 && encodings > 0)
		return "both Content-Length and Transfer-Encoding are given";
	if (lengths > 0 && !is_plain_number(length))
		return "Content-Length is not a number";
	if (encodings > 1 || (encodings == 1 && strcasecmp(encoding, "chunked") != 0))
		return "the only Transfer-Encoding understood is chunked";
	if (encodings > 0 && request->minor_version == 0)
		return "HTTP/1.0 knows no Transfer-Encoding";
	return doubt_host(request);
}

/* ---- reading a head ---- */

static bool is_token_character(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *text)
{
	if (!*text)
		return false;
	while (is_token_character((unsigned char)*text))
		text++;
	return !*text;
}

/* May a header have this value? Blanks, visible characters, and bytes that are not ASCII (obs-text). */
static bool is_value(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return false;
	return true;
}

static bool is_visible(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

static unsigned refuse_head(unsigned status, const char *why, const char **ret_why)
{
	*ret_why = why;
	return status;
}

/*
 * Returns the line at *at, ended with a NUL, and moves *at behind it. NULL: the line does not end with CRLF,
 * or holds a NUL.
 */
static char *take_line(char **at, const char *end)
{
	char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));

	if (!stop || stop == line || stop[-1] != '\r')
		return NULL;
	stop[-1] = '\0';
	*at = stop + 1;
	return strlen(line) == (size_t)(stop - 1 - line) ? line : NULL;
}

/* RFC 9112 section 3.2: a path, a URL, a host of CONNECT, or the asterisk of OPTIONS. */
static bool is_target(const char *text)
{
	bool is_url = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');

	return (*text == '/' || is_url || strcmp(text, "*") == 0) && is_visible(text) && !strchr(text, '#');
}

/* METHOD SP TARGET SP HTTP/1.x */
static unsigned read_request_line(char *line, struct request *ret, const char **ret_why)
{
	char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;

	if (!version)
		return refuse_head(400, "the request line is not one of HTTP/1.1", ret_why);
	*target++ = '\0';
	*version++ = '\0';
	if (!is_token(line) || strlen(line) > METHOD_MOST || !is_target(target))
		return refuse_head(400, "the request line is not one of HTTP/1.1", ret_why);
	if (strncmp(version, "HTTP/", 5) != 0)
		return refuse_head(400, "the request line is not one of HTTP/1.1", ret_why);
	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return refuse_head(505, "only HTTP/1.1 and HTTP/1.0 are spoken here", ret_why);
	ret->minor_version = version[7] - '0';
	ret->method = line;
	ret->path = target;
	ret->query = strchr(target, '?');
	if (ret->query)
		*ret->query++ = '\0';
	return 0;
}

/*
 * Does this header tell the length of the body, or that it comes in chunks? libmicrohttpd takes a blank
 * behind such a value for a part of the value.
 */
static bool says_framing(const char *name)
{
	return strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0;
}

static unsigned read_header(char *line, struct request *ret, const char **ret_why)
{
	char *value = strchr(line, ':'), *end;

	if (*line == ' ' || *line == '\t')
		return refuse_head(400, "a header goes on in the next line, which is not understood", ret_why);
	if (!value)
		return refuse_head(400, "a header has no colon", ret_why);
	*value++ = '\0';
	if (!is_token(line))
		return refuse_head(400, "the name of a header is not a token", ret_why);
	value += strspn(value, " \t");
	for (end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	if (*end && says_framing(line))
		return refuse_head(400, "a blank stands behind Content-Length or Transfer-Encoding", ret_why);
	*end = '\0';
	if (!is_value(value))
		return refuse_head(400, "a header holds a control character", ret_why);
	if (ret->header_count == HEADERS_MAX)
		return refuse_head(431, "there are too many headers", ret_why);
	ret->headers[ret->header_count++] = (struct http_header){ line, value };
	return 0;
}

/* The number of pieces between the separators. */
static int count_pieces(const char *text, const char *separators)
{
	int count = 1;

	while (*(text += strcspn(text, separators))) {
		text++;
		count++;
	}
	return count;
}

/*
 * Does the value end as `a="` does? libmicrohttpd 0.9.75 takes that quote for both ends of a cookie's value,
 * and fails at a length below 0.
 */
static bool ends_in_lone_quote(const char *value)
{
	size_t len = strlen(value);

	return len >= 2 && strcmp(value + len - 2, "=\"") == 0;
}

static unsigned count_parts(struct request *ret, const char **ret_why)
{
	ret->parts = ret->query ? count_pieces(ret->query, "&") : 0;
	for (int i = 0; i < ret->header_count; i++) {
		const char *value = ret->headers[i].value;

		if (strcasecmp(ret->headers[i].name, "Cookie") != 0)
			continue;
		if (ends_in_lone_quote(value))
			return refuse_head(400, "a cookie ends in a quote that is not closed", ret_why);
		ret->parts += count_pieces(value, ";,");
	}
	return ret->parts <= PARTS_MOST ? 0 : refuse_head(431, "there are too many arguments or cookies", ret_why);
}

unsigned request_parse(char *text, size_t len, struct request *ret, const char **ret_why)
{
	const char *end = text + len;
	char *line;
	unsigned status;

	memset(ret, 0, sizeof(*ret));
	line = take_line(&text, end);
	status = line ? read_request_line(line, ret, ret_why)
		      : refuse_head(400, "a line does not end with CRLF, or holds a NUL", ret_why);
	while (status == 0) {
		line = take_line(&text, end);
		if (!line)
			return refuse_head(400, "a line does not end with CRLF, or holds a NUL", ret_why);
		if (!*line)
			break;
		status = read_header(line, ret, ret_why);
	}
	if (status)
		return status;
	*ret_why = request_framing(ret);
	return *ret_why ? 400 : count_parts(ret, ret_why);
}

/* Decodes in place. %00, and a `%` that begins no escape, stay as they are. */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int high = *text == '%' ? text_hex_digit(text[1]) : -1, low = high >= 0 ? text_hex_digit(text[2]) : -1;

		if (low >= 0 && (high || low)) {
			*to++ = (char)(high * 16 + low);
			text += 2;
		} else
			*to++ = *text == '+' ? ' ' : *text;
	}
	*to = '\0';
}

char *request_argument(struct request *request, const char *name)
{
	size_t len = strlen(name);

	for (char *at = request->query, *next; at; at = next) {
		next = strchr(at, '&');
		if (next)
			*next++ = '\0';
		if (strncmp(at, name, len) != 0 || at[len] != '=')
			continue;
		decode(at + len + 1);
		return at + len + 1;
	}
	return NULL;
}

static void add_field(struct http_header *ret, int *count, const char *name, const char *value)
{
	if (value)
		ret[(*count)++] = (struct http_header){ name, value };
}

int answer_fields(const struct answer *answer, struct http_header ret[ANSWER_FIELDS_MAX])
{
	int count = 0, most = ANSWER_FIELDS_MAX - answer->added_count;

	add_field(ret, &count, "Content-Type", answer->content_type);
	add_field(ret, &count, "Cache-Control", answer->cache ? answer->cache : "no-store");
	add_field(ret, &count, "X-Content-Type-Options", "nosniff");
	add_field(ret, &count, "Location", answer->location);
	add_field(ret, &count, "Allow", answer->allow);
	add_field(ret, &count, "Retry-After", answer->status == 503 ? "60" : NULL);
	for (const struct http_header *more = answer->more; more && more->name && count < most; more++)
		add_field(ret, &count, more->name, more->value);
	for (int i = 0; i < answer->added_count; i++)
		add_field(ret, &count, answer->added[i].name, answer->added[i].value);
	return count;
}

void answer_add(struct answer *answer, const char *name, const char *value)
{
	assert(answer->added_count < ANSWER_ADDED_MAX);
	answer->added[answer->added_count++] = (struct http_header){ name, value };
}

/* Adds a JSON string. The words are our own and plain, but the code does not rely on that. */
static void add_quoted(struct buffer *to, const char *words)
{
	buffer_add_text(to, "\"");
	for (; *words; words++) {
		if (*words == '"' || *words == '\\')
			buffer_printf(to, "\\%c", *words);
		else if ((unsigned char)*words < 0x20)
			buffer_printf(to, "\\u%04x", (unsigned)*words);
		else
			buffer_add(to, words, 1);
	}
	buffer_add_text(to, "\"");
}

void answer_json_line(struct answer *answer, const char *name, const char *words)
{
	answer->status = 200;
	answer->content_type = "application/json";
	buffer_printf(&answer->body, "{\"%s\":", name);
	add_quoted(&answer->body, words);
	buffer_add_text(&answer->body, "}\n");
}

void answer_json_error(struct answer *answer, unsigned status, const char *words)
{
	answer_json_line(answer, "error", words);
	answer->status = status;
}
