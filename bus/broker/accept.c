/*
 * accept.c: limits the broker's connections by peer, before it reads a byte from them
 *
 * This file defines the symbols accept, accept4 and close, which libzmq calls: the linker prefers those of
 * the program.
 *
 * Owns:      the table of open connections, by descriptor; their budgets (bus/base/sources.h); one spare
 *            descriptor; the lock around these.
 * Promises:  connections never take the descriptors that the log and the sessions need. Over TCP, later
 *            connections can push out a connection that has shown no key, those of its own network first: a
 *            good peer needs milliseconds to prove itself, and a client that wants to push it out must open
 *            hundreds meanwhile. Over ipc the kernel names the user, and each user has a share. A close of
 *            any other file takes no lock. libzmq sees no error of accept() at which it would abort.
 * Fails by:  EAGAIN to libzmq, which then waits for the next connection. Each connection that is turned away
 *            is counted.
 * Read next: accept.h, ../wire/gate.c (which peers are let in afterwards)
 */
#include "bus/broker/accept.h"
#include "bus/base/list.h"
#include "bus/base/listen_at.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <linux/tcp.h> /* the C library's own header lacks tcpi_bytes_acked */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DESCRIPTORS_OF_USE = 65536,
	DESCRIPTORS_KEPT = 512, /* for the store's files, the mailboxes' sockets, the journal */
	LEAST = 16,
	UNPROVEN_MOST = 1024,
	UNPROVEN_OF_NETWORK = 256,
	OF_USER_MOST = 512,
	ENDING_MOST = 64, /* connections that are pushed out and that libzmq has not closed yet */
	/*
	 * A CURVE server sends more than its greeting (64 bytes) and its WELCOME (170) only after the client has
	 * proven its key: ZMTP 3.1 (RFC 37) and CURVE (RFC 25). To a client that it refuses it sends an ERROR, and
	 * ends the connection.
	 */
	SENT_BEFORE_PROOF = 64 + 170,
};

/*
 * The broker counts no work and no bytes per connection: libzmq and the sessions limit what a connection
 * sends.
 */
static const int64_t NO_CLOCK_US = 0;

/* The budgets that a connection counts against. */
enum budget { BUDGET_TCP, BUDGET_UNPROVEN, BUDGET_IPC, BUDGET_COUNT };

static const char *const places[BUDGET_COUNT] = {
	[BUDGET_TCP] = "tcp", [BUDGET_UNPROVEN] = "tcp, without a key", [BUDGET_IPC] = "ipc"
};

struct peer {
	struct source_key key;
	bool is_user;
	bool is_unbounded; /* only the budget of all connections counts this user */
};

struct connection {
	struct list hook; /* in the list of unproven connections, oldest first; else in no list */
	int fd;
	struct peer peer;
	struct source *source;   /* of the budget of its place (place_of); NULL: is_unbounded */
	struct source *unproven; /* of BUDGET_UNPROVEN, until the connection has shown its key */
	bool is_unproven, is_ending;
};

static struct {
	pthread_mutex_t lock;
	bool begun;
	struct connection *_Atomic *by_fd; /* written under the lock */
	uint32_t descriptors;
	struct sources *budgets[BUDGET_COUNT];
	struct list unproven;
	uint32_t ending;
	struct spare spare;
} acceptor = { .lock = PTHREAD_MUTEX_INITIALIZER, .spare = { .fd = -1 } };

/* --- limits --- */

uint32_t accept_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_OF_USE ? limit.rlim_max : DESCRIPTORS_OF_USE;
	setrlimit(RLIMIT_NOFILE, &limit);
	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 1024 : (uint32_t)limit.rlim_cur;
}

static uint32_t at_most(uint32_t wanted, uint32_t most)
{
	return wanted < most ? wanted : most;
}

