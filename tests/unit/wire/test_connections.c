/*
 * test_connections.c: what ZeroMQ ends by itself is told, once and by name; who merely went away is not
 *
 * The peers speak ZMTP by hand, over plain sockets. The thread keeps a second descriptor of a connection until it has judged its end:
 * a peer that sees the end of the stream knows that the judgement is there.
 */
#include "bus/wire/connections.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <zmq.h>

enum { LARGEST = 100, WAITING_MOST = 256, LOOKED_AT_MOST = 128, WATCHED_MOST = 4, PATIENCE_MS = 5000 };
enum { PER_PEER = 2, LOOKED_AT = 1 }; /* descriptors: its end and ZeroMQ's; the thread's */

static const char NOISE[] = "without a handshake", ENDED_HERE[] = "ZeroMQ ended it";

struct scene {
	struct folder folder;
	void *context, *door;
	struct connections *connections;
	char endpoint[128];
	int idle; /* descriptors that are open while nobody is connected */
};

static int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* So many descriptors more are open than while nobody is connected. */
static void await_open(const struct scene *scene, int wanted)
{
	for (int ms = 0; descriptors() != scene->idle + wanted && ms < PATIENCE_MS; ms++)
		zmq_poll(NULL, 0, 1);
	assert_int_equal(descriptors() - scene->idle, wanted);
}

static void open_door(struct scene *scene, const char *endpoint)
{
	int64_t largest = LARGEST;
	size_t len = sizeof(scene->endpoint);

	scene->context = zmq_ctx_new();
	scene->door = zmq_socket(scene->context, ZMQ_ROUTER);
	zmq_setsockopt(scene->door, ZMQ_MAXMSGSIZE, &largest, sizeof(largest));
	scene->connections = connections_new(scene->context);
	assert_int_equal(connections_watch(scene->connections, scene->door, "door"), 0);
	assert_int_equal(zmq_bind(scene->door, endpoint), 0);
	assert_int_equal(zmq_getsockopt(scene->door, ZMQ_LAST_ENDPOINT, scene->endpoint, &len), 0);
	assert_int_equal(connections_start(scene->connections), 0);
	scene->idle = descriptors();
}

static void begin(struct scene *scene)
{
	char endpoint[128];

	scene->folder = folder_new();
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/door", scene->folder.path);
	open_door(scene, endpoint);
}

static void end(struct scene *scene)
{
	connections_stop(scene->connections);
	zmq_close(scene->door);
	zmq_ctx_term(scene->context);
	connections_free(scene->connections);
	folder_remove(&scene->folder);
}

/* --- a peer --- */

static int connect_peer(const struct scene *scene)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", scene->endpoint + strlen("ipc://"));
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The only one that is connected, or comes while `others` descriptors are open for those before. */
static int come(const struct scene *scene, int others)
{
	int fd = connect_peer(scene);

	await_open(scene, others + PER_PEER + LOOKED_AT);
	return fd;
}

static void put(int fd, const void *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

static void shake_hands(int fd)
{
	static const uint8_t greeting[64] = { 0xff, [9] = 0x7f, 3, 0, 'N', 'U', 'L', 'L' };
	static const char ready[] = "\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
				    "DEALER";
	uint8_t theirs[sizeof(greeting) + 2];

	put(fd, greeting, sizeof(greeting));
	put(fd, ready, sizeof(ready) - 1);
	assert_int_equal(
		recv(fd, theirs, sizeof(theirs), MSG_WAITALL), sizeof(theirs)); /* and of their READY the head */
}

/* One byte too many, of which `there` come. */
static void say_too_much(int fd, size_t there)
{
	uint8_t *message = calloc(1, 9 + there);

	message[0] = 2; /* a long one: its length has eight bytes */
	message[8] = LARGEST + 1;
	put(fd, message, 9 + there);
	free(message);
}

static void await_judgement(int fd)
{
	char byte;
	ssize_t got;

	while ((got = recv(fd, &byte, sizeof(byte), 0)) > 0)
		;
	assert_true(got == 0 || errno == ECONNRESET);
	close(fd);
}

static void go_away(int fd)
{
	shutdown(fd, SHUT_WR);
	await_judgement(fd);
}

/* In the place of recv() (the linker's --wrap). Only the thread looks at what waits without taking it, and here that can fail. */
static atomic_int peek_fails; /* an errno; 0: it does not */

ssize_t __real_recv(int fd, void *to, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t room, int flags)
{
	ssize_t got = __real_recv(fd, to, room, flags);

	if (!(flags & MSG_PEEK))
		return got;
	if (got > 0)
		errno = ENOENT; /* of some call before it: what succeeds leaves it as it was */
	if (!peek_fails)
		return got;
	errno = peek_fails;
	return -1;
}

static void assert_told(const struct scene *scene, const char *who, const char *why)
{
	struct ended_connection ended;

	assert_true(connections_take(scene->connections, &ended));
	assert_string_equal(ended.place, "door");
	assert_string_equal(ended.who, who);
	assert_non_null(strstr(ended.why, why));
}

static void assert_nothing_told(const struct scene *scene)
{
	struct ended_connection ended;

	assert_false(connections_take(scene->connections, &ended));
}

static const char *me(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "uid:%lu", (unsigned long)getuid());
	return name;
}

