/*
 * transport_smtp_connection.c: a connection to the mail server, opened by libcurl
 *
 * Owns:      an easy handle with "connect only", in a multi of its own.
 * Promises:  a connection is open only after TLS with a checked certificate, if that is demanded, and after
 *            the login. It never blocks, and sends nothing when it is cut.
 * Fails by:  a negative errno and libcurl's words.
 * Read next: transport_smtp_transfer.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/mail/transport_smtp.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	CONNECT_MS = 30 * 1000, /* until it is greeted and logged in */
	ANSWER_S = 30,
};

void smtp_answer_note(struct smtp_answer *answer, const char *line, size_t len)
{
	answer->code = len < 3 ? 0 : strtol((char[]){ line[0], line[1], line[2], 0 }, NULL, 10);
	mail_words(line, len, answer->text);
}

/* ---- libcurl's side ---- */

static int watch(int epoll, curl_socket_t fd, uint32_t events)
{
	struct epoll_event event = { .data.fd = fd, .events = events };
	if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0)
		return 0;
	return errno == ENOENT ? epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) : -1;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
	struct smtp_connection *connection = context;
	(void)easy, (void)known;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(connection->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	return watch(
		connection->epoll, fd, (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0));
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct smtp_connection *connection = context;
	(void)multi;
	connection->timer_us = timeout_ms < 0 ? -1 : clock_boot_us(connection->clock) + timeout_ms * US_PER_MS;
	return 0;
}

static int listen_in(CURL *easy, curl_infotype type, char *data, size_t len, void *context)
{
	struct smtp_connection *connection = context;
	(void)easy;
	if (type == CURLINFO_HEADER_IN && len > 3)
		smtp_answer_note(&connection->answer, data, len);
	return 0;
}

/* Without a password the server refuses the login, and that is reported. */
static void set_login(CURL *easy, const struct smtp_settings *settings)
{
	_cleanup_(buffer_free_secret) struct buffer password = { 0 };
	int r = file_read_secret(settings->password_file, &password);
	if (r < 0)
		log_event(LOG_ERROR, "%s: %s: there is no password to log in to the mail server with",
			settings->password_file, strerror(-r));
	curl_easy_setopt(easy, CURLOPT_USERNAME, settings->user);
	curl_easy_setopt(easy, CURLOPT_PASSWORD, r < 0 ? "" : buffer_text(&password));
}

static void set_security(CURL *easy, const struct smtp_settings *settings)
{
	curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)(settings->starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
	if (settings->ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, settings->ca);
	if (settings->user)
		set_login(easy, settings);
}

static void set_up_easy(struct smtp_connection *connection, const struct smtp_settings *settings)
{
	CURL *easy = connection->easy;
	char url[320];
	snprintf(url, sizeof(url), strchr(settings->host, ':') ? "smtp://[%s]:%d" : "smtp://%s:%d", settings->host,
		settings->port);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp");
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* never from the environment */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)ANSWER_S);
	curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L); /* to the function, not to stderr */
	curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, listen_in);
	curl_easy_setopt(easy, CURLOPT_DEBUGDATA, connection);
	set_security(easy, settings);
}

