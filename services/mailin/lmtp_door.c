/*
 * lmtp_door.c: the sockets of LMTP, and what becomes of a mail
 *
 * Owns:      the listening socket, the connections, the mails that are being said, and when strangers' mails were first seen.
 * Promises:  a mail is answered with 250 only when the broker has confirmed what it says, or it lies aside, on the disk; as long as
 *            that is not so the answer is 4xx and the mail server keeps it. Never more than CONNECTIONS_MOST at once.
 * Fails by:  451 while the broker is away or the disk is full; 421 for who is silent for five minutes, or one too many; die() at start.
 * Read next: lmtp.c (the protocol), report.c, match.c, folder.c (the same from a maildir)
 */
#include "services/mailin/lmtp_door.h"
#include "bus/base/file.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/mailin/aside.h"
#include "services/mailin/lmtp.h"
#include "services/mailin/match.h"
#include "services/mailin/report.h"
#include "services/mailin/tell.h"
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SILENT_US (5 * US_PER_MINUTE)
#define SESSION_US (30 * US_PER_MINUTE)
#define STRANGER_US                                                                                                    \
	US_PER_MINUTE /* the word that a mail was sent may be on its way to us while it comes back already */
enum { CONNECTIONS_MOST = 32, READ_AT_ONCE = 8192, EVENTS_AT_ONCE = 16, STRANGERS = 64 };

static const char OK[] = "250 2.0.0 ok", AWAY[] = "451 4.3.0 away from the broker; come again";

struct stranger {
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int64_t first_us; /* boot time; 0: none */
};

struct lmtp_door {
	int listening, epoll;
	char unix_path[108], aside[400];
	struct buffer key;
	struct runtime *runtime;
	const struct clock *clock;
	struct list connections, sayings;
	int connection_count;
	struct stranger strangers[STRANGERS];
	unsigned next_stranger;
};

struct connection {
	struct list hook;
	struct lmtp_door *door;
	struct lmtp *lmtp;
	struct saying *saying; /* of the mail that is being said; NULL: none */
	int fd;
	int64_t begun_us, heard_us; /* boot time */
};

struct saying {
	struct list hook;
	struct connection *connection; /* NULL: it has gone meanwhile, and its mail server comes again */
	struct buffer mail;
};

/* ---- what becomes of a mail ---- */

static void put_aside(struct connection *connection, struct bytes mail, const char *why)
{
	int r = aside_write(connection->door->aside, mail);

	log_event(r < 0 ? LOG_ERROR : LOG_NOTICE, "a mail over LMTP is put aside: %s%s%s", why, r < 0 ? ": " : "",
		r < 0 ? strerror(-r) : "");
	lmtp_answer(connection->lmtp, r < 0 ? "451 4.3.1 it cannot be put aside; come again" : OK);
}

static void send_out(struct connection *connection);

static void saying_free(struct saying *saying)
{
	if (saying->connection)
		saying->connection->saying = NULL;
	list_remove(&saying->hook);
	buffer_free(&saying->mail);
	free(saying);
}

static void on_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct saying *saying = context;
	struct connection *connection = saying->connection;

	(void)seq;
	switch (connection ? result : SAID_UNKNOWN) {
	case SAID_FRESH:
	case SAID_DUPLICATE:
		lmtp_answer(connection->lmtp, OK);
		break;
	case SAID_REFUSED:
		log_event(LOG_ERROR, "the broker refuses for good what a mail says: %s", reason);
		put_aside(connection, buffer_bytes(&saying->mail), "what it says was refused");
		break;
	case SAID_UNKNOWN:
		if (connection)
			lmtp_answer(connection->lmtp, AWAY);
		break;
	}
	saying_free(saying);
	if (connection)
		send_out(connection);
}

static void say(struct connection *connection, const char *shop, const MailFeedback *feedback, struct bytes mail)
{
	struct lmtp_door *door = connection->door;
	struct saying *saying = memory_new(sizeof(*saying));

	saying->connection = connection;
	connection->saying = saying;
	buffer_add(&saying->mail, mail.data, mail.len);
	list_append(&door->sayings, &saying->hook);
	if (tell(door->runtime, shop, feedback, mail, on_said, saying) == 0)
		return;
	saying_free(saying);
	lmtp_answer(connection->lmtp, AWAY);
}

/* Whoever is not known after a minute is none of ours. */
static bool is_known_stranger(struct lmtp_door *door, struct bytes mail)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int64_t now_us = clock_boot_us(door->clock);

	SHA256(mail.data, mail.len, digest);
	for (int i = 0; i < STRANGERS; i++)
		if (door->strangers[i].first_us && memcmp(door->strangers[i].digest, digest, sizeof(digest)) == 0)
			return now_us - door->strangers[i].first_us >= STRANGER_US;
	struct stranger *stranger = &door->strangers[door->next_stranger++ % STRANGERS];
	memcpy(stranger->digest, digest, sizeof(digest));
	stranger->first_us = now_us;
	return false;
}

