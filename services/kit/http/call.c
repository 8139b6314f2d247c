/*
 * call.c: one HTTP request, from its preparation to its result
 *
 * Owns:      libcurl's handle of the request, and the part of the answer that has come.
 * Promises:  a connection is opened only to an address that guard.h allows: the address is checked as it is
 *            given to connect(2), and again before the request is sent. If a request holds, the last byte of
 *            its body leaves only through an open gate and before its time is over, wherever this process is
 *            stopped (last_byte.h). Such a request has a connection of its own, because libcurl repeats
 *            requests by itself only on used connections.
 * Fails by:  http_answer, which tells only what is known about the request's fate.
 * Read next: auth.c, http.c
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/guard.h"
#include "services/kit/http/http_inside.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { HEAD_MOST = 64 * 1024 };

static void bar(struct http_call *call, const char *why)
{
	if (call->barred == HTTP_BARRED)
		return;
	call->barred = HTTP_BARRED;
	TEXT_COPY(call->why, why);
}

void http_call_add_header(struct http_call *call, const char *line)
{
	call->headers = curl_slist_append(call->headers, line);
}

/* ---- libcurl's callbacks ---- */

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_call *call = context;
	(void)purpose;
	if (http_address_allowed(call->reach, call->is_plain, &address->addr))
		return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	bar(call,
		call->is_plain ? "plain http is only for this machine and private networks"
			       : "its name leads to an address that is not public");
	return CURL_SOCKET_BAD;
}

/* libcurl chooses when to close a socket; the timer must not cut the next file with the same descriptor. */
static int close_socket(void *context, curl_socket_t fd)
{
	(void)context;
	last_byte_forget_socket(fd);
	return close(fd);
}

static bool text_allowed(const struct http_call *call, const char *ip)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	const struct sockaddr *address = (const struct sockaddr *)(const void *)&in4;
	if (inet_pton(AF_INET, ip, &in4.sin_addr) != 1) {
		if (inet_pton(AF_INET6, ip, &in6.sin6_addr) != 1)
			return false;
		address = (const struct sockaddr *)(const void *)&in6;
	}
	return http_address_allowed(call->reach, call->is_plain, address);
}

/* libcurl may reuse a connection that it opened for a request with a wider reach. */
static int before_request(void *context, char *ip, char *local_ip, int port, int local_port)
{
	struct http_call *call = context;
	(void)local_ip, (void)port, (void)local_port;
	if (call->barred != HTTP_BARRED && !text_allowed(call, ip))
		bar(call, "its connection is to an address that is not public");
	if (call->barred == HTTP_BARRED)
		return CURL_PREREQFUNC_ABORT;
	call->has_begun = true;
	return CURL_PREREQFUNC_OK;
}

static void drop(struct http_call *call, const char *why)
{
	call->gate = HTTP_GATE_DROPPED;
	TEXT_COPY(call->why, why);
}

/*
 * Sets the timer before the check: if the process is stopped in between, the timer still cuts the connection.
 */
static void look_at_time(struct http_call *call)
{
	const struct clock *clock = call->client->clock;
	int64_t until_us = call->caller->until_us ? call->caller->until_us(call->context) : INT64_MAX;
	if (until_us == INT64_MAX)
		return;
	call->last = last_byte_of_socket(call->fd, clock, until_us);
	if (!call->last)
		drop(call, "no timer for the last byte");
	else if (clock_boot_us(clock) >= until_us)
		drop(call, "stopped for too long before the last byte");
}

static size_t give_last(struct http_call *call, char *to)
{
	if (call->gate == HTTP_GATE_SHUT) {
		call->gate = HTTP_GATE_HELD;
		call->must_tell = true;
	}
	if (call->gate == HTTP_GATE_HELD)
		return CURL_READFUNC_PAUSE;
	if (call->gate == HTTP_GATE_OPEN)
		look_at_time(call);
	if (call->gate == HTTP_GATE_DROPPED)
		return CURL_READFUNC_ABORT;
	*to = (char)call->request->body.data[call->given++];
	call->handed_over = true;
	return 1;
}

/*
 * libcurl counts the bytes that it wrote. When it has written the whole body, the kernel has the last byte.
 */