struct accept_limits accept_limits_for(uint32_t descriptors)
{
	/*
	 * A session has a mailbox, whose socket and connection take two more descriptors: accepted
	 * connections get half of the rest.
	 */
	uint32_t shared = descriptors > DESCRIPTORS_KEPT + 4 * LEAST ? (descriptors - DESCRIPTORS_KEPT) / 2 : 2 * LEAST;
	uint32_t half = shared / 2;

	return (struct accept_limits){
		.tcp = half,
		.ipc = half,
		.network = half / 2,
		.unproven = at_most(UNPROVEN_MOST, half / 2),
		.unproven_of = at_most(UNPROVEN_OF_NETWORK, half / 4),
		.user = at_most(OF_USER_MOST, half / 2),
	};
}

static struct sources *budget(uint32_t each, uint32_t all)
{
	return sources_new(&(struct source_limits){ .connections_each = each,
		.connections_all = all,
		.work_percent_each = 100,
		.work_percent_all = 100,
		.sources_most = all + 1 });
}

void accept_begin(const struct accept_limits *limits)
{
	struct rlimit limit = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	acceptor.descriptors = limit.rlim_cur < DESCRIPTORS_OF_USE ? (uint32_t)limit.rlim_cur : DESCRIPTORS_OF_USE;
	acceptor.by_fd = memory_new(acceptor.descriptors * sizeof(*acceptor.by_fd));
	acceptor.budgets[BUDGET_TCP] = budget(limits->network, limits->tcp);
	acceptor.budgets[BUDGET_UNPROVEN] = budget(limits->unproven_of, limits->unproven);
	acceptor.budgets[BUDGET_IPC] = budget(limits->user, limits->ipc);
	list_init(&acceptor.unproven);
	spare_keep(&acceptor.spare);
	acceptor.begun = true;
}

/* --- peers --- */

static bool name_user(int fd, struct peer *ret)
{
	struct ucred user;
	socklen_t len = sizeof(user);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &len) < 0)
		return false;
	ret->key = source_key_of_user(user.uid);
	ret->is_user = true;
	ret->is_unbounded = user.uid == 0 || user.uid == geteuid();
	return true;
}

/* false: the peer has gone already, or the socket is of a kind that the broker does not listen on. */
static bool name_peer(int fd, struct peer *ret)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);

	*ret = (struct peer){ 0 };
	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return false;
	if (address.ss_family == AF_UNIX)
		return name_user(fd, ret);
	len = sizeof(address);
	return getpeername(fd, (struct sockaddr *)&address, &len) == 0 &&
		source_key_of_address((const struct sockaddr *)&address, &ret->key);
}

static enum budget place_of(const struct peer *peer)
{
	return peer->is_user ? BUDGET_IPC : BUDGET_TCP;
}

/* --- which connections have shown a key --- */

static void settle(struct connection *connection)
{
	connection->is_unproven = false;
	list_remove(&connection->hook);
	source_leave(acceptor.budgets[BUDGET_UNPROVEN], connection->unproven, NO_CLOCK_US);
	connection->unproven = NULL;
}

static bool has_proven(const struct connection *connection)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
		len >= offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked) &&
		info.tcpi_bytes_acked > SENT_BEFORE_PROOF + 1; /* the SYN may count as one */
}

/*
 * The oldest connection that has shown no key, of this network or (NULL) of all. Earlier ones that have shown
 * one are settled.
 */
static struct connection *find_oldest_unproven(const struct source *network)
{
	LIST_EACH_SAFE (hook, &acceptor.unproven) {
		struct connection *connection = LIST_ENTRY(hook, struct connection, hook);

		if (network && connection->unproven != network)
			continue;
		if (!has_proven(connection))
			return connection;
		settle(connection);
	}
	return NULL;
}

/* To libzmq the connection then looks as if the other end had hung up, and libzmq closes it. */
static void push_out(struct connection *connection, enum source_verdict why)
{
	settle(connection);
	connection->is_ending = true;
	acceptor.ending++;
	shutdown(connection->fd, SHUT_RDWR);
	source_turn_away(acceptor.budgets[BUDGET_UNPROVEN], &connection->peer.key, why);
}

