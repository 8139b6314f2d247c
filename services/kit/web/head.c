/*
 * head.c: checks the head of a request before the library reads it
 *
 * Promises:  reads a head with MSG_PEEK, which leaves the bytes in the socket, until the whole head has come
 *            and can be read in one way only (request.h); then the library reads the same bytes. A body in
 *            chunks is checked in the same way: it is short or refused. A request that is refused here is
 *            answered here, and further bytes of its client are discarded for a moment, so that the answer
 *            arrives.
 * Fails by:  400, 411, 413, 431, 503, 505 with words, or the owner's answer to a head; then the connection
 *            ends.
 * Read next: library.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/web/web_inside.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

/* ---- chunked bodies that can be read in one way only ---- */

enum { SIZE_DIGITS_MOST = 8 };

/* Moves *at behind a CRLF. 1: it is there; 0: it has not all come; -EBADMSG: something else is there. */
static int take_line_end(const char *text, size_t len, size_t *at)
{
	static const char line_end[] = "\r\n";

	for (int i = 0; i < 2; i++, (*at)++) {
		if (*at == len)
			return 0;
		if (text[*at] != line_end[i])
			return -EBADMSG;
	}
	return 1;
}

/*
 * Reads the line with a chunk's size and returns as take_line_end does; -ERANGE: the size has too many
 * digits.
 */
static int take_size(const char *text, size_t len, size_t *at, size_t *ret_size)
{
	int digits = 0, digit;

	*ret_size = 0;
	for (; *at < len && (digit = text_hex_digit(text[*at])) >= 0; (*at)++) {
		if (++digits > SIZE_DIGITS_MOST)
			return -ERANGE;
		*ret_size = *ret_size * 16 + (size_t)digit;
	}
	if (digits == 0)
		return *at == len ? 0 : -EBADMSG;
	return take_line_end(text, len, at);
}

static long refuse(int why, const char **ret_why)
{
	*ret_why = why == -ERANGE
		? "the size of a chunk is too large"
		: "a chunk is a number and CRLF, its data and CRLF; extensions and trailers are not taken";
	return -EBADMSG;
}

long chunks_end(struct bytes data, const char **ret_why)
{
	const char *text = data.data;
	size_t at = 0, size;
	int came;

	do {
		came = take_size(text, data.len, &at, &size);
		if (came > 0 && size > data.len - at)
			return 0;
		if (came > 0) {
			at += size;
			came = take_line_end(text, data.len, &at);
		}
		if (came < 0)
			return refuse(came, ret_why);
	} while (came > 0 && size > 0);
	return came > 0 ? (long)at : 0;
}

/* ---- refusing ---- */

static void compose(const struct web_connection *connection, struct buffer *out)
{
	const struct answer *answer = &connection->asked.answer;
	const char *method = connection->asked.request.method;
	struct http_header fields[ANSWER_FIELDS_MAX];
	int count = answer_fields(answer, fields);
	char date[40];
	time_t now = time(NULL);
	struct tm utc;

	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc)); /* RFC 9110 section 5.6.7 */
	buffer_printf(out, "HTTP/1.1 %u %s\r\nDate: %s\r\nConnection: close\r\n", answer->status,
		library_reason(answer->status), date);
	if (answer->status != 204 && answer->status != 304) /* RFC 9110 section 8.6 */
		buffer_printf(out, "Content-Length: %zu\r\n", answer->body.len);
	for (int i = 0; i < count; i++)
		buffer_printf(out, "%s: %s\r\n", fields[i].name, fields[i].value);
	buffer_add_text(out, "\r\n");
	if (!method || strcmp(method, "HEAD") != 0)
		buffer_add(out, answer->body.data, answer->body.len);
}