struct smtp_connection *smtp_connection_new(const struct smtp_settings *settings, int epoll)
{
	struct smtp_connection *connection = memory_new(sizeof(*connection));
	list_init(&connection->hook);
	connection->epoll = epoll;
	connection->clock = settings->clock;
	connection->fd = CURL_SOCKET_BAD;
	connection->timer_us = 0;
	connection->multi = curl_multi_init();
	connection->easy = curl_easy_init();
	if (!connection->multi || !connection->easy)
		die("libcurl gives no handle");
	curl_multi_setopt(connection->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(connection->multi, CURLMOPT_SOCKETDATA, connection);
	curl_multi_setopt(connection->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(connection->multi, CURLMOPT_TIMERDATA, connection);
	set_up_easy(connection, settings);
	if (curl_multi_add_handle(connection->multi, connection->easy) != CURLM_OK)
		die("libcurl does not take a connection");
	return connection;
}

void smtp_connection_free(struct smtp_connection *connection)
{
	if (!connection)
		return;
	list_remove(&connection->hook);
	if (connection->is_open)
		shutdown(connection->fd, SHUT_RDWR); /* libcurl's QUIT does not leave this machine */
	curl_multi_remove_handle(connection->multi, connection->easy);
	curl_easy_cleanup(connection->easy);
	curl_multi_cleanup(connection->multi);
	free(connection);
}

void smtp_connection_leave(struct smtp_connection *connection)
{
	smtp_connection_send(connection, bytes_of("QUIT\r\n"));
	smtp_connection_free(connection);
}

/* ---- opening ---- */

static int opened(struct smtp_connection *connection)
{
	curl_easy_getinfo(connection->easy, CURLINFO_ACTIVESOCKET, &connection->fd);
	connection->timer_us = -1;
	connection->is_open = connection->fd != CURL_SOCKET_BAD;
	return connection->is_open ? 1 : -ENOTCONN;
}

static int failed(const struct smtp_connection *connection, CURLcode code, char ret_why[256])
{
	snprintf(ret_why, 256, "%.90s; last answer: %.140s", curl_easy_strerror(code),
		connection->answer.text[0] ? connection->answer.text : "none");
	return -ECONNREFUSED;
}

int smtp_connection_opening(struct smtp_connection *connection, curl_socket_t fd, uint32_t events, char ret_why[256])
{
	int running, left,
		mask = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		(events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
	if (mask)
		curl_multi_socket_action(connection->multi, fd, mask, &running);
	if (connection->timer_us >= 0 && connection->timer_us <= clock_boot_us(connection->clock)) {
		connection->timer_us = -1;
		curl_multi_socket_action(connection->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	const CURLMsg *message = curl_multi_info_read(connection->multi, &left);
	if (!message || message->msg != CURLMSG_DONE)
		return 0;
	return message->data.result == CURLE_OK ? opened(connection)
						: failed(connection, message->data.result, ret_why);
}

/* ---- open ---- */

ssize_t smtp_connection_send(struct smtp_connection *connection, struct bytes bytes)
{
	size_t sent = 0;
	CURLcode code = curl_easy_send(connection->easy, bytes.data, bytes.len, &sent);
	return code == CURLE_OK ? (ssize_t)sent : code == CURLE_AGAIN ? -EAGAIN : -ECONNRESET;
}

ssize_t smtp_connection_receive(struct smtp_connection *connection, void *to, size_t room)
{
	size_t len = 0;
	CURLcode code = curl_easy_recv(connection->easy, to, room, &len);
	if (code == CURLE_OK && len > 0)
		return (ssize_t)len;
	return code == CURLE_AGAIN ? -EAGAIN : -ECONNRESET;
}

/* Bytes that TLS uses itself do not count as received. */
bool smtp_connection_is_quiet(struct smtp_connection *connection)
{
	struct pollfd poller = { .fd = connection->fd, .events = POLLIN | POLLRDHUP };
	char one;
	if (poll(&poller, 1, 0) == 0)
		return true;
	return poller.revents == POLLIN && smtp_connection_receive(connection, &one, 1) == -EAGAIN;
}

void smtp_connection_wait(struct smtp_connection *connection, uint32_t events)
{
	if (connection->events != events && watch(connection->epoll, connection->fd, events) < 0)
		die("epoll: %s", strerror(errno));
	connection->events = events;
}

/*
 * A probe: does the mail server let us in?
 *
 * Promises:  opens a connection in the same way as for a mail, and sends no mail.
 * Fails by:  a negative errno, at the latest when libcurl's deadline is over.
 */

enum { LOOK_MS = 100 };

int smtp_probe(const struct smtp_settings *settings, char ret_why[256])
{
	_cleanup_close_ int epoll = epoll_create1(EPOLL_CLOEXEC);
	int opened = 0;

	if (epoll < 0)
		return -errno;
	struct smtp_connection *connection = smtp_connection_new(settings, epoll);
	while (opened == 0) {
		struct epoll_event event = { .data.fd = CURL_SOCKET_BAD };
		int count = epoll_wait(epoll, &event, 1, LOOK_MS);

		opened = smtp_connection_opening(connection, event.data.fd, count > 0 ? event.events : 0, ret_why);
	}
	if (opened > 0)
		smtp_connection_leave(connection);
	else
		smtp_connection_free(connection);
	return opened > 0 ? 0 : opened;
}
