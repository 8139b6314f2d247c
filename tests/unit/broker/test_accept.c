/* test_accept.c: whose connections are accepted, on real sockets, with the accept() and close() that libzmq is given */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/accept.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNPROVEN = 6, OF_NETWORK = 3, NETWORK = 5, MOST = 12, PROOF = 64 + 170 + 40, SOMEBODY = 65534 };

static const struct accept_limits limits = {
	.tcp = MOST, .ipc = 4, .network = NETWORK, .unproven = UNPROVEN, .unproven_of = OF_NETWORK, .user = 2
};

static int listen_tcp(int family, struct sockaddr_storage *ret_at, socklen_t *ret_len)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	*ret_len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	assert_int_equal(bind(fd, family == AF_INET ? (void *)&v4 : (void *)&v6, *ret_len), 0);
	assert_int_equal(listen(fd, 64), 0);
	*ret_len = sizeof(*ret_at);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret_at, ret_len), 0);
	return fd;
}

/* From 127.0.0.<last>. */
static int connect_from(const struct sockaddr_storage *at, socklen_t len, unsigned last)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(0x7f000000 + last) } };
	int fd = socket(at->ss_family, SOCK_STREAM, 0);

	if (at->ss_family == AF_INET)
		assert_int_equal(bind(fd, (void *)&here, sizeof(here)), 0);
	assert_int_equal(connect(fd, (const void *)at, len), 0);
	return fd;
}

static int accept_soon(int listener)
{
	struct pollfd polled = { .fd = listener, .events = POLLIN };

	assert_int_equal(poll(&polled, 1, 5000), 1);
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static bool is_ended(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&polled, 1, 0) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* As much as a server sends whom it has let in; it counts when the other end has it. */
static void prove(int server, int client)
{
	char sent[PROOF] = { 0 };
	size_t got = 0;

	assert_int_equal(send(server, sent, sizeof(sent), 0), sizeof(sent));
	while (got < sizeof(sent)) {
		ssize_t more = recv(client, sent, sizeof(sent) - got, 0);

		assert_true(more > 0);
		got += (size_t)more;
	}
}

static void without_a_spare_one(void);

/* The table is the process's: each case has one of its own. */
static void in_a_process(void (*run)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (run != without_a_spare_one)
			accept_begin(&limits);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void the_oldest_without_a_key_goes(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), servers[OF_NETWORK + 1], clients[OF_NETWORK + 1];
	struct source_turned_away told;
	const char *place;

	for (int i = 0; i <= OF_NETWORK; i++) {
		clients[i] = connect_from(&at, len, 2);
		servers[i] = accept_soon(listener);
		assert_true(servers[i] >= 0);
		if (i == 0)
			prove(servers[0], clients[0]);
	}
	assert_false(is_ended(servers[0])); /* the oldest of all has shown its key, so all have room */
	assert_false(is_ended(servers[1]));
	clients[0] = connect_from(&at, len, 2);
	assert_true(accept_soon(listener) >= 0);
	assert_true(is_ended(servers[1]));
	assert_false(is_ended(servers[2]));
	assert_true(accept_take(&told, &place));
	assert_string_equal(told.who, "127.0.0.2");
	assert_string_equal(place, "tcp, without a key");
	assert_int_equal(told.count, 1);
	assert_false(accept_take(&told, &place));
}

static void other_networks_come_in_meanwhile(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), other;

	connect_from(&at, len, 3);
	other = accept_soon(listener);
	for (int i = 0; i < 4 * OF_NETWORK; i++) {
		connect_from(&at, len, 2);
		close(accept_soon(listener));
	}
	for (int i = 0; i < 2 * OF_NETWORK; i++) {
		connect_from(&at, len, 2);
		accept_soon(listener);
	}
	assert_true(other >= 0 && !is_ended(other));
	assert_true(accept_count().open <= NETWORK + 1);
}

static void many_networks_share_what_there_is(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), accepted = 0;

	for (unsigned i = 0; i < 4 * MOST; i++) {
		connect_from(&at, len, 2 + i);
		accepted += accept_soon(listener) >= 0;
	}
	assert_int_equal(accepted, MOST); /* those that are pushed out are not closed here: they count until then */
	assert_true(accept_count().unproven <= UNPROVEN);
	assert_int_equal(accept_count().open, MOST);
	assert_int_equal(accept_count().turned_away, 4 * MOST - UNPROVEN);
}

static void one_network_and_the_sum_are_full(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), others[UNPROVEN - OF_NETWORK], own;

	for (unsigned i = 0; i < UNPROVEN - OF_NETWORK; i++) {
		connect_from(&at, len, 3 + i);
		others[i] = accept_soon(listener);
	}
	connect_from(&at, len, 2);
	own = accept_soon(listener);
	for (int i = 0; i < OF_NETWORK; i++) { /* one more than it may have, and than all may */
		connect_from(&at, len, 2);
		assert_true(accept_soon(listener) >= 0);
	}
	for (int i = 0; i < UNPROVEN - OF_NETWORK; i++)
		assert_false(is_ended(others[i]));
	assert_true(is_ended(own));
}