/* --- admitting --- */

/* SOURCE_WELCOME: there is room for one more connection of this network that has shown no key. */
static enum source_verdict make_room(const struct source_key *key)
{
	const struct sources *unproven = acceptor.budgets[BUDGET_UNPROVEN];
	enum source_verdict verdict;

	while ((verdict = source_may_enter(unproven, key)) != SOURCE_WELCOME) {
		struct connection *oldest =
			find_oldest_unproven(verdict == SOURCE_CROWDED ? source_find(unproven, key) : NULL);

		if (source_may_enter(unproven, key) != verdict)
			continue;
		if (!oldest || acceptor.ending >= ENDING_MOST)
			return verdict;
		push_out(oldest, verdict);
	}
	return SOURCE_WELCOME;
}

/*
 * The budget of the peer's place decides, and over TCP the unproven budget too. The budget that refuses
 * counts the refusal.
 */
static bool has_room(const struct peer *peer)
{
	enum budget place = place_of(peer);
	enum source_verdict verdict = source_may_enter(acceptor.budgets[place], peer->is_unbounded ? NULL : &peer->key);

	if (verdict == SOURCE_WELCOME && !peer->is_user) {
		place = BUDGET_UNPROVEN;
		verdict = make_room(&peer->key);
	}
	if (verdict != SOURCE_WELCOME)
		source_turn_away(acceptor.budgets[place], &peer->key, verdict);
	return verdict == SOURCE_WELCOME;
}

static void enlist(int fd, const struct peer *peer)
{
	struct connection *connection = memory_new(sizeof(*connection));

	connection->fd = fd;
	connection->peer = *peer;
	list_init(&connection->hook);
	source_enter(acceptor.budgets[place_of(peer)], peer->is_unbounded ? NULL : &peer->key, NO_CLOCK_US,
		&connection->source);
	if (!peer->is_user) {
		connection->is_unproven = true;
		source_enter(acceptor.budgets[BUDGET_UNPROVEN], &peer->key, NO_CLOCK_US, &connection->unproven);
		list_append(&acceptor.unproven, &connection->hook);
	}
	atomic_store(&acceptor.by_fd[fd], connection);
}

static void strike_off(int fd)
{
	struct connection *connection = atomic_load(&acceptor.by_fd[fd]);

	if (connection->is_unproven)
		settle(connection);
	acceptor.ending -= connection->is_ending;
	source_leave(acceptor.budgets[place_of(&connection->peer)], connection->source, NO_CLOCK_US);
	atomic_store(&acceptor.by_fd[fd], NULL);
	free(connection);
}

static bool is_admitted(int fd)
{
	struct peer peer;

	spare_keep(&acceptor.spare);
	if ((uint32_t)fd >= acceptor.descriptors || !name_peer(fd, &peer) || !has_room(&peer))
		return false;
	enlist(fd, &peer);
	return true;
}

#ifdef __SANITIZE_THREAD__
int __interceptor_close(int fd);

/*
 * The thread sanitizer has to see this close: else the next thread that gets the number seems to race with
 * its last user.
 */
static int really_close(int fd)
{
	return __interceptor_close(fd);
}
#else
static int really_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}
#endif

static int really_accept(int listener, struct sockaddr *ret_address, socklen_t *ret_len, int flags)
{
	return (int)syscall(SYS_accept4, listener, ret_address, ret_len, flags);
}

/*
 * Turns a waiting client away with the spare descriptor, as no other is left. Else it would wait, and libzmq
 * would loop without end.
 */