/* --- what is promised --- */

static void noise_is_told_once_by_its_uid(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	go_away(come(&scene, 0));
	assert_told(&scene, me(), NOISE);
	assert_nothing_told(&scene);
	end(&scene);
}

static void noise_over_tcp_is_told_by_its_address(void **state)
{
	struct scene scene = { .folder = folder_new() };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	open_door(&scene, "tcp://127.0.0.1:*");
	address.sin_port = htons((uint16_t)atoi(strrchr(scene.endpoint, ':') + 1));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	await_open(&scene, 1 + LOOKED_AT); /* the peer's own was open before */
	go_away(fd);
	assert_told(&scene, "127.0.0.1", NOISE);
	end(&scene);
}

static void who_goes_away_after_a_handshake_is_not_told(void **state)
{
	struct scene scene;
	int peer;

	(void)state;
	begin(&scene);
	peer = come(&scene, 0);
	shake_hands(peer);
	go_away(peer);
	assert_nothing_told(&scene);
	end(&scene);
}

/* More than ZeroMQ reads at once, and less than the kernel cuts in two: the second half would find the connection ended. */
static void what_is_ended_from_here_is_told_whether_more_of_it_waits_or_not(void **state)
{
	static const size_t there[] = { 0, 20000 };
	struct scene scene;

	(void)state;
	begin(&scene);
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		int peer = come(&scene, 0);

		shake_hands(peer);
		say_too_much(peer, there[i]);
		await_judgement(peer);
		assert_told(&scene, me(), ENDED_HERE);
		assert_nothing_told(&scene);
		await_open(&scene, 0);
	}
	end(&scene);
}

/* It was reset, and ZeroMQ has not read that yet: nobody knows who ended it. */
static void whose_connection_is_broken_already_is_not_ended_from_here(void **state)
{
	static const int errors[] = { ECONNRESET, EPIPE, EAGAIN };
	struct scene scene;

	(void)state;
	begin(&scene);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int peer = come(&scene, 0);

		shake_hands(peer);
		peek_fails = errors[i];
		say_too_much(peer, 0);
		await_judgement(peer);
		peek_fails = 0;
		if (errors[i] == EAGAIN)
			assert_told(&scene, me(), ENDED_HERE);
		assert_nothing_told(&scene);
		await_open(&scene, 0);
	}
	end(&scene);
}

static void who_came_after_a_handshake_and_shook_none_is_noise(void **state)
{
	struct scene scene;
	int greeted;

	(void)state;
	begin(&scene);
	greeted = come(&scene, 0);
	shake_hands(greeted);
	go_away(come(&scene, PER_PEER + LOOKED_AT));
	assert_told(&scene, me(), NOISE);
	say_too_much(greeted, 0); /* it still counts as one that shook hands */
	await_judgement(greeted);
	assert_told(&scene, me(), ENDED_HERE);
	end(&scene);
}

static void where_one_of_two_shook_hands_neither_is_called_noise(void **state)
{
	struct scene scene;
	int one, other;

	(void)state;
	begin(&scene);
	one = come(&scene, 0);
	other = come(&scene, PER_PEER + LOOKED_AT);
	shake_hands(one);
	go_away(other);
	go_away(one);
	assert_nothing_told(&scene);
	await_open(&scene, 0);
	go_away(come(&scene, 0));
	assert_told(&scene, me(), NOISE);
	end(&scene);
}