static void a_closed_one_makes_room(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET6, &at, &len);

	for (int i = 0; i < 10 * MOST; i++) {
		int client = connect_from(&at, len, 0), server = accept_soon(listener);

		assert_true(server >= 0);
		assert_int_equal(close(server), 0);
		close(client);
	}
	assert_int_equal(accept_count().open, 0);
	assert_int_equal(accept_count().unproven, 0);
	assert_int_equal(accept_count().turned_away, 0);
}

static void a_user_has_its_share(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), own;
	struct source_turned_away told;
	const char *place;
	socklen_t len;

	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "cartbus-accept-%d", (int)getpid());
	len = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(at.sun_path + 1));
	assert_int_equal(bind(listener, (void *)&at, len), 0);
	assert_int_equal(listen(listener, 64), 0);
	if (fork() == 0) {
		assert_int_equal(setresuid(SOMEBODY, SOMEBODY, SOMEBODY), 0);
		for (int i = 0; i < 6; i++)
			connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&at, len);
		pause();
	}
	for (int i = 0; i < 6; i++)
		assert_int_equal(accept_soon(listener) >= 0, i < 2);
	own = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(own, (void *)&at, len), 0);
	assert_true(accept_soon(listener) >= 0); /* whoever else it is comes in */
	assert_true(accept_take(&told, &place));
	assert_string_equal(told.who, "uid:65534");
	assert_int_equal(told.count, 4);
	kill(0, SIGTERM);
}

static void without_a_descriptor_it_is_turned_away(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), client = connect_from(&at, len, 2), highest = dup(0);
	struct rlimit limit = { .rlim_cur = (rlim_t)highest, .rlim_max = 1024 };
	struct source_turned_away told;
	const char *place;

	close(highest);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	errno = 0;
	assert_int_equal(accept_soon(listener), -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(is_ended(client)); /* it does not wait at the door for ever */
	assert_true(accept_take(&told, &place));
	assert_non_null(strstr(source_verdict_text(told.why), "LimitNOFILE"));
}

static void without_a_spare_one(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), first = connect_from(&at, len, 2),
	    second = connect_from(&at, len, 2);
	int highest = dup(0), server;
	const struct rlimit limit = { .rlim_cur = (rlim_t)highest + 1, .rlim_max = 1024 };

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	accept_begin(&limits); /* no descriptor is left for the spare one */
	close(highest);
	server = accept_soon(listener);
	assert_int_equal(server, highest);
	assert_int_equal(accept_soon(listener), -1);
	assert_false(is_ended(second));
	close(server); /* it frees a descriptor, which becomes the spare one */
	assert_true(is_ended(first));
	assert_int_equal(accept_soon(listener), -1);
	assert_true(is_ended(second));
}

/* What a server that listens is told of a connection that has failed before it was accepted. */
static void fail_accept(int error)
{
	struct sock_filter filter[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_accept4, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static int failing_with;

static void accept_fails(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len);

	connect_from(&at, len, 2);
	fail_accept(failing_with);
	errno = 0;
	assert_int_equal(accept_soon(listener), -1);
	assert_int_equal(errno, failing_with == EBADF || failing_with == EINTR ? failing_with : EAGAIN);
	assert_int_equal(accept_count().open, 0);
}

static void one_that_has_gone(void)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	struct sockaddr_storage at;
	socklen_t len;
	int listener = listen_tcp(AF_INET, &at, &len), client = connect_from(&at, len, 2), next = dup(0);

	close(next);
	assert_int_equal(setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
	close(client);
	assert_int_equal(accept_soon(listener), -1);
	assert_int_equal(accept_count().open, 0);
	assert_int_equal(fcntl(next, F_GETFD), -1); /* nothing is left of it */
}

enum { THREADS = 4, ROUNDS = 300 };

static void *come_and_go(void *listener)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	if (getsockname(*(int *)listener, (struct sockaddr *)&at, &len) < 0)
		return NULL;
	for (int i = 0; i < ROUNDS; i++) {
		int client = connect_from(&at, len, 2 + (unsigned)i % 7), server;

		server = accept4(*(int *)listener, NULL, NULL, SOCK_CLOEXEC);
		close(client);
		if (server >= 0)
			close(server);
		accept_count();
	}
	return listener;
}

/* libzmq's threads accept and close side by side, and the log's thread closes what is no connection. */
static void many_threads(void)
{
	struct sockaddr_storage at;
	socklen_t len;
	int listeners[THREADS];
	pthread_t threads[THREADS];
	void *ended;

	for (int i = 0; i < THREADS; i++) {
		listeners[i] = listen_tcp(AF_INET, &at, &len);
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &listeners[i]), 0);
	}
	for (int i = 0; i < ROUNDS; i++)
		close(open("/dev/null", O_RDONLY));
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &ended), 0);
		assert_non_null(ended);
	}
	assert_int_equal(accept_count().open, 0);
	assert_int_equal(accept_count().unproven, 0);
}