/* The request has no answer yet, and this one is short: the kernel's buffer takes it at once. */
void head_send_answer(struct web_connection *connection)
{
	_cleanup_(buffer_free) struct buffer out = { 0 };

	web_dress(connection);
	compose(connection, &out);
	(void)!send(connection->fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	web_end_request(connection);
}

void head_refuse(struct web_connection *connection)
{
	head_send_answer(connection);
	connection->refused = true;
	web_settle(connection);
	web_linger(connection);
}

void web_refuse(struct web_connection *connection, unsigned status, const char *words)
{
	buffer_free(&connection->asked.answer.body);
	connection->asked.answer = (struct answer){ 0 };
	answer_json_error(&connection->asked.answer, status, words);
	head_refuse(connection);
}

static void refuse_malformed(struct web_connection *connection, unsigned status, const char *words)
{
	connection->web->counters.requests++;
	connection->web->counters.malformed++;
	web_refuse(connection, status, words);
}

void web_linger(struct web_connection *connection)
{
	struct web *web = connection->web;

	connection->phase = PHASE_LINGERING;
	web_forget_body(connection);
	web_count_bytes(connection);
	web_time(connection, &web->lingering);
	list_remove(&connection->waiting);
	shutdown(connection->fd, SHUT_WR);
	if (connection->library) { /* it releases the socket at the next bytes, or at the end */
		library_go_on(connection);
		return;
	}
	free(connection->head); /* it is not counted any more; the connection may stay for seconds */
	connection->head = NULL;
	connection->asked.request = (struct request){ 0 };
	web_watch(connection, EPOLLIN);
	head_discard(connection);
}

void head_discard(struct web_connection *connection)
{
	ssize_t len =
		recv(connection->fd, NULL, DISCARD_MOST, MSG_TRUNC | MSG_DONTWAIT); /* tcp(7): discards the bytes */

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0) {
		web_spend(connection, (size_t)len);
		connection->discarded += (uint64_t)len;
	}
	if (len <= 0 || connection->discarded == connection->awaited || connection->discarded > DISCARD_MOST)
		web_end(connection);
}

/* ---- judging ---- */

static bool expects_word(const struct request *request)
{
	const char *expect = request_header(request, "Expect");

	return expect && strcasecmp(expect, "100-continue") == 0;
}

/*
 * Notes the length of the body, or that it comes in chunks; request_framing has checked that both are clear.
 */
static void note_framing(struct web_connection *connection)
{
	const char *length = request_header(&connection->asked.request, "Content-Length");

	connection->chunked = request_header(&connection->asked.request, "Transfer-Encoding") != NULL;
	connection->length = length ? strtoull(length, NULL, 10) : 0;
	connection->awaited = connection->chunked ? 0 : connection->head_len + connection->length;
}

static void begin_owners(struct web_connection *connection)
{
	const struct web *web = connection->web;

	connection->asked.body_most = web->limits.body_most;
	connection->begun = true;
	if (web->owner.begin)
		web->owner.begin(web->owner.context, &connection->asked);
}

/* false: the request is refused. */
static bool judge(struct web_connection *connection)
{
	struct web *web = connection->web;
	static const char too_large[] = "the body is larger than is taken here";

	if (!connection->asked.streamed && connection->length > web->limits.body_most) {
		refuse_malformed(connection, 413, too_large);
	} else if (!web->owner.judge_head(web->owner.context, &connection->asked)) {
		web->counters.requests++;
		head_refuse(connection);
	} else if (connection->length > connection->asked.body_most) {
		refuse_malformed(connection, 413, too_large);
	} else if (connection->asked.streamed && !web_begin_stream(connection)) {
		web->counters.requests++;
		web->counters.turned_away++;
		web_refuse(connection, 503, "too many large bodies are coming in now");
	}
	return !connection->refused;
}

/* The head and the framing are valid: gives the request to the library, or queues it. */
static void pass_on(struct web_connection *connection)
{
	struct web *web = connection->web;

	web_watch(connection, 0);
	connection->phase = PHASE_BODY;
	connection->large = connection->length > SMALL_BODY;
	if (!connection->asked.streamed)
		list_append(connection->large ? &web->large : &web->small, &connection->receiving);
	if (!web_count_bytes(connection))
		return;
	if (connection->large)
		web_queue(connection);
	else
		library_take(connection);
}

