/*
 * test_last_byte.c: after its moment nothing leaves, wherever the process was stopped and whatever the peer does
 */
#include "services/kit/effect/last_byte.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char DOT[] = { '.', '\r', '\n' };

enum { WINDOW = 4096, TRIALS = 64, NEAR = 320, AT_ONCE = 12, PATIENCE_MS = 20 * 1000 };
#define SOON_US (200 * US_PER_MS)
#define IN_TIME_US                                                                                                     \
	(500 * US_PER_MS) /* what has to come before the moment does, also where this process waits for a core */

static int64_t now_us(void)
{
	const struct clock clock = clock_system();

	return clock_boot_us(&clock);
}

static void wait_until_us(int64_t until_us)
{
	for (int64_t left_us; (left_us = until_us - now_us()) > 0;)
		poll(NULL, 0, (int)(left_us / US_PER_MS + 1));
}

static struct last_byte *guard(int fd, int64_t until_us)
{
	const struct clock clock = clock_system();

	return last_byte_of_socket(fd, &clock, until_us);
}

/* ---- two ends ---- */

struct wire {
	int ours, theirs;
};

static void connect_both(struct wire *wire, int window)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (window)
		assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window)), 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	wire->ours = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(wire->ours, (struct sockaddr *)&at, len), 0);
	wire->theirs = accept(listener, NULL, NULL);
	assert_int_equal(fcntl(wire->ours, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(wire->theirs, F_SETFL, O_NONBLOCK), 0);
	close(listener);
}

static void close_both(struct wire *wire)
{
	close(wire->ours);
	close(wire->theirs);
}

/* Until the other end has all, and no room. */
static void close_the_window(const struct wire *wire)
{
	static const char much[1024];
	size_t most = 8; /* no more than the kernel over there takes: what it refuses would stay queued here */

	for (size_t i = 0; i < most; i++)
		assert_int_equal(send(wire->ours, much, sizeof(much), MSG_NOSIGNAL), sizeof(much));
}

/* How many bytes came, the last of them in `tail`; ends at the end or the reset of the connection, or when nothing is there. */
static size_t read_all(int fd, char tail[3], int *ret_error)
{
	char chunk[4096];
	size_t count = 0;
	ssize_t got;

	while ((got = recv(fd, chunk, sizeof(chunk), 0)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			memmove(tail, tail + 1, 2);
			tail[2] = chunk[i];
		}
		count += (size_t)got;
	}
	*ret_error = got < 0 ? errno : 0;
	return count;
}

static bool came(int fd)
{
	char tail[3] = "";
	int error;

	return read_all(fd, tail, &error) > 0;
}

static void await(bool (*holds)(int fd), int fd)
{
	int64_t until_us = now_us() + PATIENCE_MS * US_PER_MS;

	bool held = holds(fd);

	while (!held && now_us() < until_us) {
		poll(NULL, 0, 1);
		held = holds(fd);
	}
	assert_true(held);
}

/* ---- stopped at any instruction ---- */

/* What a transport does, from the yes to the end. */
static bool send_dot(int fd, int64_t until_us)
{
	struct last_byte *last = guard(fd, until_us);
	bool sent = last && now_us() < until_us && send(fd, DOT, sizeof(DOT), MSG_NOSIGNAL) == sizeof(DOT);
	if (sent)
		last_byte_handed_over(last);
	last_byte_end(&last);
	return sent;
}

static pid_t begin_to_send(int fd, int64_t good_us, int64_t *ret_until_us)
{
	int64_t *until_us = mmap(NULL, sizeof(*until_us), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();

	if (child == 0) {
		struct wire other;

		connect_both(&other, 0);
		send_dot(
			other.ours, now_us() + US_PER_MINUTE); /* the first time takes ten times as many instructions */
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		*until_us = now_us() + good_us;
		raise(SIGSTOP);
		_exit(send_dot(fd, *until_us));
	}
	waitpid(child, NULL, 0);
	*ret_until_us = *until_us;
	munmap(until_us, sizeof(*until_us));
	return child;
}

/* false: it has ended before. Signals reach it, as they do without us. */
static bool step(pid_t child, int steps)
{
	int status, signal = 0;

	for (int i = 0; i < steps; i++) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)signal);
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return false;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	return true;
}