static void mapped_into_ipv6(void)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0), no = 0;
	socklen_t len = sizeof(v6);
	struct source_turned_away told;
	const char *place;

	assert_int_equal(setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)), 0);
	assert_int_equal(bind(listener, (void *)&v6, len), 0);
	assert_int_equal(listen(listener, 64), 0);
	assert_int_equal(getsockname(listener, (void *)&v6, &len), 0);
	v4.sin_port = v6.sin6_port;
	for (int i = 0; i <= OF_NETWORK; i++) {
		connect_from((void *)&v4, sizeof(v4), 2);
		assert_true(accept_soon(listener) >= 0);
	}
	assert_true(accept_take(&told, &place));
	assert_string_equal(told.who, "127.0.0.2");
}

static void of_one_network_the_oldest_that_has_shown_no_key_is_pushed_out(void **state)
{
	(void)state;
	in_a_process(the_oldest_without_a_key_goes);
}

static void who_comes_from_elsewhere_is_not_pushed_out(void **state)
{
	(void)state;
	in_a_process(other_networks_come_in_meanwhile);
}

static void also_when_all_is_full_a_network_pushes_out_its_own(void **state)
{
	(void)state;
	in_a_process(one_network_and_the_sum_are_full);
}

static void there_is_an_end_even_if_each_comes_from_another_network(void **state)
{
	(void)state;
	in_a_process(many_networks_share_what_there_is);
}

static void a_connection_that_is_closed_counts_no_longer(void **state)
{
	(void)state;
	in_a_process(a_closed_one_makes_room);
}

static void over_ipc_another_user_has_its_share_and_no_more(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		signal(SIGTERM, SIG_DFL);
		in_a_process(a_user_has_its_share);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM); /* all of its group, at the very end */
}

static void when_no_descriptor_is_left_nobody_waits_for_one(void **state)
{
	(void)state;
	in_a_process(without_a_descriptor_it_is_turned_away);
}

static void a_spare_descriptor_that_another_thread_took_comes_back(void **state)
{
	(void)state;
	in_a_process(without_a_spare_one);
}

static void no_failed_connection_is_an_error_that_libzmq_would_abort_at(void **state)
{
	static const int errors[] = { ENOBUFS, ENOMEM, EPERM, EPROTO, ECONNABORTED, ENETDOWN, EHOSTUNREACH, ETIMEDOUT,
		EMFILE, ENFILE, EAGAIN, EINTR, EBADF };

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		failing_with = errors[i];
		in_a_process(accept_fails);
	}
}

static void a_connection_that_has_gone_already_takes_no_descriptor(void **state)
{
	(void)state;
	in_a_process(one_that_has_gone);
}

static void threads_accept_and_close_side_by_side(void **state)
{
	(void)state;
	in_a_process(many_threads);
}

static void an_ipv4_address_that_is_mapped_into_ipv6_is_that_network(void **state)
{
	(void)state;
	in_a_process(mapped_into_ipv6);
}

static void of_few_descriptors_the_log_has_its_own_first(void **state)
{
	static const uint32_t descriptors[] = { 256, 1024, 4096, 8192, 65536 };

	(void)state;
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		struct accept_limits for_these = accept_limits_for(descriptors[i]);

		assert_true(for_these.tcp + for_these.ipc <= descriptors[i] / 2);
		assert_true(for_these.unproven <= for_these.tcp && for_these.unproven_of <= for_these.unproven);
		assert_true(for_these.unproven_of > 0 && for_these.user > 0 && for_these.network <= for_these.tcp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_one_network_the_oldest_that_has_shown_no_key_is_pushed_out),
		cmocka_unit_test(who_comes_from_elsewhere_is_not_pushed_out),
		cmocka_unit_test(also_when_all_is_full_a_network_pushes_out_its_own),
		cmocka_unit_test(there_is_an_end_even_if_each_comes_from_another_network),
		cmocka_unit_test(a_connection_that_is_closed_counts_no_longer),
		cmocka_unit_test(over_ipc_another_user_has_its_share_and_no_more),
		cmocka_unit_test(when_no_descriptor_is_left_nobody_waits_for_one),
		cmocka_unit_test(a_spare_descriptor_that_another_thread_took_comes_back),
		cmocka_unit_test(no_failed_connection_is_an_error_that_libzmq_would_abort_at),
		cmocka_unit_test(a_connection_that_has_gone_already_takes_no_descriptor),
		cmocka_unit_test(threads_accept_and_close_side_by_side),
		cmocka_unit_test(an_ipv4_address_that_is_mapped_into_ipv6_is_that_network),
		cmocka_unit_test(of_few_descriptors_the_log_has_its_own_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
