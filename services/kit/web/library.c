/*
 * library.c: gives requests whose heads are checked to libmicrohttpd
 *
 * Owns:      two daemons of the library, which have no listening socket and run in our loop.
 * Promises:  the library reads a socket only after head.c has checked that its head, and a body in chunks,
 *            can be read in one way only. The library frames the body, writes the answer and closes the
 *            socket. A connection carries one request. The body of a large request comes in pieces; between
 *            two pieces the request waits for its turn, or until its network has paid for the last one.
 *            The library takes the bytes of a feed when the owner adds some, and is suspended between them.
 * Fails by:  400 with words when the library leaves a body in its middle; otherwise cutting the connection.
 *
 * Why the library does not check the head: version 0.9.75 hides from its user what two servers read
 * differently (a folded line, NUL, a bare CR, a blank before a colon), has no budget per network, and closes
 * without an answer when a head has more arguments and cookies than fit its memory. A checked head is plain
 * and has at most PARTS_MOST of them, for which there is room.
 * Why one request: after an answer the library reads on in the same buffer and parses what it finds. Its
 * interface cannot make it stop before the next head is checked, or give the socket back. The servers that
 * deploy/front puts in front open a connection for each request anyway.
 */
#include "bus/base/memory.h"
#include "services/kit/web/web_inside.h"
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/*
 * The pool of a connection. One half is for the bytes that are read. The rest is for the arguments, cookies
 * and headers of a head, of PART_COST bytes each, for a second copy of its cookies, and for the head of the
 * answer. The library clears the unused part before it answers, so most connections get PLAIN (measured: 70
 * us of CPU for a webhook, where ROOMY took 116). ROOMY is for connections with a long head.
 */
static const size_t pools[LIBRARIES] = { [LIBRARY_PLAIN] = 32 * 1024, [LIBRARY_ROOMY] = 192 * 1024 };
enum {
	PLAIN_HEAD_MOST = 8 * 1024, /* fits one half of PLAIN, and its cookies fit the other half */
	PLAIN_PARTS_MOST = 100,
	FEED_BLOCK = 4 * 1024, /* the library ignores it when a feed goes in chunks */
	CLOSING_MOST = 100     /* connections that we have ended, but not yet the library */
};

const char *library_reason(unsigned status)
{
	return MHD_get_reason_phrase_for(status);
}

/* ---- the answer ---- */

static void suspend(struct web_connection *connection)
{
	connection->suspended = true;
	MHD_suspend_connection(connection->library);
}

static void resume(struct web_connection *connection)
{
	connection->web->library_due = true;
	if (connection->suspended)
		MHD_resume_connection(connection->library);
	connection->suspended = false;
}

/* The library asks for the next bytes of a feed. While there are none, it is suspended. */
static ssize_t read_feed(void *context, uint64_t at, char *ret, size_t most)
{
	struct web_connection *connection = context;
	size_t len;

	(void)at;
	if (connection->ended)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	len = feed_take(connection, ret, most);
	if (len > 0)
		return (ssize_t)len;
	if (connection->feed.ending)
		return MHD_CONTENT_READER_END_OF_STREAM;
	suspend(connection);
	return 0;
}

static ssize_t read_nothing(void *context, uint64_t at, char *ret, size_t most)
{
	(void)context, (void)at, (void)ret, (void)most;
	return MHD_CONTENT_READER_END_OF_STREAM;
}

/* 304 has no body, and must not say that its length is 0 (RFC 9110 section 8.6). The library leaves out a length that it does not know. */
static struct MHD_Response *unchanged_response(void)
{
	struct MHD_Response *response =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, FEED_BLOCK, read_nothing, NULL, NULL);

	if (response)
		MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
	return response;
}

static struct MHD_Response *feed_response(struct web_connection *connection)
{
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, FEED_BLOCK, read_feed, connection, NULL);
}

static struct MHD_Response *whole_response(struct answer *answer)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(answer->body.len, answer->body.data, MHD_RESPMEM_MUST_FREE);

	if (response)
		answer->body = (struct buffer){ 0 };
	return response;
}

static struct MHD_Response *response_of(struct web_connection *connection, bool is_feed)
{
	struct answer *answer = &connection->asked.answer;
	struct http_header fields[ANSWER_FIELDS_MAX];
	int count = answer_fields(answer, fields);
	struct MHD_Response *response = is_feed ? feed_response(connection)
		: answer->status == 304         ? unchanged_response()
						: whole_response(answer);

	if (!response)
		return NULL;
	for (int i = 0; i < count; i++)
		MHD_add_response_header(response, fields[i].name, fields[i].value);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	return response;
}

