/*
 * feed.c: answers without an end: their places, the bytes that wait for their clients, and clients that do not read
 *
 * Owns:      the places of the feeds, and their bytes that the library has not taken.
 * Promises:  the bytes of a feed arrive whole and in order, or the feed ends. A feed costs a bounded number of bytes here and in the
 *            kernel. A client that goes away is noticed at once if its machine tells it; otherwise, and if it does not read, it is cut
 *            30 to 35 s after its kernel took the last byte while others waited.
 * Fails by:  503 with words if there is no place; -ENOBUFS; cutting the connection.
 * Read next: library.c (how the library reads a feed), web.c
 *
 * The library does not notice that a client goes away while the connection is suspended, because it watches no suspended socket (measured:
 * 0.9.75). So the socket is also in our epoll set, for EPOLLRDHUP alone.
 */
#include "services/kit/web/web_inside.h"
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { KERNEL_BYTES = 64 * 1024 }; /* that wait in the kernel; without a limit they could be 4 MB for each client */
static const int64_t look_us = 5 * US_PER_S, stuck_most_us = 30 * US_PER_S;

/* ---- places ---- */

struct sources *feed_places(const struct web_limits *limits)
{
	const struct source_limits places = { .connections_each = limits->feeds_each,
		.connections_all = limits->feeds_all,
		.work_percent_each = 1, /* counted in web's `sources`, not here */
		.work_percent_all = 1,
		.sources_most = limits->feeds_all + 1 };

	return limits->feeds_all > 0 ? sources_new(&places) : NULL;
}

static bool take_place(struct web_connection *connection)
{
	struct web *web = connection->web;
	const struct source_key *key = connection->client ? source_key(connection->client) : NULL;

	return web->feeds && source_enter(web->feeds, key, web_now_us(web), &connection->feed.place) == SOURCE_WELCOME;
}

bool feed_begin(struct web_connection *connection)
{
	struct answer *answer = &connection->asked.answer;

	if (!answer->feed || answer->status != 200)
		return false;
	if (take_place(connection)) {
		connection->feed.open = true;
		connection->feed.out = answer->body;
		answer->body = (struct buffer){ 0 };
		return true;
	}
	connection->web->counters.turned_away++;
	buffer_free(&answer->body);
	*answer = (struct answer){ .proven = answer->proven };
	answer_json_error(answer, 503, "too many pages are kept up to date now");
	return false;
}

void feed_open(struct web_connection *connection)
{
	const int most = KERNEL_BYTES;

	setsockopt(connection->fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
	connection->phase = PHASE_FEEDING;
	connection->asked.request.body = BYTES("", 0);
	web_forget_body(connection);
	web_count_bytes(connection);
	web_time(connection, &connection->web->feeding);
	web_watch(connection, EPOLLRDHUP);
}

void feed_close(struct web_connection *connection)
{
	struct web_feed *feed = &connection->feed;

	if (!feed->open)
		return;
	web_watch(connection, 0);
	source_leave(connection->web->feeds, feed->place, web_now_us(connection->web));
	buffer_free(&feed->out);
	*feed = (struct web_feed){ .ending = true };
}

unsigned web_feeds(const struct web *web)
{
	struct source_figures figures = { 0 };

	if (web->feeds)
		sources_figures(web->feeds, &figures);
	return figures.connections;
}

/* ---- bytes ---- */

static size_t waiting_bytes(const struct web_feed *feed)
{
	return feed->out.len - feed->taken;
}

static void drop_taken(struct web_feed *feed)
{
	if (feed->taken == 0)
		return;
	memmove(feed->out.data, feed->out.data + feed->taken, waiting_bytes(feed));
	feed->out.len -= feed->taken;
	feed->taken = 0;
}

int web_feed(struct web_request *asked, struct bytes bytes)
{
	struct web_connection *connection = LIST_ENTRY(asked, struct web_connection, asked);
	struct web_feed *feed = &connection->feed;
	size_t most = connection->web->limits.feed_bytes;

	if (connection->phase != PHASE_FEEDING || feed->ending)
		return -EPIPE;
	if (waiting_bytes(feed) > most || bytes.len > most - waiting_bytes(feed)) {
		feed->full = true;
		return -ENOBUFS;
	}
	drop_taken(feed);
	buffer_add(&feed->out, bytes.data, bytes.len);
	library_go_on(connection);
	return 0;
}

void web_feed_end(struct web_request *asked)
{
	struct web_connection *connection = LIST_ENTRY(asked, struct web_connection, asked);

	if (connection->phase != PHASE_FEEDING || connection->feed.ending)
		return;
	connection->feed.ending = true;
	connection->feed.stuck_us = web_now_us(connection->web);
	library_go_on(connection);
}

static void ask_owner(struct web_connection *connection)
{
	const struct web_owner *owner = &connection->web->owner;

	connection->feed.full = false;
	if (owner->refill)
		owner->refill(owner->context, &connection->asked);
}

size_t feed_take(struct web_connection *connection, char *ret, size_t most)
{
	struct web_feed *feed = &connection->feed;
	size_t len;

	if (waiting_bytes(feed) == 0 && feed->full && !feed->ending)
		ask_owner(connection);
	len = waiting_bytes(feed) < most ? waiting_bytes(feed) : most;
	if (len == 0)
		return 0;
	memcpy(ret, feed->out.data + feed->taken, len);
	feed->taken += len;
	if (waiting_bytes(feed) == 0) { /* most feeds are quiet most of the time: they need no memory meanwhile */
		buffer_free(&feed->out);
		feed->taken = 0;
	}
	return len;
}

/* ---- clients that do not read ---- */

/* The bytes that the client's kernel has acknowledged; 0: unknown. */
static uint64_t acknowledged(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 ? info.tcpi_bytes_acked : 0;
}

static bool has_waiting(const struct web_connection *connection)
{
	int in_kernel = 0;

	return waiting_bytes(&connection->feed) > 0 ||
		(ioctl(connection->fd, SIOCOUTQ, &in_kernel) == 0 && in_kernel > 0);
}

/* Notes whether the client reads. A feed that ends has 30 s for all of its bytes, however slowly they move. */
static bool is_stuck(struct web_connection *connection)
{
	struct web_feed *feed = &connection->feed;
	int64_t now_us = web_now_us(connection->web);
	uint64_t now_acknowledged = acknowledged(connection->fd);
	bool has_moved = now_acknowledged != feed->acknowledged;

	feed->acknowledged = now_acknowledged;
	if (!feed->ending && !has_waiting(connection))
		feed->stuck_us = 0;
	else if (!feed->ending && (has_moved || feed->stuck_us == 0))
		feed->stuck_us = now_us;
	return feed->stuck_us > 0 && now_us - feed->stuck_us >= stuck_most_us;
}

int64_t feeds_look(struct web *web)
{
	while (!list_empty(&web->feeding)) {
		struct web_connection *connection = LIST_ENTRY(web->feeding.next, struct web_connection, timed);
		int64_t left_us = connection->since_us + look_us - web_now_us(web);

		if (left_us > 0)
			return left_us;
		if (is_stuck(connection)) {
			web->counters.cut_off++;
			web_end(connection);
		} else {
			web_time(connection, &web->feeding);
		}
	}
	return -1;
}