static void take_feedback(struct connection *connection, struct bytes mail, const struct report *report)
{
	struct lmtp_door *door = connection->door;
	char shop[64];
	MailFeedback feedback;

	if (match_find(runtime_state(door->runtime), buffer_bytes(&door->key), report, shop, &feedback)) {
		feedback.heard_us = clock_wall_us(door->clock);
		say(connection, shop, &feedback, mail);
	} else if (is_known_stranger(door, mail)) {
		put_aside(connection, mail, "it is about a mail that we never sent, or proves nothing");
	} else {
		lmtp_answer(connection->lmtp, "451 4.4.0 it is not known yet which mail this is about; come again");
	}
}

/* Whom it was sent to is the best proof: it stands before what the mail says of itself. */
static void note_recipients(struct report *report, const struct lmtp_mail *mail)
{
	int keep = REPORT_NAMES_MOST - mail->count;

	if (report->address_count > keep)
		report->address_count = keep;
	memmove(report->addresses[mail->count], report->addresses[0],
		(size_t)report->address_count * sizeof(report->addresses[0]));
	for (int i = 0; i < mail->count; i++)
		TEXT_COPY(report->addresses[i], mail->recipients[i]);
	report->address_count += mail->count;
}

static void take(void *self, const struct lmtp_mail *mail)
{
	static struct report report; /* large */
	struct connection *connection = self;

	if (runtime_phase(connection->door->runtime) != RUNTIME_READY) {
		lmtp_answer(connection->lmtp, AWAY);
		return;
	}
	report_read(mail->bytes, &report);
	note_recipients(&report, mail);
	switch (report.kind) {
	case REPORT_NONE:
		put_aside(connection, mail->bytes, "it is no report of a bounce or a complaint");
		break;
	case REPORT_NOTHING:
		lmtp_answer(connection->lmtp, OK);
		break;
	case REPORT_FEEDBACK:
		take_feedback(connection, mail->bytes, &report);
		break;
	}
}

static enum lmtp_knows knows(void *self, const char *recipient)
{
	const struct lmtp_door *door = ((struct connection *)self)->door;

	if (runtime_phase(door->runtime) != RUNTIME_READY)
		return LMTP_CANNOT_TELL;
	return match_knows(runtime_state(door->runtime), recipient) ? LMTP_KNOWN : LMTP_UNKNOWN;
}

/* ---- connections ---- */

static void connection_free(struct connection *connection)
{
	if (connection->saying)
		connection->saying->connection = NULL;
	list_remove(&connection->hook);
	connection->door->connection_count--;
	close(connection->fd); /* epoll forgets it */
	lmtp_free(connection->lmtp);
	free(connection);
}

/* While a mail is being said, or there is something to send, nothing more is read. */
static void wait_on(struct connection *connection)
{
	bool sends = lmtp_out(connection->lmtp)->len > 0;
	struct epoll_event event = { .data.ptr = connection,
		.events = sends                        ? EPOLLOUT
			: lmtp_waits(connection->lmtp) ? EPOLLRDHUP
						       : EPOLLIN };

	if (epoll_ctl(connection->door->epoll, EPOLL_CTL_MOD, connection->fd, &event) < 0)
		die("epoll: %s", strerror(errno));
}

static void send_out(struct connection *connection)
{
	struct buffer *out = lmtp_out(connection->lmtp);

	while (out->len > 0) {
		ssize_t sent = send(connection->fd, out->data, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (sent < 0) {
			connection_free(connection);
			return;
		}
		memmove(out->data, out->data + sent, out->len - (size_t)sent);
		out->len -= (size_t)sent;
	}
	if (out->len == 0 && lmtp_has_ended(connection->lmtp))
		connection_free(connection);
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
		connection_free(connection);
		return;
	}
	connection->heard_us = clock_boot_us(connection->door->clock);
	lmtp_hear(connection->lmtp, BYTES(heard, (size_t)len));
	send_out(connection);
}

