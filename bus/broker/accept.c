/*
 * accept.c: whose connections the broker accepts, before a byte of them is read
 *
 * Defines the symbols accept, accept4 and close, which libzmq calls: the linker prefers those of the program.
 *
 * Owns:      the table of open connections, by descriptor; their budgets (bus/base/sources.h); one spare descriptor; the lock around these.
 * Promises:  connections never take the descriptors that the log and the sessions need. Over TCP, a connection that has shown no key
 *            can be pushed out by later ones, of its own network first: a good peer needs milliseconds to prove itself, and a client that
 *            wants to push it out must open hundreds meanwhile. Over ipc the kernel names the user, and each has its share.
 *            Closing anything but a connection takes no lock, and libzmq meets no error of accept() that it would abort at.
 * Fails by:  EAGAIN to libzmq, which then waits for the next connection. Each one that was turned away is counted.
 * Read next: accept.h, ../wire/gate.c (who is let in afterwards)
 */
#include "bus/broker/accept.h"
#include "bus/base/list.h"
#include "bus/base/listen_at.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <linux/tcp.h> /* the C library's own lacks tcpi_bytes_acked */
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
	ENDING_MOST = 64, /* pushed out, and not closed by libzmq yet */
	/*
	 * What a CURVE server has sent when the client has proven its key is more than its greeting (64 bytes) and its WELCOME (170):
	 * ZMTP 3.1 (RFC 37) and CURVE (RFC 25). To a client that it refuses it sends an ERROR, and ends the connection.
	 */
	SENT_BEFORE_PROOF = 64 + 170,
};

/* No connection of the broker costs work or bytes here: what it sends is bounded by libzmq and the sessions. */
static const int64_t NO_CLOCK_US = 0;

/* What a connection counts against. */
enum budget { BUDGET_TCP, BUDGET_UNPROVEN, BUDGET_IPC, BUDGET_COUNT };

static const char *const places[BUDGET_COUNT] = {
	[BUDGET_TCP] = "tcp", [BUDGET_UNPROVEN] = "tcp, without a key", [BUDGET_IPC] = "ipc"
};

struct peer {
	struct source_key key;
	bool is_user;
	bool is_unbounded; /* a user that only the budget of all counts for */
};

struct connection {
	struct list hook; /* of the unproven, oldest first; else in no list */
	int fd;
	struct peer peer;
	struct source *source;   /* of its place's budget; NULL: is_unbounded */
	struct source *unproven; /* of BUDGET_UNPROVEN, until it has shown its key */
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
	/* A session has a mailbox, whose socket and connection are two more: what is accepted gets a half of the rest. */
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

/* false: it has gone already, or is of a kind that nobody listens for. */
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

/* The oldest that has shown nothing, of this network or (NULL) of all. Those before it that have are no longer in question. */
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

/* libzmq finds it ended, as when the other end had hung up, and closes it. */
static void push_out(struct connection *connection, enum source_verdict why)
{
	settle(connection);
	connection->is_ending = true;
	acceptor.ending++;
	shutdown(connection->fd, SHUT_RDWR);
	source_turn_away(acceptor.budgets[BUDGET_UNPROVEN], &connection->peer.key, why);
}

/* --- admitting --- */

/* SOURCE_WELCOME: there is room for one more of this network that has shown no key. */
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

/* What the connection counts against says whether it may stay; what does not is counted there. */
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

/* The thread sanitizer has to see it: else the next thread that gets this number seems to race with the last one that had it. */
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

/* No descriptor is left for a client that waits: it is turned away with the spare one, or it would wait, and libzmq turn, without end. */
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

/* All others say what is wrong with one connection, or with the machine for now (accept(2)). libzmq 4.3.4 aborts at some of these. */
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

/* --- in place of the C library's --- */

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
 * A connection is struck off before its number can be anybody else's. The caller owns `fd`, so that nobody else enlists it meanwhile:
 * whether it is a connection is asked without the lock, which all the other closes of the process never take.
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
	spare_keep(&acceptor.spare); /* another thread may have been faster when it was lent */
	pthread_mutex_unlock(&acceptor.lock);
	return r;
}

/* --- telling --- */

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