void http_call_note_out(struct http_call *call)
{
	curl_off_t written = 0;
	if (!call->handed_over || call->is_out)
		return;
	curl_easy_getinfo(call->easy, CURLINFO_SIZE_UPLOAD_T, &written);
	call->is_out = (size_t)written >= call->request->body.len;
	if (call->is_out)
		last_byte_handed_over(call->last);
}

/* Looks at growing intervals, because no event tells when the server has acknowledged everything. */
static bool is_held(struct http_call *call)
{
	int64_t now_us = clock_boot_us(call->client->clock);
	if (!call->must_tell || now_us < call->look_us)
		return false;
	if (call->fd == CURL_SOCKET_BAD || last_byte_is_next(call->fd))
		return true;
	call->look_ms = call->look_ms == 0 ? LAST_BYTE_LOOK_MS : 2 * call->look_ms;
	if (call->look_ms > LAST_BYTE_LOOK_MOST_MS)
		call->look_ms = LAST_BYTE_LOOK_MOST_MS;
	call->look_us = now_us + call->look_ms * US_PER_MS;
	return false;
}

bool http_call_has_news(struct http_call *call)
{
	return call->has_ended || is_held(call);
}

/* Gives the body once: libcurl cannot go back in it, because there is no CURLOPT_SEEKFUNCTION. */
static size_t give_held_body(char *to, size_t size, size_t count, void *context)
{
	struct http_call *call = context;
	size_t left = call->request->body.len - call->given, room = size * count;
	if (left == 0)
		return 0;
	if (left == 1)
		return give_last(call, to);
	size_t piece = left > 1 + LAST_BYTE_APART ? left - 1 - LAST_BYTE_APART : left - 1;
	if (room > piece)
		room = piece;
	memcpy(to, call->request->body.data + call->given, room);
	call->given += room;
	return room;
}

static size_t most_of(const struct http_call *call)
{
	return call->request->most_bytes ? call->request->most_bytes : HTTP_MOST_BYTES;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
	struct http_call *call = context;
	if (size * count > most_of(call) - call->body.len) {
		snprintf(call->why, sizeof(call->why), "the answer is longer than %zu bytes", most_of(call));
		call->is_too_long = true;
		return 0;
	}
	buffer_add(&call->body, data, size * count);
	return size * count;
}

static long status_of(const struct http_call *call)
{
	long status = 0;
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/*
 * Does this line end the head of an answer that came before the last byte left? libcurl would then wait until
 * the whole request is sent, but the gate must stay shut. The head tells the reason of a refusal; a success
 * at this point counts for nothing.
 */
static bool is_early(const struct http_call *call, const char *line, size_t len)
{
	bool is_end = len <= 2 && (*line == '\r' || *line == '\n');
	return is_end && call->request->holds && !call->handed_over && status_of(call) >= 200;
}

static size_t take_head(char *data, size_t size, size_t count, void *context)
{
	struct http_call *call = context;
	call->heard += size * count;
	if (call->heard > HEAD_MOST) {
		TEXT_COPY(call->why, "the answer's head is too long");
		return 0;
	}
	if (is_early(call, data, size * count)) {
		TEXT_COPY(call->why, "it answered before it had the whole request");
		call->refused_early = status_of(call) >= 400;
		return 0;
	}
	return size * count;
}

/* ---- preparing ---- */

static void set_limits(struct http_call *call)
{
	CURL *easy = call->easy;
	int64_t deadline_us = call->request->deadline_us ? call->request->deadline_us : HTTP_DEADLINE_US;
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(deadline_us / US_PER_MS));
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(deadline_us / US_PER_MS));
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a resolver that hangs */
}

static void set_guards(struct http_call *call)
{
	CURL *easy = call->easy;
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, call->is_plain ? "http" : "https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* never from the environment */
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	const char *ca = call->request->ca[0] ? call->request->ca : call->client->ca;
	if (*ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
}

static void set_body(struct http_call *call)
{
	const struct http_request *request = call->request;
	CURL *easy = call->easy;
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	if (strcmp(request->method, "HEAD") == 0)
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	if (request->body.len == 0 && strcmp(request->method, "POST") != 0)
		return;
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
	if (!request->holds) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.len ? (const char *)request->body.data : "");
		return;
	}
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_held_body);
	curl_easy_setopt(easy, CURLOPT_READDATA, call);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L); /* last_byte.c gives its socket a short timeout */
}