/* MHD_NO: the connection is to be closed. */
static enum MHD_Result queue_answer(struct web_connection *connection)
{
	struct MHD_Response *response;
	enum MHD_Result result;
	bool is_feed = feed_begin(connection);

	web_dress(connection);
	response = response_of(connection, is_feed);
	list_remove(&connection->receiving);
	connection->phase = PHASE_ANSWERING;
	web_settle(connection);
	if (is_feed)
		feed_open(connection);
	else
		web_time(connection, &connection->web->busy);
	result = response ? MHD_queue_response(connection->library, connection->asked.answer.status, response) : MHD_NO;
	if (response)
		MHD_destroy_response(response);
	if (!is_feed)
		web_end_request(connection);
	return result;
}

void web_answer(struct web_request *asked)
{
	struct web_connection *connection = LIST_ENTRY(asked, struct web_connection, asked);

	if (queue_answer(connection) == MHD_NO)
		shutdown(connection->fd, SHUT_RDWR);
	resume(connection);
}

void library_go_on(struct web_connection *connection)
{
	resume(connection);
}

/* The library sees that the socket has ended, and closes it. */
void library_let_go(struct web_connection *connection)
{
	shutdown(connection->fd, SHUT_RDWR);
	resume(connection);
}

/* ---- the request ---- */

static enum MHD_Result wait_for_turn(struct web_connection *connection)
{
	suspend(connection);
	web_queue(connection);
	return MHD_YES;
}

/* false: the request is refused. */
static bool hand_on(struct web_connection *connection, struct bytes piece)
{
	const struct web_owner *owner = &connection->web->owner;

	if (!web_keep_streaming(connection)) {
		connection->web->counters.cut_off++;
		web_refuse(connection, 408, "the body did not come within 5 minutes");
		return false;
	}
	if (owner->take_piece(owner->context, &connection->asked, piece))
		return true;
	head_refuse(connection);
	return false;
}

static enum MHD_Result take_piece(struct web_connection *connection, struct bytes piece)
{
	web_spend(connection, piece.len);
	connection->received += piece.len;
	if (connection->refused || connection->received > connection->asked.body_most)
		return MHD_NO;
	if (!connection->asked.streamed) {
		buffer_add(&connection->body, piece.data, piece.len);
		if (!web_count_bytes(connection)) /* this connection was refused to make room */
			return MHD_NO;
	} else if (!hand_on(connection, piece)) {
		return MHD_NO;
	}
	return connection->large && connection->received < connection->length ? wait_for_turn(connection) : MHD_YES;
}

static enum MHD_Result decide_request(struct web_connection *connection)
{
	struct web *web = connection->web;

	if (connection->refused)
		return MHD_NO;
	if (connection->large && web->served_large)
		return wait_for_turn(connection);
	web->served_large |= connection->large;
	web->counters.requests++;
	connection->asked.request.body =
		BYTES(connection->body.len > 0 ? (const void *)connection->body.data : "", connection->body.len);
	list_remove(&connection->receiving); /* a complete request is not dropped any more */
	if (web->owner.decide(web->owner.context, &connection->asked))
		return queue_answer(connection);
	connection->phase = PHASE_DECIDING;
	connection->asked.request.body = BYTES("", 0);
	web_forget_body(connection);
	web_count_bytes(connection);
	web_time(connection, &web->deciding);
	suspend(connection);
	return MHD_YES;
}

static struct web_connection *connection_of(struct MHD_Connection *handle)
{
	return MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Did the library read the same method and framing that head.c checked? */
static bool reads_the_same(const struct web_connection *connection, const char *method)
{
	static const char *const names[] = { MHD_HTTP_HEADER_CONTENT_LENGTH, MHD_HTTP_HEADER_TRANSFER_ENCODING };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *judged = request_header(&connection->asked.request, names[i]);
		const char *read = MHD_lookup_connection_value(connection->library, MHD_HEADER_KIND, names[i]);

		if (!judged != !read || (judged && strcmp(judged, read) != 0))
			return false;
	}
	return strcmp(method, connection->asked.request.method) == 0;
}

/* The library calls it after the head, for each piece of the body, and when the request is complete. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *handle, const char *url, const char *method,
	const char *version, const char *data, size_t *len, void **seen)
{
	struct web_connection *connection = connection_of(handle);
	struct bytes piece = BYTES(data, *len);

	(void)context, (void)url, (void)version;
	if (connection->ended)
		return MHD_NO;
	if (!*seen) {
		*seen = connection;
		return reads_the_same(connection, method) ? MHD_YES : MHD_NO;
	}
	*len = 0;
	return piece.len > 0 ? take_piece(connection, piece) : decide_request(connection);
}

/* ---- the socket ---- */