static void past_256_that_wait_the_newest_are_not_kept(void **state)
{
	struct ended_connection ended;
	struct scene scene;
	int peers[WAITING_MOST], last, known = 0;

	(void)state;
	begin(&scene);
	last = come(&scene, 0);
	shake_hands(last);
	go_away(come(&scene, PER_PEER + LOOKED_AT)); /* what waits begins in the middle of the ring then */
	assert_told(&scene, me(), NOISE);
	for (int i = 0; i < WAITING_MOST; i++)
		peers[i] = connect_peer(&scene);
	await_open(&scene, (1 + WAITING_MOST) * PER_PEER + LOOKED_AT_MOST * LOOKED_AT);
	for (int i = 0; i < WAITING_MOST; i++)
		close(peers[i]);
	await_open(&scene, PER_PEER + LOOKED_AT);
	say_too_much(last, 0);
	await_judgement(last);
	for (int i = 0; i < WAITING_MOST; i++) {
		assert_true(connections_take(scene.connections, &ended));
		assert_non_null(strstr(ended.why, NOISE));
		known += strcmp(ended.who, me()) == 0;
	}
	assert_in_range(known, LOOKED_AT_MOST - 1, WAITING_MOST); /* the others may be over before they are looked at */
	assert_nothing_told(&scene);
	last = come(&scene, 0); /* there is room again, and it is looked at again */
	shake_hands(last);
	say_too_much(last, 0);
	await_judgement(last);
	assert_told(&scene, me(), ENDED_HERE);
	end(&scene);
}

static void four_sockets_are_watched_and_no_fifth(void **state)
{
	static const char *const places[WATCHED_MOST + 1] = { "a", "b", "c", "d", "e" };
	void *context = zmq_ctx_new(), *sockets[WATCHED_MOST + 1];
	struct connections *connections = connections_new(context);

	(void)state;
	for (int i = 0; i <= WATCHED_MOST; i++) {
		sockets[i] = zmq_socket(context, ZMQ_ROUTER);
		assert_int_equal(connections_watch(connections, sockets[i], places[i]), i < WATCHED_MOST ? 0 : -ENOSPC);
	}
	connections_stop(connections); /* never started: it ends all the same */
	for (int i = 0; i <= WATCHED_MOST; i++)
		zmq_close(sockets[i]);
	zmq_ctx_term(context);
	connections_free(connections);
}

/* Those that the kernel may give a signal to that is sent to this process. */
static int threads_that_take(int signal)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		char path[300], line[200];
		unsigned long long blocked = 0;
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		if (entry->d_name[0] == '.' || !(status = fopen(path, "re")))
			continue;
		while (fgets(line, sizeof(line), status))
			sscanf(line, "SigBlk: %llx", &blocked);
		fclose(status);
		count += !(blocked >> (signal - 1) & 1);
	}
	closedir(folder);
	return count;
}

static void signals_stay_with_the_thread_that_starts_it_as_they_were(void **state)
{
	sigset_t none, before, now;
	struct scene scene;

	(void)state;
	sigemptyset(&none);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &none, &before), 0);
	begin(&scene);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	for (int signal = 1; signal < NSIG; signal++)
		assert_int_equal(sigismember(&now, signal), 0);
	go_away(come(&scene, 0)); /* its thread is at work then */
	assert_int_equal(threads_that_take(SIGTERM), 1);
	assert_int_equal(threads_that_take(SIGHUP), 1);
	end(&scene);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

/* Each peer holds two files here, and 257 of them come at once. ZeroMQ ends the process where there is no file left. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int main(void)
{
	raise_limit();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_told_once_by_its_uid),
		cmocka_unit_test(noise_over_tcp_is_told_by_its_address),
		cmocka_unit_test(who_goes_away_after_a_handshake_is_not_told),
		cmocka_unit_test(what_is_ended_from_here_is_told_whether_more_of_it_waits_or_not),
		cmocka_unit_test(whose_connection_is_broken_already_is_not_ended_from_here),
		cmocka_unit_test(who_came_after_a_handshake_and_shook_none_is_noise),
		cmocka_unit_test(where_one_of_two_shook_hands_neither_is_called_noise),
		cmocka_unit_test(past_256_that_wait_the_newest_are_not_kept),
		cmocka_unit_test(four_sockets_are_watched_and_no_fifth),
		cmocka_unit_test(signals_stay_with_the_thread_that_starts_it_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