static void set_headers(struct http_call *call)
{
	const struct buffer *lines = &call->request->headers;
	http_call_add_header(call, "User-Agent: cartbus/" CARTBUS_VERSION);
	for (size_t at = 0; at < lines->len; at += strlen((const char *)lines->data + at) + 1)
		http_call_add_header(call, (const char *)lines->data + at);
}

static int set_up(struct http_call *call, char why[160])
{
	const struct http_request *request = call->request;
	if (request->holds && request->body.len == 0) {
		snprintf(why, 160, "a request without a body cannot hold before its end");
		return -EINVAL;
	}
	if (!request->method[0] || http_url_allowed(call->reach, request->url, &call->is_plain, why) < 0)
		return -EINVAL;
	call->easy = curl_easy_init();
	curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->error);
	curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
	curl_easy_setopt(call->easy, CURLOPT_URL, request->url);
	set_limits(call);
	set_guards(call);
	set_body(call);
	set_headers(call);
	int r = http_auth_apply(call, why);
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
	return r;
}

struct http_call *http_call_prepare(struct http_client *client, const struct http_request *request)
{
	struct http_call *call = memory_new(sizeof(*call));
	char why[160] = "the request was not made well";
	list_init(&call->hook);
	call->client = client;
	call->request = request;
	call->fd = CURL_SOCKET_BAD;
	call->reach = client->private_too ? HTTP_REACH_ADMIN : request->reach;
	if (set_up(call, why) < 0) {
		bar(call, why);
		call->has_ended = true;
	}
	return call;
}

void http_call_free(struct http_call *call)
{
	if (!call)
		return;
	list_remove(&call->hook);
	last_byte_end(&call->last);
	if (call->easy) {
		curl_multi_remove_handle(call->client->multi, call->easy);
		curl_easy_cleanup(call->easy);
	}
	curl_slist_free_all(call->headers);
	buffer_free(&call->body);
	free(call);
}

/* ---- the result ---- */

static enum http_end end_of(const struct http_call *call)
{
	if (call->barred == HTTP_BARRED)
		return HTTP_BARRED;
	if (call->code == CURLE_OK || call->refused_early)
		return HTTP_ANSWERED;
	if (call->request->holds)
		return call->is_out ? HTTP_UNKNOWN : HTTP_NOT_SENT;
	return call->has_begun ? HTTP_UNKNOWN : HTTP_NOT_SENT;
}

static void fill_words(const struct http_call *call, struct http_answer *ret)
{
	if (ret->end == HTTP_ANSWERED)
		snprintf(ret->words, sizeof(ret->words), "HTTP %ld", ret->status);
	else if (call->why[0])
		TEXT_COPY(ret->words, call->why);
	else if (call->gate == HTTP_GATE_DROPPED)
		TEXT_COPY(ret->words, "stopped before the last byte");
	else if (last_byte_was_cut(call->last))
		TEXT_COPY(ret->words, "the server had not acknowledged the last byte in time, and was cut off");
	else
		TEXT_COPY(ret->words, call->error[0] ? call->error : curl_easy_strerror(call->code));
	for (char *at = ret->words; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
}

static void fill_headers(const struct http_call *call, struct http_answer *ret)
{
	struct curl_header *header;
	for (size_t i = 0; i < HTTP_WANTED_MAX && call->request->wanted[i]; i++) {
		if (curl_easy_header(call->easy, call->request->wanted[i], 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
			continue;
		if (TEXT_COPY(ret->headers[i].value, header->value))
			ret->headers[i].name = call->request->wanted[i];
	}
}

void http_call_fill(const struct http_call *call, struct http_answer *ret)
{
	*ret = (struct http_answer){ .end = end_of(call),
		.went = !call->request->holds || call->handed_over,
		.too_long = call->is_too_long,
		.body = buffer_bytes(&call->body) };
	if (ret->end == HTTP_ANSWERED) {
		ret->status = status_of(call);
		fill_headers(call, ret);
	}
	fill_words(call, ret);
}
