/*
 * lmtp_server.c: the sockets and connections of LMTP
 *
 * Owns:      the connections.
 * Promises:  the memory of connections and mails is bounded, for all and, on a Unix socket, for each user
 *            (bus/base/sources.h). A mail server of this machine and a stranger on it look the same, but only
 *            the mail server brings mails that are taken. So the connection that has gone longest without such
 *            a mail makes room for a new connection, at once, also while it sends commands; and the mail of
 *            such a connection makes room for another mail. Connections and mails that are turned away are counted
 *            and logged.
 * Fails by:  421 after five minutes without a mail that was taken, or when a connection makes room; 452 while the
 *            mails that wait for their answers fill the room; die() at start.
 * Read next: delivery.c (handles a mail), lmtp.c (the protocol), lmtp_socket.c (opens the socket), folder.c
 *            (takes mails from a maildir)
 */
#include "services/platform/mailin/lmtp_server.h"
#include "bus/base/list.h"
#include "bus/base/listen_at.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/sources.h"
#include "bus/base/text.h"
#include "services/platform/mailin/lmtp.h"
#include "services/platform/mailin/lmtp_socket.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRUITLESS_US (5 * US_PER_MINUTE) /* without a mail that was taken; RFC 5321 4.5.3.2.7 asks for no less */
#define SESSION_US (30 * US_PER_MINUTE)
#define TOLD_EVERY_US (10 * US_PER_S)
enum {
	CONNECTIONS_MOST = 128, /* of 10 KB each; to drive a new one out takes as many quick ones */
	MAILS_EACH = 16,
	ACCEPTS_AT_ONCE = 64,
	USERS_SHARE = 2, /* one user may have half of a Unix socket's budget */
	LINES_AT_ONCE = 4,
	READ_AT_ONCE = 8192,
	EVENTS_AT_ONCE = 16
};

static const size_t BYTES_EACH = (size_t)MAILS_EACH * REPORT_BYTES_MOST;

struct lmtp_server {
	struct lmtp_socket socket;
	int epoll;
	struct deliveries *deliveries;
	size_t size_most; /* of a mail to any address here */
	const struct clock *clock;
	struct list connections;
	struct list dead; /* ended, and freed at the end of the turn: an event may still name them */
	struct sources *sources;
	struct spare spare;
	int64_t tell_at_us; /* boot time: when turned-away clients are logged next */
};

struct connection {
	struct list hook;
	struct lmtp_server *server;
	struct lmtp *lmtp;
	struct delivery delivery;
	int fd; /* -1: it has ended */
	struct source *source;
	size_t mail_bytes;              /* of its mail, counted in its budget */
	int64_t begun_us, fruitless_us; /* boot time of its start, and of its last mail that was taken */
};

static void send_out(struct connection *connection);

/* ---- connections ---- */

/* Ends a connection and gives its budget back; bury() frees its memory. */
static void connection_end(struct connection *connection)
{
	struct lmtp_server *server = connection->server;

	delivery_end(&connection->delivery);
	source_give_bytes(server->sources, connection->source, connection->mail_bytes);
	source_leave(server->sources, connection->source, clock_boot_us(server->clock));
	/* close() does both only if no child has the descriptor; a reader that is being started has it. */
	epoll_ctl(server->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
	shutdown(connection->fd, SHUT_RDWR);
	close(connection->fd);
	connection->fd = -1;
	list_remove(&connection->hook);
	list_append(&server->dead, &connection->hook);
}

static void bury(struct lmtp_server *server)
{
	LIST_EACH_SAFE (hook, &server->dead) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		list_remove(&connection->hook);
		lmtp_free(connection->lmtp);
		free(connection);
	}
}