static bool has_more(const struct web_connection *connection)
{
	int waiting = 0;

	return ioctl(connection->fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

static bool has_hung_up(const struct web_connection *connection)
{
	char byte;
	ssize_t len = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return len == 0 || (len < 0 && errno != EAGAIN);
}

/*
 * The library closes its descriptor after this. If more bytes came then, the kernel would discard the answer
 * or the refusal, so a copy of the descriptor stays open for a moment. The library leaves in the middle of a
 * body when urgent bytes come (MSG_OOB), because it takes them for an error of the socket.
 */
static void on_left(struct web_connection *connection)
{
	bool has_answer = connection->phase == PHASE_ANSWERING || connection->phase == PHASE_FEEDING;
	bool answered = has_answer && has_more(connection);
	bool left_body = connection->phase == PHASE_BODY && !has_hung_up(connection);
	bool lingers = !connection->ended && (answered || left_body || connection->phase == PHASE_LINGERING);

	if (connection->phase == PHASE_FEEDING)
		web_end_request(connection);
	connection->library = NULL;
	connection->suspended = false;
	connection->fd = lingers ? fcntl(connection->fd, F_DUPFD_CLOEXEC, 0) : -1;
	connection->awaited = 0;
	if (connection->fd < 0)
		web_end(connection);
	else if (left_body)
		web_refuse(connection, 400, "the body has urgent bytes, or cannot be read to its end");
	else
		web_linger(connection);
}

static void on_connection(
	void *context, struct MHD_Connection *handle, void **connection, enum MHD_ConnectionNotificationCode what)
{
	struct web *web = context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*connection)
			on_left(*connection);
		return;
	}
	*connection = web->handed;
	web->handed->library = handle;
}

static enum web_library choose(const struct web_connection *connection)
{
	const struct request *request = &connection->asked.request;
	bool is_plain =
		connection->head_len <= PLAIN_HEAD_MOST && request->parts + request->header_count <= PLAIN_PARTS_MOST;

	return is_plain ? LIBRARY_PLAIN : LIBRARY_ROOMY;
}

/*
 * A pool becomes memory where it is written to: by the head and its parts, and by the bytes of the body that
 * are read at once, at most one half of the pool.
 */
size_t library_bytes(const struct web_connection *connection)
{
	const struct request *request = &connection->asked.request;
	size_t pool = pools[choose(connection)];
	size_t body = connection->chunked   ? CHUNKED_MOST
		: connection->length < pool ? (size_t)connection->length
					    : pool;
	size_t used = connection->head_len + (size_t)(request->parts + request->header_count) * PART_COST +
		(body < pool / 2 ? body : pool / 2);

	return used < pool ? used : pool;
}

void library_take(struct web_connection *connection)
{
	struct web *web = connection->web;

	web->handed = connection;
	web->library_due = true;
	if (MHD_add_connection(web->libraries[choose(connection)], connection->fd, NULL, 0) == MHD_YES ||
		connection->ended)
		return;
	connection->library = NULL;
	connection->fd = -1; /* the library has closed it */
	web_end(connection);
}

bool library_start(struct web *web)
{
	const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;

	for (int i = 0; i < LIBRARIES; i++) {
		web->libraries[i] = MHD_start_daemon(flags, 0, NULL, NULL, on_request, web,
			MHD_OPTION_NOTIFY_CONNECTION, on_connection, web, MHD_OPTION_CONNECTION_LIMIT,
			web->limits.sources.connections_all + CLOSING_MOST, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			pools[i], MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_END);
		if (!web->libraries[i])
			return false;
	}
	return true;
}

int library_descriptor(const struct web *web, enum web_library which)
{
	return MHD_get_daemon_info(web->libraries[which], MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void library_run(struct web *web)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	web->library_due = false;
	for (int i = 0; i < LIBRARIES; i++) {
		MHD_run(web->libraries[i]);
		web->library_due |= MHD_get_timeout(web->libraries[i], &wait_ms) == MHD_YES && wait_ms == 0;
	}
}

/* web_free has ended all connections before. */
void library_stop(struct web *web)
{
	for (int i = 0; i < LIBRARIES; i++) {
		if (!web->libraries[i])
			continue;
		MHD_run(web->libraries[i]); /* MHD_stop_daemon demands that no connection is suspended */
		MHD_stop_daemon(web->libraries[i]);
		web->libraries[i] = NULL;
	}
}
