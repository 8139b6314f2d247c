/*
 * head.c: the head of a request, judged before anybody else reads it
 *
 * Promises:  the bytes of a head are looked at and left where they are (MSG_PEEK), until all of them are there and can be read in one
 *            way only (request.h); then the library reads the very same bytes. So is a body in chunks, which is short or refused. What
 *            is refused here is answered here, and its sender is read on for a moment, so that the answer arrives.
 * Fails by:  400, 411, 413, 431, 505 in words, or what the owner says of a head, and the end of the connection.
 * Read next: library.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/kit/web/chunks.h"
#include "services/kit/web/web_inside.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

/* ---- refusing ---- */

static void compose(const struct web_exchange *exchange, struct buffer *out)
{
	const struct answer *answer = &exchange->answer;
	const char *method = exchange->request.method;
	struct http_header fields[ANSWER_FIELDS_MAX];
	int count = answer_fields(answer, fields);
	char date[40];
	time_t now = time(NULL);
	struct tm utc;

	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc)); /* RFC 9110 section 5.6.7 */
	buffer_printf(out, "HTTP/1.1 %u %s\r\nDate: %s\r\nConnection: close\r\nContent-Length: %zu\r\n", answer->status,
		library_reason(answer->status), date, answer->body.len);
	for (int i = 0; i < count; i++)
		buffer_printf(out, "%s: %s\r\n", fields[i].name, fields[i].value);
	buffer_add_text(out, "\r\n");
	if (!method || strcmp(method, "HEAD") != 0)
		buffer_add(out, answer->body.data, answer->body.len);
}

/* Of a request that nothing was answered to yet, the answer lies in its buffer at once: it is short. */
static void send_refusal(struct web_exchange *exchange)
{
	_cleanup_(buffer_free) struct buffer out = { 0 };

	compose(exchange, &out);
	(void)!send(exchange->fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	exchange->refused = true;
	web_settle(exchange);
	web_linger(exchange);
}

void web_refuse(struct web_exchange *exchange, unsigned status, const char *words)
{
	buffer_free(&exchange->answer.body);
	exchange->answer = (struct answer){ 0 };
	answer_json_error(&exchange->answer, status, words);
	send_refusal(exchange);
}

static void refuse_malformed(struct web_exchange *exchange, unsigned status, const char *words)
{
	exchange->web->counters.requests++;
	exchange->web->counters.malformed++;
	web_refuse(exchange, status, words);
}

void web_linger(struct web_exchange *exchange)
{
	struct web *web = exchange->web;

	exchange->phase = PHASE_LINGERING;
	web_forget_body(exchange);
	web_count_bytes(exchange);
	web_time(exchange, &web->lingering);
	list_remove(&exchange->waiting);
	shutdown(exchange->fd, SHUT_WR);
	if (exchange->library) { /* it lets go when more comes, or nothing more will */
		library_go_on(exchange);
		return;
	}
	free(exchange->head); /* it is not counted any more, and may stay for seconds */
	exchange->head = NULL;
	exchange->request = (struct request){ 0 };
	web_watch(exchange, EPOLLIN);
	head_discard(exchange);
}

void head_discard(struct web_exchange *exchange)
{
	ssize_t len = recv(exchange->fd, NULL, DISCARD_MOST, MSG_TRUNC | MSG_DONTWAIT); /* tcp(7): thrown away unseen */

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0) {
		web_spend(exchange, (size_t)len);
		exchange->discarded += (uint64_t)len;
	}
	if (len <= 0 || exchange->discarded == exchange->awaited || exchange->discarded > DISCARD_MOST)
		web_end(exchange);
}

/* ---- judging ---- */

static bool expects_word(const struct request *request)
{
	const char *expect = request_header(request, "Expect");

	return expect && strcasecmp(expect, "100-continue") == 0;
}

/* How long its body is, or that it comes in chunks, is beyond doubt (request_framing). */
static void note_framing(struct web_exchange *exchange)
{
	const char *length = request_header(&exchange->request, "Content-Length");

	exchange->chunked = request_header(&exchange->request, "Transfer-Encoding") != NULL;
	exchange->length = length ? strtoull(length, NULL, 10) : 0;
	exchange->awaited = exchange->chunked ? 0 : exchange->head_len + exchange->length;
}

/* false: it is refused. */
static bool judge(struct web_exchange *exchange)
{
	struct web *web = exchange->web;
	static const char too_large[] = "the body is larger than is taken here";

	exchange->body_most = web->limits.body_most;
	if (exchange->length > exchange->body_most) {
		refuse_malformed(exchange, 413, too_large);
	} else if (!web->owner.judge_head(
			   web->owner.context, &exchange->request, &exchange->answer, &exchange->body_most)) {
		web->counters.requests++;
		send_refusal(exchange);
	} else if (exchange->length > exchange->body_most) {
		refuse_malformed(exchange, 413, too_large);
	}
	return !exchange->refused;
}

