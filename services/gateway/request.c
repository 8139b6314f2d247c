/* request.c: one HTTP request as the rest of the gateway sees it, and its answer */
#include "services/gateway/request.h"
#include <strings.h>

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

static bool is_plain_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

const char *request_framing(const struct request *request)
{
	const char *length, *encoding;
	int lengths = count_headers(request, "Content-Length", &length);
	int encodings = count_headers(request, "Transfer-Encoding", &encoding);

	if (request->header_count >= HEADERS_MAX)
		return "too many headers";
	if (lengths > 1)
		return "Content-Length is given more than once";
	if (lengths > 0 && encodings > 0)
		return "both Content-Length and Transfer-Encoding are given";
	if (lengths > 0 && !is_plain_number(length))
		return "Content-Length is not a number";
	if (encodings > 1 || (encodings == 1 && strcasecmp(encoding, "chunked") != 0))
		return "the only Transfer-Encoding understood is chunked";
	return NULL;
}

/* A JSON string; words are ours and plain, but nothing relies on that. */
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