static void turn_away_by_spare(int listener)
{
	struct peer peer;
	int fd;

	if (!spare_lend(&acceptor.spare))
		return;
	fd = really_accept(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0 && name_peer(fd, &peer))
		source_turn_away(acceptor.budgets[place_of(&peer)], &peer.key, SOURCE_WITHOUT_DESCRIPTOR);
	if (fd >= 0)
		really_close(fd);
	spare_keep(&acceptor.spare);
}

/*
 * All other errors concern one connection, or the machine for now (accept(2)). libzmq 4.3.4 aborts at some of
 * these.
 */
static bool is_a_fault_of_ours(int error)
{
	return error == EBADF || error == EFAULT || error == EINVAL || error == ENOTSOCK;
}

static int accept_admitted(int listener, struct sockaddr *ret_address, socklen_t *ret_len, int flags)
{
	int fd = really_accept(listener, ret_address, ret_len, flags), error = fd < 0 ? errno : 0;

	if (!acceptor.begun || error == EAGAIN || error == EINTR || is_a_fault_of_ours(error))
		return fd;
	pthread_mutex_lock(&acceptor.lock);
	if (fd >= 0 && !is_admitted(fd)) {
		really_close(fd);
		fd = -1;
	} else if (error == EMFILE || error == ENFILE) {
		turn_away_by_spare(listener);
	}
	pthread_mutex_unlock(&acceptor.lock);
	if (fd < 0)
		errno = EAGAIN;
	return fd;
}

/* --- instead of the C library's functions --- */

int accept_in_place(int listener, struct sockaddr *ret_address, socklen_t *ret_len) __asm__("accept");
int accept4_in_place(int listener, struct sockaddr *ret_address, socklen_t *ret_len, int flags) __asm__("accept4");
int close_in_place(int fd) __asm__("close");

int accept_in_place(int listener, struct sockaddr *ret_address, socklen_t *ret_len)
{
	return accept_admitted(listener, ret_address, ret_len, 0);
}

int accept4_in_place(int listener, struct sockaddr *ret_address, socklen_t *ret_len, int flags)
{
	return accept_admitted(listener, ret_address, ret_len, flags);
}

/*
 * Strikes a connection off before the kernel can give its number to another file. The caller owns `fd`, so no
 * other thread enlists it meanwhile. So the test for a connection needs no lock, and the other closes of the
 * process never take it.
 */
int close_in_place(int fd)
{
	bool is_connection = acceptor.begun && fd >= 0 && (uint32_t)fd < acceptor.descriptors &&
		atomic_load(&acceptor.by_fd[fd]) != NULL;
	int r;

	if (!is_connection)
		return really_close(fd);
	pthread_mutex_lock(&acceptor.lock);
	strike_off(fd);
	r = really_close(fd);
	spare_keep(&acceptor.spare); /* another thread may have refilled it while this one had lent it out */
	pthread_mutex_unlock(&acceptor.lock);
	return r;
}

/* --- reporting --- */

struct accept_counts accept_count(void)
{
	struct accept_counts counts = { .descriptors = acceptor.descriptors };

	if (!acceptor.begun)
		return counts;
	pthread_mutex_lock(&acceptor.lock);
	find_oldest_unproven(NULL);
	for (int i = 0; i < BUDGET_COUNT; i++) {
		struct source_figures figures;

		sources_figures(acceptor.budgets[i], &figures);
		counts.turned_away += figures.turned_away;
		*(i == BUDGET_UNPROVEN ? &counts.unproven : &counts.open) += figures.connections;
	}
	pthread_mutex_unlock(&acceptor.lock);
	return counts;
}

bool accept_take(struct source_turned_away *ret, const char **ret_place)
{
	bool any = false;

	if (!acceptor.begun)
		return false;
	pthread_mutex_lock(&acceptor.lock);
	for (int i = 0; i < BUDGET_COUNT && !any; i++) {
		any = sources_take_turned_away(acceptor.budgets[i], ret);
		*ret_place = places[i];
	}
	pthread_mutex_unlock(&acceptor.lock);
	return any;
}