static void let_go(pid_t child)
{
	int status;

	for (int signal = 0; ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal) == 0;) {
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
}

/* How many instructions until the dot is out. */
static int count_steps(void)
{
	struct wire wire;
	int64_t until_us;
	int steps = 0;

	connect_both(&wire, 0);
	pid_t child = begin_to_send(wire.ours, US_PER_MINUTE, &until_us);
	while (!came(wire.theirs)) {
		assert_true(step(child, 1));
		steps++;
	}
	let_go(child);
	close_both(&wire);
	return steps;
}

/* 0: nothing left after its moment. Stepping so far may have taken longer than that, and then nothing left at all. */
static int stop_at(int steps)
{
	struct wire wire;
	int64_t until_us;

	connect_both(&wire, 0);
	pid_t child = begin_to_send(wire.ours, SOON_US, &until_us);
	bool stopped = step(child, steps);
	bool before = came(wire.theirs), in_time = now_us() < until_us;
	wait_until_us(until_us + 20 * US_PER_MS);
	if (stopped)
		let_go(child);
	close(wire.ours);
	bool after = came(wire.theirs);
	close(wire.theirs);
	return after && !(before && in_time);
}

static int reap_one(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* Half of them evenly from the yes on, half of them before the write, ever nearer. */
static void stopped_at_any_instruction_it_sends_nothing_late(void **state)
{
	int steps = count_steps(), running = 0, late = 0;

	(void)state;
	print_message("%d instructions, stopped at %d of them\n", steps, TRIALS);
	assert_true(steps > NEAR);
	for (int trial = 0; trial < TRIALS; trial++) {
		int before = trial % 2 ? NEAR * trial / TRIALS : steps * trial / TRIALS;

		if (running == AT_ONCE)
			late += reap_one();
		else
			running++;
		if (fork() == 0)
			_exit(stop_at(steps - 1 - before));
	}
	while (running-- > 0)
		late += reap_one();
	assert_int_equal(late, 0);
}

/* The trial that the rest is made for: the check has said yes, then SIGSTOP, then the write. */
static void stopped_between_the_check_and_the_write_it_sends_nothing(void **state)
{
	struct wire wire;
	int status;

	(void)state;
	connect_both(&wire, 0);
	int64_t until_us = now_us() + IN_TIME_US;
	pid_t child = fork();
	if (child == 0) {
		if (!guard(wire.ours, until_us) || now_us() >= until_us)
			_exit(2);
		raise(SIGSTOP);
		_exit(send(wire.ours, DOT, sizeof(DOT), MSG_NOSIGNAL) == sizeof(DOT));
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	wait_until_us(until_us + 50 * US_PER_MS);
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_false(came(wire.theirs));
	close_both(&wire);
}

/* ---- what the peer does ---- */

static void what_the_peer_has_not_taken_is_discarded(void **state)
{
	struct wire wire;
	char tail[3] = "";
	int error;

	(void)state;
	connect_both(&wire, WINDOW);
	close_the_window(&wire);
	struct last_byte *last = guard(wire.ours, now_us() + IN_TIME_US);
	assert_int_equal(send(wire.ours, DOT, sizeof(DOT), MSG_NOSIGNAL), sizeof(DOT)); /* the kernel took it */
	last_byte_handed_over(last);
	wait_until_us(now_us() + IN_TIME_US + 10 * US_PER_MS);
	assert_true(last_byte_was_cut(last));
	read_all(wire.theirs, tail, &error);
	assert_memory_not_equal(tail, DOT, sizeof(DOT));
	assert_int_equal(error, ECONNRESET);
	assert_true(send(wire.ours, DOT, sizeof(DOT), MSG_NOSIGNAL) < 0);
	last_byte_end(&last);
	assert_null(last);
	close_both(&wire);
}

static void what_the_peer_has_taken_is_left_alone(void **state)
{
	struct wire wire;

	(void)state;
	connect_both(&wire, 0);
	int64_t until_us = now_us() + IN_TIME_US;
	struct last_byte *last = guard(wire.ours, until_us);
	assert_int_equal(send(wire.ours, DOT, sizeof(DOT), MSG_NOSIGNAL), sizeof(DOT));
	last_byte_handed_over(last);
	await(last_byte_is_next, wire.ours); /* it is acknowledged */
	wait_until_us(until_us + 20 * US_PER_MS);
	assert_false(last_byte_was_cut(last));
	last_byte_end(&last);
	assert_int_equal(send(wire.theirs, "2", 1, MSG_NOSIGNAL), 1);
	await(came, wire.ours);
	close_both(&wire);
}

static void nothing_is_next_while_the_peer_has_not_all_or_takes_no_more(void **state)
{
	struct wire wire;
	char tail[3];
	int error;

	(void)state;
	connect_both(&wire, WINDOW);
	assert_true(last_byte_is_next(wire.ours));
	close_the_window(&wire);
	poll(NULL, 0, 300); /* longer than an acknowledgement is ever put off */
	assert_false(last_byte_is_next(wire.ours));
	int64_t until_us = now_us() + PATIENCE_MS * US_PER_MS;
	while (!last_byte_is_next(wire.ours) && now_us() < until_us)
		read_all(wire.theirs, tail, &error);
	assert_true(last_byte_is_next(wire.ours));
	close_both(&wire);
}

/* ---- ends ---- */

static void what_has_ended_cuts_nothing(void **state)
{
	struct wire wire;

	(void)state;
	connect_both(&wire, 0);
	for (int i = 0; i < 100; i++) {
		struct last_byte *last = guard(wire.ours, now_us() + IN_TIME_US);

		last_byte_end(&last);
	}
	struct last_byte *last = guard(wire.ours, now_us() + IN_TIME_US);
	last_byte_forget_socket(wire.ours);
	wait_until_us(now_us() + IN_TIME_US + 20 * US_PER_MS);
	assert_int_equal(send(wire.ours, DOT, sizeof(DOT), MSG_NOSIGNAL), sizeof(DOT));
	last_byte_end(&last);
	last_byte_end(&last); /* NULL */
	assert_true(came(wire.theirs));
	close_both(&wire);
}

static void a_moment_that_is_over_cuts_at_once(void **state)
{
	struct wire wire;

	(void)state;
	connect_both(&wire, 0);
	struct last_byte *last = guard(wire.ours, 0);
	assert_true(send(wire.ours, DOT, sizeof(DOT), MSG_NOSIGNAL) < 0);
	last_byte_end(&last);
	close_both(&wire);
}

static void a_file_is_taken_away_so_that_it_cannot_be_renamed(void **state)
{
	struct folder folder = folder_new();
	const struct clock clock = clock_system();
	char from[200], to[200];

	(void)state;
	snprintf(from, sizeof(from), "%s/tmp", folder.path);
	snprintf(to, sizeof(to), "%s/new", folder.path);
	close(open(from, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	struct last_byte *last = last_byte_of_file(from, &clock, now_us() + 30 * US_PER_MS);
	wait_until_us(now_us() + 50 * US_PER_MS);
	assert_true(last_byte_was_cut(last));
	assert_int_equal(rename(from, to), -1);
	last_byte_end(&last);
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_at_any_instruction_it_sends_nothing_late),
		cmocka_unit_test(stopped_between_the_check_and_the_write_it_sends_nothing),
		cmocka_unit_test(what_the_peer_has_not_taken_is_discarded),
		cmocka_unit_test(what_the_peer_has_taken_is_left_alone),
		cmocka_unit_test(nothing_is_next_while_the_peer_has_not_all_or_takes_no_more),
		cmocka_unit_test(what_has_ended_cuts_nothing),
		cmocka_unit_test(a_moment_that_is_over_cuts_at_once),
		cmocka_unit_test(a_file_is_taken_away_so_that_it_cannot_be_renamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