static void let_in(struct lmtp_door *door, int fd)
{
	struct connection *connection = memory_new(sizeof(*connection));
	const struct lmtp_owner owner = { .self = connection, .knows = knows, .take = take };
	struct epoll_event event = { .data.ptr = connection };

	connection->door = door;
	connection->fd = fd;
	connection->begun_us = connection->heard_us = clock_boot_us(door->clock);
	connection->lmtp = lmtp_new(&owner);
	list_append(&door->connections, &connection->hook);
	if (epoll_ctl(door->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll: %s", strerror(errno));
	if (++door->connection_count > CONNECTIONS_MOST) {
		lmtp_out(connection->lmtp)->len = 0;
		lmtp_bid_farewell(connection->lmtp, "421 4.3.2 too many connections");
	}
	send_out(connection);
}

static void accept_all(struct lmtp_door *door)
{
	for (;;) {
		int fd = accept4(door->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		let_in(door, fd);
	}
}

static void work(void *context)
{
	struct lmtp_door *door = context;
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(door->epoll, events, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < n; i++) {
		struct connection *connection = events[i].data.ptr;
		if (!connection)
			accept_all(door);
		else if (events[i].events & (EPOLLERR | EPOLLHUP) ||
			(events[i].events & EPOLLRDHUP && connection->saying))
			connection_free(connection);
		else if (events[i].events & EPOLLOUT)
			send_out(connection);
		else
			receive(connection);
	}
}

static int64_t ends_us(const struct connection *connection)
{
	int64_t silent_us = connection->heard_us + SILENT_US, session_us = connection->begun_us + SESSION_US;

	return silent_us < session_us ? silent_us : session_us;
}

/* Who does not even take the farewell is cut off after another minute. */
static void end(struct connection *connection, int64_t now_us)
{
	if (lmtp_has_ended(connection->lmtp)) {
		connection_free(connection);
		return;
	}
	lmtp_bid_farewell(connection->lmtp, "421 4.4.2 silent, or here, for too long");
	connection->begun_us = now_us - SESSION_US + US_PER_MINUTE;
	connection->heard_us = now_us;
	send_out(connection);
}

int64_t lmtp_door_look(struct lmtp_door *door)
{
	int64_t now_us = clock_boot_us(door->clock), next_us = -1;

	LIST_EACH_SAFE (hook, &door->connections) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);
		int64_t left_us = ends_us(connection) - now_us;
		if (left_us <= 0)
			end(connection, now_us);
		else if (next_us < 0 || left_us < next_us)
			next_us = left_us;
	}
	return next_us;
}

/* ---- the socket ---- */

static int listen_unix(struct lmtp_door *door, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!TEXT_COPY(address.sun_path, path))
		die("[mailin] lmtp: a socket's path has at most %zu characters", sizeof(address.sun_path) - 1);
	TEXT_COPY(door->unix_path, path);
	unlink(path); /* left by an earlier life; whoever runs has the lock of the state's folder */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || chmod(path, 0666) < 0))
		return -errno;
	return fd < 0 ? -errno : fd;
}

/* Of this machine alone: what comes in is believed for its proofs, but a door to the world would be another's to fill. */
static int listen_tcp(const char *where)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const char *port = text_starts(where, "127.0.0.1:") ? where + strlen("127.0.0.1:") : "";
	char *end;
	long number = strtol(port, &end, 10);
	const int yes = 1;

	if (!*port || *end || number < 1 || number > 65535)
		die("[mailin] lmtp = %s: expected the path of a socket, or 127.0.0.1 and a port", where);
	address.sin_port = htons((uint16_t)number);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
		bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return fd;
}

static noreturn void die_of_place(const char *where, int error)
{
	const char *remedy = error == EADDRINUSE ? "ss -ltnp shows who has it: end that, or choose another port"
		: where[0] == '/' ? "a unit of systemd may make one below /run/cartbus-mailin, and nowhere else"
		: error == EPERM || error == EACCES
		? "systemctl edit cartbus-mailin allows it: [Service] SocketBindAllow=ipv4:tcp: and the port"
		: "a place where this user may listen was expected";

	die("[mailin] lmtp = %s: %s: %s", where, strerror(error), remedy);
}

struct lmtp_door *lmtp_door_new(struct loop *loop, const struct lmtp_door_settings *settings)
{
	struct lmtp_door *door = memory_new(sizeof(*door));
	struct epoll_event event = { .events = EPOLLIN };

	buffer_add(&door->key, settings->key.data, settings->key.len);
	TEXT_COPY(door->aside, settings->aside);
	door->runtime = settings->runtime;
	door->clock = settings->clock;
	list_init(&door->connections);
	list_init(&door->sayings);
	report_init();
	door->listening = settings->where[0] == '/' ? listen_unix(door, settings->where) : listen_tcp(settings->where);
	if (door->listening < 0 || listen(door->listening, CONNECTIONS_MOST) < 0)
		die_of_place(settings->where, door->listening < 0 ? -door->listening : errno);
	door->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (door->epoll < 0 || epoll_ctl(door->epoll, EPOLL_CTL_ADD, door->listening, &event) < 0)
		die("epoll: %s", strerror(errno));
	loop_watch(loop, door->epoll, false, work, door);
	return door;
}

void lmtp_door_free(struct lmtp_door *door)
{
	if (!door)
		return;
	LIST_EACH_SAFE (hook, &door->connections)
		connection_free(LIST_ENTRY(hook, struct connection, hook));
	LIST_EACH_SAFE (hook, &door->sayings)
		saying_free(LIST_ENTRY(hook, struct saying, hook));
	close(door->epoll);
	close(door->listening);
	if (door->unix_path[0])
		unlink(door->unix_path);
	buffer_free(&door->key);
	free(door);
}