/* Head and framing are right. */
static void pass_on(struct web_exchange *exchange)
{
	struct web *web = exchange->web;

	web_watch(exchange, 0);
	exchange->phase = PHASE_BODY;
	exchange->large = exchange->length > SMALL_BODY;
	list_append(exchange->large ? &web->large : &web->small, &exchange->receiving);
	if (!web_count_bytes(exchange))
		return;
	if (exchange->large)
		web_queue(exchange);
	else
		library_take(exchange);
}

static void judge_chunks(struct web_exchange *exchange)
{
	const char *why = NULL;
	size_t came = exchange->seen - exchange->head_len;
	long end = chunks_end(BYTES(exchange->web->piece + exchange->head_len, came), &why);

	if (end < 0)
		refuse_malformed(exchange, 400, why);
	else if (end == 0 && came > CHUNKED_MOST)
		refuse_malformed(exchange, 411, "a body of more than 32 KB has to come with its Content-Length");
	else if (end > (long)exchange->body_most)
		refuse_malformed(exchange, 413, "the body is larger than is taken here");
	else if (end > 0)
		pass_on(exchange);
}

static void begin_request(struct web_exchange *exchange)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const char *why = NULL;
	unsigned status;

	exchange->head = memory_copy(BYTES(exchange->web->piece, exchange->head_len));
	status = request_parse(exchange->head, exchange->head_len, &exchange->request, &why);
	if (status) {
		exchange->request = (struct request){ 0 };
		refuse_malformed(exchange, status, why);
		return;
	}
	web_name_client(exchange);
	note_framing(exchange);
	if (!judge(exchange))
		return;
	if (!exchange->chunked) {
		pass_on(exchange);
		return;
	}
	if (expects_word(&exchange->request) && exchange->seen == exchange->head_len)
		(void)!send(exchange->fd, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	head_look(exchange, false); /* further than where a head has to end */
}

/* How long the head is, its empty line included; 0: it has not all come. -EBADMSG: no line ends so. */
static long find_end(struct web_exchange *exchange)
{
	const char *text = exchange->web->piece;

	for (size_t i = exchange->scanned; i < exchange->seen; i++) {
		if (text[i] == '\0' || (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) ||
			(text[i] != '\n' && i > 0 && text[i - 1] == '\r'))
			return -EBADMSG;
		if (text[i] == '\n' && i >= 3 && text[i - 2] == '\n')
			return (long)i + 1;
	}
	exchange->scanned = exchange->seen;
	return 0;
}

static void judge_head(struct web_exchange *exchange)
{
	const size_t most = exchange->web->limits.head_most;
	long end = find_end(exchange);

	if (end < 0) {
		refuse_malformed(exchange, 400, "a line does not end with CRLF, or holds a NUL");
	} else if (end > (long)most || (end == 0 && exchange->seen > most)) {
		refuse_malformed(exchange, 431, "the head of the request is too large");
	} else if (end > 0) {
		exchange->head_len = (size_t)end;
		begin_request(exchange);
	}
}

/* RFC 9112 section 2.2: one empty line before a request is no part of it. */
static void skip_empty_line(struct web_exchange *exchange, ssize_t *len)
{
	char *piece = exchange->web->piece;

	if (exchange->scanned > 0 || *len < 2 || memcmp(piece, "\r\n", 2) != 0 || recv(exchange->fd, piece, 2, 0) != 2)
		return;
	*len -= 2;
	memmove(piece, piece + 2, (size_t)*len);
}

void head_look(struct web_exchange *exchange, bool ended)
{
	struct web *web = exchange->web;
	size_t most = exchange->head_len > 0 ? exchange->head_len + CHUNKED_MOST + 1 : web->limits.head_most + 1;
	ssize_t len = recv(exchange->fd, web->piece, most, MSG_PEEK | MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR) && !ended) {
		web_watch(exchange, EPOLLIN | EPOLLRDHUP | EPOLLET);
		return;
	}
	if (len <= 0) {
		web_end(exchange);
		return;
	}
	skip_empty_line(exchange, &len);
	if ((size_t)len > exchange->seen)
		web_spend(exchange, (size_t)len - exchange->seen);
	exchange->seen = (size_t)len;
	if (exchange->head_len > 0)
		judge_chunks(exchange);
	else
		judge_head(exchange);
	if (exchange->phase != PHASE_HEAD || exchange->ended)
		return;
	if (ended)
		web_end(exchange);
	else if (web_count_bytes(exchange))
		web_watch(exchange, EPOLLIN | EPOLLRDHUP | EPOLLET);
}
