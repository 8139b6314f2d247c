/* test_listen.c: where the gateway listens, and what the admin is told when it cannot */
#include "services/kit/settings/listen.h"
#include "services/kit/settings/settings.h"
#include "tests/unit/stderr_of.h"
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { BACKLOG = 4, HANDED = 3, BESIDE = 200, LEAST = 32 };
static const char LISTENS[] = "CARTBUS_GATEWAY_LISTENS", OTHERS[] = "1"; /* no port that the kernel chooses */

static struct config *config;
static char words[8192];
static int held, next; /* a port of this machine, and the descriptor that is opened next */
static int port;

static void configure(void)
{
	struct config_error error;
	char text[100];

	snprintf(text, sizeof(text), "[gateway]\nlisten = 127.0.0.1\nport = %d\n", port);
	if (config_parse(text, "cartbus.conf", settings_keys, &config, &error) < 0)
		fail_msg("%s", error.text);
}

/* It is nobody else's while it is held. */
static int setup(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int yes = 1;
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	held = fcntl(fd, F_DUPFD, HANDED + 1);
	close(fd);
	assert_int_equal(setsockopt(held, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
	assert_int_equal(bind(held, (struct sockaddr *)&at, len), 0);
	assert_int_equal(getsockname(held, (struct sockaddr *)&at, &len), 0);
	port = ntohs(at.sin_port);
	next = dup(held);
	close(next);
	configure();
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv(LISTENS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(held);
	config_free(config);
	config = NULL;
	return 0;
}

static void check(void)
{
	listen_check(config, "gateway");
}

static void begin(void)
{
	listen_socket(config, "gateway");
}

/* `why` NULL: it goes well. What it says is in `words`. */
static void must_end(void (*body)(void), const char *why)
{
	int status;

	stderr_of(body, words, &status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != (why != NULL) || (why && !strstr(words, why)))
		fail_msg("it ended with %s", words);
}

static void must_have_left_nothing_open(void)
{
	assert_int_equal(dup(held), next);
	close(next);
}

static bool can_connect(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), r = connect(fd, (struct sockaddr *)&to, sizeof(to));

	close(fd);
	return r == 0;
}

/* ---- [gateway] listen and port ---- */

static void a_port_that_is_free_is_listened_at(void **state)
{
	char told[60];
	int fd;

	(void)state;
	listen_check(config, "gateway");
	assert_false(can_connect());
	must_have_left_nothing_open();
	fd = listen_socket(config, "gateway");
	assert_int_equal(fd, next);
	assert_true(can_connect());
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(atoi(getenv(LISTENS)), port);
	close(fd);
	must_end(begin, NULL);
	snprintf(told, sizeof(told), "listening on 127.0.0.1 port=%d\n", port);
	assert_non_null(strstr(words, told));
}

/* A check is asked by the running gateway, which lets go of its own port, or by hand, which cannot tell whose it is. */
static void a_port_that_is_taken_is_a_fault_where_it_cannot_be_the_gateways_own(void **state)
{
	static const char remedy[] = "is another gateway running? [gateway] port chooses another";
	char why[200], ours[10];

	(void)state;
	assert_int_equal(listen(held, BACKLOG), 0);
	snprintf(why, sizeof(why), "cannot listen on 127.0.0.1 port %d: Address already in use; %s", port, remedy);
	must_end(begin, why);
	listen_check(config, "gateway");
	must_have_left_nothing_open();
	snprintf(ours, sizeof(ours), "%d", port);
	setenv(LISTENS, ours, 1);
	listen_check(config, "gateway");
	setenv(LISTENS, OTHERS, 1);
	must_end(check, why);
}

/* ---- the supervisor's socket ---- */

static void hand_over(const char *count, bool is_ours)
{
	char pid[20];

	snprintf(pid, sizeof(pid), "%d", is_ours ? (int)getpid() : INT_MAX); /* no process has that */
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", count, 1);
}

static void be_handed_one(void)
{
	hand_over("1", true);
	dup2(held, HANDED);
	if (listen_socket(config, "gateway") != HANDED || (fcntl(HANDED, F_GETFL) & O_NONBLOCK) == 0 ||
		fcntl(HANDED, F_GETFD) != FD_CLOEXEC || getenv(LISTENS))
		_exit(2);
}

static void be_handed_two(void)
{
	hand_over("2", true);
	begin();
}

static void a_socket_that_is_handed_over_is_taken_as_it_is(void **state)
{
	(void)state;
	must_end(be_handed_one, "what cartbus-gateway.socket hands over does not listen: ListenStream= with Accept=no");
	assert_int_equal(listen(held, BACKLOG), 0);
	must_end(be_handed_one, NULL);
	assert_non_null(strstr(words, "[gateway] listen and port are not asked"));
	must_end(be_handed_two, "cartbus-gateway.socket hands over 2 sockets, one is expected");
}

static void be_started_by_who_was_handed_one(void)
{
	hand_over("1", false);
	begin();
}

static void be_handed_none(void)
{
	hand_over("0", true);
	begin();
}

static void be_handed_nothing(void)
{
	hand_over("0", true);
	unsetenv("LISTEN_FDS");
	begin();
}

static void a_socket_that_was_handed_to_another_process_is_not_taken(void **state)
{
	(void)state;
	must_end(be_started_by_who_was_handed_one, NULL);
	assert_non_null(strstr(words, "listening on 127.0.0.1 port="));
	must_end(be_handed_none, NULL);
	must_end(be_handed_nothing, NULL);
}

/* Of the process itself, or of the one that asks it whether it may begin anew. */
static void where_a_socket_is_handed_over_no_address_is_tried(void **state)
{
	(void)state;
	assert_int_equal(listen(held, BACKLOG), 0);
	setenv(LISTENS, OTHERS, 1);
	hand_over("1", true);
	listen_check(config, "gateway");
	must_end(check, NULL);
	hand_over("1", false);
	must_end(check, "cannot listen on ");
	hand_over("0", true);
	must_end(check, "cannot listen on ");
}

/* ---- room ---- */

static void connections_get_the_files_that_the_limit_leaves(void **state)
{
	static const struct {
		rlim_t soft, hard, raised_to;
		unsigned most, room;
	} rows[] = { { 64, BESIDE + 50, BESIDE + 50, 50, 50 }, { 64, BESIDE + 50, BESIDE + 49, 49, 49 },
		{ 64, BESIDE + 50, BESIDE + 50, 51, 50 }, { BESIDE + 50, BESIDE + 50, BESIDE + 50, 10, 10 },
		{ 64, BESIDE + LEAST, BESIDE + LEAST, 1000, LEAST }, { 64, 128, 128, 1000, LEAST } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rlimit limit = { rows[i].soft, rows[i].hard };
		unsigned room;
		int status;
		pid_t child = fork(); /* who has lowered the hard limit cannot raise it again */

		if (child == 0) {
			if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
				_exit(2);
			room = listen_room(rows[i].most);
			getrlimit(RLIMIT_NOFILE, &limit);
			_exit(room == rows[i].room && limit.rlim_cur == rows[i].raised_to ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			fail_msg("row %zu%s", i,
				WIFEXITED(status) && WEXITSTATUS(status) == 2 ? ": the limit of files here is lower"
									      : "");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_port_that_is_free_is_listened_at),
		TEST(a_port_that_is_taken_is_a_fault_where_it_cannot_be_the_gateways_own),
		TEST(a_socket_that_is_handed_over_is_taken_as_it_is),
		TEST(a_socket_that_was_handed_to_another_process_is_not_taken),
		TEST(where_a_socket_is_handed_over_no_address_is_tried),
		TEST(connections_get_the_files_that_the_limit_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