static void judge_chunks(struct web_connection *connection)
{
	const char *why = NULL;
	size_t came = connection->seen - connection->head_len;
	long end = chunks_end(BYTES(connection->web->piece + connection->head_len, came), &why);

	if (end < 0)
		refuse_malformed(connection, 400, why);
	else if (end == 0 && came > CHUNKED_MOST)
		refuse_malformed(connection, 411, "a body of more than 32 KB has to come with its Content-Length");
	else if (end > (long)connection->asked.body_most)
		refuse_malformed(connection, 413, "the body is larger than is taken here");
	else if (end > 0)
		pass_on(connection);
}

static void begin_request(struct web_connection *connection)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const char *why = NULL;
	unsigned status;

	connection->head = memory_copy(BYTES(connection->web->piece, connection->head_len));
	status = request_parse(connection->head, connection->head_len, &connection->asked.request, &why);
	if (status) {
		connection->asked.request = (struct request){ 0 };
		refuse_malformed(connection, status, why);
		return;
	}
	web_name_client(connection);
	note_framing(connection);
	begin_owners(connection);
	if (!judge(connection))
		return;
	if (!connection->chunked) {
		pass_on(connection);
		return;
	}
	if (expects_word(&connection->asked.request) && connection->seen == connection->head_len)
		(void)!send(connection->fd, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	head_look(connection, false); /* looks beyond the head, at the chunks */
}

/*
 * The length of the head with its empty line; 0: it has not all come. -EBADMSG: a line does not end with
 * CRLF, or holds a NUL.
 */
static long find_end(struct web_connection *connection)
{
	const char *text = connection->web->piece;

	for (size_t i = connection->scanned; i < connection->seen; i++) {
		if (text[i] == '\0' || (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) ||
			(text[i] != '\n' && i > 0 && text[i - 1] == '\r'))
			return -EBADMSG;
		if (text[i] == '\n' && i >= 3 && text[i - 2] == '\n')
			return (long)i + 1;
	}
	connection->scanned = connection->seen;
	return 0;
}

static void judge_head(struct web_connection *connection)
{
	const size_t most = connection->web->limits.head_most;
	long end = find_end(connection);

	if (end < 0) {
		refuse_malformed(connection, 400, "a line does not end with CRLF, or holds a NUL");
	} else if (end > (long)most || (end == 0 && connection->seen > most)) {
		refuse_malformed(connection, 431, "the head of the request is too large");
	} else if (end > 0) {
		connection->head_len = (size_t)end;
		begin_request(connection);
	}
}

/* RFC 9112 section 2.2: one empty line before a request is no part of it. */
static void skip_empty_line(struct web_connection *connection, ssize_t *len)
{
	char *piece = connection->web->piece;

	if (connection->scanned > 0 || *len < 2 || memcmp(piece, "\r\n", 2) != 0 ||
		recv(connection->fd, piece, 2, 0) != 2)
		return;
	*len -= 2;
	memmove(piece, piece + 2, (size_t)*len);
}

void head_look(struct web_connection *connection, bool ended)
{
	struct web *web = connection->web;
	size_t most = connection->head_len > 0 ? connection->head_len + CHUNKED_MOST + 1 : web->limits.head_most + 1;
	ssize_t len = recv(connection->fd, web->piece, most, MSG_PEEK | MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR) && !ended) {
		web_watch(connection, EPOLLIN | EPOLLRDHUP | EPOLLET);
		return;
	}
	if (len <= 0) {
		web_end(connection);
		return;
	}
	skip_empty_line(connection, &len);
	if ((size_t)len > connection->seen)
		web_spend(connection, (size_t)len - connection->seen);
	connection->seen = (size_t)len;
	if (connection->head_len > 0)
		judge_chunks(connection);
	else
		judge_head(connection);
	if (connection->phase != PHASE_HEAD || connection->ended)
		return;
	if (ended)
		web_end(connection);
	else if (web_count_bytes(connection))
		web_watch(connection, EPOLLIN | EPOLLRDHUP | EPOLLET);
}
