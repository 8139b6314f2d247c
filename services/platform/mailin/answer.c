/*
 * answer.c: finds the parts of a bounce's text that give the reason
 *
 * Promises:  time is bounded by the text's length and the tables' sizes.
 * Fails by:  finding nothing; the caller then reads the whole text.
 * Read next: bounce.c (the caller), phrases.txt
 */
#include "services/platform/mailin/answer.h"
#include <stdio.h>
#include <string.h>

enum { LINE_MOST = 1000, ANSWER_LINES = 12, SENTENCE_MOST = 2000 };

/* ---- lines ---- */

static size_t line_len(const char *line)
{
	return strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
	size_t len = line_len(line);

	return line + len + (line[len] == '\n');
}

static bool is_blank(const char *line)
{
	return strspn(line, " \t\r>|") >= line_len(line);
}

/* ---- quoted answers ---- */

/* A mail server's answer follows these words: on the same line, or below it up to an empty line. */
static const char *const introductions[] = { " said: ", "remote host said", "server said",
	"(reason: ", "response from the remote server", "error that the other server returned",
	"the response was:", "remote server replied", "remote server returned", "remote smtp server returned",
	"reported error:", "diagnostic code:", "diagnostic-code:", "smtp error from remote", "protocol returned a",
	"module(", "error code :", "received >>>", "<-- 5", "<-- 4", " smtp;", "reason: 5", "antwort des remoteservers",
	"transcript of session", "antwort vom remote-server", "antwort vom remoteserver",
	"r\xc3\xa9ponse du serveur distant", "respuesta del servidor remoto", "risposta del server remoto",
	"resposta do servidor remoto",
	"\xe3\x83\xaa\xe3\x83\xa2\xe3\x83\xbc\xe3\x83\x88 "
	"\xe3\x82\xb5\xe3\x83\xbc\xe3\x83\x90\xe3\x83\xbc\xe3\x81\x8b\xe3\x82\x89",
	NULL };

/* Below these words the reason is given for administrators, in several short paragraphs. */
static const char *const sections[] = { "diagnostic information for administrators", "error details",
	"diagnoseinformationen f", "fehlerdetails", "informations de diagnostic",
	"informaci\xc3\xb3n de diagn\xc3\xb3stico", "informazioni di diagnostica",
	"informa\xc3\xa7\xc3\xb5"
	"es de diagn\xc3\xb3stico",
	"diagnostische gegevens",
	"\xe7\xae\xa1\xe7\x90\x86\xe8\x80\x85\xe5\x90\x91\xe3\x81\x91\xe3\x81\xae\xe8\xa8\xba"
	"\xe6\x96\xad\xe6\x83\x85\xe5\xa0\xb1",
	NULL };

static bool holds(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

/* "<mx.example #5.1.1>": Exchange's way to name a code. */
static bool names_a_code(const char *line)
{
	const char *code = strstr(line, " #5.");

	return strchr(line, '<') && code && code > strchr(line, '<');
}

/* "550 ..." at the beginning of the line, or after a colon, a tab or two blanks. */
static bool quotes_a_reply(const char *line)
{
	for (const char *at = line; *at; at++) {
		bool may_begin = at == line || (at - line > 1 && at[-1] == ' ' && (at[-2] == ':' || at[-2] == ' ')) ||
			at[-1] == '\t';

		if (may_begin && (*at == '4' || *at == '5') && strspn(at, "0123456789") == 3 &&
			(at[3] == ' ' || at[3] == '-'))
			return true;
	}
	return false;
}

enum part { NO_PART, ANSWER, SECTION };

static enum part part_at(const char *at)
{
	char line[LINE_MOST];
	size_t len = line_len(at);

	snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1), at);
	if (holds(line, introductions) || names_a_code(line) || quotes_a_reply(line))
		return ANSWER;
	return holds(line, sections) ? SECTION : NO_PART;
}

/* A line may end with CR LF; the CR is ignored. */
static bool ends_with_colon(const char *line)
{
	size_t len = line_len(line);

	while (len > 0 && strchr(" \t\r", line[len - 1]))
		len--;
	return len > 0 && line[len - 1] == ':';
}

/* If the line has only the introduction, the answer may follow after empty lines. */
static const char *add_part(const char *line, enum part part, struct buffer *ret)
{
	bool is_begun = part == ANSWER && !ends_with_colon(line);

	buffer_printf(ret, "%.*s\n", (int)line_len(line), line);
	line = next_line(line);
	for (int i = 0; *line && i < ANSWER_LINES; i++, line = next_line(line)) {
		if (is_blank(line) && is_begun)
			break;
		is_begun |= part == ANSWER && !is_blank(line);
		buffer_printf(ret, "%.*s\n", (int)line_len(line), line);
	}
	buffer_add_text(ret, ".\n"); /* no phrase matches across the end of the part */
	return line;
}

void answer_quoted(const char *text, struct buffer *ret)
{
	while (*text) {
		enum part part = part_at(text);

		text = part == NO_PART ? next_line(text) : add_part(text, part, ret);
	}
}

/* ---- stated sentences ---- */

static const char *const suppositions[] = { " may ", " might ", "maybe", "perhaps", "probably", "possibl",
	"please check", "check the ", "check that", "check your", "make sure", "verify that", "if you", "if the ",
	"if this", "in case", "error occurs", "of the following", "contact ", "learn more", "for more info",
	"how to fix", "please visit", "m\xc3\xb6glich", "bitte ", "falls ", "v\xc3\xa9rifiez", "peut-\xc3\xaatre",
	"compruebe", "puede que", "verificare", "potrebbe", "controleer", "mogelijk",
	"\xe3\x81\x94\xe7\xa2\xba\xe8\xaa\x8d", "\xe5\x8f\xaf\xe8\x83\xbd\xe6\x80\xa7", NULL };

/* The length up to the full stop, or to the end of the paragraph or list entry. */
static size_t sentence_len(const char *at)
{
	size_t len = 0;

	for (; at[len] && len < SENTENCE_MOST; len++) {
		if (strchr(".!?", at[len]) && strchr(" \t\r\n", at[len + 1]))
			return len + 1;
		if (at[len] == '\n' && (is_blank(at + len + 1) || strchr("-*", at[len + 1])))
			return len + 1;
	}
	return len;
}

void answer_stated(const char *text, struct buffer *ret)
{
	char sentence[SENTENCE_MOST + 2];

	while (*text) {
		size_t len = sentence_len(text);

		snprintf(sentence, sizeof(sentence), "%.*s", (int)len, text);
		for (char *c = sentence; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
		if (!holds(sentence, suppositions))
			buffer_add(ret, text, len);
		text += len;
	}
}