/* Ends a connection to make room. A mail server reads the reason, and comes again. */
static void end_for_another(struct connection *connection, enum source_verdict why)
{
	static const char FAREWELL[] = "421 4.4.2 no whole mail for too long while others wait\r\n";

	source_turn_away(connection->server->sources, source_key(connection->source), why);
	if (send(connection->fd, FAREWELL, strlen(FAREWELL), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_event(LOG_DEBUG, "a connection that made room took no farewell");
	connection_end(connection);
}

/*
 * Finds the connection of this source (NULL: of all) that must make room. A connection whose mail waits for
 * its answer stays. NULL: there is none.
 */
static struct connection *who_makes_room(
	const struct lmtp_server *server, const struct source *source, size_t bytes_least)
{
	struct connection *found = NULL;

	LIST_EACH (hook, &server->connections) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		if (lmtp_waits(connection->lmtp) || connection->mail_bytes < bytes_least ||
			(source && connection->source != source))
			continue;
		if (!found || connection->fruitless_us < found->fruitless_us)
			found = connection;
	}
	return found;
}

/* ---- the memory of mails ---- */

/* Over TCP there is only one source, so it has the budgets of all. */
static unsigned shares(bool is_unix)
{
	return is_unix ? USERS_SHARE : 1;
}

static size_t bytes_all(const struct lmtp_server *server)
{
	return shares(server->socket.path[0]) * BYTES_EACH;
}

/*
 * Is there room for a whole mail? Mails that wait for their answers stay; a mail that is still being sent
 * makes room.
 */
static bool has_room(void *self)
{
	const struct connection *asking = ((const struct delivery *)self)->self;
	const struct lmtp_server *server = asking->server;
	size_t all = REPORT_BYTES_MOST, own = REPORT_BYTES_MOST;

	LIST_EACH (hook, &server->connections) {
		const struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		if (!lmtp_waits(connection->lmtp))
			continue;
		all += connection->mail_bytes;
		own += connection->source == asking->source ? connection->mail_bytes : 0;
	}
	if (own <= BYTES_EACH && all <= bytes_all(server))
		return true;
	source_turn_away(server->sources, source_key(asking->source), own > BYTES_EACH ? SOURCE_CROWDED : SOURCE_FULL);
	return false;
}

/* Counts the bytes of the connection's mail. false: there is still too little room, and the connection has ended. */
static bool count_mail(struct connection *connection)
{
	struct sources *sources = connection->server->sources;
	size_t now = lmtp_mail_bytes(connection->lmtp) + routed_memory(connection->delivery.routed),
	       before = connection->mail_bytes;
	enum source_verdict why;

	connection->mail_bytes = now;
	if (now <= before)
		source_give_bytes(sources, connection->source, before - now);
	while (now > before && !source_take_bytes(sources, connection->source, now - before, &why)) {
		struct connection *other =
			who_makes_room(connection->server, why == SOURCE_CROWDED ? connection->source : NULL, 1);

		if (!other || other == connection)
			connection->mail_bytes = before; /* bytes not taken are not given back */
		end_for_another(other ? other : connection, why);
		if (connection->fd < 0)
			return false;
	}
	return true;
}

/* ---- talking ---- */

/* While a mail waits for its answer, or bytes wait to be sent, nothing more is read. */
static void wait_on(struct connection *connection)
{
	bool sends = lmtp_out(connection->lmtp)->len > 0;
	struct epoll_event event = { .data.ptr = connection,
		.events = sends                        ? EPOLLOUT
			: lmtp_waits(connection->lmtp) ? EPOLLRDHUP
						       : EPOLLIN };

	if (epoll_ctl(connection->server->epoll, EPOLL_CTL_MOD, connection->fd, &event) < 0)
		die("epoll: %s", strerror(errno));
}

static void send_out(struct connection *connection)
{
	struct buffer *out = lmtp_out(connection->lmtp);

	if (!count_mail(connection))
		return;
	while (out->len > 0) {
		ssize_t sent = send(connection->fd, out->data, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (sent < 0) {
			connection_end(connection);
			return;
		}
		memmove(out->data, out->data + sent, out->len - (size_t)sent);
		out->len -= (size_t)sent;
	}
	if (out->len == 0 && lmtp_has_ended(connection->lmtp))
		connection_end(connection);
	else
		wait_on(connection);
}

static void receive(struct connection *connection)
{
	char heard[READ_AT_ONCE];
	ssize_t len = recv(connection->fd, heard, sizeof(heard), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		connection_end(connection);
		return;
	}
	lmtp_hear(connection->lmtp, BYTES(heard, (size_t)len));
	send_out(connection);
}

/* The user at the other end of a Unix socket; over TCP the only network, which is this machine. */
static struct source_key key_of(const struct lmtp_server *server, int fd)
{
	const struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct source_key key = { 0 };
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (server->socket.path[0] && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		return source_key_of_user(peer.uid);
	source_key_of_address((const struct sockaddr *)&here, &key);
	return key;
}

/* SOURCE_WELCOME: there is room for one more of this source. */
static enum source_verdict make_room(struct lmtp_server *server, const struct source_key *key)
{
	enum source_verdict verdict = source_may_enter(server->sources, key);
	struct connection *other;

	if (verdict == SOURCE_WELCOME)
		return verdict;
	other = who_makes_room(server, verdict == SOURCE_CROWDED ? source_find(server->sources, key) : NULL, 0);
	if (!other)
		return verdict;
	end_for_another(other, verdict);
	return SOURCE_WELCOME;
}

static void turn_away(struct lmtp_server *server, int fd, enum source_verdict why)
{
	static const char FAREWELL[] = "421 4.3.2 too many connections\r\n";
	const struct source_key key = key_of(server, fd);

	source_turn_away(server->sources, &key, why);
	if (send(fd, FAREWELL, strlen(FAREWELL), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_event(LOG_DEBUG, "a connection that was turned away took no farewell");
	close(fd);
}

/* A connection whose mail was taken is no longer among the first to make room. Anyone can bring a mail that is not taken. */
static void answer(void *self, const char *reply)
{
	struct connection *connection = self;

	if (text_starts(reply, "250"))
		connection->fruitless_us = clock_boot_us(connection->server->clock);
	lmtp_answer(connection->lmtp, reply);
}

static void wake(void *self)
{
	send_out(self);
}

static void let_in(struct lmtp_server *server, int fd)
{
	const struct source_key key = key_of(server, fd);
	enum source_verdict verdict = make_room(server, &key);

	if (verdict != SOURCE_WELCOME) {
		turn_away(server, fd, verdict);
		return;
	}
	struct connection *connection = memory_new(sizeof(*connection));
	const struct lmtp_owner owner = { .self = &connection->delivery,
		.knows = delivery_knows,
		.has_room = has_room,
		.size_most = server->size_most,
		.bytes_most = delivery_bytes_most,
		.is_in_parts = delivery_is_in_parts,
		.part = delivery_take_part,
		.begin_anew = delivery_begin_anew,
		.take = delivery_take };
	struct epoll_event event = { .data.ptr = connection };

	connection->server = server;
	connection->fd = fd;
	connection->begun_us = connection->fruitless_us = clock_boot_us(server->clock);
	source_enter(server->sources, &key, connection->begun_us, &connection->source);
	connection->delivery = (struct delivery){
		.all = server->deliveries, .lmtp = &connection->lmtp, .self = connection, .answer = answer, .wake = wake
	};
	connection->lmtp = lmtp_new(&owner);
	list_append(&server->connections, &connection->hook);
	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll: %s", strerror(errno));
	send_out(connection);
}

/*
 * No descriptor is left for a waiting client: accepts it with the spare one, and turns it away. false: no
 * client was turned away.
 */
static bool turn_away_by_spare(struct lmtp_server *server)
{
	if (!spare_lend(&server->spare))
		return false;
	int fd = accept4(server->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		turn_away(server, fd, SOURCE_WITHOUT_DESCRIPTOR);
	spare_keep(&server->spare);
	return fd >= 0;
}

static void accept_all(struct lmtp_server *server)
{
	spare_keep(&server->spare);
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) { /* open connections have their turn meanwhile */
		int fd = accept4(server->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			let_in(server, fd);
		else if ((errno != EMFILE && errno != ENFILE) || !turn_away_by_spare(server))
			return;
	}
}

static void work(void *context)
{
	struct lmtp_server *server = context;
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(server->epoll, events, EVENTS_AT_ONCE, 0);
	bool somebody_comes = false; /* last: open connections are served before */

	for (int i = 0; i < n; i++) {
		struct connection *connection = events[i].data.ptr;
		if (!connection)
			somebody_comes = true;
		else if (connection->fd < 0)
			continue; /* it has made room for another in this turn */
		else if (events[i].events & (EPOLLERR | EPOLLHUP) ||
			(events[i].events & EPOLLRDHUP && lmtp_waits(connection->lmtp)))
			connection_end(connection);
		else if (events[i].events & EPOLLOUT)
			send_out(connection);
		else
			receive(connection);
	}
	if (somebody_comes)
		accept_all(server);
	bury(server);
}

static int64_t ends_us(const struct connection *connection)
{
	int64_t fruitless_us = connection->fruitless_us + FRUITLESS_US, session_us = connection->begun_us + SESSION_US;

	return fruitless_us < session_us ? fruitless_us : session_us;
}

/* A client that does not take the farewell is cut off after another minute. */
static void end(struct connection *connection, int64_t now_us)
{
	if (lmtp_has_ended(connection->lmtp)) {
		connection_end(connection);
		return;
	}
	lmtp_bid_farewell(connection->lmtp, "421 4.4.2 no whole mail, or here, for too long");
	connection->begun_us = now_us - SESSION_US + US_PER_MINUTE;
	connection->fruitless_us = now_us;
	send_out(connection);
}

static void tell_turned_away(struct lmtp_server *server, int64_t now_us)
{
	struct source_turned_away told;

	if (now_us < server->tell_at_us)
		return;
	for (int i = 0; i < LINES_AT_ONCE && sources_take_turned_away(server->sources, &told); i++) {
		log_event(LOG_WARNING, "over LMTP %llu connections or mails of %s were turned away: %s",
			(unsigned long long)told.count, told.who, source_verdict_text(told.why));
		server->tell_at_us = now_us + TOLD_EVERY_US;
	}
}

uint64_t lmtp_server_turned_away(const struct lmtp_server *server)
{
	struct source_figures figures;

	sources_figures(server->sources, &figures);
	return figures.turned_away;
}

int64_t lmtp_server_look(struct lmtp_server *server)
{
	int64_t now_us = clock_boot_us(server->clock), next_us = -1;

	tell_turned_away(server, now_us);
	LIST_EACH_SAFE (hook, &server->connections) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);
		int64_t left_us = ends_us(connection) - now_us;
		if (left_us <= 0)
			end(connection, now_us);
		else if (next_us < 0 || left_us < next_us)
			next_us = left_us;
	}
	bury(server);
	return next_us;
}

/* ---- from beginning to end ---- */

static struct sources *new_sources(bool is_unix)
{
	const unsigned share = shares(is_unix);

	return sources_new(&(struct source_limits){ .connections_each = CONNECTIONS_MOST / share,
		.connections_all = CONNECTIONS_MOST,
		.bytes_each = BYTES_EACH,
		.bytes_all = share * BYTES_EACH,
		.work_percent_each = 100,
		.work_percent_all = 100,
		.sources_most = CONNECTIONS_MOST + 1 });
}

struct lmtp_server *lmtp_server_new(struct loop *loop, const struct lmtp_server_settings *settings)
{
	struct lmtp_server *server = memory_new(sizeof(*server));
	struct epoll_event event = { .events = EPOLLIN };

	server->deliveries = deliveries_new(&settings->needs);
	server->size_most = mailbox_size_most(settings->needs.routing->tables);
	server->clock = settings->needs.clock;
	server->sources = new_sources(settings->where[0] == '/');
	server->spare.fd = -1;
	spare_keep(&server->spare);
	list_init(&server->connections);
	list_init(&server->dead);
	lmtp_socket_listen(&server->socket, settings->where, settings->group, CONNECTIONS_MOST);
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->socket.fd, &event) < 0)
		die("epoll: %s", strerror(errno));
	loop_watch(loop, server->epoll, false, work, server);
	return server;
}

void lmtp_server_free(struct lmtp_server *server)
{
	if (!server)
		return;
	LIST_EACH_SAFE (hook, &server->connections)
		connection_end(LIST_ENTRY(hook, struct connection, hook));
	bury(server);
	deliveries_free(server->deliveries);
	close(server->epoll);
	lmtp_socket_close(&server->socket);
	spare_lend(&server->spare);
	sources_free(server->sources);
	free(server);
}
