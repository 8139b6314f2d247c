/*
 * line_wire.c: a connection of lines and counted bytes
 *
 * Fails by: ending the process; a bench whose peer hung up has nothing to say.
 */
#include "tests/bench/bus/line_wire.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, LINE_END = 2 };

struct line_wire {
	int fd;
	struct buffer out, in;
	size_t at; /* read up to here */
};

struct line_wire *line_wire_open(const char *port)
{
	struct line_wire *wire = memory_new(sizeof(*wire));
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1;

	to.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	wire->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (wire->fd < 0 || connect(wire->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("cannot connect to port %s: %s", port, strerror(errno));
	setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return wire;
}

void line_wire_add(struct line_wire *wire, const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	buffer_add(&wire->out, line, (size_t)len);
	buffer_add(&wire->out, "\r\n", LINE_END);
}

void line_wire_add_bytes(struct line_wire *wire, struct bytes bytes)
{
	buffer_add(&wire->out, bytes.data, bytes.len);
	buffer_add(&wire->out, "\r\n", LINE_END);
}

void line_wire_flush(struct line_wire *wire)
{
	for (size_t sent = 0; sent < wire->out.len;) {
		ssize_t len = write(wire->fd, wire->out.data + sent, wire->out.len - sent);

		if (len <= 0)
			die("cannot write to the server: %s", strerror(errno));
		sent += (size_t)len;
	}
	buffer_clear(&wire->out);
}

/* false: nothing came in time. */
static bool receive(struct line_wire *wire, int64_t wait_us)
{
	struct pollfd ready = { .fd = wire->fd, .events = POLLIN };
	struct timespec wait = { .tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000 };
	ssize_t len;

	if (ppoll(&ready, 1, &wait, NULL) <= 0)
		return false;
	if (wire->at > 0) {
		memmove(wire->in.data, wire->in.data + wire->at, wire->in.len - wire->at);
		wire->in.len -= wire->at;
		wire->at = 0;
	}
	len = read(wire->fd, buffer_grow(&wire->in, READ_BYTES), READ_BYTES);
	if (len <= 0)
		die("the server hung up");
	wire->in.len += (size_t)len;
	return true;
}

const char *line_wire_read(struct line_wire *wire, int64_t wait_us)
{
	for (;;) {
		char *line = (char *)wire->in.data + wire->at;
		char *end = wire->in.len > wire->at ? memmem(line, wire->in.len - wire->at, "\r\n", LINE_END) : NULL;

		if (end) {
			*end = '\0';
			wire->at += (size_t)(end - line) + LINE_END;
			return line;
		}
		if (!receive(wire, wait_us))
			return NULL;
	}
}

const char *line_wire_read_bytes(struct line_wire *wire, size_t len)
{
	char *bytes;

	while (wire->in.len - wire->at < len + LINE_END)
		receive(wire, INT64_C(1000000));
	bytes = (char *)wire->in.data + wire->at;
	bytes[len] = '\0';
	wire->at += len + LINE_END;
	return bytes;
}
