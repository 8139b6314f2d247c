/* test_lmtp_socket.c: where LMTP listens, for whom, and what the admin is told when it cannot */
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/platform/mailin/lmtp_socket.h"
#include "tests/unit/stderr_of.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { LONGEST = 107, BACKLOG = 4 };
static const char NOWHERE[] = "expected the path of a socket, or 127.0.0.1 and a port";

static char folder[64], words[8192];

/* What the process that is asked is given. */
static struct {
	const char *where, *group;
	const char *listens; /* what the one that asks it listens at; NULL: nobody asks it */
	bool only_check;
} asked;

static int setup(void **state)
{
	(void)state;
	TEXT_COPY(folder, "/tmp/cartbus-lmtp-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static const char *below(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void do_it(void)
{
	struct lmtp_socket at;
	char why[512];

	if (asked.listens)
		setenv("CARTBUS_MAILIN_LISTENS", asked.listens, 1);
	else
		unsetenv("CARTBUS_MAILIN_LISTENS");
	if (!asked.only_check)
		lmtp_socket_listen(&at, asked.where, asked.group, BACKLOG);
	else if (lmtp_socket_try_group(asked.group, why) < 0 || lmtp_socket_try(asked.where, why) < 0)
		die("%s", why);
}

/* `why` NULL: it can listen there. What it says is in `words`. */
static void must_end(const char *where, const char *group, bool only_check, const char *why)
{
	int status;

	asked.where = where;
	asked.group = group;
	asked.only_check = only_check;
	stderr_of(do_it, words, &status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != (why != NULL) || (why && !strstr(words, why)))
		fail_msg("%s of \"%s\": %s", only_check ? "a check" : "listening", where, words);
}

static void both_must_end(const char *where, const char *group, const char *why)
{
	must_end(where, group, true, why);
	must_end(where, group, false, why);
}

static mode_t mode_of(const char *path, gid_t *ret_group)
{
	struct stat at;

	assert_int_equal(lstat(path, &at), 0);
	assert_true(S_ISSOCK(at.st_mode));
	*ret_group = at.st_gid;
	return at.st_mode & 0777;
}

/* ---- a path ---- */

/* One that a socket may be given to, and where there is one, another than the socket would have by itself. */
static const struct group *given_group(void)
{
	const struct group *found = NULL;

	if (geteuid() == 0)
		for (setgrent(); (found = getgrent());)
			if (found->gr_gid != getegid() && chown(folder, (uid_t)-1, found->gr_gid) == 0)
				break;
	if (found) {
		assert_int_equal(chown(folder, (uid_t)-1, getegid()), 0);
		return found;
	}
	return getgrgid(getegid());
}

static void a_socket_is_for_its_group_alone(void **state)
{
	const struct group *mine = given_group();
	gid_t group;

	(void)state;
	assert_non_null(mine);
	for (int again = 0; again < 2; again++) { /* what an earlier run has left makes room */
		must_end(below("lmtp"), mine->gr_name, false, NULL);
		assert_string_equal(words, "");
		assert_int_equal(mode_of(below("lmtp"), &group), 0660);
		assert_int_equal(group, mine->gr_gid);
	}
}

static void without_a_group_it_is_for_all_and_the_admin_is_told(void **state)
{
	char told[300];
	gid_t group;

	(void)state;
	must_end(below("lmtp"), "", true, NULL);
	assert_string_equal(words, "");
	assert_int_equal(access(below("lmtp"), F_OK), -1);
	must_end(below("lmtp"), "", false, NULL);
	snprintf(told, sizeof(told), "any user of this machine may connect to %s: [mailin] lmtp-group", below("lmtp"));
	assert_non_null(strstr(words, told));
	assert_int_equal(mode_of(below("lmtp"), &group), 0666);
}

static void of_a_group_that_is_not_there_it_is_for_nobody_else(void **state)
{
	mode_t before = umask(077); /* as every process of ours has it */
	gid_t group;

	(void)state;
	both_must_end(below("lmtp"), "no group:", "lmtp-group = no group:: there is no such group");
	umask(before);
	assert_int_equal(mode_of(below("lmtp"), &group) & 077, 0);
}

static void a_path_has_room_for_as_much_as_the_kernel_takes(void **state)
{
	char name[LONGEST + 2] = "";

	(void)state;
	memset(name, 'x', LONGEST - strlen(folder) - 1);
	both_must_end(below(name), "", NULL);
	strcat(name, "x");
	both_must_end(below(name), "", "at most 107 characters");
}

static void where_no_socket_can_be_made_it_says_where_one_can(void **state)
{
	(void)state;
	both_must_end(below("nothing/lmtp"), "", "No such file or directory: a unit of systemd may make one below");
}

/* A mistyped path, or one that was copied from elsewhere, costs nobody a file. */
static void what_is_there_and_is_no_socket_stays(void **state)
{
	char path[200];
	struct stat at;

	(void)state;
	TEXT_COPY(path, below("letters"));
	write_file(path, "of worth");
	both_must_end(path, "", "letters: something is there that is no socket: remove it or name another path");
	assert_int_equal(lstat(path, &at), 0);
	assert_int_equal(at.st_size, strlen("of worth"));
	assert_int_equal(symlink(path, below("link")), 0);
	both_must_end(below("link"), "", "link: something is there that is no socket: remove it or name another path");
	assert_int_equal(lstat(below("link"), &at), 0);
	assert_int_equal(mkdir(below("folder"), 0700), 0);
	both_must_end(below("folder"), "", "folder: something is there that is no socket");
	must_end(below("lmtp"), "", false, NULL);
	must_end(below("lmtp"), "", true, NULL); /* an earlier run's is no fault */
}

static void a_socket_is_gone_with_who_listened(void **state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct lmtp_socket at;
	mode_t before = umask(027);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	lmtp_socket_listen(&at, below("lmtp"), "", BACKLOG);
	assert_int_equal(umask(before), 027); /* what the process makes later is as it was */
	TEXT_COPY(to.sun_path, below("lmtp"));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	close(fd);
	assert_int_equal(fcntl(at.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(at.fd, F_GETFD), FD_CLOEXEC);
	assert_string_equal(at.path, below("lmtp"));
	assert_string_equal(getenv("CARTBUS_MAILIN_LISTENS"), below("lmtp"));
	lmtp_socket_close(&at);
	assert_int_equal(fcntl(at.fd, F_GETFD), -1);
	assert_int_equal(access(below("lmtp"), F_OK), -1);
}

/* ---- a port ---- */

/* One of this machine that nobody else gets while it is held. */
static int hold_port(char ret_where[30])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int yes = 1;
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	snprintf(ret_where, 30, "127.0.0.1:%d", (int)ntohs(at.sin_port));
	return fd;
}

static void what_is_neither_a_path_nor_a_port_of_this_machine_is_refused(void **state)
{
	static const char *const wheres[] = { "", "lmtp", "24", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
		"127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:24x", "0.0.0.0:2400", "localhost:2400", "[::1]:2400" };

	(void)state;
	for (size_t i = 0; i < sizeof(wheres) / sizeof(wheres[0]); i++)
		both_must_end(wheres[i], "", NOWHERE);
}

static void a_port_that_is_free_is_listened_at_for_this_machine_alone(void **state)
{
	struct sockaddr_in at;
	struct lmtp_socket lmtp;
	socklen_t len = sizeof(at);
	char where[30], why[512];
	int held = hold_port(where), next;

	(void)state;
	next = dup(held);
	close(next);
	assert_int_equal(lmtp_socket_try(where, why), 0);
	lmtp_socket_listen(&lmtp, where, "", BACKLOG);
	assert_int_equal(lmtp.fd, next); /* the check has closed what it opened */
	assert_int_equal(fcntl(lmtp.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(getsockname(lmtp.fd, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(at.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_string_equal(lmtp.path, "");
	assert_string_equal(getenv("CARTBUS_MAILIN_LISTENS"), where);
	lmtp_socket_close(&lmtp);
	close(held);
}

/* A check is asked by the running mailin, which lets go of its own port, or by hand, which cannot tell whose it is. */
static void a_port_that_is_taken_is_a_fault_where_it_cannot_be_mailins_own(void **state)
{
	static const char why[] = "Address already in use: ss -ltnp shows who has it";
	char where[30];
	int held = hold_port(where), next = dup(held);

	(void)state;
	close(next);
	assert_int_equal(listen(held, BACKLOG), 0);
	must_end(where, "", false, why);
	must_end(where, "", true, NULL);
	asked.listens = where;
	must_end(where, "", true, NULL);
	asked.listens = "127.0.0.1:1";
	must_end(where, "", true, why);
	asked.listens = NULL;
	unsetenv("CARTBUS_MAILIN_LISTENS");
	assert_int_equal(lmtp_socket_try(where, words), 0);
	assert_int_equal(dup(held), next); /* nothing was left open */
	close(next);
	close(held);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_socket_is_for_its_group_alone),
		TEST(without_a_group_it_is_for_all_and_the_admin_is_told),
		TEST(of_a_group_that_is_not_there_it_is_for_nobody_else),
		TEST(a_path_has_room_for_as_much_as_the_kernel_takes),
		TEST(where_no_socket_can_be_made_it_says_where_one_can),
		TEST(what_is_there_and_is_no_socket_stays),
		TEST(a_socket_is_gone_with_who_listened),
		TEST(what_is_neither_a_path_nor_a_port_of_this_machine_is_refused),
		TEST(a_port_that_is_free_is_listened_at_for_this_machine_alone),
		TEST(a_port_that_is_taken_is_a_fault_where_it_cannot_be_mailins_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
