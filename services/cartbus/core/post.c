/*
 * post.c: one HTTP POST, over one connection that is closed after it
 */
#include "services/cartbus/core/post.h"

#include "bus/base/cleanup.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { PATIENCE_S = 10, ANSWER_BYTES_MAX = 1 << 20, STATUS_LEAST = 100, STATUS_MOST = 999 /* RFC 9110 15 */ };

static int connect_to(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = -1, failed = -EHOSTUNREACH;

	if (getaddrinfo(host, port, &hints, &found))
		return failed;
	for (struct addrinfo *one = found; one && fd < 0; one = one->ai_next) {
		fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(fd, one->ai_addr, one->ai_addrlen) == 0)
			break;
		failed = -errno;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd < 0 ? failed : fd;
}

static int send_all(int fd, struct bytes bytes)
{
	size_t sent = 0;

	while (sent < bytes.len) {
		ssize_t some = send(fd, (const char *)bytes.data + sent, bytes.len - sent, MSG_NOSIGNAL);

		if (some < 0)
			return -errno;
		sent += (size_t)some;
	}
	return 0;
}

static int hear_all(int fd, struct buffer *ret)
{
	while (ret->len < ANSWER_BYTES_MAX) {
		ssize_t got = recv(fd, buffer_grow(ret, 4096), 4096, 0);

		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		ret->len += (size_t)got;
	}
	return -EMSGSIZE;
}

int post_send(const struct post *post, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer request = { 0 }, answer = { 0 };
	_cleanup_close_ int fd = connect_to(post->host, post->port);
	int failed = fd < 0 ? fd : 0, status;
	const char *text, *body;

	if (failed)
		return failed;
	buffer_printf(&request, "POST %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
		post->path, post->host, post->port, post->body.len, post->headers);
	buffer_add(&request, post->body.data, post->body.len);
	failed = send_all(fd, buffer_bytes(&request));
	failed = failed ? failed : hear_all(fd, &answer);
	if (failed)
		return failed;
	text = buffer_text(&answer);
	body = strstr(text, "\r\n\r\n");
	if (sscanf(text, "HTTP/1.%*d %d", &status) != 1 || status < STATUS_LEAST || status > STATUS_MOST || !body)
		return -EPROTO;
	buffer_add_text(ret, body + 4);
	return status;
}
